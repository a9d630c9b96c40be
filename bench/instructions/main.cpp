// SPDX-License-Identifier: MIT
//
// replayout_instructions: one run whose instructions Callgrind counts. ./run instructions calls it.
// See --help.
#include "instructions/counted_figures.h"
#include "instructions/counted_runs.h"
#include "support/report/command_line.h"
#include "support/report/json_file.h"

#include <cstdio>
#include <string>

namespace {

using namespace replayout::bench;

constexpr int exit_good = 0;
constexpr int exit_wrong = 1;

struct Options {
    std::string run;
    std::string traces;
    std::string json_path;
    bool is_list = false;
};

[[nodiscard]] int parse(int argc, char** argv, Options& options) {
    CLI::App app{
        "Plays a run whose server's instructions are counted, and writes what the server "
        "counted in each phase. By itself it counts no instructions: ./run instructions "
        "plays it under Callgrind.",
        "replayout_instructions"};
    app.add_option("--run", options.run, "which one");
    app.add_option("--traces", options.traces, "the folder with the recordings");
    app.add_option("--json", options.json_path, "write the figures to this file; - is stdout");
    app.add_flag("--list", options.is_list, "list the runs");
    return parse_command_line(app, argc, argv);
}

[[nodiscard]] int run(const Options& options) {
    if (options.is_list) {
        for (const std::string_view name : counted_run_names()) {
            std::printf("%s\n", std::string(name).c_str());
        }
        return exit_good;
    }
    JsonFile json(options.json_path);
    if (!json.is_good()) {
        return exit_unusable;
    }
    const CountedRunPlan plan = plan_counted_run(options.run, options.traces);
    if (!plan.error.empty()) {
        std::fprintf(stderr, "%s\n", plan.error.c_str());
        return exit_unusable;
    }
    const CountedRunResult result = play_counted_run(plan.settings, *plan.game);
    if (!result.error.empty()) {
        std::fprintf(stderr, "%s: %s\n", options.run.c_str(), result.error.c_str());
        return exit_wrong;
    }
    json.write(to_json(plan.settings, result));
    return json.is_good() ? exit_good : exit_unusable;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(argc, argv, parse, run, "");
}
