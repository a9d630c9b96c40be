// SPDX-License-Identifier: MIT
//
// The only source with arithmetic of floating point. Not to be compiled with -ffast-math, nor with
// contraction of a product and a sum into one operation: both change results.
#include <replayout/quantise.h>

#include "native_value.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

namespace replayout {

namespace {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);
static_assert(FLT_EVAL_METHOD == 0, "doubles must be computed as doubles");

constexpr double vector_limit =
    1'000'000'000.0;  // in steps; a float at the limit of each precision
constexpr std::uint32_t vector_width_bits = 5;
constexpr std::int32_t normal_limit = 32'767;
constexpr std::uint32_t normal_bits = 16;
constexpr double square_root_of_2 = 1.4142135623730951;

/// `value` must be within 64 bits.
[[nodiscard]] std::int64_t round_to_integer(double value) noexcept {
    return static_cast<std::int64_t>(std::floor(value + 0.5));
}

/// A NaN becomes 0.
[[nodiscard]] double clamp_or_zero(double value, double limit) noexcept {
    if (value > limit) {
        return limit;
    }
    if (value < -limit) {
        return -limit;
    }
    return value == value ? value : 0.0;
}

[[nodiscard]] float load_float(const void* memory, std::size_t index) noexcept {
    return load_native<float>(static_cast<const std::byte*>(memory) + index * sizeof(float));
}

void store_float(void* memory, std::size_t index, double value) noexcept {
    store_native(static_cast<std::byte*>(memory) + index * sizeof(float),
                 static_cast<float>(value));
}

// Vectors: three signed integers of 32 bits, two in the first word.

using Triple = std::array<std::int32_t, 3>;

[[nodiscard]] QuantisedValue pack_triple(const Triple& triple) noexcept {
    const std::uint64_t first = static_cast<std::uint32_t>(triple[0]);
    const std::uint64_t second = static_cast<std::uint32_t>(triple[1]);
    return {{first | (second << 32), static_cast<std::uint32_t>(triple[2])}};
}

[[nodiscard]] Triple unpack_triple(const QuantisedValue& value) noexcept {
    const auto integer = [](std::uint64_t word) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
    };
    return {integer(value.words[0]), integer(value.words[0] >> 32), integer(value.words[1])};
}

[[nodiscard]] QuantisedValue quantise_vector(const Quantisation& quantisation,
                                             const void* memory) noexcept {
    const auto steps_per_unit = static_cast<double>(quantisation.steps_per_unit);
    Triple triple{};
    for (std::size_t i = 0; i < 3; ++i) {
        const double steps = static_cast<double>(load_float(memory, i)) * steps_per_unit;
        triple[i] = static_cast<std::int32_t>(round_to_integer(clamp_or_zero(steps, vector_limit)));
    }
    return pack_triple(triple);
}

/// The least number of bits that hold all three in two's complement; 0 when all are 0.
[[nodiscard]] std::uint32_t vector_width(const Triple& triple) noexcept {
    if (triple == Triple{}) {
        return 0;
    }
    std::uint32_t magnitudes = 0;
    for (const std::int32_t component : triple) {
        // Of a negative number all but the sign, inverted: -1 has no bits but its sign.
        magnitudes |= static_cast<std::uint32_t>(component < 0 ? ~component : component);
    }
    return static_cast<std::uint32_t>(std::bit_width(magnitudes)) + 1;
}

void write_vector(const Triple& triple, BitWriter& writer) noexcept {
    const std::uint32_t width = vector_width(triple);
    writer.write_bits(width, vector_width_bits);
    for (const std::int32_t component : triple) {
        writer.write_bits(static_cast<std::uint32_t>(component), width);
    }
}

[[nodiscard]] QuantisedValue read_vector(BitReader& reader) noexcept {
    const auto width = static_cast<std::uint32_t>(reader.read_bits(vector_width_bits));
    if (width == 0) {
        return {};
    }
    Triple triple{};
    bool is_in_range = true;
    for (std::int32_t& component : triple) {
        // The sign bit up to the top, and down again with copies of it.
        const auto bits = static_cast<std::uint32_t>(reader.read_bits(width));
        component = static_cast<std::int32_t>(bits << (32 - width)) >> (32 - width);
        is_in_range = is_in_range && std::abs(static_cast<double>(component)) <= vector_limit;
    }
    if (!is_in_range || vector_width(triple) != width) {
        reader.fail();
        return {};
    }
    return pack_triple(triple);
}

