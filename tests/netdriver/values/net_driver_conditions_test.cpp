// SPDX-License-Identifier: MIT
//
// Who is sent what: every condition, every kind of receiver, and what happens when a receiver
// becomes another one.
#include <replayout/netdriver/net_driver.h>

#include <array>
#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"
#include "support/worlds/sentry_game.h"

namespace replayout::test {
namespace {

using Condition = LifetimeCondition;

constexpr std::size_t condition_count = lifetime_condition_count - 1;

[[nodiscard]] Condition condition_at(std::size_t index) {
    return static_cast<Condition>(index);
}

void set_all(SentryGame& game, ObjectHandle sentry, std::int32_t value) {
    game.sentry(sentry).values.fill(value);
}

/// One digit for each condition, in order: what the client has.
[[nodiscard]] std::string digits(SentryGame& game, std::size_t client, ObjectHandle sentry) {
    std::string text;
    for (const std::int32_t value : game.sentry_on(client, sentry).values) {
        text += static_cast<char>('0' + value);
    }
    return text;
}

//                      None, InitialOnly, OwnerOnly, SkipOwner, SimulatedOnly, AutonomousOnly,
//                      SimulatedOrPhysics, InitialOrOwner, Custom, ReplayOrOwner, ReplayOnly,
//                      SimulatedOnlyNoReplay, SimulatedOrPhysicsNoReplay, SkipReplay, Dynamic,
//                      Never
struct Expectation {
    const char* what;
    bool is_owner;
    bool is_autonomous;
    bool is_replay;
    bool has_physics;
    const char* at_first;    ///< 1: was sent
    const char* afterwards;  ///< 2: was sent
};

// By hand, from Unreal's description of each condition.
constexpr std::array expectations{
    Expectation{"a stranger", false, false, false, false, "1101101110011110", "2102202120022220"},
    Expectation{"a stranger, with physics", false, false, false, true, "1101101110011110",
                "2102202120022220"},
    Expectation{"the owner", true, false, false, false, "1110101111011110", "2120202222022220"},
    Expectation{"the owner in control", true, true, false, false, "1110010111000110",
                "2120020222000220"},
    Expectation{"the owner in control, with physics", true, true, false, true, "1110011111001110",
                "2120022222002220"},
    Expectation{"a replay", false, false, true, false, "1101101111100010", "2102202122200020"},
};

}  // namespace

TEST_CASE("Conditions: every receiver is sent what it may see, at first and afterwards",
          "[netdriver][conditions]") {
    for (const bool is_sharing : {true, false}) {
        for (const Expectation& expected : expectations) {
            INFO(expected.what << ", sharing " << is_sharing);
            SentryGameOptions options;
            options.is_sharing = is_sharing;
            SentryGame game(options);
            const std::size_t stranger = game.join();
            const std::size_t client = game.join();
            REQUIRE(game.settle());
            game.driver().set_is_replay(SentryGame::peer_of(client), expected.is_replay);
            const ObjectHandle sentry = game.add();
            const NetObjectId id = game.id_of(sentry);
            if (expected.is_owner) {
                game.driver().set_owner(id, SentryGame::peer_of(client));
            }
            game.driver().set_autonomous(id, expected.is_autonomous);
            game.driver().set_replicates_physics(id, expected.has_physics);
            set_all(game, sentry, 1);
            REQUIRE(game.settle());
            CHECK(digits(game, client, sentry) == expected.at_first);
            CHECK(digits(game, stranger, sentry) == expectations[0].at_first);
            set_all(game, sentry, 2);
            REQUIRE(game.settle());
            CHECK(digits(game, client, sentry) == expected.afterwards);
            CHECK(digits(game, stranger, sentry) == expectations[0].afterwards);
        }
    }
}

TEST_CASE("Conditions: a new owner is sent what it may see from now on, and nothing else",
          "[netdriver][conditions]") {
    SentryGame game;
    const std::size_t client = game.join();
    const ObjectHandle sentry = game.add();
    const ObjectHandle other = game.add();
    set_all(game, sentry, 1);
    set_all(game, other, 1);
    REQUIRE(game.settle());
    set_all(game, sentry, 2);
    REQUIRE(game.settle());
    const std::uint64_t sent = game.driver().stats().replication.properties_sent;
    game.driver().set_owner(game.id_of(sentry), SentryGame::peer_of(client));
    REQUIRE(game.settle());
    CHECK(digits(game, client, sentry) == "2122202222022220");
    // OwnerOnly, InitialOrOwner, ReplayOrOwner.
    CHECK(game.driver().stats().replication.properties_sent - sent == 3);
    CHECK(game.value_on(client, other, Condition::OwnerOnly) == 0);

    game.driver().clear_owner(game.id_of(sentry));
    set_all(game, sentry, 3);
    REQUIRE(game.settle());
    CHECK(digits(game, client, sentry) == "3123303232033330");
}

TEST_CASE("Conditions: what an owner is sent is sent to no one else, large values included",
          "[netdriver][conditions]") {
    for (const std::size_t length : {std::size_t{10}, std::size_t{10'000}}) {
        SentryGame game;
        const std::size_t owner = game.join();
        const std::size_t stranger = game.join();
        const ObjectHandle sentry = game.add();
        game.driver().set_owner(game.id_of(sentry), SentryGame::peer_of(owner));
        for (char letter = 'a'; letter < 'f'; ++letter) {
            game.sentry(sentry).secret = std::string(length, letter);
            game.value(sentry, Condition::None) = letter;
            REQUIRE(game.settle());
        }
        CHECK(game.sentry_on(owner, sentry).secret == std::string(length, 'e'));
        CHECK(game.sentry_on(stranger, sentry).secret.empty());
        CHECK(game.value_on(stranger, sentry, Condition::None) == 'e');
    }
}

TEST_CASE("Conditions: InitialOnly arrives whatever is lost, and once only",
          "[netdriver][conditions]") {
    const std::uint64_t first_seed = run_seed();
    for (std::uint64_t seed = first_seed; seed < first_seed + 50; ++seed) {
        INFO("--rng-seed " << seed);
        SentryGameOptions options;
        options.seed = seed;
        options.link.loss = 0.4;
        options.link.latency_ms = 50;
        options.link.jitter_ms = 30;
        SentryGame game(options);
        const std::size_t client = game.join();
        const ObjectHandle sentry = game.add();
        set_all(game, sentry, 1);
        for (std::int32_t i = 0; i < 30; ++i) {
            game.tick();
            game.value(sentry, Condition::None) = i;
        }
        game.network().heal();
        REQUIRE(game.settle());
        CHECK(game.value_on(client, sentry, Condition::InitialOnly) == 1);
        set_all(game, sentry, 5);
        REQUIRE(game.settle());
        CHECK(game.value_on(client, sentry, Condition::InitialOnly) == 1);
    }
}

TEST_CASE("Conditions: InitialOnly of an object that is opened empty is never sent",
          "[netdriver][conditions]") {
    SentryGame game;
    const std::size_t client = game.join();
    const ObjectHandle sentry = game.add();
    REQUIRE(game.settle());
    set_all(game, sentry, 1);
    REQUIRE(game.settle());
    CHECK(game.value_on(client, sentry, Condition::InitialOnly) == 0);
    CHECK(game.value_on(client, sentry, Condition::None) == 1);
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    CHECK(game.value_on(late, sentry, Condition::InitialOnly) == 1);
}

TEST_CASE("Conditions: the last change before a property is switched off is sent",
          "[netdriver][conditions]") {
    SentryGame game;
    const std::size_t client = game.join();
    const ObjectHandle sentry = game.add();
    const NetObjectId id = game.id_of(sentry);
    set_all(game, sentry, 1);
    REQUIRE(game.settle());
    game.value(sentry, Condition::Custom) = 2;
    game.driver().set_property_active(id, "Custom", false);
    REQUIRE(game.settle());
    CHECK(game.value_on(client, sentry, Condition::Custom) == 2);

    set_all(game, sentry, 3);
    REQUIRE(game.settle());
    CHECK(game.value_on(client, sentry, Condition::Custom) == 2);
    CHECK(game.value_on(client, sentry, Condition::None) == 3);
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    CHECK(game.value_on(late, sentry, Condition::Custom) == 2);

    game.driver().set_property_active(id, "Custom", true);
    REQUIRE(game.settle());
    CHECK(game.value_on(client, sentry, Condition::Custom) == 3);
    CHECK(game.value_on(late, sentry, Condition::Custom) == 3);
}

TEST_CASE("Conditions: switched off and on again between two ticks a property goes on",
          "[netdriver][conditions]") {
    SentryGame game;
    const std::size_t client = game.join();
    const ObjectHandle sentry = game.add();
    REQUIRE(game.settle());
    game.driver().set_property_active(game.id_of(sentry), "Custom", false);
    game.driver().set_property_active(game.id_of(sentry), "Custom", true);
    for (std::int32_t value = 1; value < 4; ++value) {
        game.value(sentry, Condition::Custom) = value;
        REQUIRE(game.settle());
        CHECK(game.value_on(client, sentry, Condition::Custom) == value);
    }
}

TEST_CASE("Conditions: a condition that is chosen holds for that object, from then on",
          "[netdriver][conditions]") {
    SentryGame game;
    const std::size_t owner = game.join();
    const std::size_t stranger = game.join();
    const ObjectHandle sentry = game.add();
    const ObjectHandle other = game.add();
    const NetObjectId id = game.id_of(sentry);
    game.driver().set_owner(id, SentryGame::peer_of(owner));
    game.driver().set_dynamic_condition(id, "Dynamic", Condition::OwnerOnly);
    set_all(game, sentry, 1);
    set_all(game, other, 1);
    REQUIRE(game.settle());
    CHECK(game.value_on(owner, sentry, Condition::Dynamic) == 1);
    CHECK(game.value_on(stranger, sentry, Condition::Dynamic) == 0);
    CHECK(game.value_on(stranger, other, Condition::Dynamic) == 1);

    game.driver().set_dynamic_condition(id, "Dynamic", Condition::SkipOwner);
    REQUIRE(game.settle());
    CHECK(game.value_on(stranger, sentry, Condition::Dynamic) == 1);
    game.value(sentry, Condition::Dynamic) = 2;
    REQUIRE(game.settle());
    CHECK(game.value_on(stranger, sentry, Condition::Dynamic) == 2);
    CHECK(game.value_on(owner, sentry, Condition::Dynamic) == 1);
}

TEST_CASE("Conditions: a replay begins and ceases to be one", "[netdriver][conditions]") {
    SentryGame game;
    const std::size_t client = game.join();
    const ObjectHandle sentry = game.add();
    set_all(game, sentry, 1);
    REQUIRE(game.settle());
    game.driver().set_is_replay(SentryGame::peer_of(client), true);
    REQUIRE(game.settle());
    CHECK(game.value_on(client, sentry, Condition::ReplayOnly) == 1);
    set_all(game, sentry, 2);
    REQUIRE(game.settle());
    CHECK(game.value_on(client, sentry, Condition::SkipReplay) == 1);
    game.driver().set_is_replay(SentryGame::peer_of(client), false);
    REQUIRE(game.settle());
    CHECK(game.value_on(client, sentry, Condition::SkipReplay) == 2);
}

namespace {

/// Whether a client that has the object is kept up to date with such a property, by the test's own
/// account.
[[nodiscard]] bool may_see(Condition condition, bool is_owner, bool is_autonomous, bool has_physics,
                           bool is_replay) {
    const bool is_simulated = !(is_owner && is_autonomous);
    switch (condition) {
        case Condition::None:
        case Condition::Custom:
            return true;
        case Condition::OwnerOnly:
        case Condition::InitialOrOwner:
            return is_owner;
        case Condition::ReplayOrOwner:
            return is_owner || is_replay;
        case Condition::ReplayOnly:
            return is_replay;
        case Condition::SkipReplay:
            return !is_replay;
        case Condition::SkipOwner:
            return !is_owner;
        case Condition::SimulatedOnly:
            return is_simulated;
        case Condition::SimulatedOnlyNoReplay:
            return is_simulated && !is_replay;
        case Condition::AutonomousOnly:
            return !is_simulated;
        case Condition::SimulatedOrPhysics:
            return is_simulated || has_physics;
        case Condition::SimulatedOrPhysicsNoReplay:
            return (is_simulated || has_physics) && !is_replay;
        default:
            return false;
    }
}

/// A random game of owners, roles, replays and switches over a network that loses.
class RandomConditionsGame {
  public:
    RandomConditionsGame(std::uint64_t seed, bool is_sharing)
        : game_(game_options(seed, is_sharing)), random_(seed) {
        for (std::size_t i = 0; i < client_count; ++i) {
            game_.join();
        }
        REQUIRE(game_.settle());  // who has not joined cannot be a replay
        is_in_parts_ = random_.below(2) == 0;
        for (Object& object : objects_) {
            create(object);
        }
        LinkSettings link;
        link.loss = 0.25;
        link.latency_ms = 45;
        link.jitter_ms = 25;
        game_.network().set_settings(link);
    }

    /// Returns all bytes that were sent.
    std::uint64_t play() {
        for (int step = 0; step < 200; ++step) {
            const bool is_late = random_.below(2) == 0;
            if (!is_late) {
                act(objects_[random_.below(object_count)]);
            }
            for (std::uint64_t ticks = random_.below(4); ticks > 0; --ticks) {
                tick(false);
            }
            if (is_late) {
                tick(true);
            }
        }
        tick(false);
        game_.network().heal();
        REQUIRE(game_.settle());
        look();
        for (std::size_t client = 0; client < client_count; ++client) {
            for (const Object& object : objects_) {
                check(client, object);
            }
        }
        return game_.driver().stats().bytes_sent;
    }

  private:
    static constexpr std::size_t client_count = 3;
    static constexpr std::size_t object_count = 2;

    struct Object {
        ObjectHandle handle;
        std::size_t owner = client_count;  // nobody
        bool is_autonomous = false;
        bool has_physics = false;
        bool is_active = true;
        std::int32_t frozen = 0;  ///< what everybody keeps while it is not
        Condition dynamic = Condition::None;
        std::array<bool, client_count> has_owned{};
        std::array<std::int32_t, client_count> initial{};  ///< 0: nothing arrived yet
    };

    [[nodiscard]] static SentryGameOptions game_options(std::uint64_t seed, bool is_sharing) {
        SentryGameOptions options;
        options.seed = seed;
        options.is_sharing = is_sharing;
        return options;
    }

    void create(Object& object) {
        object = Object();
        object.handle = game_.add();
        write(object);
        for (std::size_t index = 0; index < condition_count; ++index) {
            if (condition_at(index) != Condition::Never) {
                game_.value(object.handle, condition_at(index)) = next_value_++;
            }
        }
    }

    void act(Object& object) {
        const NetObjectId id = game_.id_of(object.handle);
        switch (random_.below(16)) {
            case 0:
            case 8:
            case 9:
                object.owner = random_.below(client_count + 1);
                if (object.owner == client_count) {
                    game_.driver().clear_owner(id);
                } else {
                    game_.driver().set_owner(id, SentryGame::peer_of(object.owner));
                    object.has_owned[object.owner] = true;
                }
                break;
            case 1:
                object.is_autonomous = random_.below(2) == 0;
                game_.driver().set_autonomous(id, object.is_autonomous);
                break;
            case 2:
                object.has_physics = random_.below(2) == 0;
                game_.driver().set_replicates_physics(id, object.has_physics);
                break;
            case 3: {
                constexpr std::array choices{Condition::None,          Condition::OwnerOnly,
                                             Condition::SkipOwner,     Condition::Never,
                                             Condition::SkipReplay,    Condition::InitialOnly,
                                             Condition::InitialOrOwner};
                object.dynamic = choices[random_.below(choices.size())];
                game_.driver().set_dynamic_condition(id, "Dynamic", object.dynamic);
                CHECK(game_.driver().dynamic_condition_of(id, "Dynamic") == object.dynamic);
                break;
            }
            case 4:
                object.is_active = !object.is_active;
                object.frozen = 0;
                game_.driver().set_property_active(id, "Custom", object.is_active);
                break;
            case 5: {
                const std::size_t client = random_.below(client_count);
                is_replay_[client] = random_.below(2) == 0;
                has_replayed_[client] = has_replayed_[client] || is_replay_[client];
                game_.driver().set_is_replay(SentryGame::peer_of(client), is_replay_[client]);
                break;
            }
            case 6:
                write(object);
                break;
            case 7:
                game_.remove(object.handle);
                create(object);  // new to everybody
                break;
            case 10:
            case 11:
                game_.value(object.handle, Condition::InitialOrOwner) = next_value_++;
                break;
            default: {
                const std::size_t index = random_.below(std::uint32_t{condition_count});
                game_.value(object.handle, condition_at(index)) = next_value_++;
                break;
            }
        }
    }

    /// `is_moving`: something happens when the server knows what became of its packets.
    void tick(bool is_moving) {
        game_.tick([&] {
            if (is_moving) {
                act(objects_[random_.below(object_count)]);
            }
            for (Object& object : objects_) {
                // What is switched off stays what it is at the next compare.
                if (!object.is_active && object.frozen == 0) {
                    object.frozen = game_.value(object.handle, Condition::Custom);
                }
            }
        });
        look();
    }

    void write(const Object& object) {
        if (is_in_parts_) {
            game_.sentry(object.handle).log.assign(900 + random_.below(200), 'l');
            game_.sentry(object.handle).report.assign(random_.below(900), 'r');
        }
    }

    /// InitialOnly arrives once, and stays. In parts it may be sent again with one that was lost.
    void look() {
        for (Object& object : objects_) {
            for (std::size_t client = 0; client < client_count; ++client) {
                if (game_.find_on(client, object.handle) == nullptr) {
                    continue;
                }
                const std::int32_t value =
                    game_.value_on(client, object.handle, Condition::InitialOnly);
                CHECK((is_in_parts_ || object.initial[client] == 0 ||
                       value == object.initial[client]));
                object.initial[client] = value;
            }
        }
    }

    void check(std::size_t client, const Object& object) {
        for (std::size_t index = 0; index < condition_count; ++index) {
            const Condition named = condition_at(index);
            const Condition condition = named == Condition::Dynamic ? object.dynamic : named;
            INFO("client " << client << ", object " << object.handle.value << ", "
                           << to_string(named));
            const std::int32_t value = game_.value_on(client, object.handle, named);
            const bool is_frozen = named == Condition::Custom && !object.is_active;
            if (is_frozen) {
                CHECK(value == object.frozen);
            } else if (may_see(condition, object.owner == client, object.is_autonomous,
                               object.has_physics, is_replay_[client])) {
                CHECK(value == game_.value(object.handle, named));
            }
            const bool is_secret = named == Condition::Never ||
                                   (named == Condition::OwnerOnly && !object.has_owned[client]) ||
                                   (named == Condition::ReplayOnly && !has_replayed_[client]);
            CHECK((!is_secret || value == 0));
        }
        CHECK(object.initial[client] != 0);
        CHECK(game_.sentry_on(client, object.handle).log == game_.sentry(object.handle).log);
        CHECK(game_.sentry_on(client, object.handle).report == game_.sentry(object.handle).report);
    }

    SentryGame game_;
    SeededRandom random_;
    std::array<Object, object_count> objects_;
    std::array<bool, client_count> is_replay_{};
    std::array<bool, client_count> has_replayed_{};
    std::int32_t next_value_ = 1;
    bool is_in_parts_ = false;
};

}  // namespace

TEST_CASE("Unreal conformance 5: owners, roles and switches at random, over a network that loses",
          "[netdriver][conditions][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 200)) {
        INFO("REPLAYOUT_SEED=" << seed);
        CHECK(RandomConditionsGame(seed, true).play() == RandomConditionsGame(seed, false).play());
    }
}

}  // namespace replayout::test
