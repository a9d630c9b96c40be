// SPDX-License-Identifier: MIT
#include <replayout/block_counts.h>
#include <replayout/object_replicator.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace replayout {

ObjectReplicator::ObjectReplicator(ChangelistState& object, MemoryResource* resource)
    : resource_(resource),
      owed_(object, resource),
      blocks_(resource),
      parts_(resource),
      missing_(resource),
      carried_(Allocator<LostPart>(resource)) {}

ObjectReplicator& ObjectReplicator::operator=(ObjectReplicator&& other) noexcept {
    if (this != &other) {
        // Assigned one by one, the members would stay with this one's resource.
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

void ObjectReplicator::restart() {
    const ReplicationFlags flags = owed_.flags();
    *this = ObjectReplicator(owed_.object(), resource_);
    owed_.begin_with_flags(flags);
}

SendContext ObjectReplicator::own_context(const SendContext& context) const noexcept {
    SendContext own = context;
    own.delta_states = owed_.delta_states();
    return own;
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
    owed_.owe_dynamic_changes();
    if (!parts_.is_under_way()) {
        if (!owed_.owes_versions()) {
            owed_.skip();
            return SendResult::Nothing;
        }
        owed_.begin_block();
        owed_.owe_left_out(own.scratch.owed);
        OwedVersions position = owed_.position();
        const SendResult result = write_whole(position, writer, packet, own);
        if (result != SendResult::DoesNotFit || room == PacketRoom::Rest) {
            return result;
        }
        owed_.restart_arrays(position, own.scratch.owed);
        parts_.begin(owed_.take(position), own.scratch.owed, owed_.flags());
    }
    return room == PacketRoom::Rest ? SendResult::DoesNotFit : write_part(writer, packet, own);
}

bool ObjectReplicator::may_share_payload(const SendContext& context) const noexcept {
    return context.shares_payloads() && owed_.layout().is_fully_shared() && !owed_.is_any_paused();
}

bool ObjectReplicator::write_payload(const OwedVersions& position, BitWriter& writer,
                                     SendContext& context) {
    const SharedPayload* payload =
        owed_.object().shared().find_payload(owed_.payload_key(position));
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

void ObjectReplicator::keep_payload(const OwedVersions& position, std::span<const std::byte> block,
                                    SendContext& context) {
    owed_.object().shared().keep_payload(owed_.payload_key(position), context.scratch.owed.count(),
                                         block, context.scratch.array_steps);
    ++context.counters.payloads_built;
    if (context.type_counters != nullptr) {
        ++context.type_counters->payloads_built;
    }
}

SendResult ObjectReplicator::write_whole(const OwedVersions& position, BitWriter& writer,
                                         std::uint64_t packet, SendContext& context) {
    SendScratch& scratch = context.scratch;
    const bool may_share = position.lost_parts.empty() && may_share_payload(context);
    if (may_share && write_payload(position, writer, context)) {
        whole_sent(owed_.take(position), packet, scratch);
        return SendResult::Whole;
    }
    owed_.collect(position, scratch.owed);
    if (!scratch.owed.any()) {
        // What was lost has been sent again since, or is paused and will be owed anew, or is
        // nothing that this receiver may see.
        owed_.skip();
        return SendResult::Nothing;
    }
    const std::size_t begin_bytes = writer.byte_count();
    ChangelistState& object = owed_.object();
    const SendResult result = send_properties(object, position, scratch.owed, writer, context);
    if (result == SendResult::DoesNotFit) {
        return result;
    }
    note_sent_values(scratch, scratch.owed, RepRange(), position);
    if (result == SendResult::Nothing) {
        owed_.skip();
        return result;
    }
    const auto block = writer.bytes().subspan(begin_bytes);
    count_block(block.size(),
                block_miss_of(object, position, scratch, owed_.is_any_paused(), false), context);
    if (may_share && scratch.left_out.empty()) {
        keep_payload(position, block, context);
    }
    whole_sent(owed_.take(position), packet, scratch);
    return SendResult::Whole;
}

void ObjectReplicator::whole_sent(const TakenOwed& taken, std::uint64_t packet,
                                  const SendScratch& scratch) {
    carried_.clear();
    owed_.collect_carried(taken, carried_);
    block_sent(taken, packet, scratch);
}

void ObjectReplicator::block_sent(const TakenOwed& taken, std::uint64_t packet,
                                  const SendScratch& scratch) {
    blocks_.add(packet, {carried_.data(), carried_.size()}, taken.is_initial);
    owed_.block_sent(taken, scratch);
}

void ObjectReplicator::note_sent_values(const SendScratch& scratch, const ChangeMask& owed,
                                        const RepRange& handles, const OwedVersions& position) {
    missing_.note_sent(owed_.layout(), owed, handles,
                       {scratch.unmapped.data(), scratch.unmapped.size()});
    owed_.note_not_sent(scratch, position);
}

// Parts.

bool ObjectReplicator::is_as_taken() const noexcept {
    return owed_.object().version() == owed_.taken_version() && parts_.flags() == owed_.flags() &&
           !owed_.has_dynamic_changes();
}

void ObjectReplicator::settle_parts(SendContext& context) {
    if (!parts_.is_under_way()) {
        return;
    }
    leave_out_large_value(context);
    if (parts_.has_any_left() && is_as_taken()) {
        return;
    }
    parts_.end();
    if (parts_.has_any_left()) {
        carried_.clear();
        parts_.collect_unsent(owed_.taken_version(), carried_);
        owed_.give_back(parts_.taken(), {carried_.data(), carried_.size()});
    }
}

SendResult ObjectReplicator::write_part(BitWriter& writer, std::uint64_t packet,
                                        SendContext& context) {
    const std::size_t begin_bytes = writer.byte_count();
    const SendScratch& scratch = context.scratch;
    RepRange range;
    const SendResult result = parts_.write_next(owed_.object(), writer, context, range);
    note_sent_values(scratch, parts_.owed(), range, parts_.position());
    if (result == SendResult::Part || result == SendResult::Whole) {
        carried_.assign(scratch.carried.begin(), scratch.carried.end());
        block_sent(parts_.taken(), packet, scratch);
        count_block(writer.byte_count() - begin_bytes, BlockMiss::TooLarge, context);
    }
    return result;
}

// Values that are too large for a packet.

RepHandle ObjectReplicator::large_value() const noexcept {
    REPLAYOUT_ASSERT(parts_.has_large_value());
    return RepHandle{parts_.large_value().handle_begin};
}

void ObjectReplicator::collect_large_value(ChangeMask& only) const {
    REPLAYOUT_ASSERT(parts_.has_large_value() && owed_.object().version() == owed_.taken_version());
    only.reset(owed_.layout().handle_count());
    parts_.for_each_in_large_value([&](RepHandle handle) { only.set(handle.value - 1); });
}

std::size_t ObjectReplicator::measure_large_value(const SendContext& context) {
    SendContext own = own_context(context);
    collect_large_value(own.scratch.owed);
    return measure_block(owed_.object(), parts_.position(), own.scratch.owed, own);
}

SendResult ObjectReplicator::replicate_large_value(BitWriter& writer, const SendContext& context) {
    REPLAYOUT_ASSERT(writer.bit_count() % 8 == 0 && !writer.overflowed());
    REPLAYOUT_ASSERT(parts_.has_large_value());
    SendContext own = own_context(context);
    const std::size_t begin_bytes = writer.byte_count();
    const RepRange value = parts_.large_value();
    if (!is_as_taken()) {
        // Another value by now, or not for this receiver any more: what is owed is found anew.
        parts_.take_large_value();
        const LostPart unsent{parts_.taken().all_versions(), value};
        owed_.give_back(parts_.taken(), {&unsent, 1});
        return SendResult::Nothing;
    }
    collect_large_value(own.scratch.owed);
    own.array_steps_left = std::numeric_limits<std::size_t>::max();  // a message pays for itself
    const OwedVersions position = parts_.position();
    const SendResult result =
        send_properties(owed_.object(), position, own.scratch.owed, writer, own);
    if (result == SendResult::DoesNotFit) {
        return result;
    }
    parts_.take_large_value();
    note_sent_values(own.scratch, own.scratch.owed, value, position);
    if (result == SendResult::Whole) {
        owed_.large_value_sent(value, own.scratch);
        count_block(writer.byte_count() - begin_bytes, BlockMiss::TooLarge, own);
    }
    return result;
}

void ObjectReplicator::leave_out_large_value(SendContext& context) {
    if (!parts_.has_large_value()) {
        return;
    }
    parts_.take_large_value();
    ++context.counters.values_over_limit;
    log(LogLevel::Error, "a value of \"" + std::string(owed_.layout().type().name()) +
                             "\" is larger than a packet and is not sent");
    parts_.for_each_in_large_value(
        [this](RepHandle handle) { owed_.leave_out(handle, parts_.position()); });
}

void ObjectReplicator::large_value_delivered(RepHandle value) {
    owed_.large_value_delivered(value);
    while (const auto handles = owed_.resume_next()) {
        // What it named may have come while it was paused.
        missing_.note_resumed(*handles, [this](RepHandle handle) { owed_.owe_again(handle); });
    }
}

// What becomes of packets, and of the objects that values name.

void ObjectReplicator::packet_delivered(std::uint64_t packet) {
    while (const auto record = blocks_.take(packet)) {
        if (!record->is_more) {
            owed_.block_delivered();
        }
    }
    REPLAYOUT_ASSERT(!blocks_.contains(packet));
}

void ObjectReplicator::packet_lost(std::uint64_t packet) {
    while (const auto record = blocks_.take(packet)) {
        if (record->is_more) {
            owed_.more_lost(record->carried, record->is_initial);
        } else {
            owed_.block_lost(record->carried, record->is_initial);
        }
    }
    REPLAYOUT_ASSERT(!blocks_.contains(packet));
}

void ObjectReplicator::object_mapped(NetGUID guid) {
    missing_.note_mapped(
        guid, [this](RepHandle handle) { return owed_.is_paused(handle); },
        [this](RepHandle handle) { owed_.owe_again(handle); });
}

}  // namespace replayout
