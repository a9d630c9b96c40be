// SPDX-License-Identifier: MIT
//
// The contract of net_serialize, in both directions: fully mapped or not, and failed.
#include <replayout/net_archive.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/few_ids.h"
#include "support/types/test_layout.h"

namespace replayout::test::net_serialize_test {
namespace {

constexpr std::uint32_t label_bytes_max = 8;

/// Names two objects; says so.
struct Bond {
    ObjectHandle first;
    ObjectHandle second;
    std::uint8_t strength = 0;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool&) {
        archive.serialize(strength);
        bool is_mapped = archive.serialize_object(first, map);
        is_mapped = archive.serialize_object(second, map) && is_mapped;
        return is_mapped;
    }
    friend bool operator==(const Bond&, const Bond&) = default;
};

/// Sends nothing of an object that the receiver lacks, and waits for it.
struct Leash {
    ObjectHandle holder;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool&) {
        bool has_holder = archive.receiver_has(holder, map);
        const bool is_mapped = has_holder;
        archive.serialize(has_holder);
        if (!has_holder) {
            return is_mapped;
        }
        return archive.serialize_object(holder, map);
    }
    friend bool operator==(const Leash&, const Leash&) = default;
};

/// Can be told to fail.
struct Label {
    std::string text;
    bool is_bad = false;
    std::uint8_t kind = 0;  // 13 is not taken by a reader

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        archive.serialize_string(text, label_bytes_max);
        archive.serialize(kind);
        ok = archive.is_saving() ? !is_bad : kind != 13;
        return true;
    }
    friend bool operator==(const Label&, const Label&) = default;
};

/// Takes nothing once it has gone sour.
struct Grudge {
    ObjectHandle against;
    std::uint8_t mood = 0;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
        ok = archive.is_saving() || mood != 5;
        archive.serialize(mood);
        return archive.serialize_object(against, map);
    }
    friend bool operator==(const Grudge&, const Grudge&) = default;
};

/// Fails once it was written as often as it may be.
struct Fickle {
    std::uint8_t id = 0;
    static inline std::array<int, 3> writes_left{};  // by id

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        ok = !archive.is_saving() || writes_left[id]-- > 0;
        archive.serialize(id);
        return true;
    }
    friend bool operator==(const Fickle&, const Fickle&) = default;
};

struct Council {
    Fickle first;
    Fickle second;
    std::uint8_t last = 0;
};

struct Court {
    ObjectHandle judge;
    Grudge grudge;
};

struct Entry {
    Label label;
    std::uint8_t number = 0;

    friend bool operator==(const Entry&, const Entry&) = default;
};

struct Rope {
    std::int32_t length = 0;   // handle 1
    Bond bond;                 // handle 2
    std::vector<Bond> bonds;   // handle 3
    Leash leash;               // handle 4
    Label label;               // handle 5
    std::vector<Entry> cards;  // handle 6
    ObjectHandle plain;        // handle 7

    std::vector<std::string> calls;

    void on_rep_bond(const Bond& previous) {
        calls.push_back("bond " + std::to_string(previous.first.value) + "," +
                        std::to_string(previous.second.value) + " -> " +
                        std::to_string(bond.first.value) + "," + std::to_string(bond.second.value));
    }
    void on_rep_bonds() { calls.push_back("bonds"); }
    void on_rep_plain() { calls.push_back("plain"); }
};

}  // namespace
}  // namespace replayout::test::net_serialize_test

template <>
struct replayout::StructTraitsOf<replayout::test::net_serialize_test::Bond>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::net_serialize_test::Leash>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::net_serialize_test::Fickle>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::net_serialize_test::Grudge>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::net_serialize_test::Label>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

