// SPDX-License-Identifier: MIT
//
// What runs around the values of a block: hooks and notifies, in one order.
#include <replayout/receive_properties.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::receive_hooks_test {
namespace {

using Calls = std::vector<std::string>;

/// Not registered: it moves the registered base away from the start of the object.
struct Diary {
    Calls calls;
};

struct Thing {
    std::int32_t id = 0;
    Calls* diary = nullptr;

    void note(const std::string& call) { diary->push_back(call + ", id " + std::to_string(id)); }
    void pre_net_receive() { note("thing pre"); }
    void post_rep_notifies() { note("thing last"); }
    void on_rep_id() { note("on_rep id"); }
};

struct Lamp : Diary, Thing {
    std::int32_t watts = 40;
    bool is_lit = false;
    ObjectHandle owner;
    std::int32_t slots[2] = {};

    Lamp() { diary = &calls; }
    Lamp(const Lamp&) = delete;
    Lamp& operator=(const Lamp&) = delete;

    void pre_net_receive() { note("lamp pre"); }
    void post_net_receive() { note("lamp post, watts " + std::to_string(watts)); }
    void on_rep_watts(const std::int32_t& previous) {
        note("on_rep watts " + std::to_string(previous) + " -> " + std::to_string(watts));
    }
    void on_rep_is_lit() { note("on_rep is_lit"); }
    void on_rep_owner(const ObjectHandle& previous) {
        note("on_rep owner " + std::to_string(previous.value) + " -> " +
             std::to_string(owner.value));
    }
    void on_rep_slots() { note("on_rep slots"); }
};

void lamp_last(Lamp& lamp) {
    lamp.note("lamp last");
}

Result<const Type*> build_lamp(TypeRegistry& registry) {
    (void)class_builder<Thing>(registry, "Thing")
        .property<&Thing::id>()
        .on_rep<&Thing::on_rep_id>()
        .pre_net_receive<&Thing::pre_net_receive>()
        .post_rep_notifies<&Thing::post_rep_notifies>()
        .build();
    return class_builder<Lamp>(registry, "Lamp")
        .base<Thing>()
        .post_net_receive<&Lamp::post_net_receive>()
        .post_rep_notifies<&lamp_last>()
        .property<&Lamp::watts>()
        .on_rep<&Lamp::on_rep_watts>(RepNotify::Always)
        .property<&Lamp::is_lit>()
        .on_rep<&Lamp::on_rep_is_lit>()
        .property<&Lamp::owner>()
        .on_rep<&Lamp::on_rep_owner>(RepNotify::Always)
        .property<&Lamp::slots>()
        .on_rep<&Lamp::on_rep_slots>(RepNotify::Always)
        .pre_net_receive<&Lamp::pre_net_receive>()
        .build();
}

struct LampPair {
    Calls replicate() {
        REQUIRE(sender.update(&server));
        return receive(sender.block(since(sender.state.version() - 1)));
    }
    Calls receive(const Bytes& block) {
        client.calls.clear();
        REQUIRE(receiver.receive(&client, block));
        return client.calls;
    }

