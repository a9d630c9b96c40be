// SPDX-License-Identifier: MIT
//
// References that arrive before their target, and outlive it.
#include <replayout/receive_properties.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::receive_references_test {
namespace {

struct Slot {
    ObjectHandle item;
    std::uint8_t count = 0;

    friend bool operator==(const Slot&, const Slot&) = default;
};

struct Bag {
    std::vector<ObjectHandle> items;

    friend bool operator==(const Bag&, const Bag&) = default;
};

struct Carrier {
    std::uint8_t first = 0;
    ObjectHandle target;
    std::vector<Slot> slots;
    std::vector<Bag> bags;
    ObjectHandle hands[2];

    std::vector<std::string> calls;

    void on_rep_target(const ObjectHandle& previous) {
        calls.push_back("target " + std::to_string(previous.value) + " -> " +
                        std::to_string(target.value));
    }
    void on_rep_slots(const std::vector<Slot>& previous) {
        calls.push_back("slots " + std::to_string(previous.size()) + " -> " +
                        std::to_string(slots.size()));
    }
};

Result<const Type*> build_carrier(TypeRegistry& registry) {
    (void)struct_builder<Slot>(registry, "Slot")
        .property<&Slot::item>()
        .property<&Slot::count>()
        .build();
    (void)struct_builder<Bag>(registry, "Bag").property<&Bag::items>().build();
    return class_builder<Carrier>(registry, "Carrier")
        .property<&Carrier::first>()
        .property<&Carrier::target>()
        .on_rep<&Carrier::on_rep_target>()
        .property<&Carrier::slots>()
        .on_rep<&Carrier::on_rep_slots>()
        .property<&Carrier::bags>()
        .property<&Carrier::hands>()
        .build();
}

using Guids = std::vector<std::uint64_t>;
using Calls = std::vector<std::string>;

/// Server handles are 1000 and more; the client's own are small. Ids are given in order of mention.
constexpr ObjectHandle server_sword{1000};
constexpr ObjectHandle server_shield{1001};
constexpr ObjectHandle sword{1};
constexpr ObjectHandle shield{2};

struct CarrierPair {
    void replicate() {
        client.calls.clear();
        receiver.named.clear();
        receiver.dropped.clear();
        REQUIRE(sender.update(&server));
        REQUIRE(receiver.receive(&client, sender.block(since(sender.state.version() - 1))));
    }
    NetGUID guid(ObjectHandle object) { return sender.package_map.guid_of(object); }

