// SPDX-License-Identifier: MIT
//
// The functions of a class that can be called remotely, listed for its layout, with the layouts of
// their parameters and the fingerprint that includes them.
#pragma once

#include <replayout/rep_layout.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace replayout {

class RepFunctionBuilder {
  public:
    /// `layout` has all but functions. It must outlive the builder.
    RepFunctionBuilder(const RepLayout& layout, const RepLayoutOptions& options,
                       MemoryResource* resource)
        : layout_(layout), options_(options), resource_(resource), functions_(resource) {}

    /// Lists the functions; a struct has none.
    [[nodiscard]] Status build();
    /// After build(): the fingerprint of the layout with its functions.
    [[nodiscard]] Digest128 fingerprint() const;
    /// After build(): the functions.
    [[nodiscard]] std::pmr::vector<RepFunction> take() noexcept { return std::move(functions_); }

  private:
    /// Those of the base first. `object_offset`: of `type` within the object.
    [[nodiscard]] Status add_functions_of(const Type& type, std::uint32_t object_offset);
    [[nodiscard]] Status add(const Function& function, std::uint32_t object_offset);

    const RepLayout& layout_;
    const RepLayoutOptions& options_;
    MemoryResource* resource_;
    std::pmr::vector<RepFunction> functions_;
};

}  // namespace replayout
