// SPDX-License-Identifier: MIT
//
// Conditions of one object's properties, as far as they are the object's own: which of condition
// Custom are active, and what those of condition Dynamic are at present. Shared by all receivers;
// what a receiver meets comes from outside (ReplicationFlags).
//
// A property that is not active is not compared, so it stays what it was, for everybody. The switch
// is safe at its edge: the value at the time of switching off is still compared, and sent until it
// has arrived. (In Unreal a last change just before is never sent.)
#pragma once

#include <replayout/change_mask.h>
#include <replayout/handle.h>
#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>
#include <replayout/replication_flags.h>
#include <replayout/sending_rep_state.h>

#include <cstdint>

namespace replayout {

class ObjectConditions {
  public:
    /// Every Custom property is active, every Dynamic one is None. The layout must outlive it.
    ObjectConditions(const RepLayout& layout, MemoryResource* resource);

    /// Switches a property of condition Custom. Off takes effect after the next compare.
    void set_active(ParentIndex parent, bool is_active);
    [[nodiscard]] bool is_active(ParentIndex parent) const noexcept;

    /// Chooses what a property of condition Dynamic is: anything but Dynamic, Custom and NetGroup.
    void set_dynamic(ParentIndex parent, LifetimeCondition condition);
    /// What the property's condition is now, never Dynamic.
    [[nodiscard]] LifetimeCondition condition_of(ParentIndex parent) const noexcept;
    /// Grows with each set_dynamic() that chose another condition.
    [[nodiscard]] std::uint32_t dynamic_change_count() const noexcept {
        return dynamic_change_count_;
    }

    /// Handles that are not compared. Null: all are.
    [[nodiscard]] const ChangeMask* inactive() const noexcept {
        return has_inactive_ ? &inactive_ : nullptr;
    }
    /// To be called after a compare, at least after the first one that follows a set_active().
    void finish_compare();

    /// Whether a receiver that meets `passing` (passing_conditions()) may be sent the property.
    [[nodiscard]] bool passes(ParentIndex parent, LifetimeConditionSet passing) const noexcept {
        return passing.contains(condition_of(parent));
    }

    /// Calls `visit(RepRange)` for the handles of properties that a receiver which meets `after`
    /// may be sent, and one which meets `before` may not. Of these it may hold any older value, so
    /// all that ever changed of them is to be owed again: note them as lost, in all versions.
    template <typename Visitor>
    void for_each_turned_on(LifetimeConditionSet before, LifetimeConditionSet after,
                            Visitor visit) const {
        for_each_run(
            [&](ParentIndex parent) { return passes(parent, after) && !passes(parent, before); },
            visit);
    }
    /// The same for as much of them as lies `within`.
    template <typename Visitor>
    void for_each_turned_on(LifetimeConditionSet before, LifetimeConditionSet after,
                            const RepRange& within, Visitor visit) const {
        for_each_turned_on(before, after, [&](const RepRange& handles) {
            if (const RepRange both = overlap(handles, within); !both.is_empty()) {
                visit(both);
            }
        });
    }
    /// The same for those of condition Dynamic that it may be sent: where one was chosen anew, and
    /// which is not known any more.
    template <typename Visitor>
    void for_each_dynamic(LifetimeConditionSet passing, Visitor visit) const {
        for_each_run(
            [&](ParentIndex parent) {
                return layout_->parents()[parent.value].condition == LifetimeCondition::Dynamic &&
                       passes(parent, passing);
            },
            visit);
    }

    /// Whether the value at `handle`, one of the object's own, goes to a receiver only at first.
    /// That meets `passing`, and is not initial.
    [[nodiscard]] bool is_initial(RepHandle handle, LifetimeConditionSet passing) const noexcept {
        const ParentIndex parent = parent_of(handle);
        return is_initial_condition(condition_of(parent)) && !passes(parent, passing);
    }
    /// The property that the value at `handle`, one of the object's own, is of.
    [[nodiscard]] ParentIndex parent_of(RepHandle handle) const noexcept {
        return layout_->cmd(layout_->cmd_of(layout_->root(), handle)).parent_index;
    }

    /// Whether a receiver is not kept up to date with a property: it may not see it, or is sent it
    /// only once.
    [[nodiscard]] bool is_hidden(ParentIndex parent, LifetimeConditionSet passing) const noexcept;

    /// Takes from `owed` what the receiver may not see.
    void filter(LifetimeConditionSet passing, ChangeMask& owed) const noexcept;

    /// Adds to `hidden` what is_hidden() from the receiver.
    void add_hidden(LifetimeConditionSet passing, ChangeMask& hidden) const noexcept;

  private:
    /// Calls `visit(parent command, its index)` for each property whose condition is not None.
    template <typename Visitor>
    void for_each_conditional(Visitor visit) const {
        if (layout_->conditions().is_trivial()) {
            return;
        }
        for (std::size_t i = 0; i < layout_->parents().size(); ++i) {
            const RepParentCmd& parent = layout_->parents()[i];
            if (parent.handle_count > 0 && parent.condition != LifetimeCondition::None) {
                visit(parent, ParentIndex{static_cast<std::uint16_t>(i)});
            }
        }
    }

    /// Calls `visit(RepRange)` for each run of neighbours with a condition that `is_one`.
    template <typename Predicate, typename Visitor>
    void for_each_run(Predicate is_one, Visitor visit) const {
        RepRange run{0, 0};
        for_each_conditional([&](const RepParentCmd& parent, ParentIndex index) {
            if (!is_one(index)) {
                return;
            }
            if (!run.is_empty() && run.handle_end != parent.first_handle) {
                visit(run);
                run = {0, 0};
            }
            if (run.is_empty()) {
                run.handle_begin = parent.first_handle;
            }
            run.handle_end = parent.first_handle + parent.handle_count;
        });
        if (!run.is_empty()) {
            visit(run);
        }
    }

    const RepLayout* layout_;
    Vector<LifetimeCondition> dynamic_;  // by parent; empty while all are None
    ChangeMask inactive_;                // both masks are empty until the first switch
    ChangeMask turning_off_;
    bool has_inactive_ = false;
    std::uint32_t dynamic_change_count_ = 0;
};

}  // namespace replayout
