// SPDX-License-Identifier: MIT
//
// A value that a variable has for the length of a block, whichever way that is left: marks such as
// "within a tick", and whose call runs.
#pragma once

#include <type_traits>
#include <utility>

namespace replayout {

/// While it lives a variable has another value.
template <typename T>
class ValueScope {
  public:
    ValueScope(T& variable, std::type_identity_t<T> value)
        : variable_(variable), before_(std::exchange(variable, std::move(value))) {}
    ~ValueScope() { variable_ = std::move(before_); }
    ValueScope(const ValueScope&) = delete;
    ValueScope& operator=(const ValueScope&) = delete;

  private:
    T& variable_;
    T before_;
};

}  // namespace replayout
