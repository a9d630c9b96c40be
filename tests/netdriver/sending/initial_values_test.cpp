// SPDX-License-Identifier: MIT
//
// What is sent only at first: who becomes an owner behind that, what waits for an object, what is
// left out, and calls that must not overtake it.
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"
#include "support/worlds/door_game.h"

namespace replayout::test {
namespace {

using Condition = LifetimeCondition;

/// In several parts while its pages are long, the first values in the first and the last in the
/// last.
struct Horn {
    std::int32_t ammo = 0;    // InitialOrOwner
    std::int32_t chosen = 0;  // Dynamic, where the class has it
    std::vector<std::string> pages;
    std::int32_t born = 0;  // InitialOrOwner
    std::int32_t power = 0;
    std::vector<std::int32_t> heard;  // of `born`, at each call

    void multicast_blow() { heard.push_back(born); }
};

[[nodiscard]] Result<const Type*> build_horn(TypeRegistry& registry) {
    return class_builder<Horn>(registry, "Horn")
        .property<&Horn::ammo>()
        .condition(Condition::InitialOrOwner)
        .property<&Horn::pages>()
        .property<&Horn::born>()
        .condition(Condition::InitialOrOwner)
        .property<&Horn::power>()
        .function<&Horn::multicast_blow>(FunctionFlags::Multicast | FunctionFlags::Reliable)
        .build();
}

[[nodiscard]] Result<const Type*> build_chosen_horn(TypeRegistry& registry) {
    return class_builder<Horn>(registry, "Horn")
        .property<&Horn::ammo>()
        .condition(Condition::InitialOrOwner)
        .property<&Horn::chosen>()
        .condition(Condition::Dynamic)
        .property<&Horn::pages>()
        .build();
}

/// A game with one client, whose network loses from the moment that it joined.
struct HornGame : ClassGame<Horn> {
    HornGame(BuildType build, std::uint64_t seed) : ClassGame(build, options(seed)) {
        join();
        REQUIRE(settle());
        LinkSettings link;
        link.loss = 0.3;
        link.latency_ms = 30;
        network().set_settings(link);
    }
    [[nodiscard]] static ClassGameOptions options(std::uint64_t seed) {
        ClassGameOptions options;
        options.seed = seed;
        options.sharing = sharing_level(seed % 2 == 0);
        return options;
    }
    [[nodiscard]] ObjectHandle add_long() {
        const ObjectHandle horn = add();
        object(horn).pages.assign(6, std::string(300, 'p'));
        return horn;
    }
};

struct Kennel {
    std::int32_t a = 0;
    Leash leash;         // InitialOnly
    Leash owned_leash;   // InitialOrOwner
    Leash chosen_leash;  // Dynamic
};

[[nodiscard]] Result<const Type*> build_kennel(TypeRegistry& registry) {
    (void)struct_builder<Leash>(registry, "Leash").build();
    return class_builder<Kennel>(registry, "Kennel")
        .property<&Kennel::a>()
        .property<&Kennel::leash>()
        .condition(Condition::InitialOnly)
        .property<&Kennel::owned_leash>()
        .condition(Condition::InitialOrOwner)
        .property<&Kennel::chosen_leash>()
        .condition(Condition::Dynamic)
        .build();
}

struct Safe {
    std::int32_t a = 0;
    std::string secret;  // OwnerOnly
    std::string orders;  // InitialOnly
};

[[nodiscard]] Result<const Type*> build_safe(TypeRegistry& registry) {
    return class_builder<Safe>(registry, "Safe")
        .property<&Safe::a>()
        .property<&Safe::secret>()
        .condition(Condition::OwnerOnly)
        .property<&Safe::orders>()
        .condition(Condition::InitialOnly)
        .build();
}

}  // namespace

TEST_CASE("Conditions: a new owner is sent what was passed over, while parts are lost",
          "[netdriver][conditions][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 200)) {
        INFO("REPLAYOUT_SEED=" << seed);
        HornGame game(build_chosen_horn, seed);
        const ObjectHandle horn = game.add_long();
        game.driver().set_dynamic_condition(game.id_of(horn), "chosen", Condition::InitialOrOwner);
        game.object(horn).ammo = 1;
        game.object(horn).chosen = 1;
        game.tick();
        game.tick([&] {
            game.object(horn).ammo = 2;
            game.object(horn).chosen = 2;
        });
        for (std::uint64_t i = 0; i < 2 + seed % 8; ++i) {
            game.tick();
        }
        // Behind the news of a loss, and before what was lost is sent again.
        game.tick([&] { game.driver().set_owner(game.id_of(horn), game.peer_of(0)); });
        REQUIRE(game.settle());
        CHECK(game.object_on(0, horn).ammo == 2);
        CHECK(game.object_on(0, horn).chosen == 2);
    }
}

