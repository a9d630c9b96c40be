// SPDX-License-Identifier: MIT
//
// Property blocks, byte for byte. The files in tests/golden were made from docs/wire_format.md and
// not by this library, so they hold a reader's understanding of that page against ours. Every block
// is also read back.
#include <replayout/keyed_array.h>
#include <replayout/net_archive.h>
#include <replayout/receive_properties.h>
#include <replayout/send_properties.h>

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/golden.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/delta_types.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout::send_properties_golden_test {
namespace {

/// An object, its sender, and a client that gets every block which is pinned.
template <typename T>
class GoldenObject {
  public:
    explicit GoldenObject(BuildType build)
        : layout_(build), sender_(*layout_), receiver_(*layout_) {}

    /// What changed since the last time is the golden vector `name`.
    void check(const std::string& name) {
        REQUIRE(sender_.update(&server));
        OwedVersions position = since(sender_.state.version() - 1);
        position.held_version = position.sent_version;
        const Bytes block = sender_.block(position);
        check_golden(name, block);
        REQUIRE(receiver_.receive(&client, read_golden(name)));
        CHECK(receiver_.bits_left == 0);
    }

    /// The client holds what the server holds.
    void check_equal() const { CHECK(find_difference(layout_->type(), &server, &client).empty()); }

    [[nodiscard]] TestLayout& layout() noexcept { return layout_; }
    [[nodiscard]] BlockSender& sender() noexcept { return sender_; }
    [[nodiscard]] BlockReceiver& receiver() noexcept { return receiver_; }

  private:
    TestLayout layout_;
    BlockSender sender_;
    BlockReceiver receiver_;

  public:
    T server;
    T client;
};

Bytes set_bytes(std::uint32_t bit_count, std::initializer_list<std::uint32_t> handles,
                EmptySet empty = EmptySet::Impossible) {
    ChangeMask mask;
    mask.reset(bit_count);
    for (const std::uint32_t handle : handles) {
        mask.set(handle - 1);
    }
    Bytes memory(32);
    BitWriter writer(memory);
    write_change_mask(writer, mask, empty);
    writer.finish_byte();
    return to_bytes(writer.bytes());
}

TEST_CASE("Golden vectors: sets of handles", "[replayout][send_properties_golden]") {
    check_golden("set_dense", set_bytes(4, {1, 4}));
    check_golden("set_runs", set_bytes(40, {2, 3, 4, 11}));
    check_golden("set_dense_wide", set_bytes(70, {1,  4,  7,  10, 13, 16, 19, 22, 25, 28, 31, 34,
                                                  37, 40, 43, 46, 49, 52, 55, 58, 61, 64, 67, 70}));
    check_golden("set_empty", set_bytes(6, {}, EmptySet::Possible));
}

struct Plain {
    std::int8_t int8 = 0;
    std::uint16_t uint16 = 0;
    std::int32_t int32 = 0;
    std::uint64_t uint64 = 0;
    float single = 0.0f;
    double twice = 0.0;
    Stance stance = Stance::Standing;
};

TEST_CASE("Golden vectors: plain values", "[replayout][send_properties_golden]") {
    GoldenObject<Plain> object([](TypeRegistry& registry) {
        return class_builder<Plain>(registry, "Plain")
            .property<&Plain::int8>()
            .property<&Plain::uint16>()
            .property<&Plain::int32>()
            .property<&Plain::uint64>()
            .property<&Plain::single>()
            .property<&Plain::twice>()
            .property<&Plain::stance>()
            .build();
    });
    object.server = {-5, 0xbeef, -2, 0x0123'4567'89ab'cdef, 1.5f, -0.25, Stance::Lying};
    object.check("block_plain");
    object.check_equal();
}

struct Mixed {
    bool is_first = false;
    std::int16_t int16 = 0;
    bool is_third = true;
    std::uint8_t uint8 = 0;
};

TEST_CASE("Golden vectors: values across byte boundaries", "[replayout][send_properties_golden]") {
    GoldenObject<Mixed> object([](TypeRegistry& registry) {
        return class_builder<Mixed>(registry, "Mixed")
            .property<&Mixed::is_first>()
            .property<&Mixed::int16>()
            .property<&Mixed::is_third>()
            .property<&Mixed::uint8>()
            .build();
    });
    object.server = {true, 0x1234, true, 0x9e};
    object.check("block_bits");
    object.check_equal();
}

struct Pose {
    Vector3 position;
    Quat turn;
};

TEST_CASE("Golden vectors: a vector and a quaternion", "[replayout][send_properties_golden]") {
    GoldenObject<Pose> object([](TypeRegistry& registry) {
        return class_builder<Pose>(registry, "Pose")
            .property<&Pose::position>()
            .property<&Pose::turn>()
            .build();
    });
    // A signalling NaN is quiet after it went through a register, on some machines: set by its
    // bits.
    const std::uint32_t bits[] = {0x3f80'0000, 0x8000'0000, 0x7f80'0123};
    std::memcpy(static_cast<void*>(&object.server.position), bits, sizeof(bits));
    object.server.turn = {0.5f, -0.5f, 0.5f, std::numeric_limits<float>::infinity()};
    object.check("block_vectors");
    object.check_equal();
}

struct Probe {
    Vector3 position;
    Vector3 up;
    Rotator facing;
    Quat turn;
    std::int16_t charge = 0;
    float throttle = 0.0f;
    Stance stance = Stance::Standing;
    bool is_armed : 1 = false;
};

TEST_CASE("Golden vectors: quantised values and a bit", "[replayout][send_properties_golden]") {
    GoldenObject<Probe> object([](TypeRegistry& registry) {
        return class_builder<Probe>(registry, "Probe")
            .property<&Probe::position>()
            .quantised(Quantisation::tenth())
            .property<&Probe::up>()
            .quantised(Quantisation::normal())
            .property<&Probe::facing>()
            .quantised(Quantisation::angles(16))
            .property<&Probe::turn>()
            .quantised(Quantisation::smallest_three(10))
            .property<&Probe::charge>()
            .quantised(Quantisation::range(-100, 100))
            .property<&Probe::throttle>()
            .quantised(Quantisation::steps(-1.0, 1.0, 0.01))
            .property<&Probe::stance>()
            .quantised(Quantisation::enumerators(3))
            .bit<[](Probe& probe, bool is_set) { probe.is_armed = is_set; }>("is_armed")
            .build();
    });
    object.server.position = {1.25f, 0.0f, -0.5f};
    object.server.up = {0.0f, 0.6f, 0.8f};
    object.server.facing = {0.0f, 90.0f, 359.0f};
    object.server.turn = {0.1f, 0.2f, 0.3f, 0.9f};
    object.server.charge = -73;
    object.server.throttle = 0.333f;
    object.server.stance = Stance::Lying;
    object.server.is_armed = true;
    object.check("block_quantised");
    object.check_equal();
}

struct Wear {
    std::uint16_t id = 0;
    bool is_worn = false;
};

struct Wardrobe {
    std::optional<std::uint32_t> code;
    std::optional<Wear> wear;
    std::optional<std::optional<std::uint8_t>> inner;
};

TEST_CASE("Golden vectors: optional values", "[replayout][send_properties_golden]") {
    GoldenObject<Wardrobe> object([](TypeRegistry& registry) {
        (void)struct_builder<Wear>(registry, "Wear")
            .property<&Wear::id>()
            .property<&Wear::is_worn>()
            .build();
        return class_builder<Wardrobe>(registry, "Wardrobe")
            .property<&Wardrobe::code>()
            .property<&Wardrobe::wear>()
            .property<&Wardrobe::inner>()
            .build();
    });
    object.server.code = 7;
    object.server.wear = Wear{9, true};
    object.server.inner.emplace();
    object.check("block_optional");
    object.server.code.reset();
    object.server.wear->is_worn = false;
    object.check("block_optional_changed");
    object.check_equal();
}

struct Sign {
    std::string title;
    Name name;
    std::string motto;
};

TEST_CASE("Golden vectors: strings and a name", "[replayout][send_properties_golden]") {
    GoldenObject<Sign> object([](TypeRegistry& registry) {
        return class_builder<Sign>(registry, "Sign")
            .property<&Sign::title>()
            .property<&Sign::name>()
            .property<&Sign::motto>()
            .build();
    });
    object.server.title = "Hi";
    object.server.name = object.layout().registry().names().intern("red").value();
    object.server.motto =
        "Gr\xc3\xbc\xc3\x9f"
        "e \xe2\x82\xac";
    object.check("block_strings");
    object.server.title.clear();
    object.check("block_empty_string");
    object.check_equal();
}

struct Links {
    ObjectHandle links[4];
};

/// Gives the ids 300, 301 and, to handle 9, the largest one.
class WidePackageMap final : public PackageMap {
  public:
    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override {
        if (object.is_null()) {
            return {};
        }
        return NetGUID{object.value == 9 ? std::numeric_limits<std::uint64_t>::max()
                                         : 299 + object.value};
    }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override {
        if (guid.value == std::numeric_limits<std::uint64_t>::max()) {
            return ObjectHandle{9};
        }
        return guid.is_null() ? ObjectHandle{} : ObjectHandle{guid.value - 299};
    }
};

TEST_CASE("Golden vectors: references", "[replayout][send_properties_golden]") {
    const TestLayout layout([](TypeRegistry& registry) {
        return class_builder<Links>(registry, "Links").property<&Links::links>().build();
    });
    WidePackageMap package_map;
    ReplicationCounters counters;
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Links server;
    Links client;
    const auto check = [&](const std::string& name) {
        REQUIRE(sender.state.update(&server, package_map, counters));
        check_golden(name, sender.block(since(sender.state.version() - 1)));
        ReceiveContext context{package_map, receiver.scratch};
        const Bytes golden = read_golden(name);
        BitReader reader(golden);
        REQUIRE(receive_properties(*layout, reader, &client, receiver.state, context));
        CHECK(find_difference(layout->type(), &server, &client).empty());
    };
    server.links[0] = ObjectHandle{1};
    server.links[1] = ObjectHandle{2};
    server.links[3] = ObjectHandle{1};
    check("block_references");
    server.links[0] = {};
    server.links[2] = ObjectHandle{9};
    check("block_null_reference");
}

struct Gun {
    Aim aim;
    std::uint8_t rounds = 0;
};

TEST_CASE("Golden vectors: a struct that serializes itself",
          "[replayout][send_properties_golden]") {
    GoldenObject<Gun> object([](TypeRegistry& registry) {
        register_parts(registry);
        return class_builder<Gun>(registry, "Gun")
            .property<&Gun::aim>()
            .property<&Gun::rounds>()
            .build();
    });
    object.server.aim = {-100, 300};
    object.check("block_net_serializer");
    object.check_equal();
}

struct Item {
    std::uint16_t id = 0;
    bool is_worn = false;

    friend bool operator==(const Item&, const Item&) = default;
};

struct Inventory {
    std::vector<Item> items;
    std::vector<std::vector<std::uint8_t>> grid;
};

Result<const Type*> build_inventory(TypeRegistry& registry) {
    (void)struct_builder<Item>(registry, "Item")
        .property<&Item::id>()
        .property<&Item::is_worn>()
        .build();
    return class_builder<Inventory>(registry, "Inventory")
        .property<&Inventory::items>()
        .property<&Inventory::grid>()
        .build();
}

TEST_CASE("Golden vectors: an array that is filled, changed, grown, cut and emptied",
          "[replayout][send_properties_golden]") {
    GoldenObject<Inventory> object(build_inventory);
    object.server.items = {{7, true}, {9, false}};
    object.check("block_array");
    object.check_equal();

    object.server.items.resize(40);
    REQUIRE(object.sender().update(&object.server));
    REQUIRE(object.receiver().receive(&object.client, object.sender().block(since(1))));
    object.server.items[32].is_worn = true;
    object.check("block_array_leaf");
    object.check_equal();
    object.server.items.resize(41);
    object.check("block_array_grown");
    object.check_equal();
    object.server.items.resize(3);
    object.check("block_array_shrunk");
    object.check_equal();
    object.server.items.clear();
    object.check("block_array_emptied");
    object.check_equal();
}

TEST_CASE("Golden vectors: an array of arrays, whole and one element",
          "[replayout][send_properties_golden]") {
    GoldenObject<Inventory> object(build_inventory);
    object.server.grid = {{1, 2}, {}, {3}};
    object.check("block_nested_array");
    object.check_equal();
    object.server.grid[0][1] = 20;
    object.check("block_nested_element");
    object.check_equal();
}

struct Report {
    std::uint32_t number = 0;
    std::vector<std::string> lines;
    std::uint16_t page = 0;
};

TEST_CASE("Golden vectors: parts, cut at handles and at elements",
          "[replayout][send_properties_golden]") {
    const TestLayout layout([](TypeRegistry& registry) {
        return class_builder<Report>(registry, "Report")
            .property<&Report::number>()
            .property<&Report::lines>()
            .property<&Report::page>()
            .build();
    });
    Report server;
    server.number = 77;
    server.lines = {"line number 0", "line number 1", "line number 2", "line number 3"};
    server.page = 5;
    BlockSender sender(*layout);
    REQUIRE(sender.update(&server));
    const std::vector<SentPart> parts = sender.parts(since(0), 24);
    REQUIRE(parts.size() == 6);
    Report client;
    BlockReceiver receiver(*layout);
    for (std::size_t index = parts.size(); index-- > 0;) {
        const std::string name = "part_" + std::to_string(index + 1);
        check_golden(name, parts[index].bytes);
        REQUIRE(receiver.receive(&client, read_golden(name)));
    }
    CHECK(find_difference(layout->type(), &server, &client).empty());
}

struct Entry {
    std::uint32_t id = 0;
    std::uint8_t score = 0;
};

struct Ranking {
    std::vector<Entry> entries;
    std::uint8_t round = 0;
};

[[nodiscard]] Result<const Type*> build_ranking(TypeRegistry& registry) {
    REQUIRE(struct_builder<Entry>(registry, "Entry")
                .property<&Entry::id>()
                .property<&Entry::score>()
                .build());
    return class_builder<Ranking>(registry, "Ranking")
        .property<&Ranking::entries>()
        .keyed_by<&Entry::id>(ArrayOrder::Kept)
        .property<&Ranking::round>()
        .build();
}

TEST_CASE("Golden vectors: keyed arrays", "[replayout][send_properties_golden]") {
    GoldenObject<Ranking> object(build_ranking);
    object.server.entries = {{5, 7}, {3, 9}};
    object.check("block_keyed_array");
    object.server.entries = {{4, 1}, {5, 8}};
    object.check("block_keyed_array_changed");
    REQUIRE(object.client.entries.size() == 2);
    CHECK(object.client.entries[0].id == 4);
    CHECK(object.client.entries[1].score == 8);
}

TEST_CASE("Golden vectors: a full set of keys in parts", "[replayout][send_properties_golden]") {
    GoldenObject<Ranking> object(build_ranking);
    object.server.entries = {{5, 7}, {3, 9}};
    object.check("block_keyed_array");
    object.server.entries[0].score = 8;
    object.server.entries[1].score = 10;
    for (std::uint32_t i = 0; i <= ShadowKeyedArray::deletion_count_max; ++i) {
        object.server.entries.push_back({100 + i, 1});
        REQUIRE(object.sender().update(&object.server));
        object.server.entries.pop_back();
        REQUIRE(object.sender().update(&object.server));
    }
    OwedVersions position = since(1);
    position.held_version = 1;
    const std::vector<SentPart> parts = object.sender().parts(position, 6);
    REQUIRE(parts.size() == 2);
    for (std::size_t index = 0; index < parts.size(); ++index) {
        const std::string name = "part_keyed_array_" + std::to_string(index + 1);
        check_golden(name, parts[index].bytes);
        REQUIRE(object.receiver().receive(&object.client, read_golden(name)));
    }
    REQUIRE(object.client.entries.size() == 2);
    CHECK(object.client.entries[0].score == 8);
    CHECK(object.client.entries[1].score == 10);

    position.restart_version = 3;
    const std::vector<SentPart> anew = object.sender().parts(position, 16);
    REQUIRE(anew.size() == 1);
    check_golden("part_keyed_array_anew", anew[0].bytes);
    REQUIRE(object.receiver().receive(&object.client, read_golden("part_keyed_array_anew")));
    REQUIRE(object.client.entries.size() == 2);
    CHECK(object.client.entries[0].score == 8);
}

TEST_CASE("Golden vectors: deltas of a struct, from the archetype and from what is held",
          "[replayout][send_properties_golden]") {
    const TestLayout layout(test::build_table);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    DeltaStates deltas(std::pmr::get_default_resource());
    test::Table server;
    test::Table client;
    for (const bool is_first : {true, false}) {
        const std::string name = is_first ? "block_delta" : "block_delta_changed";
        server.scores.values[1] = is_first ? 10 : 12;
        REQUIRE(sender.update(&server));
        std::array<std::byte, 64> memory{};
        BitWriter writer(memory);
        SendContext context = sender.context();
        context.delta_states = &deltas;
        const OwedVersions position = since(sender.state.version() - 1);
        const SentBlock block =
            send_properties(sender.state, position, sender.collect(position), writer, context);
        REQUIRE(block == SendResult::Whole);
        deltas.block_sent(block.deltas());
        check_golden(name, writer.bytes());
        REQUIRE(receiver.receive(&client, read_golden(name)));
        CHECK(client.scores == server.scores);
    }
}

}  // namespace
}  // namespace replayout::send_properties_golden_test
