// SPDX-License-Identifier: MIT
//
// What a server of a benchmark replicates: objects of one class, and what changes of them from tick
// to tick. The game's part, which is not timed; a ServerSession (server_session.h) does the rest.
#pragma once

#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <span>
#include <string>

namespace replayout::bench {

/// Exact, so that a benchmark can tell whether all of it was sent, and no more.
struct Changes {
    std::uint64_t objects = 0;
    std::uint64_t values = 0;
    // What that makes the server owe, by receiver: blocks, and the values in them.
    std::uint64_t blocks_owed = 0;
    std::uint64_t values_owed = 0;

    Changes& operator+=(const Changes& other) noexcept {
        objects += other.objects;
        values += other.values;
        blocks_owed += other.blocks_owed;
        values_owed += other.values_owed;
        return *this;
    }
    [[nodiscard]] friend Changes operator-(Changes left, const Changes& right) noexcept {
        left.objects -= right.objects;
        left.values -= right.values;
        left.blocks_owed -= right.blocks_owed;
        left.values_owed -= right.values_owed;
        return left;
    }
};

/// All that changed is owed to everybody.
[[nodiscard]] constexpr Changes owed_to_all(std::uint64_t objects, std::uint64_t values,
                                            std::uint32_t connection_count) noexcept {
    return {objects, values, objects * connection_count, values * connection_count};
}

class Workload {
  public:
    virtual ~Workload() = default;

    /// Why there is none; empty when there is one. Then nothing else may be asked.
    [[nodiscard]] virtual const std::string& error() const noexcept = 0;
    [[nodiscard]] virtual const RepLayout& layout() const noexcept = 0;
    [[nodiscard]] virtual std::uint32_t object_count() const noexcept = 0;
    [[nodiscard]] virtual void* object_memory(std::uint32_t object) noexcept = 0;

    /// Called once, when all objects have been added: whose they are. `peers` are those who join.
    virtual void introduce(NetDriver&, std::span<const NetObjectId>, std::span<const PeerId>) {}

    /// Called when a client has joined, before it is sent anything: from where it looks.
    virtual void welcome(NetDriver&, PeerId) {}

    /// Plays a tick. Objects change in turn, as many in each tick.
    virtual Changes advance(std::uint32_t connection_count) = 0;
    /// Ticks until every object has changed as often as a history has entries.
    [[nodiscard]] virtual std::uint32_t ticks_until_warm() const noexcept = 0;

    /// What is owed is known. Where it follows from who sees what, it is not.
    [[nodiscard]] virtual bool is_exact() const noexcept { return true; }

    /// The properties are push based: what the last tick set is to be marked.
    [[nodiscard]] virtual bool is_push_based() const noexcept { return false; }
    /// The game's calls of the driver for what changed; they are not in the driver's time.
    virtual void mark(NetDriver&, std::span<const NetObjectId>) {}
};

}  // namespace replayout::bench
