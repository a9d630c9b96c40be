// SPDX-License-Identifier: MIT
//
// The hooks of the SyncVars of one component: which of them run, which wait, and when they run. A
// part of the library itself.
//
//     a host assigns a variable       its hook runs at once, if the host shows the object
//     a client receives a value       the hook runs, or waits until the object is started
//     a variable becomes null         the same, because its object left
//
// While a hook runs, assignments of the same variable run no hook.
#pragma once

#include <cstdint>

namespace replayout::detail {

class ObjectComponent;

class VariableHooks {
  public:
    // `component` is the one that has these hooks.

    /// On a host: whether an assignment of the variable, which has a hook, runs the hook now.
    [[nodiscard]] bool runs_on_assignment(const ObjectComponent& component,
                                          std::uint32_t variable) const noexcept;
    void run(ObjectComponent& component, std::uint32_t variable, const void* previous,
             const void* current);
    /// A client was sent a value of the variable, which is stored.
    void value_received(ObjectComponent& component, std::uint32_t variable, const void* previous);
    /// The variable is null by now, because the object that it named went. `previous` is its value
    /// before, for its hook; null: no hook runs.
    void reference_lost(ObjectComponent& component, std::uint32_t variable, const void* previous);
    /// A host begins to show the object: hooks of what is not as in the prefab.
    void run_initial(ObjectComponent& component);

    /// The hook waits from now on, until forget_waiting(). False: it does already.
    [[nodiscard]] bool begin_waiting(std::uint32_t variable) noexcept {
        const bool is_new = (waiting_ >> variable & 1) == 0;
        waiting_ |= std::uint64_t{1} << variable;
        return is_new;
    }
    void forget_waiting() noexcept { waiting_ = 0; }

  private:
    [[nodiscard]] bool is_running(std::uint32_t variable) const noexcept {
        return (running_ >> variable & 1) != 0;
    }
    void begin_running(std::uint32_t variable) noexcept {
        running_ |= std::uint64_t{1} << variable;
    }
    void end_running(std::uint32_t variable) noexcept {
        running_ &= ~(std::uint64_t{1} << variable);
    }
    /// Runs a hook of UNet's style. It finds `previous`, with null for objects that are just
    /// leaving.
    void run_unet(ObjectComponent& component, std::uint32_t variable, const void* previous);

    std::uint64_t running_ = 0;
    std::uint64_t waiting_ = 0;
};

}  // namespace replayout::detail
