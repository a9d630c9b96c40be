// SPDX-License-Identifier: MIT
//
// A section of SyncVars that arrived (sync_section.h): the variables that it brings, their
// ownership, and how a component takes their values.
#pragma once

#include <replayout/behaviours/network_behaviour.h>

#include <cstdint>

namespace replayout::detail {

class ReceivedSection {
  public:
    /// `parameters` are an object of the class `type`, and outlive this.
    ReceivedSection(const void* parameters, const BehaviourType& type) noexcept;

    /// The variables that it brings. The sender chose it, so it may have bits without a variable.
    [[nodiscard]] std::uint64_t mask() const noexcept { return component_.changes().sync_vars(); }
    [[nodiscard]] std::uint32_t epoch() const noexcept { return component_.owner().epoch(); }
    /// The component, which is of the same class, takes the variables except those of `except`.
    /// Hooks run. Returns which variables changed, and not more bits than there are variables.
    std::uint64_t apply_to(ObjectComponent& component, std::uint64_t except) const;

  private:
    const std::byte* object_;
    const ObjectComponent& component_;
};

}  // namespace replayout::detail
