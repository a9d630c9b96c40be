// SPDX-License-Identifier: MIT
//
// Games that never settle, at random: everything moves, comes and goes, hides, wakes, rings and
// grows, viewers walk about, packets are lost, and the cap is always reached. Each kind of what a
// client is owed keeps to its bound of docs/limits.md, "How long anything waits under a cap".
//
// REPLAYOUT_SEEDS=n plays n games of five minutes (REPLAYOUT_GAME_SECONDS=s: of so many seconds),
// and prints how near each kind came to its bound.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/unsettled_game.h"

namespace replayout::test {
namespace {

enum class Wait : std::uint8_t { New, Woken, Shown, Lost, Value, Call, Join };
constexpr std::array<const char*, 7> wait_names = {"new",   "woken", "shown", "lost",
                                                   "value", "call",  "join"};

/// The longest of each kind, in parts of its bound.
struct Ratios {
    std::array<double, wait_names.size()> most{};
    std::array<std::string, wait_names.size()> where;

    void note(Wait wait, double waited, double bound, const std::string& game) {
        const auto kind = static_cast<std::size_t>(wait);
        if (waited / bound > most[kind]) {
            most[kind] = waited / bound;
            where[kind] = game + ": " + std::to_string(static_cast<int>(waited)) + " of " +
                          std::to_string(static_cast<int>(bound));
        }
    }
};

class NeverSettling {
  public:
    NeverSettling(std::uint64_t seed, Ratios& ratios)
        : random_(seed), ratios_(ratios), game_(options(seed)) {
        constexpr double churns[] = {0, 0.1, 0.3, 0.3};
        constexpr std::uint32_t moves[] = {100, 100, 95, 60};
        churn_ = random_.pick(churns);
        move_percent_ = random_.pick(moves);
        has_distance_ = random_.percent(40);
        has_values_ = random_.percent(40);
        has_calls_ = random_.percent(40);
        has_joins_ = random_.percent(30);
        vault_ = game_.add(UnsettledGame::Motion::Stands, 4);
        bell_ = game_.add(UnsettledGame::Motion::Stands, 4);
        for (std::uint32_t i = pick_count(); i > 0; --i) {
            add();
        }
        name_ = "seed " + std::to_string(seed) + ", " + std::to_string(members_.size()) +
                " objects, cap " + std::to_string(options_.cap) + ", " +
                std::to_string(options_.ticks_per_second) + " Hz, loss " +
                std::to_string(options_.link.loss) + ", churn " + std::to_string(churn_);
        join();
    }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// Plays `seconds`, or fewer: ticks times objects stay below `object_ticks`.
    void play(double seconds, double object_ticks) {
        const double all = seconds * options_.ticks_per_second;
        const double most =
            object_ticks / std::max<double>(1, static_cast<double>(members_.size()));
        const auto ticks = static_cast<std::uint32_t>(std::min(all, most));
        for (std::uint32_t i = 0; i < ticks; ++i) {
            tick();
        }
    }

  private:
    struct Member {
        ObjectHandle object;
        std::size_t bytes = 0;
        bool is_hidden = false;
        bool is_new = false;  ///< what is measured is when the client shows it
        bool is_open = false;
        Wait opens_as = Wait::New;
        std::uint32_t new_since = 0;
        double new_bound = 0;
        Version sent_version = 0;
        bool had_lost = false;
        std::optional<std::uint32_t> changed_since;  ///< and not sent
        std::uint32_t step = 1;                      ///< the greatest since then
        bool is_lost = false;                        ///< what it waits for was lost
    };

