// SPDX-License-Identifier: MIT
//
// What a packet brings takes effect in one order: all values of all objects, then notifies, then
// calls.
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"

namespace replayout::test::notifies_of_packets_test {
namespace {

struct Crate;

/// What a client does when a notify or hook of its crate runs.
std::function<void(const Crate& crate, const std::string& what)> on_told;

void tell(const Crate& crate, const std::string& what) {
    if (on_told) {
        on_told(crate, what);
    }
}

struct Crate {
    std::uint32_t stamp = 0;
    std::string label;
    ObjectHandle target;
    bool is_changing = false;  ///< a notify changes its object

    void post_net_receive() { tell(*this, "post"); }
    void post_rep_notifies() { tell(*this, "last"); }
    void on_rep_stamp(std::uint32_t previous) {
        tell(*this, "stamp from " + std::to_string(previous));
    }
    void on_rep_label(const std::string& previous) {
        if (is_changing) {
            label += " again";
        }
        tell(*this, "label from " + previous);
    }
    void on_rep_target() { tell(*this, "target"); }
    void multicast_call() { tell(*this, "call"); }
};

[[nodiscard]] Result<const Type*> build_crate(TypeRegistry& registry) {
    return class_builder<Crate>(registry, "Crate")
        .property<&Crate::stamp>()
        .on_rep<&Crate::on_rep_stamp>()
        .property<&Crate::label>()
        .on_rep<&Crate::on_rep_label>()
        .property<&Crate::target>()
        .on_rep<&Crate::on_rep_target>()
        .post_net_receive<&Crate::post_net_receive>()
        .post_rep_notifies<&Crate::post_rep_notifies>()
        .function<&Crate::multicast_call>(FunctionFlags::Multicast | FunctionFlags::Reliable)
        .build();
}

class CrateGame {
  public:
    explicit CrateGame(const ClassGameOptions& options = {}) : game(build_crate, options) {
        game.join();
    }
    ~CrateGame() { on_told = nullptr; }
    CrateGame(const CrateGame&) = delete;
    CrateGame& operator=(const CrateGame&) = delete;