// A part with such a value may be lost while the parts after it are still to go.
TEST_CASE("Conditions: what is sent only at first arrives, while all changes and parts are lost",
          "[netdriver][conditions][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 60)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        ClassGameOptions options = HornGame::options(seed);
        options.config.packet_bytes_max = 256;
        options.config.bytes_per_second_max = random.between(1'800, 8'000);
        ClassGame<Horn> game(build_horn, options);
        std::vector<ObjectHandle> horns;
        for (std::uint64_t i = random.between(1, 4); i > 0; --i) {
            horns.push_back(game.add());
            game.object(horns.back()).ammo = 1;
            game.object(horns.back()).born = 1;
        }
        LinkSettings link;
        link.loss = 0.3;
        link.latency_ms = static_cast<std::uint32_t>(random.below(80));
        game.network().set_settings(link);
        game.join();
        for (int i = 0; i < 300; ++i) {
            game.tick([&] {
                for (const ObjectHandle handle : horns) {
                    Horn& horn = game.object(handle);
                    ++horn.power;
                    horn.ammo += random.percent(20) ? 1 : 0;
                    horn.pages.assign(random.below(3), std::string(random.below(200), 'p'));
                    if (random.percent(20)) {
                        (void)game.driver().call<&Horn::multicast_blow>(game.id_of(handle));
                    }
                }
            });
        }
        game.network().set_settings({});
        REQUIRE(game.settle());
        for (const ObjectHandle handle : horns) {
            const Horn& shown = game.object_on(0, handle);
            REQUIRE(shown.power == game.object(handle).power);
            REQUIRE(shown.born == 1);
            REQUIRE(shown.ammo >= 1);
            for (const std::int32_t born : shown.heard) {
                REQUIRE(born == 1);
            }
        }
    }
}

// The client throws away what comes before the open. Then all is owed, and the object may go on
// with the part whose turn it is.
TEST_CASE("Conditions: what is sent only at first arrives, whichever of the first packets are lost",
          "[netdriver][conditions]") {
    for (std::uint32_t lost = 0; lost < 1u << 8; ++lost) {
        ClassGameOptions options = HornGame::options(lost);
        options.config.packet_bytes_max = 256;
        options.config.bytes_per_second_max = 6'000;
        ClassGame<Horn> game(build_horn, options);
        game.join_settled();
        std::uint32_t sent = 0;
        game.server_transport().set_script([&](const Bytes&) {
            const std::uint32_t place = sent++;
            return place >= 8 || (lost >> place & 1) == 0;
        });
        const std::vector<ObjectHandle> horns{game.add(), game.add()};
        for (const ObjectHandle horn : horns) {
            game.object(horn).ammo = 1;
            game.object(horn).born = 1;
            game.object(horn).pages.assign(1, std::string(150, 'p'));
        }
        for (int i = 0; i < 60; ++i) {
            game.tick([&] {
                for (const ObjectHandle horn : horns) {
                    ++game.object(horn).power;
                }
            });
        }
        REQUIRE(game.settle());
        INFO("lost: " << lost);
        for (const ObjectHandle horn : horns) {
            REQUIRE(game.object_on(0, horn).ammo == 1);
            REQUIRE(game.object_on(0, horn).born == 1);
        }
    }
}

