// SPDX-License-Identifier: MIT
//
// What an engineer who knows Unreal's property replication takes for granted, as far as layouts
// alone can show it. The numbers are those of docs/unreal.md, "Conformance"; what needs connections
// stands in the test of the same name of the driver.
#include <replayout/receive_properties.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

/// A soldier in one of many states; every kind of value, and arrays in arrays.
void edit(Soldier& soldier, std::uint32_t step) {
    const auto small = static_cast<std::uint16_t>(step);
    soldier.serial += step;
    soldier.is_hidden = step % 2 == 0;
    soldier.owner = ObjectHandle{1 + step % 5};
    soldier.health -= static_cast<std::int32_t>(step);
    soldier.stance = static_cast<Stance>(step % 3);
    soldier.position.x += 0.5f;
    soldier.turn.w = static_cast<float>(step);
    soldier.title = std::string(step % 20, 'x');
    soldier.target = ObjectHandle{step % 3};
    soldier.last_wound.damage = small;
    soldier.scores[step % 3] = static_cast<std::int16_t>(step);
    soldier.wounds.resize(step % 4);
    soldier.words.assign(step % 3, "word " + std::to_string(step));
    soldier.pouches.resize(1 + step % 3);
    Pouch& pouch = soldier.pouches.back();
    pouch.rounds.assign(step % 7, static_cast<std::uint8_t>(step));
    pouch.routes.resize(1 + step % 2);
    pouch.routes.back().assign(step % 5, small);
    pouch.owners.assign(step % 3, ObjectHandle{step});
    pouch.aim.range = step * 1000;
    soldier.aim.yaw = static_cast<std::int16_t>(step);
    soldier.secret.word = "secret " + std::to_string(step);
    soldier.weight += 0.25;
    soldier.stamina *= 0.5f;
}

// 1. Sharing serialized data decides who computes bits, and never which bits there are.
TEST_CASE("Unreal conformance 1: shared serialization on or off gives the same bytes",
          "[replayout][unreal]") {
    const TestLayout layout(build_soldier);
    BlockSender shared(*layout);
    BlockSender unshared(*layout);
    unshared.is_sharing = false;
    Soldier soldier;
    for (std::uint32_t step = 1; step <= 60; ++step) {
        edit(soldier, step);
        REQUIRE(shared.update(&soldier));
        REQUIRE(unshared.update(&soldier));
        const Version version = shared.state.version();
        const OwedVersions positions[] = {since(version - 1), since(version - 1),  // asked twice
                                          since(0), since(version / 2),
                                          since(version - 1, version / 3, version / 2)};
        for (const OwedVersions& position : positions) {
            CHECK(shared.block(position) == unshared.block(position));
        }
    }
    CHECK(shared.counters.values_reused > 0);
    CHECK(unshared.counters.values_reused == 0);
}

struct Dose {
    float amount = 0.0f;
    std::uint8_t kind = 0;
};

struct SharedDose {
    float amount = 0.0f;
    std::uint8_t kind = 0;
};

template <typename T>
struct Patient {
    std::int32_t age = 0;
    T dose;
};

}  // namespace

template <>
struct StructTraitsOf<SharedDose> : DefaultStructTraits {
    static constexpr bool with_net_shared_serialization = true;
};

