// SPDX-License-Identifier: MIT
#include "support/catch.h"

#include <replayout/reflection/diagnostics.h>

#include <csetjmp>
#include <string>

using namespace replayout;

namespace {

std::jmp_buf after_failure;
AssertionFailure seen_failure{};

// An assertion's handler must not return and we have no exceptions to rely on.
void jump_out(const AssertionFailure& failure) {
    seen_failure = failure;
    std::longjmp(after_failure, 1);
}

void keep_message(LogLevel level, std::string_view message, void* context) {
    *static_cast<std::string*>(context) =
        std::to_string(static_cast<int>(level)) + ' ' + std::string(message);
}

}  // namespace

TEST_CASE("Diagnostics: a failed assertion reaches the handler that was set",
          "[reflection][diagnostics]") {
    const AssertHandler previous = set_assert_handler(jump_out);
    if (setjmp(after_failure) == 0) {
        detail::fail_assertion("1 == 2", "some.cpp", 7);
    }
    CHECK(set_assert_handler(previous) == jump_out);
    CHECK(std::string(seen_failure.expression) == "1 == 2");
    CHECK(std::string(seen_failure.file) == "some.cpp");
    CHECK(seen_failure.line == 7);
}

TEST_CASE("Diagnostics: null restores the default assert handler", "[reflection][diagnostics]") {
    const AssertHandler standard = set_assert_handler(jump_out);
    CHECK(set_assert_handler(nullptr) == jump_out);
    CHECK(set_assert_handler(standard) == standard);
}

TEST_CASE("Diagnostics: an assertion that holds does nothing, one that is off is not evaluated",
          "[reflection][diagnostics]") {
    int evaluated = 0;
    REPLAYOUT_ASSERT(++evaluated == 1);
    CHECK(evaluated == REPLAYOUT_ASSERTIONS);
    REPLAYOUT_VALIDATE(++evaluated > 0);
    CHECK(evaluated == REPLAYOUT_ASSERTIONS + REPLAYOUT_VALIDATION);
}

TEST_CASE("Diagnostics: a log line reaches its handler with its context, and no one without",
          "[reflection][diagnostics]") {
    std::string kept;
    set_log_handler(keep_message, &kept);
    log(LogLevel::Warning, "late");
    CHECK(kept == "2 late");
    set_log_handler(nullptr, nullptr);
    log(LogLevel::Error, "lost");
    CHECK(kept == "2 late");
}
