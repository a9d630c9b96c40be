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

SentBlock ObjectReplicator::replicate_properties(BitWriter& writer, std::uint64_t packet,
                                                 const SendContext& context, PacketRoom room) {
    REPLAYOUT_EXPECT(writer.bit_count() % 8 == 0 && !writer.overflowed(), SentBlock(),
                     "replicate_properties: the writer has overflowed, or stands within a byte: a "
                     "block begins at a byte boundary");
    SendContext own = own_context(context);
    settle_parts(own);
    owed_.owe_dynamic_changes();
    if (!parts_.is_under_way()) {
        if (!owed_.owes_versions()) {
            owed_.skip();
            return SentBlock(SendResult::Nothing);
        }
        ChangeMask& owed = own.scratch.owed;
        owed_.begin_block();
        owed_.owe_left_out(owed);
        OwedVersions position = owed_.position();
        const SentBlock block = write_whole(position, owed, writer, packet, own);
        if (block != SendResult::DoesNotFit || room == PacketRoom::Rest) {
            return block;
        }
        owed_.restart_arrays(position, owed);
        parts_.begin(owed_.take(position), owed, owed_.flags());
    }
    return room == PacketRoom::Rest ? SentBlock(SendResult::DoesNotFit)
                                    : write_part(writer, packet, own);
}

SentBlock ObjectReplicator::write_payload(const OwedVersions& position, BitWriter& writer,
                                          SendContext& context) {
    const SharedPayload* payload =
        owed_.object().shared().find_payload(owed_.payload_key(position));
    if (payload == nullptr || payload->bytes.size() > writer.bits_left() / 8 ||
        payload->array_steps > context.array_steps_left) {
        return SentBlock();
    }
    const std::span<const std::byte> block(payload->bytes.data(), payload->bytes.size());
    writer.write_bytes(block);
    count_copied_block(block, payload->property_count, context);
    return SentBlock(SendResult::Whole, payload->property_count, payload->array_steps);
}

SentBlock ObjectReplicator::write_whole(const OwedVersions& position, ChangeMask& owed,
                                        BitWriter& writer, std::uint64_t packet,
                                        SendContext& context) {
    const bool may_share = position.lost_parts.empty() && context.shares_payloads() &&
                           owed_.layout().is_fully_shared() && !owed_.is_any_paused();
    const SentBlock copy = may_share ? write_payload(position, writer, context) : SentBlock();
    if (copy == SendResult::Whole) {
        whole_sent(owed_.take(position), packet, copy);
        return copy;
    }
    owed_.collect(position, owed);
    if (!owed.any()) {
        // What was lost has been sent again since, or is paused and will be owed anew, or is
        // nothing that this receiver may see.
        owed_.skip();
        return SentBlock(SendResult::Nothing);
    }
    const std::size_t begin_bytes = writer.byte_count();
    ChangelistState& object = owed_.object();
    const SentBlock block = send_properties(object, position, owed, writer, context);
    if (block == SendResult::DoesNotFit) {
        return block;
    }
    const BlockFindings& findings = *block.findings;
    note_sent_values(findings, owed, RepRange(), position);
    if (block == SendResult::Nothing) {
        owed_.skip();
        return block;
    }
    const bool has_left_out = !findings.left_out.empty();
    const auto bytes = writer.bytes().subspan(begin_bytes);
    count_block(bytes.size(),
                block_miss_of(object, position, has_left_out, owed_.is_any_paused(), false),
                context);
    if (may_share && !has_left_out) {
        keep_payload(object.shared(), owed_.payload_key(position), block, bytes, context);
    }
    whole_sent(owed_.take(position), packet, block);
    return block;
}

void ObjectReplicator::whole_sent(const TakenOwed& taken, std::uint64_t packet,
                                  const SentBlock& block) {
    carried_.clear();
    owed_.collect_carried(taken, carried_);
    block_sent(taken, packet, block);
}

void ObjectReplicator::block_sent(const TakenOwed& taken, std::uint64_t packet,
                                  const SentBlock& block) {
    blocks_.add(packet, {carried_.data(), carried_.size()}, taken.is_initial);
    owed_.block_sent(taken, block.deltas());
}

void ObjectReplicator::note_sent_values(const BlockFindings& findings, const ChangeMask& owed,
                                        const RepRange& handles, const OwedVersions& position) {
    missing_.note_sent(owed_.layout(), owed, handles, findings.unmapped);
    owed_.note_not_sent(findings, position);
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

SentBlock ObjectReplicator::write_part(BitWriter& writer, std::uint64_t packet,
                                       SendContext& context) {
    const std::size_t begin_bytes = writer.byte_count();
    RepRange range;
    const SentBlock part = parts_.write_next(owed_.object(), writer, context, range);
    const BlockFindings& findings = *part.findings;
    note_sent_values(findings, parts_.owed(), range, parts_.position());
    if (part == SendResult::Part || part == SendResult::Whole) {
        carried_.assign(findings.carried.begin(), findings.carried.end());
        block_sent(parts_.taken(), packet, part);
        count_block(writer.byte_count() - begin_bytes, BlockMiss::TooLarge, context);
    }
    return part;
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
    return measure_block(owed_.object(), parts_.position(), own.scratch.owed, own).byte_count;
}

SentBlock ObjectReplicator::replicate_large_value(BitWriter& writer, const SendContext& context) {
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
        return SentBlock();
    }
    collect_large_value(own.scratch.owed);
    own.array_steps_left = std::numeric_limits<std::size_t>::max();  // a message pays for itself
    const OwedVersions position = parts_.position();
    const SentBlock block =
        send_properties(owed_.object(), position, own.scratch.owed, writer, own);
    if (block == SendResult::DoesNotFit) {
        return block;
    }
    parts_.take_large_value();
    note_sent_values(*block.findings, own.scratch.owed, value, position);
    if (block == SendResult::Whole) {
        owed_.large_value_sent(value, block.deltas());
        count_block(writer.byte_count() - begin_bytes, BlockMiss::TooLarge, own);
    }
    return block;
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
