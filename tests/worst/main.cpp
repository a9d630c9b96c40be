// SPDX-License-Identifier: MIT
//
// replayout_worst: the search for the worst packet and the worst sequence. `--help` says how.
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <replayout/reflection/diagnostics.h>

#include "worst/options.h"
#include "worst/script_files.h"

namespace {

using namespace replayout::worst;

constexpr int replay_times = 5;

/// True: it is within its limit, or has none.
bool print_cost(Side side, Score score, std::uint64_t cost, std::uint32_t place) {
    const std::uint64_t limit = limit_of(side, score);
    const bool is_within = limit == no_limit || cost <= limit;
    std::printf("  %-9s %12llu %s, place %u", std::string(to_string(score)).c_str(),
                static_cast<unsigned long long>(cost), std::string(unit_of(score)).c_str(), place);
    if (!is_within) {
        std::printf(": MORE THAN %llu", static_cast<unsigned long long>(limit));
    }
    std::printf("\n");
    return is_within;
}

int replay(const Options& options) {
    bool is_within = true;
    for (const std::string& path : options.replayed) {
        const std::optional<Script> script = read_script_file(path);
        if (!script) {
            std::fprintf(stderr, "replayout_worst: %s is no script\n", path.c_str());
            return 2;
        }
        const Costs costs =
            options.marked ? play(*script, *options.marked) : play_least(*script, replay_times);
        std::printf("%s\n", path.c_str());
        for (std::size_t i = 0; i < score_count; ++i) {
            const Costs::Found& found = costs.found[i];
            is_within = print_cost(script->side, static_cast<Score>(i), found.cost, found.place) &&
                        is_within;
        }
    }
    return is_within ? 0 : 1;
}

void run_search(Search& search, const Options& options, const std::vector<Script>& scripts) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
    search.begin(scripts);
    while (options.trials ? search.trial_count() < *options.trials
                          : std::chrono::steady_clock::now() < end) {
        search.run_trial();
    }
}

int report(const Options& options, const std::deque<Search>& searches) {
    bool is_within = true;
    std::uint64_t trials = 0;
    for (const Search& search : searches) {
        trials += search.trial_count();
    }
    std::printf("%s, %llu trials\n", std::string(to_string(*options.side)).c_str(),
                static_cast<unsigned long long>(trials));
    for (std::size_t i = 0; i < score_count; ++i) {
        const auto score = static_cast<Score>(i);
        const Find* dearest = nullptr;
        for (const Search& search : searches) {
            const std::vector<Find>& population = search.population(score);
            if (!population.empty() &&
                (dearest == nullptr || population.front().cost > dearest->cost)) {
                dearest = &population.front();
            }
        }
        if (dearest == nullptr) {
            continue;
        }
        const std::string path = options.out + "/" + std::string(to_string(*options.side)) + "_" +
                                 std::string(to_string(score)) + ".txt";
        if (!write_find(path, score, *dearest)) {
            std::fprintf(stderr, "replayout_worst: cannot write %s\n", path.c_str());
            return 2;
        }
        is_within = print_cost(*options.side, score, dearest->cost, dearest->place) && is_within;
    }
    return is_within ? 0 : 1;
}

int search(const Options& options) {
    std::vector<Script> scripts;
    if (!options.from.empty()) {
        std::string wrong;
        std::optional<std::vector<Script>> read = read_script_folder(options.from, wrong);
        if (!read) {
            std::fprintf(stderr, "replayout_worst: %s cannot be read\n", wrong.c_str());
            return 2;
        }
        scripts = std::move(*read);
    }
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    std::deque<Search> searches;
    for (std::uint32_t i = 0; i < options.job_count; ++i) {
        searches.emplace_back(*options.side, options.seed + i);
    }
    std::vector<std::thread> threads;
    for (Search& each : searches) {
        threads.emplace_back([&] { run_search(each, options, scripts); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return report(options, searches);
}

}  // namespace

int main(int argument_count, char** argument_values) {
    const std::vector<std::string_view> arguments(argument_values + 1,
                                                  argument_values + argument_count);
    if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
        std::printf("%s\n", std::string(Options::help()).c_str());
        return 0;
    }
    // Connections are closed by the thousand.
    replayout::set_log_handler([](replayout::LogLevel, std::string_view, void*) {}, nullptr);
    Options options;
    if (const std::string wrong = options.read(arguments); !wrong.empty()) {
        std::fprintf(stderr, "replayout_worst: %s; see --help\n", wrong.c_str());
        return 2;
    }
    return options.side ? search(options) : replay(options);
}
