// SPDX-License-Identifier: MIT
//
// Stable names of objects that are going at a client: their closes are under way. There is no order
// between channels, so another object of such a name waits with its open until it is free; else the
// client would find the old object for it, and lose it with the old channel.
#pragma once

#include <replayout/reflection/memory.h>

#include <cstdint>
#include <unordered_map>

#include "object_index.h"

namespace replayout {

class ClosingNames {
  public:
    explicit ClosingNames(MemoryResource* resource) : keys_(resource), counts_(resource) {}

    /// The object of that slot goes; `key`: of its name, see stable_name_key().
    void add(ObjectIndex index, std::uint64_t key) {
        if (keys_.emplace(index, key).second) {
            ++counts_[key];
        }
    }
    /// The channel of that slot is free.
    void finished(ObjectIndex index) noexcept {
        const auto found = keys_.find(index);
        if (found == keys_.end()) {
            return;
        }
        const auto count = counts_.find(found->second);
        if (--count->second == 0) {
            counts_.erase(count);
        }
        keys_.erase(found);
    }
    [[nodiscard]] bool is_empty() const noexcept { return keys_.empty(); }
    [[nodiscard]] bool contains(std::uint64_t key) const noexcept { return counts_.contains(key); }

  private:
    // Looked up, never walked.
    std::pmr::unordered_map<ObjectIndex, std::uint64_t> keys_;
    std::pmr::unordered_map<std::uint64_t, std::uint32_t> counts_;  // by key
};

}  // namespace replayout
