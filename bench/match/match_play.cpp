// SPDX-License-Identifier: MIT
#include "match/match_play.h"

#include "match/match_session.h"
#include "match/progress.h"

#include <string_view>
#include <utility>

namespace replayout::match {

namespace {

[[nodiscard]] MatchResult play_once(const MatchOptions& options,
                                    const std::vector<Recording>& recordings,
                                    const MatchSchema& schema, std::string_view what) {
    MatchSession session(options, recordings, schema);
    Progress progress(what, session.tick_count(), options.is_quiet);
    return session.run(progress);
}

}  // namespace

MatchResult play_match(const MatchOptions& options, const std::vector<Recording>& recordings,
                       const MatchSchema& schema) {
    if (!options.is_reporting || !is_sharing_played(options)) {
        return play_once(options, recordings, schema, "playing");
    }
    MatchOptions timing = options;
    timing.is_counting_types = false;
    MatchResult result = play_once(timing, recordings, schema, "playing");
    MatchOptions counting = options;
    counting.is_counting_types = true;
    MatchResult counted = play_once(counting, recordings, schema, "counting");
    result.savings = savings_of(options, result, counted);
    if (options.is_counting_types) {
        result.types = std::move(counted.types);
    }
    return result;
}

}  // namespace replayout::match
