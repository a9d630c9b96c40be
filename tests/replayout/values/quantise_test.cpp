// SPDX-License-Identifier: MIT
//
// Every quantiser over its whole range: all integers where there are few enough, seeded samples and
// the edges where there are not. The bounds are those that <replayout/quantise.h> states.
#include <replayout/quantise.h>
#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/math.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/types/quantised_values.h"

namespace replayout::test {
namespace {

[[nodiscard]] double difference(float left, float right) {
    return std::abs(static_cast<double>(left) - static_cast<double>(right));
}

[[nodiscard]] double rounding_at(float value) {
    return rounding_of(static_cast<double>(value));
}

[[nodiscard]] double number_between(std::mt19937_64& random, double min, double max) {
    return min + static_cast<double>(random() >> 11) * 0x1p-53 * (max - min);
}

/// The largest errors that were seen, each in parts of what is allowed.
class Worst {
  public:
    void add(std::size_t component, double error, double bound) {
        shares_[component] = std::max(shares_[component], error / bound);
        count_ = std::max(count_, component + 1);
    }
    /// None is beyond its bound, and no bound is larger than it must be.
    void check() const {
        for (std::size_t i = 0; i < count_; ++i) {
            INFO("component " << i);
            CHECK(shares_[i] <= 1.0);
            CHECK(shares_[i] > 0.9);
        }
    }

