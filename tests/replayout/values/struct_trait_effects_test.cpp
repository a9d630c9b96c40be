// SPDX-License-Identifier: MIT
//
// What each trait of a struct does to the commands and to the compare, one by one. The two that
// decide who serializes stand in net_shared_serialization_test.cpp.
//
//     trait                  alone                          with NetSerializer
//     Identical              nothing: members are compared  decides whether the value changed
//     IdenticalViaEquality   the same                       the same, through operator==
//     Copy                   nothing: members are copied    fills and refreshes the shadow
//     NetDeltaSerializer     one command, see net_delta_test  excluded
#include <replayout/net_archive.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout {
namespace {

enum class Traits {
    Plain,               // NetSerializer alone
    Identical,           // with Identical
    Equality,            // with IdenticalViaEquality
    Copy,                // with Copy
    FlattenedIdentical,  // Identical, and no NetSerializer
    FlattenedCopy,
};

constexpr bool is_flattened(Traits traits) {
    return traits == Traits::FlattenedIdentical || traits == Traits::FlattenedCopy;
}

/// Counts who is asked. identical() is generous: it looks at whole steps.
template <Traits Promise>
struct Dial {
    float angle = 0.0f;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(angle);
        return true;
    }
    bool identical(const Dial& other) const {
        ++identical_calls;
        return std::floor(angle) == std::floor(other.angle);
    }
    void copy_from(const Dial& other) {
        ++copy_calls;
        angle = other.angle;
    }
    friend bool operator==(const Dial& left, const Dial& right) {
        ++equality_calls;
        return left.angle == right.angle;
    }

    static void reset() { identical_calls = equality_calls = copy_calls = 0; }
    static inline std::uint32_t identical_calls = 0;
    static inline std::uint32_t equality_calls = 0;
    static inline std::uint32_t copy_calls = 0;
};

template <Traits Promise>
struct Panel {
    Dial<Promise> dial;
};

}  // namespace

template <Traits Promise>
struct StructTraitsOf<Dial<Promise>> : DefaultStructTraits {
    static constexpr bool with_net_serializer = !is_flattened(Promise);
    static constexpr bool with_identical =
        Promise == Traits::Identical || Promise == Traits::FlattenedIdentical;
    static constexpr bool with_identical_via_equality = Promise == Traits::Equality;
    static constexpr bool with_copy = Promise == Traits::Copy || Promise == Traits::FlattenedCopy;
};

namespace {

template <Traits Promise>
Result<const Type*> build_panel(TypeRegistry& registry) {
    (void)struct_builder<Dial<Promise>>(registry, "Dial")
        .template property<&Dial<Promise>::angle>("angle")
        .build();
    return class_builder<Panel<Promise>>(registry, "Panel")
        .template property<&Panel<Promise>::dial>("dial")
        .build();
}

/// A panel whose dial moved by less than a step, and then by more.
template <Traits Promise>
struct Moves {
    Moves() {
        Dial<Promise>::reset();
        panel.dial.angle = 0.5f;
        is_small_sent = sender.update(&panel);
        panel.dial.angle = 1.5f;
        is_large_sent = sender.update(&panel);
    }

    TestLayout layout{build_panel<Promise>};
    BlockSender sender{*layout};
    Panel<Promise> panel;
    bool is_small_sent = false;
    bool is_large_sent = false;
};

TEST_CASE("Struct traits: without Identical a NetSerializer is compared by its operator==",
          "[replayout][struct_traits]") {
    const Moves<Traits::Plain> moves;
    CHECK(moves.is_small_sent);
    CHECK(moves.is_large_sent);
    // Twice against the object, and once against what it was two values ago.
    CHECK(Dial<Traits::Plain>::equality_calls == 3);
    CHECK(Dial<Traits::Plain>::identical_calls == 0);
    CHECK(Dial<Traits::Plain>::copy_calls == 0);
}

TEST_CASE("Struct traits: Identical decides alone whether a NetSerializer changed",
          "[replayout][struct_traits]") {
    const Moves<Traits::Identical> moves;
    CHECK_FALSE(moves.is_small_sent);
    CHECK(moves.is_large_sent);
    CHECK(Dial<Traits::Identical>::identical_calls == 2);
    CHECK(Dial<Traits::Identical>::equality_calls == 0);
}

TEST_CASE("Struct traits: IdenticalViaEquality is Identical through operator==",
          "[replayout][struct_traits]") {
    const Moves<Traits::Equality> moves;
    CHECK(moves.is_small_sent);
    CHECK(Dial<Traits::Equality>::equality_calls == 3);
    CHECK(Dial<Traits::Equality>::identical_calls == 0);
}

/// Into the shadow, and in the row of what it was before: the last value, and the one before that.
constexpr std::uint32_t copies_per_change = 3;

TEST_CASE("Struct traits: Copy refreshes the shadow and what it was before, once a change",
          "[replayout][struct_traits]") {
    Moves<Traits::Copy> moves;
    CHECK(Dial<Traits::Copy>::copy_calls == 2 * copies_per_change);
    CHECK_FALSE(moves.sender.update(&moves.panel));
    CHECK(Dial<Traits::Copy>::copy_calls == 2 * copies_per_change);
}

TEST_CASE("Struct traits: Identical and Copy of a flattened struct are never called",
          "[replayout][struct_traits]") {
    const Moves<Traits::FlattenedIdentical> identical;
    CHECK(identical.is_small_sent);  // its member is compared, bit by bit
    CHECK(Dial<Traits::FlattenedIdentical>::identical_calls == 0);
    const Moves<Traits::FlattenedCopy> copy;
    CHECK(copy.is_small_sent);
    CHECK(Dial<Traits::FlattenedCopy>::copy_calls == 0);
}

/// Owns what it points to; only Copy knows that.
struct Parcel {
    std::shared_ptr<std::int32_t> weight = std::make_shared<std::int32_t>(0);

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(*weight);
        return true;
    }
    bool identical(const Parcel& other) const { return *weight == *other.weight; }
    void copy_from(const Parcel& other) { weight = std::make_shared<std::int32_t>(*other.weight); }
};

struct Cart {
    Parcel parcel;
};

}  // namespace

template <>
struct StructTraitsOf<Parcel> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_identical = true;
    static constexpr bool with_copy = true;
};

namespace {

TEST_CASE("Struct traits: a deep Copy keeps the shadow apart from the live object",
          "[replayout][struct_traits]") {
    const TestLayout layout([](TypeRegistry& registry) {
        (void)struct_builder<Parcel>(registry, "Parcel").build();
        return class_builder<Cart>(registry, "Cart").property<&Cart::parcel>().build();
    });
    BlockSender sender(*layout);
    Cart cart;
    for (std::int32_t weight = 1; weight <= 3; ++weight) {
        *cart.parcel.weight = weight;
        CHECK(sender.update(&cart));  // a shadow that shared the pointer would never differ
        CHECK_FALSE(sender.update(&cart));
    }
    Cart client;
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(*client.parcel.weight == 3);
    CHECK(client.parcel.weight != cart.parcel.weight);
}

}  // namespace
}  // namespace replayout
