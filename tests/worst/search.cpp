// SPDX-License-Identifier: MIT
#include "worst/search.h"

#include <algorithm>
#include <utility>

namespace replayout::worst {

namespace {

constexpr std::size_t population_max = 24;
constexpr int random_scripts = 16;
constexpr int plays_to_be_sure = 3;

}  // namespace

Search::Search(Side side, std::uint64_t seed)
    : side_(side), random_(seed), mutator_(side, random_) {}

void Search::begin(std::span<const Script> scripts) {
    for (const Script& script : scripts) {
        if (script.side == side_) {
            try_script(script);
        }
    }
    for (int i = 0; i < random_scripts; ++i) {
        try_script({side_, mutator_.random_steps()});
    }
}

const Steps& Search::pick(const std::vector<Find>& population) {
    // Of two the dearer one: the dearest stand in front.
    const auto size = static_cast<std::uint32_t>(population.size());
    return population[std::min(random_.below(size), random_.below(size))].script.steps;
}

void Search::run_trial() {
    const auto& first = populations_[trial_count_++ % score_count];
    const auto& second = populations_[random_.below(static_cast<std::uint32_t>(score_count))];
    if (first.empty() || second.empty() || random_.percent(1)) {
        try_script({side_, mutator_.random_steps()});
        return;
    }
    const Steps& mother = pick(first);
    const Steps& father = pick(second);
    try_script({side_, mutator_.child(mother, father)});
}

bool Search::is_welcome(Score score, std::uint64_t cost) const noexcept {
    const auto& population = populations_[static_cast<std::size_t>(score)];
    return cost > 0 && (population.size() < population_max || cost > population.back().cost) &&
           std::none_of(population.begin(), population.end(),
                        [&](const Find& find) { return find.cost == cost; });
}

void Search::try_script(const Script& script) {
    Costs costs = play(script);
    bool is_dear = false;
    for (std::size_t i = 0; i < score_count; ++i) {
        is_dear = is_dear || is_welcome(static_cast<Score>(i), costs.found[i].cost);
    }
    if (!is_dear) {
        return;
    }
    if (!CostMeter::is_exact()) {
        costs = play_least(script, plays_to_be_sure);
    }
    for (std::size_t i = 0; i < score_count; ++i) {
        const Costs::Found& found = costs.found[i];
        if (is_welcome(static_cast<Score>(i), found.cost)) {
            keep(static_cast<Score>(i), {script, found.cost, found.place});
        }
    }
}

void Search::keep(Score score, Find find) {
    auto& population = populations_[static_cast<std::size_t>(score)];
    const auto place = std::find_if(population.begin(), population.end(),
                                    [&](const Find& other) { return other.cost < find.cost; });
    population.insert(place, std::move(find));
    if (population.size() > population_max) {
        population.pop_back();
    }
}

}  // namespace replayout::worst
