// SPDX-License-Identifier: MIT
//
// What a server keeps of flushes whose fate a client does not tell.
#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

struct Pulse {
    std::uint32_t beat = 0;
};

[[nodiscard]] Result<const Type*> build_pulse(TypeRegistry& registry) {
    return class_builder<Pulse>(registry, "Pulse").property<&Pulse::beat>().build();
}

/// All pulses change in each tick. Of two clients the first sees all of them, and answers.
class PulseGame {
  public:
    static constexpr std::uint32_t pulse_count = 2'000;

    /// `seen_count`: what the second client is shown the changes of.
    explicit PulseGame(std::uint32_t seen_count) : game_(build_pulse, options()) {
        game_.join();
        game_.join();
        for (std::uint32_t i = 0; i < pulse_count; ++i) {
            pulses_.push_back(game_.add());
        }
        REQUIRE(game_.settle());
        for (std::uint32_t i = seen_count; i < pulse_count; ++i) {
            game_.driver().interest().set_relevant_for(game_.peer_of(1), game_.id_of(pulses_[i]),
                                                       false);
        }
        REQUIRE(game_.settle());
    }

    void play(std::uint32_t ticks) {
        for (; ticks > 0; --ticks) {
            for (const ObjectHandle pulse : pulses_) {
                ++game_.object(pulse).beat;
            }
            game_.tick();
        }
    }
    void silence(bool is_silent) {
        LinkSettings link = options().link;
        link.loss = is_silent ? 1.0 : 0.0;
        game_.network().set_settings(game_.peer_of(1), PeerId{1}, link);
    }
    [[nodiscard]] std::size_t in_flight_bytes() {
        const MemoryReport report = game_.driver().memory_report();
        return report.in_flight_bytes + report.bundle_bytes;
    }
    [[nodiscard]] ClassGame<Pulse>& game() noexcept { return game_; }
    [[nodiscard]] const std::vector<ObjectHandle>& pulses() const noexcept { return pulses_; }

  private:
    [[nodiscard]] static ClassGameOptions options() {
        ClassGameOptions options;
        options.link.latency_ms = 40;
        options.is_validating = false;
        return options;
    }

    ClassGame<Pulse> game_;
    std::vector<ObjectHandle> pulses_;
};

}  // namespace

TEST_CASE("Bundles: of a client that answers nothing the server keeps what went to that client",
          "[netdriver][bundles]") {
    PulseGame game(20);
    game.play(50);
    game.silence(true);
    game.play(300);
    // 16 flushes with what changed at 28 bytes each, and of 224 what went to the client, with the
    // bits that name it.
    constexpr std::size_t whole_bytes = std::size_t{16} * PulseGame::pulse_count * 28;
    constexpr std::size_t old_bytes = std::size_t{224} * (PulseGame::pulse_count * 2 + 20 * 24);
    CAPTURE(game.in_flight_bytes());
    CHECK(game.in_flight_bytes() < (whole_bytes + old_bytes) * 5 / 4);

    game.silence(false);
    game.play(100);
    REQUIRE(game.game().settle());
    for (std::uint32_t i = 0; i < 20; ++i) {
        CHECK(game.game().object_on(1, game.pulses()[i]).beat ==
              game.game().object(game.pulses()[i]).beat);
    }
}

}  // namespace replayout::test
