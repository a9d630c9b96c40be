// SPDX-License-Identifier: MIT
//
// Pairs of layouts that differ in one respect: the leaf that it concerns is skipped, and no other.
#include <replayout/layout_description.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/types/delta_types.h"
#include "support/types/skipping_layout.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"
#include "support/types/told_layout.h"

namespace replayout::test {
namespace {

struct Item {
    std::uint32_t id = 0;
    std::int32_t count = 0;
};

/// A leaf of each form in which two layouts can differ.
struct Kit {
    std::int32_t number = 0;
    std::string text;
    std::vector<std::int32_t> list;
    std::vector<Item> items;
    std::vector<Item> queue;
    Aim aim;
    Scores scores;
    Vector3 place;
    Rotator turn;
    std::int32_t range = 0;
    std::int64_t wide_range = 0;
    double steps = 0.0;
};

[[nodiscard]] Result<const Type*> build_kit(TypeRegistry& registry) {
    register_parts(registry);
    REQUIRE(struct_builder<Item>(registry, "Item")
                .property<&Item::id>()
                .property<&Item::count>()
                .build());
    REQUIRE(struct_builder<Scores>(registry, "Scores").build());
    return class_builder<Kit>(registry, "Kit")
        .property<&Kit::number>()
        .property<&Kit::text>()
        .property<&Kit::list>()
        .property<&Kit::items>()
        .keyed_by<&Item::id>(ArrayOrder::Free)
        .property<&Kit::queue>()
        .keyed_by<&Item::id>(ArrayOrder::Kept)
        .property<&Kit::aim>()
        .property<&Kit::scores>()
        .property<&Kit::place>()
        .quantised(Quantisation::tenth())
        .property<&Kit::turn>()
        .quantised(Quantisation::angles(8))
        .property<&Kit::range>()
        .quantised(Quantisation::range(-1, 7))
        .property<&Kit::wide_range>()
        .quantised(Quantisation::range(-5, 100))
        .property<&Kit::steps>()
        .quantised(Quantisation::steps(0.0, 1.0, 0.1))
        .build();
}

TEST_CASE("Compatible layouts: a leaf that differs in one respect is skipped, and no other",
          "[replayout][compatible_layout]") {
    RepLayoutOptions options;
    options.limits = {16, 8};
    const TestLayout local(build_kit, options);
    const ToldLayout original = tell(*local);
    const struct {
        const char* what;
        std::function<void(ToldLayout&)> edit;
        Names skipped;
    } rows[] = {
        {"nothing", [](auto&) {}, {}},
        {"a checksum, one more", [](auto& told) { ++told.leaf("number").checksum; }, {"number"}},
        {"a checksum, one less", [](auto& told) { --told.leaf("number").checksum; }, {"number"}},
        {"a name", [](auto& told) { told.leaf("number").name = "numbed"; }, {"numbed"}},
        {"a longer name", [](auto& told) { told.leaf("number").name = "numbers"; }, {"numbers"}},
        {"a form", [](auto& told) { told.leaf("number").form = leaf_form::bits8; }, {"number"}},
        {"a nearer form",
         [](auto& told) { told.leaf("number").form = leaf_form::bits16; },
         {"number"}},
        {"texts may be shorter", [](auto& told) { --told.string_bytes_max; }, {}},
        {"texts may be longer", [](auto& told) { ++told.string_bytes_max; }, {"text"}},
        {"arrays may be shorter", [](auto& told) { --told.array_count_max; }, {}},
        {"arrays may be longer",
         [](auto& told) { ++told.array_count_max; },
         {"list", "items", "queue"}},
        {"a smaller key", [](auto& told) { told.leaf("items").key_size = 2; }, {"items"}},
        {"a larger key", [](auto& told) { told.leaf("items").key_size = 8; }, {"items"}},
        {"a smaller key in order", [](auto& told) { told.leaf("queue").key_size = 2; }, {"queue"}},
        {"a larger key in order", [](auto& told) { told.leaf("queue").key_size = 8; }, {"queue"}},
        {"order is kept", [](auto& told) { told.leaf("items").key_order = 1; }, {"items"}},
        {"order is not kept", [](auto& told) { told.leaf("queue").key_order = 0; }, {"queue"}},
        {"a struct that serialises itself",
         [](auto& told) { told.leaf("aim").struct_name = "Secret"; },
         {"aim"}},
        {"a struct of differences",
         [](auto& told) { told.leaf("scores").struct_name = "Points"; },
         {"scores"}},
        {"steps of a vector", [](auto& told) { told.leaf("place").numbers = {100}; }, {"place"}},
        {"bits of angles", [](auto& told) { told.leaf("turn").numbers = {16}; }, {"turn"}},
        {"a quaternion of as many bits as angles",
         [](auto& told) { told.leaf("turn").quantisation = quantisation_form::smallest_three; },
         {"turn"}},
        {"a lower least value", [](auto& told) { --told.leaf("range").numbers[0]; }, {"range"}},
        {"a higher greatest value", [](auto& told) { ++told.leaf("range").numbers[1]; }, {"range"}},
        {"a higher least value",
         [](auto& told) { ++told.leaf("wide_range").numbers[0]; },
         {"wide_range"}},
        {"a lower greatest value",
         [](auto& told) { --told.leaf("wide_range").numbers[1]; },
         {"wide_range"}},
        {"a least value of steps",
         [](auto& told) { told.leaf("steps").numbers[0] = std::bit_cast<std::uint64_t>(-1.0); },
         {"steps"}},
        {"a greatest value of steps",
         [](auto& told) { told.leaf("steps").numbers[1] = std::bit_cast<std::uint64_t>(2.0); },
         {"steps"}},
        {"a count of steps", [](auto& told) { ++told.leaf("steps").numbers[2]; }, {"steps"}},
    };
    for (const auto& row : rows) {
        INFO(row.what);
        ToldLayout told = original;
        row.edit(told);
        CHECK(skipped_names(local, told.bytes()) == row.skipped);
    }
}

}  // namespace
}  // namespace replayout::test
