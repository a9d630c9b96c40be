// SPDX-License-Identifier: MIT
//
// The stable names of objects that were destroyed: what a client that did not see it happen must be
// told, for its map still has them, or the object that they were a part of made them. In order of
// destruction; each client goes through them by a number of its own. Who adds to them bounds them.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace replayout {

class DestroyedNames {
  public:
    explicit DestroyedNames(MemoryResource* resource) : names_(Allocator<Entry>(resource)) {}

    struct Entry {
        NetGUID guid;
        std::pmr::string name;
    };
    [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }
    [[nodiscard]] const Entry& at(std::size_t number) const noexcept { return names_[number]; }

    void add(NetGUID guid, std::string_view name) {
        names_.push_back({guid, std::pmr::string(name, names_.get_allocator().resource())});
    }
    static constexpr std::size_t no_number = ~std::size_t{0};
    /// O(names).
    [[nodiscard]] std::size_t find(std::string_view name) const noexcept {
        const auto found = std::find_if(names_.begin(), names_.end(),
                                        [&](const Entry& entry) { return entry.name == name; });
        return found == names_.end() ? no_number : static_cast<std::size_t>(found - names_.begin());
    }
    /// Those behind it move up.
    void erase(std::size_t number) {
        names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(number));
    }
    void clear() noexcept { names_.clear(); }

  private:
    Vector<Entry> names_;
};

}  // namespace replayout
