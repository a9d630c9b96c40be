// SPDX-License-Identifier: MIT
#include "simulation/staleness_judge.h"

#include <algorithm>
#include <string>

namespace replayout::test {

void StalenessJudge::look(SimClient& client, std::uint32_t tick) {
    NetDriver& server = server_.driver();
    if (!client.is_playing() || client.driver()->state() != ConnectionState::Joined ||
        server.connection_state(client.address()) != ConnectionState::Joined) {
        return;
    }
    const std::uint32_t joined_at = joined_at_.try_emplace(client.connection(), tick).first->second;
    BusyLoad load = this->load(tick - joined_at);
    for (const auto& [handle, state] : server_.crafts()) {
        // Whether a client has a part may change with its owner, so there is no telling since when.
        if (!state.outer.is_null() || !server.is_relevant_for(client.address(), state.id)) {
            continue;
        }
        load.priority_share =
            swarm_.has_priorities ? busy_priority(state.number) / busy_priority_max : 1;
        // What counts from then on: a client that joined later is not owed what was before.
        const std::uint32_t owed_since = std::max(joined_at, state.spawned_at);
        const ObjectHandle shown = client.driver()->guids().find_object(server.guid_of(state.id));
        if (shown.is_null()) {
            judge(client, state, "is not open", tick - owed_since, busy_bounds::opened_ticks(load),
                  opened_percent_max_);
            continue;
        }
        const std::uint32_t written_at = server_.tick_of(client.course_of(shown));
        judge(client, state, "shows a course", tick - std::max(written_at, owed_since),
              busy_bounds::shown_ticks(load), shown_percent_max_);
    }
}

BusyLoad StalenessJudge::load(std::uint64_t joined_ticks) const {
    BusyLoad load;
    load.bytes_per_second = swarm_.cap_bytes_per_second;
    load.tick_us = swarm_.tick_us;
    const LinkFaults& to_client = swarm_.to_client;
    const LinkFaults& to_server = swarm_.to_server;
    load.round_trip_us = std::int64_t{1'000} * (to_client.latency_ms + to_client.jitter_ms +
                                                to_server.latency_ms + to_server.jitter_ms) +
                         4 * swarm_.tick_us;
    load.lost_per_mille = std::max(to_client.loss, to_server.loss);
    // A client is owed all texts when it joins; later only what the game wrote anew, which it does
    // within a share of the cap.
    load.pending_bytes = server_.world_bytes() + server_.cargo_bytes();
    if (joined_ticks > busy_bounds::opened_ticks(load)) {
        load.pending_bytes =
            server_.world_bytes() + std::min<std::uint64_t>(server_.cargo_bytes(), cargo_bytes_max);
    }
    return load;
}

void StalenessJudge::judge(const SimClient& client, const CraftState& state, const char* what,
                           std::uint64_t age, std::uint64_t bound, std::uint64_t& percent_max) {
    percent_max = std::max(percent_max, age * 100 / std::max<std::uint64_t>(bound, 1));
    verdict_.require(Invariant::Staleness, age <= bound, [&] {
        return "client " + std::to_string(client.connection()) + ", craft " +
               std::to_string(state.number) + ": " + what + " after " + std::to_string(age) +
               " ticks, and " + std::to_string(bound) + " are allowed";
    });
}

}  // namespace replayout::test
