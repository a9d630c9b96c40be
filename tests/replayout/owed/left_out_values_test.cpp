// SPDX-License-Identifier: MIT
#include <replayout/left_out_values.h>

#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/types/test_layout.h"

namespace replayout::test::left_out_values_test {
namespace {

struct Couple {
    std::int32_t left = 0;
    std::int32_t right = 0;
};
struct Box {
    std::int32_t first = 0;
    Couple couple;
    std::int32_t last = 0;
};

}  // namespace
}  // namespace replayout::test::left_out_values_test

template <>
struct replayout::StructTraitsOf<replayout::test::left_out_values_test::Couple>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test::left_out_values_test {
namespace {

[[nodiscard]] Result<const Type*> build_box(TypeRegistry& registry) {
    REQUIRE(struct_builder<Couple>(registry, "Couple")
                .property<&Couple::left>()
                .property<&Couple::right>()
                .build());
    return class_builder<Box>(registry, "Box")
        .property<&Box::first>()
        .property<&Box::couple>()
        .property<&Box::last>()
        .build();
}

[[nodiscard]] OwedVersions position_at(Version sent, VersionInterval lost = {}) {
    OwedVersions position;
    position.sent_version = sent;
    position.lost = lost;
    return position;
}

[[nodiscard]] ChangeMask owed_of(const RepLayout& layout, std::uint32_t handle) {
    ChangeMask owed;
    owed.reset(layout.handle_count());
    owed.set(handle - 1);
    return owed;
}

}  // namespace

TEST_CASE("LeftOutValues: what was left out is owed with what is owed of the same value",
          "[replayout][left_out]") {
    const TestLayout layout(build_box);  // first 1, couple 2 3, last 4
    CountingResource resource;
    {
        LeftOutValues values(&resource);
        CHECK(values.is_empty());
        CHECK(resource.allocation_count() == 0);
        const RepHandle left_out[] = {RepHandle{3}, RepHandle{4}};
        values.note(*layout, left_out, position_at(4), 6);
        CHECK_FALSE(values.is_empty());
        CHECK_FALSE(values.take(owed_of(*layout, 1)));

        // Of a group any member calls for it.
        const auto group = values.take(owed_of(*layout, 2));
        REQUIRE(group);
        CHECK(group->handles.handle_begin == 2);
        CHECK(group->handles.handle_end == 4);
        CHECK(group->versions == VersionInterval{4, 6});
        CHECK_FALSE(values.take(owed_of(*layout, 3)));

        const auto last = values.take(owed_of(*layout, 4));
        REQUIRE(last);
        CHECK(last->handles.handle_begin == 4);
        CHECK(last->handles.handle_end == 5);
        CHECK(values.is_empty());
    }
    CHECK(resource.blocks_in_use() == 0);
}

TEST_CASE("LeftOutValues: what is left out again is owed from the first time on, losses included",
          "[replayout][left_out]") {
    const TestLayout layout(build_box);
    LeftOutValues values(std::pmr::get_default_resource());
    const RepHandle left_out[] = {RepHandle{1}};
    values.note(*layout, left_out, position_at(4, {1, 2}), 5);
    values.note(*layout, left_out, position_at(7), 8);
    const auto value = values.take(owed_of(*layout, 1));
    REQUIRE(value);
    CHECK(value->versions == VersionInterval{1, 8});
    CHECK(values.is_empty());
}

TEST_CASE("LeftOutValues: what is owed with one may call for another, until none is left to call",
          "[replayout][left_out]") {
    const TestLayout layout(build_box);
    LeftOutValues values(std::pmr::get_default_resource());
    int collect_count = 0;
    ChangeMask owed;
    const auto owe_all = [&](std::uint32_t changed) {
        std::vector<std::uint32_t> handles;
        owed = owed_of(*layout, changed);
        values.owe_with(
            owed, [&] { ++collect_count; },
            [&](const LeftOutValues::Entry& value) {
                handles.push_back(value.handles.handle_begin);
                owed.set(value.handles.handle_begin == 4 ? 0 : 3);  // 4 calls for 1, others for 4
            });
        return handles;
    };
    CHECK(owe_all(4).empty());
    CHECK(collect_count == 0);  // nothing was left out

    const RepHandle left_out[] = {RepHandle{1}, RepHandle{2}, RepHandle{4}};
    values.note(*layout, left_out, position_at(4), 6);
    CHECK(owe_all(4) == std::vector<std::uint32_t>{4, 1});
    CHECK(collect_count == 2);
    CHECK_FALSE(values.is_empty());
    CHECK(owe_all(3) == std::vector<std::uint32_t>{2});
    CHECK(values.is_empty());
}

}  // namespace replayout::test::left_out_values_test
