// SPDX-License-Identifier: MIT
//
// Recordings that were damaged, one case a number: of ten, five have a byte changed, one is cut
// off, and four are spliced of two recordings. Each is a typed error, or shows what was recorded at
// that time, and never anything else. REPLAYOUT_SEEDS=1000000 goes through every byte and every
// value of it, every length, and 400,000 splices.
#include <replayout/netdriver/replay_player.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/replay_screen.h"
#include "support/hostile/replay_tape.h"

namespace replayout::test {
namespace {

struct Tapes {
    Tape first{1'000};
    Tape second{2'000};
    Bytes a = first.bytes();
    Bytes b = second.bytes();
};

/// The `nth` change of a byte: neighbours lie far apart, so that few cases are of the whole file
/// too.
[[nodiscard]] Bytes changed(const Bytes& whole, std::uint64_t nth) {
    constexpr std::uint64_t step = 1'000'003;  // a prime, so every change has its turn
    const std::uint64_t change = nth * step % (whole.size() * 255);
    Bytes bytes = whole;
    bytes[change / 255] ^= static_cast<std::byte>(1 + change % 255);
    return bytes;
}

[[nodiscard]] Bytes cut(const Tapes& tapes, std::uint64_t nth) {
    const Bytes& whole = nth % 2 == 0 ? tapes.a : tapes.b;
    const std::uint64_t size = nth / 2 * 1'009 % whole.size();
    return {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)};
}

/// Two to four pieces, the first from the front, each of either.
[[nodiscard]] Bytes spliced(const Tapes& tapes, std::uint64_t seed) {
    SeededRandom random(seed);
    Bytes bytes;
    for (std::uint32_t pieces = random.between(2, 4); pieces > 0; --pieces) {
        const Bytes& from = random.percent(50) ? tapes.a : tapes.b;
        const auto size = static_cast<std::uint32_t>(from.size());
        // Where the other one was left, too: there sizes and chunks fit.
        const std::uint32_t begin = random.percent(50)
                                        ? std::min(static_cast<std::uint32_t>(bytes.size()), size)
                                        : (bytes.empty() ? 0 : random.below(size));
        const std::uint32_t count = random.below(size - begin + 1);
        bytes.insert(bytes.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
                     from.begin() + static_cast<std::ptrdiff_t>(begin + count));
    }
    return bytes;
}

struct Judgement {
    std::uint64_t refused = 0;  ///< files of which nothing is shown
    std::uint64_t shown = 0;    ///< files of which something is
    std::uint64_t places = 0;   ///< that were shown, and were right
};

/// Opens it and seeks everywhere, forth and back. Empty: all is well, else what is not.
[[nodiscard]] std::string judge(std::span<const std::byte> bytes, const Tapes& tapes,
                                Judgement& judgement) {
    ReplayScreen screen(bytes);
    if (const ReplayError error = screen.player.open(); error != ReplayError::None) {
        ++judgement.refused;
        return screen.world.object_count() == 0 && !to_string(error).empty() ? "" : "left a world";
    }
    std::vector<NetTime> times;
    for (const auto& [time, text] : tapes.first.texts) {
        times.push_back(time);
    }
    bool is_shown = false;
    for (const std::size_t i : {8u, 0u, 5u, 3u, 7u, 1u}) {
        if (times[i] > screen.player.end_time()) {
            continue;
        }
        if (screen.player.seek(times[i]) != ReplayError::None) {
            if (screen.world.object_count() != 0) {
                return "left a world behind an error";
            }
            continue;
        }
        const std::string text = screen.text();
        if (text != tapes.first.texts.at(times[i]) && text != tapes.second.texts.at(times[i])) {
            return "shows what never was: " + text;
        }
        ++judgement.places;
        is_shown = true;
    }
    ++(is_shown ? judgement.shown : judgement.refused);
    return "";
}

}  // namespace

TEST_CASE(
    "Replay: changed, cut or spliced, a recording is a typed error or shows what was recorded",
    "[netdriver][replay][damage][random]") {
    const Tapes tapes;
    // Else the same state twice would hide one that is shown at the wrong time.
    REQUIRE(tapes.first.texts.begin()->second != tapes.second.texts.begin()->second);
    const SeedRange cases = seed_range(1, 2'000);
    Judgement judgement;
    for (std::uint64_t number = cases.first; number < cases.first + cases.count; ++number) {
        const std::uint64_t kind = number % 10;
        const std::uint64_t nth = number / 10;
        const Bytes bytes = kind < 5    ? changed(tapes.a, nth * 5 + kind)
                            : kind == 5 ? cut(tapes, nth)
                                        : spliced(tapes, number);
        const std::string wrong = judge(bytes, tapes, judgement);
        if (!wrong.empty()) {
            FAIL("case " << number << ": " << wrong);
        }
    }
    INFO(judgement.refused << " refused, " << judgement.shown << " shown, at " << judgement.places
                           << " places");
    CHECK((!cases.is_default || (judgement.refused > 200 && judgement.shown > 200)));
    if (!cases.is_default) {
        WARN(tapes.a.size() << " bytes: " << judgement.refused << " refused, " << judgement.shown
                            << " shown, at " << judgement.places << " places");
    }
}

}  // namespace replayout::test
