// SPDX-License-Identifier: MIT
//
// replayout_w1: the workload by which this library is compared with what is written by hand. See
// --help.
#include "support/report/command_line.h"
#include "support/report/json_file.h"
#include "w1/w1_options.h"
#include "w1/w1_run.h"

#include <cstdio>

namespace {

using namespace replayout::bench;

constexpr int exit_good = 0;
constexpr int exit_not_all_sent = 1;

[[nodiscard]] int run(const W1Options& options) {
    JsonFile json(options.json_path);
    if (!json.is_good()) {
        return exit_unusable;
    }
    const W1Result result = run_w1(options);
    if (!result.refusal.empty()) {
        std::fprintf(stderr, "%s\n", result.refusal.c_str());
        return exit_unusable;
    }
    if (!result.error.empty()) {
        std::fprintf(stderr, "%s\n", result.error.c_str());
        return exit_not_all_sent;
    }
    json.write(to_json(options, result));
    std::fputs(report(options, result).c_str(), json.screen());
    return json.is_good() ? exit_good : exit_unusable;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(argc, argv, parse_w1_options, run,
                       ": fewer objects or connections need less");
}
