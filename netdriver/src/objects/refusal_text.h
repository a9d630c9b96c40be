// SPDX-License-Identifier: MIT
//
// The sentence with which a public function refuses a call that it cannot carry out.
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "object_index.h"

namespace replayout {

class ObjectStore;

/// A sentence that takes no memory from the heap. It is cut where it is full.
class RefusalText {
  public:
    [[gnu::format(printf, 2, 3)]] void append(const char* format, ...) noexcept;
    /// In quotes; what does not print becomes a question mark.
    void append_name(std::string_view name) noexcept;
    [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

  private:
    std::array<char, 448> text_{};
    std::size_t size_ = 0;
};

/// Appends `object 7.1, a "Pawn"`: index and generation. Requires that the object exists.
void append_object(RefusalText& text, const ObjectStore& objects, NetObjectId id) noexcept;

/// Appends the names that a class has, when `meant` is none of them: first the one that is likely
/// meant.
[[gnu::cold, gnu::noinline]] void append_properties(RefusalText& text, const RepLayout& layout,
                                                    std::string_view meant) noexcept;
/// A function of a component is called "2.fire": the name that the game gave it, "fire".
[[nodiscard]] std::string_view without_component(std::string_view function) noexcept;
[[gnu::cold, gnu::noinline]] void append_functions(RefusalText& text, const RepLayout& layout,
                                                   std::string_view meant) noexcept;

/// The world has no memory of an object that the function looks at.
[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText without_memory(const char* function,
                                                                      const ObjectStore& objects,
                                                                      ObjectIndex index) noexcept;

/// `layout` was not added to the driver.
[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText unknown_layout(
    const char* function, const RepLayout& layout) noexcept;

}  // namespace replayout
