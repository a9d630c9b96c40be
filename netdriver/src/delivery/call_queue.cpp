// SPDX-License-Identifier: MIT
#include "call_queue.h"

#include <algorithm>
#include <utility>

#include "reliable_receiver.h"

namespace replayout {

namespace {

// Those no larger than a packet; what is larger comes seldom, and goes back.
constexpr std::size_t pooled_message_bytes_max = 2 * 1024;

[[nodiscard]] ReliableAmount amount_of(const OutgoingCall& call) noexcept {
    return {call.part_count(), call.payload.size()};
}

void take_from(ReliableAmount& all, const ReliableAmount& amount) noexcept {
    all.bunches -= amount.bunches;
    all.bytes -= amount.bytes;
}

void add_to(ReliableAmount& all, const ReliableAmount& amount) noexcept {
    all.bunches += amount.bunches;
    all.bytes += amount.bytes;
}

}  // namespace

std::size_t largest_call_bytes(const ReceiveLimits& limits) noexcept {
    const ReliableWindow window = reliable_window(limits);
    const std::uint64_t bytes_max = std::min<std::uint64_t>(
        {limits.call_bytes_max, window.bytes, window.bunches * limits.part_bytes});
    return std::max<std::size_t>(limits.part_bytes, bytes_max);
}

CallQueue::CallQueue(const NetConfig& config, const ReceiveLimits& limits,
                     std::uint16_t first_sequence, MemoryResource* resource)
    : part_bytes_(limits.part_bytes),
      first_sequence_(first_sequence),
      calls_max_(config.calls_waiting_max),
      window_(reliable_window(limits)),
      memory_(std::pmr::pool_options{0, pooled_message_bytes_max}, resource),
      calls_(&memory_),
      sequences_(Allocator<std::pair<ChannelIndex, Sequences>>(resource)),
      full_timeout_ms_(config.calls_full_timeout_ms),
      closing_(Allocator<std::pair<ChannelIndex, ReliableAmount>>(resource)),
      undecided_(resource) {}

bool CallQueue::begin_flush(NetTime now) {
    now_ = now;
    if (!was_refused_ && !refused_since_.has_value()) {
        return false;  // most often
    }
    if (has_room_for(true, part_bytes_)) {
        refused_since_.reset();
    }
    if (!std::exchange(was_refused_, false) || full_timeout_ms_ == 0) {
        return false;
    }
    // A client that takes one now and then would hold up all others for as long as it likes.
    return (refused_since_.has_value() &&
            now >= refused_since_->plus_milliseconds(patience_ms())) ||
           has_waited();
}

std::int64_t CallQueue::patience_ms() const noexcept {
    const bool is_lossy = !calls_.empty() && calls_.front().was_lost;
    return std::int64_t{full_timeout_ms_} * (is_lossy ? lossy_times : 1);
}

void CallQueue::note_refused() {
    was_refused_ = true;
    if (!refused_since_.has_value()) {
        refused_since_ = now_;
    }
}

bool CallQueue::has_waited() const noexcept {
    return full_timeout_ms_ != 0 && !calls_.empty() &&
           now_ >= calls_.front().made.plus_milliseconds(patience_ms());
}

std::uint32_t CallQueue::part_count_of(std::size_t payload_bytes) const noexcept {
    return static_cast<std::uint32_t>((payload_bytes + part_bytes_ - 1) / part_bytes_);
}

bool CallQueue::has_room_for(bool is_reliable, std::size_t payload_bytes) const noexcept {
    if (calls_.size() >= calls_max_) {
        return false;
    }
    const std::uint32_t count = part_count_of(payload_bytes);
    return (!is_reliable && count <= 1) || (kept_.bunches + count <= window_.bunches &&
                                            kept_.bytes + payload_bytes <= window_.bytes);
}

bool CallQueue::has_room_for_update(std::size_t payload_bytes) const noexcept {
    const std::uint32_t count = part_count_of(payload_bytes);
    const bool is_half_free = 2 * calls_.size() <= calls_max_ &&
                              2 * (kept_.bunches + count) <= window_.bunches &&
                              2 * (kept_.bytes + payload_bytes) <= window_.bytes;
    // One larger than half of it goes alone.
    return (is_half_free || calls_.empty()) && has_room_for(true, payload_bytes);
}

bool CallQueue::has_calls(ChannelIndex channel) const noexcept {
    return std::any_of(calls_.begin(), calls_.end(),
                       [&](const OutgoingCall& call) { return call.channel == channel; });
}

std::uint32_t CallQueue::reliable_count(ChannelIndex channel) const noexcept {
    return static_cast<std::uint32_t>(
        std::count_if(calls_.begin(), calls_.end(), [&](const OutgoingCall& call) {
            return call.is_reliable && call.channel == channel && !call.is_for_next;
        }));
}

CallProgress CallQueue::progress(ChannelIndex channel) const noexcept {
    CallProgress progress = CallProgress::Arrived;
    for (const OutgoingCall& call : calls_) {
        if (call.channel != channel || !call.is_reliable || call.is_delivered) {
            continue;
        }
        if (!call.was_sent) {
            return CallProgress::Waiting;
        }
        progress = CallProgress::UnderWay;
    }
    return progress;
}

bool CallQueue::has_fresh_call(ObjectIndex index) const noexcept {
    const auto is_fresh = [&](const NamedObject& named) {
        return named.index == index && !named.has_version;
    };
    return std::any_of(calls_.begin(), calls_.end(), [&](const OutgoingCall& call) {
        return std::any_of(call.named.begin(), call.named.end(), is_fresh);
    });
}

bool CallQueue::has_unsent(PacketUse use) const noexcept {
    return std::any_of(calls_.begin(), calls_.end(), [&](const OutgoingCall& call) {
        return !call.is_in_flight && call.goes_ahead() == (use == PacketUse::Values);
    });
}

std::uint32_t CallQueue::queued_count(ChannelIndex channel, FunctionIndex function) const noexcept {
    return static_cast<std::uint32_t>(
        std::count_if(calls_.begin(), calls_.end(), [&](const OutgoingCall& call) {
            return call.is_queued && call.channel == channel && call.function == function;
        }));
}

OutgoingCall& CallQueue::add(ChannelIndex channel, FunctionIndex function, bool is_reliable,
                             std::span<const std::byte> payload) {
    REPLAYOUT_ASSERT(has_room_for(is_reliable, payload.size()));
    OutgoingCall& call = calls_.emplace_back(&memory_);
    call.order = CallOrder{next_order_++};
    call.made = now_;
    call.channel = channel;
    call.function = function;
    call.is_reliable = is_reliable;
    if (is_reliable) {
        refused_since_.reset();
    }
    call.payload.assign(payload.begin(), payload.end());
    if (payload.size() > part_bytes_) {
        call.parts.assign(part_count_of(payload.size()), OutgoingCall::PartState::Unsent);
    }
    if (call.is_kept()) {
        give_sequence(call);
        add_to(kept_, amount_of(call));
    }
    return call;
}

void CallQueue::give_sequence(OutgoingCall& call) {
    Sequences& sequences =
        sequences_.try_emplace(call.channel, Sequences{first_sequence_, first_sequence_})
            .first->second;
    call.sequence = sequences.next;
    sequences.next = static_cast<std::uint16_t>(sequences.next + call.part_count());
}

void CallQueue::take_back() {
    const OutgoingCall& call = calls_.back();
    REPLAYOUT_ASSERT(!call.was_sent);
    if (call.is_kept()) {
        sequences_.at(call.channel).next = call.sequence;
    }
    (void)erase(std::prev(calls_.end()));
}

CallQueue::Calls::iterator CallQueue::erase(Calls::iterator call) {
    if (call->is_kept()) {
        take_from(kept_, amount_of(*call));
    }
    const bool was_found = found_ == call;
    const auto next = calls_.erase(call);
    found_ = was_found ? next : found_;
    return next;
}

std::optional<CallPart> CallQueue::next_part(const OutgoingCall& call) const noexcept {
    if (call.is_in_flight) {
        return std::nullopt;
    }
    const std::uint32_t number = call.next_part;
    const std::size_t offset = number * part_bytes_;
    CallPart part;
    part.payload = std::span(call.payload.data(), call.payload.size()).subspan(offset);
    part.is_last = number + 1 == call.part_count();
    if (!part.is_last) {
        part.payload = part.payload.first(part_bytes_);
    }
    part.name = {call.order, number};
    part.was_sent =
        call.is_in_parts() ? call.parts[number] == OutgoingCall::PartState::Lost : call.was_sent;
    part.header.channel = call.channel;
    part.header.is_call = true;
    part.header.is_unreliable = !call.is_reliable;
    part.header.is_partial = call.is_in_parts();
    part.header.is_partial_initial = call.is_in_parts() && number == 0;
    part.header.is_partial_final = call.is_in_parts() && part.is_last;
    part.header.sequence = static_cast<std::uint16_t>(call.sequence + number);
    part.header.payload_bytes = static_cast<std::uint32_t>(part.payload.size());
    return part;
}

void CallQueue::part_sent(OutgoingCall& call) noexcept {
    REPLAYOUT_ASSERT(call.is_in_parts() && !call.is_in_flight);
    call.parts[call.next_part] = OutgoingCall::PartState::InFlight;
    call.was_sent = true;
    const auto next = std::find_if(call.parts.begin() + call.next_part, call.parts.end(),
                                   [](OutgoingCall::PartState state) {
                                       return state == OutgoingCall::PartState::Unsent ||
                                              state == OutgoingCall::PartState::Lost;
                                   });
    call.next_part = static_cast<std::uint32_t>(next - call.parts.begin());
    call.is_in_flight = next == call.parts.end();
}

CallQueue::Calls::iterator CallQueue::sent(Calls::iterator call) {
    if (!call->is_kept()) {
        return erase(call);
    }
    if (call->is_in_parts()) {
        part_sent(*call);
    } else {
        call->is_in_flight = true;
        call->was_sent = true;
    }
    return std::next(call);
}

CallQueue::Calls::iterator CallQueue::find(CallOrder order) noexcept {
    // They lie in this order.
    while (found_ != calls_.begin() && (found_ == calls_.end() || order < found_->order)) {
        --found_;
    }
    while (found_ != calls_.end() && found_->order < order) {
        ++found_;
    }
    return found_ != calls_.end() && found_->order == order ? found_ : calls_.end();
}

void CallQueue::delivered(const SentCall& name) {
    const auto call = find(name.order);
    if (call == calls_.end()) {
        undecided_.delivered(name.order);
        return;
    }
    if (call->is_in_parts()) {
        call->parts[name.part] = OutgoingCall::PartState::Delivered;
        if (++call->delivered_parts < call->part_count()) {
            return;
        }
    }
    call->is_delivered = true;
    const auto sequences = sequences_.find(call->channel);
    if (sequences != sequences_.end() && sequences->second.first_kept == call->sequence) {
        erase_delivered(call);
    }
}

void CallQueue::erase_delivered(Calls::iterator call) {
    const ChannelIndex channel = call->channel;
    Sequences& sequences = sequences_.at(channel);
    while (call != calls_.end()) {
        if (call->channel != channel || !call->is_kept()) {
            ++call;
            continue;
        }
        if (!call->is_delivered) {
            return;
        }
        sequences.first_kept = static_cast<std::uint16_t>(call->sequence + call->part_count());
        call = erase(call);
        if (sequences.first_kept == sequences.next) {
            return;
        }
    }
}

std::uint32_t CallQueue::lost(const SentCall& name) {
    const auto call = find(name.order);
    if (call == calls_.end()) {
        return undecided_.lost(name.order);
    }
    call->is_in_flight = false;
    call->was_lost = true;
    if (call->is_in_parts()) {
        call->parts[name.part] = OutgoingCall::PartState::Lost;
        call->next_part = std::min(call->next_part, name.part);
    }
    return 0;
}

std::uint32_t CallQueue::parts_under_way(const OutgoingCall& call) noexcept {
    if (!call.is_in_parts()) {
        return call.is_delivered ? 0 : 1;
    }
    return static_cast<std::uint32_t>(
        std::count(call.parts.begin(), call.parts.end(), OutgoingCall::PartState::InFlight));
}

std::uint32_t CallQueue::drop_next(ChannelIndex channel) {
    std::uint32_t count = 0;
    for (auto call = calls_.begin(); call != calls_.end();) {
        const bool is_dropped = call->channel == channel && call->is_for_next;
        count += is_dropped ? 1u : 0u;
        call = is_dropped ? erase(call) : std::next(call);
    }
    return count;
}

std::uint32_t CallQueue::close_channel(ChannelIndex channel) {
    std::uint32_t count = 0;
    ReliableAmount sent;
    bool has_gap = false;  // a kept call is dropped: none after it runs
    undecided_.begin_channel();
    sequences_.erase(channel);
    for (auto call = calls_.begin(); call != calls_.end();) {
        if (call->channel == channel && call->is_for_next) {
            call->is_for_next = false;
            if (call->is_kept()) {
                give_sequence(*call);
            }
            ++call;
            continue;
        }
        if (call->channel != channel) {
            ++call;
            continue;
        }
        if (call->was_sent) {
            add_to(sent, amount_of(*call));
        }
        has_gap = has_gap || (call->is_kept() && !call->is_in_flight);
        if (call->is_kept() && !has_gap) {
            undecided_.add(call->order, parts_under_way(*call));
        } else {
            ++count;
        }
        call = erase(call);
    }
    if (sent.bunches > 0) {
        add_to(kept_, sent);
        add_to(closing_[channel], sent);
    }
    return count;
}

void CallQueue::channel_closed(ChannelIndex channel) {
    if (closing_.empty()) {
        return;
    }
    const auto found = closing_.find(channel);
    if (found != closing_.end()) {
        take_from(kept_, found->second);
        closing_.erase(found);
    }
}

std::uint32_t CallQueue::drop_channel(ChannelIndex channel) {
    const std::uint32_t count = close_channel(channel);
    channel_closed(channel);
    return count;
}

}  // namespace replayout
