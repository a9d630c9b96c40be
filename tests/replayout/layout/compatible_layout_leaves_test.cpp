// SPDX-License-Identifier: MIT
//
// Which leaf of a sender is taken for one of ours: none that differs in anything but its place, so
// descriptions here have the checksum of ours in leaves that are not ours.
#include <replayout/change_mask.h>
#include <replayout/layout_description.h>
#include <replayout/net_archive.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/hostile/forged_description.h"
#include "support/replication/block_receiver.h"
#include "support/types/skipping_layout.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"
#include "support/types/told_layout.h"

namespace replayout::test {
namespace {

using namespace leaf_form;

// Order.

struct Blow {
    std::uint8_t bone = 0;
    std::uint8_t damage = 0;
};

struct Fighter {
    Blow last;
    std::uint8_t health = 0;
    std::uint8_t scores[2]{};
    std::vector<Blow> blows;
};

[[nodiscard]] Result<const Type*> build_fighter(TypeRegistry& registry) {
    REQUIRE(struct_builder<Blow>(registry, "Blow")
                .property<&Blow::bone>()
                .property<&Blow::damage>()
                .build());
    return class_builder<Fighter>(registry, "Fighter")
        .property<&Fighter::last>()
        .property<&Fighter::health>()
        .property<&Fighter::scores>()
        .property<&Fighter::blows>()
        .build();
}

/// The checksum of a leaf of one of the fighter's blows.
[[nodiscard]] std::uint32_t checksum_in_blow(const TestLayout& fighter, std::uint32_t handle) {
    return fighter->cmd(fighter->cmd_of(fighter.element_scope(6), RepHandle{handle})).checksum;
}

TEST_CASE("Compatible layouts: leaves of one property that lie apart are not taken a second time",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_fighter);
    const char* const names[] = {"last.bone", "last.damage", "health", "scores[0]", "scores[1]"};
    const auto skipped_of = [&](const std::vector<std::uint32_t>& handles) {
        ForgedDescription told("Fighter");
        for (const std::uint32_t handle : handles) {
            if (handle == 6) {
                told.leaf(dynamic_array, local.cmd(6).checksum, "blows");
                told.leaf(bits8, checksum_in_blow(local, 1), "bone");
                told.leaf(bits8, checksum_in_blow(local, 2), "damage").end();
            } else {
                told.leaf(bits8, local.cmd(handle).checksum, names[handle - 1]);
            }
        }
        told.end();
        return skipped_names(local, told.bytes());
    };
    CHECK(skipped_of({1, 2, 3, 4, 5}).empty());
    CHECK(skipped_of({5, 4, 3, 2, 1}).empty());
    CHECK(skipped_of({1, 2, 4, 5, 6, 3}).empty());
    CHECK(skipped_of({6, 2, 1, 5, 4, 3}).empty());
    CHECK(skipped_of({1, 3, 2, 4, 5}) == Names{"last.damage"});
    CHECK(skipped_of({4, 1, 2, 5, 3}) == Names{"scores[1]"});
    CHECK(skipped_of({5, 3, 4, 2}) == Names{"scores[0]"});
    CHECK(skipped_of({2, 4, 1, 5}) == Names{"last.bone"});  // which is in nobody's way
    // Each leaf of a property of two, moved behind all others.
    CHECK(skipped_of({2, 3, 4, 5, 6, 1}) == Names{"last.bone"});
    CHECK(skipped_of({1, 3, 4, 5, 6, 2}) == Names{"last.damage"});
    CHECK(skipped_of({1, 2, 3, 5, 6, 4}) == Names{"scores[0]"});
    CHECK(skipped_of({1, 2, 3, 4, 6, 5}) == Names{"scores[1]"});
}

TEST_CASE("Compatible layouts: in an element, leaves are taken in whatever order",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_fighter);
    ForgedDescription told("Fighter");
    told.leaf(dynamic_array, local.cmd(6).checksum, "blows");
    told.leaf(bits8, checksum_in_blow(local, 2), "damage").leaf(bits8, 0, "new");
    told.leaf(bits8, checksum_in_blow(local, 1), "bone").end().end();
    const auto layout = make_skipping(local, told.bytes());
    CHECK(skipped_names(*layout).empty());
    CHECK(contains(dump(*layout), "damage shared"));
    CHECK(contains(dump(*layout), "new skipped"));
    CHECK(contains(dump(*layout), "bone shared"));
}