namespace {

template <typename T>
Result<const Type*> build_patient(TypeRegistry& registry) {
    (void)struct_builder<T>(registry, "Dose")
        .template property<&T::amount>("amount")
        .template property<&T::kind>("kind")
        .build();
    return class_builder<Patient<T>>(registry, "Patient")
        .template property<&Patient<T>::age>("age")
        .template property<&Patient<T>::dose>("dose")
        .build();
}

// 1. What is sent is what was compared: the bits come from the shadow.
TEST_CASE("Unreal conformance 1: what an object becomes after the compare changes no byte",
          "[replayout][unreal]") {
    const TestLayout layout(build_soldier);
    for (const bool is_sharing : {true, false}) {
        INFO("sharing " << is_sharing);
        BlockSender still(*layout);
        BlockSender moving(*layout);
        moving.is_sharing = is_sharing;
        Soldier soldier;
        for (std::uint32_t step = 1; step <= 30; ++step) {
            edit(soldier, step);
            REQUIRE(still.update(&soldier));
            REQUIRE(moving.update(&soldier));
            const Version version = still.state.version();
            Soldier later = soldier;
            edit(later, step + 7);
            std::swap(soldier, later);  // in the memory that was compared
            CHECK(moving.block(since(version - 1)) == still.block(since(version - 1)));
            CHECK(moving.block(since(0)) == still.block(since(0)));
            std::swap(soldier, later);
        }
    }
}

// 2. A struct that is flattened leaves no command that could carry the sharing flag; so the trait
//    alone changes nothing, and somebody should say so.
TEST_CASE("Unreal conformance 2: the sharing trait alone leaves the commands, and is reported",
          "[replayout][unreal]") {
    const TestLayout plain(build_patient<Dose>);
    const TestLayout shared(build_patient<SharedDose>);
    REQUIRE(plain->cmds().size() == shared->cmds().size());
    for (std::size_t i = 0; i < plain->cmds().size(); ++i) {
        const RepLayoutCmd& left = plain->cmds()[i];
        const RepLayoutCmd& right = shared->cmds()[i];
        CHECK(left.type == right.type);
        CHECK(left.flags == right.flags);
        CHECK(left.relative_handle == right.relative_handle);
        CHECK(left.end_cmd == right.end_cmd);
        CHECK(left.checksum == right.checksum);
    }
    CHECK(plain->diagnostics().empty());
    CHECK(shared->diagnostics().size() == 1);
}

// 3. Arrays shrink, grow and empty at any moment; what is sent never reaches past the array of now,
//    and a receiver that was sent any part of the past ends with the present.
TEST_CASE("Unreal conformance 3: arrays that shrink, grow and empty end right for every receiver",
          "[replayout][unreal]") {
    const TestLayout layout(build_ledger);
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        test::SeededRandom random(run_seed() + seed);
        BlockSender sender(*layout);
        Ledger server;
        std::vector<Ledger> clients(3);
        std::deque<BlockReceiver> receivers;
        for (std::size_t i = 0; i < clients.size(); ++i) {
            receivers.emplace_back(*layout);
        }
        std::vector<SendingRepState> pairs(clients.size());
        for (std::uint32_t step = 0; step < 60; ++step) {
            server.bytes.resize(random.below(6), static_cast<std::uint8_t>(step));
            server.lines.resize(random.below(4), std::to_string(step));
            server.cubes.resize(random.below(3));
            for (auto& square : server.cubes) {
                square.resize(random.below(3));
                for (auto& line : square) {
                    line.resize(random.below(4), step);
                }
            }
            (void)sender.update(&server);
            const Version version = sender.state.version();
            for (std::size_t i = 0; i < clients.size(); ++i) {
                if (random.below(2) != 0 && step < 59) {
                    continue;  // not its turn
                }
                const Bytes block = sender.block(OwedVersions(pairs[i]));
                const SentVersions record = pairs[i].send(version);
                if (random.below(3) == 0 && step < 59) {
                    pairs[i].lose(record);
                } else {
                    pairs[i].delivered();
                    REQUIRE((block.empty() || receivers[i].receive(&clients[i], block)));
                }
            }
        }
        for (const Ledger& client : clients) {
            CHECK(client.bytes == server.bytes);
            CHECK(client.lines == server.lines);
            CHECK(client.cubes == server.cubes);
        }
    }
}

// 3. A size that changes without any element must be sent too; an emptied array is count 0.
TEST_CASE("Unreal conformance 3: a size that changes alone is sent", "[replayout][unreal]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Ledger server;
    Ledger client;
    for (const std::size_t count : {5u, 3u, 0u, 2u}) {
        server.bytes.resize(count);
        REQUIRE(sender.update(&server));
        REQUIRE(receiver.receive(&client, sender.block(since(sender.state.version() - 1))));
        CHECK(client.bytes == server.bytes);
    }
}

