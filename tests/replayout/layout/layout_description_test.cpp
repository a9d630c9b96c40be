// SPDX-License-Identifier: MIT
//
// What a description of a layout may say: each of its fields, just within what some layout can
// have and just beyond it, and the sentence in which that is refused.
#include <replayout/layout_description.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/heap_count.h"
#include "support/types/told_layout.h"

namespace replayout::test {
namespace {

const std::string malformed = "is malformed";

/// Why a receiver that does not know the class refuses these bytes; empty where it takes them.
[[nodiscard]] std::string problem_with(std::span<const std::byte> bytes,
                                       const std::string& name = "T") {
    const TypeRegistry registry;
    const auto layout =
        RepLayout::create_compatible(registry, nullptr, bytes, LayoutPolicy::SkipUnknown);
    if (layout) {
        return {};
    }
    CHECK(layout.error().code == ErrorCode::MalformedDescription);
    const std::string head = "description of layout \"" + name + "\" ";
    INFO(layout.error().message);
    REQUIRE(layout.error().message.starts_with(head));
    return layout.error().message.substr(head.size());
}

[[nodiscard]] ToldLeaf leaf_of(std::uint8_t form) {
    ToldLeaf leaf;
    leaf.form = form;
    return leaf;
}

/// One leaf, within so many arrays. The element of an array is a byte.
[[nodiscard]] std::string problem_with(const ToldLeaf& leaf, std::uint32_t array_count = 0) {
    ToldLayout told;
    told.leaves.assign(array_count, leaf_of(leaf_form::dynamic_array));
    told.leaves.push_back(leaf);
    const bool is_array = leaf.form == leaf_form::dynamic_array ||
                          leaf.form == leaf_form::optional || leaf.form == leaf_form::keyed_array;
    if (is_array) {
        told.leaves.push_back(leaf_of(leaf_form::bits8));
        told.leaves.emplace_back();
    }
    told.leaves.resize(told.leaves.size() + array_count + 1);
    return problem_with(told.bytes());
}

[[nodiscard]] std::string problem_with_quantised(std::uint8_t form,
                                                 const std::vector<std::uint64_t>& numbers) {
    ToldLeaf leaf = leaf_of(leaf_form::quantised);
    leaf.quantisation = form;
    leaf.numbers = numbers;
    return problem_with(leaf);
}

TEST_CASE("Layout description: one of a version before or after this one is refused",
          "[replayout][layout_description]") {
    ToldLayout told;
    told.leaves.resize(1);
    CHECK(problem_with(told.bytes()) == "");
    CHECK(described_name(told.bytes()) == "T");
    for (const std::uint8_t version : {std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{255}}) {
        told.version = version;
        CHECK(problem_with(told.bytes(), "") == "is of another version");
        CHECK(described_name(told.bytes()) == "");
    }
}

TEST_CASE("Layout description: a text longer than what is left, or not in UTF-8, is refused",
          "[replayout][layout_description]") {
    // A name of 0 to 4 bytes, where 3 are left, which without a name would be two limits and the
    // end of an empty list.
    for (std::uint8_t byte_count = 0; byte_count <= 4; ++byte_count) {
        const Bytes bytes = make_bytes(1, byte_count << 1, 2, 2, 0);
        CHECK(problem_with(bytes, byte_count == 1   ? "\\x02"
                                  : byte_count == 2 ? "\\x02\\x02"
                                  : byte_count == 3 ? "\\x02\\x02\\x00"
                                                    : "") == (byte_count == 0 ? "" : malformed));
    }
    CHECK(problem_with(make_bytes(1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, 2),
                       "") == malformed);
    ToldLayout told;
    told.name = "\xff";
    told.leaves.resize(1);
    CHECK(problem_with(told.bytes(), "") == malformed);
    CHECK(described_name(told.bytes()) == "");
    ToldLeaf leaf = leaf_of(leaf_form::bits8);
    leaf.name = "caf\xc3";
    CHECK(problem_with(leaf) == malformed);
    leaf.name = "caf\xc3\xa9";
    CHECK(problem_with(leaf) == "");
    leaf = leaf_of(leaf_form::net_delta_serializer);
    leaf.struct_name = "\x80";
    CHECK(problem_with(leaf) == malformed);
}

TEST_CASE("Layout description: of the name of one that is refused 64 bytes are told",
          "[replayout][layout_description]") {
    ToldLayout told;
    told.leaves.resize(1);
    const auto problem_of_part = [&](const std::string& name, const std::string& shown) {
        told.name = name;
        Bytes bytes = told.bytes();
        bytes.pop_back();
        return problem_with(bytes, shown);
    };
    const std::string longest(64, 'x');
    const std::string shorter(63, 'x');
    CHECK(problem_of_part(longest, longest) == malformed);
    CHECK(problem_of_part(longest + "x", longest + "...") == malformed);
    CHECK(problem_of_part(shorter + "\xc3\xa9", shorter + "...") == malformed);
}

TEST_CASE("Layout description: one that ends before its bytes do is refused",
          "[replayout][layout_description]") {
    ToldLayout told;
    told.leaves = {leaf_of(leaf_form::bits8), {}};
    Bytes bytes = told.bytes();
    CHECK(problem_with(bytes) == "");
    bytes.push_back(std::byte{0});
    CHECK(problem_with(bytes) == malformed);
    bytes.resize(bytes.size() - 2);
    CHECK(problem_with(bytes) == malformed);
}

TEST_CASE("Layout description: a limit takes 32 bits", "[replayout][layout_description]") {
    ToldLayout told;
    told.leaves = {leaf_of(leaf_form::bits8), {}};
    told.string_bytes_max = told.array_count_max = 0xFFFF'FFFF;
    CHECK(problem_with(told.bytes()) == "");
    told.string_bytes_max += 1;
    CHECK(problem_with(told.bytes()) == malformed);
    told.string_bytes_max -= 1;
    told.array_count_max += 1;
    CHECK(problem_with(told.bytes()) == malformed);
}

TEST_CASE("Layout description: a form beyond those of the wire format is refused",
          "[replayout][layout_description]") {
    for (std::uint32_t form = 1; form < 256; ++form) {
        ToldLeaf leaf = leaf_of(static_cast<std::uint8_t>(form));
        leaf.quantisation = 2;  // a normal vector, which has no numbers
        CAPTURE(form);
        // A NetSerializer is read, and then not known here.
        if (form != leaf_form::net_serializer) {
            CHECK(problem_with(leaf) ==
                  (form <= 15 ? "" : "has a leaf of a form that is not known here"));
        }
    }
}

TEST_CASE("Layout description: a NetDeltaSerializer stands in no array",
          "[replayout][layout_description]") {
    const ToldLeaf leaf = leaf_of(leaf_form::net_delta_serializer);
    const std::string sentence = "has a NetDeltaSerializer inside of an array";
    CHECK(problem_with(leaf, 0) == "");
    CHECK(problem_with(leaf, 1) == sentence);
    CHECK(problem_with(leaf, 2) == sentence);
    CHECK(problem_with(leaf, nesting_depth_max) == sentence);
}

TEST_CASE("Layout description: a key has 1, 2, 4 or 8 bytes and one of two orders, in no array",
          "[replayout][layout_description]") {
    const std::string sentence = "has a keyed array that makes no sense";
    ToldLeaf leaf = leaf_of(leaf_form::keyed_array);
    for (std::uint32_t size = 0; size < 256; ++size) {
        for (const std::uint32_t order : {0u, 1u, 2u, 255u}) {
            leaf.key_size = static_cast<std::uint8_t>(size);
            leaf.key_order = static_cast<std::uint8_t>(order);
            const bool is_fine = (size == 1 || size == 2 || size == 4 || size == 8) && order <= 1;
            CAPTURE(size, order);
            CHECK(problem_with(leaf) == (is_fine ? "" : sentence));
        }
    }
    leaf = leaf_of(leaf_form::keyed_array);
    CHECK(problem_with(leaf, 1) == sentence);
    CHECK(problem_with(leaf, 2) == sentence);
}

TEST_CASE("Layout description: an array has a leaf, and few enough of them, and is not too deep",
          "[replayout][layout_description]") {
    CHECK(problem_with(leaf_of(leaf_form::bits8), nesting_depth_max) == "");
    CHECK(problem_with(leaf_of(leaf_form::bits8), nesting_depth_max + 1) ==
          "nests arrays too deep");
    CHECK(problem_with(leaf_of(leaf_form::bits8), 200) == "nests arrays too deep");
    for (const std::uint8_t form :
         {leaf_form::dynamic_array, leaf_form::optional, leaf_form::keyed_array}) {
        ToldLayout told;
        told.leaves = {leaf_of(form), {}, {}};
        CHECK(problem_with(told.bytes()) == "has an array whose element has no leaf");
        // Three leaves in each element: 349,525 times that is one short of 1,048,576.
        told.leaves = {leaf_of(form),
                       leaf_of(leaf_form::bits8),
                       leaf_of(leaf_form::bits8),
                       leaf_of(leaf_form::bits8),
                       {},
                       {}};
        told.array_count_max = 349'525;
        CHECK(problem_with(told.bytes()) == "");
        told.array_count_max = 349'526;
        const bool is_one_at_most = form == leaf_form::optional;
        CHECK(problem_with(told.bytes()) ==
              (is_one_at_most ? "" : "has an array of too many leaves"));
        told.array_count_max = 0xFFFF'FFFF;  // does not wrap around
        CHECK(problem_with(told.bytes()) ==
              (is_one_at_most ? "" : "has an array of too many leaves"));
    }
}

TEST_CASE("Layout description: a quantisation beyond those of the wire format is refused",
          "[replayout][layout_description]") {
    const std::string sentence = "has a quantisation that is not known here";
    CHECK(problem_with_quantised(0, {}) == sentence);
    CHECK(problem_with_quantised(2, {}) == "");
    for (std::uint32_t form = 7; form < 256; ++form) {
        CHECK(problem_with_quantised(static_cast<std::uint8_t>(form), {}) == sentence);
    }
}

TEST_CASE("Layout description: numbers of a quantisation that no property has are refused",
          "[replayout][layout_description]") {
    const std::string senseless = "has a quantisation that makes no sense";
    const auto number = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    const auto integer = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    // What does not fit into the field of a number is malformed, whatever its low bits say.
    constexpr std::uint64_t above_32 = std::uint64_t{1} << 32;
    const struct {
        std::uint8_t form;
        std::vector<std::uint64_t> numbers;
        std::string problem;
    } rows[] = {
        {1, {1}, ""},
        {1, {10}, ""},
        {1, {100}, ""},
        {1, {0}, senseless},
        {1, {1'000}, senseless},
        {1, {above_32 + 1}, malformed},
        {3, {8}, ""},
        {3, {16}, ""},
        {3, {9}, senseless},
        {3, {256 + 8}, malformed},
        {4, {5}, senseless},
        {4, {6}, ""},
        {4, {20}, ""},
        {4, {21}, senseless},
        {4, {256 + 6}, malformed},
        {5, {integer(-1), 0}, ""},
        {5, {0, 0}, senseless},
        {5, {1, 0}, senseless},
        {6, {number(0.0), number(1.0), 1}, ""},
        {6, {number(0.0), number(1.0), 0}, senseless},
        {6, {number(0.0), number(1.0), 0xFFFF'FFFF}, senseless},
        {6, {number(0.0), number(1.0), above_32 + 1}, malformed},
        {6, {number(1.0), number(1.0), 1}, senseless},
        {6, {number(0.0), number(std::numeric_limits<double>::infinity()), 1}, senseless},
        {6, {number(std::numeric_limits<double>::quiet_NaN()), number(1.0), 1}, senseless},
    };
    for (const auto& row : rows) {
        CAPTURE(int{row.form}, row.numbers.back());
        CHECK(problem_with_quantised(row.form, row.numbers) == row.problem);
    }
}

/// A class of one property, described and read by a receiver that has the same.
void check_is_taken(Property property) {
    TypeRegistry registry;
    const std::uint32_t alignment = property.size;
    const std::uint32_t size = property.size * property.array_dim;
    const Result<const Type*> type =
        DynamicTypeBuilder(registry, TypeKind::Class, "One", size, alignment)
            .property(std::move(property))
            .build();
    INFO((type ? "" : type.error().message));
    REQUIRE(type);
    REQUIRE(registry.freeze());
    const std::vector<std::uint64_t> archetype(size / 8 + 1);
    RepLayoutOptions options;
    options.archetype = archetype.data();
    const auto layout = RepLayout::create(registry, **type, options);
    REQUIRE(layout);
    const auto description = describe_layout(**layout, std::pmr::get_default_resource());
    const auto compatible = RepLayout::create_compatible(
        registry, layout->get(), {description.data(), description.size()}, LayoutPolicy::Refuse);
    INFO((compatible ? "" : compatible.error().message));
    CHECK(compatible);
}

TEST_CASE("Layout description: steps are taken, however many of them there can be",
          "[replayout][layout_description]") {
    Property property = plain_property("steps", PropertyKind::Double);
    property.quantisation = Quantisation::steps(-1e9, 1e9, 2e9 / 4'294'967'295.0);
    check_is_taken(property);
    const auto number = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    const auto problem_with_count = [&](std::uint64_t count) {
        return problem_with_quantised(6, {number(0.0), number(1.0), count});
    };
    CHECK(problem_with_count(999'999'999) == "");
    CHECK(problem_with_count(1'000'000'000) == "");
    CHECK(problem_with_count(2'000'000'001) == "");
    CHECK(problem_with_count(4'294'967'291) == "");
    CHECK(problem_with_count(4'294'967'292) == "has a quantisation that makes no sense");
}

TEST_CASE("Layout description: steps are as many as it says, or it is refused",
          "[replayout][layout_description]") {
    // Between numbers as small as these a step is a whole number of the least one there is, so some
    // counts there are not.
    const auto problem_with_steps = [](std::uint64_t greatest, std::uint64_t count) {
        return problem_with_quantised(6, {0, greatest, count});
    };
    CHECK(problem_with_steps(10, 4) == "");
    CHECK(problem_with_steps(10, 5) == "");
    CHECK(problem_with_steps(10, 7) == "has a quantisation that makes no sense");  // they are 5
    CHECK(problem_with_steps(29, 8) == "");
    CHECK(problem_with_steps(29, 7) == "has a quantisation that makes no sense");  // they are 8
}

TEST_CASE("Layout description: as many leaves are taken as a layout has, and not one more",
          "[replayout][layout_description]") {
    check_is_taken(plain_property("bools", PropertyKind::Bool, 0, 65'534));
    const auto problem_with_count = [](std::size_t leaf_count, bool is_array) {
        ToldLayout told;
        told.leaves.assign(is_array ? 1 : 0, leaf_of(leaf_form::dynamic_array));
        told.leaves.resize(told.leaves.size() + leaf_count, leaf_of(leaf_form::bits8));
        told.leaves.resize(told.leaves.size() + (is_array ? 2 : 1));
        return problem_with(told.bytes());
    };
    CHECK(problem_with_count(65'534, false) == "");
    CHECK(problem_with_count(65'535, false) == "has too many leaves");
    CHECK(problem_with_count(65'532, true) == "");
    CHECK(problem_with_count(65'533, true) == "has too many leaves");
}

TEST_CASE("Layout description: more leaves than a layout has take no more memory than these",
          "[replayout][layout_description]") {
    ToldLayout told;
    told.leaves.assign(200'000, leaf_of(leaf_form::bits8));
    told.leaves.emplace_back();
    const Bytes bytes = told.bytes();
    const TypeRegistry registry;
    const std::uint64_t before = heap_bytes_taken();
    const auto layout =
        RepLayout::create_compatible(registry, nullptr, bytes, LayoutPolicy::SkipUnknown);
    const std::uint64_t taken = heap_bytes_taken() - before;
    REQUIRE_FALSE(layout);
    CHECK(layout.error().message == "description of layout \"T\" has too many leaves");
    CHECK(taken < 65'536 * 512);
}

}  // namespace
}  // namespace replayout::test
