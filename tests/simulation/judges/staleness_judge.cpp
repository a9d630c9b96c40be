// SPDX-License-Identifier: MIT
#include "simulation/judges/staleness_judge.h"

#include "simulation/fleet/sim_config.h"

#include <algorithm>

namespace replayout::test {

namespace {

/// Bytes of an open without its first block, and of a call without its text.
constexpr double open_bytes = 26;
constexpr double call_bytes = 80;
/// Bytes that a large value takes in packets: parts with a head each.
[[nodiscard]] double value_bytes(std::size_t size) {
    return 1.1 * static_cast<double>(size) + 200;
}

}  // namespace

const char* to_string(WaitKind kind) noexcept {
    constexpr const char* names[] = {"a new craft",   "a shown craft that changed",
                                     "what was lost", "a large value",
                                     "a call",        "a join"};
    return names[static_cast<std::size_t>(kind)];
}

// Counts

std::uint64_t StalenessJudge::taken_by(const SimClient& client) const {
    const NetStats& stats = const_cast<SimClient&>(client).driver()->stats();
    return stats.packets_received - stats.packets_dropped;
}

StalenessJudge::Wait StalenessJudge::begin(const SimClient& client, double bound) const {
    const auto sent = sent_.find(client.address());
    return {tick_, sent == sent_.end() ? 0 : sent->second, taken_by(client), bound};
}

double StalenessJudge::length(const SimClient& client, const Wait& wait) const {
    const Wait now = begin(client, 0);
    const double ticks = tick_ - wait.since;
    const std::uint64_t sent = now.sent - wait.sent;
    return sent == 0 ? ticks
                     : ticks * std::min(1.0, static_cast<double>(now.taken - wait.taken) /
                                                 static_cast<double>(sent));
}

double StalenessJudge::lost_share(const SimClient& client) const {
    const std::uint32_t lost = std::max(swarm_.to_client.loss, swarm_.to_server.loss);
    const Wait all = begin(client, 0);
    const double seen =
        all.sent < 50 ? 0 : 1 - static_cast<double>(all.taken) / static_cast<double>(all.sent);
    return std::clamp(std::max(lost / 1'000.0, seen), 0.0, 0.95);
}

double StalenessJudge::round_trip() const {
    const double ms = swarm_.to_client.latency_ms + swarm_.to_client.jitter_ms +
                      swarm_.to_server.latency_ms + swarm_.to_server.jitter_ms;
    return 1'000.0 * ms / static_cast<double>(swarm_.tick_us) + 4;
}

WaitBounds StalenessJudge::bounds(bool is_joined) const {
    const std::uint32_t other_kinds =
        1 + (swarm_.has(Feature::LargeTexts) ? 1u : 0u) + (is_joined ? 0u : 1u);
    return WaitBounds::of_cap(swarm_.cap_bytes_per_second,
                              1e6 / static_cast<double>(swarm_.tick_us), other_kinds,
                              net_config(swarm_).packet_bytes_max);
}

StalenessJudge::Load StalenessJudge::load(SimClient& client, const Session& session) const {
    Load load;
    const double packet_bytes = net_config(swarm_).packet_bytes_max;
    for (const auto& [handle, state] : server_.crafts()) {
        const auto found = session.pairs.find(state.number);
        const bool is_open =
            !client.driver()->guids().find_object(server_.driver().guid_of(state.id)).is_null();
        const auto cargo = static_cast<double>(server_.cargo_bytes(handle));
        const double block =
            static_cast<double>(server_.block_bytes(handle)) + std::min(cargo, packet_bytes);
        load.changing += block;
        load.fresh += is_open ? 0 : open_bytes + block;
        const bool has_value = found == session.pairs.end() || found->second.value.has_value() ||
                               found->second.is_ahead;
        const std::size_t largest = found == session.pairs.end() ? 0 : found->second.cargo_bytes;
        load.values +=
            has_value ? value_bytes(std::max(server_.cargo_bytes(handle), largest)) + block : 0;
        // Each means its craft and the one that it names.
        load.calls += found == session.pairs.end()
                          ? 0
                          : static_cast<double>(found->second.calls.size()) *
                                (call_bytes + 2 * (open_bytes + block));
    }
    return load;
}

// Looks

void StalenessJudge::look(SimClient& client, std::uint32_t tick) {
    tick_ = tick;
    NetDriver& server = server_.driver();
    if (!client.is_playing() || client.driver()->state() != ConnectionState::Joined ||
        server.connection_state(client.address()) != ConnectionState::Joined) {
        return;
    }
    const auto [place, is_first] = sessions_.try_emplace(client.connection());
    Session& session = place->second;
    const Load load = this->load(client, session);
    if (is_first) {
        const WaitBounds bounds = this->bounds(false);
        session.begun = tick;
        session.join =
            begin(client, bounds.of_quarter(load.fresh) + bounds.of_quarter(load.values) +
                              3 * bounds.of_arrival(lost_share(client), round_trip()));
    }
    if (!session.is_joined) {
        check(client, WaitKind::Join, 0, session.join);
        session.is_joined = client.driver()->initial_batch().is_finished;
    }
    for (const auto& [handle, state] : server_.crafts()) {
        look_at_craft(client, session, state, load);
    }
}

void StalenessJudge::look_at_craft(SimClient& client, Session& session, const CraftState& state,
                                   const Load& load) {
    NetDriver& server = server_.driver();
    // Whether a client has a part may change with its owner, so there is no telling since when.
    if (!state.outer.is_null() || !server.is_relevant_for(client.address(), state.id)) {
        return;
    }
    Pair& pair = session.pairs[state.number];
    const WaitBounds bounds = this->bounds(session.is_joined);
    const double arrival = bounds.of_arrival(lost_share(client), round_trip());
    if (!std::exchange(pair.is_seen, true) && state.spawned_at > session.begun) {
        // Its channel may be that of another one, of which the close has to arrive.
        pair.opening = begin(client, bounds.of_new(load.fresh) + 2 * arrival);
    }
    const bool is_shown = !client.driver()->guids().find_object(server.guid_of(state.id)).is_null();
    if (!is_shown) {
        if (pair.opening) {
            check(client, WaitKind::New, state.number, *pair.opening);
        }
        return;
    }
    pair.opening.reset();
    look_at_shown(client, session, pair, state, load);
    look_at_value(client, session, pair, state, load);
    look_at_calls(client, session, pair, state, load);
}

void StalenessJudge::look_at_shown(SimClient& client, Session& session, Pair& pair,
                                   const CraftState& state, const Load& load) {
    NetDriver& server = server_.driver();
    const auto shadow = server.connection_shadow(client.address(), state.id);
    if (!shadow.has_value()) {
        pair.is_open = false;
        pair.change.reset();
        return;
    }
    const OwedVersions position = shadow->position();
    const bool has_lost = !position.lost.is_empty();
    const OwedUpdate owed = server.rates().owed_to(client.address(), state.id);
    pair.step = std::max(pair.step, 1u << owed.step_down);
    pair.is_ahead = owed.reason == OwedReason::WaitsForObject;
    pair.was_ahead = pair.was_ahead || pair.is_ahead;
    const bool was_open = std::exchange(pair.is_open, true);
    const bool is_sent =
        was_open && (position.sent_version > pair.sent_version || (pair.had_lost && !has_lost));
    if (was_open && pair.change) {
        const WaitBounds bounds = this->bounds(session.is_joined);
        pair.change->bound = bounds.of_shown(load.changing, pair.step);
        if (pair.was_ahead) {
            // A call waits for it, so it goes as large values do.
            pair.change->bound += bounds.of_quarter(load.values) +
                                  3 * bounds.of_arrival(lost_share(client), round_trip());
        }
        check(client, pair.is_lost ? WaitKind::Lost : WaitKind::Shown, state.number, *pair.change);
    }
    const bool is_lost_now = has_lost && !pair.had_lost;
    if (!was_open || is_sent || is_lost_now || !pair.change) {
        // It changes in each tick, so it waits again.
        pair.change = begin(client, 0);
        pair.step = 1;
        pair.was_ahead = pair.is_ahead;
        pair.is_lost = is_lost_now;
    }
    pair.sent_version = position.sent_version;
    pair.had_lost = has_lost;
}

void StalenessJudge::look_at_value(SimClient& client, Session& session, Pair& pair,
                                   const CraftState& state, const Load& load) {
    const ObjectHandle handle = server_.handle_of(state.number);
    const std::size_t bytes = server_.cargo_bytes(handle);
    const std::uint32_t version = server_.cargo_version(handle);
    const std::uint32_t shown = client.cargo_version(
        client.driver()->guids().find_object(server_.driver().guid_of(state.id)));
    if (shown >= pair.cargo) {
        pair.value.reset();
        pair.cargo_bytes = bytes;
    }
    if (!pair.value && version > shown) {
        const WaitBounds bounds = this->bounds(session.is_joined);
        pair.cargo = version;
        pair.cargo_bytes = std::max(bytes, pair.cargo_bytes);
        // What it was takes the room of its turn, if that had begun.
        const double pending = load.values + 2 * value_bytes(pair.cargo_bytes);
        pair.value =
            begin(client, bounds.of_shown(load.changing, pair.step) + bounds.of_quarter(pending) +
                              3 * bounds.of_arrival(lost_share(client), round_trip()));
    }
    if (pair.value) {
        pair.cargo_bytes = std::max(bytes, pair.cargo_bytes);
        check(client, WaitKind::Value, state.number, *pair.value);
    }
}

void StalenessJudge::look_at_calls(SimClient& client, Session& session, Pair& pair,
                                   const CraftState& state, const Load& load) {
    const std::vector<std::uint32_t>& signals = server_.calls().signals(state.number);
    const std::size_t ran = client.signals_ran(
        client.driver()->guids().find_object(server_.driver().guid_of(state.id)));
    const WaitBounds bounds = this->bounds(session.is_joined);
    for (std::size_t i = std::max(ran, pair.signals_seen); i < signals.size(); ++i) {
        double bound =
            bounds.of_quarter(load.calls + call_bytes +
                              load.changing * 2 / static_cast<double>(server_.crafts().size())) +
            2 * bounds.of_arrival(lost_share(client), round_trip());
        // It waits for what it names: a value on its way, as look_at_value() says, and what the
        // client is not shown yet.
        bound += load.values > 0
                     ? bounds.of_shown(load.changing, pair.step) + bounds.of_quarter(load.values) +
                           3 * bounds.of_arrival(lost_share(client), round_trip())
                     : 0;
        bound += load.fresh > 0 ? bounds.of_new(load.fresh) : 0;
        pair.calls.emplace(signals[i], begin(client, bound));
    }
    pair.signals_seen = signals.size();
    const std::uint32_t next = ran < signals.size() ? signals[ran] : ~0u;
    pair.calls.erase(pair.calls.begin(), pair.calls.lower_bound(next));
    if (!pair.calls.empty()) {
        check(client, WaitKind::Call, state.number, pair.calls.begin()->second);
    }
}

std::string StalenessJudge::owed_text(const SimClient& client, std::uint32_t craft) const {
    const CraftState* state = server_.find_number(craft);
    if (state == nullptr) {
        return "";
    }
    const OwedUpdate owed = server_.driver().rates().owed_to(client.address(), state->id);
    return ", owed for reason " + std::to_string(static_cast<int>(owed.reason)) + ", step " +
           std::to_string(owed.step_down);
}

void StalenessJudge::check(const SimClient& client, WaitKind kind, std::uint32_t craft,
                           const Wait& wait) {
    const double waited = length(client, wait);
    std::uint64_t& percent = percents_[static_cast<std::size_t>(kind)];
    percent = std::max(percent, static_cast<std::uint64_t>(100 * waited / wait.bound));
    verdict_.require(Invariant::Staleness, waited <= wait.bound, [&] {
        return "client " + std::to_string(client.connection()) + ", craft " +
               std::to_string(craft) + ": " + to_string(kind) + " waits for " +
               std::to_string(static_cast<std::uint64_t>(waited)) + " flushes (" +
               std::to_string(tick_ - wait.since) + " ticks), and " +
               std::to_string(static_cast<std::uint64_t>(wait.bound)) + " are allowed" +
               owed_text(client, craft);
    });
}

}  // namespace replayout::test