namespace replayout::test::net_serialize_test {
namespace {

Result<const Type*> build_rope(TypeRegistry& registry) {
    (void)struct_builder<Bond>(registry, "Bond").build();
    (void)struct_builder<Leash>(registry, "Leash").build();
    (void)struct_builder<Label>(registry, "Label").build();
    (void)struct_builder<Entry>(registry, "Entry")
        .property<&Entry::label>()
        .property<&Entry::number>()
        .build();
    return class_builder<Rope>(registry, "Rope")
        .property<&Rope::length>()
        .property<&Rope::bond>()
        .on_rep<&Rope::on_rep_bond>()
        .property<&Rope::bonds>()
        .on_rep<&Rope::on_rep_bonds>()
        .property<&Rope::leash>()
        .property<&Rope::label>()
        .property<&Rope::cards>()
        .property<&Rope::plain>()
        .on_rep<&Rope::on_rep_plain>()
        .build();
}

using Calls = std::vector<std::string>;
using Guids = std::vector<std::uint64_t>;

/// Server handles are 1000 and more; the client's own are small.
constexpr ObjectHandle server_post{1000};
constexpr ObjectHandle server_ring{1001};
constexpr ObjectHandle post{1};
constexpr ObjectHandle ring{2};

struct Pair {
    Bytes update() {
        REQUIRE(sender.update(&server));
        return sender.block(since(sender.state.version() - 1));
    }
    void replicate() {
        client.calls.clear();
        receiver.named.clear();
        receiver.dropped.clear();
        REQUIRE(receiver.receive(&client, update()));
    }
    NetGUID guid(ObjectHandle object) { return sender.package_map.guid_of(object); }
    std::uint32_t rebind(ObjectHandle server_object, ObjectHandle client_object) {
        client.calls.clear();
        return receiver.rebind(&client, guid(server_object), client_object);
    }

