// SPDX-License-Identifier: MIT
#include <replayout/block_counts.h>
#include <replayout/object_replicator.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace replayout {

namespace {

[[nodiscard]] bool is_array_at(const RepLayout& layout, RepHandle handle) noexcept {
    return is_array(layout.cmd(layout.cmd_of(layout.root(), handle)).type);
}

}  // namespace

ObjectReplicator::ObjectReplicator(ChangelistState& object, MemoryResource* resource)
    : object_(&object),
      resource_(resource),
      dynamic_change_count_(object.conditions().dynamic_change_count()),
      lost_parts_(resource),
      records_(Allocator<Record>(resource)),
      in_flight_(resource),
      left_out_(resource),
      paused_(resource),
      deltas_(resource),
      missed_(Allocator<RepHandle>(resource)),
      carried_(Allocator<LostPart>(resource)),
      waiting_(Allocator<WaitingValue>(resource)),
      parts_(resource) {}

ObjectReplicator& ObjectReplicator::operator=(ObjectReplicator&& other) noexcept {
    if (this != &other) {
        // Assigned one by one, the members would stay with this one's resource.
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

void ObjectReplicator::restart() {
    const ReplicationFlags flags = flags_;
    *this = ObjectReplicator(*object_, resource_);
    flags_ = flags;
}

// Who is asking.

LifetimeConditionSet ObjectReplicator::passing(bool is_initial) const noexcept {
    ReplicationFlags flags = flags_;
    flags.is_initial = is_initial;
    return passing_conditions(flags);
}

void ObjectReplicator::set_flags(const ReplicationFlags& flags) {
    // As if nothing were initial: what was sent only at first may be old by now, though a receiver
    // that is to be sent some of it again meets its condition.
    const LifetimeConditionSet before = passing(false);
    flags_ = flags;
    flags_.is_initial = false;
    object_->conditions().for_each_turned_on(
        before, passing(false), [this](const RepRange& handles) { owe_from_start(handles); });
}

bool ObjectReplicator::has_dynamic_changes() const noexcept {
    return dynamic_change_count_ != object_->conditions().dynamic_change_count();
}

SendContext ObjectReplicator::own_context(const SendContext& context) const noexcept {
    SendContext own = context;
    own.delta_states = layout().has_delta_structs() ? &deltas_ : nullptr;
    return own;
}

// What is owed.

bool ObjectReplicator::owes_any() const noexcept {
    return is_initial_ || parts_.is_under_way || has_dynamic_changes() ||
           pair_.owes_any(object_->version());
}

bool ObjectReplicator::is_exact() const noexcept {
    return pair_.is_exact() && !parts_.is_under_way && !has_dynamic_changes() &&
           (left_out_.is_empty() ||
            !left_out_.is_any_seen(object_->conditions(), passing(is_initial_)));
}

bool ObjectReplicator::is_settled() const noexcept {
    return !owes_any() && is_exact();
}

OwedVersions ObjectReplicator::position() const noexcept {
    OwedVersions position(pair_);
    lost_parts_.describe(position);
    // Told apart only where it makes a difference, so that receivers have more in common.
    position.is_exact = object_->is_any_back(pair_.sent_version) && is_exact();
    if (layout().needs_held_version()) {
        position.held_version = in_flight_.held_version(pair_);
        position.joined_version = joined_version_ > position.held_version ? joined_version_ : 0;
        position.restart_version = restart_version_ > position.held_version ? restart_version_ : 0;
    }
    return position;
}

ConnectionShadow ObjectReplicator::shadow() const noexcept {
    OwedVersions position = this->position();
    position.is_exact = is_exact();
    return ConnectionShadow(*object_, position, passing(is_initial_));
}

void ObjectReplicator::collect_owed(const OwedVersions& position, ChangeMask& owed) const {
    if (layout().conditions().is_trivial()) {
        object_->collect_owed(position, owed);
    } else {
        object_->collect_owed(position, passing(is_initial_), owed);
    }
    deltas_.remove_held(*object_, owed);
    paused_.remove_paused(owed);
}

void ObjectReplicator::owe_left_out(ChangeMask& owed) {
    left_out_.owe_with(
        owed, [&] { collect_owed(position(), owed); },
        [&](const LeftOutValues::Entry& value) { owe(value.handles, value.versions); });
}

TakenOwed ObjectReplicator::take_owed(const OwedVersions& position) noexcept {
    return TakenOwed::take(pair_, object_->version(), position, std::exchange(is_initial_, false));
}

void ObjectReplicator::skip() noexcept {
    pair_.skip(object_->version());
    is_initial_ = false;
}

void ObjectReplicator::owe(const RepRange& handles, VersionInterval versions) {
    if (!versions.is_empty()) {
        const Version oldest = hull(pair_.lost(), versions).after;
        lost_parts_.add(pair_, versions, handles,
                        object_->keeps_versions_apart(oldest, restart_version_));
        pair_.return_unsent({versions, {}});
    }
}

void ObjectReplicator::owe_from_start(const RepRange& handles) {
    const VersionInterval all{0, pair_.sent_version};
    paused_.note_lost(layout(), handles, all);
    owe(handles, all);
}

void ObjectReplicator::owe_initial(const RepRange& range) {
    is_initial_ = true;
    object_->conditions().for_each_turned_on(
        passing(false), passing(true), range,
        [this](const RepRange& handles) { owe_from_start(handles); });
}

void ObjectReplicator::owe_again(RepHandle handle) {
    if (object_->conditions().is_initial(handle, passing(false))) {
        owe_initial(RepRange::of(handle));  // it did not arrive, as if its block were lost
    } else {
        owe(RepRange::of(handle), object_->versions_to_repeat(handle, pair_.sent_version));
    }
}

// Blocks.

SendResult ObjectReplicator::replicate_properties(BitWriter& writer, std::uint64_t packet,
                                                  const SendContext& context, PacketRoom room) {
    REPLAYOUT_EXPECT(writer.bit_count() % 8 == 0 && !writer.overflowed(), SendResult::Nothing,
                     "replicate_properties: the writer has overflowed, or stands within a byte: a "
                     "block begins at a byte boundary");
    SendContext own = own_context(context);
    own.scratch.array_steps = 0;  // of another object, should nothing be written
    settle_parts(own);
    if (has_dynamic_changes()) {
        dynamic_change_count_ = object_->conditions().dynamic_change_count();
        object_->conditions().for_each_dynamic(
            passing(is_initial_), [this](const RepRange& handles) { owe_from_start(handles); });
    }
    if (!parts_.is_under_way) {
        if (!pair_.owes_any(object_->version())) {
            is_initial_ = false;
            return SendResult::Nothing;
        }
        if (!has_sent_) {
            joined_version_ = object_->version();
        }
        owe_left_out(own.scratch.owed);
        OwedVersions position = this->position();
        const SendResult result = write_whole(position, writer, packet, own);
        if (result != SendResult::DoesNotFit || room == PacketRoom::Rest) {
            return result;
        }
        restart_arrays(position, own.scratch.owed);
        begin_parts(position, own.scratch.owed);
    }
    return room == PacketRoom::Rest ? SendResult::DoesNotFit : write_part(writer, packet, own);
}

bool ObjectReplicator::may_share_payload(const SendContext& context) const noexcept {
    return context.shares_payloads() && layout().is_fully_shared() && paused_.is_empty();
}

SharedSerialization::PayloadKey ObjectReplicator::payload_key(const OwedVersions& position) const {
    return object_->payload_key(position, layout().conditions().is_trivial()
                                              ? LifetimeConditionSet()
                                              : passing(is_initial_));
}

bool ObjectReplicator::write_payload(const OwedVersions& position, BitWriter& writer,
                                     SendContext& context) {
    const SharedPayload* payload = object_->shared().find_payload(payload_key(position));
    if (payload == nullptr || payload->bytes.size() > writer.bits_left() / 8 ||
        payload->array_steps > context.array_steps_left) {
        return false;
    }
    context.scratch.array_steps = payload->array_steps;
    const std::span<const std::byte> block(payload->bytes.data(), payload->bytes.size());
    writer.write_bytes(block);
    context.counters.values_reused += payload->property_count;
    context.counters.properties_sent += payload->property_count;
    ++context.counters.payloads_reused;
    count_block(block.size(), std::nullopt, context);
    if (context.type_counters != nullptr) {
        context.type_counters->count_payload_reuse(block, context.scratch.part);
    }
    return true;
}

SendResult ObjectReplicator::write_whole(const OwedVersions& position, BitWriter& writer,
                                         std::uint64_t packet, SendContext& context) {
    SendScratch& scratch = context.scratch;
    const bool may_share = position.lost_parts.empty() && may_share_payload(context);
    if (may_share && write_payload(position, writer, context)) {
        const TakenOwed taken = take_owed(position);
        collect_whole(taken);
        add_records(taken, packet, scratch);
        return SendResult::Whole;
    }
    collect_owed(position, scratch.owed);
    if (!scratch.owed.any()) {
        // What was lost has been sent again since, or is paused and will be owed anew, or is
        // nothing that this receiver may see.
        skip();
        return SendResult::Nothing;
    }
    const std::size_t begin_bytes = writer.byte_count();
    const SendResult result = send_properties(*object_, position, scratch.owed, writer, context);
    if (result == SendResult::DoesNotFit) {
        return result;
    }
    note_sent_values(scratch, scratch.owed, RepRange(), position);
    if (result == SendResult::Nothing) {
        skip();
        return result;
    }
    const auto block = writer.bytes().subspan(begin_bytes);
    const BlockMiss miss = block_miss_of(*object_, position, scratch, !paused_.is_empty(), false);
    count_block(block.size(), miss, context);
    if (may_share && scratch.left_out.empty()) {
        object_->shared().keep_payload(payload_key(position), scratch.owed.count(), block,
                                       scratch.array_steps);
        ++context.counters.payloads_built;
        if (context.type_counters != nullptr) {
            ++context.type_counters->payloads_built;
        }
    }
    const TakenOwed taken = take_owed(position);
    collect_whole(taken);
    add_records(taken, packet, scratch);
    return SendResult::Whole;
}

void ObjectReplicator::collect_whole(const TakenOwed& taken) {
    carried_.clear();
    collect_carried(taken.position, pair_.sent_version, RepRange(), carried_,
                    object_->keeps_versions_apart(taken.position.lost.after, restart_version_));
}

void ObjectReplicator::add_records(const TakenOwed& taken, std::uint64_t packet,
                                   const SendScratch& scratch) {
    REPLAYOUT_ASSERT(std::none_of(records_.begin(), records_.end(), [&](const Record& other) {
        return other.packet == packet && records_.back().packet != packet;
    }));
    has_sent_ = true;
    pair_.send_part();
    static_assert(sizeof(Record) == 48, "the head of the class says so");
    bool is_more = false;
    for (const LostPart& part : carried_) {
        records_.push_back({packet, part, is_more, taken.is_initial});
        is_more = true;
    }
    if (layout().needs_held_version()) {
        in_flight_.sent(taken.versions);
    }
    if (layout().has_delta_structs()) {
        deltas_.block_sent(scratch.deltas);
    }
}

void ObjectReplicator::note_sent_values(const SendScratch& scratch, const ChangeMask& owed,
                                        const RepRange& handles, const OwedVersions& position) {
    // What a value waits for is said anew each time it is sent; of an array, only what is sent of
    // it.
    const auto is_outdated = [&](const WaitingValue& waiting) {
        const RepHandle handle = waiting.value.handle;
        return handles.contains(handle) && owed.test(handle.value - 1) &&
               !is_array_at(layout(), handle);
    };
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_outdated), waiting_.end());
    for (const UnmappedValue& value : scratch.unmapped) {
        const bool is_known =
            std::any_of(waiting_.begin(), waiting_.end(), [&](const WaitingValue& waiting) {
                return waiting.value.handle == value.handle && waiting.value.guid == value.guid;
            });
        if (!is_known) {
            waiting_.push_back({value, false});
        }
    }
    deltas_.note_unchanged(scratch.unchanged);
    left_out_.note(layout(), scratch.left_out, position, object_->version());
}

}  // namespace replayout
