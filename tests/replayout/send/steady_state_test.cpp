// SPDX-License-Identifier: MIT
//
// A steady tick takes no memory: not from the resources that were handed in, not from the default
// one, and not from the global heap.
#include <replayout/receive_properties.h>
#include <replayout/send_properties.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/heap_count.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/mixed_types.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

/// What was taken, anywhere, since the last time.
class MemoryWatch {
  public:
    explicit MemoryWatch(const CountingResource& resource) noexcept : resource_(resource) {}

    [[nodiscard]] std::uint64_t taken() noexcept {
        const std::uint64_t now = resource_.allocation_count() + heap_allocation_count();
        const std::uint64_t since_then = now - last_;
        last_ = now;
        return since_then;
    }

  private:
    const CountingResource& resource_;
    std::uint64_t last_ = 0;
};

/// A soldier with a notify on a value of each kind of memory.
struct Scout : Soldier {
    std::uint32_t calls = 0;

    void on_rep() { ++calls; }
};

Result<const Type*> build_scout(TypeRegistry& registry) {
    register_parts(registry);
    return class_builder<Scout>(registry, "Scout")
        .property<&Scout::serial>()
        .property<&Scout::health>()
        .on_rep<&Scout::on_rep>()
        .property<&Scout::position>()
        .on_rep<&Scout::on_rep>()
        .property<&Scout::title>()
        .on_rep<&Scout::on_rep>()
        .property<&Scout::target>()
        .property<&Scout::last_wound>()
        .property<&Scout::wounds>()
        .property<&Scout::words>()
        .property<&Scout::pouches>()
        .property<&Scout::aim>()
        .on_rep<&Scout::on_rep>()
        .property<&Scout::secret>()
        .build();
}

/// Values of one size all the time; texts that a string object holds itself.
void change(Soldier& soldier, std::uint32_t tick) {
    soldier.health = static_cast<std::int32_t>(tick);
    soldier.position.x = static_cast<float>(tick);
    soldier.title.back() = static_cast<char>('a' + tick % 26);
    soldier.target = ObjectHandle{1 + tick % 3};
    soldier.last_wound.damage = static_cast<std::uint16_t>(tick);
    soldier.wounds[tick % soldier.wounds.size()].source = ObjectHandle{1 + tick % 2};
    soldier.wounds.resize(2 + tick % 3);
    soldier.words[tick % 2].back() = static_cast<char>('a' + tick % 26);
    soldier.pouches[tick % 2].rounds[0] = static_cast<std::uint8_t>(tick);
    soldier.aim.yaw = static_cast<std::int16_t>(tick);
    soldier.secret.level = static_cast<std::uint8_t>(tick);
}

template <typename T>
void prepare(T& soldier) {
    soldier.title = "scout";
    soldier.wounds.reserve(4);
    soldier.wounds.resize(2);
    soldier.words = {"one", "two"};
    soldier.pouches.resize(2);
    soldier.pouches[0].rounds = {1, 2};
    soldier.pouches[1].rounds = {3};
}

struct Match {
    static constexpr std::uint32_t receiver_count = 3;

    Match() {
        prepare(server);
        for (std::uint32_t index = 0; index < receiver_count; ++index) {
            prepare(clients[index]);
            receivers.push_back(std::make_unique<BlockReceiver>(*layout, &resource));
            receivers.back()->named.reserve(64);
            receivers.back()->dropped.reserve(64);
            for (std::uint64_t guid = 1; guid <= 3; ++guid) {
                receivers.back()->package_map.bind(NetGUID{guid}, ObjectHandle{guid});
            }
        }
        for (std::uint64_t handle = 1; handle <= 3; ++handle) {
            (void)sender.package_map.guid_of(ObjectHandle{handle});
        }
    }

    void tick(std::uint32_t number) {
        change(server, number);
        (void)sender.update(&server);
        for (std::uint32_t index = 0; index < receiver_count; ++index) {
            SendingRepState& pair = pairs[index];
            const OwedVersions position(pair);
            sender.state.collect_owed(position, sender.scratch.owed);
            BitWriter writer(memory);
            SendContext context = sender.context();
            const SentBlock block =
                send_properties(sender.state, position, sender.scratch.owed, writer, context);
            is_good = is_good && block == SendResult::Whole;
            const SentVersions record = pair.send(sender.state.version());
            if ((number + index) % 7 == 0) {
                pair.lose(record);
                continue;
            }
            pair.delivered();
            receive(index, writer.bytes());
        }
    }

    void receive(std::uint32_t index, std::span<const std::byte> block) {
        BlockReceiver& receiver = *receivers[index];
        receiver.named.clear();
        receiver.dropped.clear();
        is_good = receiver.receive(&clients[index], block) && is_good;
    }

    CountingResource resource;
    TestLayout layout{build_scout, {}, &resource};
    Scout server;
    std::array<Scout, receiver_count> clients;
    BlockSender sender{*layout, &resource};
    std::array<SendingRepState, receiver_count> pairs;
    std::vector<std::unique_ptr<BlockReceiver>> receivers;
    std::array<std::byte, 4096> memory;
    bool is_good = true;
};

TEST_CASE("Steady state: compare, send and receive take no memory, notifies and losses included",
          "[replayout][steady_state]") {
    Match match;
    // Warm: the history is full after 64 versions, and buffers have turned over.
    std::uint32_t number = 1;
    for (; number < 400; ++number) {
        match.tick(number);
    }
    const DefaultResourceScope scope(match.resource);
    MemoryWatch watch(match.resource);
    (void)watch.taken();
    for (; number < 800; ++number) {
        match.tick(number);
    }
    CHECK(watch.taken() == 0);
    CHECK(match.is_good);
    CHECK(match.clients[0].calls > 100);
}

