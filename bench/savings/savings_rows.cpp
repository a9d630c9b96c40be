// SPDX-License-Identifier: MIT
#include "savings/savings_rows.h"

#include "instructions/match_game.h"
#include "match/battle/battle.h"
#include "match/recording/trace_reader.h"
#include "savings/serializer_rows.h"
#include "savings/spawn_game.h"
#include "support/workloads/changing_classes.h"
#include "support/workloads/walker_workload.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

namespace replayout::bench {

namespace {

constexpr std::uint64_t seed = 1;
/// As a round trip of 80 ms has it.
constexpr std::uint32_t match_answer_delay_ticks = 2;
constexpr std::uint32_t battle_alone_ticks = 300;
constexpr std::uint32_t battle_warm_ticks = 60;
constexpr std::uint32_t battle_ticks = 700;
constexpr double usual_loss = 0.02;
constexpr float view_radius = 40;
constexpr const char* element_of_arrays = "one of 32 elements of a fifth of 1,000 arrays";

[[nodiscard]] SavingsRow named(SavingsRow row, std::string name, std::string changes) {
    row.name = std::move(name);
    row.changes = std::move(changes);
    return row;
}

[[nodiscard]] SavingsRow battle(std::string name, std::string changes, double loss,
                                std::uint32_t cap) {
    SavingsRow row;
    row.make_game = [loss, cap] {
        SavingsGame game;
        match::BattleSettings settings;
        settings.seed = seed;
        settings.tick_count = battle_ticks;
        game.game = std::make_unique<MatchGame>(match::make_battle(settings));
        game.settings.loss = loss;
        game.settings.answer_delay_ticks = match_answer_delay_ticks;
        game.settings.config.bytes_per_second_max = cap;
        game.alone_ticks = battle_alone_ticks;
        game.warm_ticks = battle_warm_ticks;
        game.ticks_max = battle_ticks;
        return game;
    };
    return named(std::move(row), std::move(name), std::move(changes));
}

[[nodiscard]] SavingsRow recorded(const std::string& path, std::string& error) {
    match::ReadTraceResult read = match::read_trace(path);
    if (const auto* wrong = std::get_if<match::TraceError>(&read)) {
        error = wrong->message;
        return {};
    }
    SavingsRow row;
    const std::string name = std::filesystem::path(path).filename().string();
    row.name = name.substr(0, name.find('.'));
    row.changes = "a recorded match";
    row.make_game = [recording = std::get<match::Recording>(std::move(read))] {
        SavingsGame game;
        game.ticks_max = static_cast<std::uint32_t>(recording.tick_count());
        game.alone_ticks = std::min(150u, game.ticks_max / 8);
        game.warm_ticks = std::min(60u, game.ticks_max / 8);
        game.settings.loss = usual_loss;
        game.settings.answer_delay_ticks = match_answer_delay_ticks;
        game.game = std::make_unique<MatchGame>(recording);
        return game;
    };
    return row;
}

[[nodiscard]] SavingsRow walking_viewers() {
    SavingsRow row;
    row.make_game = [] {
        auto workload = std::make_unique<WalkerWorkload>(true, WalkerPlane::small());
        SavingsGame game;
        game.alone_ticks = workload->ticks_until_warm();
        game.warm_ticks = 60;
        game.settings.config.bytes_per_second_max = 10'000;
        game.settings.interest = WalkerWorkload::interest(view_radius);
        game.game = std::make_unique<WorkloadGame>(std::move(workload));
        return game;
    };
    return named(std::move(row), "walking viewers", "5,000 objects, 10,000 bytes a second each");
}

[[nodiscard]] SavingsRow spawns() {
    SavingsRow row;
    row.make_game = [] {
        SavingsGame game;
        game.game = std::make_unique<SpawnGame>(500, 10);
        game.warm_ticks = 60;
        return game;
    };
    return named(std::move(row), "spawns", "10 objects come and 10 go");
}

[[nodiscard]] SavingsRow joins() {
    SavingsRow row = plain_members();
    row.make_hand_written = {};
    row.is_join = true;
    return named(std::move(row), "joins",
                 "all clients join a world of 200 objects: all ticks of it");
}

}  // namespace

std::vector<SavingsRow> savings_rows(std::span<const std::string> traces, std::string& error) {
    std::vector<SavingsRow> rows;
    rows.push_back(small_serializers());
    rows.push_back(large_serializers());
    rows.push_back(costly_serializers());
    rows.push_back(plain_members());
    rows.push_back(named(make_row(turrets()), "references", "a fifth of 1,000"));
    rows.push_back(named(make_row(signs(24)), "strings", "a fifth of 1,000, of 24 bytes"));
    rows.push_back(named(make_row(crates()), "arrays", element_of_arrays));
    rows.push_back(named(make_row(keyed_crates()), "keyed arrays", element_of_arrays));
    rows.push_back(named(make_row(fast_crates()), "fast arrays", element_of_arrays));
    rows.push_back(spawns());
    rows.push_back(joins());
    rows.push_back(named(plain_members(0.02), "plain members, 2 % lost", "as above"));
    rows.push_back(named(plain_members(0.2), "plain members, 20 % lost", "as above"));
    rows.push_back(walking_viewers());
    rows.push_back(battle("battle", "the match that is built in, 2 % lost", usual_loss, 0));
    rows.push_back(battle("battle, 20 % lost", "the same", 0.2, 0));
    rows.push_back(
        battle("battle, cap 20,000", "the same, 20,000 bytes a second each", usual_loss, 20'000));
    rows.push_back(
        battle("battle, cap 8,000", "the same, 8,000 bytes a second each", usual_loss, 8'000));
    for (const std::string& trace : traces) {
        rows.push_back(recorded(trace, error));
        if (!error.empty()) {
            return {};
        }
    }
    return rows;
}

}  // namespace replayout::bench
