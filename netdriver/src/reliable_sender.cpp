// SPDX-License-Identifier: MIT
#include "reliable_sender.h"

#include <algorithm>
#include <limits>

namespace replayout {

ReliableSender::ReliableSender(std::size_t fragment_bytes, const ReliableWindow& window,
                               MemoryResource* resource)
    : fragment_bytes_(fragment_bytes), window_(window), unsent_(resource), in_flight_(resource) {}

std::uint32_t ReliableSender::fragment_count(std::size_t payload_bytes) const noexcept {
    const std::size_t count = (payload_bytes + fragment_bytes_ - 1) / fragment_bytes_;
    return static_cast<std::uint32_t>(std::max<std::size_t>(count, 1));
}

std::uint32_t ReliableSender::queue(BunchHeader header, std::uint16_t sequence,
                                    std::span<const std::byte> payload, BunchTag tag) {
    const std::uint32_t count = fragment_count(payload.size());
    const std::uint64_t message_begin = queued_bytes_;
    header.is_partial = count > 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t offset = i * fragment_bytes_;
        const auto part =
            payload.subspan(offset, std::min(fragment_bytes_, payload.size() - offset));
        header.is_partial_initial = count > 1 && i == 0;
        header.is_partial_final = count > 1 && i + 1 == count;
        header.sequence = static_cast<std::uint16_t>(sequence + i);
        header.payload_bytes = static_cast<std::uint32_t>(part.size());
        Vector<std::byte> bytes(part.begin(), part.end(),
                                Allocator<std::byte>(unsent_.get_allocator().resource()));
        queued_bytes_ += part.size();
        unsent_.emplace(BunchOrder{next_order_++},
                        OutBunch{header, tag, std::move(bytes), message_begin, queued_bytes_});
    }
    return count;
}

bool ReliableSender::reaches(BunchOrder order, std::uint64_t end) const noexcept {
    BunchOrder first = order;
    std::uint64_t begin = end;
    for (const BunchMap* bunches : {&in_flight_, &unsent_}) {
        if (!bunches->empty() && bunches->begin()->first <= first) {
            first = bunches->begin()->first;
            begin = bunches->begin()->second.message_begin;
        }
    }
    return order.value - first.value <= window_.bunches && end - begin <= window_.bytes;
}

bool ReliableSender::may_send() const noexcept {
    return !unsent_.empty() && reaches(unsent_.begin()->first, unsent_.begin()->second.end);
}

bool ReliableSender::has_room_for(std::size_t payload_bytes) const noexcept {
    return unsent_.empty() && reaches(BunchOrder{next_order_}, queued_bytes_ + payload_bytes);
}

void ReliableSender::move(BunchMap& from, BunchMap& to, BunchOrder order) {
    auto node = from.extract(order);
    if (!node.empty()) {
        to.insert(std::move(node));
    }
}

void ReliableSender::sent(BunchOrder order) {
    unsent_.at(order).was_sent = true;
    move(unsent_, in_flight_, order);
}

bool ReliableSender::lost(BunchOrder order, BunchTag& tag) {
    const auto found = in_flight_.find(order);
    if (found == in_flight_.end()) {
        return false;
    }
    tag = found->second.tag;
    move(in_flight_, unsent_, order);
    return true;
}

bool ReliableSender::delivered(BunchOrder order, BunchTag& tag) {
    for (BunchMap* bunches : {&in_flight_, &unsent_}) {
        const auto found = bunches->find(order);
        if (found != bunches->end()) {
            tag = found->second.tag;
            bunches->erase(found);
            return true;
        }
    }
    return false;
}

void ReliableSender::keep_control_only() {
    // What is dropped leaves gaps in the window, and what is left is a message or two.
    window_.bunches = std::numeric_limits<std::uint64_t>::max();
    window_.bytes = std::numeric_limits<std::uint64_t>::max();
    for (BunchMap* bunches : {&in_flight_, &unsent_}) {
        std::erase_if(*bunches,
                      [](const auto& entry) { return !entry.second.header.channel.is_control(); });
    }
}

void ReliableSender::resend_all() {
    while (!in_flight_.empty()) {
        move(in_flight_, unsent_, in_flight_.begin()->first);
    }
}

}  // namespace replayout
