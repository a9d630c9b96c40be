// SPDX-License-Identifier: MIT
//
// A random game of one guard (support/types/guard_types.h) and receivers that lose up to 40 % of
// their packets, get him in parts and large values late, join, leave, make him anew, become owners
// and cease to be. Values fail, and are left out where they are too large and nobody takes them.
// Two senders run in lock step; one shares, the other does not.
//
//     always        both write the same packets; a receiver sees an atomic struct as a whole, and
//                   never an older value behind a newer one
//     in the end    when all is well again every receiver has all that it may see
//
// A failure names its seed; see support/checks/run_seed.h for how to run it alone.
#include <replayout/object_replicator.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/object_peer.h"
#include "support/types/guard_types.h"
#include "support/types/test_layout.h"

namespace replayout::test::object_replicator_random_test {
namespace {

constexpr std::uint64_t holder_count = 6;

struct Events {
    std::uint64_t packets = 0;
    std::uint64_t losses = 0;
    std::uint64_t parts = 0;
    std::uint64_t stops = 0;
    std::uint64_t large_values = 0;
    std::uint64_t left_out = 0;
    std::uint64_t nothing = 0;
    std::uint64_t restarts = 0;
    std::uint64_t rests = 0;
};

/// One receiver, of both senders.
struct Twin {
    Twin(BlockSender& shared, BlockSender& unshared) : on(shared), off(unshared) {}

    template <typename Action>
    void both(Action action) {
        action(on);
        action(off);
    }

    ObjectPeer<Guard> on;
    ObjectPeer<Guard> off;
    bool is_owner = false;
    std::int32_t health = 0;  // that it showed last
};

class Game {
  public:
    Game(std::uint64_t seed, Events& events)
        : events_(events), random_(seed), loss_percent_(random_.below(41)) {
        off_.is_sharing = false;
        for (std::uint64_t holder = 1; holder <= holder_count; ++holder) {
            (void)on_.package_map.guid_of(ObjectHandle{holder});
            (void)off_.package_map.guid_of(ObjectHandle{holder});
        }
        twins_.push_back(std::make_unique<Twin>(on_, off_));
        twins_.push_back(std::make_unique<Twin>(on_, off_));
    }

    void play(std::uint32_t tick_count) {
        for (std::uint32_t tick = 0; tick < tick_count; ++tick) {
            if (tick % 10 < 7) {
                edit();
            }
            update();
            if (random_.percent(4) && twins_.size() < 4) {
                twins_.push_back(std::make_unique<Twin>(on_, off_));
            } else if (random_.percent(2) && twins_.size() > 1) {
                twins_.erase(twins_.begin());
            }
            for (const auto& twin : twins_) {
                const bool is_late = random_.percent(50);  // behind losses, before what follows
                if (!is_late) {
                    disturb(*twin);
                }
                resolve(*twin, random_.below(4));
                if (is_late) {
                    disturb(*twin);
                }
                send(*twin);
                events_.rests += twin->on.replicator.is_settled() ? 1u : 0u;
            }
        }
    }

