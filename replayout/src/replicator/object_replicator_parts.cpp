// SPDX-License-Identifier: MIT
//
// An object of which one packet cannot hold what is owed goes in parts, over as many packets as
// that takes. What the parts are is settled when they begin.
#include <replayout/block_counts.h>
#include <replayout/object_replicator.h>

namespace replayout {

void ObjectReplicator::restart_arrays(OwedVersions& position, ChangeMask& owed) {
    if (object_->must_restart_arrays(position, owed)) {
        object_->for_each_restarted(pair_.sent_version, [this](const LostPart& part) {
            paused_.note_lost(layout(), part.range, part.versions);
            owe(part.range, part.versions);
        });
        restart_version_ = object_->version();
        position = this->position();
        collect_owed(position, owed);
    }
}

void ObjectReplicator::begin_parts(const OwedVersions& position, const ChangeMask& owed) {
    parts_.owed = owed;
    parts_.lost.assign(position.lost_parts.begin(), position.lost_parts.end());
    parts_.position = position;
    parts_.taken = take_owed(position);
    parts_.flags = flags_;
    parts_.cursor = {};
    parts_.is_under_way = true;
}

OwedVersions ObjectReplicator::parts_position() const noexcept {
    OwedVersions position = parts_.position;
    if (!position.lost_parts.empty()) {
        position.lost_parts = {parts_.lost.data(), parts_.lost.size()};
    }
    return position;
}

void ObjectReplicator::return_unsent_from(const RepCursor& cursor) {
    TakenOwed taken = parts_.taken;
    if (!taken.position.lost_parts.empty()) {
        taken.position.lost_parts = {parts_.lost.data(), parts_.lost.size()};
    }
    carried_.clear();
    collect_unsent(taken.position, pair_.sent_version, cursor.handle, cursor.element, carried_);
    for (const LostPart& part : carried_) {
        owe(part.range, part.versions);
    }
    is_initial_ = is_initial_ || taken.is_initial;
}

bool ObjectReplicator::has_parts_left() const noexcept {
    const RepCursor& cursor = parts_.cursor;
    return cursor.element > 0 ||
           parts_.owed.next(cursor.handle.value - 1) < parts_.owed.bit_count();
}

bool ObjectReplicator::is_as_taken() const noexcept {
    return object_->version() == pair_.sent_version && parts_.flags == flags_ &&
           !has_dynamic_changes();
}

void ObjectReplicator::settle_parts(SendContext& context) {
    if (!parts_.is_under_way) {
        return;
    }
    leave_out_large_value(context);
    if (has_parts_left() && is_as_taken()) {
        return;
    }
    parts_.is_under_way = false;
    if (has_parts_left()) {
        return_unsent_from(parts_.cursor);
    }
}

SendResult ObjectReplicator::write_part(BitWriter& writer, std::uint64_t packet,
                                        SendContext& context) {
    const std::size_t begin_bytes = writer.byte_count();
    const OwedVersions position = parts_position();
    RepRange range{1, 1};  // of Nothing
    const SendResult result =
        send_part(*object_, position, parts_.owed, parts_.cursor, range, writer, context);
    note_sent_values(context.scratch, parts_.owed, range, position);
    if (result == SendResult::ValueTooLarge) {
        parts_.large_value = range;
        parts_.has_large_value = true;
        return result;
    }
    parts_.is_under_way = result == SendResult::Part;
    if (result != SendResult::Nothing) {
        carried_.assign(context.scratch.carried.begin(), context.scratch.carried.end());
        add_records(parts_.taken, packet, context.scratch);
        count_block(writer.byte_count() - begin_bytes, BlockMiss::TooLarge, context);
    }
    return result;
}

}  // namespace replayout
