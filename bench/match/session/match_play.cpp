// SPDX-License-Identifier: MIT
#include "match/session/match_play.h"

#include "match/guests/match_guests.h"
#include "match/guests/match_sockets.h"
#include "match/report/call_costs.h"
#include "match/session/match_host.h"
#include "match/session/match_network.h"
#include "match/session/match_session.h"
#include "match/session/progress.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace replayout::match {

namespace {

[[nodiscard]] Result<MatchResult> play_once(const MatchOptions& options,
                                            const std::vector<Recording>& recordings,
                                            const MatchSchema& schema, std::string_view what) {
    const auto network = make_network(options);
    if (!network) {
        return network.error();
    }
    MatchSession session(options, recordings, schema, **network);
    Progress progress(what, session.tick_count(), options.is_quiet);
    return session.run(progress);
}

/// What one call of each property takes that was sent at all, into both servers' costs.
void measure_calls(const std::vector<Recording>& recordings, const MatchSchema& schema,
                   MatchResult& counted) {
    const CallCosts costs(recordings, schema);
    for (std::size_t i = 0; i < schema.classes().size(); ++i) {
        std::vector<RepHandle> handles;
        for (std::size_t p = 0; p < counted.types[i].properties.size(); ++p) {
            if (counted.types[i].properties[p].counters.values_encoded() > 0 ||
                counted.twin_types[i].properties[p].counters.values_encoded() > 0) {
                handles.push_back(RepHandle{static_cast<std::uint16_t>(p + 1)});
            }
        }
        const std::vector<double> ns = costs.measure(i, handles);
        for (std::size_t p = 0; p < handles.size(); ++p) {
            for (std::vector<TypeCost>* types : {&counted.types, &counted.twin_types}) {
                (*types)[i].properties[handles[p].value - 1u].ns_per_call = ns[p];
            }
        }
    }
}

}  // namespace

Result<MatchResult> play_match(const MatchOptions& options,
                               const std::vector<Recording>& recordings,
                               const MatchSchema& schema) {
    if (!options.is_reporting || !is_sharing_played(options)) {
        return play_once(options, recordings, schema, "playing");
    }
    MatchOptions timing = options;
    timing.is_counting_types = false;
    Result<MatchResult> result = play_once(timing, recordings, schema, "playing");
    if (!result) {
        return result;
    }
    MatchOptions counting = options;
    counting.is_counting_types = true;
    Result<MatchResult> counted = play_once(counting, recordings, schema, "counting");
    if (!counted) {
        return counted;
    }
    if (options.has_twin) {
        measure_calls(recordings, schema, *counted);
    }
    result->savings = savings_of(options, *result, *counted);
    if (options.is_counting_types) {
        result->types = std::move(counted->types);
    }
    return result;
}

Result<MatchResult> serve_match(const MatchOptions& options,
                                const std::vector<Recording>& recordings,
                                const MatchSchema& schema) {
    auto transport = listen_at(options.transport, options.serve);
    if (!transport) {
        return transport.error();
    }
    if (!options.is_quiet) {
        // Who asked for port 0 must learn which it is.
        std::fprintf(stderr, "serving at %s\n", (*transport)->local_address().c_str());
    }
    MatchHost host(options, recordings, schema, **transport);
    Progress progress("serving", host.tick_count(), options.is_quiet);
    return host.run(progress);
}

Result<GuestsResult> join_match(const MatchOptions& options,
                                const std::vector<Recording>& recordings,
                                const MatchSchema& schema) {
    MatchGuests guests(options, recordings, schema);
    if (const Status opened = guests.open(); !opened) {
        return opened.error();
    }
    return guests.run();
}

}  // namespace replayout::match
