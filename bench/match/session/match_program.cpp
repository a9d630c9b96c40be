// SPDX-License-Identifier: MIT
#include "match/session/match_program.h"

#include "match/battle/battle.h"
#include "match/battle/printable.h"
#include "match/recording/trace_reader.h"
#include "match/session/match_options.h"
#include "match/session/match_play.h"
#include "match/session/replay_play.h"
#include "support/report/command_line.h"
#include "support/report/json_file.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace replayout::match {

namespace {

using bench::exit_unusable;

constexpr int exit_equal = 0;
constexpr int exit_differs = 1;

[[nodiscard]] bool load(const MatchOptions& options, std::vector<Recording>& recordings) {
    if (options.traces.empty() && options.play_path.empty()) {
        BattleSettings settings;
        settings.seed = options.seed;
        if (options.ticks != 0) {
            settings.tick_count = static_cast<std::uint32_t>(options.ticks);
        }
        recordings.push_back(make_battle(settings));
        return true;
    }
    for (const std::string& path : options.traces) {
        ReadTraceResult result = read_trace(path);
        if (const auto* error = std::get_if<TraceError>(&result)) {
            std::fprintf(stderr, "%s\n", error->message.c_str());
            return false;
        }
        recordings.push_back(std::move(std::get<Recording>(result)));
    }
    return true;
}

/// Report and figures of a match, of either side of one, or of a recording; the exit status.
template <typename Played>
[[nodiscard]] int tell(const MatchOptions& options, const Played& played, bool is_good,
                       bench::JsonFile& json) {
    json.write(to_json(options, played));
    if (!options.is_quiet || !is_good) {
        std::fputs(report(options, played).c_str(), json.screen());
    }
    if (!is_good) {
        return exit_differs;
    }
    return json.is_good() ? exit_equal : exit_unusable;
}

template <typename Played>
[[nodiscard]] int tell(const MatchOptions& options, const Result<Played>& played,
                       bench::JsonFile& json) {
    if (!played) {
        std::fprintf(stderr, "%s\n", printable(played.error().message).c_str());
        return exit_unusable;
    }
    return tell(options, *played, played->is_good(options), json);
}

[[nodiscard]] int run(const MatchOptions& options) {
    std::vector<Recording> recordings;
    if (!load(options, recordings)) {
        return exit_unusable;
    }
    if (!options.play_path.empty()) {
        bench::JsonFile json(options.json_path);
        if (!json.is_good()) {
            return exit_unusable;
        }
        const ReplayResult result = play_replay(options, recordings);
        return tell(options, result, result.is_good(), json);
    }
    const auto schema =
        MatchSchema::create(recordings, {options.is_push_based, options.is_quantised});
    if (!schema) {
        std::fprintf(stderr, "%s\n", printable(schema.error().message).c_str());
        return exit_unusable;
    }
    bench::JsonFile json(options.json_path);
    if (!json.is_good()) {
        return exit_unusable;
    }
    if (!options.connect.empty()) {
        return tell(options, join_match(options, recordings, **schema), json);
    }
    const Result<MatchResult> played = options.serve.empty()
                                           ? play_match(options, recordings, **schema)
                                           : serve_match(options, recordings, **schema);
    const int status = tell(options, played, json);
    if (!played || played->is_recorded()) {
        return status;
    }
    std::fprintf(stderr, "%s: %s\n", printable(options.record_path).c_str(),
                 played->recorded->error.c_str());
    return status == exit_equal ? exit_unusable : status;
}

}  // namespace

int run_program(int argc, char** argv) {
    MatchOptions options;
    const int status = parse_options(argc, argv, options);
    if (status >= 0) {
        return status;
    }
    try {
        return run(options);
    } catch (const std::bad_alloc&) {
        std::fputs("out of memory: fewer clients or shorter recordings need less\n", stderr);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", printable(error.what()).c_str());
    }
    return exit_unusable;
}

}  // namespace replayout::match
