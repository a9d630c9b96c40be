// SPDX-License-Identifier: MIT
//
// The layout of one class, and the registry that it needs.
#pragma once

#include <replayout/reflection/type_registry.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace replayout::bench {

class ClassLayout {
  public:
    /// Registers what the class needs, and the class, which it returns.
    using Declare = std::function<Result<const Type*>(TypeRegistry& registry)>;

    explicit ClassLayout(const Declare& declare, const RepLayoutOptions& options = {})
        : error_(make(declare, options)) {}

    /// Why there is no layout; empty when there is one.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] const RepLayout& layout() const noexcept { return *layout_; }
    /// The properties of these names, which the class has. Zeros where there is no layout.
    template <std::size_t Count>
    [[nodiscard]] std::array<ParentIndex, Count> parents(
        const std::array<std::string_view, Count>& names) const {
        std::array<ParentIndex, Count> parents{};
        for (std::size_t i = 0; i < Count && layout_ != nullptr; ++i) {
            parents[i] = layout_->find_parent(names[i]).value();
        }
        return parents;
    }

  private:
    /// Returns why there is none.
    [[nodiscard]] std::string make(const Declare& declare, const RepLayoutOptions& options) {
        const Result<const Type*> type = declare(registry_);
        if (!type) {
            return type.error().message;
        }
        if (const Status status = registry_.freeze(); !status) {
            return status.error().message;
        }
        Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry_, **type, options);
        if (!layout) {
            return layout.error().message;
        }
        layout_ = std::move(*layout);
        return {};
    }

    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
    std::string error_;
};

}  // namespace replayout::bench