// Checksums that meet.

/// A class of two bytes.
[[nodiscard]] Result<const Type*> build_two(TypeRegistry& registry, std::string_view first,
                                            std::string_view second) {
    struct Two {
        std::uint8_t bytes[2]{};
    };
    return DynamicTypeBuilder(registry, TypeKind::Class, "Two", 2, 1)
        .property(first, PropertyKind::UInt8, 0)
        .property(second, PropertyKind::UInt8, 1)
        .ops(make_type_ops<Two>())
        .build();
}

// The names in the next two tests were searched for.

TEST_CASE("Compatible layouts: of two leaves of ours with one checksum none is taken",
          "[replayout][compatible_layout]") {
    const TestLayout local(
        [](TypeRegistry& registry) { return build_two(registry, "p16817", "p130630"); });
    REQUIRE(local.cmd(1).checksum == local.cmd(2).checksum);
    for (const char* const name : {"p16817", "p130630"}) {
        ForgedDescription told("Two");
        told.leaf(bits8, local.cmd(1).checksum, name).end();
        const auto layout = make_skipping(local, told.bytes());
        CHECK(skipped_names(*layout) == Names{name});
        CHECK(differences(*layout) ==
              Names{"layout of \"Two\": \"" + std::string(name) +
                        "\" of the sender is not the same here, and is skipped",
                    "layout of \"Two\": \"p16817\" is not sent like this, and keeps its default",
                    "layout of \"Two\": \"p130630\" is not sent like this, and keeps its default"});
    }
}

TEST_CASE("Compatible layouts: checksums side by side are told apart",
          "[replayout][compatible_layout]") {
    const TestLayout descending(
        [](TypeRegistry& registry) { return build_two(registry, "p9891", "p10132"); });
    REQUIRE(descending.cmd(1).checksum == descending.cmd(2).checksum + 1);
    const TestLayout ascending(
        [](TypeRegistry& registry) { return build_two(registry, "p10132", "p9891"); });
    REQUIRE(ascending.cmd(2).checksum == ascending.cmd(1).checksum + 1);
    for (const TestLayout* const local : {&descending, &ascending}) {
        const auto layout = make_skipping(*local, tell(**local).bytes());
        CHECK(skipped_names(*layout).empty());
        CHECK(differences(*layout).empty());
    }
}

// What is said of it.

[[nodiscard]] Result<const Type*> build_pair(TypeRegistry& registry) {
    return build_two(registry, "left", "right");
}

TEST_CASE("Compatible layouts: of a long name 256 bytes are told, in whole characters",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_pair);
    const auto told_as = [&](const std::string& name) {
        ForgedDescription told("Two");
        told.leaf(bits8, 0, name).end();
        const std::string begin = "layout of \"Two\": \"";
        const std::string end = "\" of the sender is not the same here, and is skipped";
        const std::string sentence = differences(*make_skipping(local, told.bytes())).at(0);
        INFO(sentence);
        REQUIRE(sentence.size() >= begin.size() + end.size());
        REQUIRE(sentence.starts_with(begin));
        REQUIRE(sentence.ends_with(end));
        return sentence.substr(begin.size(), sentence.size() - begin.size() - end.size());
    };
    const auto xs = [](std::size_t count) { return std::string(count, 'x'); };
    CHECK(told_as(xs(256)) == xs(256));
    CHECK(told_as(xs(257)) == xs(256) + "...");
    const std::string pound = "\xC2\xA3";
    const std::string euro = "\xE2\x82\xAC";
    CHECK(told_as(xs(255) + pound) == xs(255) + "...");
    CHECK(told_as(xs(254) + euro) == xs(254) + "...");
    CHECK(told_as(xs(256) + euro) == xs(256) + "...");
    // A character of four bytes that ends with the 256th byte, and later ones.
    const std::string face = "\xF0\x9F\x98\x80";
    const std::string printed_face = "\\xf0\\x9f\\x98\\x80";
    CHECK(told_as(xs(252) + face) == xs(252) + printed_face);
    CHECK(told_as(xs(252) + face + "x") == xs(252) + printed_face + "...");
    for (std::size_t size = 253; size <= 256; ++size) {
        CHECK(told_as(xs(size) + face) == xs(size) + "...");
    }
}

