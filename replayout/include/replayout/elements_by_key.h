// SPDX-License-Identifier: MIT
//
// Where the elements of one keyed array lie in the memory of an object, by key. Part of
// ReceiveScratch.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/rep_layout_cmd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout::detail {

struct ElementByKey {
    std::uint64_t key;
    std::uint32_t index;
};

class ElementsByKey {
  public:
    explicit ElementsByKey(MemoryResource* resource)
        : elements_(Allocator<ElementByKey>(resource)) {}

    /// Takes the elements of the array at `array`.
    void collect(const RepLayoutCmd& cmd, const std::byte* array);
    void clear() noexcept { elements_.clear(); }

    /// By ascending key; where the game has given several elements one key, by index.
    [[nodiscard]] std::span<const ElementByKey> elements() const noexcept {
        return {elements_.data(), elements_.size()};
    }
    /// The first element with that key; null: there is none.
    [[nodiscard]] const ElementByKey* find(std::uint64_t key) const noexcept {
        const auto found = std::lower_bound(
            elements_.begin(), elements_.end(), key,
            [](const ElementByKey& element, std::uint64_t wanted) { return element.key < wanted; });
        return found == elements_.end() || found->key != key ? nullptr : &*found;
    }
    /// Leaves of several elements with one key the first.
    void drop_doubles();

  private:
    Vector<ElementByKey> elements_;
};

}  // namespace replayout::detail
