// SPDX-License-Identifier: MIT
//
// Whether an object of a server sleeps. A dormant object costs nothing: it is not looked at, not
// compared and not sent. A client keeps it as it is, without a channel, until it is woken.
//
//     chest opened        the game sets is_open, and flushes: clients are sent it, and the chest
//     and left alone      goes dormant again as soon as all of them have it
//
// Whatever changes while an object is dormant is sent when it is woken, and not before.
#pragma once

#include <cstdint>

namespace replayout {

enum class NetDormancy : std::uint8_t {
    /// As Awake, and asking for one of the dormant states does nothing: for an object that must
    /// stay awake when all around it is put to sleep.
    Never,
    Awake,           ///< what an object is at first
    DormantAll,      ///< dormant for every client, as soon as that client has all of it
    DormantPartial,  ///< likewise, for those clients that set_dormant_for() says
    /// As DormantAll, and not even sent to a client that does not have it yet, whenever that joins;
    /// for what clients can do without until something happens to it. A flush makes it DormantAll.
    Initial,
};

/// One of the last three.
[[nodiscard]] constexpr bool may_be_dormant(NetDormancy dormancy) noexcept {
    return dormancy >= NetDormancy::DormantAll;
}

}  // namespace replayout
