// SPDX-License-Identifier: MIT
//
// That a promise without its function does not compile stands in compile_fail/.
#include "support/checks/catch.h"

#include <replayout/reflection/struct_traits.h>

namespace replayout {

// Services that this floor knows by name only; the floor above defines them.
class NetArchive {
  public:
    int calls = 0;
};

class NetDeltaInfo {
  public:
    void* expected = nullptr;
};

}  // namespace replayout

using namespace replayout;

namespace {

struct Silent {
    int value = 0;
};

struct Outspoken {
    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
        ++archive.calls;
        ok = map == nullptr;
        value = 5;
        return true;
    }
    bool identical(const Outspoken& other) const { return value == other.value; }
    void copy_from(const Outspoken& other) { value = other.value; }

    int value = 0;
};

struct Delta {
    bool net_delta_serialize(NetDeltaInfo& info) { return info.expected == this; }
    friend bool operator==(const Delta&, const Delta&) = default;

    int value = 0;
};

}  // namespace

template <>
struct replayout::StructTraitsOf<Outspoken> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
    static constexpr bool with_identical = true;
    static constexpr bool with_copy = true;
};

template <>
struct replayout::StructTraitsOf<Delta> : replayout::DefaultStructTraits {
    static constexpr bool with_net_delta_serializer = true;
    static constexpr bool with_identical_via_equality = true;
};

TEST_CASE("StructTraits: a type that says nothing promises nothing",
          "[reflection][struct_traits]") {
    const StructTraits traits = make_struct_traits<Silent>();
    CHECK_FALSE(traits.has_net_serializer);
    CHECK_FALSE(traits.has_net_shared_serialization);
    CHECK_FALSE(traits.has_net_delta_serializer);
    CHECK_FALSE(traits.has_identical);
    CHECK_FALSE(traits.has_copy);
    CHECK(traits.net_serialize == nullptr);
    CHECK(traits.net_delta_serialize == nullptr);
    CHECK(traits.identical == nullptr);
    CHECK(traits.copy == nullptr);
}

TEST_CASE("StructTraits: promises come with the functions of the type",
          "[reflection][struct_traits]") {
    const StructTraits traits = make_struct_traits<Outspoken>();
    CHECK(traits.has_net_serializer);
    CHECK(traits.has_net_shared_serialization);
    CHECK_FALSE(traits.has_net_delta_serializer);
    CHECK(traits.has_identical);
    CHECK(traits.has_copy);

    Outspoken hit;
    NetArchive archive;
    bool ok = false;
    REQUIRE(traits.net_serialize != nullptr);
    CHECK(traits.net_serialize(&hit, archive, nullptr, ok));
    CHECK(ok);
    CHECK(archive.calls == 1);
    CHECK(hit.value == 5);

    Outspoken copy;
    CHECK_FALSE(traits.identical(&hit, &copy));
    traits.copy(&copy, &hit);
    CHECK(traits.identical(&hit, &copy));
}

TEST_CASE("StructTraits: identical may be operator==", "[reflection][struct_traits]") {
    const StructTraits traits = make_struct_traits<Delta>();
    CHECK(traits.has_net_delta_serializer);
    Delta left;
    Delta right;
    NetDeltaInfo info{&left};
    CHECK(traits.net_delta_serialize(&left, info));
    CHECK_FALSE(traits.net_delta_serialize(&right, info));
    CHECK(traits.has_identical);
    CHECK(traits.identical(&left, &right));
    right.value = 1;
    CHECK_FALSE(traits.identical(&left, &right));
}