/// A bazaar, sent to receivers of whom one is its owner.
struct Fair {
    static constexpr std::uint32_t receiver_count = 3;

    Fair() {
        for (Visit& visit : visits) {
            visit.receiver = std::make_unique<BlockReceiver>(*layout, &resource);
        }
        sender.state.set_dynamic_condition(*layout->find_parent("hint"),
                                           LifetimeCondition::SkipOwner);
    }

    void tick() {
        bazaar.change();
        // On for a while, off for a while.
        sender.state.set_active(*layout->find_parent("rumour"), bazaar.turn % 64 < 32);
        (void)sender.update(&bazaar);
        for (std::uint32_t index = 0; index < receiver_count; ++index) {
            send(visits[index], index == 0, (bazaar.turn + index) % 5 != 0);
        }
    }

    struct Visit {
        explicit Visit(MemoryResource* resource) : deltas(resource) {}

        test::Bazaar client;
        SendingRepState pair;
        DeltaStates deltas;
        std::unique_ptr<BlockReceiver> receiver;
    };

    void send(Visit& visit, bool is_owner, bool is_delivered) {
        ReplicationFlags flags;
        flags.is_owner = is_owner;
        const OwedVersions position(visit.pair);
        ChangeMask& owed = sender.scratch.owed;
        sender.state.collect_owed(position, passing_conditions(flags), owed);
        visit.deltas.remove_held(sender.state, owed);
        if (!owed.any()) {
            return;
        }
        BitWriter writer(memory);
        SendContext context = sender.context();
        context.delta_states = &visit.deltas;
        const SentBlock block = send_properties(sender.state, position, owed, writer, context);
        is_good = is_good && block == SendResult::Whole;
        visit.deltas.block_sent(block.deltas());
        const SentVersions record = visit.pair.send(sender.state.version());
        if (is_delivered) {
            visit.pair.delivered();
            is_good = visit.receiver->receive(&visit.client, writer.bytes()) && is_good;
        } else {
            visit.pair.lose(record);
        }
        missed.clear();
        visit.deltas.block_resolved(is_delivered, missed);
        for (const RepHandle handle : missed) {
            const Version version = sender.state.last_changed(handle);
            visit.pair.return_unsent({{version - 1, version}, {}});
        }
    }

    CountingResource resource;
    TestLayout layout{test::build_bazaar, {}, &resource};
    test::Bazaar bazaar;
    BlockSender sender{*layout, &resource};
    std::array<Visit, receiver_count> visits{Visit(&resource), Visit(&resource), Visit(&resource)};
    Vector<RepHandle> missed{Allocator<RepHandle>(&resource)};
    std::array<std::byte, 4096> memory;
    bool is_good = true;
};

TEST_CASE("Steady state: keyed and fast arrays, deltas, collections and conditions take no memory",
          "[replayout][steady_state]") {
    for (const bool is_sharing : {true, false}) {
        INFO("sharing " << is_sharing);
        Fair fair;
        fair.sender.is_sharing = is_sharing;
        // Warm: as many elements were removed as are remembered.
        for (std::uint32_t tick = 0; tick < 1'500; ++tick) {
            fair.tick();
        }
        const DefaultResourceScope scope(fair.resource);
        MemoryWatch watch(fair.resource);
        (void)watch.taken();
        for (std::uint32_t tick = 0; tick < 1'000; ++tick) {
            fair.tick();
        }
        CHECK(watch.taken() == 0);
        CHECK(fair.is_good);
        for (Fair::Visit& visit : fair.visits) {
            fair.send(visit, &visit == &fair.visits[0], true);
            CHECK(shows_the_same(visit.client, fair.bazaar));
            CHECK(visit.client.call_count > 100);
        }
    }
}

TEST_CASE("Steady state: an idle object takes no memory", "[replayout][steady_state]") {
    Match match;
    match.tick(1);
    MemoryWatch watch(match.resource);
    (void)watch.taken();
    for (std::uint32_t tick = 0; tick < 100; ++tick) {
        (void)match.sender.update(&match.server);
        match.sender.state.collect_owed(since(1), match.sender.scratch.owed);
    }
    CHECK(watch.taken() == 0);
    CHECK_FALSE(match.sender.scratch.owed.any());
}

TEST_CASE("Steady state: parts take no memory", "[replayout][steady_state]") {
    CountingResource resource;
    const TestLayout layout(build_depot, {}, &resource);
    BlockSender sender(*layout, &resource);
    Depot depot;
    std::array<std::byte, 64> memory;
    MemoryWatch watch(resource);
    std::uint64_t taken = 0;
    for (std::uint32_t tick = 1; tick < 200; ++tick) {
        for (Wound& place : depot.places) {
            place.damage = static_cast<std::uint16_t>(tick);
        }
        (void)watch.taken();
        (void)sender.update(&depot);
        const OwedVersions position = since(tick - 1);
        sender.state.collect_owed(position, sender.scratch.owed);
        RepCursor cursor;
        RepRange range;
        SendContext context = sender.context();
        for (SendResult result = SendResult::Part; result == SendResult::Part;) {
            BitWriter writer(memory);
            result = send_part(sender.state, position, sender.scratch.owed, cursor, range, writer,
                               context)
                         .result;
        }
        taken = tick < 100 ? 0 : taken + watch.taken();
    }
    CHECK(taken == 0);
}

}  // namespace
}  // namespace replayout