// 4. The shared history has 64 entries; when they are used up the oldest folds into the next, and
//    a receiver that is further behind is sent the union of all there was.
TEST_CASE("Unreal conformance 4: past 64 changes nothing is missed, by whoever lags or joins late",
          "[replayout][unreal]") {
    const TestLayout layout(build_soldier);
    BlockSender sender(*layout);
    Soldier soldier;
    soldier.title = "changed once, long ago";
    for (std::int32_t change = 1; change <= 1'000; ++change) {
        soldier.health = change;
        REQUIRE(sender.update(&soldier));
    }
    for (const Version position : {0u, 1u, 500u, 935u, 936u, 937u, 999u}) {
        Soldier client;
        if (position > 0) {
            client.title = soldier.title;
        }
        BlockReceiver receiver(*layout);
        REQUIRE(receiver.receive(&client, sender.block(since(position))));
        CHECK(client.health == 1'000);
        CHECK(client.title == soldier.title);
    }
    // The late joiner pays for two properties, not for a thousand changes.
    CHECK(sender.collect(since(0)).count() == 2);
}

// 4. A nak of what replaced a nak owes everything of both, with the values of now.
TEST_CASE("Unreal conformance 4: the loss of a repeat owes what the first loss did",
          "[replayout][unreal]") {
    const TestLayout layout(build_soldier);
    BlockSender sender(*layout);
    Soldier soldier;
    SendingRepState pair;
    soldier.health = 1;
    REQUIRE(sender.update(&soldier));
    const SentVersions first = pair.send(sender.state.version());
    pair.lose(first);
    soldier.title = "later";
    REQUIRE(sender.update(&soldier));
    const SentVersions second = pair.send(sender.state.version());
    pair.lose(second);
    soldier.health = 2;
    REQUIRE(sender.update(&soldier));
    Soldier client;
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(OwedVersions(pair))));
    CHECK(client.health == 2);
    CHECK(client.title == "later");
}

struct Watcher {
    ObjectHandle changed;
    ObjectHandle always;
    std::vector<std::string> calls;

    void on_rep_changed() { calls.push_back("changed " + std::to_string(changed.value)); }
    void on_rep_always() { calls.push_back("always " + std::to_string(always.value)); }
};

Result<const Type*> build_watcher(TypeRegistry& registry) {
    return class_builder<Watcher>(registry, "Watcher")
        .property<&Watcher::changed>()
        .on_rep<&Watcher::on_rep_changed>()
        .property<&Watcher::always>()
        .on_rep<&Watcher::on_rep_always>(RepNotify::Always)
        .build();
}

// 6. An unmapped reference is null and remembered; with Always the notify runs twice, the first
//    time with null; a target that is destroyed and made again binds again.
TEST_CASE("Unreal conformance 6: an unmapped reference notifies once by OnChanged, twice by Always",
          "[replayout][unreal]") {
    using Calls = std::vector<std::string>;
    const TestLayout layout(build_watcher);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Watcher server;
    Watcher client;
    server.changed = server.always = ObjectHandle{1000};
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.calls == Calls{"always 0"});
    const NetGUID guid = sender.package_map.guid_of(ObjectHandle{1000});
    CHECK(receiver.rebind(&client, guid, ObjectHandle{3}) == 2);
    CHECK(client.calls == Calls{"always 0", "changed 3", "always 3"});

    client.calls.clear();
    (void)receiver.rebind(&client, guid, {});
    (void)receiver.rebind(&client, guid, ObjectHandle{4});
    CHECK(client.calls == Calls{"changed 0", "always 0", "changed 4", "always 4"});
}

// 6. The contract of net_serialize: see net_serialize_test.cpp, which holds it sentence by
// sentence.

}  // namespace
}  // namespace replayout
