// SPDX-License-Identifier: MIT
//
// The layout of one class, and the registry that it needs.
#pragma once

#include <replayout/reflection/type_registry.h>
#include <replayout/rep_layout.h>

#include <memory>
#include <string>

namespace replayout::bench {

class ClassLayout {
  public:
    /// Registers what the class needs, and the class, which it returns.
    using Declare = Result<const Type*> (*)(TypeRegistry& registry);

    explicit ClassLayout(Declare declare);

    /// Why there is no layout; empty when there is one.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] const RepLayout& layout() const noexcept { return *layout_; }

  private:
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
    std::string error_;
};

}  // namespace replayout::bench
