// SPDX-License-Identifier: MIT
//
// Rotations as their smallest three components: how far they turn, and that they are one of a kind.
#include <replayout/quantise.h>
#include <replayout/reflection/math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/types/quantised_values.h"

namespace replayout::test {
namespace {

[[nodiscard]] double product(const Quat& left, const Quat& right) {
    return static_cast<double>(left.x) * static_cast<double>(right.x) +
           static_cast<double>(left.y) * static_cast<double>(right.y) +
           static_cast<double>(left.z) * static_cast<double>(right.z) +
           static_cast<double>(left.w) * static_cast<double>(right.w);
}

/// The angle between two rotations, radians; `right` is of unit length.
[[nodiscard]] double angle_between(const Quat& left, const Quat& right) {
    // By the chord, which keeps its precision where the angle is small.
    const double scale = product(left, right) < 0.0 ? -std::sqrt(product(left, left))
                                                    : std::sqrt(product(left, left));
    const auto square = [scale](float a, float b) {
        const double difference = static_cast<double>(a) / scale - static_cast<double>(b);
        return difference * difference;
    };
    const double chord_square = square(left.x, right.x) + square(left.y, right.y) +
                                square(left.z, right.z) + square(left.w, right.w);
    return 4.0 * std::asin(std::sqrt(chord_square) / 2.0);
}

/// Rotations of all kinds: any, about an axis, and with components of the same size.
[[nodiscard]] Quat random_quat(Patterns& patterns, int i) {
    Quat value{patterns.number(1.0), patterns.number(1.0), patterns.number(1.0),
               patterns.number(1.0)};
    if (i % 4 == 1) {
        value.x = value.y = 0.0f;
    } else if (i % 4 == 2) {
        const float side = value.x;
        value = {side, side + value.y * 1e-3f, side + value.z * 1e-3f, side + value.w * 1e-3f};
    } else if (i % 4 == 3) {
        value.y = -value.x;
        value.w = value.z;
    }
    return value;
}

TEST_CASE("Quantised quaternion: turns by at most the angle that is stated",
          "[replayout][quantise]") {
    Patterns patterns(8);
    for (std::uint8_t bits = 6; bits <= 20; ++bits) {
        const Property property = quantised(PropertyKind::Quat, Quantisation::smallest_three(bits));
        double worst = 0.0;
        double worst_length = 0.0;
        for (int i = 0; i < 40'000; ++i) {
            const Quat value = random_quat(patterns, i);
            const Quat back = there_and_back(property, value);
            worst = std::max(worst, angle_between(value, back) * (1u << bits));
            const double length = std::sqrt(product(back, back));
            worst_length = std::max(worst_length, std::abs(length - 1.0));
        }
        INFO("bits " << int{bits} << ", worst " << worst);
        CHECK(worst <= 7.0);
        CHECK(worst > 4.0);
        CHECK(worst_length < 1e-6);
    }
}

TEST_CASE("Quantised quaternion: all integers of six bits lead to some that stay",
          "[replayout][quantise]") {
    const Property property = quantised(PropertyKind::Quat, Quantisation::smallest_three(6));
    bool is_idempotent = true;
    std::uint32_t refused_count = 0;
    for (std::uint64_t bits = 0; bits < (1u << 20); ++bits) {
        Bytes memory(8);
        std::memcpy(memory.data(), &bits, 4);
        BitReader reader(memory);
        const QuantisedValue received = read_quantised(property.quantisation, reader);
        refused_count += reader.failed() ? 1u : 0u;
        if (!reader.failed()) {
            const QuantisedValue settled =
                integers_of(property, value_of<Quat>(property, received));
            is_idempotent = is_idempotent &&
                            integers_of(property, value_of<Quat>(property, settled)) == settled;
        }
    }
    CHECK(is_idempotent);
    CHECK(refused_count > 0);
    CHECK(refused_count < (1u << 19));
}

TEST_CASE("Quantised quaternion: integers that no rotation has are refused",
          "[replayout][quantise]") {
    for (const std::uint8_t bits : quat_bits) {
        const Quantisation quantisation = Quantisation::smallest_three(bits);
        const std::int64_t limit = (std::int64_t{1} << (bits - 1)) - 1;
        const auto are_refused = [&](std::int64_t first, std::int64_t second, std::int64_t third) {
            std::uint64_t fields = 0;  // and the first component is the one left out
            for (const std::int64_t steps : {third, second, first}) {
                fields = fields << bits | static_cast<std::uint64_t>(steps + limit);
            }
            return is_refused(quantisation, fields << 2, 2 + 3u * bits);
        };
        CAPTURE(int{bits});
        CHECK_FALSE(are_refused(0, 0, 0));
        CHECK_FALSE(are_refused(limit, 0, 0));
        CHECK_FALSE(are_refused(0, -limit, 0));
        CHECK(are_refused(limit + 1, 0, 0));
        CHECK(are_refused(0, limit + 1, 0));
        CHECK(are_refused(0, 0, limit + 1));
        // Two at the limit leave nothing for the others.
        CHECK_FALSE(are_refused(limit, -limit, 0));
        CHECK_FALSE(are_refused(0, limit, limit));
        CHECK(are_refused(limit, -limit, 1));
        CHECK(are_refused(-1, limit, limit));
        CHECK(are_refused(-limit, -limit, -limit));
    }
}

TEST_CASE("Quantised quaternion: q and -q are one rotation, and none is the identity",
          "[replayout][quantise]") {
    const Property property = quantised(PropertyKind::Quat, Quantisation::smallest_three());
    const Quat value{0.1f, -0.2f, 0.3f, -0.9f};
    const Quat negative{-0.1f, 0.2f, -0.3f, 0.9f};
    CHECK(integers_of(property, value) == integers_of(property, negative));
    const QuantisedValue identity = integers_of(property, Quat{});
    CHECK(value_of<Quat>(property, identity) == Quat{});
    CHECK(integers_of(property, Quat{0.0f, 0.0f, 0.0f, 0.0f}) == identity);
    CHECK(integers_of(property, Quat{nan, 0.0f, 0.0f, 1.0f}) == identity);
    CHECK(integers_of(property, Quat{infinity, 0.0f, 0.0f, 1.0f}) == identity);
    CHECK(integers_of(property, Quat{0.0f, 0.0f, 0.0f, -1e30f}) == identity);
}

TEST_CASE("Quantised quaternion: integers that no unit quaternion has are refused",
          "[replayout][quantise]") {
    for (std::uint32_t bits = 6; bits <= 20; ++bits) {
        Property property;
        property.kind = PropertyKind::Quat;
        property.size = 16;
        property.quantisation = Quantisation::smallest_three(static_cast<std::uint8_t>(bits));
        const std::int64_t limit = (std::int64_t{1} << (bits - 1)) - 1;
        const auto takes = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
            std::array<std::byte, 16> memory{};
            BitWriter writer(memory);
            writer.write_bits(1, 2);
            for (const std::int64_t steps : {a, b, c}) {
                writer.write_bits(static_cast<std::uint64_t>(steps + limit), bits);
            }
            BitReader reader(writer.bytes());
            (void)read_quantised(property.quantisation, reader);
            return !reader.failed();
        };
        INFO(bits << " bits");
        CHECK(takes(limit, 0, 0));
        CHECK(takes(0, -limit, 0));
        CHECK_FALSE(takes(limit + 1, 0, 0));
        CHECK_FALSE(takes(0, limit + 1, 0));
        CHECK_FALSE(takes(0, 0, limit + 1));
        // The one left out is the largest, so the others are half of it at most, squared.
        CHECK(takes(limit, limit, 0));
        CHECK(takes(0, -limit, limit));
        CHECK_FALSE(takes(limit, limit, 1));
        CHECK_FALSE(takes(-1, limit, limit));
    }
}

}  // namespace
}  // namespace replayout::test
