// SPDX-License-Identifier: MIT
//
// A short session with a bit of everything, recorded; and either of its two ends alone, which is
// played what it received then, up to a point where a test does something to it.
//
// Both ends are deterministic, so an end that is played the record is in the state that it was in,
// and what the other side sent next fits.
#pragma once

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/counting_resource.h"
#include "support/worlds/test_world.h"

namespace replayout::test {

struct RecordedTick {
    NetTime now;
    std::vector<Bytes> received;
};

/// What one end received, tick by tick.
using RecordedEnd = std::vector<RecordedTick>;

struct RecordedSession {
    RecordedEnd client;
    RecordedEnd server;
    /// When the client began to connect.
    NetTime start;

    /// Made once.
    [[nodiscard]] static const RecordedSession& get();
};

/// Names a datagram of a RecordedEnd.
struct RecordedDatagram {
    std::size_t tick = 0;
    std::size_t datagram = 0;
};

[[nodiscard]] std::vector<RecordedDatagram> datagrams_of(const RecordedEnd& end);
[[nodiscard]] inline const Bytes& datagram_at(const RecordedEnd& end, RecordedDatagram at) {
    return end[at.tick].received[at.datagram];
}

/// One end of the session, alone.
class PlayedEnd {
  public:
    enum class Side : std::uint8_t { Client, Server };

    explicit PlayedEnd(Side side);

    /// Plays the record up to this datagram, exclusively.
    void play_until(RecordedDatagram at);
    /// The driver takes this datagram, now.
    void take(std::span<const std::byte> datagram);
    /// The rest of the tick, and all that follows: the record goes on as if nothing had happened.
    void play_rest(RecordedDatagram after);

    [[nodiscard]] NetDriver& driver() noexcept { return *driver_; }
    [[nodiscard]] TestWorld& world() noexcept { return world_; }
    [[nodiscard]] CountingResource& memory() noexcept { return memory_; }
    /// Connected or trying to be.
    [[nodiscard]] bool is_open() const;
    /// All objects, references by handle.
    [[nodiscard]] std::string world_text();
    /// Once the connection was closed: a block that was not counted as received had changed the
    /// world by then.
    [[nodiscard]] bool has_changed_by_refused_block() const noexcept { return has_changed_; }
    /// The driver ends, and has given back all its memory.
    [[nodiscard]] bool gives_back_memory();

  private:
    void begin_tick(std::size_t tick);
    void dispatch(std::span<const std::byte> datagram);
    void end_tick();
    void remember_world();
    void compare_at_despawn(ObjectHandle first);

    const RecordedEnd& end_;
    Side side_;
    CountingResource memory_;
    LoopbackNetwork network_;
    TestWorld world_;
    std::unique_ptr<NetDriver> driver_;
    std::map<ObjectHandle, NetObjectId> ids_;
    NetTime now_;
    std::map<ObjectHandle, TestObject> before_;
    std::uint64_t blocks_before_ = 0;
    std::uint64_t channels_before_ = 0;
    bool is_watching_ = false;
    bool has_changed_ = false;
};

}  // namespace replayout::test
