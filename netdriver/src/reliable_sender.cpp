// SPDX-License-Identifier: MIT
#include "reliable_sender.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace replayout {

namespace {

[[nodiscard]] Share share_of(BunchTag::Kind kind) noexcept {
    switch (kind) {
        case BunchTag::Kind::Open:
            return Share::Objects;
        case BunchTag::Kind::Value:
            return Share::Values;
        default:
            return Share::Messages;
    }
}

void lower(ReliableAmount& place, const ReliableAmount& other) noexcept {
    place.bunches = std::min(place.bunches, other.bunches);
    place.bytes = std::min(place.bytes, other.bytes);
}

void lower(WindowPlace& place, const WindowPlace& other) noexcept {
    lower(place.values, other.values);
    lower(place.others, other.others);
}

[[nodiscard]] ReliableAmount difference(const ReliableAmount& left,
                                        const ReliableAmount& right) noexcept {
    return {left.bunches - right.bunches, left.bytes - right.bytes};
}

/// Three quarters, in such a way that the greatest number does not overflow.
[[nodiscard]] constexpr std::uint64_t share_max(std::uint64_t whole) noexcept {
    return whole - whole / 4 - (whole % 4 != 0 ? 1 : 0);
}

}  // namespace

ReliableSender::ReliableSender(std::size_t fragment_bytes, const ReliableWindow& window,
                               NetStats& stats, MemoryResource* resource)
    : fragment_bytes_(fragment_bytes),
      window_(window),
      stats_(stats),
      pool_(resource),
      unsent_channels_(resource),
      ended_(Allocator<EndedMessage>(resource)) {}

std::uint32_t ReliableSender::fragment_count(std::size_t payload_bytes) const noexcept {
    const std::size_t count = (payload_bytes + fragment_bytes_ - 1) / fragment_bytes_;
    return static_cast<std::uint32_t>(std::max<std::size_t>(count, 1));
}

std::uint32_t ReliableSender::queue(BunchHeader header, std::uint16_t sequence,
                                    std::span<const std::byte> payload, BunchTag tag) {
    const std::uint32_t count = fragment_count(payload.size());
    BunchList& unsent = row(unsent_channels_.add(header.channel, share_of(tag.kind), count)).unsent;
    header.is_partial = count > 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t offset = i * fragment_bytes_;
        const auto part =
            payload.subspan(offset, std::min(fragment_bytes_, payload.size() - offset));
        header.is_partial_initial = count > 1 && i == 0;
        header.is_partial_final = count > 1 && i + 1 == count;
        header.sequence = static_cast<std::uint16_t>(sequence + i);
        header.payload_bytes = static_cast<std::uint32_t>(part.size());
        add_unsent(unsent, header, tag, part, payload.size());
    }
    return count;
}

void ReliableSender::add_unsent(BunchList& unsent, const BunchHeader& header, const BunchTag& tag,
                                std::span<const std::byte> part, std::uint64_t message_bytes) {
    const BunchSlot slot = pool_.take();
    OutBunch& bunch = pool_[slot].bunch;
    bunch.header = header;
    bunch.tag = tag;
    bunch.payload.assign(part.begin(), part.end());
    bunch.message_bytes = message_bytes;
    bunch.begin = {};
    bunch.was_sent = false;
    unsent.append(pool_, slot);
}

void ReliableSender::trim() {
    pool_.trim();
    unsent_channels_.trim();
}

WindowPlace ReliableSender::window_begin() const noexcept {
    WindowPlace begin = sent_;
    for (const Row& each : rows_) {
        for (const BunchList* bunches : {&each.lost, &each.in_flight}) {
            if (!bunches->is_empty()) {
                lower(begin, pool_[bunches->first()].bunch.begin);
            }
        }
        // Nothing of it may be missing, and yet it is not whole.
        if (!each.unsent.is_empty() && !pool_[each.unsent.first()].bunch.begins_message()) {
            begin.values.bytes = std::min(begin.values.bytes, each.message_begin.values.bytes);
            begin.others.bytes = std::min(begin.others.bytes, each.message_begin.others.bytes);
        }
    }
    return begin;
}

