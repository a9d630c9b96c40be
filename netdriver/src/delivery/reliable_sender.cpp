// SPDX-License-Identifier: MIT
#include "reliable_sender.h"

#include <limits>
#include <utility>

#include "kept_room.h"
#include "object_index.h"

namespace replayout {

namespace {

[[nodiscard]] PacketUse use_of(BunchTag::Kind kind) noexcept {
    switch (kind) {
        case BunchTag::Kind::Open:
            return PacketUse::Objects;
        case BunchTag::Kind::Value:
        case BunchTag::Kind::HiddenState:
            return PacketUse::Values;
        default:
            return PacketUse::Messages;
    }
}

void lower(ReliableAmount& lowered, const ReliableAmount& other) noexcept {
    lowered.bunches = std::min(lowered.bunches, other.bunches);
    lowered.bytes = std::min(lowered.bytes, other.bytes);
}

void lower(WindowPosition& lowered, const WindowPosition& other) noexcept {
    lower(lowered.values, other.values);
    lower(lowered.others, other.others);
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
      shares_{share_max(window.bunches), share_max(window.bytes)},
      stats_(stats),
      pool_(resource),
      states_{UseState(pool_, resource), UseState(pool_, resource), UseState(pool_, resource)},
      kept_(resource),
      unsent_channels_(Allocator<std::pair<ChannelIndex, UnsentChannel>>(resource)),
      ended_(Allocator<EndedMessage>(resource)),
      closes_(resource) {}

std::uint32_t ReliableSender::fragment_count(std::size_t payload_bytes) const noexcept {
    const std::size_t count = (payload_bytes + fragment_bytes_ - 1) / fragment_bytes_;
    return static_cast<std::uint32_t>(std::max<std::size_t>(count, 1));
}

std::uint32_t ReliableSender::queue(BunchHeader header, std::uint16_t sequence,
                                    std::span<const std::byte> payload, BunchTag tag) {
    const std::uint32_t count = fragment_count(payload.size());
    BunchQueue& unsent = count_in(header.channel, use_of(tag.kind), count).unsent;
    header.is_partial = count > 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t offset = i * fragment_bytes_;
        const auto part =
            payload.subspan(offset, std::min(fragment_bytes_, payload.size() - offset));
        header.is_partial_initial = count > 1 && i == 0;
        header.is_partial_final = count > 1 && i + 1 == count;
        header.sequence = static_cast<std::uint16_t>(sequence + i);
        header.payload_bytes = static_cast<std::uint32_t>(part.size());
        unsent.push_back(BunchOrder{++queued_count_},
                         pool_.make(header, tag, part, payload.size()));
        ++bunch_count_;
    }
    return count;
}

void ReliableSender::queue_close(ChannelIndex channel, std::uint16_t sequence,
                                 ChannelCloseReason reason, bool is_behind_open) {
    if (is_behind_open) {
        const std::array<std::byte, close_payload_bytes> payload = {static_cast<std::byte>(reason)};
        (void)queue(close_header(channel, sequence), sequence, payload,
                    {BunchTag::Kind::Close, slot_of(channel), 0});
    } else {
        closes_.push_back() = {channel, sequence, reason};
        ++waiting_close_count_;
        ++bunch_count_;
    }
}

ReliableSender::UseState& ReliableSender::count_in(ChannelIndex channel, PacketUse use,
                                                   std::uint32_t count) {
    const auto [entry, is_new] = unsent_channels_.try_emplace(channel, UnsentChannel{use});
    UnsentChannel& unsent = entry->second;
    if (!is_new && unsent.bunch_count == 0) {
        unsent.use = use;
        --sent_channel_count_;
    }
    unsent.bunch_count += count;
    most_channels_ = std::max(most_channels_, unsent_channels_.size());
    return state_of(unsent.use);
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
    for (UseState& each : states_) {
        trim_all(each.unsent, each.sent);
    }
    trim_all(closes_, kept_);
}

WindowPosition ReliableSender::window_begin() const noexcept {
    WindowPosition begin = kept_.is_empty() ? sent_ : kept_.first().begin;
    for (const UseState& each : states_) {
        if (!each.sent.is_empty()) {
            lower(begin, each.sent.first().begin);
        }
        // Nothing of it may be missing, and yet it is not whole.
        if (!each.unsent.is_empty() && !each.unsent.first().begins_message()) {
            begin.values.bytes = std::min(begin.values.bytes, each.message_begin.values.bytes);
            begin.others.bytes = std::min(begin.others.bytes, each.message_begin.others.bytes);
        }
    }
    return begin;
}

bool ReliableSender::has_window_beyond_usual(PacketUse use, std::uint64_t message_bytes,
                                             std::uint32_t count) const noexcept {
    // Once all values have arrived, what is known begins after them, as has_usual_room() wants it.
    const bool is_known =
        sent_.values == known_begin_.values || !state_of(PacketUse::Values).sent.is_empty();
    if (is_known && has_window_from(known_begin_, use, message_bytes, count)) {
        return true;
    }
    known_begin_ = window_begin();
    return has_window_from(known_begin_, use, message_bytes, count);
}

bool ReliableSender::has_window_from(const WindowPosition& begin, PacketUse use,
                                     std::uint64_t message_bytes,
                                     std::uint32_t count) const noexcept {
    const std::uint32_t more = count - 1;  // than one, each of which is a message
    ReliableAmount values = difference(sent_.values, begin.values);
    for (const EndedMessage& message : ended_) {
        values.bytes += message.bytes;
    }
    const ReliableAmount others = difference(sent_.others, begin.others);
    const ReliableAmount& own = use == PacketUse::Values ? values : others;
    // Of the bunches that were sent the first does not wait, it is what the others wait for.
    if (values.bunches + others.bunches + more > window_.bunches ||
        own.bunches + more > shares_.bunches) {
        return false;
    }
    const bool is_within_share =
        (own.bytes == 0 && more == 0) || own.bytes + message_bytes <= shares_.bytes;
    return message_bytes == 0 ||
           (values.bytes + others.bytes + message_bytes <= window_.bytes && is_within_share);
}

bool ReliableSender::may_send(PacketUse use) const noexcept {
    if (state_of(use).lost_count > 0) {
        return true;
    }
    if (state_of(use).unsent.is_empty()) {
        return false;
    }
    const OutBunch& bunch = state_of(use).unsent.first();
    return has_window_for(use, bunch.begins_message() ? bunch.message_bytes : 0);
}

bool ReliableSender::has_room_for(PacketUse use, std::size_t payload_bytes) const noexcept {
    return state_of(use).lost_count == 0 && state_of(use).unsent.is_empty() &&
           has_window_for(use, payload_bytes);
}

bool ReliableSender::has_room_behind_unsent(PacketUse use,
                                            std::size_t payload_bytes) const noexcept {
    return has_window_for(use, state_of(use).unsent.count() * fragment_bytes_ + payload_bytes);
}

const OutBunch& ReliableSender::next(PacketUse use) const noexcept {
    const UseState& from = state_of(use);
    return from.lost_count > 0 ? from.first_lost_bunch() : from.unsent.first();
}

SentBunch ReliableSender::sent(PacketUse use) {
    UseState& from = state_of(use);
    if (from.lost_count > 0) {
        const BunchOrder order = from.first_lost;
        from.first_lost_bunch().is_lost = false;
        from.first_lost_bunch().was_sent = true;
        from.forget_lost(order);
        return {use, order};
    }
    BunchPool::BunchPtr taken = from.unsent.take_first();
    OutBunch& bunch = *taken;
    count_out(bunch.header.channel);
    if (bunch.begins_message()) {
        from.message_begin = sent_;
        sent_.of(use).bytes += bunch.message_bytes;
    }
    bunch.begin = from.message_begin;
    bunch.begin.values.bunches = sent_.values.bunches;
    bunch.begin.others.bunches = sent_.others.bunches;
    ++sent_.of(use).bunches;
    bunch.was_sent = true;
    const BunchOrder order{++sent_count_};
    from.sent.push_back(order, std::move(taken));
    return {use, order};
}

void ReliableSender::send_open(ObjectIndex index, OpenBunch& bunch, Version block_version) {
    REPLAYOUT_ASSERT(has_room_for(PacketUse::Objects, bunch.payload().size()));
    send_kept(kept_.add_open(index, bunch, block_version), bunch.payload().size());
    ++bunch_count_;
}

void ReliableSender::send_opens(const OpenRunPart& opens, std::size_t payload_bytes) {
    REPLAYOUT_ASSERT(has_room_for_opens(opens.count, payload_bytes));
    send_kept(kept_.add_opens(opens), payload_bytes, opens.count);
    bunch_count_ += opens.count;
}

std::uint32_t ReliableSender::sendable_closes() const noexcept {
    const std::uint32_t count = waiting_close_count_;
    if (count == 0 || has_usual_room(std::uint64_t{count} * close_payload_bytes, count)) {
        return count;
    }
    return has_window_for(PacketUse::Messages, close_payload_bytes) ? 1 : 0;
}

void ReliableSender::send_closes(std::uint32_t count) {
    REPLAYOUT_ASSERT(count <= waiting_close_count_);
    send_kept(kept_.add_closes(count), count * close_payload_bytes, count);
    waiting_close_count_ -= count;
}

ResolvedBunch ReliableSender::open_delivered() noexcept {
    const KeptBunch& open = kept_.first();
    const ResolvedBunch resolved{{BunchTag::Kind::Open, open.object_index, 0}, open.block_version};
    kept_.pop_front();
    --bunch_count_;
    return resolved;
}

ObjectIndex ReliableSender::close_delivered() noexcept {
    const ChannelIndex channel = closes_.front().channel;
    closes_.pop_front();
    --bunch_count_;
    if (!ended_.empty()) {
        forget_ended(channel);
    }
    return slot_of(channel);
}

ResolvedBunch ReliableSender::kept_lost() {
    const KeptBunch& kept = kept_.first();
    const OpenRun::Open open =
        kept.is_run() ? kept.opens.opens().front()
                      : OpenRun::Open{kept.open, kept.object_index, kept.block_version};
    ResolvedBunch resolved{{BunchTag::Kind::Open, open.object_index, 0}, open.block_version};
    if (open.bunch != nullptr) {
        lose_kept(OpenBunch::header_of(channel_of(open.object_index)), resolved.tag,
                  open.bunch->payload());
    } else {
        const WaitingClose& close = closes_.front();
        resolved = {{BunchTag::Kind::Close, slot_of(close.channel), 0}, 0};
        const std::array<std::byte, close_payload_bytes> reason = {
            static_cast<std::byte>(close.reason)};
        lose_kept(close_header(close.channel, close.sequence), resolved.tag, reason);
        closes_.pop_front();
    }
    kept_.pop_front();
    return resolved;
}

void ReliableSender::lose_kept(BunchHeader header, const BunchTag& tag,
                               std::span<const std::byte> payload) {
    const KeptBunch& kept = kept_.first();
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    BunchPool::BunchPtr bunch = pool_.make(header, tag, payload, payload.size());
    bunch->begin = kept.begin;
    bunch->was_sent = true;
    UseState& to = state_of(use_of(tag.kind));
    to.lose(kept.order, *bunch);
    to.sent.insert(kept.order, std::move(bunch));
}

void ReliableSender::forget_ended(ChannelIndex channel) noexcept {
    const auto is_of_channel = [channel](const EndedMessage& message) {
        return message.channel == channel;
    };
    ended_.erase(std::remove_if(ended_.begin(), ended_.end(), is_of_channel), ended_.end());
}

void ReliableSender::unsend(SentBunch name, bool was_sent) noexcept {
    UseState& from = state_of(name.use);
    OutBunch& bunch = *from.sent.find(name.order);
    REPLAYOUT_ASSERT(!bunch.is_lost);
    bunch.was_sent = was_sent;
    from.lose(name.order, bunch);
}

const OutBunch& ReliableSender::resend(SentBunch name) noexcept {
    UseState& from = state_of(name.use);
    OutBunch& bunch = *from.sent.find(name.order);
    REPLAYOUT_ASSERT(bunch.is_lost);
    bunch.is_lost = false;
    from.forget_lost(name.order);
    return bunch;
}

bool ReliableSender::lost(SentBunch name, BunchTag& tag) {
    UseState& from = state_of(name.use);
    OutBunch* const bunch = from.sent.find(name.order);
    if (bunch == nullptr || bunch->is_lost) {
        return false;
    }
    if (bunch->tag.kind == BunchTag::Kind::Value && bunch->payload.empty() &&
        !bunch->tag.is_taken_back) {
        note_taken_back(bunch->tag);
    }
    tag = bunch->tag;
    from.lose(name.order, *bunch);
    return true;
}

bool ReliableSender::delivered(SentBunch name, BunchTag& tag) {
    UseState& from = state_of(name.use);
    const BunchPool::BunchPtr bunch = from.sent.take(name.order);
    if (bunch == nullptr) {
        return false;
    }
    if (bunch->is_lost) {
        from.forget_lost(name.order);
    }
    tag = bunch->tag;
    if (tag.kind == BunchTag::Kind::Close) {
        forget_ended(bunch->header.channel);
    }
    --bunch_count_;
    return true;
}

std::uint32_t ReliableSender::abandon_unsent(ChannelIndex channel) {
    const auto found = unsent_channels_.find(channel);
    if (found == unsent_channels_.end() || found->second.bunch_count == 0) {
        return 0;
    }
    const std::uint32_t dropped_count = found->second.bunch_count;
    UseState& from = state_of(found->second.use);
    unsent_channels_.erase(found);
    bunch_count_ -= dropped_count;
    std::uint16_t rest_begin = 0;
    std::uint32_t begun_count = 0;  // bunches that went out of a message that is not whole
    bool is_rest = true;
    std::uint32_t seen_count = 0;
    (void)from.unsent.erase_if([&](const OutBunch& bunch) {
        if (bunch.header.channel != channel) {
            return false;
        }
        is_rest = is_rest && !bunch.begins_message();
        if (is_rest && seen_count == 0) {
            rest_begin = bunch.header.sequence;
            begun_count = fragment_count(static_cast<std::size_t>(bunch.message_bytes));
        }
        begun_count -= is_rest ? 1u : 0u;
        ++seen_count;
        return true;
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
    REPLAYOUT_ASSERT(value.kind == BunchTag::Kind::Value ||
                     value.kind == BunchTag::Kind::HiddenState);
    for (UseState& each : states_) {
        for (BunchQueue* bunches : {&each.unsent, &each.sent}) {
            bunches->for_each([&](OutBunch& bunch) {
                if (bunch.tag.kind == value.kind && bunch.tag.object_index == value.object_index &&
                    bunch.tag.handle == value.handle) {
                    visit(bunch, bunch.was_sent && !bunch.is_lost);
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
    Vector<std::byte>(bunch.payload.get_stored_allocator()).swap(bunch.payload);
    bunch.header.payload_bytes = 0;
}

void ReliableSender::strip_parts(UseState& from, ChannelIndex channel, std::uint16_t end,
                                 std::uint32_t count) {
    from.sent.for_each([&](OutBunch& bunch) {
        const auto distance = static_cast<std::uint16_t>(end - bunch.header.sequence);
        if (bunch.header.channel == channel && distance >= 1 && distance <= count) {
            strip(bunch);
        }
    });
}

void ReliableSender::keep_control_only() {
    bunch_count_ -= kept_.count() + waiting_close_count_;
    kept_.clear();
    // What is dropped leaves gaps in the window, and what is left is a message or two.
    window_.bunches = std::numeric_limits<std::uint64_t>::max();
    window_.bytes = std::numeric_limits<std::uint64_t>::max();
    shares_ = {share_max(window_.bunches), share_max(window_.bytes)};
    for (UseState& each : states_) {
        for (BunchQueue* bunches : {&each.unsent, &each.sent}) {
            bunch_count_ -= bunches->erase_if([&](const OutBunch& bunch) {
                const bool is_dropped = !bunch.header.channel.is_control();
                each.lost_count -= is_dropped && bunch.is_lost ? 1u : 0u;
                return is_dropped;
            });
        }
        if (each.lost_count > 0) {
            each.first_lost = each.sent.first_lost_from({});
        }
    }
    ended_.clear();
    closes_.clear();
    waiting_close_count_ = 0;
    // All at once: to erase them one by one moves those that follow each time.
    const auto is_other = [](const auto& entry) { return !entry.first.is_control(); };
    unsent_channels_.erase(
        std::remove_if(unsent_channels_.begin(), unsent_channels_.end(), is_other),
        unsent_channels_.end());
    sent_channel_count_ = static_cast<std::size_t>(
        std::count_if(unsent_channels_.begin(), unsent_channels_.end(),
                      [](const auto& entry) { return entry.second.bunch_count == 0; }));
}

void ReliableSender::resend_all() {
    REPLAYOUT_ASSERT(kept_.is_empty());  // a client has none, and no server begins anew
    for (UseState& each : states_) {
        each.lost_count = each.sent.count();
        each.sent.for_each([](OutBunch& bunch) { bunch.is_lost = true; });
        if (each.lost_count > 0) {
            each.first_lost = each.sent.first_lost_from({});
        }
    }
}

}  // namespace replayout
