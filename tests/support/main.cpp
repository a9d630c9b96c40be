// SPDX-License-Identifier: MIT
//
// The main of every test executable. It says which seed the random numbers of the run come from: a
// fixed one, so that two runs are the same run, unless --rng-seed asks for another.
#define CATCH_CONFIG_RUNNER
#include "support/checks/catch.h"

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#endif

#include <cstdio>
#include <string_view>

#include "support/checks/tests_dir.h"

namespace {

// Whoever asks for a list wants the list alone: the build discovers the tests that way.
bool asks_for_a_list(int argument_count, const char* const* arguments) {
    for (int index = 1; index < argument_count; ++index) {
        if (std::string_view(arguments[index]).starts_with("--list")) {
            return true;
        }
    }
    return false;
}

}  // namespace

const char* replayout::test::tests_dir() {
    return REPLAYOUT_TESTS_DIR;
}

int main(int argument_count, char** arguments) {
    Catch::Session session;
    session.configData().rngSeed = 1;
    const int refusal = session.applyCommandLine(argument_count, arguments);
    if (refusal != 0) {
        return refusal;
    }
    if (!asks_for_a_list(argument_count, arguments)) {
        std::fprintf(stderr, "rng seed: %u\n", static_cast<unsigned>(session.configData().rngSeed));
    }
    return session.run();
}
