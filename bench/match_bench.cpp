// SPDX-License-Identifier: MIT
//
// A whole match: the built-in battle, with real clients over a network that loses packets, judged
// as replayout_match does; and likewise recordings, if there are any:
//
//     match_bench --trace=FILE [--trace=FILE]      several are played as one match
//
// Each match is played by two servers beside each other, with sharing and without, tick by tick in
// turn; every packet of the two is compared. For other networks: ./run match.
#include "match/battle/battle.h"
#include "match/battle/printable.h"
#include "match/judge/hit_rate.h"
#include "match/recording/trace_reader.h"
#include "match/session/match_session.h"
#include "match/session/progress.h"
#include "support/report/report_text.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace replayout::match {

namespace {

constexpr std::uint32_t ticks = 300;  // ten seconds

using bench::ratio;

void report(benchmark::State& state, const MatchResult& result, std::uint32_t clients) {
    const ReplicationCounters& counters = result.stats.replication;
    state.SetIterationTime(static_cast<double>(result.times.total_ns) / 1e9);
    state.counters["tick_p50_us"] = static_cast<double>(result.times.p50_ns) / 1e3;
    state.counters["tick_p99_us"] = static_cast<double>(result.times.p99_ns) / 1e3;
    state.counters["off_tick_p50_us"] = static_cast<double>(result.twin_times.p50_ns) / 1e3;
    state.counters["shared/off"] = ratio(result.times.total_ns, result.twin_times.total_ns);
    state.counters["hit_rate"] = hit_rate(counters);
    state.counters["hit_share"] = hit_share(counters, clients);
    state.counters["calls"] = static_cast<double>(counters.values_encoded);
    state.counters["off_calls"] = static_cast<double>(result.twin_stats.replication.values_encoded);
    state.counters["allocs"] = static_cast<double>(result.allocations_steady);
}

/// Arguments: clients, packets lost of a hundred, bytes a second that a client may be sent.
void play(benchmark::State& state, const std::vector<Recording>& recordings) {
    MatchOptions options;
    options.clients = static_cast<std::uint32_t>(state.range(0));
    options.loss = static_cast<double>(state.range(1)) / 100;
    options.bandwidth_bytes_per_second = static_cast<std::uint32_t>(state.range(2));
    options.is_quiet = true;
    const auto schema = MatchSchema::create(recordings, {false, false});
    if (!schema) {
        state.SkipWithError(printable(schema.error().message).c_str());
        return;
    }
    for (auto _ : state) {
        const auto network = make_network(options);
        if (!network) {
            state.SkipWithError(printable(network.error().message).c_str());
            return;
        }
        MatchSession session(options, recordings, **schema, **network);
        Progress progress("playing", session.tick_count(), options.is_quiet);
        const MatchResult result = session.run(progress);
        if (!result.is_good(options)) {
            state.SkipWithError("every client must end equal, and the packets of the two servers");
            return;
        }
        report(state, result, options.clients);
    }
}

void add(const char* name, const std::vector<Recording>& recordings) {
    benchmark::RegisterBenchmark(
        name, [&recordings](benchmark::State& state) { play(state, recordings); })
        ->ArgNames({"clients", "percent", "cap"})
        ->Args({16, 0, 0})
        ->Args({16, 2, 0})
        ->Args({16, 2, 64'000})
        ->Args({64, 2, 0})
        ->Args({100, 2, 0})
        ->Args({100, 2, 64'000})
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
}

/// Takes --trace=FILE out of the arguments, and reads the files. False where one cannot be read,
/// which was said.
[[nodiscard]] bool read_traces(int& argc, char** argv, std::vector<Recording>& recordings) {
    constexpr std::string_view option = "--trace=";
    int kept = 1;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (!argument.starts_with(option)) {
            argv[kept++] = argv[i];
            continue;
        }
        ReadTraceResult result = read_trace(std::string(argument.substr(option.size())));
        if (const auto* error = std::get_if<TraceError>(&result)) {
            std::fprintf(stderr, "%s\n", error->message.c_str());
            return false;
        }
        recordings.push_back(std::move(std::get<Recording>(result)));
    }
    argc = kept;
    return true;
}

[[nodiscard]] int run(int argc, char** argv) {
    std::vector<Recording> recordings;
    if (!read_traces(argc, argv, recordings)) {
        return 2;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    BattleSettings settings;
    settings.tick_count = ticks;
    const std::vector<Recording> battle{make_battle(settings)};
    add("BM_Match", battle);
    if (!recordings.empty()) {
        add("BM_RecordedMatch", recordings);
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

}  // namespace

}  // namespace replayout::match

int main(int argc, char** argv) {
    return replayout::match::run(argc, argv);
}
