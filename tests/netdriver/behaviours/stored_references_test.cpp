// SPDX-License-Identifier: MIT
#include <replayout/behaviours/behaviour_reference.h>

#include <functional>
#include <string>
#include <vector>

#include "support/checks/log_spy.h"
#include "support/worlds/arena_game.h"
#include "support/worlds/reference_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

/// A holder of a prefab, which two clients see, and what it may name.
struct HolderGame {
    explicit HolderGame(const char* prefab, bool is_owned = false) : game({}, add_holders) {
        game.join();
        game.join();
        game.settle();
        target = &game.spawn(game.types().pawn());
        holder = &game.spawn(game.types().find(prefab), is_owned ? &game.connection(0) : nullptr);
        game.settle();
    }
    [[nodiscard]] Holder& server() { return holder->component<Holder>(0); }
    [[nodiscard]] Holder& on(std::size_t client) {
        return game.on_client(client, *holder)->component<Holder>(0);
    }
    /// All of its variables name the target of that end.
    static void name(Holder& named, NetworkIdentity* object) {
        named.target = object;
        named.plain = object;
        named.part = BehaviourReference(object->component<Fighter>(0));
        named.many = std::vector<NetworkIdentity*>{nullptr, object, object};
        named.bond = Bond{7, object};
    }
    void end_target(bool is_hidden) {
        if (is_hidden) {
            REQUIRE(game.server().hide_from(*target, game.connection(0)));
        } else {
            game.server().destroy(*target);
        }
    }

    ArenaGame game;
    NetworkIdentity* target = nullptr;
    NetworkIdentity* holder = nullptr;
};

TEST_CASE("References: what an owner assigned is null when its object is destroyed or hidden",
          "[behaviours]") {
    const bool is_hidden = GENERATE(false, true);
    HolderGame arena("OwnersHolder", true);
    HolderGame::name(arena.on(0), arena.game.on_client(0, *arena.target));
    arena.game.settle();
    CHECK(references_of(arena.server()).size() == 6);
    CHECK(references_of(arena.on(1)).size() == 6);
    arena.end_target(is_hidden);
    arena.game.settle();
    CHECK(references_of(arena.on(0)).empty());
    CHECK(arena.on(0).bond->strength == 7);
    CHECK(arena.on(0).many->size() == 3);
    // To the others it is there, if it is only hidden.
    CHECK(references_of(arena.server()).size() == (is_hidden ? 6 : 0));
    CHECK(references_of(arena.on(1)).size() == (is_hidden ? 6 : 0));
    CHECK(arena.game.server().driver().stats().replication.marks_missed == 0);
}

TEST_CASE("References: null is stored first, and then a hook of UNet's style runs",
          "[behaviours]") {
    const bool is_hidden = GENERATE(false, true);
    const bool is_assigning = GENERATE(true, false);
    HolderGame arena("UNetHolder");
    HolderGame::name(arena.server(), arena.target);
    arena.game.settle();
    Holder& shown = arena.on(0);
    CHECK(references_of(shown).size() == 6);
    shown.told.clear();
    shown.is_assigning = is_assigning;
    arena.end_target(is_hidden);
    arena.game.settle();
    CHECK(references_of(shown).empty());
    // Also of the null that a server sends, as of any value.
    CHECK(shown.told == Told(is_hidden ? 1 : 2, "null, holds null"));
}

TEST_CASE("References: what a hook of UNet's style did not take is null when its object goes",
          "[behaviours]") {
    HolderGame arena("UNetHolder");
    NetworkIdentity& next = arena.game.spawn(arena.game.types().pawn());
    HolderGame::name(arena.server(), arena.target);
    arena.game.settle();
    Holder& shown = arena.on(0);
    shown.is_assigning = false;
    HolderGame::name(arena.server(), &next);
    arena.game.settle();
    CHECK(shown.target.get() == arena.game.on_client(0, *arena.target));
    CHECK(shown.plain.get() == arena.game.on_client(0, next));
    shown.told.clear();
    arena.game.server().destroy(*arena.target);
    arena.game.settle();
    CHECK(shown.target.get() == nullptr);
    CHECK(shown.part->object == nullptr);
    CHECK(shown.told == Told{"null, holds null"});
    CHECK(shown.plain.get() == arena.game.on_client(0, next));
}