    TestLayout layout{build_lamp};
    Lamp server;
    Lamp client;
    BlockSender sender{*layout};
    BlockReceiver receiver{*layout};
};

TEST_CASE("Hooks: before, values, after, notifies, last; those of the base first",
          "[replayout][receive_hooks]") {
    LampPair pair;
    pair.server.id = 7;
    pair.server.watts = 60;
    pair.server.is_lit = true;
    CHECK(pair.replicate() == Calls{"thing pre, id 0", "lamp pre, id 0",
                                    "lamp post, watts 60, id 7", "on_rep id, id 7",
                                    "on_rep watts 40 -> 60, id 7", "on_rep is_lit, id 7",
                                    "thing last, id 7", "lamp last, id 7"});
}

TEST_CASE("Hooks: run once a block, also when nothing in it differs",
          "[replayout][receive_hooks]") {
    LampPair pair;
    pair.server.id = 7;
    REQUIRE(pair.sender.update(&pair.server));
    const Bytes block = pair.sender.block(since(0));
    (void)pair.receive(block);
    CHECK(pair.receive(block) == Calls{"thing pre, id 7", "lamp pre, id 7",
                                       "lamp post, watts 40, id 7", "thing last, id 7",
                                       "lamp last, id 7"});
}

TEST_CASE("Hooks: a block that is refused runs none", "[replayout][receive_hooks]") {
    LampPair pair;
    pair.server.id = 7;
    pair.server.watts = 60;
    REQUIRE(pair.sender.update(&pair.server));
    Bytes block = pair.sender.block(since(0));
    block.pop_back();
    CHECK_FALSE(pair.receiver.receive(&pair.client, block));
    CHECK(pair.client.calls.empty());
}

TEST_CASE("RepNotify: OnChanged needs another value, Always needs only to be received",
          "[replayout][receive_hooks]") {
    LampPair pair;
    pair.server.watts = 60;
    pair.server.is_lit = true;
    REQUIRE(pair.sender.update(&pair.server));
    const Bytes block = pair.sender.block(since(0));
    (void)pair.receive(block);
    const Calls again = pair.receive(block);
    REQUIRE(again.size() == 6);
    CHECK(again[3] == "on_rep watts 60 -> 60, id 0");  // and not is_lit
}

TEST_CASE("RepNotify: Always is once for a C array, whatever was received of it",
          "[replayout][receive_hooks]") {
    LampPair pair;
    pair.server.slots[0] = 2;
    pair.server.slots[1] = 3;
    const Calls calls = pair.replicate();
    REQUIRE(calls.size() == 6);
    CHECK(calls[3] == "on_rep slots, id 0");
}

TEST_CASE("RepNotify: Always runs for a reference when it arrives and when it is bound",
          "[replayout][receive_hooks]") {
    LampPair pair;
    pair.server.owner = ObjectHandle{1000};
    CHECK(pair.replicate()[3] == "on_rep owner 0 -> 0, id 0");
    pair.client.calls.clear();
    const NetGUID guid = pair.sender.package_map.guid_of(pair.server.owner);
    CHECK(pair.receiver.rebind(&pair.client, guid, ObjectHandle{5}) == 1);
    // Bound in a block of its own, so to speak: the hooks run again.
    CHECK(pair.client.calls == Calls{"thing pre, id 0", "lamp pre, id 0",
                                     "lamp post, watts 40, id 0", "on_rep owner 0 -> 5, id 0",
                                     "thing last, id 0", "lamp last, id 0"});
    pair.client.calls.clear();
    CHECK(pair.receiver.rebind(&pair.client, guid, ObjectHandle{5}) == 0);
    CHECK(pair.client.calls.empty());
}

TEST_CASE("Hooks: the dynamic door describes them too", "[replayout][receive_hooks]") {
    static Calls calls;
    calls.clear();
    const auto note = [](void* object, void* context) {
        calls.push_back(static_cast<const char*>(context) +
                        std::to_string(*static_cast<std::int32_t*>(object)));
    };
    static char before[] = "before ";
    static char after[] = "after ";
    static char last[] = "last ";
    static ReceiveHooks hooks;
    hooks = {{note, before}, {note, after}, {note, last}};
    const TestLayout layout([](TypeRegistry& registry) {
        return DynamicTypeBuilder(registry, TypeKind::Class, "Number", 4, 4)
            .property("number", PropertyKind::Int32, 0)
            .hooks(hooks)
            .ops(make_type_ops<std::int32_t>())
            .build();
    });
    std::int32_t server = 5;
    std::int32_t client = 0;
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(calls == Calls{"before 0", "after 5", "last 5"});
}

TEST_CASE("Hooks: a struct cannot have any", "[replayout][receive_hooks]") {
    TypeRegistry registry;
    ReceiveHooks hooks;
    hooks.post_net_receive.call = [](void*, void*) {};
    const auto type = DynamicTypeBuilder(registry, TypeKind::Struct, "Pair", 4, 4)
                          .property("number", PropertyKind::Int32, 0)
                          .hooks(hooks)
                          .build();
    REQUIRE_FALSE(type);
    CHECK(type.error().code == ErrorCode::Unsupported);
    CHECK(type.error().message == "type \"Pair\": has receive hooks, which only a class can");
}

}  // namespace
}  // namespace replayout::receive_hooks_test
