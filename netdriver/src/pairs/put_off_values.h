// SPDX-License-Identifier: MIT
//
// Values of one connection for which net_serialize answered "not fully mapped" without having asked
// for an object: it wants to be called again, and nobody can tell when. So each value is owed again
// in the next flush and, if the answer is the same, after 2, 4, 8 ... flushes, 64 at most.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/handle.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <utility>

#include "object_index.h"

namespace replayout {

class PutOffValues {
  public:
    static constexpr std::uint32_t flushes_max = 64;

    explicit PutOffValues(MemoryResource* resource)
        : values_(Allocator<std::pair<Key, Wait>>(resource)) {}

    /// It was sent, and put off.
    void add(ObjectIndex index, RepHandle handle);
    /// Takes out those of an object for which `is_meant(handle)` holds.
    template <typename Predicate>
    void take_of(ObjectIndex index, Predicate is_meant) {
        for (auto value = values_.lower_bound({index, 0});
             value != values_.end() && value->first.first == index;) {
            value = is_meant(RepHandle{value->first.second}) ? values_.erase(value) : value + 1;
        }
    }
    /// Once a flush: calls `bool owe(index, handle)` for each that has waited; false: not now.
    template <typename Owe>
    void take_due(Owe owe) {
        for (auto& [key, wait] : values_) {
            if (wait.flushes_left > 0 && --wait.flushes_left == 0 &&
                !owe(key.first, RepHandle{key.second})) {
                wait.flushes_left = 1;
            }
        }
    }

    [[nodiscard]] bool is_empty() const noexcept { return values_.empty(); }
    /// Whether a value of that object waits.
    [[nodiscard]] bool contains(ObjectIndex index) const noexcept;
    /// Sets the bits of the object's handles. Returns whether there are any.
    bool mark(ObjectIndex index, ChangeMask& handles) const noexcept;

  private:
    using Key = std::pair<ObjectIndex, std::uint32_t>;  // index, handle
    struct Wait {
        std::uint32_t flushes = 0;       // between the last two times
        std::uint32_t flushes_left = 0;  // 0: it is owed
    };

    FlatMap<Key, Wait> values_;
};

}  // namespace replayout