// Normal vectors: three fields of 16 bits, each the integer plus 32,767.

[[nodiscard]] QuantisedValue quantise_normal(const void* memory) noexcept {
    QuantisedValue value;
    for (std::size_t i = 0; i < 3; ++i) {
        const double component = clamp_or_zero(static_cast<double>(load_float(memory, i)), 1.0);
        const auto steps =
            static_cast<std::uint64_t>(round_to_integer(component * normal_limit) + normal_limit);
        value.words[0] |= steps << (i * normal_bits);
    }
    return value;
}

void dequantise_normal(const QuantisedValue& value, void* memory) noexcept {
    for (std::size_t i = 0; i < 3; ++i) {
        const auto field = static_cast<std::uint16_t>(value.words[0] >> (i * normal_bits));
        store_float(memory, i, static_cast<double>(field - normal_limit) / normal_limit);
    }
}

[[nodiscard]] bool is_normal(const QuantisedValue& value) noexcept {
    for (std::size_t i = 0; i < 3; ++i) {
        if (((value.words[0] >> (i * normal_bits)) & 0xFFFF) == 2 * normal_limit + 1) {
            return false;
        }
    }
    return true;
}

// Angles: three fields of 8 or 16 bits, a full turn divided by their number.

[[nodiscard]] QuantisedValue quantise_angles(std::uint32_t bits, const void* memory) noexcept {
    const auto turn = static_cast<double>(std::uint32_t{1} << bits);
    QuantisedValue value;
    for (std::size_t i = 0; i < 3; ++i) {
        const double degrees = std::fmod(static_cast<double>(load_float(memory, i)), 360.0);
        if (degrees == degrees) {
            const auto steps = static_cast<std::uint64_t>(round_to_integer(degrees * turn / 360.0));
            value.words[0] |= (steps & detail::low_mask(bits)) << (i * bits);
        }
    }
    return value;
}

void dequantise_angles(std::uint32_t bits, const QuantisedValue& value, void* memory) noexcept {
    const auto turn = static_cast<double>(std::uint32_t{1} << bits);
    for (std::size_t i = 0; i < 3; ++i) {
        const std::uint64_t steps = (value.words[0] >> (i * bits)) & detail::low_mask(bits);
        store_float(memory, i, static_cast<double>(steps) * 360.0 / turn);
    }
}

[[nodiscard]] std::uint32_t angles_bit_count(std::uint32_t bits,
                                             const QuantisedValue& value) noexcept {
    std::uint32_t count = 3;
    for (std::size_t i = 0; i < 3; ++i) {
        count += ((value.words[0] >> (i * bits)) & detail::low_mask(bits)) != 0 ? bits : 0;
    }
    return count;
}

void write_angles(std::uint32_t bits, const QuantisedValue& value, BitWriter& writer) noexcept {
    for (std::size_t i = 0; i < 3; ++i) {
        const std::uint64_t steps = (value.words[0] >> (i * bits)) & detail::low_mask(bits);
        writer.write_bool(steps != 0);
        writer.write_bits(steps, steps != 0 ? bits : 0);
    }
}

[[nodiscard]] QuantisedValue read_angles(std::uint32_t bits, BitReader& reader) noexcept {
    QuantisedValue value;
    for (std::size_t i = 0; i < 3; ++i) {
        if (!reader.read_bool()) {
            continue;
        }
        const std::uint64_t steps = reader.read_bits(bits);
        if (steps == 0) {
            reader.fail();
            return {};
        }
        value.words[0] |= steps << (i * bits);
    }
    return value;
}

// Quaternions: the number of the component left out in two bits, then the other three, each as the
// integer plus the limit.

using Components = std::array<double, 4>;

[[nodiscard]] std::int64_t quat_limit(std::uint32_t bits) noexcept {
    return (std::int64_t{1} << (bits - 1)) - 1;
}