    TestLayout layout{build_rope};
    Rope server;
    Rope client;
    BlockSender sender{*layout};
    BlockReceiver receiver{*layout};
};

// Reading.

TEST_CASE("NetSerialize: not fully mapped applies what is there, and is read again when it is",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.receiver.package_map.bind(pair.guid(server_ring), ring);
    pair.server.bond = {server_post, server_ring, 9};
    pair.replicate();
    CHECK(pair.client.bond == Bond{{}, ring, 9});
    CHECK(pair.client.calls == Calls{"bond 0,0 -> 0,2"});
    CHECK(pair.receiver.values_unmapped == 1);
    CHECK(pair.receiver.state.names(pair.guid(server_post)));
    CHECK(values_of(pair.receiver.named) ==
          Guids{pair.guid(server_ring).value, pair.guid(server_post).value});

    CHECK(pair.rebind(server_post, post) == 1);
    CHECK(pair.client.bond == Bond{post, ring, 9});
    CHECK(pair.client.calls == Calls{"bond 0,2 -> 1,2"});
    CHECK(pair.receiver.values_unmapped == 1);
    CHECK(pair.rebind(server_post, post) == 0);
    CHECK(pair.client.calls.empty());
}

TEST_CASE("NetSerialize: a reference inside of a value never outlives its target",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.receiver.package_map.bind(pair.guid(server_post), post);
    pair.server.bond.first = server_post;
    pair.replicate();
    CHECK(pair.client.bond.first == post);
    CHECK(pair.rebind(server_post, {}) == 1);
    CHECK(pair.client.bond.first.is_null());
    CHECK(pair.rebind(server_post, ring) == 1);  // it came back as another object of the client
    CHECK(pair.client.bond.first == ring);
}

TEST_CASE("NetSerialize: bits that were kept are replaced by a new value, and dropped by none",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.bond.first = server_post;
    pair.replicate();
    pair.server.bond = {{}, server_ring, 4};
    pair.replicate();
    CHECK(values_of(pair.receiver.dropped) == Guids{pair.guid(server_post).value});
    CHECK(pair.rebind(server_post, post) == 0);
    CHECK(pair.client.bond == Bond{{}, {}, 4});
    pair.server.bond.second = {};
    pair.replicate();
    CHECK_FALSE(pair.receiver.state.has_references());
    CHECK(pair.rebind(server_ring, ring) == 0);
}

TEST_CASE("NetSerialize: elements of an array are kept one by one, and go with its tail",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.bonds = {{server_post, {}, 1}, {server_ring, {}, 2}, {server_post, server_ring, 3}};
    pair.server.plain = server_post;
    pair.replicate();
    CHECK(pair.receiver.state.values().size() == 3);
    CHECK(pair.rebind(server_post, post) == 3);
    CHECK(pair.client.bonds[0].first == post);
    CHECK(pair.client.bonds[2] == Bond{post, {}, 3});
    CHECK(pair.client.plain == post);
    CHECK(pair.client.calls == Calls{"bonds", "plain"});  // once, in order

    pair.server.bonds.resize(1);
    pair.replicate();
    CHECK(pair.receiver.state.values().size() == 1);
    CHECK(values_of(pair.receiver.dropped) == Guids{pair.guid(server_ring).value,
                                                    pair.guid(server_post).value,
                                                    pair.guid(server_ring).value});
    CHECK(pair.rebind(server_ring, ring) == 0);
    pair.client.bonds.clear();  // the game's own doing
    CHECK(pair.rebind(server_post, {}) == 1);
    CHECK(pair.client.plain.is_null());
}

TEST_CASE("NetSerialize: what is kept is bounded by ids and by bytes",
          "[replayout][net_serialize]") {
    Pair pair;
    SECTION("by ids") {
        pair.receiver.references_max = 2;
    }
    SECTION("by bytes") {
        pair.receiver.kept_bytes_max = 3;
    }
    pair.server.bond = {server_post, server_ring, 9};
    pair.replicate();
    CHECK_FALSE(pair.receiver.has_too_many_references);
    CHECK(pair.client.bond.strength == 9);
    pair.server.bonds = {{server_post, {}, 5}, {server_ring, {}, 6}, {{}, {}, 7}};
    pair.replicate();
    CHECK(pair.receiver.has_too_many_references);
    // They stayed as they were, save what names nothing.
    CHECK(pair.client.bonds == std::vector<Bond>{{}, {}, {{}, {}, 7}});
    CHECK(pair.receiver.state.values().size() == 1);
}

TEST_CASE("NetSerialize: what is kept is charged to the decode budget",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.bond = {server_post, server_ring, 9};
    const Bytes block = pair.update();
    const std::size_t needed = 2 * sizeof(NetGUID) + 3;
    for (const std::size_t bytes : {needed - 1, needed}) {
        DecodeBudget budget;
        budget.allocation_bytes = bytes;
        BitReader reader(block, &budget);
        ReceiveContext context = pair.receiver.context();
        CHECK(receive_properties(*pair.layout, reader, &pair.client, pair.receiver.state,
                                 context) == (bytes == needed));
    }
}

TEST_CASE("NetSerialize: ok = false while reading refuses the block, and is logged and counted",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.length = 5;
    pair.server.label.kind = 13;
    const Bytes block = pair.update();
    const LogSpy log;
    CHECK_FALSE(pair.receiver.receive(&pair.client, block));
    CHECK(pair.client.length == 0);
    CHECK(pair.receiver.values_failed == 1);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0] ==
          "net_serialize of \"Label\" in property \"label\" failed while reading");
}

/// Reads by what it holds: legal bits, and yet not always the same number of them.
struct Moody {
    std::uint8_t mood = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        const std::uint8_t before = archive.is_loading() ? mood : 0;
        if (before == 8) {
            std::uint64_t half = 0;  // of the bits that it has
            archive.serialize_bits(half, 4);
            mood = static_cast<std::uint8_t>(half);
            return true;
        }
        archive.serialize(mood);
        ok = before != 5;
        if (before == 6) {
            std::uint64_t more = 0;
            archive.serialize_bits(more, 64);
            archive.serialize_bits(more, 64);
        } else if (before == 7) {
            std::uint64_t more = 0;
            archive.serialize_bits(more, 8);  // of the value behind it
        }
        return true;
    }
    friend bool operator==(const Moody&, const Moody&) = default;
};

struct Family {
    std::uint8_t before = 0;
    Moody child;
    std::uint8_t after = 0;
};

