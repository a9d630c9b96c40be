// SPDX-License-Identifier: MIT
#include "instructions/counted_runs.h"

#include "instructions/hit_workload.h"
#include "instructions/match_game.h"
#include "instructions/workload_game.h"
#include "match/battle/battle.h"
#include "match/recording/trace_reader.h"
#include "support/workloads/pawn_workload.h"
#include "support/workloads/walker_workload.h"

#include <array>
#include <utility>
#include <variant>

namespace replayout::bench {

namespace {

constexpr std::uint64_t seed = 1;
constexpr std::uint32_t clients_of_many = 64;
constexpr double usual_loss = 0.02;
constexpr std::uint32_t battle_cap_bytes_per_second = 20'000;
constexpr std::uint32_t walking_cap_bytes_per_second = 10'000;
constexpr std::uint32_t walking_clients = 32;
constexpr float walking_view_radius = 40;
/// As a round trip of 80 ms has it.
constexpr std::uint32_t match_answer_delay_ticks = 2;
constexpr std::uint32_t join_ticks_max = 4'000;

/// What the runs of one game have in common; they differ in clients, loss and cap.
enum class Subject : std::uint8_t { Pawns, Battle, Hits, Walkers, Recording };

struct Row {
    std::string_view name;
    Subject subject;
    std::uint32_t clients;
    double loss;
    std::uint32_t cap = 0;
    std::string_view trace = {};
};

constexpr std::string_view small_recording = "tf2_small.rtr.gz";
constexpr std::string_view long_recording = "rl_gridiron.rtr.gz";

constexpr Row rows[] = {
    {"w1", Subject::Pawns, clients_of_many, 0},
    {"w1_alone", Subject::Pawns, 0, 0},
    {"w1_lossy", Subject::Pawns, clients_of_many, usual_loss},
    {"battle_alone", Subject::Battle, 0, 0},
    {"battle_1", Subject::Battle, 1, usual_loss},
    {"battle_64", Subject::Battle, clients_of_many, usual_loss},
    {"battle_64_lossless", Subject::Battle, clients_of_many, 0},
    {"battle_capped", Subject::Battle, clients_of_many, usual_loss, battle_cap_bytes_per_second},
    {"shared_serializer", Subject::Hits, clients_of_many, 0},
    {"shared_serializer_alone", Subject::Hits, 0, 0},
    {"shared_serializer_lossy", Subject::Hits, clients_of_many, usual_loss},
    {"walking", Subject::Walkers, walking_clients, 0, walking_cap_bytes_per_second},
    {"walking_alone", Subject::Walkers, 0, 0},
    {"tf2_small", Subject::Recording, clients_of_many, usual_loss, 0, small_recording},
    {"tf2_small_alone", Subject::Recording, 0, 0, 0, small_recording},
    {"tf2_small_lossless", Subject::Recording, clients_of_many, 0, 0, small_recording},
    {"rl_gridiron", Subject::Recording, clients_of_many, usual_loss, 0, long_recording},
    {"rl_gridiron_alone", Subject::Recording, 0, 0, 0, long_recording},
    {"rl_gridiron_lossless", Subject::Recording, clients_of_many, 0, 0, long_recording},
};
constexpr std::size_t row_count = std::size(rows);

[[nodiscard]] constexpr std::array<std::string_view, row_count> names_of_rows() noexcept {
    std::array<std::string_view, row_count> names;
    for (std::size_t i = 0; i < row_count; ++i) {
        names[i] = rows[i].name;
    }
    return names;
}

constexpr std::array<std::string_view, row_count> names = names_of_rows();

void set_ticks(CountedRunSettings& settings, std::uint32_t alone, std::uint32_t warm,
               std::uint32_t play) {
    settings.alone_ticks = alone;
    settings.warm_ticks = warm;
    settings.play_ticks = play;
}

[[nodiscard]] std::unique_ptr<CountedGame> workload_game(std::unique_ptr<Workload> workload,
                                                         std::uint32_t warm, std::uint32_t play,
                                                         CountedRunSettings& settings) {
    if (workload->error().empty()) {
        set_ticks(settings, workload->ticks_until_warm(), warm, play);
    }
    return std::make_unique<WorkloadGame>(std::move(workload));
}

[[nodiscard]] std::unique_ptr<CountedGame> match_game(match::Recording recording,
                                                      CountedRunSettings& settings) {
    settings.answer_delay_ticks = match_answer_delay_ticks;
    return std::make_unique<MatchGame>(std::move(recording));
}

[[nodiscard]] std::unique_ptr<CountedGame> battle_game(CountedRunSettings& settings) {
    set_ticks(settings, 300, 60, 150);
    match::BattleSettings battle;
    battle.seed = seed;
    battle.tick_count = settings.alone_ticks + settings.warm_ticks + settings.play_ticks;
    return match_game(match::make_battle(battle), settings);
}

[[nodiscard]] std::unique_ptr<CountedGame> walkers_game(CountedRunSettings& settings) {
    settings.interest = WalkerWorkload::interest(walking_view_radius);
    return workload_game(std::make_unique<WalkerWorkload>(true, WalkerPlane::small()), 100, 100,
                         settings);
}

void plan_recording(const Row& row, const std::string& traces, CountedRunPlan& plan) {
    match::ReadTraceResult read = match::read_trace(traces + "/" + std::string(row.trace));
    if (const auto* error = std::get_if<match::TraceError>(&read)) {
        plan.error = error->message;
        return;
    }
    auto& recording = std::get<match::Recording>(read);
    set_ticks(plan.settings, 150, 60, 150);
    if (recording.tick_count() < 360) {
        set_ticks(plan.settings, 10, 10, 100);
    }
    plan.game = match_game(std::move(recording), plan.settings);
}

void make_game(const Row& row, const std::string& traces, CountedRunPlan& plan) {
    switch (row.subject) {
        case Subject::Pawns:
            plan.game = workload_game(std::make_unique<PawnWorkload>(1'000, true, seed), 100, 100,
                                      plan.settings);
            return;
        case Subject::Battle:
            plan.game = battle_game(plan.settings);
            return;
        case Subject::Hits:
            plan.game = workload_game(std::make_unique<HitWorkload>(), 10, 20, plan.settings);
            return;
        case Subject::Walkers:
            plan.game = walkers_game(plan.settings);
            return;
        case Subject::Recording:
            plan_recording(row, traces, plan);
            return;
    }
}

}  // namespace

std::span<const std::string_view> counted_run_names() noexcept {
    return names;
}

CountedRunPlan plan_counted_run(std::string_view name, const std::string& traces) {
    CountedRunPlan plan;
    for (const Row& row : rows) {
        if (row.name != name) {
            continue;
        }
        plan.settings.clients = row.clients;
        plan.settings.loss = row.loss;
        plan.settings.config.bytes_per_second_max = row.cap;
        plan.settings.join_ticks_max = join_ticks_max;
        make_game(row, traces, plan);
        if (plan.error.empty()) {
            plan.error = plan.game->error();
        }
        return plan;
    }
    plan.error = "there is no run " + std::string(name);
    return plan;
}

}  // namespace replayout::bench
