// SPDX-License-Identifier: MIT
#include "replication_sender.h"

#include <algorithm>
#include <string>

namespace replayout {

namespace {

// SendingRepState::holder_bits: the low two bits are the channel's state, the third says that the
// object is new to the connection, the others count the channel's bunches that are not delivered.
// 13 bits are 8,191; a value of the largest size is 58 of them.
constexpr std::uint16_t channel_state_mask = 3;
constexpr std::uint16_t initial_bit = 4;
constexpr std::uint16_t one_bunch = 8;
constexpr std::uint32_t bunch_count_max = 0xFFFFu / one_bunch;

// Payload of a bunch on an object's channel begins with what it is; an open and a close say so by
// flag.
constexpr std::size_t open_payload_bytes_max = 10 + 5;  // packed guid, packed layout number

}  // namespace

ReplicationSender::ReplicationSender(const ObjectStore& objects, PacketSender& packets,
                                     SendContext& context, NetStats& stats,
                                     const Settings& settings, MemoryResource* resource)
    : objects_(objects),
      packets_(packets),
      context_(context),
      stats_(stats),
      settings_(settings),
      resource_(resource),
      pairs_(Allocator<SendingRepState>(resource)),
      pending_(resource),
      extras_(Allocator<std::pair<std::uint32_t, PairExtra>>(resource)),
      hidden_(resource) {}

ReplicationSender::ChannelState ReplicationSender::channel_state(
    const SendingRepState& pair) noexcept {
    return static_cast<ChannelState>(pair.holder_bits & channel_state_mask);
}

void ReplicationSender::set_channel_state(SendingRepState& pair, ChannelState state) noexcept {
    pair.holder_bits = static_cast<std::uint16_t>((pair.holder_bits & ~channel_state_mask) |
                                                  static_cast<std::uint16_t>(state));
}

bool ReplicationSender::is_initial(const SendingRepState& pair) noexcept {
    return (pair.holder_bits & initial_bit) != 0;
}

void ReplicationSender::set_initial(SendingRepState& pair, bool is_initial) noexcept {
    pair.holder_bits = static_cast<std::uint16_t>((pair.holder_bits & ~initial_bit) |
                                                  (is_initial ? initial_bit : 0));
}

std::uint32_t ReplicationSender::bunch_count(const SendingRepState& pair) noexcept {
    return pair.holder_bits / one_bunch;
}

bool ReplicationSender::block_has_length(const SendingRepState& pair) noexcept {
    return channel_state(pair) == ChannelState::OpenSent;
}

void ReplicationSender::queue_bunch(const BunchHeader& header, std::uint16_t sequence,
                                    std::span<const std::byte> payload, const BunchTag& tag) {
    const std::uint32_t count = packets_.reliable().queue(header, sequence, payload, tag);
    SendingRepState& pair = pairs_[tag.object_index];
    REPLAYOUT_ASSERT(bunch_count(pair) + count <= bunch_count_max);
    pair.holder_bits = static_cast<std::uint16_t>(pair.holder_bits + count * one_bunch);
}

void ReplicationSender::grow() {
    if (pairs_.size() < objects_.slot_count()) {
        pairs_.resize(objects_.slot_count());
        pending_.grow(objects_.slot_count());
    }
}

void ReplicationSender::mark_pending(const BitRow& changed) {
    grow();
    pending_.merge(changed);
    if (validator_) {
        validator_->touch(changed);
    }
}

ReplicationFlags ReplicationSender::flags_of(std::uint32_t index,
                                             const ObjectFacts& facts) const noexcept {
    ReplicationFlags flags;
    flags.is_initial = is_initial(pairs_[index]);
    flags.is_owner = facts.has_owner && facts.owner == settings_.peer;
    flags.is_simulated = !(flags.is_owner && facts.is_autonomous);
    flags.is_replay = is_replay_;
    flags.has_physics = facts.has_physics;
    return flags;
}

ObjectConditions::Receiver ReplicationSender::receiver_of(std::uint32_t index) const {
    const ReplicationFlags flags = flags_of(index, objects_.at(index)->facts());
    ObjectConditions::Receiver receiver = ObjectConditions::make_receiver(flags);
    const auto extra = extras_.find(index);
    if (extra != extras_.end()) {
        receiver.turned_on = extra->second.turned_on;
    }
    return receiver;
}

void ReplicationSender::facts_changed(std::uint32_t index, const ObjectFacts& before,
                                      const ObjectFacts& after) {
    grow();
    const LifetimeConditionSet was = passing_conditions(flags_of(index, before));
    const LifetimeConditionSet is = passing_conditions(flags_of(index, after));
    turn_on(index, is.without(was));
}

void ReplicationSender::dynamic_condition_changed(std::uint32_t index, LifetimeCondition before,
                                                  LifetimeCondition after) {
    grow();
    const ReplicationFlags flags = flags_of(index, objects_.at(index)->facts());
    // What was sent only at first may be old by now.
    if (passes(after, flags) && (!passes(before, flags) || is_initial_condition(before))) {
        LifetimeConditionSet turned_on;
        turned_on.insert(LifetimeCondition::Dynamic);
        turn_on(index, turned_on);
    }
}

void ReplicationSender::set_is_replay(bool is_replay) {
    grow();
    for (std::uint32_t index = 0; index < objects_.slot_count(); ++index) {
        if (objects_.at(index) != nullptr) {
            ReplicationFlags flags = flags_of(index, objects_.at(index)->facts());
            const LifetimeConditionSet was = passing_conditions(flags);
            flags.is_replay = is_replay;
            turn_on(index, passing_conditions(flags).without(was));
        }
    }
    is_replay_ = is_replay;
}

void ReplicationSender::turn_on(std::uint32_t index, LifetimeConditionSet turned_on) {
    const ChannelState state = channel_state(pairs_[index]);
    if (state != ChannelState::OpenSent && state != ChannelState::Open) {
        return;  // it will be sent everything that it may see
    }
    const LifetimeConditionSet conditions =
        objects_.at(index)->changelist_state().layout().conditions();
    // A property whose condition is chosen may have any; which of them began to pass is not kept.
    if (conditions.contains(LifetimeCondition::Dynamic) && !turned_on.is_empty()) {
        turned_on.insert(LifetimeCondition::Dynamic);
    }
    turned_on = turned_on & conditions;
    if (!turned_on.is_empty()) {
        PairExtra& extra = extra_of(index);
        extra.turned_on = extra.turned_on | turned_on;
        pending_.set(index);
    }
}

void ReplicationSender::object_removed(std::uint32_t index) {
    grow();
    SendingRepState& pair = pairs_[index];
    const ChannelState state = channel_state(pair);
    if (state != ChannelState::OpenSent && state != ChannelState::Open) {
        return;  // never opened, or its predecessor in this slot is still closing
    }
    pending_.clear(index);
    std::uint16_t sequence = 2;
    const auto extra = extras_.find(index);
    if (extra != extras_.end()) {
        sequence = extra->second.next_sequence;
        extras_.erase(extra);
    }
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    header.is_close = true;
    queue_bunch(header, sequence, {}, {BunchTag::Kind::Close, index, 0});
    set_channel_state(pair, ChannelState::Closing);
    ++closing_count_;
    if (validator_) {
        validator_->channel_closed(index);
    }
}

bool ReplicationSender::is_settled() const noexcept {
    return pending_.next(0) == BitRow::no_bit && packets_.reliable_is_idle() && closing_count_ == 0;
}

void ReplicationSender::process_prioritized_actors() {
    grow();
    for (std::uint32_t index = pending_.next(0); index != BitRow::no_bit;
         index = pending_.next(index + 1)) {
        if (objects_.at(index) == nullptr) {
            pending_.clear(index);
            continue;
        }
        if (replicate_actor(index) == Outcome::WindowFull) {
            return;
        }
    }
}

void ReplicationSender::validate_pairs() {
    if (!validator_) {
        return;
    }
    ChangeMask& excused = context_.scratch.owed;
    for (std::uint32_t index = validator_->take_touched(); index != BitRow::no_bit;
         index = validator_->take_touched()) {
        const ChangelistState& state = objects_.at(index)->changelist_state();
        const ObjectConditions::Receiver receiver = receiver_of(index);
        state.collect_owed(position_of(index), receiver, excused);
        hidden_.reset(state.layout().handle_count());
        state.conditions().add_hidden(receiver.passing, hidden_);
        const auto extra = extras_.find(index);
        PairValidator::Claim claim;
        claim.state = pairs_[index];
        claim.is_open = channel_state(claim.state) == ChannelState::Open;
        if (extra != extras_.end()) {
            for (const PausedValue& paused : extra->second.paused) {
                excused.set(paused.handle.value - 1);
                ++claim.paused_count;
            }
        }
        claim.is_behind = !receiver.turned_on.is_empty();
        validator_->check(index, claim, excused, hidden_);
    }
}

ReplicationSender::Outcome ReplicationSender::replicate_actor(std::uint32_t index) {
    switch (channel_state(pairs_[index])) {
        case ChannelState::Closing:
            return Outcome::Done;  // stays pending; the channel is free once its close is delivered
        case ChannelState::Closed:
            if (const Outcome outcome = open_channel(index); outcome != Outcome::Done) {
                return outcome;
            }
            break;
        default:
            break;
    }
    return replicate_properties(index);
}

ReplicationSender::Outcome ReplicationSender::open_channel(std::uint32_t index) {
    if (!packets_.can_write()) {
        return Outcome::WindowFull;
    }
    if (!packets_.reliable().has_room_for(open_payload_bytes_max)) {
        return Outcome::HeldBack;
    }
    const ObjectReplicator& replicator = *objects_.at(index);
    std::array<std::byte, open_payload_bytes_max> payload;
    BitWriter writer(payload);
    writer.write_packed_uint(replicator.guid().value);
    writer.write_packed_uint(replicator.layout_number());
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    header.is_open = true;
    pairs_[index] = SendingRepState();
    set_channel_state(pairs_[index], ChannelState::OpenSent);
    set_initial(pairs_[index], true);
    queue_bunch(header, 1, writer.bytes(), {BunchTag::Kind::Open, index, 0});
    ++stats_.channels_opened;
    if (validator_) {
        validator_->channel_opened(index);
    }
    // Nothing else is unsent: there was room for this one.
    return packets_.write_unsent_bunches() ? Outcome::Done : Outcome::WindowFull;
}

OwedVersions ReplicationSender::position_of(std::uint32_t index) const {
    const SendingRepState& pair = pairs_[index];
    const auto extra = extras_.find(index);
    const bool has_range = extra != extras_.end() && !pair.lost.is_empty();
    OwedVersions position(pair, has_range ? extra->second.lost_range : RepRange());
    // Told apart only where it makes a difference, so that receivers have more in common.
    position.is_exact =
        objects_.at(index)->changelist_state().is_any_back(pair.sent_version) && is_exact(index);
    return position;
}

bool ReplicationSender::is_exact(std::uint32_t index) const {
    if (!pairs_[index].is_exact()) {
        return false;
    }
    const auto extra = extras_.find(index);
    return extra == extras_.end() || extra->second.turned_on.is_empty();
}

std::optional<ConnectionShadow> ReplicationSender::connection_shadow(std::uint32_t index) const {
    if (index >= pairs_.size() || channel_state(pairs_[index]) != ChannelState::Open) {
        return std::nullopt;
    }
    OwedVersions position = position_of(index);
    position.is_exact = is_exact(index);
    return ConnectionShadow(objects_.at(index)->changelist_state(), position, receiver_of(index));
}

ReplicationSender::PairExtra& ReplicationSender::extra_of(std::uint32_t index) {
    const auto found = extras_.find(index);
    return found != extras_.end() ? found->second
                                  : extras_.emplace(index, PairExtra(resource_)).first->second;
}

void ReplicationSender::collect_owed(std::uint32_t index, const OwedVersions& position) {
    ChangeMask& owed = context_.scratch.owed;
    objects_.at(index)->changelist_state().collect_owed(position, receiver_of(index), owed);
    const auto extra = extras_.find(index);
    if (extra != extras_.end()) {
        for (const PausedValue& paused : extra->second.paused) {
            owed.clear(paused.handle.value - 1);
        }
    }
}

ReplicationSender::Outcome ReplicationSender::replicate_properties(std::uint32_t index) {
    SendingRepState& pair = pairs_[index];
    const Version version = objects_.at(index)->changelist_state().version();
    const auto extra = extras_.find(index);
    const bool has_turned_on = extra != extras_.end() && !extra->second.turned_on.is_empty();
    if (!pair.owes_any(version) && !has_turned_on) {
        set_initial(pair, false);
        pending_.clear(index);
        return Outcome::Done;
    }
    const OwedVersions position = position_of(index);
    const SharedPayload* payload = find_payload(index, position);
    if (payload == nullptr) {
        collect_owed(index, position);
        if (!context_.scratch.owed.any()) {
            // What was lost has been sent again since, or is paused and will be owed anew, or is
            // nothing that this connection may see.
            pair.skip(version);
            set_initial(pair, false);
            if (has_turned_on) {
                extra->second.turned_on = {};
            }
            pending_.clear(index);
            return Outcome::Done;
        }
    }
    for (const bool is_fresh_packet : {false, true}) {
        if (is_fresh_packet) {
            packets_.flush_full();
        }
        if (!packets_.can_write()) {
            return Outcome::WindowFull;
        }
        const bool is_written = payload != nullptr ? write_payload(index, *payload)
                                                   : write_whole_block(index, position);
        if (is_written) {
            packets_.add_record() = take_owed(index);
            pair.send_part();
            pending_.clear(index);
            return Outcome::Done;
        }
    }
    if (payload != nullptr) {
        // It fits for others, whose open is acknowledged: their blocks carry no length.
        collect_owed(index, position);
    }
    return replicate_parts(index, position);
}

ReplicationSender::Outcome ReplicationSender::replicate_parts(std::uint32_t index,
                                                              const OwedVersions& position) {
    SendingRepState& pair = pairs_[index];
    SentRecord record = take_owed(index);
    pending_.clear(index);
    RepCursor cursor;
    SendResult result = SendResult::Part;
    while (result != SendResult::Whole) {
        const std::uint32_t next = context_.scratch.owed.next(cursor.handle.value - 1);
        if (cursor.element == 0 && next == context_.scratch.owed.bit_count()) {
            break;  // the last value was too large and went its own way
        }
        if (!packets_.can_write()) {
            widen_lost_range(index, {cursor.handle.value, RepRange::no_end, 0, RepRange::no_end});
            return_unsent(index, record);
            return Outcome::WindowFull;
        }
        RepRange range;
        result = write_part(index, position, cursor, range);
        if (result == SendResult::ValueTooLarge) {
            if (!send_large_value(index, position, RepHandle{range.handle_begin})) {
                widen_lost_range(index, range);
                return_unsent(index, record);
            }
            continue;
        }
        pair.send_part();
        record.range = range;
        packets_.add_record() = record;
        if (result == SendResult::Part) {
            packets_.flush_full();
        }
    }
    return Outcome::Done;
}

SentRecord ReplicationSender::take_owed(std::uint32_t index) {
    SendingRepState& pair = pairs_[index];
    SentRecord record{index, pair.take_owed(objects_.at(index)->changelist_state().version()),
                      RepRange(), is_initial(pair)};
    set_initial(pair, false);
    const auto extra = extras_.find(index);
    if (extra != extras_.end() && !extra->second.turned_on.is_empty()) {
        // Should it be lost, which conditions these were is not known any more: all is owed then.
        record.versions.lost = {0, pair.sent_version};
        extra->second.turned_on = {};
    }
    return record;
}

void ReplicationSender::return_unsent(std::uint32_t index, const SentRecord& record) {
    SendingRepState& pair = pairs_[index];
    pair.return_unsent(record.versions);
    set_initial(pair, is_initial(pair) || record.is_initial);
    pending_.set(index);
}

bool ReplicationSender::may_share_payload(std::uint32_t index) const {
    if (!context_.is_sharing ||
        !objects_.at(index)->changelist_state().layout().is_fully_shared()) {
        return false;
    }
    const auto extra = extras_.find(index);
    return extra == extras_.end() ||
           (extra->second.paused.empty() && extra->second.turned_on.is_empty());
}

SharedSerialization::PayloadKey ReplicationSender::payload_key(std::uint32_t index,
                                                               const OwedVersions& position) const {
    const ChangelistState& state = objects_.at(index)->changelist_state();
    const LifetimeConditionSet conditions = state.layout().conditions();
    SharedSerialization::PayloadKey key{state.version(), position, {}};
    if (!conditions.is_trivial()) {
        key.passing = receiver_of(index).passing & conditions;
    }
    return key;
}

const SharedPayload* ReplicationSender::find_payload(std::uint32_t index,
                                                     const OwedVersions& position) const {
    if (!may_share_payload(index)) {
        return nullptr;
    }
    const ChangelistState& state = objects_.at(index)->changelist_state();
    return state.shared().find_payload(payload_key(index, position));
}

ReplicationSender::BlockFrame ReplicationSender::begin_block(std::uint32_t index) {
    const ChannelIndex channel = ObjectStore::channel_of(index);
    const bool has_length = block_has_length(pairs_[index]);
    const BitWriter packet = packets_.builder().begin_block(channel, has_length);
    if (!has_length) {
        return {channel, packet, packet, packet.byte_count(), false};
    }
    // The length comes to stand before the block, so the block is laid down apart.
    const std::size_t room_bytes = packet.bits_left() / 8;
    const std::size_t body_bytes =
        room_bytes - std::min(room_bytes, PacketBuilder::block_length_bytes_max);
    return {channel, packet, BitWriter(std::span(body_).first(body_bytes)), 0, true};
}

void ReplicationSender::end_block(BlockFrame& frame) {
    const auto block = frame.body.bytes().subspan(frame.body_offset_bytes);
    if (validator_) {
        validator_->block_sent(ObjectStore::index_of(frame.channel), block);
    }
    if (frame.has_length) {
        frame.packet.write_packed_uint(block.size());
        frame.packet.write_bytes(frame.body.bytes());
    } else {
        frame.packet = frame.body;
    }
    packets_.builder().end_block(frame.packet, frame.channel);
    ++context_.counters.blocks_sent;
    context_.counters.block_bytes_sent += block.size();
}

bool ReplicationSender::write_payload(std::uint32_t index, const SharedPayload& payload) {
    const std::span<const std::byte> block(payload.bytes.data(), payload.bytes.size());
    if (!packets_.builder().add_block(ObjectStore::channel_of(index),
                                      block_has_length(pairs_[index]), block)) {
        return false;
    }
    if (validator_) {
        validator_->block_sent(index, block);
    }
    ReplicationCounters& counters = context_.counters;
    counters.pieces_reused += payload.property_count;
    counters.properties_sent += payload.property_count;
    ++counters.payloads_reused;
    ++counters.blocks_sent;
    counters.block_bytes_sent += block.size();
    return true;
}

bool ReplicationSender::write_whole_block(std::uint32_t index, const OwedVersions& position) {
    ChangelistState& state = objects_.at(index)->changelist_state();
    const ChangeMask& owed = context_.scratch.owed;
    BlockFrame frame = begin_block(index);
    if (frame.packet.overflowed() ||
        send_properties(state, position, owed, frame.body, context_) != SendResult::Whole) {
        return false;
    }
    if (may_share_payload(index)) {
        state.shared().keep_payload(payload_key(index, position), owed.count(),
                                    frame.body.bytes().subspan(frame.body_offset_bytes));
        ++context_.counters.payloads_built;
    }
    end_block(frame);
    return true;
}

SendResult ReplicationSender::write_part(std::uint32_t index, const OwedVersions& position,
                                         RepCursor& cursor, RepRange& range) {
    ChangelistState& state = objects_.at(index)->changelist_state();
    BlockFrame frame = begin_block(index);
    REPLAYOUT_ASSERT(!frame.packet.overflowed());
    const SendResult result =
        send_part(state, position, context_.scratch.owed, cursor, range, frame.body, context_);
    if (result != SendResult::ValueTooLarge) {
        end_block(frame);
    }
    return result;
}

bool ReplicationSender::send_large_value(std::uint32_t index, const OwedVersions& position,
                                         RepHandle handle) {
    ChangelistState& state = objects_.at(index)->changelist_state();
    ChangeMask only(resource_);
    only.reset(state.layout().handle_count());
    only.set(handle.value - 1);
    const std::size_t bits = measure_property(state, position, handle, context_) +
                             change_mask_bits(only, EmptySet::Impossible);
    const std::size_t byte_count = (bits + 7) / 8;
    if (byte_count > settings_.bunch_bytes_max) {
        ++context_.counters.values_over_limit;
        log(LogLevel::Error, "a value of \"" + std::string(state.layout().type().name()) +
                                 "\" exceeds bunch_bytes_max and is not sent");
        if (validator_) {
            validator_->value_left_out(index, handle);
        }
        return true;
    }
    const std::uint32_t fragments = packets_.reliable().fragment_count(byte_count);
    if (bunch_count(pairs_[index]) + fragments >= bunch_count_max) {
        return false;  // one is left for the close
    }
    Vector<std::byte> payload(byte_count, Allocator<std::byte>(resource_));
    BitWriter writer({payload.data(), payload.size()});
    const SendResult result = send_properties(state, position, only, writer, context_);
    REPLAYOUT_ASSERT(result == SendResult::Whole);
    (void)result;
    BunchHeader header;
    header.channel = ObjectStore::channel_of(index);
    PairExtra& extra = extra_of(index);
    const std::uint32_t queued = bunch_count(pairs_[index]);
    queue_bunch(header, extra.next_sequence, writer.bytes(),
                {BunchTag::Kind::Value, index, handle.value});
    const std::uint32_t count = bunch_count(pairs_[index]) - queued;
    extra.next_sequence = static_cast<std::uint16_t>(extra.next_sequence + count);
    extra.paused.push_back({handle, state.version(), count});
    if (validator_) {
        validator_->value_queued(index, handle, count, writer.bytes());
    }
    pairs_[index].send_part();  // until it is delivered, the pair is not exact
    ++context_.counters.blocks_sent;
    context_.counters.block_bytes_sent += payload.size();
    return true;
}

void ReplicationSender::widen_lost_range(std::uint32_t index, const RepRange& range) {
    const auto extra = extras_.find(index);
    if (range.is_whole() && extra == extras_.end()) {
        return;  // whole is what it is without an entry
    }
    const bool had_loss = !pairs_[index].lost.is_empty();
    RepRange& lost_range = extra_of(index).lost_range;
    lost_range = had_loss ? hull(lost_range, range) : range;
}

void ReplicationSender::record_delivered(const SentRecord& record) {
    pairs_[record.object_index].delivered();
    if (validator_) {
        validator_->block_delivered(record.object_index);
    }
}

void ReplicationSender::record_lost(const SentRecord& record) {
    if (validator_) {
        validator_->block_lost(record.object_index);
    }
    SendingRepState& pair = pairs_[record.object_index];
    if (channel_state(pair) == ChannelState::Closing) {
        pair.delivered();  // resolved; nothing is owed any more
        return;
    }
    widen_lost_range(record.object_index, record.range);
    pair.lose(record.versions);
    set_initial(pair, is_initial(pair) || record.is_initial);
    pending_.set(record.object_index);
}

void ReplicationSender::bunch_delivered(const BunchTag& tag) {
    if (tag.kind == BunchTag::Kind::Control) {
        return;
    }
    if (validator_) {
        validator_->bunch_delivered(tag);
    }
    SendingRepState& pair = pairs_[tag.object_index];
    REPLAYOUT_ASSERT(bunch_count(pair) > 0);
    pair.holder_bits = static_cast<std::uint16_t>(pair.holder_bits - one_bunch);
    if (channel_state(pair) == ChannelState::Closing) {
        if (bunch_count(pair) == 0) {
            finish_close(tag.object_index);
        }
    } else if (tag.kind == BunchTag::Kind::Open) {
        set_channel_state(pair, ChannelState::Open);
    } else if (tag.kind == BunchTag::Kind::Value) {
        value_delivered(tag);
    }
}

void ReplicationSender::finish_close(std::uint32_t index) {
    pairs_[index] = SendingRepState();
    --closing_count_;
    ++stats_.channels_closed;
    if (objects_.at(index) != nullptr) {
        pending_.set(index);  // the next object of this slot has been waiting
    }
}

void ReplicationSender::bunch_lost(const BunchTag& tag) {
    if (tag.kind != BunchTag::Kind::Open) {
        return;
    }
    SendingRepState& pair = pairs_[tag.object_index];
    if (channel_state(pair) != ChannelState::OpenSent) {
        return;
    }
    pair.lose_everything();
    set_initial(pair, true);
    const auto extra = extras_.find(tag.object_index);
    if (extra != extras_.end()) {
        extra->second.lost_range = RepRange();
    }
    pending_.set(tag.object_index);
}

void ReplicationSender::value_delivered(const BunchTag& tag) {
    auto& paused = extras_.at(tag.object_index).paused;
    const auto value = std::find_if(paused.begin(), paused.end(), [&](const PausedValue& entry) {
        return entry.handle.value == tag.handle;
    });
    if (value == paused.end() || --value->bunches_left > 0) {
        return;
    }
    // The client takes the values of a channel in order, so one that is complete stays paused until
    // those before it are: what it was must not overwrite what it became.
    while (!paused.empty() && paused.front().bunches_left == 0) {
        const PausedValue first = paused.front();
        paused.erase(paused.begin());
        resume_value(tag.object_index, first);
    }
}

void ReplicationSender::resume_value(std::uint32_t index, const PausedValue& value) {
    SendingRepState& pair = pairs_[index];
    pair.delivered();
    // Whatever it became while it was paused is owed now, and only that.
    if (pair.sent_version > value.version) {
        const std::uint32_t handle = value.handle.value;
        widen_lost_range(index, {handle, handle + 1, 0, RepRange::no_end});
        pair.return_unsent({{value.version, pair.sent_version}, {}});
    }
    pending_.set(index);
}

}  // namespace replayout