TEST_CASE("NetSerialize: a reader that looks at what it held leads nothing behind it astray",
          "[replayout][net_serialize]") {
    const TestLayout layout([](TypeRegistry& registry) {
        StructTraits traits;
        traits.has_net_serializer = true;
        traits.net_serialize = [](void* value, NetArchive& archive, PackageMap* map, bool& ok) {
            return static_cast<Moody*>(value)->net_serialize(archive, map, ok);
        };
        const auto moody = DynamicTypeBuilder(registry, TypeKind::Struct, "Moody", 1, 1)
                               .ops(make_type_ops<Moody>())
                               .traits(traits)
                               .build();
        return DynamicTypeBuilder(registry, TypeKind::Class, "Family", 3, 1)
            .property("before", PropertyKind::UInt8, 0)
            .property(struct_property("child", **moody, 1))
            .property("after", PropertyKind::UInt8, 2)
            .ops(make_type_ops<Family>())
            .build();
    });
    BlockSender sender(*layout);
    const Family server{1, {2}, 3};
    REQUIRE(sender.update(&server));
    for (std::uint8_t held = 5; held <= 8; ++held) {
        Family client{0, {held}, 0};
        BlockReceiver receiver(*layout);
        REQUIRE(receiver.receive(&client, sender.block(since(0))));
        CHECK(client.before == 1);
        CHECK(client.child.mood == held);  // it stayed as it was
        CHECK(client.after == 3);
    }
}

TEST_CASE("NetSerialize: a value that is not taken again stays, and what else is bound is bound",
          "[replayout][net_serialize]") {
    const TestLayout layout([](TypeRegistry& registry) {
        REQUIRE(struct_builder<Grudge>(registry, "Grudge").build());
        return class_builder<Court>(registry, "Court")
            .property<&Court::judge>()
            .property<&Court::grudge>()
            .build();
    });
    for (const std::uint8_t mood : {std::uint8_t{4}, std::uint8_t{5}}) {
        BlockSender sender(*layout);
        BlockReceiver receiver(*layout);
        const Court server{server_ring, {server_post, mood}};
        Court client;
        REQUIRE(sender.update(&server));
        REQUIRE(receiver.receive(&client, sender.block(since(0))));
        CHECK(client.grudge == Grudge{{}, mood});
        const LogSpy log;
        const bool is_taken = mood != 5;
        CHECK(receiver.rebind(&client, sender.package_map.guid_of(server_post), post) ==
              (is_taken ? 1u : 0u));
        CHECK(client.grudge == Grudge{is_taken ? post : ObjectHandle{}, mood});
        CHECK(client.judge.is_null());
        CHECK(receiver.values_failed == (is_taken ? 0u : 1u));
        CHECK(LogSpy::messages().size() == (is_taken ? 0u : 1u));
        CHECK(receiver.rebind(&client, sender.package_map.guid_of(server_ring), ring) == 1);
        CHECK(client.judge == ring);
    }
}

TEST_CASE("NetSerialize: blocks with any bit flipped are read or refused, and what is kept binds",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.bond = {server_post, server_ring, 9};
    pair.server.bonds = {{server_post, {}, 1}, {server_ring, {}, 2}};
    pair.server.label.text = "red";
    pair.server.cards.resize(2);
    const Bytes block = pair.update();
    for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
        Bytes flipped = block;
        flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        Rope client;
        BlockReceiver receiver(*pair.layout);
        const bool is_received = receiver.receive(&client, flipped);
        CHECK((is_received || !receiver.state.has_references()));
        for (std::uint64_t guid = 1; guid <= 4; ++guid) {
            (void)receiver.rebind(&client, NetGUID{guid}, ObjectHandle{guid});
        }
        for (const Bond& bond : client.bonds) {
            CHECK((bond.first.is_null() || bond.first.value <= 4));
        }
    }
}

