// SPDX-License-Identifier: MIT
#include "close_log.h"

#include <replayout/layout_difference.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/printable.h>

#include <utility>

namespace replayout {

std::string CloseLog::mismatch_text(const CloseDetails& details, bool is_by_peer) const {
    std::string text;
    if (!details.layout_class.empty()) {
        text =
            ", class \"" + printable_front(details.layout_class, difference_text_bytes_max) + '"';
        if (!details.layout_difference.empty()) {
            text += ": " + std::string(details.layout_difference);
        }
        return text;
    }
    const RepLayout* const ours =
        details.layout_name_hash == 0 ? nullptr : layouts_.find_by_hash(details.layout_name_hash);
    if (ours != nullptr) {
        text += ", class \"" + std::string(ours->name()) + '"';
    }
    if (ours != nullptr && details.has_peer_layout.has_value()) {
        text += *details.has_peer_layout ? ", which is another one there"
                                         : ", which it lacks: call add_layout() there, too";
    } else if (ours != nullptr && is_by_peer) {
        text += ", which it lacks, or has another one of: its log tells";
    } else if (ours == nullptr && details.layout_name_hash != 0 &&
               (is_by_peer || details.has_peer_layout.has_value())) {
        text += ", a class that it has and we lack: call add_layout() here, too";
    }
    if (details.peer_layout_count.has_value()) {
        text += " (layouts: it has " + std::to_string(*details.peer_layout_count) + ", we have " +
                std::to_string(layouts_.count()) + ')';
    }
    return text;
}

void CloseLog::connection_closed(PeerId peer, CloseReason reason, bool is_by_peer,
                                 const CloseDetails& details, NetTime now) {
    if (reason == CloseReason::Requested) {
        return;
    }
    if (!take_line(now)) {
        return;
    }
    std::string text = is_by_peer ? "peer " : "the connection of peer ";
    text += std::to_string(peer.value);
    text += is_by_peer ? " closed the connection: " : " was closed: ";
    text += to_string(reason);
    if (!details.function.empty()) {
        text += ", in a call of \"" + std::string(details.function) + '"';
    }
    if (details.is_unanswered) {
        text +=
            ": nothing ever came from it: see that a server listens at that address, that the "
            "transport is ticked before each tick_dispatch(), and that no firewall is between";
    }
    if (reason == CloseReason::LayoutMismatch) {
        text += mismatch_text(details, is_by_peer);
    }
    if (!details.class_name.empty()) {
        text += ", object " + std::to_string(details.object.value) + " of class \"" +
                std::string(details.class_name) + '"';
    }
    write_line(printable(text));
}

void CloseLog::difference_told(PeerId peer, std::string_view class_name, std::string_view sentence,
                               NetTime now) {
    if (take_line(now)) {
        write_line("peer " + std::to_string(peer.value) + " has another layout of class \"" +
                   printable_front(class_name, difference_text_bytes_max) +
                   "\": " + std::string(sentence));
    }
}

bool CloseLog::take_line(NetTime now) noexcept {
    const bool is_taken = bucket_.take(1, now);
    left_out_count_ += is_taken ? 0 : 1;
    return is_taken;
}

void CloseLog::write_line(std::string text) {
    if (const std::uint64_t count = std::exchange(left_out_count_, 0); count > 0) {
        text += " (" + std::to_string(count) + " lines like this were left out before)";
    }
    log(LogLevel::Warning, text);
}

}  // namespace replayout
