// SPDX-License-Identifier: MIT
//
// In the place of tests/support/checks/catch.h: fuzz targets use what stands in tests/support, and
// run without Catch2. What is required and not so ends the process, which is what libFuzzer looks
// for.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace replayout::test {

inline void require_in_fuzz_target(bool holds, const char* text, const char* file, int line) {
    if (!holds) {
        std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, text);
        std::abort();
    }
}

}  // namespace replayout::test

#define REQUIRE(...)                                                                        \
    ::replayout::test::require_in_fuzz_target(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, \
                                              __FILE__, __LINE__)
#define REQUIRE_FALSE(...)                                                     \
    ::replayout::test::require_in_fuzz_target(!static_cast<bool>(__VA_ARGS__), \
                                              "not " #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK(...) REQUIRE(__VA_ARGS__)
#define CHECK_FALSE(...) REQUIRE_FALSE(__VA_ARGS__)
#define INFO(...) static_cast<void>(0)
#define CAPTURE(...) static_cast<void>(0)
#define FAIL(...) REQUIRE(false)
