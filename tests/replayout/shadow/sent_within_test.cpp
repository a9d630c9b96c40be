// SPDX-License-Identifier: MIT
//
// Properties in which sent_within_ms has an effect, and the error or warning for all others.
#include <replayout/net_archive.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/log_spy.h"

namespace replayout {
namespace {

struct Tilt {
    float degrees = 0.0f;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(degrees);
        return true;
    }
    bool identical(const Tilt& other) const { return degrees - other.degrees < 1.0f; }
};

struct Ship {
    float speed = 0.0f;
    Tilt tilt;
    std::vector<Tilt> masts;
};

}  // namespace

template <>
struct StructTraitsOf<Tilt> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_identical = true;
};

namespace test {
namespace {

[[nodiscard]] Result<std::unique_ptr<RepLayout>> layout_of(TypeRegistry& registry,
                                                           const Result<const Type*>& type) {
    REQUIRE(type);
    REQUIRE(registry.freeze());
    return RepLayout::create(registry, **type);
}

}  // namespace

TEST_CASE("sent_within_ms: is between 1 and an hour, and of a property of a class",
          "[replayout][sent_within]") {
    for (const std::uint32_t milliseconds : {0u, 1u, 3'600'000u, 3'600'001u}) {
        TypeRegistry registry;
        const bool is_valid = milliseconds >= 1 && milliseconds <= 3'600'000;
        const auto built = class_builder<Ship>(registry, "Ship")
                               .property<&Ship::speed>()
                               .sent_within_ms(milliseconds)
                               .build();
        CHECK(built.has_value() == is_valid);
        if (built) {
            CHECK((*built)->properties().front().sent_within_us == milliseconds * 1'000);
        } else {
            CHECK(contains(built.error().message, "not between 1 and 3600000"));
        }
    }
    TypeRegistry registry;
    const auto built =
        struct_builder<Ship>(registry, "Ship").property<&Ship::speed>().sent_within_ms(5).build();
    REQUIRE_FALSE(built);
    CHECK(contains(built.error().message, "only a property of a class can have it"));
}

TEST_CASE("sent_within_ms: a layout says where nothing is tolerated, so that it has no effect",
          "[replayout][sent_within]") {
    TypeRegistry registry;
    const LogSpy spy(LogLevel::Warning);
    const auto layout = layout_of(registry, class_builder<Ship>(registry, "Ship")
                                                .property<&Ship::speed>()
                                                .quantised(Quantisation::steps(0.0, 10.0, 0.1))
                                                .sent_within_ms(100)
                                                .build());
    REQUIRE(layout);
    CHECK((*layout)->sent_within_us() == 0);
    REQUIRE((*layout)->diagnostics().size() == 1);
    CHECK(contains((*layout)->diagnostics().front(), "\"speed\" is sent within a time"));
}

TEST_CASE("sent_within_ms: Identical without operator== is refused, as nothing tells what it hides",
          "[replayout][sent_within]") {
    TypeRegistry registry;
    REQUIRE(struct_builder<Tilt>(registry, "Tilt").build());
    const auto layout = layout_of(
        registry,
        class_builder<Ship>(registry, "Ship").property<&Ship::masts>().sent_within_ms(100).build());
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::MissingOperation);
    CHECK(contains(layout.error().message, "without operator=="));
}

}  // namespace test
}  // namespace replayout
