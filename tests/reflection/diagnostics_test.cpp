// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>

#include <unistd.h>
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/caught_failure.h"
#include "support/checks/refusals.h"

using namespace replayout;

namespace {

std::jmp_buf after_failure;
AssertionFailure seen_failure{};

// An assertion's handler must not return and we have no exceptions to rely on.
void jump_out(const AssertionFailure& failure) {
    seen_failure = failure;
    std::longjmp(after_failure, 1);
}

void ignore(LogLevel, std::string_view, void*) {}

/// What a call prints to stderr.
template <typename Call>
[[nodiscard]] std::string stderr_of(Call call) {
    std::fflush(stderr);
    const int kept = dup(STDERR_FILENO);
    std::FILE* const file = std::tmpfile();
    REQUIRE((kept >= 0 && file != nullptr));
    REQUIRE(dup2(fileno(file), STDERR_FILENO) >= 0);
    call();
    std::fflush(stderr);
    REQUIRE(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    std::rewind(file);
    std::string text;
    char some[4'096];
    for (std::size_t size = 0; (size = std::fread(some, 1, sizeof(some), file)) > 0;) {
        text.append(some, size);
    }
    std::fclose(file);
    return text;
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

TEST_CASE("Diagnostics: a log line reaches its handler with its context, and no other without",
          "[reflection][diagnostics]") {
    std::string kept;
    set_log_handler(keep_message, &kept);
    log(LogLevel::Warning, "late");
    CHECK(kept == "2 late");
    set_log_handler(ignore, nullptr);
    log(LogLevel::Error, "lost");
    CHECK(kept == "2 late");
    set_log_handler(nullptr, nullptr);
}

TEST_CASE("Diagnostics: without a handler warnings and errors go to stderr, a few in a second",
          "[reflection][diagnostics]") {
    set_log_handler(nullptr, nullptr);
    const std::string printed = stderr_of([] {
        log(LogLevel::Info, "a remark");
        log(LogLevel::Warning, "a warning");
        for (int i = 0; i < 10'000; ++i) {
            log(LogLevel::Error, "an error");
        }
    });
    CHECK(printed.find("a remark") == std::string::npos);
    CHECK(printed.find("replayout: warning: a warning\n") == 0);
    CHECK(printed.find("replayout: error: an error\n") != std::string::npos);
    // It may take the turn of a second.
    const auto line_count = std::count(printed.begin(), printed.end(), '\n');
    CHECK(line_count >= 40);
    CHECK(line_count <= 3 * 40 + 2);
}

namespace {

[[nodiscard]] int refused_in_debug(int number) {
    REPLAYOUT_EXPECT(number < 5, -1, "refused_in_debug: %d is not below %d", number, 5);
    return number;
}

void returns_nothing(int& calls) {
    REPLAYOUT_EXPECT(calls < 2, void(), "returns_nothing: called %d times before", calls);
    ++calls;
}

}  // namespace

TEST_CASE("Diagnostics: a broken promise stops a debug build with its sentence",
          "[reflection][diagnostics]") {
    if (REPLAYOUT_ASSERTIONS == 0) {
        return;
    }
    CHECK(test::failure_in([] { (void)refused_in_debug(7); }) ==
          "refused_in_debug: 7 is not below 5");
}

TEST_CASE(
    "Diagnostics: a broken promise is refused by a release build, and logged once for a place",
    "[reflection][diagnostics]") {
    const test::Refusals refusals;  // the assert handler returns
    CHECK(refused_in_debug(4) == 4);
    int calls = 0;
    for (int i = 0; i < 4; ++i) {
        CHECK(refused_in_debug(9) == -1);
        returns_nothing(calls);
    }
    CHECK(calls == 2);
    CHECK(refusals.line_count("refused_in_debug: 9 is not below 5") == 1);
    CHECK(refusals.line_count("returns_nothing: called 2 times before") == 1);
    if (test::Refusals::are_told) {
        CHECK(refusals.count("refused_in_debug: 9 is not below 5") == 4);
    }
}
