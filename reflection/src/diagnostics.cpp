// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>

#include <cstdio>
#include <cstdlib>

namespace replayout {
namespace {

void print_failure(const AssertionFailure& failure) {
    std::fprintf(stderr, "%s:%d: assertion failed: %s\n", failure.file, failure.line,
                 failure.expression);
}

// The only state of the process. Plain variables and not atomics: they are set before the engine is
// used, and a log line must not pay for a set-up that happens once.
AssertHandler assert_handler = print_failure;
LogHandler log_handler = nullptr;
void* log_context = nullptr;

}  // namespace

AssertHandler set_assert_handler(AssertHandler handler) noexcept {
    const AssertHandler previous = assert_handler;
    assert_handler = handler != nullptr ? handler : print_failure;
    return previous;
}

void set_log_handler(LogHandler handler, void* context) noexcept {
    log_handler = handler;
    log_context = context;
}

void log(LogLevel level, std::string_view message) {
    if (log_handler != nullptr) {
        log_handler(level, message, log_context);
    }
}

namespace detail {

void fail_assertion(const char* expression, const char* file, int line) noexcept {
    assert_handler(AssertionFailure{expression, file, line});
    std::abort();
}

}  // namespace detail
}  // namespace replayout
