// SPDX-License-Identifier: MIT
//
// Properties of every quantised form, and values of every kind for them.
#pragma once

#include <replayout/quantise.h>
#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr std::uint8_t angle_bits[] = {8, 16};
inline constexpr std::uint8_t quat_bits[] = {6, 10, 15, 20};

[[nodiscard]] inline Property quantised(PropertyKind kind, const Quantisation& quantisation) {
    Property property = plain_property("value", kind);
    property.quantisation = quantisation;
    REQUIRE(quantisation_problem(quantisation, kind, property.size).empty());
    return property;
}

[[nodiscard]] inline Property quantised_enum(std::uint32_t size, const Quantisation& quantisation) {
    Property property = enum_property("value", size);
    property.quantisation = quantisation;
    REQUIRE(quantisation_problem(quantisation, property.kind, size).empty());
    return property;
}

/// Every form, in several widths.
[[nodiscard]] inline std::vector<Property> all_forms() {
    std::vector<Property> properties;
    for (const Quantisation& quantisation : {Quantisation::whole(), Quantisation::tenth(),
                                             Quantisation::hundredth(), Quantisation::normal()}) {
        properties.push_back(quantised(PropertyKind::Vector, quantisation));
    }
    for (const std::uint8_t bits : angle_bits) {
        properties.push_back(quantised(PropertyKind::Rotator, Quantisation::angles(bits)));
    }
    for (const std::uint8_t bits : quat_bits) {
        properties.push_back(quantised(PropertyKind::Quat, Quantisation::smallest_three(bits)));
    }
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
    properties.push_back(quantised(PropertyKind::Int8, Quantisation::range(-128, 127)));
    properties.push_back(quantised(PropertyKind::Int32, Quantisation::range(-7, 1'000'000)));
    properties.push_back(quantised(PropertyKind::UInt16, Quantisation::range(5, 6)));
    properties.push_back(quantised(PropertyKind::Int64, Quantisation::range(least, greatest)));
    properties.push_back(quantised(PropertyKind::UInt64, Quantisation::range(1, greatest)));
    properties.push_back(quantised_enum(4, Quantisation::enumerators(11)));
    properties.push_back(quantised_enum(2, Quantisation::range(-3, 3)));
    properties.push_back(quantised(PropertyKind::Float, Quantisation::steps(-1.0, 1.0, 0.01)));
    properties.push_back(quantised(PropertyKind::Float, Quantisation::steps(0.0, 360.0, 0.001)));
    properties.push_back(quantised(PropertyKind::Double, Quantisation::steps(-1e6, 1e6, 0.001)));
    return properties;
}

template <typename T>
[[nodiscard]] QuantisedValue integers_of(const Property& property, const T& value) {
    REQUIRE(sizeof(T) == property.size);
    return quantise(property, &value);
}

template <typename T>
[[nodiscard]] T value_of(const Property& property, const QuantisedValue& integers) {
    T value{};
    REQUIRE(sizeof(T) == property.size);
    dequantise(property, integers, &value);
    return value;
}

template <typename T>
[[nodiscard]] T there_and_back(const Property& property, const T& value) {
    return value_of<T>(property, integers_of(property, value));
}

/// Half the spacing of floats around a value.
[[nodiscard]] inline double rounding_of(double value) {
    return std::abs(value) * static_cast<double>(std::numeric_limits<float>::epsilon()) / 2;
}

/// The bits of a value, or nothing when the reader refuses them.
[[nodiscard]] inline Bytes bytes_of(const Quantisation& quantisation, const QuantisedValue& value) {
    Bytes memory(24);
    BitWriter writer(memory);
    write_quantised(quantisation, value, writer);
    REQUIRE(writer.bit_count() == quantised_bit_count(quantisation, value));
    writer.finish_byte();
    return to_bytes(writer.bytes());
}

[[nodiscard]] inline bool is_refused(const Quantisation& quantisation, std::uint64_t bits,
                                     std::uint32_t bit_count) {
    Bytes memory(24);
    BitWriter writer(memory);
    writer.write_bits(bits, bit_count);
    BitReader reader(memory);
    (void)read_quantised(quantisation, reader);
    return reader.failed();
}

/// Memory of any pattern, and often of one that means something.
class Patterns {
  public:
    explicit Patterns(std::uint64_t seed) : random_(seed) {}

    void fill(const Property& property, std::byte* memory) {
        const std::uint64_t manner = random_() % 4;
        for (std::uint32_t i = 0; i < property.size; i += 4) {
            std::uint32_t pattern = static_cast<std::uint32_t>(random_());
            if (manner == 1) {
                pattern = std::bit_cast<std::uint32_t>(number(2.0));
            } else if (manner == 2) {
                pattern = std::bit_cast<std::uint32_t>(number(2e6));
            } else if (manner == 3) {
                pattern = pick();
            }
            std::memcpy(memory + i, &pattern, std::min(property.size - i, 4u));
        }
    }

    [[nodiscard]] float number(double extent) {
        return static_cast<float>((static_cast<double>(random_() >> 11) * 0x1p-52 - 1.0) * extent);
    }

  private:
    [[nodiscard]] std::uint32_t pick() {
        const float edges[] = {0.0f,    -0.0f,     1.0f,       -1.0f,       0.5f,
                               -0.5f,   infinity,  -infinity,  nan,         1e-40f,
                               3.4e38f, -3.4e38f,  360.0f,     0.70710678f, 1e9f,
                               1e7f,    1.0001e9f, 8388607.5f, 16777216.0f, 359.9999f};
        return std::bit_cast<std::uint32_t>(edges[random_() % std::size(edges)]);
    }

    std::mt19937_64 random_;
};

}  // namespace replayout::test