/// The three integers of a value, in order, that of the component left out skipped.
[[nodiscard]] std::array<std::int64_t, 3> quat_integers(std::uint32_t bits,
                                                        const QuantisedValue& value) noexcept {
    std::array<std::int64_t, 3> integers{};
    for (std::uint32_t i = 0; i < 3; ++i) {
        const std::uint64_t field = (value.words[0] >> (2 + i * bits)) & detail::low_mask(bits);
        integers[i] = static_cast<std::int64_t>(field) - quat_limit(bits);
    }
    return integers;
}

[[nodiscard]] Components load_quat(const void* memory) noexcept {
    Components components{};
    double square = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
        components[i] = static_cast<double>(load_float(memory, i));
        square = square + components[i] * components[i];
    }
    // Squares of floats neither overflow nor vanish in a double.
    if (!(square > 0.0) || !std::isfinite(square)) {
        return {0.0, 0.0, 0.0, 1.0};
    }
    const double length = std::sqrt(square);
    for (double& component : components) {
        component = component / length;
    }
    return components;
}

/// One step: no exchange is followed.
[[nodiscard]] QuantisedValue quantise_components(std::uint32_t bits,
                                                 const Components& components) noexcept {
    std::size_t largest = 0;
    for (std::size_t i = 1; i < 4; ++i) {
        largest = std::abs(components[i]) > std::abs(components[largest]) ? i : largest;
    }
    const double sign = components[largest] < 0.0 ? -1.0 : 1.0;
    const std::int64_t limit = quat_limit(bits);
    const double scale = square_root_of_2 * static_cast<double>(limit);
    QuantisedValue value{{largest, 0}};
    std::uint32_t shift = 2;
    for (std::size_t i = 0; i < 4; ++i) {
        if (i != largest) {
            const std::int64_t steps = round_to_integer(components[i] * sign * scale);
            const auto field = static_cast<std::uint64_t>(std::clamp(steps, -limit, limit) + limit);
            value.words[0] |= field << shift;
            shift += bits;
        }
    }
    return value;
}

void dequantise_quat(std::uint32_t bits, const QuantisedValue& value, void* memory) noexcept {
    const double scale = square_root_of_2 * static_cast<double>(quat_limit(bits));
    const std::size_t largest = value.words[0] & 3;
    std::size_t index = 0;
    double square = 0.0;
    for (const std::int64_t steps : quat_integers(bits, value)) {
        index += index == largest ? 1 : 0;
        const double component = static_cast<double>(steps) / scale;
        square = square + component * component;
        store_float(memory, index, component);
        ++index;
    }
    store_float(memory, largest, std::sqrt(std::max(0.0, 1.0 - square)));
}

[[nodiscard]] QuantisedValue requantise_quat(std::uint32_t bits,
                                             const QuantisedValue& value) noexcept {
    std::byte memory[4 * sizeof(float)];
    dequantise_quat(bits, value, memory);
    return quantise_components(bits, load_quat(memory));
}

// Follows the exchanges until one is met again (Brent's method of finding a cycle), and takes the
// least of the cycle. Nearly always the first step stays where it is; the longest way that the
// tests meet is a handful of steps.
[[nodiscard]] QuantisedValue quantise_quat(std::uint32_t bits, const void* memory) noexcept {
    QuantisedValue anchor = quantise_components(bits, load_quat(memory));
    QuantisedValue value = requantise_quat(bits, anchor);
    if (value == anchor) {
        return value;
    }
    for (std::uint32_t count = 1, power = 1; value != anchor; ++count) {
        if (count == power) {
            anchor = value;
            power *= 2;
            count = 0;
        }
        value = requantise_quat(bits, value);
    }
    QuantisedValue least = anchor;
    for (value = requantise_quat(bits, anchor); value != anchor;
         value = requantise_quat(bits, value)) {
        least = value.words[0] < least.words[0] ? value : least;
    }
    return least;
}

/// In integers, so that both ends agree: no component left out could make it a unit quaternion.
[[nodiscard]] bool is_quat(std::uint32_t bits, const QuantisedValue& value) noexcept {
    const std::int64_t limit = quat_limit(bits);
    std::int64_t square = 0;
    for (const std::int64_t steps : quat_integers(bits, value)) {
        if (steps > limit) {
            return false;
        }
        square += steps * steps;
    }
    return square <= 2 * limit * limit;
}

