// SPDX-License-Identifier: MIT
//
// What is looked for: the greatest of each of these, and where it came about. Which of them a page
// bounds, and by how much, stands in docs/limits.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "worst/step.h"

namespace replayout::worst {

enum class Score : std::uint8_t {
    Datagram,  ///< instructions of a dispatch of one datagram, that is no hello
    Hello,     ///< instructions of one that is, beyond those of each object
    Dispatch,  ///< instructions of a dispatch, for each of its datagrams
    End,       ///< instructions of a dispatch of one datagram that ends a client's connection
    Memory,    ///< bytes that one peer makes our end keep, beyond those of each object
    Answered,  ///< bytes sent to a peer that its acks and the time do not account for
};
inline constexpr std::size_t score_count = 6;

[[nodiscard]] std::string_view to_string(Score score) noexcept;
[[nodiscard]] std::string_view unit_of(Score score) noexcept;

/// By how much docs/limits.md bounds each; instructions are those of a release build.
inline constexpr std::uint64_t instructions_max = 3'000'000;
inline constexpr std::uint64_t client_instructions_max = 400'000'000;
inline constexpr std::uint64_t end_instructions_max = 540'000'000;  // with its values
/// Where blocks are not counted: other builds, other machines, and what else runs on them.
inline constexpr std::uint64_t inexact_factor = 30;
inline constexpr std::uint64_t instructions_per_object = 60;         // of a hello
inline constexpr std::int64_t peer_bytes_max = 1'048'576 + 327'680;  // blocks under way
inline constexpr std::int64_t peer_bytes_per_object = 16;

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};
[[nodiscard]] std::uint64_t limit_of(Side side, Score score) noexcept;

struct Costs {
    struct Found {
        std::uint64_t cost = 0;
        std::uint32_t place = 0;  ///< which dispatch it was, or after which
    };
    struct Note {
        Score score;
        Found found;
    };
    std::array<Found, score_count> found;
    std::vector<Note> notes;  ///< all, in order

    [[nodiscard]] Found& of(Score score) noexcept { return found[static_cast<std::size_t>(score)]; }
    [[nodiscard]] const Found& of(Score score) const noexcept {
        return found[static_cast<std::size_t>(score)];
    }
    void note(Score score, std::uint64_t cost, std::uint32_t place) {
        notes.push_back({score, {cost, place}});
        find(notes.back());
    }
    /// Takes of each note the lesser cost, of this play or of `again`, a play of the same script.
    void take_least(const Costs& again);

  private:
    void find(const Note& note) noexcept {
        if (note.found.cost > of(note.score).cost) {
            of(note.score) = note.found;
        }
    }
};

/// Counts what a dispatch takes.
///
/// Where the library is compiled with -fsanitize-coverage=trace-pc, as preset "worst" does, it
/// counts the basic blocks that ran, and the same steps cost the same each time. Elsewhere it reads
/// the clock of the thread. It converts both to instructions, at rates that were measured with
/// Callgrind.
class CostMeter {
  public:
    /// Whether blocks are counted in this build.
    [[nodiscard]] static bool is_exact() noexcept;

    void begin() noexcept;
    [[nodiscard]] std::uint64_t instructions() const noexcept;

  private:
    std::uint64_t began_ = 0;
};

}  // namespace replayout::worst