TEST_CASE("NetSerialize: whatever binds and unbinds in whatever order, references are right",
          "[replayout][net_serialize]") {
    constexpr std::uint32_t object_count = 6;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SeededRandom random(run_seed() + seed);
        Pair pair;
        std::vector<bool> is_there(object_count + 1, false);
        // Object n of the server has id n, and is n at the client.
        for (std::uint64_t object = 1; object <= object_count; ++object) {
            REQUIRE(pair.guid(ObjectHandle{object}).value == object);
        }
        const auto pick = [&] { return ObjectHandle{random.below(object_count + 1)}; };
        for (std::uint32_t step = 0; step < 80; ++step) {
            if (random.below(2) == 0) {
                const std::uint32_t object = 1 + random.below(object_count);
                is_there[object] = !is_there[object];
                (void)pair.rebind(ObjectHandle{object},
                                  is_there[object] ? ObjectHandle{object} : ObjectHandle{});
                continue;
            }
            Rope& server = pair.server;
            server.bond = {pick(), pick(), static_cast<std::uint8_t>(step + 1)};  // never as it was
            server.plain = pick();
            server.bonds.resize(random.below(4));
            if (!server.bonds.empty()) {
                const ObjectHandle first = pick();
                server.bonds.back() = {first, pick(), static_cast<std::uint8_t>(step)};
            }
            pair.replicate();
        }
        const auto seen = [&](ObjectHandle object) {
            return is_there[object.value] ? object : ObjectHandle{};
        };
        CHECK(pair.client.bond.first == seen(pair.server.bond.first));
        CHECK(pair.client.bond.second == seen(pair.server.bond.second));
        CHECK(pair.client.plain == seen(pair.server.plain));
        REQUIRE(pair.client.bonds.size() == pair.server.bonds.size());
        for (std::size_t i = 0; i < pair.server.bonds.size(); ++i) {
            CHECK(pair.client.bonds[i].first == seen(pair.server.bonds[i].first));
            CHECK(pair.client.bonds[i].second == seen(pair.server.bonds[i].second));
        }
    }
}

TEST_CASE("NetSerialize: the log names the place of a value that fails, also in an array",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.length = 5;
    pair.server.cards.resize(3);
    pair.server.cards[1].label.is_bad = true;
    const LogSpy log;
    pair.replicate();
    pair.server.cards[1].label.is_bad = false;
    pair.server.cards[2].label.kind = 13;
    const Bytes block = pair.update();
    CHECK_FALSE(pair.receiver.receive(&pair.client, block));
    CHECK(LogSpy::messages() ==
          std::vector<std::string>{"net_serialize of \"Label\" in property \"cards[1].label\" "
                                   "failed while writing; the property is left out",
                                   "net_serialize of \"Label\" in property \"cards[2].label\" "
                                   "failed while reading"});
}

// Writing.

TEST_CASE("NetSerialize: ok = false while writing leaves the value out, and is logged and counted",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.sender.is_sharing = GENERATE(true, false);
    pair.server.length = 5;
    pair.server.label = {"red", true, 0};
    const LogSpy log;
    pair.replicate();
    CHECK(pair.client.length == 5);
    CHECK(pair.client.label.text.empty());
    CHECK(pair.sender.counters.values_failed == 1);
    CHECK(pair.sender.counters.properties_sent == 1);
    REQUIRE(pair.sender.last.findings->left_out.size() == 1);
    CHECK(pair.sender.last.findings->left_out[0] == RepHandle{5});
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0] ==
          "net_serialize of \"Label\" in property \"label\" failed while "
          "writing; the property is left out");

    pair.server.label.is_bad = false;
    pair.replicate();
    CHECK(pair.client.label.text == "red");
    CHECK(pair.sender.last.findings->left_out.empty());
}

TEST_CASE("NetSerialize: text that is too long or not UTF-8 is left out, and never asserted",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.label.text = GENERATE(std::string(label_bytes_max + 1, 'x'), std::string("\xff"));
    pair.server.length = 6;
    pair.replicate();
    CHECK(pair.client.length == 6);
    CHECK(pair.client.label.text.empty());
    CHECK(pair.sender.counters.values_failed == 1);
}

TEST_CASE("NetSerialize: one element that fails leaves out its array, as a whole",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.length = 1;
    pair.server.cards.resize(3);
    pair.server.cards[1].label.is_bad = true;
    pair.server.cards[2].label.is_bad = true;
    pair.replicate();
    CHECK(pair.client.length == 1);
    CHECK(pair.client.cards.empty());
    CHECK(pair.sender.counters.values_failed == 1);
    pair.server.cards.resize(1);
    pair.replicate();
    CHECK(pair.client.cards.size() == 1);
}

