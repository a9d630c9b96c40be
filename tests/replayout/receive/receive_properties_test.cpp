// SPDX-License-Identifier: MIT
#include <replayout/receive_properties.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

Soldier make_soldier() {
    Soldier soldier;
    soldier.serial = -5;
    soldier.is_hidden = true;
    soldier.health = -80;
    soldier.stance = Stance::Lying;
    soldier.position = {1.5f, -2.0f, 3.25f};
    soldier.turn = {0.5f, 0.5f, 0.5f, 0.5f};
    soldier.title = "s\xc3\xa9rgent";
    soldier.scores = {-1, 0, 7};
    soldier.last_wound.damage = 4;
    soldier.wounds.resize(3);
    soldier.wounds[2].is_open = true;
    soldier.words = {"one", "", "three"};
    soldier.pouches.resize(2);
    soldier.pouches[0].rounds = {1, 2, 3};
    soldier.pouches[1].label = "second";
    soldier.pouches[1].routes = {{1}, {}, {2, 3}};
    soldier.pouches[1].aim.range = 5;
    soldier.aim = {-100, 300};
    soldier.secret = {"sesame", 3};
    soldier.weight = 70.5;
    soldier.stamina = 0.25f;
    return soldier;
}

TEST_CASE("receive_properties: every kind of value arrives", "[replayout][receive_properties]") {
    const TestLayout layout(build_soldier);
    const Soldier server = make_soldier();
    BlockSender sender(*layout);
    sender.update(&server);
    Soldier client;
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(receiver.bits_left == 0);
    CHECK(find_difference(layout->type(), &server, &client).empty());
}

TEST_CASE("receive_properties: ends whose archetypes differ agree, and stay different unnoticed",
          "[replayout][receive_properties]") {
    Soldier weak;
    weak.health = 50;
    RepLayoutOptions options;
    options.archetype = &weak;
    const TestLayout ours(build_soldier);
    const TestLayout theirs(build_soldier, options);
    CHECK(ours->fingerprint() == theirs->fingerprint());
    Soldier server;
    server.stamina = 0.5f;
    BlockSender sender(*ours);
    REQUIRE(sender.update(&server));
    Soldier client = weak;
    BlockReceiver receiver(*theirs);
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.stamina == 0.5f);
    CHECK(client.health == 50);  // the server's is what it always was, so it is not sent
    server.health = 51;
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(1))));
    CHECK(client.health == 51);
}

TEST_CASE("receive_properties: only what was sent is touched", "[replayout][receive_properties]") {
    const TestLayout layout(build_soldier);
    Soldier server = make_soldier();
    BlockSender sender(*layout);
    sender.update(&server);
    server.health = 5;
    server.words[1] = "two";
    sender.update(&server);
    Soldier client;
    client.title = "local";
    client.words = {"x", "y", "z"};
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(since(1))));
    CHECK(client.health == 5);
    CHECK(client.title == "local");
    CHECK(client.words == std::vector<std::string>{"x", "two", "z"});
}

TEST_CASE("receive_properties: names arrive as text, whatever their numbers are at either end",
          "[replayout][receive_properties]") {
    TestLayout server_layout(build_soldier);
    TestLayout client_layout(build_soldier);
    REQUIRE(server_layout->fingerprint() == client_layout->fingerprint());
    NameTable& server_names = server_layout.registry().names();
    NameTable& client_names = client_layout.registry().names();
    (void)client_names.intern("another");
    Soldier server;
    server.tag = server_names.intern("veteran").value();
    BlockSender sender(*server_layout);
    sender.update(&server);
    Soldier client;
    BlockReceiver receiver(*client_layout);
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client_names.text(client.tag) == "veteran");
    CHECK(client.tag != server.tag);
}

