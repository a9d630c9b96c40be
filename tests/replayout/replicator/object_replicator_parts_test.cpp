// SPDX-License-Identifier: MIT
//
// Objects and values that are larger than a packet.
#include <replayout/object_replicator.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/test_types.h"
#include "support/worlds/guard_post.h"

namespace replayout::test {
namespace {

using Handles = std::vector<std::uint32_t>;

struct CountedEntry {
    std::uint16_t id = 0;
    std::int32_t count = 0;

    friend bool operator==(const CountedEntry&, const CountedEntry&) = default;
};

/// Of entries in an order of their own.
struct Registry {
    std::vector<CountedEntry> entries;
};

[[nodiscard]] Result<const Type*> build_registry(TypeRegistry& registry) {
    REQUIRE(struct_builder<CountedEntry>(registry, "Entry")
                .property<&CountedEntry::id>()
                .property<&CountedEntry::count>()
                .build());
    return class_builder<Registry>(registry, "Registry")
        .property<&Registry::entries>()
        .keyed_by<&CountedEntry::id>(ArrayOrder::Kept)
        .build();
}

}  // namespace

TEST_CASE("ObjectReplicator: what does not fit into the rest of a packet waits for one of its own",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.name = std::string(100, 'n');
    post.guard.health = 60;
    post.update();
    CHECK(post.bob.send(50, PacketRoom::Rest) == SendResult::DoesNotFit);
    CHECK(post.bob.replicator.owes_any());
    CHECK(post.bob.send(150, PacketRoom::Rest) == SendResult::Whole);
    post.bob.deliver();
    CHECK(post.bob.object.name == post.guard.name);
}

TEST_CASE("ObjectReplicator: a large object goes in parts, and of one that was lost that is owed",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.health = 60;
    post.guard.path.assign(100, 7);
    post.guard.name = "last of all";
    post.update();
    CHECK(post.bob.send(120) == SendResult::Part);
    // What is left of it needs packets of its own, too.
    CHECK(post.bob.send(120, PacketRoom::Rest) == SendResult::DoesNotFit);
    post.bob.send_all(120);
    const std::size_t count = post.bob.packets.size();
    REQUIRE(count >= 4);
    CHECK(post.bob.packets.front().more_parts_follow);
    CHECK_FALSE(post.bob.packets.back().more_parts_follow);

    post.bob.deliver();
    post.bob.lose();
    while (post.bob.packets.size() > 0) {
        post.bob.deliver();
    }
    CHECK(post.bob.object.name == "last of all");
    CHECK(post.bob.object.path != post.guard.path);
    post.bob.send_all(120);
    CHECK(post.bob.packets.size() == 1);
    CHECK(post.bob.handles() == Handles{10});
    post.bob.deliver_all();
    CHECK(post.bob.object.path == post.guard.path);
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: what is left of the parts is owed anew when the object changes",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.health = 60;
    post.guard.path.assign(100, 7);
    post.guard.name = "old";
    post.update();
    REQUIRE(post.bob.send(120) == SendResult::Part);
    post.bob.deliver();
    CHECK(post.bob.replicator.owes_any());
    CHECK_FALSE(post.bob.replicator.shadow().is_exact());

    post.guard.name = "new";
    post.update();
    post.bob.send_all(2'000);
    // The health was in the part that went out.
    REQUIRE(post.bob.packets.size() == 1);
    CHECK(post.bob.handles() == Handles{10, 11});
    post.bob.deliver_all();
    CHECK(post.bob.object.path == post.guard.path);
    CHECK(post.bob.object.name == "new");
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: a value larger than a packet travels reliably, and its changes behind",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.health = 60;
    post.guard.name = std::string(500, 'a');
    post.guard.last.stamp = 3;
    post.update();
    CHECK(post.bob.send(100) == SendResult::Part);
    REQUIRE(post.bob.send(100) == SendResult::ValueTooLarge);
    CHECK(post.bob.replicator.large_value() == RepHandle{11});
    SendContext context = post.bob.send_context();
    CHECK(post.bob.replicator.measure_large_value(context) > 500);
    BitWriter too_small(std::span<std::byte>{});
    CHECK(post.bob.replicator.replicate_large_value(too_small, context) == SendResult::DoesNotFit);
    REQUIRE(post.bob.send_large_value() == SendResult::Whole);
    CHECK(post.bob.send(100) == SendResult::Whole);

    // While it is under way, nothing newer of it is sent.
    post.guard.name = "short";
    post.guard.health = 50;
    post.update();
    post.bob.send_all(100);
    CHECK(post.bob.handles() == Handles{1});
    post.bob.deliver_all();
    CHECK(post.bob.object.name == std::string(500, 'a'));
    CHECK(post.bob.object.health == 50);
    CHECK(post.bob.object.last.stamp == 3);

    post.bob.send_all(100);
    CHECK(post.bob.handles() == Handles{11});
    post.bob.deliver_all();
    CHECK(post.bob.object.name == "short");
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: the receipt of a large value that is not under way says nothing",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.bob.replicator.large_value_delivered(RepHandle{11});  // none ever was
    CHECK(post.bob.replicator.is_settled());

    post.guard.health = 60;
    post.guard.name = std::string(500, 'a');
    post.update();
    post.bob.send_all(100);
    REQUIRE(post.bob.packets.back().large_value == RepHandle{11});
    // Another value's, and one of a value that travels in packets like any other.
    post.bob.replicator.large_value_delivered(RepHandle{10});
    post.bob.replicator.large_value_delivered(RepHandle{1});
    CHECK_FALSE(post.bob.replicator.is_settled());
    post.guard.name = "short";
    post.update();
    CHECK(post.bob.send(100) == SendResult::Nothing);  // still under way, so nothing newer goes out
    post.bob.deliver_all();
    post.bob.send_all(100);
    CHECK(post.bob.handles() == Handles{11});
    post.bob.replicator.large_value_delivered(RepHandle{11});  // once more
    CHECK_FALSE(post.bob.replicator.is_settled());
    post.bob.deliver_all();
    CHECK(post.bob.object.name == "short");
    CHECK(post.bob.object.health == 60);
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: an element that is lost while its array is paused is sent afterwards",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger ledger;
    ledger.lines = {"one", "two"};
    sender.update(&ledger);
    ObjectPeer<Ledger> bob(sender);
    bob.send_all();
    bob.deliver_all();

    ledger.lines[0] = "another";
    sender.update(&ledger);
    bob.send_all(100);
    ledger.lines[1] = std::string(400, 'x');
    sender.update(&ledger);
    REQUIRE(bob.send(100) == SendResult::Part);  // up to the element that is too large
    REQUIRE(bob.send(100) == SendResult::ValueTooLarge);
    REQUIRE(bob.send_large_value() == SendResult::Whole);
    bob.lose();
    ledger.page = 3;
    sender.update(&ledger);
    bob.send_all(100);
    bob.deliver_all();
    CHECK(bob.object.lines[0] == "one");
    bob.send_all(100);
    bob.deliver_all();
    CHECK(bob.object.lines == ledger.lines);
    CHECK(bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: a large value that nobody takes is left out until it changes",
          "[replayout][object_replicator]") {
    GuardPost post;
    LogCount log;
    post.guard.name = std::string(500, 'a');
    post.guard.last.stamp = 3;
    post.update();
    REQUIRE(post.bob.send(100) == SendResult::ValueTooLarge);
    CHECK(post.bob.send(100) == SendResult::Whole);
    CHECK(post.bob.handles() == Handles{17});
    CHECK(post.sender.counters.values_over_limit == 1);
    CHECK(log.lines == 1);
    post.bob.deliver_all();
    CHECK_FALSE(post.bob.replicator.owes_any());
    CHECK_FALSE(post.bob.replicator.is_settled());

    post.guard.name = "short";
    post.update();
    post.bob.send_all(100);
    post.bob.deliver_all();
    CHECK(post.bob.object.name == "short");
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: parts that an owner was to see do not go to who is none any more",
          "[replayout][object_replicator]") {
    GuardPost post;
    ReplicationFlags flags;
    flags.is_owner = true;
    post.bob.replicator.set_flags(flags);
    post.guard.path.assign(60, 7);
    post.guard.plan.assign(60, 7);
    post.update();
    REQUIRE(post.bob.send(100) == SendResult::Part);
    post.bob.replicator.set_flags({});
    post.bob.send_all(100);
    post.bob.deliver_all();
    CHECK(post.bob.object.path == post.guard.path);
    CHECK(post.bob.object.plan.empty());
}

TEST_CASE("ObjectReplicator: a paused value whose object came meanwhile is sent once more",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.leash = {ObjectHandle{5}, std::string(300, 't')};
    post.update();
    REQUIRE(post.bob.send(100) == SendResult::ValueTooLarge);
    REQUIRE(post.bob.send_large_value() == SendResult::Whole);
    post.bob.send_all(100);
    post.bob.map(post.sender.package_map.guid_of(ObjectHandle{5}), ObjectHandle{55});
    CHECK_FALSE(post.bob.replicator.owes_any());
    post.bob.deliver_all();
    CHECK(post.bob.object.leash.holder.is_null());
    post.bob.send_all(1'000);
    post.bob.deliver_all();
    CHECK(post.bob.object.leash.holder == ObjectHandle{55});
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: a last part that fails does not forget who waits in those before it",
          "[replayout][object_replicator]") {
    GuardPost post;
    LogCount log;
    post.guard.leash.holder = ObjectHandle{5};
    post.guard.path.assign(10, 7);
    post.guard.name = std::string(40, 'n');
    post.guard.last = {1, true};
    post.update();
    while (post.bob.replicator.owes_any()) {
        (void)post.bob.send(60);
    }
    REQUIRE(post.bob.packets.front().more_parts_follow);
    post.bob.deliver_all();
    post.bob.map(post.sender.package_map.guid_of(ObjectHandle{5}), ObjectHandle{55});
    post.bob.send_all();
    post.bob.deliver_all();
    CHECK(post.bob.object.leash.holder == ObjectHandle{55});
}

TEST_CASE("ObjectReplicator: a loss between the parts of an array is owed behind its large value",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger ledger;
    ledger.lines = {"one"};
    sender.update(&ledger);
    ObjectPeer<Ledger> bob(sender);
    REQUIRE(bob.send(256) == SendResult::Whole);
    ledger.lines.push_back("two");
    ledger.lines.push_back(std::string(400, 'x'));
    sender.update(&ledger);
    REQUIRE(bob.send(256) == SendResult::Part);
    bob.lose();  // the first line
    REQUIRE(bob.send(256) == SendResult::ValueTooLarge);
    REQUIRE(bob.send_large_value() == SendResult::Whole);
    for (int i = 0; i < 2; ++i) {
        bob.send_all(256);
        bob.deliver_all();
    }
    CHECK(bob.replicator.is_settled());
    CHECK(bob.object.lines == ledger.lines);
}

TEST_CASE("ObjectReplicator: a large value of what is no more so is not written, but found anew",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.name.assign(1'000, 'n');
    post.update();
    SendResult result = post.bob.send(200);
    while (result == SendResult::Part) {
        result = post.bob.send(200);
    }
    REQUIRE(result == SendResult::ValueTooLarge);
    SECTION("because the object changed") {
        post.guard.health = 7;
        post.update();
    }
    SECTION("because the receiver is another to it") {
        ReplicationFlags flags;
        flags.is_owner = true;
        post.bob.replicator.set_flags(flags);
    }
    Bytes memory(2'000);
    BitWriter writer(memory);
    const SendContext context = post.bob.send_context();
    CHECK(post.bob.replicator.replicate_large_value(writer, context) == SendResult::Nothing);
    post.bob.send_all(200);
    post.bob.deliver_all();
    CHECK(post.bob.replicator.is_settled());
    CHECK(post.bob.object.name == post.guard.name);
    CHECK(post.bob.object.health == post.guard.health);
}

TEST_CASE(
    "ObjectReplicator: values of early parts wait for their object, whatever fails behind them",
    "[replayout][object_replicator]") {
    GuardPost post;
    (void)post.sender.package_map.guid_of(ObjectHandle{1});
    post.guard.leash = {ObjectHandle{1}, "t"};
    post.guard.path.assign(60, 100'000);
    post.guard.last = {5, true};  // fails
    post.update();
    post.bob.send_all(104);
    post.bob.deliver_all();
    REQUIRE(post.bob.object.leash.tag == "t");
    post.bob.map(NetGUID{1}, ObjectHandle{1});
    CHECK(post.bob.replicator.owes_any());
    post.bob.send_all();
    post.bob.deliver_all();
    CHECK(post.bob.object.leash.holder == ObjectHandle{1});
}

TEST_CASE("ObjectReplicator: of a keyed array that never goes out whole all removals arrive",
          "[replayout][object_replicator][random]") {
    const TestLayout layout(build_registry);
    for (const std::uint64_t seed : seed_range(run_seed() * 1'000, 20)) {
        CAPTURE(seed);
        SeededRandom random(seed);
        BlockSender sender(*layout);
        Registry registry;
        std::uint16_t last_id = 0;
        while (last_id < 400) {
            registry.entries.push_back({++last_id, 0});
        }
        sender.update(&registry);
        ObjectPeer<Registry> bob(sender);
        for (std::uint32_t tick = 0; tick < 600; ++tick) {
            for (std::uint32_t i = 0; i < 20 && tick < 200; ++i) {
                std::vector<CountedEntry>& entries = registry.entries;
                const auto place =
                    entries.begin() + static_cast<std::ptrdiff_t>(
                                          random.below(static_cast<std::uint32_t>(entries.size())));
                if (random.percent(50)) {
                    entries.insert(place, CountedEntry{++last_id, 1});
                } else if (entries.size() > 390) {
                    entries.erase(place);
                }
            }
            sender.update(&registry);
            for (std::uint32_t i = 0; i < 4 && bob.replicator.owes_any(); ++i) {
                (void)bob.send(288);
            }
            while (bob.packets.size() > 24 || (tick >= 200 && !bob.packets.empty())) {
                if (random.percent(20)) {
                    bob.lose();
                } else {
                    bob.deliver();
                }
            }
        }
        REQUIRE(bob.replicator.is_settled());
        REQUIRE(bob.object.entries == registry.entries);
    }
}

}  // namespace replayout::test
