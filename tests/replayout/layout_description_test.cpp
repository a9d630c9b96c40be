// SPDX-License-Identifier: MIT
//
// Descriptions of layouts as a peer may write them: what is malformed, bound by bound.
#include <replayout/layout_description.h>
#include <replayout/reflection/quantisation.h>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include "support/catch.h"
#include "support/contains.h"
#include "support/forged_description.h"
#include "support/test_layout.h"

namespace replayout::test {
namespace {

using namespace leaf_form;
using namespace quantisation_form;

struct Lamp {
    std::uint8_t power = 0;
};
[[nodiscard]] Result<const Type*> build_lamp(TypeRegistry& registry) {
    return class_builder<Lamp>(registry, "Lamp").property<&Lamp::power>().build();
}

/// Reads descriptions of a class that is not known here.
class Stranger {
  public:
    /// What is wrong with it; empty: nothing.
    [[nodiscard]] std::string problem(const Bytes& description) const {
        const auto layout = RepLayout::create_compatible(local_->registry(), nullptr, description,
                                                         LayoutPolicy::SkipUnknown);
        if (layout) {
            return {};
        }
        CHECK(layout.error().code == ErrorCode::MalformedDescription);
        return layout.error().message;
    }
    [[nodiscard]] bool takes(const ForgedDescription& description) const {
        return problem(description.bytes()).empty();
    }

