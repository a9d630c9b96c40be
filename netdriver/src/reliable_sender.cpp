// SPDX-License-Identifier: MIT
#include "reliable_sender.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kept_room.h"

namespace replayout {

namespace {

[[nodiscard]] Share share_of(BunchTag::Kind kind) noexcept {
    switch (kind) {
        case BunchTag::Kind::Open:
            return Share::Objects;
        case BunchTag::Kind::Value:
        case BunchTag::Kind::HiddenState:
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
      resource_(resource),
      rows_{Row(resource), Row(resource), Row(resource)},
      unsent_channels_(Allocator<std::pair<ChannelIndex, UnsentChannel>>(resource)),
      ended_(Allocator<EndedMessage>(resource)),
      spare_(resource) {}

std::uint32_t ReliableSender::fragment_count(std::size_t payload_bytes) const noexcept {
    const std::size_t count = (payload_bytes + fragment_bytes_ - 1) / fragment_bytes_;
    return static_cast<std::uint32_t>(std::max<std::size_t>(count, 1));
}

std::uint32_t ReliableSender::queue(BunchHeader header, std::uint16_t sequence,
                                    std::span<const std::byte> payload, BunchTag tag) {
    const std::uint32_t count = fragment_count(payload.size());
    BunchMap& unsent = count_in(header.channel, share_of(tag.kind), count).unsent;
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

void ReliableSender::add_unsent(BunchMap& unsent, const BunchHeader& header, const BunchTag& tag,
                                std::span<const std::byte> part, std::uint64_t message_bytes) {
    const BunchOrder order{++queued_count_};
    ++bunch_count_;
    if (spare_.empty() || part.size() > spare_bytes_max) {
        Vector<std::byte> bytes(part.begin(), part.end(), Allocator<std::byte>(resource_));
        unsent.emplace_hint(unsent.end(), order,
                            OutBunch{header, tag, std::move(bytes), message_bytes, {}});
        return;
    }
    BunchMap::node_type node = spare_.extract(spare_.begin());
    node.key() = order;
    OutBunch& bunch = node.mapped();
    bunch.header = header;
    bunch.tag = tag;
    bunch.payload.assign(part.begin(), part.end());
    bunch.message_bytes = message_bytes;
    bunch.begin = {};
    bunch.was_sent = false;
    unsent.insert(unsent.end(), std::move(node));
}

void ReliableSender::keep_spare(BunchMap::node_type node) {
    if (spare_.size() < spare_count_max && node.mapped().payload.capacity() <= spare_bytes_max) {
        spare_.insert(spare_.end(), std::move(node));
    }
}

ReliableSender::Row& ReliableSender::count_in(ChannelIndex channel, Share share,
                                              std::uint32_t count) {
    const auto [entry, is_new] = unsent_channels_.try_emplace(channel, UnsentChannel{share});
    UnsentChannel& unsent = entry->second;
    if (!is_new && unsent.bunch_count == 0) {
        unsent.share = share;
        --sent_channel_count_;
    }
    unsent.bunch_count += count;
    most_channels_ = std::max(most_channels_, unsent_channels_.size());
    return row(unsent.share);
}

void ReliableSender::count_out(ChannelIndex channel) {
    const auto unsent = unsent_channels_.find(channel);
    if (--unsent->second.bunch_count == 0) {
        ++sent_channel_count_;
    }
    // Many at a time: thousands of closes may wait, and to forget one moves all behind it.
    constexpr std::size_t few = 8;
    if (sent_channel_count_ > few + unsent_channels_.size() / 2) {
        const auto is_sent = [](const auto& entry) { return entry.second.bunch_count == 0; };
        unsent_channels_.erase(
            std::remove_if(unsent_channels_.begin(), unsent_channels_.end(), is_sent),
            unsent_channels_.end());
        sent_channel_count_ = 0;
    }
}

void ReliableSender::trim() {
    const std::size_t most = std::exchange(most_channels_, unsent_channels_.size());
    if (KeptRoom::is_too_large(most, unsent_channels_.capacity(),
                               sizeof(decltype(unsent_channels_)::value_type))) {
        unsent_channels_.shrink_to_fit();
        unsent_channels_.reserve(2 * most);
    }
}

WindowPlace ReliableSender::window_begin() const noexcept {
    WindowPlace begin = sent_;
    for (const Row& each : rows_) {
        for (const BunchMap* bunches : {&each.lost, &each.in_flight}) {
            if (!bunches->empty()) {
                lower(begin, bunches->begin()->second.begin);
            }
        }
        // Nothing of it may be missing, and yet it is not whole.
        if (!each.unsent.empty() && !each.unsent.begin()->second.begins_message()) {
            begin.values.bytes = std::min(begin.values.bytes, each.message_begin.values.bytes);
            begin.others.bytes = std::min(begin.others.bytes, each.message_begin.others.bytes);
        }
    }
    return begin;
}

bool ReliableSender::has_window_for(Share share, std::uint64_t message_bytes) const noexcept {
    if (has_window_from(known_begin_, share, message_bytes)) {
        return true;
    }
    known_begin_ = window_begin();
    return has_window_from(known_begin_, share, message_bytes);
}

bool ReliableSender::has_window_from(const WindowPlace& begin, Share share,
                                     std::uint64_t message_bytes) const noexcept {
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
    if (!row(share).lost.empty()) {
        return true;
    }
    if (row(share).unsent.empty()) {
        return false;
    }
    const OutBunch& bunch = row(share).unsent.begin()->second;
    return has_window_for(share, bunch.begins_message() ? bunch.message_bytes : 0);
}

bool ReliableSender::has_room_for(Share share, std::size_t payload_bytes) const noexcept {
    return row(share).lost.empty() && row(share).unsent.empty() &&
           has_window_for(share, payload_bytes);
}

bool ReliableSender::has_room_behind_unsent(Share share, std::size_t payload_bytes) const noexcept {
    return has_window_for(share, row(share).unsent.size() * fragment_bytes_ + payload_bytes);
}

const OutBunch& ReliableSender::next(Share share) const noexcept {
    const Row& from = row(share);
    return from.lost.empty() ? from.unsent.begin()->second : from.lost.begin()->second;
}

void ReliableSender::move(BunchMap& from, BunchMap& to, BunchOrder order) {
    auto node = from.extract(order);
    if (!node.empty()) {
        to.insert(std::move(node));
    }
}

SentBunch ReliableSender::sent(Share share) {
    Row& from = row(share);
    if (!from.lost.empty()) {
        const BunchOrder order = from.lost.begin()->first;
        move(from.lost, from.in_flight, order);
        return {share, order};
    }
    auto node = from.unsent.extract(from.unsent.begin());
    OutBunch& bunch = node.mapped();
    count_out(bunch.header.channel);
    if (bunch.begins_message()) {
        from.message_begin = sent_;
        sent_.of(share).bytes += bunch.message_bytes;
    }
    bunch.begin = from.message_begin;
    bunch.begin.values.bunches = sent_.values.bunches;
    bunch.begin.others.bunches = sent_.others.bunches;
    ++sent_.of(share).bunches;
    bunch.was_sent = true;
    node.key() = BunchOrder{++sent_count_};
    const BunchOrder order = node.key();
    from.in_flight.insert(from.in_flight.end(), std::move(node));
    return {share, order};
}

bool ReliableSender::lost(SentBunch name, BunchTag& tag) {
    Row& from = row(name.share);
    const auto found = from.in_flight.find(name.order);
    if (found == from.in_flight.end()) {
        return false;
    }
    const OutBunch& bunch = found->second;
    if (bunch.tag.kind == BunchTag::Kind::Value && bunch.payload.empty() &&
        !bunch.tag.is_taken_back) {
        note_taken_back(bunch.tag);
    }
    tag = bunch.tag;
    move(from.in_flight, from.lost, name.order);
    return true;
}

bool ReliableSender::delivered(SentBunch name, BunchTag& tag) {
    Row& from = row(name.share);
    for (BunchMap* bunches : {&from.in_flight, &from.lost}) {
        // In the order in which they were sent, but for those that were lost.
        const bool is_first = !bunches->empty() && bunches->begin()->first == name.order;
        const auto found = is_first ? bunches->begin() : bunches->find(name.order);
        if (found != bunches->end()) {
            tag = found->second.tag;
            if (tag.kind == BunchTag::Kind::Close) {
                const auto is_of_channel = [&](const EndedMessage& message) {
                    return message.channel == found->second.header.channel;
                };
                ended_.erase(std::remove_if(ended_.begin(), ended_.end(), is_of_channel),
                             ended_.end());
            }
            keep_spare(bunches->extract(found));
            --bunch_count_;
            return true;
        }
    }
    return false;
}

std::uint32_t ReliableSender::abandon_unsent(ChannelIndex channel) {
    const auto found = unsent_channels_.find(channel);
    if (found == unsent_channels_.end() || found->second.bunch_count == 0) {
        return 0;
    }
    const std::uint32_t dropped_count = found->second.bunch_count;
    Row& from = row(found->second.share);
    unsent_channels_.erase(found);
    bunch_count_ -= dropped_count;
    std::uint16_t rest_begin = 0;
    std::uint32_t begun_count = 0;  // bunches that went out of a message that is not whole
    bool is_rest = true;
    std::uint32_t seen_count = 0;
    for (auto entry = from.unsent.begin(); seen_count < dropped_count;) {
        const OutBunch& bunch = entry->second;
        if (bunch.header.channel != channel) {
            ++entry;
            continue;
        }
        is_rest = is_rest && !bunch.begins_message();
        if (is_rest && seen_count == 0) {
            rest_begin = bunch.header.sequence;
            begun_count = fragment_count(static_cast<std::size_t>(bunch.message_bytes));
        }
        begun_count -= is_rest ? 1u : 0u;
        ++seen_count;
        entry = from.unsent.erase(entry);
    }
    if (begun_count > 0) {
        strip_parts(from, channel, rest_begin, begun_count);
        ended_.push_back({channel, std::uint64_t{begun_count} * fragment_bytes_});
    }
    return dropped_count;
}

template <typename Visitor>
void ReliableSender::for_each_part(const BunchTag& value, Visitor visit) {
    REPLAYOUT_ASSERT(value.kind == BunchTag::Kind::Value ||
                     value.kind == BunchTag::Kind::HiddenState);
    for (Row& each : rows_) {
        for (BunchMap* bunches : {&each.lost, &each.unsent, &each.in_flight}) {
            for (auto& [order, bunch] : *bunches) {
                if (bunch.tag.kind == value.kind && bunch.tag.object_index == value.object_index &&
                    bunch.tag.handle == value.handle) {
                    visit(bunch, bunches == &each.in_flight);
                }
            }
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
    Vector<std::byte>(bunch.payload.get_stored_allocator()).swap(bunch.payload);
    bunch.header.payload_bytes = 0;
}

void ReliableSender::strip_parts(Row& from, ChannelIndex channel, std::uint16_t end,
                                 std::uint32_t count) {
    for (BunchMap* bunches : {&from.lost, &from.in_flight}) {
        for (auto& [order, bunch] : *bunches) {
            const auto distance = static_cast<std::uint16_t>(end - bunch.header.sequence);
            if (bunch.header.channel == channel && distance >= 1 && distance <= count) {
                strip(bunch);
            }
        }
    }
}

void ReliableSender::keep_control_only() {
    // What is dropped leaves gaps in the window, and what is left is a message or two.
    window_.bunches = std::numeric_limits<std::uint64_t>::max();
    window_.bytes = std::numeric_limits<std::uint64_t>::max();
    for (Row& each : rows_) {
        for (BunchMap* bunches : {&each.lost, &each.unsent, &each.in_flight}) {
            bunch_count_ -= std::erase_if(*bunches, [](const auto& entry) {
                return !entry.second.header.channel.is_control();
            });
        }
    }
    ended_.clear();
    for (auto channel = unsent_channels_.begin(); channel != unsent_channels_.end();) {
        channel = channel->first.is_control() ? channel + 1 : unsent_channels_.erase(channel);
    }
    sent_channel_count_ = static_cast<std::size_t>(
        std::count_if(unsent_channels_.begin(), unsent_channels_.end(),
                      [](const auto& entry) { return entry.second.bunch_count == 0; }));
}

void ReliableSender::resend_all() {
    for (Row& each : rows_) {
        while (!each.in_flight.empty()) {
            move(each.in_flight, each.lost, each.in_flight.begin()->first);
        }
    }
}

}  // namespace replayout