TEST_CASE("NetSerialize: a value that fails when the block is written again is left out, too",
          "[replayout][net_serialize]") {
    const TestLayout layout([](TypeRegistry& registry) {
        REQUIRE(struct_builder<Fickle>(registry, "Fickle").build());
        return class_builder<Council>(registry, "Council")
            .property<&Council::first>()
            .property<&Council::second>()
            .property<&Council::last>()
            .build();
    });
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    const Council server{{1}, {2}, 3};
    Council client;
    REQUIRE(sender.update(&server));
    Fickle::writes_left = {0, 0, 1};
    const LogSpy log;
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.first == Fickle{});
    CHECK(client.second == Fickle{});
    CHECK(client.last == 3);
    CHECK(sender.counters.values_failed == 2);
    CHECK(sender.counters.properties_sent == 1);
    CHECK(sender.last.findings->left_out.size() == 2);
}

TEST_CASE("NetSerialize: when everything fails nothing is written", "[replayout][net_serialize]") {
    Pair pair;
    pair.server.label.is_bad = true;
    REQUIRE(pair.sender.update(&pair.server));
    (void)pair.sender.collect(since(0));
    Bytes memory(64);
    BitWriter writer(memory);
    SendContext context = pair.sender.context();
    CHECK(send_properties(pair.sender.state, since(0), pair.sender.scratch.owed, writer, context) ==
          SendResult::Nothing);
    CHECK(writer.bit_count() == 0);
    RepCursor cursor;
    RepRange range;
    CHECK(send_part(pair.sender.state, since(0), pair.sender.scratch.owed, cursor, range, writer,
                    context) == SendResult::Nothing);
    CHECK(writer.bit_count() == 0);
}

TEST_CASE("NetSerialize: in parts, too, values that fail are passed over",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.server.length = 3;
    pair.server.bond.strength = 4;
    pair.server.label.is_bad = true;
    pair.server.plain = server_post;
    REQUIRE(pair.sender.update(&pair.server));
    for (const SentPart& part : pair.sender.parts(since(0), 6)) {
        REQUIRE(part.result != SendResult::ValueTooLarge);
        REQUIRE(pair.receiver.receive(&pair.client, part.bytes));
    }
    CHECK(pair.client.length == 3);
    CHECK(pair.client.bond.strength == 4);
    CHECK(pair.receiver.state.names(pair.guid(server_post)));
}

TEST_CASE("NetSerialize: not fully mapped while writing reports the handle and the id",
          "[replayout][net_serialize]") {
    Pair pair;
    FewIds ids;
    pair.sender.receiver = &ids;
    pair.server.leash.holder = server_post;
    pair.server.bond.first = server_post;
    pair.replicate();
    CHECK(pair.client.leash.holder.is_null());
    REQUIRE(pair.sender.last.findings->unmapped.size() == 1);
    CHECK(pair.sender.last.findings->unmapped[0].handle == RepHandle{4});
    CHECK(pair.sender.last.findings->unmapped[0].guid == pair.guid(server_post));
    CHECK(pair.sender.counters.values_unmapped == 1);

    // Once the receiver has it, the same value is sent whole.
    ids.guids.insert(pair.guid(server_post));
    pair.receiver.package_map.bind(pair.guid(server_post), post);
    REQUIRE(pair.receiver.receive(&pair.client, pair.sender.single(since(0), RepHandle{4})));
    CHECK(pair.client.leash.holder == post);
    CHECK(pair.sender.last.findings->unmapped.empty());
}

TEST_CASE("NetSerialize: where nobody keeps account of receivers all are taken to have all",
          "[replayout][net_serialize]") {
    Pair pair;
    pair.receiver.package_map.bind(pair.guid(server_post), post);
    pair.server.leash.holder = server_post;
    pair.replicate();
    CHECK(pair.client.leash.holder == post);
    CHECK(pair.sender.last.findings->unmapped.empty());
}

}  // namespace
}  // namespace replayout::test::net_serialize_test