TEST_CASE("receive_properties: blocks follow one another in one packet",
          "[replayout][receive_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger server;
    server.page = 3;
    sender.update(&server);
    Bytes packet = sender.block(since(0));
    server.lines = {"a"};
    sender.update(&server);
    const Bytes second = sender.block(since(1));
    packet.insert(packet.end(), second.begin(), second.end());

    Ledger client;
    BlockReceiver receiver(*layout);
    ReceiveContext context = receiver.context();
    BitReader reader(packet);
    REQUIRE(receive_properties(*layout, reader, &client, receiver.state, context));
    CHECK(reader.bits_left() == second.size() * 8);
    REQUIRE(receive_properties(*layout, reader, &client, receiver.state, context));
    CHECK(reader.bits_left() == 0);
    CHECK(client.page == 3);
    CHECK(client.lines.size() == 1);
}

TEST_CASE("skip_properties: steps over exactly one block", "[replayout][receive_properties]") {
    const TestLayout layout(build_soldier);
    const Soldier server = make_soldier();
    BlockSender sender(*layout);
    sender.update(&server);
    Bytes packet = sender.block(since(0));
    const std::size_t block_bits = packet.size() * 8;
    packet.push_back(std::byte{0xff});
    BlockReceiver receiver(*layout);
    ReceiveContext context = receiver.context();
    BitReader reader(packet);
    CHECK(skip_properties(*layout, reader, context));
    CHECK(reader.position_bits() == block_bits);
    CHECK_FALSE(receiver.state.has_references());
    BitReader truncated(packet, 0, block_bits - 8, nullptr);
    CHECK_FALSE(skip_properties(*layout, truncated, context));
    CHECK(truncated.failed());
}

TEST_CASE("receive_properties: an object without properties has no blocks",
          "[replayout][receive_properties]") {
    struct Nothing {
        int hidden = 0;
    };
    const TestLayout layout(
        [](TypeRegistry& registry) { return class_builder<Nothing>(registry, "Nothing").build(); });
    Nothing nothing;
    BlockReceiver receiver(*layout);
    CHECK_FALSE(receiver.receive(&nothing, make_bytes(0, 0)));
    CHECK_FALSE(receiver.receive(&nothing, make_bytes(0xff, 0xff)));
}

TEST_CASE("receive_properties: a block of nothing and a block with a ragged end are refused",
          "[replayout][receive_properties]") {
    const TestLayout layout(build_ledger);
    Ledger client;
    BlockReceiver receiver(*layout);
    CHECK_FALSE(receiver.receive(&client, make_bytes(0)));
    CHECK(receiver.is_failed);

    BlockSender sender(*layout);
    Ledger server;
    server.page = 0;
    server.bytes = {1};
    sender.update(&server);
    Bytes block = sender.block(since(0));
    REQUIRE(receiver.receive(&client, block));
    block.back() |= std::byte{0x80};
    CHECK_FALSE(receiver.receive(&client, block));
}

TEST_CASE("receive_properties: limits hold to the byte and to the element",
          "[replayout][receive_properties]") {
    RepLayoutOptions wide;
    wide.limits = {100, 100};
    RepLayoutOptions narrow;
    narrow.limits = {6, 4};
    const TestLayout server_layout(build_ledger, wide);
    const TestLayout client_layout(build_ledger, narrow);
    for (std::size_t size = 3; size <= 7; ++size) {
        CAPTURE(size);
        Ledger strings;
        strings.lines = {std::string(size, 'x')};
        BlockSender string_sender(*server_layout);
        string_sender.update(&strings);
        Ledger client;
        BlockReceiver receiver(*client_layout);
        CHECK(receiver.receive(&client, string_sender.block(since(0))) == (size <= 6));
        CHECK(client.lines.size() == (size <= 6 ? 1 : 0));

        Ledger arrays;
        arrays.bytes.resize(size, 1);
        BlockSender array_sender(*server_layout);
        array_sender.update(&arrays);
        Ledger other_client;
        CHECK(receiver.receive(&other_client, array_sender.block(since(0))) == (size <= 4));
        CHECK(other_client.bytes.size() == (size <= 4 ? size : 0));
    }
}

