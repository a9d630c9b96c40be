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

struct KeyPlace {
    std::uint64_t key;
    std::uint32_t index;
};

class KeyPlaces {
  public:
    explicit KeyPlaces(MemoryResource* resource) : places_(Allocator<KeyPlace>(resource)) {}

    /// Takes the elements of the array at `array`.
    void collect(const RepLayoutCmd& cmd, const std::byte* array);
    void clear() noexcept { places_.clear(); }

    /// By ascending key; where the game has given several elements one key, by index.
    [[nodiscard]] std::span<const KeyPlace> places() const noexcept {
        return {places_.data(), places_.size()};
    }
    /// The first element with that key; null: there is none.
    [[nodiscard]] const KeyPlace* find(std::uint64_t key) const noexcept {
        const auto found = std::lower_bound(
            places_.begin(), places_.end(), key,
            [](const KeyPlace& place, std::uint64_t wanted) { return place.key < wanted; });
        return found == places_.end() || found->key != key ? nullptr : &*found;
    }
    /// Leaves of several elements with one key the first.
    void drop_doubles();

  private:
    Vector<KeyPlace> places_;
};

}  // namespace replayout::detail
