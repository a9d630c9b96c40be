// SPDX-License-Identifier: MIT
//
// replayout_match: the main job. See --help.
#include "match/battle.h"
#include "match/match_options.h"
#include "match/match_session.h"
#include "match/printable.h"
#include "match/progress.h"
#include "match/trace_reader.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>
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

/// The file for the figures, opened before the match is played: who cannot have it should learn
/// that at once.
class JsonFile {
  public:
    /// No path: no file. "-": stdout.
    explicit JsonFile(std::string path) : path_(std::move(path)) {
        if (!path_.empty()) {
            file_ = path_ == "-" ? stdout : std::fopen(path_.c_str(), "w");
            complain(file_ != nullptr, "cannot be written");
        }
    }
    ~JsonFile() {
        if (file_ != nullptr && file_ != stdout) {
            std::fclose(file_);
        }
    }
    JsonFile(const JsonFile&) = delete;
    JsonFile& operator=(const JsonFile&) = delete;

    [[nodiscard]] bool is_good() const noexcept { return is_good_; }

    void write(const std::string& json) {
        if (file_ == nullptr) {
            return;
        }
        const bool is_written = std::fwrite(json.data(), 1, json.size(), file_) == json.size();
        complain(is_written && std::fflush(file_) == 0, "could not be written whole");
    }

  private:
    void complain(bool is_good, const char* what) {
        if (!is_good) {
            std::fprintf(stderr, "%s: %s (%s)\n", path_ == "-" ? "stdout" : path_.c_str(), what,
                         std::strerror(errno));
            is_good_ = false;
        }
    }

    std::string path_;
    std::FILE* file_ = nullptr;
    bool is_good_ = true;
};

[[nodiscard]] int run(const MatchOptions& options) {
    std::vector<Recording> recordings;
    if (!load(options, recordings)) {
        return exit_unusable;
    }
    const auto schema =
        MatchSchema::create(recordings, {options.is_push_based, options.is_quantised});
    if (!schema) {
        std::fprintf(stderr, "%s\n", printable(schema.error().message).c_str());
        return exit_unusable;
    }
    JsonFile json(options.json_path);
    if (!json.is_good()) {
        return exit_unusable;
    }
    MatchSession session(options, recordings, **schema);
    Progress progress("playing", session.tick_count(), options.is_quiet);
    const MatchResult result = session.run(progress);
    const bool is_good = result.is_good(options);
    json.write(to_json(options, result));
    if (!options.is_quiet || !is_good) {
        std::FILE* screen = options.json_path == "-" ? stderr : stdout;
        std::fputs(report(options, result).c_str(), screen);
    }
    if (!is_good) {
        return exit_differs;
    }
    return json.is_good() ? exit_equal : exit_unusable;
}

}  // namespace

int main(int argc, char** argv) {
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
