// SPDX-License-Identifier: MIT
//
// The game of call_game.h with one real driver, and at the other end a test that sends it calls as
// it likes:
//
//     ForgedCaller caller;                                   // joined, and owns a turret
//     caller.deliver({call_bunch(1, 1, order_bytes(fire_index, 7))});
//     CHECK(caller.world.heard.size() == 1);
#pragma once

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/counting_resource.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/call_game.h"

namespace replayout::test {

// Places among the functions of a Turret, those of its base first.
inline constexpr std::uint64_t fire_index = 1;
inline constexpr std::uint64_t aim_index = 2;
inline constexpr std::uint64_t reset_index = 3;
inline constexpr std::uint64_t tell_index = 4;
inline constexpr std::uint64_t turret_function_count = 14;

/// A line between a driver and the test, which is the other end of it.
class CallForge {
  public:
    CallForge(PeerId self, PeerId other, const NetConfig& config,
              bool is_validating = REPLAYOUT_VALIDATION != 0);

    /// A datagram that the driver finds when it looks next.
    void send(std::span<const std::byte> datagram) { line_.send(self_, datagram); }
    /// The same in the name of another peer.
    void send_as(PeerId peer, std::span<const std::byte> datagram) {
        network_.endpoint(peer).send(self_, datagram);
    }
    void tick(std::int64_t milliseconds = 1);
    void deliver(const std::vector<Bunch>& bunches, const Bytes& blocks = {});
    /// The same with a payload that need not be one.
    void deliver_raw(bool has_bunches, std::span<const std::byte> payload);
    [[nodiscard]] std::vector<Bytes> take_sent() { return take_sent_to(other_); }
    [[nodiscard]] std::vector<Bytes> take_sent_to(PeerId peer);
    /// All that the driver sent so far has arrived.
    void acknowledge();
    [[nodiscard]] std::uint64_t closed_count(CloseReason reason) const {
        return driver.stats().closed[static_cast<std::size_t>(reason)];
    }

  private:
    [[nodiscard]] static NetDriverSettings settings(const NetConfig& config, bool is_validating,
                                                    MemoryResource* resource);

    LoopbackNetwork network_;

    /// Destroyed behind the driver, which has given back all by then.
    struct GivenBack {
        ~GivenBack();
        CountingResource resource;
    };
    GivenBack memory_;

  public:
    CountingResource& memory = memory_.resource;
    CallWorld world;
    NetDriver driver;
    PacketForge forge{0};

  private:
    Transport& line_;
    PeerId self_;
    PeerId other_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
};

inline constexpr PeerId forged_server_peer{1};
inline constexpr PeerId forged_client_peer{2};

/// A server of ours with one object, before a client of the test's making that owns it.
class ForgedCaller : public CallForge {
  public:
    explicit ForgedCaller(const NetConfig& config = {},
                          bool is_validating = REPLAYOUT_VALIDATION != 0);

    /// The client has so many objects more, on the channels behind; it owns none of them.
    void add_turrets(std::uint32_t count);
    [[nodiscard]] bool is_joined() const { return driver.connection_count() == 1; }

    /// The hello of a client with the same layouts.
    [[nodiscard]] static Bytes hello();

    ObjectHandle turret;
    NetObjectId id;
};

/// A client of ours that was shown one object, before a server of the test's making.
class ForgedCalled : public CallForge {
  public:
    ForgedCalled();
    [[nodiscard]] bool is_joined() const { return driver.state() == ConnectionState::Joined; }
};

/// The bytes of a call, with the parameters that are written.
[[nodiscard]] Bytes call_bytes(std::uint64_t function,
                               const std::function<void(BitWriter&)>& write = {});
/// The parameters {number}, and nothing else.
[[nodiscard]] Bytes order_bytes(std::uint64_t function, std::uint32_t number);
/// Without a sequence: an unreliable call.
[[nodiscard]] Bunch call_bunch(std::uint32_t channel, std::optional<std::uint16_t> sequence,
                               Bytes payload);

/// A part of a call, of as many bytes as parts have, or fewer.
inline constexpr std::size_t call_part_bytes = 1'200 - 64;
[[nodiscard]] Bunch part_bunch(std::uint32_t channel, std::uint16_t sequence, bool is_first,
                               bool is_last, std::size_t bytes = call_part_bytes);

}  // namespace replayout::test
