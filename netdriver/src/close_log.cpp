// SPDX-License-Identifier: MIT
#include "close_log.h"

#include <replayout/reflection/diagnostics.h>

#include <string>
#include <utility>

namespace replayout {

bool CloseLog::may_write(NetTime now) noexcept {
    const bool may_write = bucket_.take(1, now);
    left_out_count_ += may_write ? 0u : 1u;
    return may_write;
}

void CloseLog::connection_closed(PeerId peer, CloseReason reason, bool is_by_peer,
                                 const ClosePlace& place, NetTime now) {
    if (reason == CloseReason::Requested || !may_write(now)) {
        return;
    }
    std::string text = is_by_peer ? "peer " : "the connection of peer ";
    text += std::to_string(peer.value);
    text += is_by_peer ? " closed the connection: " : " was closed: ";
    text += to_string(reason);
    if (!place.function.empty()) {
        text += ", in a call of \"" + std::string(place.function) + '"';
    }
    if (!place.class_name.empty()) {
        text += ", object " + std::to_string(place.object.value) + " of class \"" +
                std::string(place.class_name) + '"';
    }
    if (const std::uint64_t count = std::exchange(left_out_count_, 0); count > 0) {
        text += " (" + std::to_string(count) + " lines like this were left out before)";
    }
    log(LogLevel::Warning, text);
}

}  // namespace replayout
