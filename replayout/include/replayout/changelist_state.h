// SPDX-License-Identifier: MIT
//
// What the sending side keeps per object, once for all connections: the shadow, the version of each
// property's last change, the history of changes, and the shared buffer. Compared at most once a
// tick.
//
//     ChangelistState pawn_state(*layout, resource);
//     pawn_state.update(&pawn, package_map, counters);    // tick: compare once
//     for each connection:                                // and then per receiver
//         const OwedVersions position(connection.state);
//         pawn_state.collect_owed(position, owed);
//         if (owed.any()) {
//             result = send_properties(pawn_state, position, owed, writer, context);
//         }
//
// One thread at a time may call a function that is not const.
#pragma once

#include <replayout/changelist_history.h>
#include <replayout/object_conditions.h>
#include <replayout/owed_versions.h>
#include <replayout/package_map.h>
#include <replayout/previous_values.h>
#include <replayout/rep_layout.h>
#include <replayout/replication_counters.h>
#include <replayout/shadow_state.h>
#include <replayout/shared_serialization.h>

#include <span>

namespace replayout {

class ChangelistState {
  public:
    /// The shadow starts as the layout's archetype, so the first update finds what differs from it.
    /// Layout and resource must outlive the state.
    ChangelistState(const RepLayout& layout, MemoryResource* resource);
    ChangelistState(const ChangelistState&) = delete;
    ChangelistState& operator=(const ChangelistState&) = delete;

    /// Compares `object`, of the layout's type, with the shadow; if anything differs, the version
    /// grows by one. Returns whether it did.
    bool update(const void* object, PackageMap& package_map, ReplicationCounters& counters);

    /// 0: equal to the archetype so far.
    [[nodiscard]] Version version() const noexcept { return version_; }
    /// 0: never changed.
    [[nodiscard]] Version last_changed(RepHandle handle) const noexcept {
        return last_changed_[handle.value - 1];
    }

    /// The same of all handles; entry i is that of handle i + 1.
    [[nodiscard]] std::span<const Version> last_changed() const noexcept {
        return {last_changed_.data(), last_changed_.size()};
    }

    /// Whether that receiver must be sent the value. The same as a bit of collect_owed().
    [[nodiscard]] bool owes(const OwedVersions& position, RepHandle handle) const noexcept;

    /// Whether it makes a difference to a receiver that was sent everything up to `sent_version`
    /// that it is exact; see OwedVersions::is_exact.
    [[nodiscard]] bool is_any_back(Version sent_version) const noexcept {
        return previous_.is_any_back(sent_version);
    }

    /// Makes `owed` the set of handles (bit i: handle i + 1) that a receiver at this position must
    /// be sent. Exact: a handle is in it when its last change, or that of an element leaf, is owed.
    void collect_owed(const OwedVersions& position, ChangeMask& owed) const;
    /// The same for a receiver that does not meet every condition.
    void collect_owed(const OwedVersions& position, const ObjectConditions::Receiver& receiver,
                      ChangeMask& owed) const;

    /// Conditions of this object's properties.
    [[nodiscard]] const ObjectConditions& conditions() const noexcept { return conditions_; }
    /// See ObjectConditions::set_active.
    void set_active(ParentIndex parent, bool is_active) {
        conditions_.set_active(parent, is_active);
    }
    /// See ObjectConditions::set_dynamic. Receivers that begin to meet it are told through
    /// ObjectConditions::Receiver::turned_on.
    void set_dynamic_condition(ParentIndex parent, LifetimeCondition condition);

    [[nodiscard]] const RepLayout& layout() const noexcept { return *layout_; }
    [[nodiscard]] ConstShadowBuffer shadow() const noexcept { return shadow_.buffer(); }
    [[nodiscard]] const ChangelistHistory& history() const noexcept { return history_; }
    [[nodiscard]] const PreviousValues& previous() const noexcept { return previous_; }
    [[nodiscard]] SharedSerialization& shared() noexcept { return shared_; }
    [[nodiscard]] const SharedSerialization& shared() const noexcept { return shared_; }

  private:
    /// owes(), atomic groups not looked at.
    [[nodiscard]] bool owes_alone(const OwedVersions& position, RepHandle handle) const noexcept;
    /// Adds to each atomic group of which something is owed what the receiver may not hold of it.
    void complete_groups(const OwedVersions& position, ChangeMask& owed) const noexcept;

    const RepLayout* layout_;
    ShadowState shadow_;
    Vector<Version> last_changed_;  // by handle
    ChangelistHistory history_;
    PreviousValues previous_;
    ChangeMask changed_;  // clear between updates
    ObjectConditions conditions_;
    SharedSerialization shared_;
    Version version_ = 0;
};

/// Whether anything in an array, its count or a leaf at any depth, last changed at an owed version.
/// Of what was lost, only elements of `lost_range` count.
[[nodiscard]] bool owes_array(const RepLayout& layout, CmdIndex array_cmd, const ShadowArray& array,
                              const OwedVersions& position,
                              const RepRange& lost_range = RepRange()) noexcept;

}  // namespace replayout
