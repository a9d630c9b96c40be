// SPDX-License-Identifier: MIT
//
// Random edits of an object of any type: values set, cleared and set back, arrays, maps and sets
// that grow, shrink and are inserted into, now and then a text or an array that no packet holds.
#pragma once

#include "support/checks/seeded_random.h"
#include "support/types/collection_types.h"
#include "support/types/raw_object.h"
#include "support/types/value_tree.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::test {

struct TreeEditLimits {
    std::uint32_t array_count_max = 40;
    std::uint32_t string_bytes_max = 400;
    /// Of one property on the wire; what would exceed it is cleared.
    std::uint32_t property_bytes_max = 4'000;
    /// Out of 100 edits of texts and arrays, how many go for the limits.
    std::uint32_t large_percent = 0;
    /// Now and then an item of a fast array is not marked, so that it has no id and is not sent.
    bool leaves_items_unmarked = true;
};

/// What a property held before an edit.
struct SavedValue {
    std::uint32_t slot = 0;  ///< as for_each_slot counts
    Value value;
};

class TreeEditor {
  public:
    /// `pick_reference` says what a reference is set to.
    TreeEditor(std::uint64_t seed, const TreeEditLimits& limits,
               std::function<Reference()> pick_reference);

    /// Changes some properties, at most `count`. Returns what the replicated ones among them held.
    [[nodiscard]] std::vector<SavedValue> edit(RawObject& object, std::uint32_t count);
    static void restore(RawObject& object, const SavedValue& saved);
    [[nodiscard]] static std::string_view name_of(const RawObject& object, const SavedValue& saved);

    /// Adds one to the property of that name and kind UInt32.
    static void increment(RawObject& object, std::string_view name);

  private:
    /// `count_max` is what arrays may grow to; less in each array within another.
    void change(const Property& property, Value& value, std::uint32_t count_max);
    void change_bits(const Property& property, Bits& bits);
    void change_text(const Property& property, Text& text);
    void change_floats(std::vector<Value>& parts);
    /// Mostly to what quantisation is for; sometimes by less than a step, and sometimes to
    /// anything.
    void change_quantised(const Property& property, Value& value);
    [[nodiscard]] double draw_number(double previous);
    /// `key`: the parts are those of a keyed element.
    void change_members(const Type& type, std::vector<Value>& parts, std::uint32_t count_max,
                        const ArrayKey* key = nullptr);
    void change_list(const Property& element, std::vector<Value>& parts, std::uint32_t count_max);
    void change_keyed_list(const Property& array, std::vector<Value>& parts,
                           std::uint32_t count_max);
    /// Inserts elements of keys that are not there, in front, behind or between.
    void insert_keyed(const Property& array, std::vector<Value>& parts, std::uint32_t count,
                      std::uint32_t count_max);
    /// Brings some elements to other places.
    void move_keyed(std::vector<Value>& parts);
    [[nodiscard]] std::uint64_t draw_key(const ArrayKey& key);
    /// Entries come, go and change; all of them go.
    void change_collection(const CollectionType& type, Value& value, std::uint32_t count_max);
    void insert_entries(const CollectionType& type, std::vector<Value>& entries,
                        std::uint32_t count, std::uint32_t count_max);
    void change_optional(const Property& element, std::vector<Value>& parts,
                         std::uint32_t count_max);
    void append(const Property& element, std::vector<Value>& parts, std::uint32_t count,
                std::uint32_t count_max);
    [[nodiscard]] Text make_text(std::uint32_t bytes);
    [[nodiscard]] std::uint32_t draw_text_bytes();

    SeededRandom random_;
    TreeEditLimits limits_;
    std::function<Reference()> pick_reference_;
};

}  // namespace replayout::test