TEST_CASE("Conditions: what is sent only at first may wait for an object, too",
          "[netdriver][conditions]") {
    ClassGame<Kennel> game(build_kennel);
    game.join_settled();
    const ObjectHandle first = game.add();
    const ObjectHandle second = game.add();  // behind it, so it is not there when that is written
    game.driver().set_dynamic_condition(game.id_of(first), "chosen_leash", Condition::InitialOnly);
    Kennel& kennel = game.object(first);
    kennel.leash.target = second;
    kennel.owned_leash.target = second;
    kennel.chosen_leash.target = second;
    game.object(second).a = 2;
    REQUIRE(game.settle());
    const ObjectHandle shown = game.handle_on(0, second);
    CHECK(game.object_on(0, first).leash.target == shown);
    CHECK(game.object_on(0, first).owned_leash.target == shown);
    CHECK(game.object_on(0, first).chosen_leash.target == shown);

    // Once, and no more.
    kennel.leash.target = first;
    REQUIRE(game.settle());
    CHECK(game.object_on(0, first).leash.target == shown);
}

TEST_CASE("Conditions: what was left out keeps nobody awake who may not see it any more",
          "[netdriver][conditions][dormancy]") {
    ClassGameOptions options;
    options.layout.limits.string_bytes_max = 200'000;
    ClassGame<Safe> game(build_safe, options);
    const LogSpy log;
    game.join_settled();
    const ObjectHandle safe = game.add();
    const NetObjectId id = game.id_of(safe);
    const std::string huge(150'000, 'x');  // beyond bunch_bytes_max
    const bool is_secret = GENERATE(true, false);
    (is_secret ? game.object(safe).secret : game.object(safe).orders) = huge;
    game.object(safe).a = 1;
    game.driver().set_owner(id, game.peer_of(0));
    REQUIRE(game.settle());
    REQUIRE_FALSE(LogSpy::messages().empty());
    REQUIRE(game.object_on(0, safe).a == 1);
    CHECK(game.driver().connection_shadow(game.peer_of(0), id)->is_exact() == !is_secret);

    game.driver().clear_owner(id);
    CHECK(game.driver().connection_shadow(game.peer_of(0), id)->is_exact());
    game.driver().set_dormancy(id, NetDormancy::DormantAll);
    REQUIRE(game.settle());
    game.tick();
    REQUIRE(game.settle());
    CHECK(game.driver().is_dormant_for(game.peer_of(0), id));

    game.object(safe).secret = "small";
    game.driver().set_dormancy(id, NetDormancy::Awake);
    game.driver().set_owner(id, game.peer_of(0));
    REQUIRE(game.settle());
    CHECK(game.object_on(0, safe).secret == "small");
}

TEST_CASE("Remote functions: no call overtakes what is sent only at first and to owners",
          "[netdriver][rpc][conditions][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 200)) {
        INFO("REPLAYOUT_SEED=" << seed);
        HornGame game(build_horn, seed);
        const ObjectHandle horn = game.add_long();
        game.object(horn).born = 77;
        game.object(horn).ammo = 1;
        game.tick();
        for (std::uint64_t i = 0; i < 3 + seed % 8; ++i) {
            game.tick();
        }
        game.tick([&] {
            game.object(horn).pages.clear();  // so that all of it could go beside the call
            game.object(horn).power = 1;
            CHECK(game.driver().call_function(game.id_of(horn), "multicast_blow") ==
                  CallResult::Sent);
        });
        REQUIRE(game.settle());
        CHECK(game.object_on(0, horn).heard == std::vector<std::int32_t>{77});
    }
}

}  // namespace replayout::test