bool ReliableSender::has_window_for(Share share, std::uint64_t message_bytes) const noexcept {
    const WindowPlace begin = window_begin();
    ReliableAmount values = difference(sent_.values, begin.values);
    for (const EndedMessage& message : ended_) {
        values.bytes += message.bytes;
    }
    const ReliableAmount others = difference(sent_.others, begin.others);
    const ReliableAmount& own = share == Share::Values ? values : others;
    // Of the bunches that were sent the first does not wait, it is what the others wait for.
    if (values.bunches + others.bunches > window_.bunches ||
        own.bunches > share_max(window_.bunches)) {
        return false;
    }
    const bool is_within_share =
        own.bytes == 0 || own.bytes + message_bytes <= share_max(window_.bytes);
    return message_bytes == 0 ||
           (values.bytes + others.bytes + message_bytes <= window_.bytes && is_within_share);
}

bool ReliableSender::may_send(Share share) const noexcept {
    if (!row(share).lost.is_empty()) {
        return true;
    }
    if (row(share).unsent.is_empty()) {
        return false;
    }
    const OutBunch& bunch = pool_[row(share).unsent.first()].bunch;
    return has_window_for(share, bunch.begins_message() ? bunch.message_bytes : 0);
}

bool ReliableSender::has_room_for(Share share, std::size_t payload_bytes) const noexcept {
    return row(share).lost.is_empty() && row(share).unsent.is_empty() &&
           has_window_for(share, payload_bytes);
}

bool ReliableSender::has_room_behind_unsent(Share share, std::size_t payload_bytes) const noexcept {
    return has_window_for(share, row(share).unsent.count() * fragment_bytes_ + payload_bytes);
}

const OutBunch& ReliableSender::next(Share share) const noexcept {
    const Row& from = row(share);
    return pool_[from.lost.is_empty() ? from.unsent.first() : from.lost.first()].bunch;
}

void ReliableSender::move(BunchList& from, BunchList& to, BunchSlot slot) noexcept {
    from.erase(pool_, slot);
    to.insert_by_order(pool_, slot);
}

void ReliableSender::drop(BunchList& from, BunchSlot slot) noexcept {
    from.erase(pool_, slot);
    pool_.give_back(slot);
}

SentBunch ReliableSender::sent(Share share) {
    Row& from = row(share);
    if (!from.lost.is_empty()) {
        const BunchSlot slot = from.lost.first();
        move(from.lost, from.in_flight, slot);
        return {pool_[slot].order, slot, share};
    }
    const BunchSlot slot = from.unsent.first();
    from.unsent.erase(pool_, slot);
    BunchNode& node = pool_[slot];
    OutBunch& bunch = node.bunch;
    unsent_channels_.remove_one(bunch.header.channel);
    if (bunch.begins_message()) {
        from.message_begin = sent_;
        sent_.of(share).bytes += bunch.message_bytes;
    }
    bunch.begin = from.message_begin;
    bunch.begin.values.bunches = sent_.values.bunches;
    bunch.begin.others.bunches = sent_.others.bunches;
    ++sent_.of(share).bunches;
    bunch.was_sent = true;
    node.order = ++sent_count_;
    from.in_flight.append(pool_, slot);
    return {node.order, slot, share};
}

BunchNode* ReliableSender::find_sent(const SentBunch& name) noexcept {
    BunchNode* const node = pool_.find(name.slot);
    const bool is_there = node != nullptr && node->order == name.order &&
                          (node->place == BunchPlace::InFlight || node->place == BunchPlace::Lost);
    return is_there ? node : nullptr;
}

bool ReliableSender::lost(SentBunch name, BunchTag& tag) {
    Row& from = row(name.share);
    BunchNode* const node = find_sent(name);
    if (node == nullptr || node->place != BunchPlace::InFlight) {
        return false;
    }
    const OutBunch& bunch = node->bunch;
    if (bunch.tag.kind == BunchTag::Kind::Value && bunch.payload.empty() &&
        !bunch.tag.is_taken_back) {
        note_taken_back(bunch.tag);
    }
    tag = bunch.tag;
    move(from.in_flight, from.lost, name.slot);
    return true;
}

bool ReliableSender::delivered(SentBunch name, BunchTag& tag) {
    Row& from = row(name.share);
    BunchNode* const node = find_sent(name);
    if (node == nullptr) {
        return false;
    }
    tag = node->bunch.tag;
    if (tag.kind == BunchTag::Kind::Close && !ended_.empty()) {
        const auto is_of_channel = [&](const EndedMessage& message) {
            return message.channel == node->bunch.header.channel;
        };
        ended_.erase(std::remove_if(ended_.begin(), ended_.end(), is_of_channel), ended_.end());
    }
    drop(node->place == BunchPlace::Lost ? from.lost : from.in_flight, name.slot);
    return true;
}

