// SPDX-License-Identifier: MIT
//
// Assertions and the log, both through handlers that the embedder may set.
//
// REPLAYOUT_ASSERT guards what our caller passes and what we believe of ourselves. It is never
// reached by bytes from a peer or a file; those are checked and refused. REPLAYOUT_VALIDATE is the
// same for invariants that cost more than a branch to check (REPLAYOUT_VALIDATION).
//
// The two handlers are the only state of the process that the library keeps. They are set before
// the engine is used and not while it runs.
#pragma once

#include <replayout/reflection/config.h>

#include <cstdint>
#include <string_view>

namespace replayout {

struct AssertionFailure {
    const char* expression;
    const char* file;
    int line;
};

/// Called when an assertion fails; should not return. If it does, the process aborts.
using AssertHandler = void (*)(const AssertionFailure& failure);

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// `context` is the pointer given with the handler; `message` is a line without its end.
using LogHandler = void (*)(LogLevel level, std::string_view message, void* context);

/// Replaces the handler and returns the one before. Null restores the default: print to stderr.
AssertHandler set_assert_handler(AssertHandler handler) noexcept;

/// Replaces the log handler. Null silences the log, which is also the default.
void set_log_handler(LogHandler handler, void* context) noexcept;

void log(LogLevel level, std::string_view message);

namespace detail {
[[noreturn]] void fail_assertion(const char* expression, const char* file, int line) noexcept;
}

}  // namespace replayout

#if REPLAYOUT_ASSERTIONS
#define REPLAYOUT_ASSERT(expression) \
    ((expression) ? void() : ::replayout::detail::fail_assertion(#expression, __FILE__, __LINE__))
#else
#define REPLAYOUT_ASSERT(expression) (true ? void() : void(expression))
#endif

#if REPLAYOUT_VALIDATION
#define REPLAYOUT_VALIDATE(expression) \
    ((expression) ? void() : ::replayout::detail::fail_assertion(#expression, __FILE__, __LINE__))
#else
#define REPLAYOUT_VALIDATE(expression) (true ? void() : void(expression))
#endif
