// SPDX-License-Identifier: MIT
//
// The elements that one keyed array of an object has before a block changes it, to be found by key.
// How they are looked up, sorted or one by one, decides what that costs of the budget.
#pragma once

#include <replayout/keyed_array.h>

#include "read_context.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class PresentElements {
  public:
    static constexpr std::size_t no_index = ~std::size_t{0};

    /// The elements of the array at command `index`; none before look_up().
    PresentElements(ReadContext& context, CmdIndex index) noexcept
        : context_(context), index_(index), cmd_(context.layout().cmd(index)) {}

    /// Makes ready to find `key_count` of the elements at `array`. Null: the object has none yet.
    void look_up(const std::byte* array, std::size_t key_count, bool is_full_set);
    /// A full set says what there is: where the game has given several elements one key, only the
    /// first stays. `array`: where they lie, or null when checking.
    void drop_doubles(std::byte* array);

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// Without elements that only the game knows of: for these the sender does not pay.
    [[nodiscard]] std::size_t charged_count() const noexcept { return charged_count_; }
    /// By key; empty where the elements are not sorted.
    [[nodiscard]] std::span<const detail::ElementByKey> sorted() const noexcept {
        return context_.parts().elements_by_key.elements();
    }
    /// The index of the element with that key; no_index: there is none.
    [[nodiscard]] std::size_t find(std::uint64_t element_key) const noexcept {
        if (is_sorted_) {
            const detail::ElementByKey* element =
                context_.parts().elements_by_key.find(element_key);
            return element == nullptr ? no_index : element->index;
        }
        for (std::size_t i = 0; i < count_; ++i) {
            if (key_of_element(cmd_.property->array_key, at(i)) == element_key) {
                return i;
            }
        }
        return no_index;
    }
    [[nodiscard]] const std::byte* at(std::size_t index) const noexcept {
        return static_cast<const std::byte*>(ops().data(array_)) + index * cmd_.element_size;
    }

  private:
    [[nodiscard]] const ArrayOps& ops() const noexcept { return cmd_.property->array; }
    /// Elements that the sender has named, and a full set can make forget.
    [[nodiscard]] std::size_t count_known() const noexcept;

    ReadContext& context_;
    CmdIndex index_;
    const RepLayoutCmd& cmd_;
    const std::byte* array_ = nullptr;
    std::size_t count_ = 0;
    std::size_t charged_count_ = 0;
    bool is_sorted_ = false;  // the elements are in the scratch, by key
};

}  // namespace replayout
