// SPDX-License-Identifier: MIT
#include "reliable_receiver.h"

#include <replayout/netdriver/sequence.h>

#include <algorithm>
#include <utility>

namespace replayout {

namespace {

// How far ahead a bunch may be of the one that is missing: as many as can be in flight at one a
// packet.
constexpr std::uint64_t sequence_ahead_max = 4'096;

/// A part of it may have no bytes: of a large value, or of what a close ends.
[[nodiscard]] bool may_lack_bytes(const BunchHeader& header) noexcept {
    return !header.channel.is_control() && !header.is_call;
}

[[nodiscard]] bool is_value(const BunchHeader& header) noexcept {
    return may_lack_bytes(header) && !header.is_open && !header.is_close && !header.is_message;
}

}  // namespace

ReliableWindow reliable_window(const ReceiveLimits& limits) noexcept {
    return {std::min<std::uint64_t>(limits.bunches_max, sequence_ahead_max), limits.bytes_max};
}

ReliableReceiver::ReliableReceiver(ReliableAccount& account, MemoryResource* resource)
    : account_(account),
      next_sequence_(account.limits().first_sequence),
      waiting_(resource),
      parts_(Allocator<std::byte>(resource)) {}

ReliableReceiver::~ReliableReceiver() {
    reset();
}

void ReliableReceiver::reset() {
    for (const auto& [sequence, bunch] : waiting_) {
        account_.give_back(1, bunch.payload.size());
    }
    waiting_.clear();
    drop_parts();
    next_sequence_ = account_.limits().first_sequence;
}

void ReliableReceiver::drop_bytes() noexcept {
    account_.give_back(0, parts_.size());
    // With its room, which no account knows of.
    parts_ = Vector<std::byte>(parts_.get_stored_allocator());
}

std::uint32_t ReliableReceiver::waiting_messages() const noexcept {
    return static_cast<std::uint32_t>(
        std::count_if(waiting_.begin(), waiting_.end(), [](const auto& entry) {
            const BunchHeader& header = entry.second.header;
            return !header.is_partial || header.is_partial_final;
        }));
}

void ReliableReceiver::drop_parts() noexcept {
    drop_bytes();
    is_partial_open_ = false;
    is_taken_back_ = false;
}

CloseReason ReliableReceiver::receive(const BunchHeader& header, std::span<const std::byte> payload,
                                      ReliableMessageHandler& handler) {
    const std::uint64_t first_sequence = account_.limits().first_sequence;
    if (header.is_open && next_sequence_ != first_sequence) {
        return CloseReason::MalformedBunch;
    }
    const std::uint64_t sequence =
        header.is_open ? first_sequence : expand_sequence(next_sequence_, header.sequence);
    if (sequence < next_sequence_) {
        return CloseReason::None;  // had it before
    }
    if (sequence > next_sequence_ || (!header.is_partial && handler.must_wait(header, payload))) {
        return keep(sequence, header, payload);
    }
    const CloseReason reason = accept(header, payload, handler);
    return reason == CloseReason::None ? retry(handler) : reason;
}

CloseReason ReliableReceiver::retry(ReliableMessageHandler& handler) {
    CloseReason reason = CloseReason::None;
    while (reason == CloseReason::None && !waiting_.empty() &&
           waiting_.begin()->first == next_sequence_) {
        const Waiting& next = waiting_.begin()->second;
        if (!next.header.is_partial &&
            handler.must_wait(next.header, {next.payload.data(), next.payload.size()})) {
            break;
        }
        const auto node = waiting_.extract(waiting_.begin());
        account_.give_back(1, node.mapped().payload.size());
        const Vector<std::byte>& bytes = node.mapped().payload;
        reason = accept(node.mapped().header, {bytes.data(), bytes.size()}, handler);
    }
    return reason;
}

CloseReason ReliableReceiver::keep(std::uint64_t sequence, const BunchHeader& header,
                                   std::span<const std::byte> payload) {
    if (waiting_.contains(sequence)) {
        return CloseReason::None;
    }
    if (sequence - next_sequence_ > sequence_ahead_max || !account_.take_bunch(payload.size())) {
        return CloseReason::ReliableOverflow;
    }
    if (waiting_.empty() && !is_partial_open_) {
        progress_ = account_.now();
    }
    Vector<std::byte> bytes(payload.begin(), payload.end(),
                            Allocator<std::byte>(parts_.get_stored_allocator().resource()));
    waiting_.emplace(sequence, Waiting{header, std::move(bytes)});
    return CloseReason::None;
}

CloseReason ReliableReceiver::accept(const BunchHeader& header, std::span<const std::byte> payload,
                                     ReliableMessageHandler& handler) {
    ++next_sequence_;
    progress_ = account_.now();
    if (header.is_partial) {
        return accept_part(header, payload, handler);
    }
    if (is_partial_open_ && !header.is_close) {
        return CloseReason::MalformedBunch;
    }
    drop_parts();  // a close ends what was being said
    return handler.handle_message(header, payload);
}

CloseReason ReliableReceiver::accept_part(const BunchHeader& header,
                                          std::span<const std::byte> payload,
                                          ReliableMessageHandler& handler) {
    const std::size_t full_bytes = account_.limits().part_bytes;
    const bool is_right_size = payload.empty()           ? may_lack_bytes(header)
                               : header.is_partial_final ? payload.size() <= full_bytes
                                                         : payload.size() == full_bytes;
    if (header.is_partial_initial == is_partial_open_ || !is_right_size) {
        return CloseReason::MalformedBunch;
    }
    const ReceiveLimits& limits = account_.limits();
    const std::size_t bytes_max = header.is_call ? limits.call_bytes_max : limits.message_bytes_max;
    if (parts_.size() + payload.size() > bytes_max || !account_.take_part(payload.size())) {
        return CloseReason::ReliableOverflow;
    }
    is_partial_open_ = true;
    is_taken_back_ = is_taken_back_ || payload.empty();
    if (is_taken_back_) {
        account_.give_back(0, payload.size());
        drop_bytes();
    } else {
        parts_.insert(parts_.end(), payload.begin(), payload.end());
    }
    return header.is_partial_final ? end_parts(header, handler) : CloseReason::None;
}

CloseReason ReliableReceiver::end_parts(const BunchHeader& header,
                                        ReliableMessageHandler& handler) {
    if (is_taken_back_ && !is_value(header)) {
        return CloseReason::MalformedBunch;
    }
    account_.give_back(0, parts_.size());
    const Vector<std::byte> message = std::exchange(
        parts_, Vector<std::byte>(Allocator<std::byte>(parts_.get_stored_allocator().resource())));
    drop_parts();
    return handler.handle_message(header, {message.data(), message.size()});
}

}  // namespace replayout