// Ranges: one field, counted from the least value.

[[nodiscard]] std::uint64_t range_extent(const Quantisation& quantisation) noexcept {
    return static_cast<std::uint64_t>(quantisation.integer_max) -
           static_cast<std::uint64_t>(quantisation.integer_min);
}

[[nodiscard]] bool is_sign_extended(const Property& property) noexcept {
    return (property.kind >= PropertyKind::Int8 && property.kind <= PropertyKind::Int64) ||
           (property.kind == PropertyKind::Enum && property.quantisation.integer_min < 0);
}

[[nodiscard]] QuantisedValue quantise_range(const Property& property, const void* memory) noexcept {
    const std::uint64_t pattern = load_integer(memory, property.size);
    const std::int64_t min = property.quantisation.integer_min;
    const std::int64_t max = property.quantisation.integer_max;
    std::int64_t value = 0;
    if (is_sign_extended(property)) {
        const std::uint32_t spare = 64 - property.size * 8;
        value = static_cast<std::int64_t>(pattern << spare) >> spare;
    } else {
        // A range ends within 63 bits, whatever the value does.
        value = static_cast<std::int64_t>(std::min(pattern, static_cast<std::uint64_t>(max)));
    }
    const std::int64_t clamped = std::clamp(value, min, max);
    return {{static_cast<std::uint64_t>(clamped) - static_cast<std::uint64_t>(min), 0}};
}

// Steps: one field, counted from the least value.

[[nodiscard]] QuantisedValue quantise_steps(const Property& property, const void* memory) noexcept {
    const Quantisation& quantisation = property.quantisation;
    double value = 0.0;
    if (property.kind == PropertyKind::Float) {
        value = static_cast<double>(load_float(memory, 0));
    } else {
        value = load_native<double>(memory);
    }
    const std::uint32_t count = step_count(quantisation);
    if (!(value > quantisation.real_min)) {
        return {};  // a NaN too
    }
    if (value >= quantisation.real_max) {
        return {{count, 0}};
    }
    const double share =
        (value - quantisation.real_min) / (quantisation.real_max - quantisation.real_min);
    return {{static_cast<std::uint64_t>(round_to_integer(share * count)), 0}};
}

void dequantise_steps(const Property& property, const QuantisedValue& value,
                      void* memory) noexcept {
    const Quantisation& quantisation = property.quantisation;
    const std::uint32_t count = step_count(quantisation);
    const double extent = quantisation.real_max - quantisation.real_min;
    // In this order, for the product of two large numbers could be infinite.
    const double above = extent * (static_cast<double>(value.words[0]) / count);
    const double real =
        value.words[0] >= count ? quantisation.real_max : quantisation.real_min + above;
    if (property.kind == PropertyKind::Float) {
        store_float(memory, 0, real);
    } else {
        store_native(memory, real);
    }
}

/// The greatest value of a form that is one field.
[[nodiscard]] std::uint64_t field_max(const Quantisation& quantisation) noexcept {
    return quantisation.form == QuantisationForm::IntegerRange ? range_extent(quantisation)
                                                               : step_count(quantisation);
}

[[nodiscard]] std::uint32_t fixed_bit_count(const Quantisation& quantisation) noexcept {
    switch (quantisation.form) {
        case QuantisationForm::NormalVector:
            return 3 * normal_bits;
        case QuantisationForm::SmallestThree:
            return 2 + 3 * std::uint32_t{quantisation.bits};
        default:
            return static_cast<std::uint32_t>(std::bit_width(field_max(quantisation)));
    }
}

}  // namespace

std::uint32_t quantised_size(const Quantisation& quantisation) noexcept {
    switch (quantisation.form) {
        case QuantisationForm::VectorSteps:
            return 16;
        case QuantisationForm::Angles:
            return quantisation.bits == 8 ? 4 : 8;
        default: {
            const std::uint32_t bytes = (fixed_bit_count(quantisation) + 7) / 8;
            return std::bit_ceil(bytes);
        }
    }
}

