// SPDX-License-Identifier: MIT
//
// How long an object waits where a cap is reached, against what is promised: no longer than
// (ceil(owed bytes / budget bytes) + 1) x 2^e of its ticks, whatever priorities, frequencies,
// sizes, caps and losses are.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/crate_game.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t crate_ticks_per_second = 50;

/// Crates that are owed all the time: each changes, wholly, in each tick.
class StarvingCrowd {
  public:
    explicit StarvingCrowd(std::uint64_t seed) : random_(seed), game_(build_crate, options(seed)) {
        game_.join();
        for (std::uint32_t i = random_.between(10, 120); i > 0; --i) {
            add();
        }
        REQUIRE(game_.settle());
        LinkSettings link;
        link.latency_ms = 30;
        link.loss = random_.below(4) * 0.1;
        game_.network().set_settings(link);
        cap_ = random_.between(1'800, random_.percent(50) ? 6'000 : 40'000);
        set_cap(game_, cap_);
    }

    void play(std::uint32_t ticks) {
        for (std::uint32_t i = 0; i < ticks; ++i) {
            tick();
        }
    }
    void forget() {
        for (Member& member : members_) {
            member.longest_wait = 0;
            member.exponent = 0;
        }
    }
    void check() const {
        INFO("cap " << cap_ << ", crates " << members_.size() << ", flushes for all "
                    << flushes_for_all());
        for (const Member& member : members_) {
            INFO("a tick of its own in " << member.period << " flushes, e " << member.exponent);
            const std::uint32_t wait = std::max(member.longest_wait, tick_ - member.sent_at);
            CHECK(wait / member.period <= flushes_for_all() << member.exponent);
            // And not nearly that: once it is due it waits for what was due before it.
            CHECK(wait <= (member.period << member.exponent) + 2 * flushes_for_all());
        }
    }

  private:
    struct Member {
        ObjectHandle crate;
        std::size_t bytes = 0;     ///< of its content
        std::uint32_t period = 1;  ///< flushes from one tick of its own to the next
        Version sent_version = 0;
        bool had_lost = false;
        std::uint32_t sent_at = 0;
        std::uint32_t longest_wait = 0;  ///< from one time that it was sent to the next
        std::uint32_t exponent = 0;      ///< the most by which it stepped down
    };

    [[nodiscard]] static ClassGameOptions options(std::uint64_t seed) {
        ClassGameOptions options;
        options.seed = seed;
        options.is_validating = false;
        options.config.timeout_ms = 60'000;  // so much is lost that ten seconds may be too few
        return options;
    }

    void add() {
        constexpr std::uint32_t periods[] = {1, 1, 1, 5, 25};
        constexpr float priorities[] = {0.0625f, 0.25f, 0.5f, 1, 1, 2, 8};
        Member member;
        member.crate = game_.add();
        member.bytes = random_.percent(10) ? random_.between(150, 600) : random_.below(150);
        member.period = random_.pick(periods);
        const NetObjectId id = game_.id_of(member.crate);
        if (member.period > 1) {
            game_.driver().rates().set_net_update_frequency(
                id, {static_cast<float>(crate_ticks_per_second / member.period)});
        }
        game_.driver().rates().set_net_priority(id, random_.pick(priorities));
        members_.push_back(member);
    }
    void tick() {
        ++tick_;
        game_.tick([this] {
            for (Member& member : members_) {
                fill(game_.object(member.crate), tick_, member.bytes);
                member.had_lost = !position_of(member).lost.is_empty();
            }
        });
        for (Member& member : members_) {
            const OwedVersions position = position_of(member);
            const bool is_sent = position.sent_version > member.sent_version ||
                                 (member.had_lost && position.lost.is_empty());
            if (is_sent) {
                member.longest_wait = std::max(member.longest_wait, tick_ - member.sent_at);
                member.sent_at = tick_;
                member.sent_version = position.sent_version;
            }
            const OwedUpdate owed =
                game_.driver().rates().owed_to(CrateGame::peer_of(0), game_.id_of(member.crate));
            member.exponent = std::max(member.exponent, owed.step_down);
        }
    }
    [[nodiscard]] OwedVersions position_of(const Member& member) {
        const auto shadow =
            game_.driver().connection_shadow(CrateGame::peer_of(0), game_.id_of(member.crate));
        return shadow.has_value() ? shadow->position() : OwedVersions();
    }
    /// Flushes whose room is what all crates take together, and one.
    [[nodiscard]] std::uint32_t flushes_for_all() const {
        constexpr std::size_t block_head_bytes = 12;
        constexpr std::size_t packet_head_bytes = 60;
        constexpr std::size_t packet_bytes = 1'200;
        std::size_t bytes = 0;
        for (const Member& member : members_) {
            bytes += member.bytes + block_head_bytes;
        }
        bytes += (bytes / (packet_bytes - packet_head_bytes) + 1) * packet_head_bytes;
        const std::size_t per_flush = cap_ * 29 / 32 / crate_ticks_per_second;
        return static_cast<std::uint32_t>((bytes + per_flush - 1) / per_flush) + 1;
    }

    SeededRandom random_;
    CrateGame game_;
    std::vector<Member> members_;
    std::uint32_t cap_ = 0;
    std::uint32_t tick_ = 0;
};

}  // namespace

TEST_CASE("Starvation: no object waits longer than promised, whatever rates, sizes and losses are",
          "[netdriver][rates][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 6)) {
        INFO("REPLAYOUT_SEED=" << seed);
        StarvingCrowd crowd(seed);
        crowd.play(60 * crate_ticks_per_second);  // the pressure settles
        crowd.forget();
        crowd.play(40 * crate_ticks_per_second);
        crowd.check();
    }
}

}  // namespace replayout::test
