// SPDX-License-Identifier: MIT
//
// The check that a serializer whose bytes are shared writes the same bits for an equal value,
// whoever receives them.
#include <replayout/net_archive.h>

#include <cstdint>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/replication/block_sender.h"
#include "support/types/few_ids.h"
#include "support/types/test_layout.h"

namespace replayout::test::net_serialize_purity_test {
namespace {

enum class Flaw { None, AsksReceiver, CountsCalls, KnowsItsMap, KnowsItsPlace };

/// Shared, and with a flaw or without.
template <Flaw What>
struct Secret {
    std::uint8_t value = 0;
    ObjectHandle object;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool&) {
        archive.serialize(value);
        std::uint8_t extra = 0;
        if constexpr (What == Flaw::AsksReceiver) {
            extra = archive.receiver_has(object, map) ? 1 : 0;
        } else if constexpr (What == Flaw::CountsCalls) {
            static std::uint8_t calls = 0;
            extra = ++calls;
        } else if constexpr (What == Flaw::KnowsItsMap) {
            static const PackageMap* first_map = map;
            extra = map == first_map ? 1 : 0;
        } else if constexpr (What == Flaw::KnowsItsPlace) {
            static const void* first_place = this;
            extra = first_place == this ? 1 : 0;
        }
        archive.serialize(extra);
        return true;
    }
    friend bool operator==(const Secret&, const Secret&) = default;
};

template <Flaw What>
struct Keeper {
    Secret<What> secret;
};

}  // namespace
}  // namespace replayout::test::net_serialize_purity_test

template <replayout::test::net_serialize_purity_test::Flaw What>
struct replayout::StructTraitsOf<replayout::test::net_serialize_purity_test::Secret<What>>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

namespace replayout::test::net_serialize_purity_test {
namespace {

template <Flaw What>
Result<const Type*> build_keeper(TypeRegistry& registry) {
    (void)struct_builder<Secret<What>>(registry, "Secret").build();
    return class_builder<Keeper<What>>(registry, "Keeper")
        .template property<&Keeper<What>::secret>("secret")
        .build();
}

/// How many values were found to be impure.
template <Flaw What>
std::uint64_t find_impure(bool is_validating = true) {
    const TestLayout layout(build_keeper<What>);
    BlockSender sender(*layout);
    sender.is_validating = is_validating;
    FewIds ids;
    sender.receiver = &ids;
    Keeper<What> keeper;
    keeper.secret = {1, ObjectHandle{1'000}};
    REQUIRE(sender.update(&keeper));
    (void)sender.block(since(0));
    return sender.counters.serializers_impure;
}

TEST_CASE("NetSerialize: a shared serializer that is pure passes the purity check",
          "[replayout][net_serialize]") {
    CHECK(find_impure<Flaw::None>() == 0);
}

TEST_CASE("NetSerialize: a shared serializer whose bits depend on the receiver is found",
          "[replayout][net_serialize]") {
    const LogSpy log;
    CHECK(find_impure<Flaw::AsksReceiver>() == 1);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0] ==
          "net_serialize of \"Secret\" in property \"secret\" does not write the same bits for an "
          "equal value and another receiver, and is shared");
    CHECK(find_impure<Flaw::KnowsItsMap>() == 1);
}

TEST_CASE("NetSerialize: a serializer that writes other bits for an equal value is found",
          "[replayout][net_serialize]") {
    CHECK(find_impure<Flaw::CountsCalls>() == 1);
    CHECK(find_impure<Flaw::KnowsItsPlace>() == 1);
}

TEST_CASE("NetSerialize: the purity check is off unless asked for", "[replayout][net_serialize]") {
    CHECK(find_impure<Flaw::CountsCalls>(false) == 0);
}

}  // namespace
}  // namespace replayout::test::net_serialize_purity_test
