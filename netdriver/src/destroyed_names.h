// SPDX-License-Identifier: MIT
//
// The stable names of objects that were destroyed: what a client that did not see it happen must be
// told, for its map still has them, or the object that they were a part of made them. In order of
// destruction; each client goes through them by a place of its own. Who adds to them bounds them.
#pragma once

#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace replayout {

class DestroyedNames {
  public:
    explicit DestroyedNames(MemoryResource* resource)
        : names_(Allocator<std::pmr::string>(resource)) {}

    [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }
    [[nodiscard]] std::string_view at(std::size_t place) const noexcept { return names_[place]; }

    void add(std::string_view name) { names_.emplace_back(name); }
    static constexpr std::size_t no_place = ~std::size_t{0};
    /// O(names).
    [[nodiscard]] std::size_t find(std::string_view name) const noexcept {
        const auto found = std::find(names_.begin(), names_.end(), name);
        return found == names_.end() ? no_place : static_cast<std::size_t>(found - names_.begin());
    }
    /// Those behind it move up.
    void erase(std::size_t place) {
        names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(place));
    }
    void clear() noexcept { names_.clear(); }

  private:
    Vector<std::pmr::string> names_;
};

}  // namespace replayout