TEST_CASE("References: a server's become null, too, and a client that joins later finds null",
          "[behaviours]") {
    HolderGame arena("Holder");
    HolderGame::name(arena.server(), arena.target);
    arena.game.settle();
    arena.game.server().destroy(*arena.target);
    arena.game.tick();
    CHECK(references_of(arena.server()).empty());
    arena.game.join();
    arena.game.settle();
    CHECK(references_of(arena.on(0)).empty());
    CHECK(references_of(arena.on(2)).empty());
    CHECK(arena.on(2).many->size() == 3);
    CHECK(arena.game.server().driver().stats().replication.marks_missed == 0);
}

TEST_CASE("References: what a hook unspawns or destroys before it is stored is null",
          "[behaviours]") {
    // On a host, a hook of UNet's style runs before the value is stored.
    const char* prefab = GENERATE("UNetHolder", "Holder");
    const bool is_destroyed = GENERATE(true, false);
    CAPTURE(prefab, is_destroyed);
    HolderGame arena(prefab);
    arena.game.server().start_host();
    arena.game.settle();
    NetworkServer& server = arena.game.server();
    arena.server().is_assigning = false;  // an object that is not spawned may be named, too
    arena.server().in_hook = [&] {
        if (is_destroyed) {
            server.destroy(*arena.target);
        } else {
            server.unspawn(*arena.target);
        }
    };
    arena.server().target = arena.target;
    CHECK_FALSE(arena.server().in_hook);
    arena.game.settle();
    CHECK(references_of(arena.server()).empty());
    CHECK(references_of(arena.on(0)).empty());
    if (!is_destroyed) {
        REQUIRE(server.spawn(*arena.target));
        arena.server().target = arena.target;
        arena.game.settle();
        CHECK(arena.server().target.get() == arena.target);
        CHECK(arena.on(0).target.get() == arena.game.on_client(0, *arena.target));
    }
}

TEST_CASE("References: a variable that is modified names nothing that left before",
          "[behaviours]") {
    HolderGame arena("Holder");
    HolderGame::name(arena.server(), arena.target);
    arena.game.server().unspawn(*arena.target);
    arena.server().many.modify([](std::vector<NetworkIdentity*>& many) {
        CHECK(many == std::vector<NetworkIdentity*>(3, nullptr));
        many.pop_back();
    });
    arena.game.settle();
    CHECK(references_of(arena.server()).empty());
    CHECK(arena.on(1).many->size() == 2);
}

TEST_CASE(
    "References: what leaves in a hook at the end of an update is null when the update returns",
    "[behaviours]") {
    const bool is_destroyed = GENERATE(true, false);
    CAPTURE(is_destroyed);
    HolderGame arena("Holder");
    NetworkServer& server = arena.game.server();
    server.start_host();
    // Each names the next one, and ends it when its own reference is lost.
    std::vector<NetworkIdentity*> chain(50);
    for (NetworkIdentity*& link : chain) {
        link = &arena.game.spawn(arena.holder->prefab());
    }
    const auto holder = [&](std::size_t i) -> Holder& { return chain[i]->component<Holder>(0); };
    const auto end = [&](NetworkIdentity* object) {
        if (is_destroyed) {
            server.destroy(*object);
        } else {
            server.unspawn(*object);
        }
    };
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        holder(i).target = chain[i + 1];
    }
    holder(49).target = arena.target;
    arena.game.settle();
    for (std::size_t i = 1; i < chain.size(); ++i) {
        holder(i).in_hook = [&end, ends = chain[i]] { end(ends); };
    }
    end(arena.target);
    arena.game.tick();
    CHECK(holder(0).target.get() == nullptr);
    CHECK(holder(0).told.back() == "null, holds null");
    for (std::size_t i = 0; !is_destroyed && i < chain.size(); ++i) {
        CHECK(references_of(holder(i)).empty());
    }
    arena.game.settle();
    CHECK(arena.game.on_client(1, *chain[0])->component<Holder>(0).target.get() == nullptr);
}