    void finish() {
        mend();
        update();
        loss_percent_ = 0;
        may_stop_ = false;
        for (const auto& twin : twins_) {
            for (std::uint64_t holder = 1; holder <= holder_count; ++holder) {
                twin->both([&](auto& peer) { peer.map(NetGUID{holder}, ObjectHandle{holder}); });
            }
            for (int round = 0; round < 8; ++round) {
                send(*twin);
                resolve(*twin, 10'000);
            }
            REQUIRE(twin->on.replicator.is_settled());
            REQUIRE(twin->off.replicator.is_settled());
            twin->both([&](auto& peer) { check_equal(peer.object, twin->is_owner); });
        }
    }

  private:
    // The guard.

    void edit() {
        for (std::uint32_t count = random_.below(4); count > 0; --count) {
            edit_once();
        }
    }

    void edit_once() {
        switch (random_.below(12)) {
            case 0:
                ++guard_.health;
                guard_.orders = guard_.health;
                break;
            case 1:
                guard_.leash = {ObjectHandle{random_.below(holder_count + 1)},
                                std::string(random_.percent(8) ? 1'500 : random_.below(9), 't')};
                break;
            case 2:
                guard_.kit.set(static_cast<std::int32_t>(random_.below(100)),
                               std::string(random_.percent(5) ? 1'400 : random_.below(12), 'k'));
                break;
            case 3:
                guard_.kit.seal.is_broken = random_.percent(30);
                guard_.kit.seal.stamp = static_cast<std::int32_t>(random_.below(50));
                break;
            case 4:
                edit_scores();
                break;
            case 5:
                edit_items();
                break;
            case 6:
                edit_stock();
                break;
            case 7:
                edit_path();
                break;
            case 8:
                guard_.name.assign(
                    random_.percent(15) ? 1'000 + random_.below(1'000) : random_.below(20),
                    static_cast<char>('a' + random_.below(26)));
                break;
            case 9:
                guard_.seals.resize(random_.between(1, 12));
                random_seal() = {static_cast<std::int32_t>(random_.below(90)), random_.percent(20)};
                break;
            case 10:
                guard_.secret = static_cast<std::int32_t>(random_.below(90));
                guard_.plan.resize(random_.below(30), guard_.secret);
                guard_.mood = static_cast<std::int32_t>(random_.below(90));
                guard_.rank = guard_.mood;
                break;
            default:
                guard_.last = {static_cast<std::int32_t>(random_.below(90)), random_.percent(25)};
                break;
        }
    }

    [[nodiscard]] GuardSeal& random_seal() {
        return guard_.seals[random_.below(static_cast<std::uint32_t>(guard_.seals.size()))];
    }

    void edit_scores() {
        guard_.scores.is_broken = random_.percent(15);
        guard_.scores.note = random_.below(3);
        const std::uint32_t key = random_.below(8);
        if (random_.percent(30)) {
            guard_.scores.values.erase(key);
        } else {
            guard_.scores.values[key] = static_cast<std::int32_t>(random_.below(100));
        }
    }

    void edit_items() {
        const auto place = random_.below(static_cast<std::uint32_t>(guard_.items.size() + 1));
        const auto at = guard_.items.begin() + static_cast<std::ptrdiff_t>(place);
        if (at == guard_.items.end() || random_.percent(45)) {
            guard_.items.insert(at, GuardItem{++last_item_, 1});
        } else if (random_.percent(50)) {
            guard_.items.erase(at);
        } else {
            ++at->count;
        }
    }

    void edit_stock() {
        const auto count = static_cast<std::uint32_t>(guard_.stock.items.size());
        if (count == 0 || random_.percent(45)) {
            (void)guard_.stock.add(random_.below(100), 1);
        } else if (random_.percent(50)) {
            guard_.stock.remove(random_.below(count));
        } else {
            guard_.stock.change(random_.below(count), static_cast<std::int32_t>(random_.bits()));
        }
    }

    void edit_path() {
        guard_.path.resize(random_.percent(20) ? 300 + random_.below(300) : random_.below(30));
        for (std::uint32_t& step : guard_.path) {
            step = random_.percent(30) ? random_.below(1'000) : step;
        }
    }

    /// What is wrong is put right, and what may have been left out changes.
    void mend() {
        guard_.kit.seal = {guard_.kit.seal.stamp + 1, false};
        guard_.kit.set(1, "end");
        guard_.scores.is_broken = false;
        guard_.scores.note = 2;
        guard_.scores.values[20] = 1;
        guard_.seals.resize(13);
        for (GuardSeal& seal : guard_.seals) {
            seal = {seal.stamp + 1, false};
        }
        guard_.last = {guard_.last.stamp + 1, false};
        guard_.name = "the end";
        guard_.leash.tag = "the end";
        guard_.items.push_back({++last_item_, 1});
        (void)guard_.stock.add(1, 1);
        guard_.path.assign(5, 100'000);
        guard_.plan.push_back(-1);
    }

    void update() {
        if (random_.percent(4)) {
            constexpr LifetimeCondition choices[] = {
                LifetimeCondition::OwnerOnly, LifetimeCondition::None,
                LifetimeCondition::InitialOrOwner, LifetimeCondition::InitialOnly};
            mood_condition_ = random_.pick(choices);
            for (BlockSender* sender : {&on_, &off_}) {
                sender->state.set_dynamic_condition(guard_mood, mood_condition_);
            }
        }
        REQUIRE(on_.update(&guard_) == off_.update(&guard_));
    }

    void check_equal(const Guard& held, bool is_owner) const {
        CHECK(held.health == guard_.health);
        CHECK(held.leash == guard_.leash);
        CHECK(held.kit.weapon == guard_.kit.weapon);
        CHECK(held.kit.magazines == guard_.kit.magazines);
        CHECK(held.kit.seal.stamp == guard_.kit.seal.stamp);
        CHECK(held.kit.is_consistent());
        CHECK(held.scores.values == guard_.scores.values);
        CHECK(held.items == guard_.items);
        CHECK(held.stock.content() == guard_.stock.content());
        CHECK(held.path == guard_.path);
        CHECK(held.name == guard_.name);
        CHECK(held.seals.size() == guard_.seals.size());
        for (std::size_t i = 0; i < guard_.seals.size(); ++i) {
            CHECK(held.seals[i].stamp == guard_.seals[i].stamp);
        }
        CHECK(held.last.stamp == guard_.last.stamp);
        CHECK((!is_owner || held.secret == guard_.secret));
        CHECK((!is_owner || held.plan == guard_.plan));
        CHECK((!is_owner || held.orders == guard_.orders));
        const bool sees_mood = mood_condition_ == LifetimeCondition::None ||
                               (is_owner && mood_condition_ != LifetimeCondition::InitialOnly);
        REQUIRE((!sees_mood || held.mood == guard_.mood));
    }

    // A receiver.

    void disturb(Twin& twin) {
        if (random_.percent(6)) {
            const std::uint64_t holder = random_.between(1, holder_count);
            twin.both([&](auto& peer) { peer.map(NetGUID{holder}, ObjectHandle{holder}); });
        }
        if (random_.percent(10)) {
            twin.is_owner = !twin.is_owner;
            ReplicationFlags flags;
            flags.is_owner = twin.is_owner;
            twin.both([&](auto& peer) { peer.replicator.set_flags(flags); });
        }
        if (random_.percent(1)) {
            ++events_.restarts;
            twin.both([](auto& peer) { peer.restart(); });
            twin.health = 0;
        }
    }

    void resolve(Twin& twin, std::uint32_t count) {
        for (; count > 0 && !twin.on.packets.empty(); --count) {
            if (random_.percent(50)) {
                twin.both([](auto& peer) { peer.overtake(); });
            }
            const bool is_reliable = twin.on.packets.front().large_value.value != 0;
            if (!is_reliable && random_.below(100) < loss_percent_) {
                ++events_.losses;
                twin.both([](auto& peer) { peer.lose(); });
                continue;
            }
            twin.both([&](auto& peer) {
                peer.deliver();
                REQUIRE(peer.object.kit.is_consistent());
                REQUIRE(peer.object.health >= twin.health);
            });
            twin.health = twin.on.object.health;
        }
    }

    void send(Twin& twin) {
        PacketRoom room = random_.percent(50) ? PacketRoom::Rest : PacketRoom::Whole;
        const std::size_t capacity = random_.percent(30) ? 60 + random_.below(100) : 1'200;
        bool is_in_parts = false;
        while (twin.on.replicator.owes_any()) {
            REQUIRE(twin.off.replicator.owes_any());
            if (may_stop_ && random_.percent(is_in_parts ? 15 : 10)) {
                events_.stops += is_in_parts ? 1u : 0u;
                return;
            }
            const SendResult result = twin.on.send(capacity, room);
            REQUIRE(twin.off.send(capacity, room) == result);
            is_in_parts = result == SendResult::Part;
            count(twin.on.last);
            if (result == SendResult::DoesNotFit) {
                REQUIRE(room == PacketRoom::Rest);
                room = PacketRoom::Whole;
            }
            if (result == SendResult::ValueTooLarge && (!may_stop_ || random_.percent(70))) {
                ++events_.large_values;
                const SendResult value = twin.on.send_large_value();
                REQUIRE(twin.off.send_large_value() == value);
            }
            REQUIRE(twin.on.packets == twin.off.packets);
        }
        REQUIRE_FALSE(twin.off.replicator.owes_any());
    }

    void count(const SentBlock& block) {
        events_.packets += block == SendResult::Whole || block == SendResult::Part ? 1u : 0u;
        events_.parts += block == SendResult::Part ? 1u : 0u;
        events_.nothing += block == SendResult::Nothing ? 1u : 0u;
        events_.left_out += block.findings == nullptr || block.findings->left_out.empty() ? 0u : 1u;
    }

    Events& events_;
    SeededRandom random_;
    TestLayout layout_{build_guard};
    BlockSender on_{*layout_};
    BlockSender off_{*layout_};
    Guard guard_;
    std::uint32_t last_item_ = 0;
    LifetimeCondition mood_condition_ = LifetimeCondition::None;
    std::vector<std::unique_ptr<Twin>> twins_;
    std::uint32_t loss_percent_;
    bool may_stop_ = true;
};

}  // namespace

TEST_CASE("ObjectReplicator: whatever is lost, every receiver ends with what it may see",
          "[replayout][object_replicator][random]") {
    constexpr std::uint64_t seed_count = 60;
    const SeedRange seeds = seed_range(run_seed() * 1'000'000, seed_count);
    Events events;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        Game game(seed, events);
        game.play(120);
        game.finish();
    }
    if (!seeds.is_default) {
        return;
    }
    CHECK(events.packets > 50 * seed_count);
    CHECK(events.losses > 5 * seed_count);
    CHECK(events.parts > 5 * seed_count);
    CHECK(events.stops > seed_count);
    CHECK(events.large_values > seed_count);
    CHECK(events.left_out > seed_count);
    CHECK(events.nothing > seed_count);
    CHECK(events.restarts > seed_count / 10);
    CHECK(events.rests > seed_count);
}

}  // namespace replayout::test::object_replicator_random_test