    TestLayout layout{build_carrier};
    Carrier server;
    Carrier client;
    BlockSender sender{*layout};
    BlockReceiver receiver{*layout};
};

TEST_CASE("References: one whose target is there is set at once",
          "[replayout][receive_references]") {
    CarrierPair pair;
    pair.receiver.package_map.bind(pair.guid(server_sword), sword);
    pair.server.target = server_sword;
    pair.replicate();
    CHECK(pair.client.target == sword);
    CHECK(pair.client.calls == Calls{"target 0 -> 1"});
    CHECK(values_of(pair.receiver.named) == Guids{pair.guid(server_sword).value});
    CHECK(pair.receiver.dropped.empty());
}

TEST_CASE("References: one without a target is null, remembered, and bound when it appears",
          "[replayout][receive_references]") {
    CarrierPair pair;
    pair.server.target = server_sword;
    pair.replicate();
    const NetGUID guid = pair.guid(server_sword);
    CHECK(pair.client.target.is_null());
    CHECK(pair.client.calls.empty());  // null before, null now
    CHECK(pair.receiver.state.names(guid));
    CHECK(values_of(pair.receiver.named) == Guids{guid.value});

    CHECK(pair.receiver.rebind(&pair.client, guid, sword) == 1);
    CHECK(pair.client.target == sword);
    CHECK(pair.client.calls == Calls{"target 0 -> 1"});
    CHECK(pair.receiver.rebind(&pair.client, guid, sword) == 0);
    CHECK(pair.client.calls.size() == 1);
}

TEST_CASE("References: one whose target vanishes is null, and bound again when it comes back",
          "[replayout][receive_references]") {
    CarrierPair pair;
    const NetGUID guid = pair.guid(server_sword);
    pair.receiver.package_map.bind(guid, sword);
    pair.server.target = server_sword;
    pair.replicate();
    pair.client.calls.clear();
    CHECK(pair.receiver.rebind(&pair.client, guid, {}) == 1);
    CHECK(pair.client.target.is_null());
    CHECK(pair.client.calls == Calls{"target 1 -> 0"});
    CHECK(pair.receiver.state.names(guid));
    CHECK(pair.receiver.rebind(&pair.client, guid, shield) == 1);
    CHECK(pair.client.target == shield);
}

TEST_CASE("References: one that is set anew drops the id it named",
          "[replayout][receive_references]") {
    CarrierPair pair;
    pair.server.target = server_sword;
    pair.replicate();
    pair.server.target = server_shield;
    pair.replicate();
    CHECK(values_of(pair.receiver.dropped) == Guids{pair.guid(server_sword).value});
    CHECK(values_of(pair.receiver.named) == Guids{pair.guid(server_shield).value});
    CHECK(pair.receiver.rebind(&pair.client, pair.guid(server_sword), sword) == 0);
    CHECK(pair.client.target.is_null());
    pair.server.target = {};
    pair.replicate();
    CHECK(values_of(pair.receiver.dropped) == Guids{pair.guid(server_shield).value});
    CHECK(pair.receiver.named.empty());
    CHECK_FALSE(pair.receiver.state.has_references());
}

TEST_CASE("References: all that name an id are bound, in arrays and in arrays of arrays",
          "[replayout][receive_references]") {
    CarrierPair pair;
    pair.server.hands[1] = server_sword;
    pair.server.slots.resize(3);
    pair.server.slots[2].item = server_sword;
    pair.server.slots[1].item = server_shield;
    pair.server.bags.resize(2);
    pair.server.bags[1].items = {server_shield, server_sword, server_sword};
    pair.replicate();
    const NetGUID guid = pair.guid(server_sword);
    pair.client.calls.clear();
    CHECK(pair.receiver.rebind(&pair.client, guid, sword) == 4);
    CHECK(pair.client.hands[0].is_null());
    CHECK(pair.client.hands[1] == sword);
    CHECK(pair.client.slots[2].item == sword);
    CHECK(pair.client.slots[1].item.is_null());
    CHECK(pair.client.bags[1].items == std::vector<ObjectHandle>{{}, sword, sword});
    // One notify for the array, however many of its elements were bound.
    CHECK(pair.client.calls == Calls{"slots 3 -> 3"});
}

TEST_CASE("References: an array that shrinks drops those of its tail",
          "[replayout][receive_references]") {
    CarrierPair pair;
    pair.server.slots.resize(3);
    pair.server.slots[0].item = server_sword;
    pair.server.slots[2].item = server_shield;
    pair.server.bags.resize(2);
    pair.server.bags[0].items = {server_sword, server_shield};
    pair.server.bags[1].items = {server_shield};
    pair.replicate();
    CHECK(pair.receiver.state.references().size() == 5);

    pair.server.slots.resize(1);
    pair.server.bags[0].items.resize(1);
    pair.server.bags.resize(1);
    pair.replicate();
    const std::uint64_t dropped = pair.guid(server_shield).value;
    CHECK(values_of(pair.receiver.dropped) == Guids{dropped, dropped, dropped});
    CHECK(pair.receiver.state.references().size() == 2);
    CHECK_FALSE(pair.receiver.state.names(pair.guid(server_shield)));
    CHECK(pair.receiver.rebind(&pair.client, pair.guid(server_shield), shield) == 0);
    CHECK(pair.receiver.rebind(&pair.client, pair.guid(server_sword), sword) == 2);
}

TEST_CASE("References: an element that comes back names nothing old",
          "[replayout][receive_references]") {
    CarrierPair pair;
    pair.server.slots.resize(2);
    pair.server.slots[1].item = server_sword;
    pair.replicate();
    pair.server.slots.resize(1);
    pair.replicate();
    pair.server.slots.resize(2);
    pair.replicate();
    CHECK(pair.receiver.rebind(&pair.client, pair.guid(server_sword), sword) == 0);
    CHECK(pair.client.slots[1].item.is_null());
}

TEST_CASE("References: an array that the game shortened itself is left alone",
          "[replayout][receive_references]") {
    CarrierPair pair;
    pair.server.slots.resize(2);
    pair.server.slots[1].item = server_sword;
    pair.server.bags.resize(1);
    pair.server.bags[0].items = {{}, server_sword};
    pair.replicate();
    pair.client.slots.clear();
    pair.client.bags[0].items.resize(1);
    CHECK(pair.receiver.rebind(&pair.client, pair.guid(server_sword), sword) == 0);
    CHECK(pair.client.slots.empty());
}

TEST_CASE(
    "References: beyond the most that an object may hold they are null, and the caller is told",
    "[replayout][receive_references]") {
    CarrierPair pair;
    pair.receiver.references_max = 2;
    pair.receiver.package_map.bind(pair.guid(server_shield), shield);
    pair.server.target = server_sword;
    pair.server.hands[0] = server_shield;
    pair.server.hands[1] = server_shield;
    pair.server.slots.resize(1);
    pair.server.slots[0].item = server_sword;
    pair.replicate();
    CHECK(pair.receiver.state.references().size() == 2);
    CHECK(pair.client.hands[1].is_null());
    CHECK(pair.receiver.named.size() == 2);
    CHECK(pair.receiver.has_too_many_references);
    CHECK(pair.receiver.rebind(&pair.client, pair.guid(server_sword), sword) == 2);
}

/// Throws all away before anything is received.
struct Vault {
    std::vector<ObjectHandle> items;
    bool is_emptied = false;