std::uint32_t ReliableSender::abandon_unsent(ChannelIndex channel) {
    Share share = Share::Messages;
    const std::uint32_t dropped_count = unsent_channels_.remove_all(channel, share);
    if (dropped_count == 0) {
        return 0;
    }
    Row& from = row(share);
    std::uint16_t rest_begin = 0;
    std::uint32_t begun_count = 0;  // bunches that went out of a message that is not whole
    bool is_rest = true;
    std::uint32_t seen_count = 0;
    from.unsent.for_each(pool_, [&](BunchSlot slot, const BunchNode& node) {
        const OutBunch& bunch = node.bunch;
        if (bunch.header.channel != channel) {
            return;
        }
        is_rest = is_rest && !bunch.begins_message();
        if (is_rest && seen_count == 0) {
            rest_begin = bunch.header.sequence;
            begun_count = fragment_count(static_cast<std::size_t>(bunch.message_bytes));
        }
        begun_count -= is_rest ? 1u : 0u;
        ++seen_count;
        drop(from.unsent, slot);
    });
    REPLAYOUT_ASSERT(seen_count == dropped_count);
    if (begun_count > 0) {
        strip_parts(from, channel, rest_begin, begun_count);
        ended_.push_back({channel, std::uint64_t{begun_count} * fragment_bytes_});
    }
    return dropped_count;
}

template <typename Visitor>
void ReliableSender::for_each_part(const BunchTag& value, Visitor visit) {
    REPLAYOUT_ASSERT(value.kind == BunchTag::Kind::Value);
    for (Row& each : rows_) {
        for (BunchList* bunches : {&each.lost, &each.unsent, &each.in_flight}) {
            bunches->for_each(pool_, [&](BunchSlot, BunchNode& node) {
                const BunchTag& tag = node.bunch.tag;
                if (tag.kind == value.kind && tag.object_index == value.object_index &&
                    tag.handle == value.handle) {
                    visit(node.bunch, bunches == &each.in_flight);
                }
            });
        }
    }
}

void ReliableSender::take_back(const BunchTag& value) {
    bool is_any_empty = false;
    bool is_noted = false;
    for_each_part(value, [&](OutBunch& bunch, bool is_in_flight) {
        strip(bunch);
        is_any_empty = is_any_empty || !is_in_flight;
        is_noted = is_noted || bunch.tag.is_taken_back;
    });
    if (is_any_empty && !is_noted) {
        note_taken_back(value);
    }
}

void ReliableSender::note_taken_back(const BunchTag& value) {
    for_each_part(value, [](OutBunch& bunch, bool) { bunch.tag.is_taken_back = true; });
    ++stats_.values_abandoned;
}

void ReliableSender::strip(OutBunch& bunch) noexcept {
    bunch.drop_payload();
    bunch.header.payload_bytes = 0;
}

void ReliableSender::strip_parts(Row& from, ChannelIndex channel, std::uint16_t end,
                                 std::uint32_t count) {
    for (BunchList* bunches : {&from.lost, &from.in_flight}) {
        bunches->for_each(pool_, [&](BunchSlot, BunchNode& node) {
            const BunchHeader& header = node.bunch.header;
            const auto distance = static_cast<std::uint16_t>(end - header.sequence);
            if (header.channel == channel && distance >= 1 && distance <= count) {
                strip(node.bunch);
            }
        });
    }
}

void ReliableSender::keep_control_only() {
    // What is dropped leaves gaps in the window, and what is left is a message or two.
    window_.bunches = std::numeric_limits<std::uint64_t>::max();
    window_.bytes = std::numeric_limits<std::uint64_t>::max();
    for (Row& each : rows_) {
        for (BunchList* bunches : {&each.lost, &each.unsent, &each.in_flight}) {
            bunches->for_each(pool_, [&](BunchSlot slot, const BunchNode& node) {
                if (!node.bunch.header.channel.is_control()) {
                    drop(*bunches, slot);
                }
            });
        }
    }
    ended_.clear();
    unsent_channels_.keep_control_only();
}

void ReliableSender::resend_all() {
    for (Row& each : rows_) {
        while (!each.in_flight.is_empty()) {
            move(each.in_flight, each.lost, each.in_flight.first());
        }
    }
}

}  // namespace replayout