TEST_CASE("References: hooks that end one object after another for ever are stopped, and logged",
          "[behaviours]") {
    HolderGame arena("Holder");
    NetworkServer& server = arena.game.server();
    server.start_host();
    arena.game.settle();
    LogSpy spy(LogLevel::Warning);
    std::uint32_t ended = 0;
    const std::function<void()> end_next = [&] {
        ++ended;
        NetworkIdentity& next = arena.game.spawn(arena.game.types().pawn());
        arena.server().target = &next;
        arena.server().in_hook = end_next;
        server.destroy(next);
    };
    arena.server().target = arena.target;
    arena.server().in_hook = end_next;
    server.destroy(*arena.target);
    arena.game.tick();
    CHECK(ended >= 1'000);
    CHECK(ended < 5'000);
    CHECK(references_of(arena.server()).empty());
    REQUIRE_FALSE(LogSpy::messages().empty());
    CHECK(LogSpy::messages().front().find("without a hook") != std::string::npos);
    arena.server().in_hook = nullptr;
    arena.game.tick(3);
    arena.game.settle();
    CHECK(references_of(arena.server()).empty());
    CHECK(references_of(arena.on(0)).empty());
}

TEST_CASE("References: an object under the address of another is another object", "[behaviours]") {
    const char* prefab = GENERATE("Holder", "SlowHolder");
    HolderGame arena(prefab);
    arena.server().target = arena.target;
    arena.game.settle();
    SECTION("it is spawned again, with another id") {
        arena.game.server().unspawn(*arena.target);
        REQUIRE(arena.game.server().spawn(*arena.target));
        arena.server().target = arena.target;
    }
    SECTION("the next one lies where it lay") {
        const NetworkIdentity* address = arena.target;
        arena.game.server().destroy(*arena.target);
        arena.game.tick(10);
        arena.target = &arena.game.server().instantiate(arena.game.types().pawn());
        for (int i = 0; i < 100 && arena.target != address; ++i) {
            arena.target = &arena.game.server().instantiate(arena.game.types().pawn());
        }
        REQUIRE(arena.game.server().spawn(*arena.target));
        arena.server().target = arena.target;
    }
    arena.game.tick(20);
    arena.game.settle();
    REQUIRE(arena.game.on_client(0, *arena.target) != nullptr);
    CHECK(arena.on(0).target.get() == arena.game.on_client(0, *arena.target));
    CHECK(arena.on(1).target.get() == arena.game.on_client(1, *arena.target));
}

TEST_CASE("References: a client's own assignment is null when its object goes, pooled or not",
          "[behaviours]") {
    HolderGame arena("Holder");
    // Out of a pool, which keeps the object.
    std::vector<NetworkIdentity*> pool;
    REQUIRE(arena.game.client(1).register_spawn_handler(
        arena.game.types().pawn().asset_id(),
        {[&](NetworkClient& client, const SpawnInfo&) {
             return &client.instantiate(arena.game.types().pawn());
         },
         [&](NetworkClient&, NetworkIdentity& object, ChannelCloseReason) {
             pool.push_back(&object);
         }}));
    NetworkIdentity& other = arena.game.spawn(arena.game.types().pawn());
    arena.game.settle();
    for (const std::size_t client : {0u, 1u}) {
        HolderGame::name(arena.on(client), arena.game.on_client(client, other));
    }
    arena.game.server().destroy(other);
    arena.game.settle();
    CHECK(references_of(arena.on(0)).empty());
    CHECK(references_of(arena.on(1)).empty());
    CHECK(pool.size() == 1);
}

TEST_CASE("References: a waiting hook receives null, and not an object that went", "[behaviours]") {
    HolderGame arena("Holder");
    HolderGame::name(arena.server(), arena.target);
    arena.game.settle();
    Holder& shown = arena.on(0);
    shown.told.clear();
    arena.game.server().set_client_not_ready(arena.game.connection(0));
    arena.game.tick(10);
    arena.game.server().destroy(*arena.target);
    arena.game.tick(10);
    arena.game.server().set_client_ready(arena.game.connection(0));
    arena.game.settle();
    CHECK(references_of(shown).empty());
    CHECK(shown.told == Told{"null, holds null"});
}

}  // namespace
}  // namespace replayout::test
