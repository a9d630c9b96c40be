// SPDX-License-Identifier: MIT
#include "worst/cost.h"

#include <algorithm>
#include <cstddef>
#include <ctime>

#if defined(__clang__)
#define REPLAYOUT_UNCOUNTED __attribute__((no_sanitize("coverage")))
#else
#define REPLAYOUT_UNCOUNTED __attribute__((no_sanitize_coverage))
#endif

namespace {

thread_local std::uint64_t blocks_run = 0;

}  // namespace

// Called at the start of each basic block of what is compiled for it.
extern "C" REPLAYOUT_UNCOUNTED void __sanitizer_cov_trace_pc() {
    ++blocks_run;
}

namespace replayout::worst {

namespace {

// Measured in a release build by gcc 12 (docs/limits.md).
constexpr std::uint64_t instructions_per_block = 6;
constexpr std::uint64_t instructions_per_microsecond = 3'000;

[[nodiscard]] std::uint64_t thread_nanoseconds() noexcept {
    std::timespec time{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

std::string_view to_string(Score score) noexcept {
    constexpr std::string_view names[score_count] = {"datagram", "hello",  "dispatch",
                                                     "end",      "memory", "answered"};
    return names[static_cast<std::size_t>(score)];
}

std::string_view unit_of(Score score) noexcept {
    return score == Score::Memory || score == Score::Answered ? "bytes" : "instructions";
}

std::uint64_t limit_of(Side side, Score score) noexcept {
    switch (score) {
        case Score::Datagram:
        case Score::Hello:
        case Score::Dispatch:
            // A client takes what its server sends: see docs/limits.md.
            return (side == Side::Server ? instructions_max : client_instructions_max) *
                   (CostMeter::is_exact() ? 1 : inexact_factor);
        case Score::End:
            return end_instructions_max * (CostMeter::is_exact() ? 1 : inexact_factor);
        case Score::Memory:
            // What a client keeps is bounded by what its server may show it, not by this.
            return side == Side::Server ? static_cast<std::uint64_t>(peer_bytes_max) : no_limit;
        case Score::Answered:
            return 0;
    }
    return no_limit;
}

void Costs::take_least(const Costs& again) {
    found = {};
    for (std::size_t i = 0; i < notes.size() && i < again.notes.size(); ++i) {
        notes[i].found.cost = std::min(notes[i].found.cost, again.notes[i].found.cost);
        find(notes[i]);
    }
}

bool CostMeter::is_exact() noexcept {
#ifdef REPLAYOUT_COUNTS_BLOCKS
    return true;
#else
    return false;
#endif
}

void CostMeter::begin() noexcept {
    began_ = is_exact() ? blocks_run : thread_nanoseconds();
}

std::uint64_t CostMeter::instructions() const noexcept {
    return is_exact() ? (blocks_run - began_) * instructions_per_block
                      : (thread_nanoseconds() - began_) * instructions_per_microsecond / 1'000;
}

}  // namespace replayout::worst