  private:
    std::array<double, 3> shares_{};
    std::size_t count_ = 0;
};

TEST_CASE("Quantisers: any memory gives integers, and these give themselves",
          "[replayout][quantise]") {
    Patterns patterns(1);
    for (const Property& property : all_forms()) {
        INFO(to_string(property.kind) << ", " << to_string(property.quantisation));
        for (int i = 0; i < 20'000; ++i) {
            alignas(8) std::byte memory[16] = {};
            alignas(8) std::byte back[16] = {};
            patterns.fill(property, memory);
            const QuantisedValue integers = quantise(property, memory);
            dequantise(property, integers, back);
            const bool is_same = quantise(property, back) == integers;
            if (!is_same) {
                FAIL("not idempotent: " << to_hex({memory, property.size}));
            }
        }
    }
}

TEST_CASE("Quantisers: what is written is read again, from bits and from a shadow",
          "[replayout][quantise]") {
    Patterns patterns(2);
    for (const Property& property : all_forms()) {
        INFO(to_string(property.kind) << ", " << to_string(property.quantisation));
        const std::uint32_t size = quantised_size(property.quantisation);
        bool is_equal = true;
        for (int i = 0; i < 5'000; ++i) {
            alignas(8) std::byte memory[16] = {};
            patterns.fill(property, memory);
            const QuantisedValue integers = quantise(property, memory);
            const Bytes bytes = bytes_of(property.quantisation, integers);
            BitReader reader(bytes);
            is_equal = is_equal && read_quantised(property.quantisation, reader) == integers;
            is_equal = is_equal && !reader.failed() && reader.bits_left() < 8;
            std::byte shadow[16] = {};
            store_quantised(integers, shadow, size);
            is_equal = is_equal && load_quantised(shadow, size) == integers;
        }
        CHECK(is_equal);
    }
}

TEST_CASE("Quantisers: bits from a stranger are refused, or are the only ones for their value",
          "[replayout][quantise]") {
    std::mt19937_64 random(3);
    for (const Property& property : all_forms()) {
        INFO(to_string(property.kind) << ", " << to_string(property.quantisation));
        bool is_canonical = true;
        for (int i = 0; i < 20'000; ++i) {
            Bytes memory(16);
            for (std::byte& byte : memory) {
                byte = static_cast<std::byte>(random());
            }
            BitReader reader(memory);
            const QuantisedValue integers = read_quantised(property.quantisation, reader);
            if (reader.failed()) {
                continue;
            }
            Bytes again(16);
            BitWriter writer(again);
            write_quantised(property.quantisation, integers, writer);
            BitReader left(memory);
            BitReader right(again);
            is_canonical = is_canonical && writer.bit_count() == reader.position_bits();
            for (std::size_t bit = 0; is_canonical && bit < writer.bit_count(); ++bit) {
                is_canonical = left.read_bool() == right.read_bool();
            }
        }
        CHECK(is_canonical);
    }
}

// The integers of many values, in one number: a compiler or machine that computes otherwise shows.
TEST_CASE("Quantisers: give the same integers with every compiler", "[replayout][quantise]") {
    Patterns patterns(4);
    Fingerprint all;
    for (const Property& property : all_forms()) {
        for (int i = 0; i < 5'000; ++i) {
            alignas(8) std::byte memory[16] = {};
            patterns.fill(property, memory);
            const QuantisedValue integers = quantise(property, memory);
            dequantise(property, integers, memory);
            const Bytes bytes(memory, memory + property.size);
            all.add(integers.words[0]);
            all.add(integers.words[1]);
            all.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        }
    }
    CHECK(to_string(all.digest()) == "7ecdb68b063fdf73bf0a0d8539720208");
}

TEST_CASE("Quantised vector: is within half a step, as far as a float tells",
          "[replayout][quantise]") {
    Patterns patterns(5);
    const struct {
        Quantisation quantisation;
        double steps_per_unit;
    } precisions[] = {{Quantisation::whole(), 1.0},
                      {Quantisation::tenth(), 10.0},
                      {Quantisation::hundredth(), 100.0}};
    for (const auto& [quantisation, steps_per_unit] : precisions) {
        const Property property = quantised(PropertyKind::Vector, quantisation);
        Worst worst;
        for (const double extent : {0.1, 1.0, 300.0, 8e4, 1e6, 1e9 / steps_per_unit}) {
            for (int i = 0; i < 20'000; ++i) {
                // Each component of its own size: the largest gives the others their bits.
                const Vector3 value{patterns.number(extent), patterns.number(extent * 0.5),
                                    patterns.number(extent)};
                const Vector3 back = there_and_back(property, value);
                const double bound = 0.5 / steps_per_unit;
                worst.add(0, difference(back.x, value.x), bound + rounding_at(value.x));
                worst.add(1, difference(back.y, value.y), bound + rounding_at(value.y));
                worst.add(2, difference(back.z, value.z), bound + rounding_at(value.z));
            }
        }
        worst.check();
    }
}

TEST_CASE("Quantised vector: every step up to two million is its own", "[replayout][quantise]") {
    for (const Quantisation& quantisation :
         {Quantisation::whole(), Quantisation::tenth(), Quantisation::hundredth()}) {
        const Property property = quantised(PropertyKind::Vector, quantisation);
        bool is_idempotent = true;
        for (std::uint64_t steps = 0; steps < 2'000'000; ++steps) {
            const auto low = static_cast<std::uint32_t>(steps);
            const auto negative = static_cast<std::uint32_t>(-static_cast<std::int32_t>(low));
            const QuantisedValue value{{low | (std::uint64_t{negative} << 32), low}};
            is_idempotent =
                is_idempotent && integers_of(property, value_of<Vector3>(property, value)) == value;
        }
        CHECK(is_idempotent);
    }
}

TEST_CASE("Quantised vector: what is no number is 0, what is beyond the range is its end",
          "[replayout][quantise]") {
    const Property property = quantised(PropertyKind::Vector, Quantisation::hundredth());
    CHECK(there_and_back(property, Vector3{nan, infinity, -infinity}) ==
          Vector3{0.0f, 1e7f, -1e7f});
    CHECK(there_and_back(property, Vector3{1.1e7f, 1e7f, 9'999'999.0f}) ==
          Vector3{1e7f, 1e7f, 9'999'999.0f});
    const Property whole = quantised(PropertyKind::Vector, Quantisation::whole());
    CHECK(there_and_back(whole, Vector3{0.5f, -0.5f, 0.4999f}) == Vector3{1.0f, 0.0f, 0.0f});
}

TEST_CASE("Quantised vector: takes the bits of its largest component", "[replayout][quantise]") {
    const Property property = quantised(PropertyKind::Vector, Quantisation::whole());
    const auto bit_count = [&](float x, float y, float z) {
        return quantised_bit_count(property.quantisation, integers_of(property, Vector3{x, y, z}));
    };
    CHECK(bit_count(0.0f, 0.0f, 0.0f) == 5);
    CHECK(bit_count(-1.0f, 0.0f, 0.0f) == 5 + 3);
    CHECK(bit_count(1.0f, 0.0f, 0.0f) == 5 + 6);
    CHECK(bit_count(0.0f, -2.0f, 1.0f) == 5 + 6);
    CHECK(bit_count(0.0f, 127.0f, -128.0f) == 5 + 24);
    CHECK(bit_count(1e9f, 0.0f, -1e9f) == 5 + 93);
}

TEST_CASE("Quantised vector: more bits than needed, or a number beyond the range, is malformed",
          "[replayout][quantise]") {
    const Quantisation quantisation = Quantisation::whole();
    CHECK_FALSE(is_refused(quantisation, 0, 5));
    CHECK(is_refused(quantisation, 1, 5 + 3));                   // width 1, all 0
    CHECK_FALSE(is_refused(quantisation, 1 | (1 << 5), 5 + 3));  // width 1, x = -1
    CHECK(is_refused(quantisation, 3 | (1 << 5), 5 + 9));        // width 3, x = 1
    CHECK_FALSE(is_refused(quantisation, 31 | (1'000'000'000ull << 5), 64));
    CHECK(is_refused(quantisation, 31 | (1'000'000'001ull << 5), 64));
}

TEST_CASE("Quantised normal: every step is its own, and the error is 1/65534",
          "[replayout][quantise]") {
    const Property property = quantised(PropertyKind::Vector, Quantisation::normal());
    bool is_idempotent = true;
    for (std::uint64_t field = 0; field <= 65'534; ++field) {
        const QuantisedValue value{{field | ((65'534 - field) << 16) | (field << 32), 0}};
        is_idempotent =
            is_idempotent && integers_of(property, value_of<Vector3>(property, value)) == value;
    }
    CHECK(is_idempotent);
    Patterns patterns(6);
    Worst worst;
    for (int i = 0; i < 100'000; ++i) {
        const Vector3 value{patterns.number(1.0), patterns.number(1.0), patterns.number(1.0)};
        const Vector3 back = there_and_back(property, value);
        const double bound = 1.0 / 65'534 + rounding_at(1.0f);
        worst.add(0, difference(back.x, value.x), bound);
        worst.add(1, difference(back.y, value.y), bound);
        worst.add(2, difference(back.z, value.z), bound);
    }
    worst.check();
    CHECK(there_and_back(property, Vector3{2.0f, -infinity, nan}) == Vector3{1.0f, -1.0f, 0.0f});
    CHECK(is_refused(property.quantisation, 0xFFFF, 48));
    CHECK_FALSE(is_refused(property.quantisation, 0xFFFE, 48));
}

TEST_CASE("Quantised angles: every step is its own, and the error is half a step of the circle",
          "[replayout][quantise]") {
    for (const std::uint8_t bits : angle_bits) {
        const Property property = quantised(PropertyKind::Rotator, Quantisation::angles(bits));
        const std::uint64_t count = std::uint64_t{1} << bits;
        bool is_idempotent = true;
        for (std::uint64_t steps = 0; steps < count; ++steps) {
            const QuantisedValue value{{steps | ((count - 1 - steps) << bits), 0}};
            is_idempotent =
                is_idempotent && integers_of(property, value_of<Rotator>(property, value)) == value;
        }
        CHECK(is_idempotent);
        Patterns patterns(7);
        Worst worst;
        const auto turned = [](float back, float value) {
            return std::abs(
                std::remainder(static_cast<double>(back) - static_cast<double>(value), 360.0));
        };
        for (int i = 0; i < 100'000; ++i) {
            const double extent = i % 2 == 0 ? 180.0 : 1e5;
            const Rotator value{patterns.number(extent), patterns.number(extent),
                                patterns.number(extent)};
            const Rotator back = there_and_back(property, value);
            const double bound = 180.0 / static_cast<double>(count) + rounding_at(360.0f);
            worst.add(0, turned(back.pitch, value.pitch), bound);
            worst.add(1, turned(back.yaw, value.yaw), bound);
            worst.add(2, turned(back.roll, value.roll), bound);
        }
        worst.check();
    }
}

TEST_CASE("Quantised angles: lie from 0 to below 360, and one of 0 takes a bit",
          "[replayout][quantise]") {
    const Property property = quantised(PropertyKind::Rotator, Quantisation::angles(8));
    CHECK(there_and_back(property, Rotator{-90.0f, 359.99f, 720.0f}) ==
          Rotator{270.0f, 0.0f, 0.0f});
    CHECK(there_and_back(property, Rotator{nan, infinity, 45.0f}) == Rotator{0.0f, 0.0f, 45.0f});
    const auto bit_count = [&](const Rotator& value) {
        return quantised_bit_count(property.quantisation, integers_of(property, value));
    };
    CHECK(bit_count({0.0f, 0.0f, 0.0f}) == 3);
    CHECK(bit_count({0.0f, 90.0f, 0.0f}) == 3 + 8);
    CHECK(bit_count({90.0f, 90.0f, 90.0f}) == 3 + 24);
    CHECK(is_refused(property.quantisation, 1, 11));  // pitch is there, and 0
}

TEST_CASE("Ranged integers: are exact, and beyond the range its end", "[replayout][quantise]") {
    const Property property = quantised(PropertyKind::Int16, Quantisation::range(-1'000, 2'000));
    bool is_exact = true;
    for (std::int32_t value = -32'768; value <= 32'767; ++value) {
        const auto narrow = static_cast<std::int16_t>(value);
        is_exact = is_exact && there_and_back(property, narrow) == std::clamp(value, -1'000, 2'000);
    }
    CHECK(is_exact);
    CHECK(quantised_bit_count(property.quantisation, {}) == 12);
    CHECK(quantised_size(property.quantisation) == 2);
    CHECK_FALSE(is_refused(property.quantisation, 3'000, 12));
    CHECK(is_refused(property.quantisation, 3'001, 12));
}

TEST_CASE("Ranged integers: an unsigned one beyond 63 bits is the end of its range",
          "[replayout][quantise]") {
    const Property property = quantised(PropertyKind::UInt64, Quantisation::range(3, 10));
    CHECK(there_and_back(property, ~std::uint64_t{0}) == 10);
    CHECK(there_and_back(property, std::uint64_t{0}) == 3);
    CHECK(there_and_back(property, std::uint64_t{7}) == 7);
}

TEST_CASE("Ranged enums: take the bits that tell their enumerators apart",
          "[replayout][quantise]") {
    const Property property = quantised_enum(1, Quantisation::enumerators(5));
    CHECK(quantised_bit_count(property.quantisation, {}) == 3);
    bool is_exact = true;
    for (std::uint32_t value = 0; value < 256; ++value) {
        const auto byte = static_cast<std::uint8_t>(value);
        is_exact = is_exact && std::uint32_t{there_and_back(property, byte)} == std::min(value, 4u);
    }
    CHECK(is_exact);
    for (std::uint64_t value = 5; value < 8; ++value) {
        CHECK(is_refused(property.quantisation, value, 3));
    }
    for (const std::int8_t value : {std::int8_t{-1}, std::int8_t{0}, std::int8_t{5}}) {
        const Property by_one = quantised_enum(1, Quantisation::range(-1, 5));
        CHECK(quantise(by_one, &value).words[0] == static_cast<std::uint64_t>(value + 1));
    }
    const Property is_signed = quantised_enum(1, Quantisation::range(-2, 2));
    CHECK(there_and_back(is_signed, std::int8_t{-1}) == -1);
    CHECK(there_and_back(is_signed, std::int8_t{-9}) == -2);
    const Property with_none = quantised_enum(1, Quantisation::range(-1, 3));
    CHECK(there_and_back(with_none, std::int8_t{-1}) == -1);
    CHECK(there_and_back(with_none, std::int8_t{-2}) == -1);
}

TEST_CASE("Stepped numbers: every step is its own, ends are exact, the error is half a step",
          "[replayout][quantise]") {
    const struct {
        double min;
        double max;
        double step;
        std::uint32_t count;
    } ranges[] = {{0.0, 1.0, 0.1, 10},           {-1.0, 1.0, 0.01, 200}, {0.0, 1.0, 1.0 / 3, 3},
                  {-180.0, 180.0, 0.01, 36'000}, {1.0, 2.0, 0.3, 4},     {0.0, 80.0, 0.25, 320}};
    for (const auto& range : ranges) {
        const Quantisation quantisation = Quantisation::steps(range.min, range.max, range.step);
        INFO(to_string(quantisation));
        CHECK(step_count(quantisation) == range.count);
        const Property single = quantised(PropertyKind::Float, quantisation);
        const Property twice = quantised(PropertyKind::Double, quantisation);
        bool is_idempotent = true;
        for (std::uint64_t i = 0; i <= range.count; ++i) {
            const QuantisedValue value{{i, 0}};
            is_idempotent = is_idempotent &&
                            integers_of(single, value_of<float>(single, value)) == value &&
                            integers_of(twice, value_of<double>(twice, value)) == value;
        }
        CHECK(is_idempotent);
        CHECK(there_and_back(twice, range.min) == range.min);
        CHECK(there_and_back(twice, range.max) == range.max);
        CHECK(there_and_back(twice, range.max + 1e9) == range.max);
        CHECK(there_and_back(single, nan) == static_cast<float>(range.min));
        CHECK(there_and_back(single, -infinity) == static_cast<float>(range.min));
        std::mt19937_64 random(9);
        const double half_step = (range.max - range.min) / range.count / 2;
        Worst worst;
        for (int i = 0; i < 50'000; ++i) {
            const double value = number_between(random, range.min, range.max);
            const auto near = static_cast<float>(value);
            const double error = std::abs(there_and_back(twice, value) - value);
            worst.add(0, error, half_step * (1.0 + 1e-9));
            worst.add(1, difference(there_and_back(single, near), near),
                      half_step * (1.0 + 1e-9) + rounding_at(near) + rounding_at(0.5f));
        }
        worst.check();
    }
}

TEST_CASE("Stepped numbers: four thousand million steps, and hostile ones",
          "[replayout][quantise]") {
    const Property property =
        quantised(PropertyKind::Double, Quantisation::steps(-1e9, 1e9, 2e9 / 4'294'967'295.0));
    CHECK(quantised_bit_count(property.quantisation, {}) == 32);
    std::mt19937_64 random(10);
    bool is_idempotent = true;
    for (int i = 0; i < 100'000; ++i) {
        const QuantisedValue value{{random() & 0xFFFF'FFFF, 0}};
        is_idempotent =
            is_idempotent && integers_of(property, value_of<double>(property, value)) == value;
    }
    CHECK(is_idempotent);
    Worst worst;
    for (int i = 0; i < 100'000; ++i) {
        const double value = number_between(random, -1e9, 1e9);
        const double half_step = 1e9 / 4'294'967'295.0;
        // Doubles at 1e9 are 1.2e-7 apart, steps 0.47.
        worst.add(0, std::abs(there_and_back(property, value) - value), half_step + 5e-7);
    }
    worst.check();
    CHECK(there_and_back(property, 1e9) == 1e9);
    CHECK(there_and_back(property, -1e9) == -1e9);
    CHECK_FALSE(is_refused(Quantisation::steps(0.0, 1.0, 0.1), 10, 4));
    CHECK(is_refused(Quantisation::steps(0.0, 1.0, 0.1), 11, 4));
}

TEST_CASE("Stepped numbers: of every count that steps can have there is a step",
          "[replayout][quantise]") {
    const auto count_of = [](double min, double max, std::uint64_t count) {
        const double step = step_of_count(min, max, static_cast<std::uint32_t>(count));
        return step_count(Quantisation::steps(min, max, step));
    };
    std::mt19937_64 random(11);
    bool is_same = true;
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t below = random() % 4'294'967'291;
        const std::uint64_t count = 1 + (below >> (random() % 32));
        const double min = number_between(random, -1e6, 1e6);
        is_same = is_same && count_of(min, min + number_between(random, 1.0, 1e6), count) == count;
    }
    CHECK(is_same);
    for (const std::uint64_t count :
         {1ull, 2ull, 999'999'999ull, 1'000'000'000ull, 2'000'000'000ull, 4'294'967'291ull}) {
        CHECK(count_of(0.0, 1.0, count) == count);
    }
    // As many as can be asked for are so few: of the last ones rounding makes none.
    CHECK(step_count(Quantisation::steps(0.0, 1.0, 1.0 / 4'294'967'295.0)) == 4'294'967'291);
    CHECK(count_of(0.0, 1.0, 0) == 0);
    CHECK(count_of(0.0, 1.0, 4'294'967'292) != 4'294'967'292);
}

TEST_CASE("Quantisation: what makes no sense is told", "[replayout][quantise]") {
    using Kind = PropertyKind;
    const auto is_fine = [](const Quantisation& quantisation, Kind kind, std::uint32_t size) {
        return quantisation_problem(quantisation, kind, size).empty();
    };
    CHECK(is_fine(Quantisation(), Kind::String, 32));
    CHECK_FALSE(is_fine(Quantisation::whole(), Kind::Rotator, 12));
    CHECK_FALSE(is_fine(Quantisation::normal(), Kind::Quat, 16));
    CHECK_FALSE(is_fine(Quantisation::angles(), Kind::Vector, 12));
    CHECK_FALSE(is_fine(Quantisation::angles(12), Kind::Rotator, 12));
    CHECK_FALSE(is_fine(Quantisation::smallest_three(5), Kind::Quat, 16));
    CHECK_FALSE(is_fine(Quantisation::smallest_three(21), Kind::Quat, 16));
    CHECK_FALSE(is_fine(Quantisation::range(0, 10), Kind::Float, 4));
    CHECK_FALSE(is_fine(Quantisation::range(0, 0), Kind::Int32, 4));
    CHECK_FALSE(is_fine(Quantisation::range(-1, 10), Kind::UInt8, 1));
    CHECK_FALSE(is_fine(Quantisation::range(0, 256), Kind::UInt8, 1));
    CHECK(is_fine(Quantisation::range(0, 255), Kind::UInt8, 1));
    CHECK_FALSE(is_fine(Quantisation::range(-129, 0), Kind::Int8, 1));
    CHECK(is_fine(Quantisation::range(-128, 127), Kind::Int8, 1));
    CHECK_FALSE(is_fine(Quantisation::enumerators(1), Kind::Enum, 1));
    CHECK_FALSE(is_fine(Quantisation::enumerators(257), Kind::Enum, 1));
    CHECK_FALSE(is_fine(Quantisation::steps(0.0, 1.0, 0.1), Kind::Int32, 4));
    CHECK_FALSE(is_fine(Quantisation::steps(1.0, 1.0, 0.1), Kind::Float, 4));
    CHECK_FALSE(is_fine(Quantisation::steps(0.0, 1.0, 0.0), Kind::Float, 4));
    CHECK_FALSE(is_fine(Quantisation::steps(0.0, std::nan(""), 0.1), Kind::Float, 4));
    CHECK_FALSE(is_fine(Quantisation::steps(0.0, 0.1, 0.01), Kind::Float, 4));  // 0.1 is no float
    CHECK(is_fine(Quantisation::steps(0.0, 0.1, 0.01), Kind::Double, 8));
    CHECK_FALSE(is_fine(Quantisation::steps(0.0, 1e6, 0.01), Kind::Float, 4));  // finer than it is
    CHECK(is_fine(Quantisation::steps(0.0, 1e6, 0.01), Kind::Double, 8));
    CHECK_FALSE(is_fine(Quantisation::steps(0.0, 1.0, 1e-10), Kind::Double, 8));
}

}  // namespace
}  // namespace replayout::test