TEST_CASE("Compatible layouts: a name of ours that is no text at all is cut at a byte",
          "[replayout][compatible_layout]") {
    const TestLayout local([](TypeRegistry& registry) {
        return build_two(registry, "left", std::string(300, '\x80'));
    });
    ForgedDescription told("Two");
    told.leaf(bits8, local.cmd(1).checksum, "left").end();
    std::string front;
    for (int i = 0; i < 256; ++i) {
        front += "\\x80";
    }
    CHECK(differences(*make_skipping(local, told.bytes())) ==
          Names{"layout of \"Two\": \"" + front +
                "...\" is not sent like this, and keeps its default"});
}

TEST_CASE("Compatible layouts: a leaf that is called as elements are shown has no name",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_pair);
    ForgedDescription told("Two");
    told.leaf(bits8, 0, "[]").leaf(bits8, 0, "[0]").end();
    CHECK(skipped_names(local, told.bytes()) == Names{"", "[0]"});
}

// Structs that serialize themselves.

/// Cannot be made from nothing.
struct Sealed {
    explicit Sealed(int sealed_value) : value(sealed_value) {}
    int value;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(value);
        return true;
    }
    friend bool operator==(const Sealed&, const Sealed&) = default;
};

}  // namespace
}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Sealed> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace replayout::test {
namespace {

TEST_CASE("Compatible layouts: only a NetSerializer that can be read here may be skipped",
          "[replayout][compatible_layout]") {
    const TestLayout local([](TypeRegistry& registry) {
        register_parts(registry);
        REQUIRE(struct_builder<Sealed>(registry, "Sealed").build());
        return build_pair(registry);
    });
    const RepLayout* const classes[] = {&*local, nullptr};  // one that is here, and one that is not
    for (const RepLayout* const local_class : classes) {
        const auto refusal = [&](const std::string& struct_name) {
            ForgedDescription told("Two");
            told.leaf(net_serializer, 0, "part").write_text(struct_name).end();
            const auto layout = RepLayout::create_compatible(
                local->registry(), local_class, told.bytes(), LayoutPolicy::SkipUnknown);
            if (layout) {
                return std::string();
            }
            CHECK(layout.error().code == ErrorCode::IncompatibleLayout);
            return layout.error().message;
        };
        CHECK(refusal("Aim") == "");
        CHECK(refusal("Secret") == "");
        // Is described by its members; cannot be made; is not known.
        for (const char* const struct_name : {"Wound", "Sealed", "Nothing"}) {
            CHECK(refusal(struct_name) ==
                  "layout of \"Two\": \"part\" of the sender is a \"" + std::string(struct_name) +
                      "\", a NetSerializer that is not known here, so nothing behind it can be "
                      "read");
        }
    }
}

/// Is told of whatever comes of its first property.
struct Bell {
    std::uint8_t rung = 0;
    std::uint8_t tone = 0;
    std::uint32_t told = 0;

    void on_rep_rung() { ++told; }
};

TEST_CASE("Compatible layouts: what is skipped is no property of ours that was received",
          "[replayout][compatible_layout]") {
    const TestLayout local([](TypeRegistry& registry) {
        return class_builder<Bell>(registry, "Bell")
            .property<&Bell::rung>()
            .on_rep<&Bell::on_rep_rung>(RepNotify::Always)
            .property<&Bell::tone>()
            .build();
    });
    ForgedDescription told("Bell");
    told.leaf(bits8, 0, "new").leaf(bits8, local.cmd(1).checksum, "rung").end();
    const auto layout = make_skipping(local, told.bytes());
    for (std::uint32_t handle = 1; handle <= 2; ++handle) {
        std::array<std::byte, 8> memory{};
        BitWriter writer(memory);
        ChangeMask mask;
        mask.reset(2);
        mask.set(handle - 1);
        write_change_mask(writer, mask, EmptySet::Impossible);
        writer.write_bits(7, 8);
        writer.finish_byte();
        Bell bell;
        BlockReceiver receiver(*layout);
        REQUIRE(receiver.receive(&bell, writer.bytes()));
        CHECK(bell.told == (handle == 1 ? 0 : 1));
        CHECK(bell.rung == (handle == 1 ? 0 : 7));
    }
}

}  // namespace
}  // namespace replayout::test
