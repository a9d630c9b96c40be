// SPDX-License-Identifier: MIT
#pragma once

namespace replayout {

/// While it lives a flag has another value.
class FlagScope {
  public:
    FlagScope(bool& flag, bool value) noexcept : flag_(flag), before_(flag) { flag_ = value; }
    ~FlagScope() { flag_ = before_; }
    FlagScope(const FlagScope&) = delete;
    FlagScope& operator=(const FlagScope&) = delete;

  private:
    bool& flag_;
    bool before_;
};

}  // namespace replayout
