// SPDX-License-Identifier: MIT
//
// Which assertion fails in a call. Its handler must not return, and we have no exceptions to rely
// on: so it jumps out of the call, whose own objects are not destroyed then.
//
//     CHECK(failure_in([&] { (void)layout.skipped_name(cmd); }) != "");
//
// For what our caller does wrong see refusals.h: that is refused, and needs no jump.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <csetjmp>
#include <string>

namespace replayout::test {

namespace detail {

inline std::jmp_buf after_failure;
inline std::string seen_failure;

[[noreturn]] inline void jump_out(const AssertionFailure& failure) {
    seen_failure = failure.message != nullptr ? failure.message : failure.expression;
    std::longjmp(after_failure, 1);
}

}  // namespace detail

/// What the assertion said that failed; empty when none did.
template <typename Call>
[[nodiscard]] std::string failure_in(const Call& call) {
    detail::seen_failure.clear();
    const AssertHandler previous = set_assert_handler(detail::jump_out);
    if (setjmp(detail::after_failure) == 0) {
        call();
    }
    (void)set_assert_handler(previous);
    return detail::seen_failure;
}

}  // namespace replayout::test
