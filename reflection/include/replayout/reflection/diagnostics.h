// SPDX-License-Identifier: MIT
//
// Assertions, refusals of misuse, and the log, through handlers that the embedder may set.
//
//     REPLAYOUT_ASSERT    what we believe of ourselves. Off in a release build.
//     REPLAYOUT_EXPECT    what our caller promises. Checked in every build: a debug build
//                         stops with the sentence, a release build logs it and refuses the call.
//     REPLAYOUT_VALIDATE  invariants that cost more than a branch (REPLAYOUT_VALIDATION).
//
//     REPLAYOUT_EXPECT(index < size(), false, "set: item %u of a list of %u", index, size());
//
// None of them is reached by bytes from a peer or a file; those are checked and refused.
//
// The handlers are the only state of the process that the library keeps, except one flag for each
// use of REPLAYOUT_EXPECT. Set them before the engine is used and not while it runs.
#pragma once

#include <replayout/reflection/config.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace replayout {

struct AssertionFailure {
    const char* expression;
    const char* file;
    int line;
    /// REPLAYOUT_EXPECT: what the caller did wrong, and what to do. Else null.
    const char* message = nullptr;
};

/// Called when an assertion fails, or our caller breaks a promise. Should not return. If it returns
/// from an assertion, the process aborts. If it returns from a broken promise, the library logs the
/// sentence and refuses the call, as a release build does.
using AssertHandler = void (*)(const AssertionFailure& failure);

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// `context` is the pointer given with the handler; `message` is a line without its end. Called on
/// the thread that logs.
using LogHandler = void (*)(LogLevel level, std::string_view message, void* context);

/// Replaces the handler and returns the one before. Null restores the default: print to stderr, and
/// abort.
AssertHandler set_assert_handler(AssertHandler handler) noexcept;

/// Replaces the log handler. Null restores the default: warnings and errors go to stderr, at most
/// default_log_lines_per_second of them. To silence the log, set a handler that does nothing.
void set_log_handler(LogHandler handler, void* context) noexcept;

/// Lines that the default handler prints in a second: ten for each of four peers, and no person
/// reads more. The next line that is printed tells how many were left out.
inline constexpr std::uint32_t default_log_lines_per_second = 40;

void log(LogLevel level, std::string_view message);

namespace detail {

[[noreturn]] void fail_assertion(const char* expression, const char* file, int line) noexcept;

/// One use of REPLAYOUT_EXPECT.
struct Expectation {
    const char* expression;
    const char* file;
    int line;
    bool is_stopping;  ///< the code there was compiled with assertions
    std::atomic<bool> is_logged{false};
};

/// Formats the sentence on the stack. It is cut at 511 bytes.
[[gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] void refuse_misuse(Expectation& expectation,
                                                                           const char* format,
                                                                           ...) noexcept;

}  // namespace detail

}  // namespace replayout

#if REPLAYOUT_ASSERTIONS
#define REPLAYOUT_ASSERT(expression) \
    ((expression) ? void() : ::replayout::detail::fail_assertion(#expression, __FILE__, __LINE__))
#else
#define REPLAYOUT_ASSERT(expression) (true ? void() : void(expression))
#endif

/// Returns `value` from the function unless the condition holds. A function without a value returns
/// `void()`. After `value` come a format of printf and its arguments: a sentence that names the
/// function, class and id, and says what to do. A debug build stops with it, through the assert
/// handler. A release build logs it as an error, once for each use, and returns. The arguments
/// are evaluated only then.
#define REPLAYOUT_EXPECT(condition, value, ...)                                      \
    do {                                                                             \
        if (!(condition)) [[unlikely]] {                                             \
            static constinit ::replayout::detail::Expectation replayout_expectation{ \
                #condition, __FILE__, __LINE__, REPLAYOUT_ASSERTIONS != 0};          \
            ::replayout::detail::refuse_misuse(replayout_expectation, __VA_ARGS__);  \
            return value;                                                            \
        }                                                                            \
    } while (false)

#if REPLAYOUT_VALIDATION
#define REPLAYOUT_VALIDATE(expression) \
    ((expression) ? void() : ::replayout::detail::fail_assertion(#expression, __FILE__, __LINE__))
#else
#define REPLAYOUT_VALIDATE(expression) (true ? void() : void(expression))
#endif
