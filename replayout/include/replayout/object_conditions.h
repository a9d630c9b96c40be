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
#include <span>

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

    /// Who is asking, in set of conditions.
    struct Receiver {
        LifetimeConditionSet passing;
        /// It began to meet these since it was sent the object last, so it may hold any older
        /// value of their properties. Dynamic stands for all properties of that condition.
        LifetimeConditionSet turned_on;
        bool is_initial = false;

        friend constexpr bool operator==(const Receiver&, const Receiver&) noexcept = default;
    };
    [[nodiscard]] static Receiver make_receiver(const ReplicationFlags& flags) noexcept {
        return {passing_conditions(flags), {}, flags.is_initial};
    }

    /// Of conditions that a receiver begins to meet, those that it is sent more of the object for:
    /// to be added to Receiver::turned_on.
    [[nodiscard]] LifetimeConditionSet turned_on(LifetimeConditionSet begun) const noexcept;

    /// What a receiver is to be sent of a property.
    enum class Answer : std::uint8_t {
        Hidden,  ///< nothing
        Owed,    ///< what its position says
        Whole,   ///< whatever its position, all that ever changed
    };
    [[nodiscard]] Answer answer(ParentIndex parent, const Receiver& receiver) const noexcept;

    /// The position that a block for the receiver is to be written from; `position` is what it is
    /// owed by. Of an array that it is sent whatever its position it may hold anything, so every
    /// element goes out.
    [[nodiscard]] OwedVersions block_position(const Receiver& receiver,
                                              const OwedVersions& position) const noexcept;

    /// Whether a receiver is not kept up to date with a property: it may not see it, or is sent it
    /// only once.
    [[nodiscard]] bool is_hidden(ParentIndex parent, LifetimeConditionSet passing) const noexcept;

    /// Takes from `owed` what the receiver may not see, and adds what it must be sent whatever its
    /// position: `last_changed` (by handle) tells what ever changed.
    void filter(const Receiver& receiver, std::span<const Version> last_changed,
                ChangeMask& owed) const noexcept;

    /// Adds to `hidden` what is_hidden() from the receiver.
    void add_hidden(LifetimeConditionSet passing, ChangeMask& hidden) const noexcept;

  private:
    /// Calls `visit(parent command, its index)` for each property whose condition is not None.
    template <typename Visitor>
    void for_each_conditional(Visitor visit) const;

    const RepLayout* layout_;
    Vector<LifetimeCondition> dynamic_;  // by parent; empty while all are None
    ChangeMask inactive_;                // both masks are empty until the first switch
    ChangeMask turning_off_;
    bool has_inactive_ = false;
    std::uint32_t dynamic_change_count_ = 0;
};

}  // namespace replayout
