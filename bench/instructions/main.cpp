// SPDX-License-Identifier: MIT
//
// replayout_instructions: one run whose instructions Callgrind counts. ./run instructions calls it.
// See --help.
#include "instructions/counted_runs.h"
#include "support/command_line.h"
#include "support/json_file.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

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

/// What the instructions depend on besides the source.
[[nodiscard]] std::string build_name() {
#if defined(__clang__)
    std::string name = "clang " + std::to_string(__clang_major__) + "." +
                       std::to_string(__clang_minor__) + "." + std::to_string(__clang_patchlevel__);
#else
    std::string name = "gcc " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) +
                       "." + std::to_string(__GNUC_PATCHLEVEL__);
#endif
#if defined(__GLIBC__)
    name += std::string(", glibc ") + gnu_get_libc_version();
#else
    name += ", another libc";
#endif
#if defined(__x86_64__)
    name += ", x86_64";
#elif defined(__aarch64__)
    name += ", aarch64";
#else
    name += ", another processor";
#endif
    return name;
}

[[nodiscard]] std::string to_json(const CountedRunSettings& settings,
                                  const CountedRunResult& result) {
    nlohmann::ordered_json json;
    json["build"] = build_name();
    json["clients"] = settings.clients;
    for (const CountedPhase& phase : result.phases) {
        json["phases"].push_back({{"name", phase.name},
                                  {"ticks", phase.ticks},
                                  {"objects_compared", phase.objects_compared},
                                  {"channels_opened", phase.channels_opened},
                                  {"records_sent", phase.records_sent},
                                  {"records_lost", phase.records_lost},
                                  {"bytes_sent", phase.bytes_sent}});
    }
    return json.dump(2) + "\n";
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