QuantisedValue quantise(const Property& property, const void* memory) noexcept {
    const Quantisation& quantisation = property.quantisation;
    switch (quantisation.form) {
        case QuantisationForm::VectorSteps:
            return quantise_vector(quantisation, memory);
        case QuantisationForm::NormalVector:
            return quantise_normal(memory);
        case QuantisationForm::Angles:
            return quantise_angles(quantisation.bits, memory);
        case QuantisationForm::SmallestThree:
            return quantise_quat(quantisation.bits, memory);
        case QuantisationForm::IntegerRange:
            return quantise_range(property, memory);
        case QuantisationForm::RealSteps:
            return quantise_steps(property, memory);
        case QuantisationForm::None:
            break;
    }
    REPLAYOUT_ASSERT(false);
    return {};
}

void dequantise(const Property& property, const QuantisedValue& value, void* memory) noexcept {
    const Quantisation& quantisation = property.quantisation;
    switch (quantisation.form) {
        case QuantisationForm::VectorSteps: {
            const Triple triple = unpack_triple(value);
            for (std::size_t i = 0; i < 3; ++i) {
                store_float(memory, i,
                            static_cast<double>(triple[i]) / quantisation.steps_per_unit);
            }
            return;
        }
        case QuantisationForm::NormalVector:
            return dequantise_normal(value, memory);
        case QuantisationForm::Angles:
            return dequantise_angles(quantisation.bits, value, memory);
        case QuantisationForm::SmallestThree:
            return dequantise_quat(quantisation.bits, value, memory);
        case QuantisationForm::IntegerRange:
            return store_integer(
                memory, value.words[0] + static_cast<std::uint64_t>(quantisation.integer_min),
                property.size);
        case QuantisationForm::RealSteps:
            return dequantise_steps(property, value, memory);
        case QuantisationForm::None:
            REPLAYOUT_ASSERT(false);
    }
}

std::uint32_t quantised_bit_count(const Quantisation& quantisation,
                                  const QuantisedValue& value) noexcept {
    switch (quantisation.form) {
        case QuantisationForm::VectorSteps:
            return vector_width_bits + 3 * vector_width(unpack_triple(value));
        case QuantisationForm::Angles:
            return angles_bit_count(quantisation.bits, value);
        default:
            return fixed_bit_count(quantisation);
    }
}

void write_quantised(const Quantisation& quantisation, const QuantisedValue& value,
                     BitWriter& writer) noexcept {
    switch (quantisation.form) {
        case QuantisationForm::VectorSteps:
            return write_vector(unpack_triple(value), writer);
        case QuantisationForm::Angles:
            return write_angles(quantisation.bits, value, writer);
        default:
            return writer.write_bits(value.words[0], fixed_bit_count(quantisation));
    }
}

QuantisedValue read_quantised(const Quantisation& quantisation, BitReader& reader) noexcept {
    if (quantisation.form == QuantisationForm::VectorSteps) {
        return read_vector(reader);
    }
    if (quantisation.form == QuantisationForm::Angles) {
        return read_angles(quantisation.bits, reader);
    }
    const QuantisedValue value{{reader.read_bits(fixed_bit_count(quantisation)), 0}};
    bool is_possible = true;
    switch (quantisation.form) {
        case QuantisationForm::NormalVector:
            is_possible = is_normal(value);
            break;
        case QuantisationForm::SmallestThree:
            is_possible = is_quat(quantisation.bits, value);
            break;
        default:
            is_possible = value.words[0] <= field_max(quantisation);
            break;
    }
    if (!is_possible) {
        reader.fail();
        return {};
    }
    return value;
}

QuantisedValue load_quantised(const std::byte* shadow, std::uint32_t size) noexcept {
    if (size <= 8) {
        return {{load_integer(shadow, size), 0}};
    }
    return {{load_integer(shadow, 8), load_integer(shadow + 8, 8)}};
}

void store_quantised(const QuantisedValue& value, std::byte* shadow, std::uint32_t size) noexcept {
    store_integer(shadow, value.words[0], std::min(size, 8u));
    if (size > 8) {
        store_integer(shadow + 8, value.words[1], 8);
    }
}

}  // namespace replayout
