// SPDX-License-Identifier: MIT
//
// How a receiver learns what it is owed of one keyed array, see docs/wire_format.md, "Keyed
// arrays": which places a full set covers, which deletions are named, which elements are listed.
// Nothing here depends on where the array is cut.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/keyed_array.h>
#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>

#include "array_elements.h"
#include "write_context.h"

#include <algorithm>
#include <cstdint>

namespace replayout {

/// The lists of a plan lie in the scratch, so one plan is used at a time.
class KeyedArrayPlan {
  public:
    /// For the array at command `index`. All must outlive the plan.
    KeyedArrayPlan(WriteContext& context, CmdIndex index, const ShadowKeyedArray& array,
                   const OwedVersions& position) noexcept;

    /// Plans the array for one block.
    void plan_whole();
    /// Plans the array for several parts.
    void plan_parts();

    /// The elements have an order, so ranks are sent.
    [[nodiscard]] bool has_order() const noexcept { return has_order_; }
    /// The receiver may end with too many elements, so deletions that may not have arrived are
    /// named again.
    [[nodiscard]] bool may_overflow() const noexcept { return may_overflow_; }
    /// Places where only a full set will do, ascending.
    [[nodiscard]] const Vector<PlaceSpan>& full_spans() const noexcept {
        return context_.scratch().full_spans;
    }
    /// The keys that are named as removed, ascending.
    [[nodiscard]] const Vector<std::uint64_t>& deletions() const noexcept {
        return context_.scratch().keys;
    }
    [[nodiscard]] const ShadowKeyedArray& array() const noexcept { return array_; }
    [[nodiscard]] const ArrayElements& elements() const noexcept { return elements_; }
    [[nodiscard]] const OwedVersions& position() const noexcept { return elements_.position(); }

    struct Element {
        bool is_listed = false;
        bool has_rank = false;
        /// The receiver may lack it: of arrays within it, too, all that it may not hold is sent.
        bool is_whole = false;
    };
    /// What is written of the element `index`, the leaves of it in `leaves`. In a full set all
    /// elements are listed.
    [[nodiscard]] Element collect_element(std::uint32_t index, bool is_full,
                                          ChangeMask& leaves) const;
    /// The first element from `span.begin` on of which anything is owed, or `span.end`.
    [[nodiscard]] std::uint32_t find_owed_element(ElementSpan span) const;
    /// The elements in these places, in the order of their keys.
    [[nodiscard]] ElementSpan span_of(const PlaceSpan& places) const noexcept {
        return {array_.first_from(places.begin), places.end == RepRange::no_element_end
                                                     ? array_.count()
                                                     : array_.first_from(places.end)};
    }

  private:
    /// How much of an array goes as full sets: what the log says nothing of; what is new, too,
    /// where it might be too much otherwise; all that was lost; all.
    enum class FullSets : std::uint8_t { Forgotten, New, Lost, All };
    void collect_full_spans(FullSets full_sets);
    void add_new_elements();
    [[nodiscard]] bool needs_whole_set();
    /// A receiver that does not hear of removals might end with more elements than an array may
    /// have.
    [[nodiscard]] bool is_too_much_without_removals() const noexcept;
    /// Elements are owed that the receiver may lack, and that are in no full set.
    [[nodiscard]] bool adds_elements() const;
    /// Also whether removals have to be named again.
    void collect_deletions();
    /// The receiver may not have that element.
    [[nodiscard]] bool may_lack(const ShadowKeyedArray::Item& item) const noexcept {
        return std::max(item.created, array_.restart_version(position())) > position().held_version;
    }
    /// The receiver lacks the element, is owed it, and gets it in no full set.
    [[nodiscard]] bool is_added(std::uint32_t index) const;

    WriteContext& context_;
    const ShadowKeyedArray& array_;
    ArrayElements elements_;
    bool has_order_;
    bool may_overflow_ = false;
};

}  // namespace replayout
