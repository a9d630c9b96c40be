// SPDX-License-Identifier: MIT
//
// What sharing saved in a match, exactly, by class and property. The match is played twice:
//
//     once as it is        the times of both servers
//     once more, counting  what each property of both cost (TypeCounters), to the same packets
//
// Counting takes time: so the times are of the first, the counts of the second, which did the same.
//
// The clock runs for whole ticks, so what was saved of a property is an estimate: the calls that it
// saved times what one of them takes (CallCosts), measured behind the match. That is serializing
// alone. What else is saved with a whole block, or spent to keep and copy it, is in the times of
// the ticks and in no property's.
//
// The two servers send the same, byte for byte. So of what the one without sharing has sent of a
// property by itself, the other one has either sent by itself or copied within a whole block: that
// is how the bits of values are known which nobody looked at when they were copied.
#pragma once

#include <replayout/type_counters.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace replayout::match {

struct MatchOptions;
struct MatchResult;

/// Of a property; of a class or the whole the sums.
struct SavingsCounts {
    // Of the server that shares.
    std::uint64_t values_sent = 0;
    std::uint64_t payload_reuses = 0;  ///< of these, copied with a whole block
    std::uint64_t values_reused = 0;   ///< copied alone, into blocks that were sent or not
    std::array<std::uint64_t, encode_reason_count> encoded{};  ///< calls of its serializer
    std::uint64_t bits_copied_alone = 0;                       ///< of values sent
    // Of both, or nothing where one of them was not played.
    std::uint64_t calls_unshared = 0;         ///< of the one that does not share
    std::uint64_t bits_sent = 0;              ///< of all values sent
    std::uint64_t bits_in_copied_blocks = 0;  ///< of these
    std::int64_t ns_saved = 0;                ///< estimated: calls_saved() times what one takes

    void add(const SavingsCounts& other) noexcept;

    [[nodiscard]] std::uint64_t calls() const noexcept;
    /// Of these, those for a value that was not encoded yet. Nobody can do without.
    [[nodiscard]] std::uint64_t calls_first() const noexcept;
    /// Less than nothing where sharing made more calls than it saved.
    [[nodiscard]] std::int64_t calls_saved() const noexcept {
        return static_cast<std::int64_t>(calls_unshared - calls());
    }
    [[nodiscard]] std::int64_t calls_saved_max() const noexcept {
        return static_cast<std::int64_t>(calls_unshared - calls_first());
    }
    [[nodiscard]] std::uint64_t values_copied() const noexcept {
        return payload_reuses + values_reused;
    }
    /// Of the values sent.
    [[nodiscard]] std::uint64_t bits_encoded() const noexcept {
        return bits_sent - bits_in_copied_blocks - bits_copied_alone;
    }
};

struct BlockSavings {
    std::uint64_t sent = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t built = 0;   ///< kept for the next receiver
    std::uint64_t copied = 0;  ///< whole
    std::uint64_t bytes_copied = 0;
    BlockMisses misses{};  ///< by BlockMiss: why the others were not

    void add(const BlockSavings& other) noexcept;
};

struct PropertySavings {
    std::string path;
    SavingsCounts counts;
    double ns_per_call = 0;  ///< 0: not measured, or too little to be told from a block's time
};

/// Those of which most was saved first, without a twin those of which most was copied; so the
/// properties.
struct ClassSavings {
    std::string name;
    SavingsCounts counts;
    BlockSavings blocks;
    std::vector<PropertySavings> properties;
};

struct Savings {
    bool has_twin = false;  ///< both servers were played: it is known what was saved
    /// Every packet was the same again, and the servers did the same for them: as many calls,
    /// blocks and bundles.
    bool is_same = false;
    std::uint64_t bundles_built = 0;   ///< of the server that shares
    std::uint64_t bundles_copied = 0;  ///< likewise
    SavingsCounts counts;
    BlockSavings blocks;
    std::vector<ClassSavings> classes;
};

/// A server that shares is played at all.
[[nodiscard]] bool is_sharing_played(const MatchOptions& options) noexcept;

/// `counted` is the same match once more, with counters of types. Needs is_sharing_played().
[[nodiscard]] Savings savings_of(const MatchOptions& options, const MatchResult& timed,
                                 const MatchResult& counted);

}  // namespace replayout::match