  private:
    TestLayout local_{build_lamp};
};

TEST_CASE("Layout descriptions: any version but ours is refused, and no name is read of it",
          "[replayout][layout_description]") {
    const Stranger stranger;
    ForgedDescription told("T");
    told.leaf(bits8, 1, "a").end();
    for (std::uint32_t version = 0; version < 256; ++version) {
        Bytes bytes = told.bytes();
        bytes[0] = static_cast<std::byte>(version);
        const bool is_ours = version == layout_description_version;
        CHECK(stranger.problem(bytes).empty() == is_ours);
        CHECK(described_name(bytes) == (is_ours ? "T" : ""));
    }
}

TEST_CASE("Layout descriptions: a text that is longer than what is left, or is none, is malformed",
          "[replayout][layout_description]") {
    const Stranger stranger;
    const auto takes = [&](std::uint64_t byte_count, std::string_view name) {
        ForgedDescription told("T");
        told.number(bits8, 8).number(1, 32);
        told.packed(byte_count);
        for (const char character : name) {
            told.number(static_cast<unsigned char>(character), 8);
        }
        // Without its name the leaf would be a whole one, and the list would end here.
        told.end();
        return stranger.takes(told);
    };
    CHECK(takes(0, ""));
    CHECK(takes(2, "ab"));
    CHECK_FALSE(takes(1, ""));  // the end of the list is taken for it
    CHECK_FALSE(takes(2, ""));
    CHECK_FALSE(takes(1'000, ""));
    CHECK_FALSE(takes(~std::uint64_t{0}, ""));
    CHECK(takes(2, "\xC3\xA9"));
    CHECK_FALSE(takes(1, "\xC3"));
    CHECK_FALSE(takes(1, "\xFF"));
}

TEST_CASE("Layout descriptions: bytes behind the end, or too few of them, are malformed",
          "[replayout][layout_description]") {
    const Stranger stranger;
    ForgedDescription told("T");
    told.leaf(bits8, 1, "a").end();
    const Bytes bytes = told.bytes();
    CHECK(stranger.problem(bytes).empty());
    for (std::size_t count = 0; count < bytes.size(); ++count) {
        CHECK_FALSE(stranger.problem(Bytes(bytes.begin(), bytes.begin() + count)).empty());
    }
    told.number(0, 8);
    CHECK(contains(stranger.problem(told.bytes()), "is malformed"));
}

TEST_CASE("Layout descriptions: a form of a leaf beyond the last is refused",
          "[replayout][layout_description]") {
    const Stranger stranger;
    const auto problem = [&](std::uint8_t form) {
        ForgedDescription told("T");
        told.leaf(form, 1, "a").end();
        return stranger.problem(told.bytes());
    };
    CHECK(problem(bits8).empty());
    CHECK(contains(problem(net_delta_serializer), "malformed"));  // it has no struct's name
    CHECK(contains(problem(net_delta_serializer + 1), "has a leaf of a form that is not known"));
    CHECK(contains(problem(255), "has a leaf of a form that is not known"));
}

TEST_CASE("Layout descriptions: more leaves than a layout has commands for are refused",
          "[replayout][layout_description]") {
    const Stranger stranger;
    const auto problem = [&](std::uint32_t leaf_count) {
        ForgedDescription told("T");
        for (std::uint32_t i = 0; i < leaf_count; ++i) {
            told.leaf(bits8, i, "");
        }
        return stranger.problem(told.end().bytes());
    };
    constexpr std::uint32_t cmd_count_max = 65'534;  // the end is one, too
    CHECK(problem(cmd_count_max - 1).empty());
    CHECK(contains(problem(cmd_count_max), "has too many leaves"));
    CHECK(contains(problem(cmd_count_max + 1), "has too many leaves"));
}

TEST_CASE("Layout descriptions: deltas are of the object itself, and not of an element",
          "[replayout][layout_description]") {
    const Stranger stranger;
    for (std::uint32_t depth = 0; depth <= 2; ++depth) {
        ForgedDescription told("T");
        for (std::uint32_t i = 0; i < depth; ++i) {
            told.leaf(dynamic_array, i, "a");
        }
        told.leaf(net_delta_serializer, 9, "d").write_text("Struct");
        for (std::uint32_t i = 0; i <= depth; ++i) {
            told.end();
        }
        CHECK(stranger.takes(told) == (depth == 0));
    }
}

TEST_CASE("Layout descriptions: keys are of 1, 2, 4 or 8 bytes, in one of two orders, on top",
          "[replayout][layout_description]") {
    const Stranger stranger;
    const auto takes = [&](std::uint32_t size, std::uint32_t order, std::uint32_t depth) {
        ForgedDescription told("T");
        for (std::uint32_t i = 0; i < depth; ++i) {
            told.leaf(dynamic_array, i, "a");
        }
        told.leaf(keyed_array, 8, "k").number(size, 8).number(order, 8).leaf(bits8, 9, "v");
        for (std::uint32_t i = 0; i < depth + 2; ++i) {
            told.end();
        }
        return stranger.takes(told);
    };
    for (std::uint32_t size = 0; size < 256; ++size) {
        CHECK(takes(size, 0, 0) == (size == 1 || size == 2 || size == 4 || size == 8));
    }
    for (std::uint32_t order = 0; order < 256; ++order) {
        CHECK(takes(4, order, 0) == (order <= 1));
    }
    CHECK_FALSE(takes(4, 0, 1));
    CHECK_FALSE(takes(4, 0, 2));
}

TEST_CASE("Layout descriptions: an array has as many leaves in all as bounds allow, and some",
          "[replayout][layout_description]") {
    const Stranger stranger;
    const auto takes = [&](std::uint8_t form, std::uint32_t count_max, std::uint32_t leaf_count) {
        ForgedDescription told("T", {64, count_max});
        told.leaf(form, 1, "a");
        if (form == keyed_array) {
            told.number(4, 8).number(0, 8);
        }
        for (std::uint32_t i = 0; i < leaf_count; ++i) {
            told.leaf(bits8, i, "");
        }
        told.end().end();
        return stranger.takes(told);
    };
    constexpr std::uint32_t handles_max = 1'048'576;
    for (const std::uint8_t form : {dynamic_array, keyed_array}) {
        CHECK_FALSE(takes(form, 4, 0));
        CHECK(takes(form, handles_max, 1));
        CHECK_FALSE(takes(form, handles_max + 1, 1));
        CHECK(takes(form, handles_max / 4, 4));
        CHECK_FALSE(takes(form, handles_max / 4 + 1, 4));
        CHECK_FALSE(takes(form, handles_max / 4, 5));
    }
    CHECK_FALSE(takes(optional, 4, 0));
    CHECK(takes(optional, std::numeric_limits<std::uint32_t>::max(), 5));
}

TEST_CASE("Layout descriptions: quantisations are of known forms, with numbers that make sense",
          "[replayout][layout_description]") {
    const Stranger stranger;
    const auto takes = [&](std::uint8_t form, std::initializer_list<std::uint64_t> numbers) {
        ForgedDescription told("T");
        told.leaf(quantised, 1, "q").quantisation(form, numbers).end();
        return stranger.takes(told);
    };
    constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32;
    for (const std::uint8_t form : {0, real_steps + 1, 255}) {
        ForgedDescription told("T");
        told.leaf(quantised, 1, "q").quantisation(form, {}).end();
        CHECK(contains(stranger.problem(told.bytes()), "quantisation that is not known here"));
    }
    CHECK(takes(normal_vector, {}));
    for (const std::uint64_t steps : {1u, 10u, 100u}) {
        CHECK(takes(vector_steps, {steps}));
        CHECK_FALSE(takes(vector_steps, {steps + 1}));
        CHECK_FALSE(takes(vector_steps, {steps + two_to_32}));
    }
    for (const std::uint64_t bits : {8u, 16u}) {
        CHECK(takes(angles, {bits}));
        CHECK_FALSE(takes(angles, {bits - 1}));
        CHECK_FALSE(takes(angles, {bits + 1}));
        CHECK_FALSE(takes(angles, {bits + 256}));
    }
    for (std::uint64_t bits = 0; bits < 300; ++bits) {
        CHECK(takes(smallest_three, {bits}) == (bits >= 6 && bits <= 20));
    }
    const auto range = [&](std::int64_t min, std::int64_t max) {
        return takes(integer_range,
                     {static_cast<std::uint64_t>(min), static_cast<std::uint64_t>(max)});
    };
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
    CHECK(range(-5, -4));
    CHECK_FALSE(range(-5, -6));
    CHECK(range(least, 0));
    CHECK_FALSE(range(greatest, least));
    const auto steps = [&](double min, double max, std::uint64_t count) {
        return takes(real_steps,
                     {std::bit_cast<std::uint64_t>(min), std::bit_cast<std::uint64_t>(max), count});
    };
    CHECK(steps(-1.0, 1.0, 1));
    CHECK(steps(-1.0, 1.0, 900'000'000));
    CHECK_FALSE(steps(-1.0, 1.0, 0));
    CHECK_FALSE(steps(-1.0, 1.0, two_to_32));
    CHECK_FALSE(steps(-1.0, 1.0, two_to_32 + 1));
    CHECK_FALSE(steps(1.0, 1.0, 10));
    CHECK_FALSE(steps(1.0, -1.0, 10));
    CHECK_FALSE(steps(0.0, std::numeric_limits<double>::infinity(), 10));
    CHECK_FALSE(steps(std::numeric_limits<double>::quiet_NaN(), 1.0, 10));
    // So small that not each count of steps can be.
    constexpr double ten = 10 * std::numeric_limits<double>::denorm_min();
    CHECK(steps(0.0, ten, 5));
    CHECK_FALSE(steps(0.0, ten, 4));
    CHECK_FALSE(steps(0.0, ten, 6));
    CHECK_FALSE(steps(0.0, ten, 100));
}

TEST_CASE("Layout descriptions: of what is wrong the first is told, with a name that is cut",
          "[replayout][layout_description]") {
    const Stranger stranger;
    const auto problem = [&](std::size_t name_size) {
        ForgedDescription told(std::string(name_size, 'n'));
        told.leaf(quantised, 1, "q").quantisation(0, {});
        told.leaf(255, 1, "a").end().number(0, 8);
        return stranger.problem(told.bytes());
    };
    const std::string end = "\" has a quantisation that is not known here";
    CHECK(problem(64) == "description of layout \"" + std::string(64, 'n') + end);
    CHECK(problem(65) == problem(64));
}

TEST_CASE("Layout descriptions: arrays nest as deep as types do, and no deeper",
          "[replayout][layout_description]") {
    const Stranger stranger;
    const auto problem = [&](std::uint32_t depth, std::uint32_t end_count) {
        ForgedDescription told("T", {64, 4});
        for (std::uint32_t i = 0; i < depth; ++i) {
            told.leaf(dynamic_array, i, "a");
        }
        told.leaf(bits8, 9, "v");
        for (std::uint32_t i = 0; i < end_count; ++i) {
            told.end();
        }
        return stranger.problem(told.bytes());
    };
    CHECK(problem(nesting_depth_max, nesting_depth_max + 1).empty());
    CHECK(contains(problem(nesting_depth_max + 1, nesting_depth_max + 2), "nests arrays too deep"));
    // One end less: as if the innermost had no element.
    CHECK(contains(problem(nesting_depth_max + 1, nesting_depth_max + 1), "nests arrays too deep"));
}

}  // namespace
}  // namespace replayout::test