TEST_CASE("receive_properties: text that is not UTF-8 is refused",
          "[replayout][receive_properties]") {
    const TestLayout layout(build_ledger);
    // No sender of ours would write it.
    const auto block_of = [&layout](std::string_view line) {
        Bytes memory(32);
        BitWriter writer(memory);
        ChangeMask handles;
        handles.reset(layout->handle_count());
        handles.set(1);
        write_change_mask(writer, handles, EmptySet::Impossible);
        writer.write_packed_uint(1);
        writer.write_bits(0b10, 2);  // dense, and the one line there is
        writer.write_packed_uint(line.size());
        writer.write_bytes(std::as_bytes(std::span(line)));
        writer.finish_byte();
        return to_bytes(writer.bytes());
    };
    Ledger client;
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, block_of("abc")));
    CHECK_FALSE(receiver.receive(&client, block_of("ab\xff")));
    CHECK(client.lines == std::vector<std::string>{"abc"});
}

TEST_CASE("receive_properties: a text that its own type does not take stays, and is counted",
          "[replayout][receive_properties]") {
    TestLayout server_layout(build_soldier);
    TypeRegistry small_registry(1);
    const auto client_type = build_soldier(small_registry);
    REQUIRE(client_type);
    REQUIRE(small_registry.freeze());
    const auto client_layout = RepLayout::create(small_registry, **client_type);
    REQUIRE(client_layout);
    NameTable& names = server_layout.registry().names();
    BlockSender sender(*server_layout);
    Soldier server;
    Soldier client;
    BlockReceiver receiver(**client_layout);
    server.tag = names.intern("first").value();
    sender.update(&server);
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(receiver.values_refused == 0);
    server.tag = names.intern("second").value();
    server.health = 3;
    sender.update(&server);
    REQUIRE(receiver.receive(&client, sender.block(since(1))));
    CHECK(receiver.values_refused == 1);
    CHECK(small_registry.names().text(client.tag) == "first");
    CHECK(client.health == 3);
}

TEST_CASE("receive_properties: a block may be made to fill its reader",
          "[replayout][receive_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger server;
    server.page = 3;
    sender.update(&server);
    Bytes block = sender.block(since(0));
    for (const bool is_longer : {false, true}) {
        Ledger client;
        BlockReceiver receiver(*layout);
        ReceiveContext context = receiver.context();
        context.must_fill_reader = true;
        BitReader reader(block);
        CHECK(receive_properties(*layout, reader, &client, receiver.state, context) != is_longer);
        CHECK(client.page == (is_longer ? 0 : 3));
        block.push_back(std::byte{0});
    }
}

TEST_CASE("receive_properties: of an array only its growth is charged",
          "[replayout][receive_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger server;
    server.bytes.resize(100, 1);
    server.cubes = {{{1, 2}}};
    sender.update(&server);  // 1
    Ledger client;
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    server.bytes.resize(110, 2);
    server.bytes[5] = 5;
    server.cubes[0][0].push_back(3);
    sender.update(&server);  // 2
    const Bytes block = sender.block(since(1));
    for (const std::size_t short_of : {1u, 0u}) {
        ReceiveContext context = receiver.context();
        DecodeBudget budget;
        budget.allocation_bytes = 10 + sizeof(std::uint32_t) - short_of;
        BitReader reader(block, &budget);
        CHECK(receive_properties(*layout, reader, &client, receiver.state, context) ==
              (short_of == 0));
    }
    CHECK(find_difference(layout->type(), &server, &client).empty());
}

