// SPDX-License-Identifier: MIT
#include <replayout/owed_properties.h>

namespace replayout::detail {

OwedProperties::OwedProperties(ChangelistState& object, MemoryResource* resource)
    : object_(&object),
      dynamic_change_count_(object.conditions().dynamic_change_count()),
      lost_parts_(resource),
      in_flight_(resource),
      left_out_(resource),
      paused_(resource),
      deltas_(resource),
      missed_(Allocator<RepHandle>(resource)) {}

// What the receiver is to the object.

LifetimeConditionSet OwedProperties::passing(bool is_initial) const noexcept {
    ReplicationFlags flags = flags_;
    flags.is_initial = is_initial;
    return passing_conditions(flags);
}

void OwedProperties::set_flags(const ReplicationFlags& flags) {
    // As if nothing were initial: what was sent only at first may be old by now, though a receiver
    // that is to be sent some of it again meets its condition.
    const LifetimeConditionSet before = passing(false);
    flags_ = flags;
    flags_.is_initial = false;
    object_->conditions().for_each_turned_on(
        before, passing(false), [this](const RepRange& handles) { owe_from_start(handles); });
}

void OwedProperties::owe_dynamic_changes() {
    if (has_dynamic_changes()) {
        dynamic_change_count_ = object_->conditions().dynamic_change_count();
        object_->conditions().for_each_dynamic(
            passing(), [this](const RepRange& handles) { owe_from_start(handles); });
    }
}

// What is owed.

bool OwedProperties::is_exact() const noexcept {
    return pair_.is_exact() && !has_dynamic_changes() &&
           (left_out_.is_empty() || !left_out_.is_any_seen(object_->conditions(), passing()));
}

OwedVersions OwedProperties::position() const noexcept {
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

ConnectionShadow OwedProperties::shadow(bool is_exact) const noexcept {
    OwedVersions position = this->position();
    position.is_exact = is_exact;
    return ConnectionShadow(*object_, position, passing());
}

void OwedProperties::collect(const OwedVersions& position, ChangeMask& owed) const {
    if (layout().conditions().is_trivial()) {
        object_->collect_owed(position, owed);
    } else {
        object_->collect_owed(position, passing(), owed);
    }
    deltas_.remove_held(*object_, owed);
    paused_.remove_paused(owed);
}

void OwedProperties::owe_left_out(ChangeMask& owed) {
    left_out_.owe_with(
        owed, [&] { collect(position(), owed); },
        [&](const LeftOutValues::Entry& value) { owe(value.handles, value.versions); });
}

void OwedProperties::owe(const RepRange& handles, VersionInterval versions) {
    if (!versions.is_empty()) {
        const Version oldest = hull(pair_.lost(), versions).after;
        lost_parts_.add(pair_, versions, handles,
                        object_->keeps_versions_apart(oldest, restart_version_));
        pair_.return_unsent({versions, {}});
    }
}

void OwedProperties::owe_from_start(const RepRange& handles) {
    const VersionInterval all{0, pair_.sent_version};
    paused_.note_lost(layout(), handles, all);
    owe(handles, all);
}

void OwedProperties::owe_initial(const RepRange& range) {
    is_initial_ = true;
    object_->conditions().for_each_turned_on(
        passing(false), passing(true), range,
        [this](const RepRange& handles) { owe_from_start(handles); });
}

void OwedProperties::owe_again(RepHandle handle) {
    if (object_->conditions().is_initial(handle, passing(false))) {
        owe_initial(RepRange::of(handle));  // it did not arrive, as if its block were lost
    } else {
        owe(RepRange::of(handle), object_->versions_to_repeat(handle, pair_.sent_version));
    }
}

void OwedProperties::restart_arrays(OwedVersions& position, ChangeMask& owed) {
    if (object_->must_restart_arrays(position, owed)) {
        object_->for_each_restarted(pair_.sent_version, [this](const LostPart& part) {
            paused_.note_lost(layout(), part.range, part.versions);
            owe(part.range, part.versions);
        });
        restart_version_ = object_->version();
        position = this->position();
        collect(position, owed);
    }
}

SharedSerialization::PayloadKey OwedProperties::payload_key(
    const OwedVersions& position) const noexcept {
    return object_->payload_key(
        position, layout().conditions().is_trivial() ? LifetimeConditionSet() : passing());
}

// What goes out.

void OwedProperties::collect_carried(const TakenOwed& taken, Vector<LostPart>& carried) const {
    replayout::collect_carried(
        taken.position, pair_.sent_version, RepRange(), carried,
        object_->keeps_versions_apart(taken.position.lost.after, restart_version_));
}

void OwedProperties::block_sent(const TakenOwed& taken, std::span<const SentDelta> deltas) {
    has_sent_ = true;
    pair_.send_part();
    if (layout().needs_held_version()) {
        in_flight_.sent(taken.versions);
    }
    if (layout().has_delta_structs()) {
        deltas_.block_sent(deltas);
    }
}

void OwedProperties::note_not_sent(const BlockFindings& findings, const OwedVersions& position) {
    deltas_.note_unchanged(findings.unchanged);
    left_out_.note(layout(), findings.left_out, position, object_->version());
}

void OwedProperties::leave_out(RepHandle handle, const OwedVersions& position) {
    left_out_.note(layout(), {&handle, 1}, position, pair_.sent_version);
}

void OwedProperties::give_back(const TakenOwed& taken, std::span<const LostPart> unsent) {
    for (const LostPart& part : unsent) {
        owe(part.range, part.versions);
    }
    is_initial_ = is_initial_ || taken.is_initial;
}

// Fates of blocks.

void OwedProperties::resolve_block(bool is_delivered) {
    if (layout().needs_held_version()) {
        in_flight_.resolved();
    }
    if (layout().has_delta_structs()) {
        deltas_.block_resolved(is_delivered, missed_);
        owe_missed_deltas();
    }
}

void OwedProperties::owe_missed_deltas() {
    while (!missed_.empty()) {
        const RepHandle handle = missed_.back();
        missed_.pop_back();
        owe_again(handle);
    }
}

void OwedProperties::block_delivered() {
    pair_.delivered();
    resolve_block(true);
}

void OwedProperties::block_lost(const LostPart& carried, bool is_initial) {
    pair_.delivered();  // resolved; what is owed for it follows
    more_lost(carried, is_initial);
    resolve_block(false);
}

void OwedProperties::more_lost(const LostPart& carried, bool is_initial) {
    paused_.note_lost(layout(), carried.range, carried.versions);
    owe(carried.range, carried.versions);
    if (is_initial) {
        owe_initial(carried.range);
    }
}

// Values that travel reliably.

void OwedProperties::large_value_sent(const RepRange& value, std::span<const SentDelta> deltas) {
    has_sent_ = true;
    deltas_.value_sent(deltas);
    paused_.add(value, object_->version(), 1);
    // It was written for where the pair stood when the parts began.
    paused_.note_lost(layout(), value, position().at(RepHandle{value.handle_begin}).lost);
    pair_.send_part();  // until it is delivered, the pair is not exact
}

std::optional<RepRange> OwedProperties::resume_next() {
    const std::optional<PausedValues::Entry> value = paused_.take_delivered();
    if (!value.has_value()) {
        return std::nullopt;
    }
    pair_.delivered();
    // Whatever it became while it was paused is owed now, and what was lost of it, and only that.
    owe(value->handles, value->missed(pair_.sent_version));
    deltas_.value_delivered(RepHandle{value->handles.handle_begin}, missed_);
    owe_missed_deltas();
    return value->handles;
}

}  // namespace replayout::detail
