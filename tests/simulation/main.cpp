// SPDX-License-Identifier: MIT
//
// Plays simulated runs, as many as are asked for, and tells what was in them. A run that goes wrong
// is made smaller, and the line is printed that plays it again.
#include "simulation/planted_fault.h"
#include "simulation/run_report.h"
#include "simulation/shrinker.h"
#include "simulation/simulate_options.h"
#include "simulation/twin_run.h"

#include <replayout/reflection/diagnostics.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace replayout::test {

namespace {

thread_local std::string running;  // for who stops in an assertion

[[noreturn]] void stop_at_assertion(const AssertionFailure& failure) {
    std::fprintf(stderr, "%s:%d: does not hold: %s\n  ./run simulate %s\n", failure.file,
                 failure.line, failure.expression, running.c_str());
    std::abort();
}

class Simulate {
  public:
    explicit Simulate(const SimulateOptions& options) : options_(options) {}

    /// Whether all was good, and the trace is there.
    [[nodiscard]] bool run() {
        const auto begin = std::chrono::steady_clock::now();
        std::vector<std::thread> threads;
        for (std::uint32_t i = 1; i < options_.job_count; ++i) {
            threads.emplace_back([this] { play_all(); });
        }
        play_all();
        for (std::thread& thread : threads) {
            thread.join();
        }
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        if (!options_.is_printing_digest) {
            report_.print(stdout, seconds.count());
        }
        return report_.failure_count() == 0 && !is_trace_lost_;
    }

  private:
    void play_all() {
        while (report_failures_ < failures_max) {
            // Counted from the first: behind the last seed there is there may be none.
            const std::uint64_t place = next_place_++;
            if (place > options_.last_seed - options_.first_seed) {
                return;
            }
            play(options_.first_seed + place);
        }
    }

    void play(std::uint64_t seed) {
        const SwarmConfig config = options_.config_of(seed);
        const RunResult result = play_once(config, options_.trace_path);
        const std::lock_guard<std::mutex> lock(mutex_);
        report_.add(config, result);
        if (options_.is_printing_digest) {
            digests_.emplace(seed - options_.first_seed, result.digest);
            print_digests();
        }
        if (!result.is_good()) {
            ++report_failures_;
            tell(config, result);
        }
    }

    /// By seed, whichever run was over first.
    void print_digests() {
        while (!digests_.empty() && digests_.begin()->first == printed_count_) {
            const auto& [place, digest] = *digests_.begin();
            std::printf("%llu %016llx\n",
                        static_cast<unsigned long long>(options_.first_seed + place),
                        static_cast<unsigned long long>(digest));
            digests_.erase(digests_.begin());
            ++printed_count_;
        }
    }

    [[nodiscard]] RunResult play_once(const SwarmConfig& config, const std::string& trace_path) {
        running = config.arguments();
        if (options_.is_twin) {
            return run_with_twin(config);
        }
        if (trace_path.empty()) {
            return Simulation(config).run();
        }
        std::FILE* trace = std::fopen(trace_path.c_str(), "w");
        RunResult result = Simulation(config, {}, trace).run();
        const bool is_written = trace != nullptr && std::ferror(trace) == 0;
        if (trace == nullptr || std::fclose(trace) != 0 || !is_written) {
            std::fprintf(stderr, "simulate: %s cannot be written\n", trace_path.c_str());
            is_trace_lost_ = true;
        }
        return result;
    }

    void tell(const SwarmConfig& config, const RunResult& result) {
        tell_finding("wrong", config, result.finding);
        if (!options_.is_shrinking) {
            return;
        }
        const Invariant invariant = result.finding.invariant;
        Shrinker shrinker(
            [&](const SwarmConfig& smaller) {
                return play_once(smaller, "").finding.invariant == invariant;
            },
            runs_of_shrinker);
        const SwarmConfig shrunk = shrinker.shrink(config, result.finding.tick);
        tell_finding("smaller", shrunk, play_once(shrunk, "").finding);
    }

    void tell_finding(const char* what, const SwarmConfig& config, const Finding& finding) {
        std::fprintf(stderr,
                     "%s: seed %llu, tick %u, %s: %s\n  features: %s\n  ./run simulate %s%s\n",
                     what, static_cast<unsigned long long>(config.seed), finding.tick,
                     to_string(finding.invariant).c_str(), finding.text.c_str(),
                     config.features.text().c_str(), config.arguments().c_str(),
                     options_.is_twin ? " --twin" : "");
    }

    static constexpr std::uint32_t failures_max = 5;
    static constexpr std::uint32_t runs_of_shrinker = 300;

    const SimulateOptions& options_;
    std::atomic<std::uint64_t> next_place_ = 0;  // of its seed, behind the first
    std::atomic<std::uint32_t> report_failures_ = 0;
    std::atomic<bool> is_trace_lost_ = false;
    std::mutex mutex_;
    RunReport report_;
    std::map<std::uint64_t, std::uint64_t> digests_;  // by place: they wait for an earlier one
    std::uint64_t printed_count_ = 0;
};

}  // namespace

}  // namespace replayout::test

int main(int argument_count, char** argument_values) {
    using namespace replayout::test;
    const std::vector<std::string_view> arguments(argument_values + 1,
                                                  argument_values + argument_count);
    if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
        std::fputs(SimulateOptions::help().c_str(), stdout);
        return EXIT_SUCCESS;
    }
    SimulateOptions options;
    if (const std::string problem = options.read(arguments); !problem.empty()) {
        std::fprintf(stderr, "simulate: %s\n%s", problem.c_str(), SimulateOptions::help().c_str());
        return 2;
    }
#ifdef REPLAYOUT_SIMULATE_PLANTED
    is_starvation_planted = options.plant == BusyPlant::Starvation;
#else
    if (options.plant == BusyPlant::Starvation) {
        std::fputs("simulate: starvation is planted into replayout_simulate_planted\n", stderr);
        return 2;
    }
#endif
    replayout::set_assert_handler(stop_at_assertion);
    if (options.first_seed != options.last_seed) {
        // The ends warn of the faults that the runs make up: too many lines to read, and each
        // of them expected. A run by itself prints them.
        replayout::set_log_handler([](auto...) {}, nullptr);
    }
    return Simulate(options).run() ? EXIT_SUCCESS : EXIT_FAILURE;
}
