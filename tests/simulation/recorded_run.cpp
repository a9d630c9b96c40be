// SPDX-License-Identifier: MIT
#include "simulation/recorded_run.h"

#include <iterator>
#include <string>

namespace replayout::test {

namespace {

[[nodiscard]] ReplayRecorderSettings recorder_settings() {
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 2'000;
    return settings;
}

/// Without what only some are told, and references, whose targets may be hidden parts.
[[nodiscard]] std::uint64_t recorded_hash(const Craft& craft) {
    TraceDigest digest;
    visit_slots(
        craft, [](ObjectHandle) { return 0u; },
        [&](Slot slot, std::uint64_t value) {
            if (slot != orders_slot && slot != built_slot && slot != mood_slot &&
                property_of(slot) != hold_slot) {
                digest.add(slot ^ value);
            }
        });
    // A fast array has no order.
    std::uint64_t items = 0;
    for (const Crate& crate : craft.hold.items) {
        items += static_cast<std::uint64_t>(crate.replication_id) << 32 ^ crate.count;
    }
    digest.add(items);
    return digest.value();
}

}  // namespace

RecordedRun::RecordedRun(SimServer& server, const SwarmConfig& swarm, Verdict& verdict)
    : server_(server), swarm_(swarm), verdict_(verdict), recorder_(sink_, recorder_settings()) {
    if (!server.driver().start_recording(recorder_)) {
        verdict_.fail(Invariant::Recording, "the recording does not start");
    }
}

void RecordedRun::note(NetTime now) {
    State& state = states_[now];
    for (const auto& [handle, craft] : server_.crafts()) {
        state[craft.number] = recorded_hash(server_.world().at(handle));
    }
}

void RecordedRun::plant_change() {
    for (auto& [time, state] : states_) {
        for (auto& [number, hash] : state) {
            ++hash;
        }
    }
}

std::uint64_t RecordedRun::play(Choices row) {
    server_.driver().stop_recording();
    CraftWorld world(5'000'000);
    NetDriverSettings settings;
    settings.config = net_config(swarm_);
    // A recording begins with 1, whatever its player is told.
    settings.config.first_sequence = static_cast<std::uint32_t>(1 + swarm_.seed % 65'535);
    ReplayPlayer player(settings, sink_, world);
    if (!add_craft_layouts(player.driver(), CraftVersion::Pushed) ||
        player.open() != ReplayError::None) {
        verdict_.fail(Invariant::Recording, "the recording cannot be opened");
        return 0;
    }
    constexpr std::uint64_t seeks = 8;
    for (std::uint64_t i = 0; i < seeks; ++i) {
        const auto place =
            std::next(states_.begin(), row.below(static_cast<std::uint32_t>(states_.size())));
        const ReplayError error =
            row.percent(70) ? player.seek(place->first) : player.advance(place->first);
        verdict_.require(Invariant::Recording, error == ReplayError::None, [&] {
            return "the recording cannot be played: error " +
                   std::to_string(static_cast<int>(error));
        });
        check(player, world, player.time());
    }
    return seeks;
}

void RecordedRun::check(const ReplayPlayer& player, const CraftWorld& world, NetTime time) {
    auto later = states_.upper_bound(time);
    const auto now = later == states_.begin() ? later : std::prev(later);
    const State& state = now->second;
    // The close of an object goes out after its reliable calls, so a frame or two later.
    constexpr int frames_of_calls = 2;
    const auto has_just_left = [&](std::uint32_t number) {
        auto before = now;
        for (int i = 0; i < frames_of_calls && before != states_.begin(); ++i) {
            --before;
            if (before->second.contains(number)) {
                return true;
            }
        }
        return false;
    };
    for (const auto& [handle, craft] : world.crafts()) {
        const std::uint32_t number = server_.number_of(player.driver().guids().find_guid(handle));
        const auto expected = state.find(number);
        const auto describe = [&](const char* what) {
            return "craft " + std::to_string(number) + " of the recording " + what + " at " +
                   std::to_string(time.microseconds / 1'000) + " ms";
        };
        // One that is torn off goes when all of it has arrived, perhaps a frame later.
        verdict_.require(
            Invariant::Recording,
            expected != state.end() || server_.was_torn_off(number) || has_just_left(number),
            [&] { return describe("is there still"); });
        verdict_.require(Invariant::Recording,
                         expected == state.end() || expected->second == recorded_hash(*craft),
                         [&] { return describe("is another one"); });
    }
}

}  // namespace replayout::test
