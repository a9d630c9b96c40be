// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/error.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace replayout {
namespace {

[[noreturn]] void print_failure(const AssertionFailure& failure) {
    if (failure.message != nullptr) {
        std::fprintf(stderr, "%s:%d: %s\n", failure.file, failure.line, failure.message);
    } else {
        std::fprintf(stderr, "%s:%d: assertion failed: %s\n", failure.file, failure.line,
                     failure.expression);
    }
    std::abort();
}

/// The default log: warnings and errors, and not so many that they hide each other.
class StderrLog {
  public:
    void print(LogLevel level, std::string_view message) {
        const std::lock_guard lock(mutex_);
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        const std::int64_t second = std::chrono::duration_cast<std::chrono::seconds>(now).count();
        if (std::exchange(second_, second) != second) {
            count_ = 0;
        }
        if (count_ == default_log_lines_per_second) {
            ++left_out_count_;
            return;
        }
        ++count_;
        const std::uint64_t left_out = std::exchange(left_out_count_, 0);
        if (left_out > 0) {
            std::fprintf(stderr, "replayout: %llu lines were left out\n",
                         static_cast<unsigned long long>(left_out));
        }
        std::fprintf(stderr, "replayout: %s: %.*s\n",
                     level == LogLevel::Error ? "error" : "warning",
                     static_cast<int>(message.size()), message.data());
    }

  private:
    std::mutex mutex_;
    std::int64_t second_ = -1;
    std::uint32_t count_ = 0;  // in that second
    std::uint64_t left_out_count_ = 0;
};

void print_line(LogLevel level, std::string_view message, void* /*context*/) {
    static StderrLog standard;
    if (level >= LogLevel::Warning) {
        standard.print(level, message);
    }
}

// The only state of the process. Plain variables and not atomics: they are set before the engine is
// used, and a log line must not pay for a set-up that happens once.
AssertHandler assert_handler = print_failure;
LogHandler log_handler = print_line;
void* log_context = nullptr;

}  // namespace

AssertHandler set_assert_handler(AssertHandler handler) noexcept {
    const AssertHandler previous = assert_handler;
    assert_handler = handler != nullptr ? handler : print_failure;
    return previous;
}

void set_log_handler(LogHandler handler, void* context) noexcept {
    log_handler = handler != nullptr ? handler : print_line;
    log_context = context;
}

void log(LogLevel level, std::string_view message) {
    log_handler(level, message, log_context);
}

namespace detail {

void fail_assertion(const char* expression, const char* file, int line) noexcept {
    assert_handler(AssertionFailure{expression, file, line});
    std::abort();
}

void refuse_misuse(Expectation& expectation, const char* format, ...) noexcept {
    char message[512];
    std::va_list arguments;
    va_start(arguments, format);
    (void)std::vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (expectation.is_stopping) {
        assert_handler(
            AssertionFailure{expectation.expression, expectation.file, expectation.line, message});
    }
    if (!expectation.is_logged.exchange(true, std::memory_order_relaxed)) {
        log(LogLevel::Error, message);
    }
}

void stop_without_value(const Error& error) noexcept {
    char message[512];
    (void)std::snprintf(message, sizeof(message), "a Result without a value was used: %s",
                        error.message.c_str());
    assert_handler(AssertionFailure{"has_value()", __FILE__, __LINE__, message});
    std::abort();
}

}  // namespace detail
}  // namespace replayout
