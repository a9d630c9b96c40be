// SPDX-License-Identifier: MIT
//
// The stable names of objects that are there: no two have the same, or clients would take one for
// the other. Parts have names of their own within their outer.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "object_store.h"
#include "stable_name.h"

namespace replayout {

class LiveNames {
  public:
    explicit LiveNames(MemoryResource* resource) : by_key_(resource), keys_(resource) {}

    /// The object has its spawn record. Does nothing if it has no name.
    void add(ObjectIndex index, NetGUID outer, std::string_view name) {
        if (!name.empty()) {
            const std::uint64_t key = stable_name_key(outer, name);
            by_key_[key] = index;
            keys_[index] = key;
        }
    }
    /// no_object: nobody has the name, or it is empty.
    [[nodiscard]] ObjectIndex find(NetGUID outer, std::string_view name) const {
        const auto found =
            name.empty() ? by_key_.end() : by_key_.find(stable_name_key(outer, name));
        return found == by_key_.end() ? no_object : found->second;
    }
    void forget(ObjectIndex index) {
        if (const auto found = keys_.find(index); found != keys_.end()) {
            by_key_.erase(found->second);
            keys_.erase(found);
        }
    }

  private:
    // Looked up, never walked.
    std::pmr::unordered_map<std::uint64_t, ObjectIndex> by_key_;
    std::pmr::unordered_map<ObjectIndex, std::uint64_t> keys_;  // of objects with names
};

}  // namespace replayout
