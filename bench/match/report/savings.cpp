// SPDX-License-Identifier: MIT
#include "match/report/savings.h"

#include "match/session/match_result.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace replayout::match {

namespace {

[[nodiscard]] SavingsCounts counts_of(const PropertyCost& cost, const PropertyCost* unshared_cost) {
    const PropertyCounters& shared = cost.counters;
    SavingsCounts counts;
    counts.values_sent = shared.values_sent;
    counts.payload_reuses = shared.payload_reuses;
    counts.values_reused = shared.values_reused;
    counts.encoded = shared.encoded;
    counts.bits_copied_alone = shared.bits_copied;
    if (unshared_cost != nullptr) {
        const PropertyCounters& unshared = unshared_cost->counters;
        counts.calls_unshared = unshared.values_encoded();
        counts.bits_sent = unshared.bits_sent;
        counts.bits_in_copied_blocks = unshared.bits_sent - shared.bits_sent;
        counts.ns_saved =
            std::llround(static_cast<double>(counts.calls_saved()) * cost.ns_per_call);
    }
    return counts;
}

/// What rows are in the order of.
[[nodiscard]] std::int64_t merit_of(const SavingsCounts& counts, bool has_twin) noexcept {
    return has_twin ? counts.calls_saved() : static_cast<std::int64_t>(counts.values_copied());
}

template <class Row>
void sort_by_merit(std::vector<Row>& rows, bool has_twin) {
    std::stable_sort(rows.begin(), rows.end(), [has_twin](const Row& left, const Row& right) {
        return merit_of(left.counts, has_twin) > merit_of(right.counts, has_twin);
    });
}

[[nodiscard]] ClassSavings savings_of_class(const TypeCost& shared, const TypeCost* unshared) {
    ClassSavings savings;
    savings.name = shared.name;
    savings.blocks = shared.blocks;
    for (std::size_t i = 0; i < shared.properties.size(); ++i) {
        const PropertyCost& cost = shared.properties[i];
        savings.properties.push_back(
            {cost.path, counts_of(cost, unshared != nullptr ? &unshared->properties[i] : nullptr),
             cost.ns_per_call});
        savings.counts.add(savings.properties.back().counts);
    }
    sort_by_merit(savings.properties, unshared != nullptr);
    return savings;
}

/// Who counts by type does what is done where nobody does.
[[nodiscard]] bool is_same_work(const ReplicationCounters& left,
                                const ReplicationCounters& right) noexcept {
    return left.values_encoded == right.values_encoded &&
           left.values_reused == right.values_reused &&
           left.payloads_reused == right.payloads_reused &&
           left.bundles_built == right.bundles_built &&
           left.bundles_copied == right.bundles_copied && left.block_misses == right.block_misses;
}

}  // namespace

void SavingsCounts::add(const SavingsCounts& other) noexcept {
    values_sent += other.values_sent;
    payload_reuses += other.payload_reuses;
    values_reused += other.values_reused;
    for (std::size_t reason = 0; reason < encode_reason_count; ++reason) {
        encoded[reason] += other.encoded[reason];
    }
    bits_copied_alone += other.bits_copied_alone;
    calls_unshared += other.calls_unshared;
    bits_sent += other.bits_sent;
    bits_in_copied_blocks += other.bits_in_copied_blocks;
    ns_saved += other.ns_saved;
}

std::uint64_t SavingsCounts::calls() const noexcept {
    return std::accumulate(encoded.begin(), encoded.end(), std::uint64_t{0});
}

std::uint64_t SavingsCounts::calls_first() const noexcept {
    return encoded[static_cast<std::size_t>(EncodeReason::FirstUse)] +
           encoded[static_cast<std::size_t>(EncodeReason::ValueChanged)];
}

void BlockSavings::add(const BlockSavings& other) noexcept {
    sent += other.sent;
    bytes_sent += other.bytes_sent;
    built += other.built;
    copied += other.copied;
    bytes_copied += other.bytes_copied;
    for (std::size_t reason = 0; reason < block_miss_count; ++reason) {
        misses[reason] += other.misses[reason];
    }
}

bool is_sharing_played(const MatchOptions& options) noexcept {
    return options.sharing != SharingLevel::Off || options.has_twin;
}

Savings savings_of(const MatchOptions& options, const MatchResult& timed,
                   const MatchResult& counted) {
    // Where the first server does not share its twin does.
    const bool is_first = options.sharing != SharingLevel::Off;
    const std::vector<TypeCost>& shared = is_first ? counted.types : counted.twin_types;
    const std::vector<TypeCost>& unshared = is_first ? counted.twin_types : counted.types;
    const ReplicationCounters& counters = (is_first ? timed.stats : timed.twin_stats).replication;
    Savings savings;
    savings.has_twin = timed.has_twin;
    savings.is_same = counted.packets_digest == timed.packets_digest &&
                      counted.is_twin_equal == timed.is_twin_equal &&
                      is_same_work(counted.stats.replication, timed.stats.replication) &&
                      is_same_work(counted.twin_stats.replication, timed.twin_stats.replication);
    savings.bundles_built = counters.bundles_built;
    savings.bundles_copied = counters.bundles_copied;
    for (std::size_t i = 0; i < shared.size(); ++i) {
        savings.classes.push_back(
            savings_of_class(shared[i], savings.has_twin ? &unshared[i] : nullptr));
        savings.counts.add(savings.classes.back().counts);
        savings.blocks.add(savings.classes.back().blocks);
    }
    sort_by_merit(savings.classes, savings.has_twin);
    return savings;
}

}  // namespace replayout::match