    UnsettledGame::Options options(std::uint64_t seed) {
        constexpr std::uint32_t rates[] = {10, 20, 30, 50, 60, 60, 100, 144};
        constexpr std::uint32_t packets[] = {548, 1'200, 1'200};
        constexpr double losses[] = {0, 0, 0.02, 0.1, 0.3};
        options_.seed = seed;
        options_.ticks_per_second = random_.pick(rates);
        options_.cap = static_cast<std::uint32_t>(
            1'800 * std::pow(1'000'000.0 / 1'800, random_.below(1'001) / 1'000.0));
        options_.packet_bytes = random_.pick(packets);
        options_.link.latency_ms = random_.between(5, 60);
        options_.link.loss = random_.pick(losses);
        options_.is_sharing = random_.percent(70);
        return options_;
    }
    [[nodiscard]] std::uint32_t pick_count() {
        return static_cast<std::uint32_t>(std::pow(1'000.0, random_.below(1'001) / 1'000.0));
    }

    // What a bound counts

    /// Flushes whose packets arrive: others do not count.
    [[nodiscard]] WaitBounds bounds() const {
        const std::uint32_t other_kinds =
            (has_values_ ? 1u : 0u) + (has_calls_ ? 1u : 0u) + (joined_count_ == 0 ? 1u : 0u);
        WaitBounds bounds = game_.bounds(other_kinds);
        bounds.flow *= 1 - options_.link.loss;
        return bounds;
    }
    [[nodiscard]] double new_bytes() const {
        double bytes = 0;
        for (const Member& member : members_) {
            bytes += member.is_new ? UnsettledGame::open_bytes(member.bytes) : 0;
        }
        return bytes;
    }
    [[nodiscard]] double shown_bytes() const {
        double bytes = 0;
        for (const Member& member : members_) {
            bytes += UnsettledGame::block_bytes(member.bytes);
        }
        return bytes + 2 * UnsettledGame::block_bytes(4);
    }
    [[nodiscard]] double arrival_flushes() const {
        return bounds().of_arrival(options_.link.loss, game_.round_trip_flushes());
    }

    // What happens

    void add() {
        constexpr float priorities[] = {0.0625f, 0.125f, 0.5f, 1, 1, 1, 2, 8};
        Member member;
        member.bytes = random_.percent(10) ? random_.between(60, 400) : random_.below(60);
        member.object = game_.add(UnsettledGame::Motion::Stands, member.bytes);
        const NetObjectId id = game_.id_of(member.object);
        game_.driver().rates().set_net_priority(id, random_.pick(priorities));
        if (has_distance_) {
            game_.driver().interest().set_location(id, place());
        }
        members_.push_back(member);
        begin_new(members_.back(), Wait::New);
    }
    [[nodiscard]] Vector3 place() {
        return {static_cast<float>(random_.below(1'000)), static_cast<float>(random_.below(1'000)),
                0};
    }
    void begin_new(Member& member, Wait wait) {
        member.is_new = joined_count_ > 0;  // else it is of the initial batch
        member.is_hidden = false;
        member.is_open = false;
        member.opens_as = wait;
        member.new_since = game_.now();
        // Its channel may be that of another object, of which the close has to arrive.
        member.new_bound = bounds().of_new(new_bytes()) + 2 * arrival_flushes();
        member.changed_since.reset();
    }
    void churn() {
        churn_room_ += churn_ * bounds().flow * bounds().objects_share / 2;
        for (int tries = 0; churn_room_ > 0 && !members_.empty() && tries < 100; ++tries) {
            const std::size_t place = random_.below(static_cast<std::uint32_t>(members_.size()));
            Member& member = members_[place];
            if (member.is_new) {
                continue;
            }
            churn_room_ -= UnsettledGame::open_bytes(member.bytes);
            if (random_.percent(50)) {
                game_.remove(member.object);
                members_[place] = members_.back();
                members_.pop_back();
                add();
                continue;
            }
            game_.driver().interest().set_relevant_for(
                UnsettledGame::peer_of(0), game_.id_of(member.object), member.is_hidden);
            if (member.is_hidden) {
                begin_new(member, Wait::Woken);
            } else {
                member.is_hidden = true;
            }
        }
        churn_room_ = std::min(churn_room_, 0.0);
    }
    void move() {
        for (Member& member : members_) {
            if (random_.below(100) < move_percent_) {
                game_.change(member.object, member.bytes);
                if (member.is_open && !member.changed_since) {
                    member.changed_since = game_.now();
                    member.step = 1;
                }
            }
        }
        if (has_distance_) {
            game_.driver().interest().set_viewer(UnsettledGame::peer_of(0),
                                                 {static_cast<float>(game_.now() % 1'000), 500, 0});
            game_.driver().rates().set_priority_distance(100);
        }
        if (!members_.empty() && random_.percent(20)) {
            game_.driver().rates().force_net_update(game_.id_of(random_.pick(members_).object));
        }
    }

    void tick() {
        if (joined_count_ > 0) {
            churn();
        }
        move();
        if (has_values_ && joined_count_ > 0) {
            change_vault();
        }
        if (has_calls_ && joined_count_ > 0 && random_.percent(10)) {
            ring();
        }
        game_.tick();
        for (Member& member : members_) {
            look(member);
        }
        look_at_vault();
        look_at_bell();
        look_at_join();
    }
    void change_vault() {
        if (!vault_since_ && game_.is_equal(0, vault_) && random_.percent(5)) {
            vault_bytes_ = random_.between(1'300, 8'000);
            game_.change(vault_, vault_bytes_);
            vault_since_ = game_.now();
            vault_step_ = 1;
        }
    }
    void ring() {
        if (rung_since_.size() - rung_count_ < 20 && game_.is_shown(0, bell_) &&
            game_.driver().call_function(game_.id_of(bell_), "multicast_ring") ==
                CallResult::Sent) {
            rung_since_.push_back(game_.now());
        }
    }
    void join() {
        joining_ = game_.join();
        join_since_ = game_.now();
        join_bound_ =
            bounds().of_quarter(2 * (shown_bytes() + 26.0 * static_cast<double>(members_.size()))) +
            3 * arrival_flushes();
    }

    // What is measured

    void look(Member& member) {
        if (member.is_hidden) {
            return;
        }
        if (member.is_new) {
            check(member.opens_as, game_.now() - member.new_since, member.new_bound);
            member.is_new = !game_.is_shown(0, member.object);
        }
        const NetObjectId id = game_.id_of(member.object);
        const auto shadow = game_.driver().connection_shadow(UnsettledGame::peer_of(0), id);
        if (!shadow.has_value()) {
            member.is_open = false;
            member.changed_since.reset();
            return;
        }
        const OwedVersions position = shadow->position();
        const bool has_lost = !position.lost.is_empty();
        if (!std::exchange(member.is_open, true)) {
            member.sent_version = position.sent_version;
            member.had_lost = has_lost;
            return;
        }
        const bool is_sent =
            position.sent_version > member.sent_version || (member.had_lost && !has_lost);
        member.step = std::max(member.step, step_of(member.object));
        if (member.changed_since) {
            check(member.is_lost ? Wait::Lost : Wait::Shown, game_.now() - *member.changed_since,
                  bounds().of_shown(shown_bytes(), member.step));
        }
        if (is_sent) {
            member.changed_since.reset();
            member.is_lost = false;
        }
        if (has_lost && !member.had_lost) {
            member.is_lost = true;
            member.changed_since = game_.now();
            member.step = 1;
        }
        member.sent_version = position.sent_version;
        member.had_lost = has_lost;
    }
    [[nodiscard]] std::uint32_t step_of(ObjectHandle object) {
        const OwedUpdate owed =
            game_.driver().rates().owed_to(UnsettledGame::peer_of(0), game_.id_of(object));
        return 1u << owed.step_down;
    }
    void look_at_vault() {
        if (!vault_since_) {
            return;
        }
        vault_step_ = std::max(vault_step_, step_of(vault_));
        check(Wait::Value, game_.now() - *vault_since_,
              bounds().of_shown(shown_bytes(), vault_step_) +
                  bounds().of_quarter(static_cast<double>(vault_bytes_) * 1.1 + 200) +
                  2 * arrival_flushes());
        if (game_.is_equal(0, vault_)) {
            vault_since_.reset();
        }
    }
    void look_at_bell() {
        const Mover* bell = game_.find_on(0, bell_);
        rung_count_ = bell == nullptr ? rung_count_ : bell->rung;
        if (rung_count_ < rung_since_.size()) {
            check(Wait::Call, game_.now() - rung_since_[rung_count_],
                  bounds().of_quarter(20 * 80) + 2 * arrival_flushes());
        }
    }
    void look_at_join() {
        if (joining_) {
            check(Wait::Join, game_.now() - join_since_, join_bound_);
            if (game_.client_driver(*joining_).initial_batch().is_finished) {
                joining_.reset();
                ++joined_count_;
            }
        } else if (has_joins_ && joined_count_ < 3 && random_.below(100) == 0) {
            join();
        }
    }
    void check(Wait wait, double waited, double bound) {
        ratios_.note(wait, waited, bound, name_);
        if (waited > bound) {
            FAIL_CHECK(wait_names[static_cast<std::size_t>(wait)]
                       << " waits for " << waited << " flushes, its bound is " << bound);
        }
    }

    SeededRandom random_;
    Ratios& ratios_;
    UnsettledGame::Options options_;
    UnsettledGame game_;
    std::vector<Member> members_;
    ObjectHandle vault_;  // of a value that is larger than a packet
    ObjectHandle bell_;
    std::string name_;
    double churn_ = 0;  // new bytes, in parts of what new objects have for certain
    double churn_room_ = 0;
    std::uint32_t move_percent_ = 100;
    bool has_distance_ = false;
    bool has_values_ = false;
    bool has_calls_ = false;
    bool has_joins_ = false;
    std::optional<std::uint32_t> vault_since_;
    std::size_t vault_bytes_ = 0;
    std::uint32_t vault_step_ = 1;
    std::vector<std::uint32_t> rung_since_;
    std::size_t rung_count_ = 0;
    std::optional<std::size_t> joining_;
    std::uint32_t join_since_ = 0;
    double join_bound_ = 0;
    std::uint32_t joined_count_ = 0;
};

void print(const Ratios& ratios) {
    for (std::size_t i = 0; i < wait_names.size(); ++i) {
        std::printf("%-6s %.2f of its bound, %s\n", wait_names[i], ratios.most[i],
                    ratios.where[i].c_str());
    }
}

}  // namespace

TEST_CASE("Never settling: nothing waits longer than promised, whatever moves, comes and goes",
          "[netdriver][rates][random][busy]") {
    const SeedRange seeds = seed_range(run_seed() % 1'000'000 + 1, 12);
    const char* const asked = std::getenv("REPLAYOUT_GAME_SECONDS");
    const double seconds = asked == nullptr ? 300 : std::atof(asked);
    Ratios ratios;
    for (const std::uint64_t seed : seeds) {
        NeverSettling game(seed, ratios);
        INFO("REPLAYOUT_SEED=" << seed << ": " << game.name());
        game.play(seconds, seeds.is_default ? 200'000 : 1e9);
    }
    if (!seeds.is_default) {
        print(ratios);
    }
}

}  // namespace replayout::test
