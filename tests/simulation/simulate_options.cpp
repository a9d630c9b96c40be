// SPDX-License-Identifier: MIT
#include "simulation/simulate_options.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace replayout::test {

namespace {

constexpr std::string_view usage =
    R"(Usage: simulate [--seeds FIRST..LAST] [--ticks N] [--jobs N] [--twin] [--trace FILE]
                [--print-digest] [--no-shrink] [--busy [--no-staleness] [--no-closes]
                [--plant FAULT]]
                [--features A,B,...] [--clients N] [--objects N] [--cut PART:FIRST-LAST]...

  --seeds 1..64    which runs; one number is one run
  --ticks 600      of the safety phase; with --busy, those of 5 to 20 s
  --jobs 1         runs at a time, up to 256
  --twin           each run once more, without sharing, with two workers, compared instead of
                   pushed: every packet must be the same
  --trace FILE     what happened, for check_history.py; of one run, without --twin
  --print-digest   one line a run: its seed and the digest of all that happened
  --no-shrink      a run that goes wrong is not made smaller
  --busy           runs of a world that never settles: every craft changes in every tick, crafts
                   come and go, each connection has a cap, 10 to 144 ticks a second
  --no-staleness   not judged in it: nothing waits longer than docs/limits.md says
  --no-closes      not judged in it: an accepted reliable call runs before its craft goes
  --plant FAULT    a fault that its judges are to find: starvation, call_loss

Of the run alone, instead of what its seed says:
  --features       these of those below and no others; none
  --clients, --objects  up to 16, and 1 to 1,000
  --cut            ticks in which a part (network, events, game, clients) does nothing

A value may stand in the word of its option, too: --seeds=1..64.

Exit status: 0 all runs were good; 1 one was wrong (it ends behind five), or the trace cannot
be written; 2 the command line is wrong.

Features, faults first:)";

constexpr std::size_t columns_max = 96;

template <typename Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

/// `FIRST` and `LAST` of a text like 3..9 or 3-9; of 3 alone both are that.
template <typename Number>
[[nodiscard]] bool read_range(std::string_view text, std::string_view between, Number& first,
                              Number& last) {
    const std::size_t place = text.find(between);
    if (place == std::string_view::npos) {
        return read_number(text, first) && read_number(text, last);
    }
    return read_number(text.substr(0, place), first) &&
           read_number(text.substr(place + between.size()), last) && first <= last;
}

[[nodiscard]] bool read_cut(std::string_view text, RunCut& cut) {
    const std::string_view name = text.substr(0, text.find(':'));
    for (std::uint32_t part = 0; part < run_part_count && name.size() < text.size(); ++part) {
        if (to_string(RunPart(part)) == name) {
            cut.part = RunPart(part);
            return read_range(text.substr(name.size() + 1), "-", cut.first, cut.last);
        }
    }
    return false;
}

}  // namespace

std::string SimulateOptions::help() {
    std::string text(usage);
    std::size_t column = columns_max;
    for (const Feature feature : FeatureSet::of_bits(~std::uint64_t{0}).list()) {
        const std::string_view name = to_string(feature);
        const bool is_new_line = column + 1 + name.size() > columns_max;
        text += is_new_line ? "\n  " : " ";
        column = (is_new_line ? 2 : column + 1) + name.size();
        text += name;
    }
    return text + '\n';
}

bool* SimulateOptions::find_flag(std::string_view name) noexcept {
    const std::pair<std::string_view, bool*> flags[] = {
        {"--twin", &is_twin},
        {"--print-digest", &is_printing_digest},
        {"--no-shrink", &is_shrinking},
        {"--busy", &is_busy},
        {"--no-staleness", &is_judging_staleness},
        {"--no-closes", &is_judging_closes},
    };
    for (const auto& [flag, value] : flags) {
        if (flag == name) {
            return value;
        }
    }
    return nullptr;
}

std::string SimulateOptions::read(const std::vector<std::string_view>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        // --seeds 1..2 or --seeds=1..2
        const std::size_t name_size = std::min(arguments[i].find('='), arguments[i].size());
        const bool has_value = name_size < arguments[i].size();
        const std::string_view name = arguments[i].substr(0, name_size);
        if (bool* const flag = find_flag(name); flag != nullptr) {
            if (has_value) {
                return std::string(name) + " has no value";
            }
            *flag = !name.starts_with("--no-");
            continue;
        }
        constexpr std::string_view valued[] = {"--seeds",   "--ticks",   "--jobs",
                                               "--trace",   "--plant",   "--features",
                                               "--clients", "--objects", "--cut"};
        if (std::find(std::begin(valued), std::end(valued), name) == std::end(valued)) {
            return std::string(name) + " is nothing it knows";
        }
        const std::string_view value = has_value ? arguments[i].substr(name_size + 1)
                                       : i + 1 < arguments.size() ? arguments[++i]
                                                                  : "";
        if (value.empty() || value.starts_with("--")) {
            return std::string(name) + " lacks its value";
        }
        bool is_right = true;
        if (name == "--seeds") {
            is_right = read_range(value, "..", first_seed, last_seed);
        } else if (name == "--ticks") {
            is_right = read_number(value, tick_count.emplace()) && *tick_count > 0 &&
                       *tick_count < 1'000'000;
        } else if (name == "--jobs") {
            is_right = read_number(value, job_count) && job_count > 0 && job_count <= 256;
        } else if (name == "--trace") {
            trace_path = value;
        } else if (name == "--plant") {
            plant = value == "starvation" ? BusyPlant::Starvation : BusyPlant::CallLoss;
            is_right = value == "starvation" || value == "call_loss";
        } else if (name == "--features") {
            is_right = FeatureSet::read(value, features.emplace());
        } else if (name == "--clients") {
            is_right = read_number(value, client_count.emplace()) && *client_count <= 16;
        } else if (name == "--objects") {
            is_right =
                read_number(value, object_max.emplace()) && *object_max > 0 && *object_max <= 1'000;
        } else {
            is_right = read_cut(value, cuts.emplace_back());
        }
        if (!is_right) {
            return std::string(name) + " " + std::string(value) + " is not right";
        }
    }
    const bool is_for_busy =
        !is_judging_staleness || !is_judging_closes || plant != BusyPlant::None;
    if (!is_busy && is_for_busy) {
        return "--no-staleness, --no-closes and --plant are for --busy";
    }
    const bool is_of_several = first_seed != last_seed || is_twin;
    return !trace_path.empty() && is_of_several ? "--trace is of one run, without a twin" : "";
}

SwarmConfig SimulateOptions::config_of(std::uint64_t seed) const {
    SwarmConfig config = is_busy ? SwarmConfig::draw_busy(seed, tick_count.value_or(0))
                                 : SwarmConfig::draw(seed, tick_count.value_or(600));
    config = config.drawn_with(features.value_or(config.features));
    config.is_judging_staleness = is_busy && is_judging_staleness;
    config.is_judging_closes = is_busy && is_judging_closes;
    config.plant = plant;
    config.client_count = client_count.value_or(config.client_count);
    config.object_max = object_max.value_or(config.object_max);
    config.cuts = cuts;
    return config;
}

}  // namespace replayout::test