    ClassGame<Crate> game;
};

using Told = std::vector<std::string>;

}  // namespace

TEST_CASE("Notifies of a packet: see the values of all objects of it", "[netdriver][notify]") {
    CrateGame crates;
    ClassGame<Crate>& game = crates.game;
    const ObjectHandle whole = game.add();
    const ObjectHandle part = game.add_part(whole);
    REQUIRE(game.settle());
    game.object(whole).stamp = 1;
    game.object(part).stamp = 1;
    std::uint32_t notify_count = 0;
    on_told = [&](const Crate&, const std::string& what) {
        if (what == "stamp from 0") {
            ++notify_count;
            CHECK(game.object_on(0, whole).stamp == 1);
            CHECK(game.object_on(0, part).stamp == 1);
        }
    };
    REQUIRE(game.settle());
    CHECK(notify_count == 2);
}

TEST_CASE("Notifies of a packet: one of a reference that a spawn binds sees what it names whole",
          "[netdriver][notify]") {
    CrateGame crates;
    ClassGame<Crate>& game = crates.game;
    const ObjectHandle first = game.add();
    REQUIRE(game.settle());
    const ObjectHandle second = game.add();
    game.object(second).label = "there";
    game.object(first).target = second;
    std::vector<std::string> seen;
    on_told = [&](const Crate& crate, const std::string& what) {
        if (what == "target" && !crate.target.is_null()) {
            seen.push_back(game.object_on(0, second).label);
        }
    };
    REQUIRE(game.settle());
    CHECK(seen == Told{"there"});
}

TEST_CASE("Notifies of a packet: keep their order within an object, and run before calls",
          "[netdriver][notify][rpc]") {
    CrateGame crates;
    ClassGame<Crate>& game = crates.game;
    const ObjectHandle first = game.add();
    const ObjectHandle second = game.add();
    REQUIRE(game.settle());
    game.object(first).stamp = 5;
    game.object(first).label = "one";
    game.object(second).stamp = 6;
    Told told;
    on_told = [&](const Crate& crate, const std::string& what) {
        told.push_back((&crate == &game.object_on(0, first) ? "first " : "second ") + what);
    };
    CHECK(game.driver().call_function(game.id_of(first), "multicast_call") == CallResult::Sent);
    on_told = [&, listen = on_told](const Crate& crate, const std::string& what) {
        listen(crate, what);
        CHECK(game.object_on(0, second).stamp == 6);
    };
    told.clear();
    REQUIRE(game.settle());
    REQUIRE(told.size() == 8);
    CHECK(told.back() == "first call");
    told.pop_back();
    CHECK(told == Told{"first post", "first stamp from 0", "first label from ", "first last",
                       "second post", "second stamp from 0", "second last"});
}

TEST_CASE("Notifies of a packet: one may change its object", "[netdriver][notify]") {
    CrateGame crates;
    ClassGame<Crate>& game = crates.game;
    const ObjectHandle first = game.add();
    const ObjectHandle second = game.add();
    REQUIRE(game.settle());
    game.object_on(0, first).is_changing = true;
    game.object(first).label = "changed";
    game.object(second).label = "other";
    REQUIRE(game.settle());
    CHECK(game.object_on(0, first).label == "changed again");
    game.object(first).label = "changed anew";
    Told told;
    on_told = [&](const Crate&, const std::string& what) { told.push_back(what); };
    REQUIRE(game.settle());
    CHECK(told == Told{"post", "label from changed again", "last"});
    CHECK(game.object_on(0, first).label == "changed anew again");
}

TEST_CASE("Notifies of a packet: they run before an object goes, also those of references to it",
          "[netdriver][notify]") {
    CrateGame crates;
    ClassGame<Crate>& game = crates.game;
    const ObjectHandle first = game.add();
    const ObjectHandle second = game.add();
    game.object(first).target = second;
    REQUIRE(game.settle());
    game.object(first).stamp = 3;
    Told told;
    on_told = [&](const Crate& crate, const std::string& what) {
        told.push_back(what);
        if (what == "target") {
            CHECK(crate.target.is_null());
            CHECK(game.object_count_on(0) == 2);  // it goes when all know
        }
    };
    game.remove(second);
    REQUIRE(game.settle());
    CHECK(game.object_count_on(0) == 1);
    CHECK(std::count(told.begin(), told.end(), "target") == 1);
    CHECK(std::count(told.begin(), told.end(), "stamp from 0") == 1);
}

TEST_CASE("Notifies of a packet: random games in which all objects change together",
          "[netdriver][notify][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 4)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        ClassGameOptions options;
        options.seed = seed;
        options.link.loss = 0.01 * random.below(30);
        options.link.reorder = 0.1;
        options.link.reorder_ms = 50;
        options.link.latency_ms = 30;
        CrateGame crates(options);
        ClassGame<Crate>& game = crates.game;
        std::vector<ObjectHandle> objects;
        const std::uint32_t count = 2 + random.below(20);
        for (std::uint32_t i = 0; i < count; ++i) {
            const bool is_part = i > 0 && random.percent(50);
            objects.push_back(is_part ? game.add_part(objects[random.below(i)]) : game.add());
        }
        REQUIRE(game.settle());
        std::uint32_t stamp = 0;
        std::uint64_t notify_count = 0;
        bool is_same = true;
        on_told = [&](const Crate& crate, const std::string& what) {
            ++notify_count;
            for (const ObjectHandle object : objects) {
                // All of a tick fit into a packet, and all that was lost before goes with it.
                is_same =
                    is_same && (what == "call" || game.object_on(0, object).stamp == crate.stamp);
            }
        };
        for (int tick = 0; tick < 100; ++tick) {
            ++stamp;
            for (const ObjectHandle object : objects) {
                game.object(object).stamp = stamp;
            }
            game.tick();
        }
        CHECK(is_same);
        CHECK(notify_count > 100);
    }
}

}  // namespace replayout::test::notifies_of_packets_test
