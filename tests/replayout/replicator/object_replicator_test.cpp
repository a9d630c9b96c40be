// SPDX-License-Identifier: MIT
#include <replayout/object_replicator.h>

#include <array>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/heap_count.h"
#include "support/checks/refusals.h"
#include "support/replication/object_peer.h"
#include "support/types/test_layout.h"
#include "support/worlds/guard_post.h"

namespace replayout::test::object_replicator_test {
namespace {

using Handles = std::vector<std::uint32_t>;

// The bytes that the head of the class promises.
static_assert(sizeof(ObjectReplicator) <= 640);
static_assert(std::is_nothrow_move_constructible_v<ObjectReplicator>);
static_assert(!std::is_copy_constructible_v<ObjectReplicator>);

/// All but the first are of condition Dynamic.
struct Beacon {
    std::int32_t plain = 0;
    std::int32_t code = 0;
    std::int32_t range = 0;
    std::int32_t secret = 0;
};

[[nodiscard]] Result<const Type*> build_beacon(TypeRegistry& registry) {
    return class_builder<Beacon>(registry, "Beacon")
        .property<&Beacon::plain>()
        .property<&Beacon::code>()
        .condition(LifetimeCondition::Dynamic)
        .property<&Beacon::range>()
        .condition(LifetimeCondition::Dynamic)
        .property<&Beacon::secret>()
        .condition(LifetimeCondition::Dynamic)
        .build();
}

}  // namespace

TEST_CASE("ObjectReplicator: sends what changed, once, and nothing where nothing changed",
          "[replayout][object_replicator]") {
    GuardPost post;
    CHECK(post.bob.packets.empty());
    CHECK(post.bob.send() == SendResult::Nothing);

    post.guard.health = 60;
    post.update();
    CHECK(post.bob.replicator.owes_any());
    CHECK(post.bob.send() == SendResult::Whole);
    CHECK(post.bob.handles() == Handles{1});
    CHECK_FALSE(post.bob.replicator.owes_any());
    CHECK_FALSE(post.bob.replicator.is_settled());
    post.bob.deliver();
    CHECK(post.bob.replicator.is_settled());
    CHECK(post.bob.object.health == 60);
    CHECK(post.bob.object.health_notifies == 1);
}

TEST_CASE("ObjectReplicator: of a packet that was lost the values of now are owed, and no others",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.health = 60;
    post.guard.name = "first";
    post.update();
    post.bob.send_all();
    post.guard.name = "second";
    post.update();
    post.bob.send_all();
    CHECK(post.bob.handles() == Handles{11});
    post.bob.lose();
    post.bob.send_all();
    // The name that was lost went out again with the second packet.
    CHECK(post.bob.handles() == Handles{1});
    post.bob.deliver_all();
    CHECK(post.bob.object.health == 60);
    CHECK(post.bob.object.name == "second");
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: packets that carried nothing of the object say nothing",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.health = 60;
    post.update();
    post.bob.send_all();
    post.bob.replicator.packet_lost(1'000);
    post.bob.replicator.packet_delivered(1'001);
    CHECK_FALSE(post.bob.replicator.owes_any());
    CHECK_FALSE(post.bob.replicator.is_settled());
    post.bob.deliver();
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: blocks that are in one packet share its fate",
          "[replayout][object_replicator]") {
    GuardPost post;
    SendContext context = post.bob.send_context();
    std::array<std::byte, 200> memory;
    BitWriter writer(memory);
    post.guard.health = 60;
    post.update();
    REQUIRE(post.bob.replicator.replicate_properties(writer, 77, context) == SendResult::Whole);
    post.guard.name = "second";
    post.update();
    REQUIRE(post.bob.replicator.replicate_properties(writer, 77, context) == SendResult::Whole);
    post.bob.replicator.packet_lost(77);
    REQUIRE(post.bob.send() == SendResult::Whole);
    CHECK(post.bob.handles() == Handles{1, 11});
    post.bob.deliver();
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: a new owner is sent what owners see, and nothing else",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.secret = 5;
    post.guard.plan = {1, 2, 3};
    post.guard.health = 60;
    post.update();
    post.bob.send_all();
    CHECK(post.bob.handles() == Handles{1});
    post.bob.deliver_all();

    ReplicationFlags flags;
    flags.is_owner = true;
    post.bob.replicator.set_flags(flags);
    CHECK(post.bob.replicator.owes_any());
    CHECK_FALSE(post.bob.replicator.shadow().is_exact());
    post.bob.send_all();
    CHECK(post.bob.handles() == Handles{13, 14});
    post.bob.lose();
    post.bob.send_all();
    post.bob.deliver_all();
    CHECK(post.bob.object.secret == 5);
    CHECK(post.bob.object.plan == post.guard.plan);
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: what is sent only at first is sent once, and again if that was lost",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_guard);
    BlockSender sender(*layout);
    Guard guard;
    guard.rank = 3;
    sender.update(&guard);
    ObjectPeer<Guard> bob(sender);
    bob.send_all();
    CHECK(bob.handles() == Handles{15});
    guard.rank = 4;
    guard.health = 60;
    sender.update(&guard);
    bob.send_all();
    CHECK(bob.handles() == Handles{1});
    bob.lose();
    bob.send_all();
    CHECK(bob.handles() == Handles{15});
    bob.deliver_all();
    CHECK(bob.object.rank == 4);
    CHECK(bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: a condition that is chosen for an object is found by itself",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.sender.state.set_dynamic_condition(guard_mood, LifetimeCondition::OwnerOnly);
    post.guard.mood = 8;
    post.update();
    post.bob.send_all();
    post.bob.deliver_all();
    CHECK(post.bob.object.mood == 0);
    CHECK_FALSE(post.bob.replicator.owes_any());

    post.sender.state.set_dynamic_condition(guard_mood, LifetimeCondition::None);
    CHECK(post.bob.replicator.owes_any());
    post.bob.send_all();
    CHECK(post.bob.handles() == Handles{16});
    post.bob.deliver_all();
    CHECK(post.bob.object.mood == 8);
}

TEST_CASE("ObjectReplicator: choosing one Dynamic property sends all of them that may be seen",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_beacon);
    BlockSender sender(*layout);
    Beacon beacon{1, 2, 3, 4};
    sender.state.set_dynamic_condition(ParentIndex{1}, LifetimeCondition::OwnerOnly);
    sender.state.set_dynamic_condition(ParentIndex{3}, LifetimeCondition::OwnerOnly);
    sender.update(&beacon);
    ObjectPeer<Beacon> bob(sender);
    bob.send_all();
    CHECK(bob.handles() == Handles{1, 3});
    bob.deliver_all();

    sender.state.set_dynamic_condition(ParentIndex{1}, LifetimeCondition::SkipOwner);
    bob.send_all();
    CHECK(bob.handles() == Handles{2, 3});
    bob.deliver_all();
    CHECK(bob.object.code == 2);
    CHECK(bob.object.secret == 0);
    CHECK(bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: deltas are written from what each receiver holds",
          "[replayout][object_replicator]") {
    GuardPost post;
    ObjectPeer<Guard> ann(post.sender);
    for (std::int32_t round = 1; round <= 4; ++round) {
        post.guard.scores.values[static_cast<std::uint32_t>(round)] = round;
        post.update();
        post.bob.send_all();
        if (round % 2 == 0) {
            ann.send_all();
        }
    }
    // What builds on a delta that was lost is not taken, so all is owed from there.
    post.bob.deliver();
    post.bob.lose();
    post.bob.deliver_all();
    ann.lose();
    ann.deliver_all();
    CHECK(post.bob.object.scores.values.size() == 1);
    post.bob.send_all();
    ann.send_all();
    post.bob.deliver_all();
    ann.deliver_all();
    CHECK(post.bob.object.scores.values == post.guard.scores.values);
    CHECK(ann.object.scores.values == post.guard.scores.values);
    CHECK(post.bob.replicator.is_settled());
    CHECK(ann.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: what was left out of a group goes with what is owed of it next",
          "[replayout][object_replicator]") {
    GuardPost post;
    LogCount log;
    post.guard.kit.set(2, "axe");
    post.guard.kit.seal.is_broken = true;
    post.update();
    CHECK(post.bob.send() == SendResult::Nothing);
    CHECK_FALSE(post.bob.replicator.owes_any());
    CHECK_FALSE(post.bob.replicator.is_settled());
    post.guard.health = 60;
    post.update();
    post.bob.send_all();
    CHECK(post.bob.handles() == Handles{1});

    post.guard.kit.seal.is_broken = false;
    post.update();
    post.bob.send_all();
    post.bob.deliver_all();
    CHECK(post.bob.object.kit.weapon == "axe");
    CHECK(post.bob.object.kit.is_consistent());
    CHECK(post.bob.replicator.is_settled());
    CHECK(log.lines > 0);
}

TEST_CASE("ObjectReplicator: a value that waits for an object is owed again when that is there",
          "[replayout][object_replicator]") {
    GuardPost post;
    const NetGUID captain = post.sender.package_map.guid_of(ObjectHandle{5});
    post.guard.leash.holder = ObjectHandle{5};
    post.update();
    post.bob.send_all();
    post.bob.deliver_all();
    CHECK(post.bob.object.leash.holder.is_null());
    post.bob.replicator.object_mapped(NetGUID{1'000});
    CHECK_FALSE(post.bob.replicator.owes_any());

    post.bob.map(captain, ObjectHandle{55});
    post.bob.send_all();
    CHECK(post.bob.handles() == Handles{2});
    post.bob.deliver_all();
    CHECK(post.bob.object.leash.holder == ObjectHandle{55});
    CHECK(post.bob.replicator.is_settled());
    // Once is enough, and for what is gone nothing waits.
    post.bob.replicator.object_mapped(captain);
    CHECK_FALSE(post.bob.replicator.owes_any());
    post.guard.leash.holder = ObjectHandle{6};
    post.update();
    post.bob.send_all();
    const NetGUID gone = post.sender.package_map.guid_of(ObjectHandle{6});
    post.bob.replicator.object_removed(gone);
    post.bob.replicator.object_mapped(gone);
    CHECK_FALSE(post.bob.replicator.owes_any());
}

TEST_CASE("ObjectReplicator: who makes the object anew is sent all of it, whatever was under way",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.health = 60;
    post.guard.rank = 2;
    post.guard.kit.set(3, "bow");
    post.guard.scores.values[1] = 10;
    post.guard.items = {{1, 1}, {2, 2}};
    post.guard.name = std::string(300, 'n');
    post.update();
    post.bob.send_all(200);
    post.bob.deliver();
    post.guard.scores.values[2] = 20;
    post.guard.items.erase(post.guard.items.begin());
    post.update();
    post.bob.send_all(200);
    post.bob.restart();
    CHECK(post.bob.replicator.owes_any());
    post.bob.send_all();
    post.bob.deliver_all();
    CHECK(post.bob.object.health == 60);
    CHECK(post.bob.object.rank == 2);
    CHECK(post.bob.object.kit.weapon == "bow");
    CHECK(post.bob.object.scores.values == post.guard.scores.values);
    CHECK(post.bob.object.items == post.guard.items);
    CHECK(post.bob.object.name == post.guard.name);
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: what is back at what the receiver holds is not sent",
          "[replayout][object_replicator]") {
    GuardPost post;
    post.guard.health = 60;
    post.update();
    post.guard.health = 100;
    post.update();
    CHECK(post.bob.send() == SendResult::Nothing);
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: its shadow tells what the receiver holds and lacks",
          "[replayout][object_replicator]") {
    GuardPost post;
    CHECK(post.bob.replicator.shadow().is_exact());
    CHECK_FALSE(post.bob.replicator.shadow().owes(RepHandle{1}));
    post.guard.health = 60;
    post.update();
    CHECK(post.bob.replicator.shadow().owes(RepHandle{1}));
    CHECK(shadow_value<std::int32_t>(post.bob.replicator.shadow().held(RepHandle{1})) == 100);
    post.bob.send_all();
    CHECK_FALSE(post.bob.replicator.shadow().is_exact());
}

namespace {

struct Lamp {
    std::int32_t power = 0;
    std::string label;
    Vector3 place;
};

[[nodiscard]] Result<const Type*> build_lamp(TypeRegistry& registry) {
    return class_builder<Lamp>(registry, "Lamp")
        .property<&Lamp::power>()
        .property<&Lamp::label>()
        .property<&Lamp::place>()
        .build();
}

}  // namespace

TEST_CASE("ObjectReplicator: receivers in the same position are sent a copy of one block",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_lamp);
    BlockSender sender(*layout);
    Lamp lamp;
    ObjectPeer<Lamp> first(sender);
    ObjectPeer<Lamp> second(sender);
    lamp.power = 3;
    lamp.label = "north";
    sender.update(&lamp);
    first.send_all();
    const std::uint64_t calls = sender.counters.values_encoded;
    second.send_all();
    CHECK(sender.counters.payloads_built == 1);
    CHECK(sender.counters.payloads_reused == 1);
    CHECK(sender.counters.values_encoded == calls);
    CHECK(first.packets.back().block == second.packets.back().block);
    CHECK(sender.counters.blocks_sent == 2);
    CHECK(sender.counters.block_bytes_sent == 2 * first.packets.back().block.size());

    // In a packet that is too small for it the same goes in parts.
    lamp.label = std::string(40, 'x');
    lamp.power = 4;
    sender.update(&lamp);
    first.send_all();
    second.send_all(50);
    second.deliver_all();
    CHECK(second.object.label == lamp.label);
    CHECK(second.object.power == 4);
}

TEST_CASE("ObjectReplicator: a block of others is no copy for who waits for a large value",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_lamp);
    BlockSender sender(*layout);
    Lamp lamp;
    ObjectPeer<Lamp> first(sender);
    ObjectPeer<Lamp> second(sender);
    lamp.label = std::string(300, 'x');
    sender.update(&lamp);
    first.send_all();
    second.send_all(50);
    lamp.label = "short";
    lamp.power = 4;
    sender.update(&lamp);
    first.send_all();
    second.send_all(50);
    CHECK(first.handles() == Handles{1, 2});
    CHECK(second.handles() == Handles{1});
}

TEST_CASE("ObjectReplicator: a steady tick takes no memory, lost packets and parts included",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_lamp);
    CountingResource resource;
    Lamp lamp;
    lamp.label = "label";
    {
        BlockSender sender(*layout, &resource);
        std::vector<ObjectReplicator> receivers;
        for (int i = 0; i < 3; ++i) {
            receivers.emplace_back(sender.state, &resource);
        }
        std::array<std::byte, 24> memory;
        SendContext context = sender.context();
        std::uint64_t packet = 0;
        const auto tick = [&](std::uint32_t number) {
            lamp.power = static_cast<std::int32_t>(number);
            lamp.label.back() = static_cast<char>('a' + number % 26);
            lamp.place.x = static_cast<float>(number);
            sender.update(&lamp);
            for (ObjectReplicator& receiver : receivers) {
                const std::uint64_t first = packet + 1;
                while (receiver.owes_any()) {
                    BitWriter writer(std::span<std::byte>(memory).first(number % 3 == 0 ? 16 : 24));
                    (void)receiver.replicate_properties(writer, ++packet, context);
                }
                for (std::uint64_t sent = first; sent <= packet; ++sent) {
                    if ((sent + number) % 5 == 0) {
                        receiver.packet_lost(sent);
                    } else {
                        receiver.packet_delivered(sent);
                    }
                }
            }
        };
        for (std::uint32_t number = 1; number < 200; ++number) {
            tick(number);
        }
        const std::uint64_t taken = resource.allocation_count() + heap_allocation_count();
        for (std::uint32_t number = 200; number < 400; ++number) {
            tick(number);
        }
        CHECK(resource.allocation_count() + heap_allocation_count() == taken);
    }
    CHECK(resource.blocks_in_use() == 0);
}

TEST_CASE("ObjectReplicator: a value that is back at what was sent still goes for its object",
          "[replayout][object_replicator]") {
    GuardPost post;
    (void)post.sender.package_map.guid_of(ObjectHandle{1});
    post.guard.leash = {ObjectHandle{1}, "t"};
    post.update();
    post.bob.send_all();
    post.bob.deliver_all();
    for (const char* tag : {"u", "t"}) {
        post.guard.leash.tag = tag;
        post.update();
    }
    post.bob.map(NetGUID{1}, ObjectHandle{1});
    post.bob.send_all();
    post.bob.deliver_all();
    CHECK(post.bob.replicator.is_settled());
    CHECK(post.bob.object.leash.holder == ObjectHandle{1});
}

TEST_CASE("ObjectReplicator: one that is assigned takes over the other's memory",
          "[replayout][object_replicator]") {
    GuardPost post;
    std::pmr::unsynchronized_pool_resource memory;
    ObjectReplicator kept(post.sender.state, std::pmr::null_memory_resource());
    kept = ObjectReplicator(post.sender.state, &memory);
    post.guard.health = 3;
    post.update();
    Bytes packet(1'200);
    BitWriter writer(packet);
    SendContext context = post.sender.context();
    CHECK(kept.replicate_properties(writer, 1, context) == SendResult::Whole);
    kept.packet_lost(1);
    CHECK(kept.owes_any());
}

TEST_CASE("ObjectReplicator: a writer that stands within a byte is refused, and all stays owed",
          "[replayout][object_replicator][misuse]") {
    const Refusals refusals;
    GuardPost post;
    post.guard.health = 60;
    post.update();
    std::array<std::byte, 64> bytes{};
    BitWriter writer(bytes);
    writer.write_bool(true);
    CHECK(post.bob.replicator.replicate_properties(writer, 1, post.bob.send_context()) ==
          SendResult::Nothing);
    CHECK(writer.bit_count() == 1);
    CHECK(refusals.count("replicate_properties: the writer") == (Refusals::are_told ? 1u : 0u));
    CHECK(post.bob.send() == SendResult::Whole);
    post.bob.deliver();
    CHECK(post.bob.object.health == 60);
}

}  // namespace replayout::test::object_replicator_test
