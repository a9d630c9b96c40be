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
class ScopedValue {
  public:
    ScopedValue(T& variable, std::type_identity_t<T> value)
        : variable_(variable), before_(std::exchange(variable, std::move(value))) {}
    ~ScopedValue() { variable_ = std::move(before_); }
    ScopedValue(const ScopedValue&) = delete;
    ScopedValue& operator=(const ScopedValue&) = delete;

  private:
    T& variable_;
    T before_;
};

}  // namespace replayout
