// SPDX-License-Identifier: MIT
//
// replayout_match: the main job. See --help.
#include "match/battle.h"
#include "match/match_options.h"
#include "match/match_session.h"
#include "match/progress.h"
#include "match/trace_reader.h"

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace replayout;
using namespace replayout::match;

constexpr int exit_equal = 0;
constexpr int exit_differs = 1;
constexpr int exit_unusable = 2;

[[nodiscard]] bool load(const MatchOptions& options, std::vector<Recording>& recordings) {
    if (options.traces.empty()) {
        BattleSettings settings;
        settings.seed = options.seed;
        if (options.ticks != 0) {
            settings.tick_count =
                static_cast<std::uint32_t>(options.ticks < 1'000'000 ? options.ticks : 1'000'000);
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

[[nodiscard]] bool write_json(const std::string& path, const std::string& json) {
    if (path.empty()) {
        return true;
    }
    std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
    if (file == nullptr) {
        std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
        return false;
    }
    const bool is_written = std::fwrite(json.data(), 1, json.size(), file) == json.size();
    const bool is_closed = file == stdout ? std::fflush(file) == 0 : std::fclose(file) == 0;
    if (!is_written || !is_closed) {
        std::fprintf(stderr, "%s: could not be written whole\n", path.c_str());
    }
    return is_written && is_closed;
}

[[nodiscard]] int run(const MatchOptions& options) {
    std::vector<Recording> recordings;
    if (!load(options, recordings)) {
        return exit_unusable;
    }
    const auto schema = MatchSchema::create(recordings);
    if (!schema) {
        std::fprintf(stderr, "%s\n", schema.error().message.c_str());
        return exit_unusable;
    }
    MatchSession session(options, recordings, **schema);
    Progress progress("playing", session.tick_count(), options.is_quiet);
    const MatchResult result = session.run(progress);
    const bool is_good = result.is_good(options);
    if (!write_json(options.json_path, to_json(options, result))) {
        return exit_unusable;
    }
    if (!options.is_quiet || !is_good) {
        std::FILE* screen = options.json_path == "-" ? stderr : stdout;
        std::fputs(report(options, result).c_str(), screen);
    }
    return is_good ? exit_equal : exit_differs;
}

}  // namespace

int main(int argc, char** argv) {
    MatchOptions options;
    const int status = parse_options(argc, argv, options);
    return status >= 0 ? status : run(options);
}
