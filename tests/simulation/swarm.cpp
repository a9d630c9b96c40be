// SPDX-License-Identifier: MIT
#include "simulation/swarm.h"

#include <algorithm>
#include <array>

namespace replayout::test {

namespace {

constexpr std::array<std::string_view, feature_count> feature_names{
    "loss",           "burst_loss",       "duplicates",     "jitter",
    "delay_spikes",   "corruption",       "asymmetric",     "partitions",
    "replays",        "rebinding",        "crashes",        "leaves",
    "server_hitches", "client_hitches",   "bandwidth",      "clock_skew",
    "clock_steps",    "small_limits",     "hostile_peer",   "schema_skew",
    "missing_class",  "tight_memory",     "late_sequences", "churn",
    "texts",          "large_texts",      "arrays",         "struct_arrays",
    "atomic_structs", "references",       "fast_arrays",    "quantised",
    "push_model",     "secrets",          "owners",         "conditions",
    "reverts",        "dormancy",         "relevancy",      "places",
    "subobjects",     "tear_off",         "rates",          "late_joins",
    "reliable_calls", "unreliable_calls", "server_calls",   "large_calls",
    "nested_calls",   "destroy_in_calls", "recording",      "workers",
};
constexpr std::array<std::string_view, run_part_count> part_names{"network", "events", "game",
                                                                  "clients"};

// Rows of the configuration lie where no tick's do.
constexpr std::uint64_t features_stream = ~std::uint64_t{0};
constexpr std::uint64_t strengths_stream = ~std::uint64_t{1};
constexpr std::uint64_t busy_features_stream = ~std::uint64_t{4};
constexpr std::uint64_t busy_strengths_stream = ~std::uint64_t{5};

// What a busy world may have besides what makes it busy. Left out is what makes an object wait by
// right: that it sleeps, is not relevant or is looked at seldom, that a line is cut or narrow, that
// an end stands still; and jitter, whose overtaken packets no end counts as lost.
constexpr std::array<Feature, 19> busy_features{
    Feature::Loss,       Feature::Duplicates,      Feature::Leaves,
    Feature::Crashes,    Feature::Texts,           Feature::LargeTexts,
    Feature::Arrays,     Feature::StructArrays,    Feature::AtomicStructs,
    Feature::References, Feature::FastArrays,      Feature::Quantised,
    Feature::PushModel,  Feature::Owners,          Feature::Reverts,
    Feature::Subobjects, Feature::UnreliableCalls, Feature::ServerCalls,
    Feature::Workers,
};
constexpr std::array<Feature, 3> always_busy{Feature::Churn, Feature::LateJoins,
                                             Feature::ReliableCalls};
constexpr std::int64_t busy_run_us = 20'000'000;
// A large world opens in a fraction of a second, as large ones have large caps. So in most runs it
// is played for less time, and more seeds are played.
constexpr std::int64_t busy_run_us_min = 5'000'000;
constexpr std::uint32_t busy_pairs_usual = 60'000;  // of a craft and a client, over all ticks
/// As a craft costs to open, roughly.
constexpr std::uint32_t busy_craft_bytes = 150;

/// 10 to 144 Hz.
constexpr std::array<std::int64_t, 5> busy_ticks_us{100'000, 50'000, 33'333, 16'667, 6'944};

/// 1,800 to 1,000,000, as often within each power of two.
[[nodiscard]] std::uint32_t draw_cap(Choices& row) {
    const std::uint32_t shift = row.below(10);
    const std::uint32_t cap = (1'800u << shift) + row.below(1'800u << shift);
    return std::min(cap, 1'000'000u);
}

[[nodiscard]] FeatureSet draw_features(Choices row) {
    FeatureSet features;
    const std::uint32_t kind = row.below(10);
    const std::uint32_t only_fault = row.below(fault_count);
    for (std::uint32_t i = 0; i < feature_count; ++i) {
        const bool is_kept = row.percent(50);
        const bool is_fault = i < fault_count;
        if (kind == 0 || (kind == 1 && is_fault ? i == only_fault : is_kept)) {
            features.add(Feature(i));
        }
    }
    return features;
}

/// Always the same draws, so that a feature that is left out changes nothing else.
[[nodiscard]] LinkFaults draw_link(Choices& row, const FeatureSet& features) {
    LinkFaults link;
    const auto with = [&](Feature feature, std::uint32_t value) {
        return features.has(feature) ? value : 0;
    };
    link.loss = with(Feature::Loss, row.between(1, 300));
    link.burst = with(Feature::BurstLoss, row.between(2, 30));
    link.burst_length_max = row.between(2, 50);
    link.duplicate = with(Feature::Duplicates, row.between(1, 500));
    link.copies_max = row.between(1, 8);
    link.corrupt = with(Feature::Corruption, row.between(1, 50));
    link.spike = with(Feature::DelaySpikes, row.between(1, 20));
    link.spike_ms = row.between(100, 3'000);
    link.latency_ms = row.below(150);
    link.jitter_ms = with(Feature::Jitter, row.between(1, 500));
    const std::uint32_t kilobytes = row.percent(50) ? row.between(4, 40) : row.between(4, 1'000);
    link.bytes_per_second = with(Feature::Bandwidth, kilobytes * 1'000);
    link.queue_datagrams = row.between(4, 64);
    return link;
}

}  // namespace

std::string_view to_string(Feature feature) noexcept {
    return feature_names[static_cast<std::size_t>(feature)];
}

std::string_view to_string(RunPart part) noexcept {
    return part_names[static_cast<std::size_t>(part)];
}

std::vector<Feature> FeatureSet::list() const {
    std::vector<Feature> features;
    for (std::uint32_t i = 0; i < feature_count; ++i) {
        if (has(Feature(i))) {
            features.push_back(Feature(i));
        }
    }
    return features;
}

std::string FeatureSet::text() const {
    std::string text;
    for (const Feature feature : list()) {
        text += (text.empty() ? "" : ",") + std::string(to_string(feature));
    }
    return text.empty() ? "none" : text;
}

bool FeatureSet::read(std::string_view text, FeatureSet& features) {
    FeatureSet result;
    while (!text.empty() && text != "none") {
        const std::string_view name = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), name.size() + 1));
        const auto found = std::find(feature_names.begin(), feature_names.end(), name);
        if (found == feature_names.end()) {
            return false;
        }
        result.add(Feature(found - feature_names.begin()));
    }
    features = result;
    return true;
}

SwarmConfig SwarmConfig::draw(std::uint64_t seed, std::uint32_t tick_count) {
    return draw(seed, tick_count, draw_features(Choices::from_seed(seed, features_stream, 256)));
}

SwarmConfig SwarmConfig::draw(std::uint64_t seed, std::uint32_t tick_count,
                              const FeatureSet& features) {
    SwarmConfig config;
    config.seed = seed;
    config.tick_count = tick_count;
    config.features = features;
    Choices row = Choices::from_seed(seed, strengths_stream, 256);
    constexpr std::array<std::uint32_t, 12> client_counts{1, 2, 3, 2, 4, 1, 3, 2, 6, 8, 16, 0};
    config.client_count = client_counts[row.below(client_counts.size())];
    config.object_max = row.percent(80) ? row.between(2, 16) : row.between(17, 60);
    config.acts_max = row.between(1, 6);
    config.writes_max = row.between(1, 10);
    config.replay_per_mille = row.between(1, 100);
    config.limit_divisor = row.between(2, 64);
    config.timeout_ms = row.percent(70) ? row.between(1'500, 4'000) : 10'000;
    config.cap_bytes_per_second = row.percent(30) ? row.between(8, 60) * 1'000 : 0;
    config.has_congestion_control = row.percent(30);
    config.reorder_packets_max = row.percent(40) ? row.between(1, 224) : 0;
    config.to_client = draw_link(row, config.features);
    config.to_server = draw_link(row, config.features);
    // Packets pass the end in any case, channels only if they begin next to it.
    config.first_sequence = 65'536 - (row.percent(50) ? row.between(1, 8) : row.between(1, 400));
    config.tight_allocation_bytes_max = 1'024 * (row.percent(50) ? 1 : row.between(1, 16));
    if (!config.has(Feature::LateSequences)) {
        config.first_sequence = 1;
    }
    if (!config.has(Feature::TightMemory)) {
        config.tight_allocation_bytes_max = 0;
    }
    if (!config.has(Feature::Asymmetric)) {
        config.to_server = config.to_client;
    }
    if (!config.has(Feature::Replays)) {
        config.replay_per_mille = 0;
    }
    if (!config.has(Feature::SmallLimits)) {
        config.limit_divisor = 1;
    }
    if (!config.has(Feature::Bandwidth)) {
        config.cap_bytes_per_second = 0;
        config.has_congestion_control = false;
    }
    return config;
}

SwarmConfig SwarmConfig::draw_busy(std::uint64_t seed, std::uint32_t tick_count) {
    Choices row = Choices::from_seed(seed, busy_features_stream, 64);
    FeatureSet features;
    for (const Feature feature : busy_features) {
        if (row.percent(50)) {
            features.add(feature);
        }
    }
    for (const Feature feature : always_busy) {
        features.add(feature);
    }
    return draw_busy(seed, tick_count, features);
}

SwarmConfig SwarmConfig::draw_busy(std::uint64_t seed, std::uint32_t tick_count,
                                   const FeatureSet& features) {
    SwarmConfig config = draw(seed, tick_count, features);
    Choices row = Choices::from_seed(seed, busy_strengths_stream, 64);
    config.is_busy = true;
    config.is_judging_staleness = true;
    config.is_judging_closes = true;
    config.client_count = row.between(1, 4);
    config.cap_bytes_per_second = draw_cap(row);
    config.tick_us = busy_ticks_us[row.below(busy_ticks_us.size())];
    // As many crafts as a fifth of a second to two and a half of the cap open.
    const std::uint32_t tenths = row.between(2, 25);
    config.has_priorities = row.percent(50);
    config.object_max =
        std::clamp(config.cap_bytes_per_second / 10 * tenths / busy_craft_bytes, 2u, 120u);
    config.timeout_ms = 10'000;
    if (tick_count == 0) {
        const bool is_long = row.below(16) == 0;
        const auto most = static_cast<std::uint32_t>(busy_run_us / config.tick_us);
        const auto least = static_cast<std::uint32_t>(busy_run_us_min / config.tick_us);
        const std::uint32_t usual = busy_pairs_usual / (config.object_max * config.client_count);
        config.tick_count = is_long ? most : std::clamp(usual, least, most);
    }
    return config;
}

SwarmConfig SwarmConfig::redrawn() const {
    SwarmConfig config = drawn_with(features);
    config.is_judging_staleness = is_judging_staleness;
    config.is_judging_closes = is_judging_closes;
    config.plant = plant;
    config.client_count = client_count;
    config.object_max = object_max;
    config.cuts = cuts;
    return config;
}

bool SwarmConfig::is_cut(RunPart part, std::uint32_t first, std::uint32_t last) const {
    return std::any_of(cuts.begin(), cuts.end(), [&](const RunCut& cut) {
        return cut.part == part && cut.first <= first && last <= cut.last;
    });
}

bool SwarmConfig::add_cut(const RunCut& cut) {
    if (is_cut(cut.part, cut.first, cut.last)) {
        return false;
    }
    RunCut whole = cut;
    std::erase_if(cuts, [&](const RunCut& other) {
        const bool touches =
            other.part == cut.part && cut.first <= other.last && other.first <= cut.last;
        if (touches) {
            whole.first = std::min(whole.first, other.first);
            whole.last = std::max(whole.last, other.last);
        }
        return touches;
    });
    cuts.push_back(whole);
    return true;
}

Choices SwarmConfig::row(RunPart part, std::uint32_t tick, std::uint64_t whose) const {
    for (const RunCut& cut : cuts) {
        if (cut.part == part && tick >= cut.first && tick < cut.last) {
            return Choices({});
        }
    }
    if (script.has_value()) {
        return script->row(part, tick, whose);
    }
    const std::uint64_t stream =
        whose << 40 | std::uint64_t{tick} << 8 | static_cast<std::uint64_t>(part);
    return Choices::from_seed(seed, stream, part == RunPart::Network ? 2'048 : 512);
}

std::string SwarmConfig::arguments() const {
    const SwarmConfig drawn = is_busy ? draw_busy(seed, 0) : draw(seed, 600);
    std::string text = "--seeds " + std::to_string(seed);
    text += is_busy ? " --busy" : "";
    text += is_busy && !is_judging_staleness ? " --no-staleness" : "";
    text += is_busy && !is_judging_closes ? " --no-closes" : "";
    text += plant == BusyPlant::None         ? ""
            : plant == BusyPlant::Starvation ? " --plant starvation"
                                             : " --plant call_loss";
    if (tick_count != drawn.tick_count) {
        text += " --ticks " + std::to_string(tick_count);
    }
    if (!(features == drawn.features)) {
        text += " --features " + features.text();
    }
    if (client_count != drawn.client_count) {
        text += " --clients " + std::to_string(client_count);
    }
    if (object_max != drawn.object_max) {
        text += " --objects " + std::to_string(object_max);
    }
    for (const RunCut& cut : cuts) {
        text += " --cut " + std::string(to_string(cut.part)) + ":" + std::to_string(cut.first) +
                "-" + std::to_string(cut.last);
    }
    return text;
}

}  // namespace replayout::test
