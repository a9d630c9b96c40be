// SPDX-License-Identifier: MIT
//
// What a public function checks before it does anything, and the sentence of its refusal, for all
// functions of the driver and its facets.
//
//     REPLAYOUT_EXPECT_MAY(void(), may_change, id);
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_object_id.h>

#include "refusal_text.h"
#include "replication_client.h"
#include "replication_server.h"

namespace replayout {

/// A driver as one of its public functions finds it.
struct DriverEnd {
    const ReplicationServer* server = nullptr;  ///< null: it does not serve
    const ReplicationClient* client = nullptr;  ///< null: it is no client
    bool is_calling_out = false;                ///< within the world, a notify or a hook

    // Functions of a server. One that is const may run while the driver calls out.

    [[nodiscard]] bool may_read() const noexcept { return server != nullptr; }
    [[nodiscard]] bool may_change() const noexcept { return may_read() && !is_calling_out; }
    [[nodiscard]] bool may_read(NetObjectId id) const noexcept {
        return may_read() && server->objects().contains(id);
    }
    [[nodiscard]] bool may_change(NetObjectId id) const noexcept {
        return may_change() && server->objects().contains(id);
    }
    /// The object is no part of another.
    [[nodiscard]] bool may_change_whole(NetObjectId id) const noexcept {
        return may_change(id) && !server->objects().is_part(slot_of(id));
    }

    /// What only a tick asks, and so is no member, which each call would copy.
    struct Ticks {
        bool is_ticking = false;  ///< the driver is within a tick
        bool is_players = false;  ///< a ReplayPlayer ticks it, and nobody else
    };
    /// A driver that has started may tick, but not within a tick.
    [[nodiscard]] bool may_tick(Ticks ticks) const noexcept {
        return !is_calling_out && !ticks.is_ticking && !ticks.is_players &&
               (server != nullptr || client != nullptr);
    }

    // Why one of these was false, for the function of that name.

    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText refusal(
        const char* function) const noexcept;
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText refusal(const char* function,
                                                                   NetObjectId id) const noexcept;
    /// `set_net_priority: object 7.1, a "Pawn"`, before the reason. Requires that the object
    /// exists.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText named(const char* function,
                                                                 NetObjectId id) const noexcept;
    /// Refuses a call to any driver from within the world, a notify or a hook that it calls.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] static RefusalText refusal_within(
        const char* function) noexcept;
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText refusal_of_tick(
        const char* function, Ticks ticks) const noexcept;
    /// A client's function was called on a driver that is no client.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText refusal_of_client(
        const char* function) const noexcept;
};

// Inline, because the good path of each function is a few compares.
inline DriverEnd NetDriver::end() const noexcept {
    return {server_.get(), client_.get(), is_calling_out_};
}

}  // namespace replayout

/// Returns `value` from the public function unless DriverEnd's function `may` allows the call.
/// After `may` comes the object, if the call names one.
#define REPLAYOUT_EXPECT_MAY(value, may, ...)             \
    REPLAYOUT_EXPECT(end().may(__VA_ARGS__), value, "%s", \
                     end().refusal(__func__ __VA_OPT__(, ) __VA_ARGS__).c_str())
