// SPDX-License-Identifier: MIT
//
// One call of a remote function that the game makes of a behaviour: finds the function, sends the
// changes that the object holds back ahead of the call, makes the call where the function belongs,
// and logs calls that do not do what their name promises, or can never be made.
#pragma once

#include <replayout/netdriver/call_arguments.h>
#include <replayout/netdriver/calls.h>
#include <replayout/reflection/function.h>
#include <replayout/reflection/type_key.h>

#include <string_view>

namespace replayout::detail {

class ObjectComponent;
struct ObjectParts;

class BehaviourCall {
  public:
    /// Requires that the component was bound.
    explicit BehaviourCall(const ObjectComponent& component) noexcept;

    /// Runs a function by its name in the class of the behaviour.
    [[nodiscard]] CallResult run(std::string_view function, CallArguments params) const;
    /// Runs a function by remote_function_key().
    [[nodiscard]] CallResult run(TypeKey function, CallArguments params) const;

  private:
    /// Sends the changes that the object holds back, so that the call made next finds them. False:
    /// a part of them found no room.
    /// By the name, or index, that a server's driver finds it by, and the name for a client's.
    template <typename ServersName>
    [[nodiscard]] CallResult make(const ServersName& name, std::string_view clients_name,
                                  CallArguments params, std::string_view shown) const;
    [[nodiscard]] bool send_state_ahead() const;
    /// Returns `result`, and logs that the call of `function` can never be made, if it cannot.
    [[nodiscard]] CallResult logged(CallResult result, std::string_view function) const;
    /// Logs a call of `function` that does not do here what its name promises.
    void log_wrong_end(FunctionFlags flags, std::string_view function) const;

    const ObjectComponent& component_;
    const ObjectParts& object_;
};

}  // namespace replayout::detail
