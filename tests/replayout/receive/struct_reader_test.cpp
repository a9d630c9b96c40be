// SPDX-License-Identifier: MIT
//
// Structs that serialise themselves and look at what they held: whatever they do, a receiver has
// the whole new value or the whole old one.
#include <replayout/net_archive.h>

#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test::struct_reader_test {
namespace {

/// Reads fewer bits, as many, or more than were written, by what it held.
struct Mood {
    std::uint8_t value = 0;
    std::uint8_t width = 8;  ///< bits in which the next value is read; written in 8

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        std::uint64_t bits = value;
        archive.serialize_bits(bits, archive.is_loading() ? width : 8);
        value = static_cast<std::uint8_t>(bits);
        return true;
    }
    friend bool operator==(const Mood&, const Mood&) = default;
};

struct Family {
    std::uint8_t before = 0;
    Mood child;
    std::uint8_t after = 0;
};

/// Two that can be linked, or not: `refused` is an object that none wants to know.
struct Link {
    ObjectHandle first;
    ObjectHandle second;
    std::uint8_t strength = 0;

    static constexpr ObjectHandle refused{13};

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
        archive.serialize(strength);
        const bool has_first = archive.serialize_object(first, map);
        const bool has_second = archive.serialize_object(second, map);
        ok = first != refused && second != refused;
        return has_first && has_second;
    }
    friend bool operator==(const Link&, const Link&) = default;
};

struct Chain {
    Link strong;
    Link weak;
};

}  // namespace
}  // namespace replayout::test::struct_reader_test

template <>
struct replayout::StructTraitsOf<replayout::test::struct_reader_test::Mood>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::struct_reader_test::Link>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace replayout::test::struct_reader_test {
namespace {

[[nodiscard]] Result<const Type*> build_family(TypeRegistry& registry) {
    REQUIRE(struct_builder<Mood>(registry, "Mood").build());
    return class_builder<Family>(registry, "Family")
        .property<&Family::before>()
        .property<&Family::child>()
        .property<&Family::after>()
        .build();
}

[[nodiscard]] Result<const Type*> build_chain(TypeRegistry& registry) {
    REQUIRE(struct_builder<Link>(registry, "Link").build());
    return class_builder<Chain>(registry, "Chain")
        .property<&Chain::strong>()
        .property<&Chain::weak>()
        .build();
}

TEST_CASE("StructReader: a value that reads other bits than the first time stays as it was",
          "[replayout][net_serialize]") {
    const TestLayout layout(build_family);
    BlockSender sender(*layout);
    const Family server{1, {2, 8}, 3};
    REQUIRE(sender.update(&server));
    const Bytes block = sender.block(since(0));
    for (const std::uint8_t width : {std::uint8_t{7}, std::uint8_t{8}, std::uint8_t{9}}) {
        CAPTURE(int{width});
        Family client{0, {99, width}, 0};
        BlockReceiver receiver(*layout);
        REQUIRE(receiver.receive(&client, block));
        CHECK_FALSE(receiver.has_too_many_references);
        CHECK(client.before == 1);
        CHECK(client.child.value == (width == 8 ? 2 : 99));
        CHECK(client.after == 3);
    }
}

TEST_CASE("StructReader: references that were too many are told, whatever follows them",
          "[replayout][net_serialize]") {
    const TestLayout layout(build_chain);
    BlockSender sender(*layout);
    const Chain server{{ObjectHandle{3}, ObjectHandle{4}, 5}, {{}, {}, 6}};
    REQUIRE(sender.update(&server));
    for (const std::uint32_t references_max : {1u, 2u}) {
        CAPTURE(references_max);
        BlockReceiver receiver(*layout);
        receiver.references_max = references_max;
        Chain client;
        REQUIRE(receiver.receive(&client, sender.block(since(0))));
        CHECK(receiver.has_too_many_references == (references_max == 1));
        CHECK(client.strong.strength == (references_max == 1 ? 0 : 5));
        CHECK(client.weak.strength == 6);
    }
}

TEST_CASE("StructReader: a value that refuses its bits when a reference appears stays as it was",
          "[replayout][net_serialize]") {
    const TestLayout layout(build_chain);
    BlockSender sender(*layout);
    const Chain server{{ObjectHandle{3}, {}, 5}, {{}, {}, 6}};
    REQUIRE(sender.update(&server));
    BlockReceiver receiver(*layout);
    Chain client;
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    REQUIRE(client.strong == Link{{}, {}, 5});
    client.strong.strength = 7;  // by the game
    const NetGUID guid = sender.package_map.guid_of(ObjectHandle{3});
    const LogSpy log;
    (void)receiver.rebind(&client, guid, Link::refused);
    CHECK(receiver.values_failed == 1);
    CHECK(client.strong == Link{{}, {}, 7});
    (void)receiver.rebind(&client, guid, ObjectHandle{30});
    CHECK(receiver.values_failed == 1);
    CHECK(client.strong == Link{ObjectHandle{30}, {}, 5});
}

}  // namespace
}  // namespace replayout::test::struct_reader_test
