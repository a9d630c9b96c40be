// SPDX-License-Identifier: MIT
//
// A registry, one type in it, and its layout: what nearly every test of the layout engine begins
// with.
//
//     const TestLayout layout(build_soldier);
//     CHECK(layout->handle_count() == 3);
#pragma once

#include <replayout/reflection/type_builder.h>
#include <replayout/rep_layout.h>

#include <memory>
#include <utility>

#include "support/checks/catch.h"

namespace replayout {

/// Registers a type and what it is made of.
using BuildType = Result<const Type*> (*)(TypeRegistry& registry);

class TestLayout {
  public:
    explicit TestLayout(BuildType build, const RepLayoutOptions& options = {},
                        MemoryResource* resource = std::pmr::get_default_resource()) {
        const Result<const Type*> type = build(registry_);
        INFO((type ? "" : type.error().message));
        REQUIRE(type);
        REQUIRE(registry_.freeze());
        Result<std::unique_ptr<RepLayout>> layout =
            RepLayout::create(registry_, **type, options, resource);
        INFO((layout ? "" : layout.error().message));
        REQUIRE(layout);
        layout_ = std::move(*layout);
    }

    [[nodiscard]] const RepLayout& operator*() const noexcept { return *layout_; }
    [[nodiscard]] const RepLayout* operator->() const noexcept { return layout_.get(); }
    [[nodiscard]] TypeRegistry& registry() noexcept { return registry_; }

    /// The command of a handle of the object itself.
    [[nodiscard]] const RepLayoutCmd& cmd(std::uint32_t handle) const noexcept {
        return layout_->cmd(layout_->cmd_of(layout_->root(), RepHandle{handle}));
    }
    /// The scope of one element of the array at a handle of the object itself.
    [[nodiscard]] const RepScope& element_scope(std::uint32_t handle) const noexcept {
        return layout_->element_scope(layout_->cmd_of(layout_->root(), RepHandle{handle}));
    }

  private:
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
};

/// What create() answers for a type that it may refuse.
[[nodiscard]] inline Result<std::unique_ptr<RepLayout>> try_layout(
    TypeRegistry& registry, BuildType build, const RepLayoutOptions& options = {}) {
    const Result<const Type*> type = build(registry);
    REQUIRE(type);
    REQUIRE(registry.freeze());
    return RepLayout::create(registry, **type, options);
}

}  // namespace replayout