TEST_CASE(
    "receive_properties: what a block costs is charged once, and more than the budget refused",
    "[replayout][receive_properties]") {
    const TestLayout layout(build_ledger);
    BlockSender sender(*layout);
    Ledger server;
    server.bytes.resize(100, 1);
    server.lines = {"abc"};
    sender.update(&server);
    const Bytes block = sender.block(since(0));
    const std::size_t memory = 100 + sizeof(std::string) + 3;
    // The handles are one run. The bytes are a value, a set of one run, and a hundred values; the
    // lines are a value, a set without runs, and a value.
    const std::size_t steps = 1 + (1 + 1 + 100) + (1 + 1);
    for (const bool is_enough : {true, false}) {
        Ledger client;
        BlockReceiver receiver(*layout);
        ReceiveContext context = receiver.context();
        DecodeBudget budget{memory - (is_enough ? 0 : 1), 1'000};
        BitReader reader(block, &budget);
        CHECK(receive_properties(*layout, reader, &client, receiver.state, context) == is_enough);
        CHECK(client.bytes.size() == (is_enough ? 100 : 0));
        CHECK((!is_enough || budget.allocation_bytes == 0));

        DecodeBudget few_steps{100'000, steps - (is_enough ? 0 : 1)};
        BitReader step_reader(block, &few_steps);
        CHECK(receive_properties(*layout, step_reader, &client, receiver.state, context) ==
              is_enough);
    }
}

struct Picky {
    std::uint8_t value = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        archive.serialize(value);
        ok = archive.is_saving() || value != 13;
        return true;
    }
    friend bool operator==(const Picky&, const Picky&) = default;
};

struct PickyHolder {
    std::uint8_t before = 0;
    std::vector<Picky> pickies;
};

}  // namespace

template <>
struct StructTraitsOf<Picky> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace {

TEST_CASE("receive_properties: a serializer that does not accept its value refuses the block",
          "[replayout][receive_properties]") {
    const TestLayout layout([](TypeRegistry& registry) {
        (void)struct_builder<Picky>(registry, "Picky").build();
        return class_builder<PickyHolder>(registry, "PickyHolder")
            .property<&PickyHolder::before>()
            .property<&PickyHolder::pickies>()
            .build();
    });
    BlockSender sender(*layout);
    PickyHolder server;
    server.before = 1;
    server.pickies = {{1}, {12}};
    sender.update(&server);
    Bytes block = sender.block(since(0));
    PickyHolder client;
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, block));
    server.before = 2;
    server.pickies[1].value = 13;
    sender.update(&server);
    CHECK_FALSE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.before == 1);
    CHECK(client.pickies[1].value == 12);
}

TEST_CASE("receive_properties: a serializer may leave what it does not send as it is",
          "[replayout][receive_properties]") {
    struct Local {
        std::uint8_t sent = 0;
        std::uint8_t cached = 0;
    };
    // `Secret` sends all of itself; this one is described by hand and sends one of two members.
    TypeRegistry registry;
    StructTraits traits;
    traits.has_net_serializer = true;
    traits.net_serialize = [](void* value, NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(static_cast<Local*>(value)->sent);
        return true;
    };
    traits.has_identical = true;
    traits.identical = [](const void* left, const void* right) {
        return static_cast<const Local*>(left)->sent == static_cast<const Local*>(right)->sent;
    };
    const auto part = DynamicTypeBuilder(registry, TypeKind::Struct, "Local", sizeof(Local), 1)
                          .traits(traits)
                          .ops(make_type_ops<Local>())
                          .build();
    REQUIRE(part);
    const auto type = DynamicTypeBuilder(registry, TypeKind::Class, "Holder", sizeof(Local), 1)
                          .property(struct_property("local", **part))
                          .ops(make_type_ops<Local>())
                          .build();
    REQUIRE(type);
    REQUIRE(registry.freeze());
    const auto layout = RepLayout::create(registry, **type);
    REQUIRE(layout);
    BlockSender sender(**layout);
    const Local server{5, 6};
    sender.update(&server);
    Local client{0, 77};
    BlockReceiver receiver(**layout);
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.sent == 5);
    CHECK(client.cached == 77);
}

}  // namespace
}  // namespace replayout