    void pre_net_receive() {
        if (is_emptied) {
            items.clear();
        }
    }
};

TEST_CASE("References: one whose place a hook takes away before it is bound is left alone",
          "[replayout][receive_references]") {
    const TestLayout layout([](TypeRegistry& registry) {
        return class_builder<Vault>(registry, "Vault")
            .property<&Vault::items>()
            .pre_net_receive<&Vault::pre_net_receive>()
            .build();
    });
    for (const bool is_emptied : {false, true}) {
        BlockSender sender(*layout);
        BlockReceiver receiver(*layout);
        Vault server;
        Vault client;
        server.items = {server_sword, server_sword};
        REQUIRE(sender.update(&server));
        REQUIRE(receiver.receive(&client, sender.block(since(0))));
        client.is_emptied = is_emptied;
        const NetGUID guid = sender.package_map.guid_of(server_sword);
        CHECK(receiver.rebind(&client, guid, sword) == (is_emptied ? 0u : 2u));
        CHECK(client.items.size() == (is_emptied ? 0u : 2u));
    }
}

TEST_CASE("References: one that finds no room is told of, also when another one behind it is kept",
          "[replayout][receive_references]") {
    CarrierPair pair;
    pair.receiver.references_max = 1;
    pair.server.hands[0] = server_sword;
    pair.replicate();
    CHECK_FALSE(pair.receiver.has_too_many_references);
    pair.server.target = server_sword;
    pair.server.hands[0] = server_shield;
    pair.replicate();
    CHECK(pair.receiver.has_too_many_references);
    CHECK(pair.receiver.state.names(pair.guid(server_shield)));
    CHECK_FALSE(pair.receiver.state.names(pair.guid(server_sword)));
}

}  // namespace
}  // namespace replayout::receive_references_test
