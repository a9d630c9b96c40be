// SPDX-License-Identifier: MIT
//
// One row of the table with so many connections: all levels of sharing, and what stands beside
// them, tick by tick in turns, so that each meets the same hour of the machine.
#pragma once

#include "savings/savings_row.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace replayout::bench {

enum class SavingsSubject : std::uint8_t {
    // The server, by SharingLevel.
    Off,
    Pieces,
    Payloads,
    Bundles,
    OneAndCopies,  ///< the server with one connection, and a copy of its packets for each other one
    Memcpy,        ///< the packets of Bundles, copied once more
    // HandWrittenKind
    NaivePoll,
    NaiveDirty,
    SharedOnce,
};
inline constexpr std::size_t savings_subject_count = 9;

/// As in tables and files: "off", "one + copies".
[[nodiscard]] std::string_view to_string(SavingsSubject subject) noexcept;

/// In nanoseconds a tick, or a join of all. 0: it was not played.
struct SavingsTime {
    double median = 0;
    double p10 = 0;
    double p90 = 0;
};

struct SavingsCell {
    std::uint32_t connections = 0;
    std::string error;  ///< empty: all else is there
    std::array<SavingsTime, savings_subject_count> times{};
    double bytes_per_connection = 0;  ///< in a tick, or a join

    [[nodiscard]] const SavingsTime& of(SavingsSubject subject) const noexcept {
        return times[static_cast<std::size_t>(subject)];
    }
    /// Off / Bundles.
    [[nodiscard]] double gain() const noexcept {
        const double on = of(SavingsSubject::Bundles).median;
        return on == 0 ? 0 : of(SavingsSubject::Off).median / on;
    }
};

struct SavingsCellSettings {
    std::uint32_t connections = 64;
    std::uint32_t ticks = 120;      ///< timed, of each subject; fewer where the game ends before
    std::uint32_t turn = 20;        ///< ticks of one subject before it is the next one's turn
    std::uint32_t joins = 3;        ///< timed, of a row of joins
    bool has_middle_levels = true;  ///< Pieces and Payloads are played, too
};

[[nodiscard]] SavingsCell measure_cell(const SavingsRow& row, const SavingsCellSettings& settings);

}  // namespace replayout::bench
