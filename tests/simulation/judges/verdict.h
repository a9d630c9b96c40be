// SPDX-License-Identifier: MIT
//
// What a simulation found: the first thing that was wrong, and which invariant it broke. Nothing
// after it counts, as it may follow from it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace replayout::test {

/// By their numbers in docs/simulation.md, which tells what each of them says.
enum class Invariant : std::uint8_t {
    None = 0,  ///< nothing was wrong
    Converged = 1,
    KnownValues = 2,
    ForwardValues = 3,
    WholeAtomics = 4,
    Notifies = 5,
    ReliableCalls = 6,
    UnreliableCalls = 7,
    PresentCrafts = 8,
    Memory = 9,
    DatagramsOfTick = 10,
    Silence = 11,
    EqualTwin = 12,
    Secrecy = 13,
    HostilePeer = 14,  ///< whatever else is wrong beside one
    RejectedInput = 15,
    Healing = 16,
    Recording = 17,
    Fates = 18,
    Counters = 19,
    Staleness = 20,
    CallsBeforeClose = 21,
};

/// "I9", as the table has it.
[[nodiscard]] inline std::string to_string(Invariant invariant) {
    return "I" + std::to_string(static_cast<std::uint32_t>(invariant));
}

struct Finding {
    Invariant invariant = Invariant::None;
    std::uint32_t tick = 0;
    std::string text;
};

class Verdict {
  public:
    void begin_tick(std::uint32_t tick) noexcept { tick_ = tick; }
    [[nodiscard]] std::uint32_t tick() const noexcept { return tick_; }

    void fail(Invariant invariant, std::string text) {
        if (is_good()) {
            finding_ = {invariant, tick_, std::move(text)};
        }
    }
    /// `describe` is called only where it does not hold.
    template <typename Describe>
    void require(Invariant invariant, bool holds, Describe describe) {
        if (!holds && is_good()) {
            fail(invariant, describe());
        }
    }

    [[nodiscard]] bool is_good() const noexcept { return finding_.invariant == Invariant::None; }
    [[nodiscard]] const Finding& finding() const noexcept { return finding_; }

  private:
    std::uint32_t tick_ = 0;
    Finding finding_;
};

}  // namespace replayout::test
