// SPDX-License-Identifier: MIT
#include <replayout/reflection/property.h>
#include <replayout/reflection/quantisation.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace replayout {

namespace {

/// A step that goes so nearly into its extent is taken to do so: this share of the quotient is no
/// step of its own.
constexpr double step_rounding = 1e-9;

[[nodiscard]] bool is_signed_integer(PropertyKind kind) noexcept {
    return kind >= PropertyKind::Int8 && kind <= PropertyKind::Int64;
}

[[nodiscard]] bool is_unsigned_integer(PropertyKind kind) noexcept {
    return kind >= PropertyKind::UInt8 && kind <= PropertyKind::UInt64;
}

[[nodiscard]] std::string check_kind(bool fits, PropertyKind kind, const char* form) {
    return fits ? std::string()
                : std::string("is a ") + std::string(to_string(kind)) +
                      ", which cannot be quantised as " + form;
}

[[nodiscard]] std::string check_range(const Quantisation& quantisation, PropertyKind kind,
                                      std::uint32_t size) {
    // An enum is of either sign; it takes the one that its range asks for.
    const bool is_enum = kind == PropertyKind::Enum;
    const bool is_signed = is_signed_integer(kind) || (is_enum && quantisation.integer_min < 0);
    if (!is_signed && !is_unsigned_integer(kind) && !is_enum) {
        return check_kind(false, kind, "a range of integers");
    }
    if (quantisation.integer_min >= quantisation.integer_max) {
        return "has a range without two values";
    }
    if (!is_signed && quantisation.integer_min < 0) {
        return "has a range that begins below 0, and is unsigned";
    }
    const std::uint32_t value_bits = size * 8 - (is_signed ? 1 : 0);
    if (value_bits < 63) {
        const std::int64_t greatest = (std::int64_t{1} << value_bits) - 1;
        if (quantisation.integer_max > greatest ||
            (is_signed && quantisation.integer_min < -greatest - 1)) {
            return "has a range beyond what its type holds";
        }
    }
    return {};
}

// Steps must stay apart in the type that holds them, or a value would change by being sent twice.
[[nodiscard]] std::string check_steps(const Quantisation& quantisation, PropertyKind kind) {
    const bool is_float = kind == PropertyKind::Float;
    if (!is_float && kind != PropertyKind::Double) {
        return check_kind(false, kind, "steps of a number");
    }
    const std::uint32_t count = step_count(quantisation);
    if (count == 0) {
        return "has steps that make no sense: least below greatest value and a step above 0 are "
               "needed, and at most 4294967295 steps";
    }
    const double min = quantisation.real_min;
    const double max = quantisation.real_max;
    const double greatest = std::max(std::abs(min), std::abs(max));
    if (is_float && (greatest > static_cast<double>(std::numeric_limits<float>::max()) ||
                     static_cast<double>(static_cast<float>(min)) != min ||
                     static_cast<double>(static_cast<float>(max)) != max)) {
        return "has a least or greatest value that no float is";
    }
    const double resolution =
        greatest * (is_float ? static_cast<double>(std::numeric_limits<float>::epsilon())
                             : std::numeric_limits<double>::epsilon());
    if ((max - min) / count < 4 * resolution) {
        return "has steps that are finer than its type is";
    }
    return {};
}

[[nodiscard]] std::string real_text(double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
        text.pop_back();
    }
    return text;
}

}  // namespace

Quantisation Quantisation::vector_steps(std::uint32_t steps_per_unit) noexcept {
    return {.form = QuantisationForm::VectorSteps, .steps_per_unit = steps_per_unit};
}

Quantisation Quantisation::normal() noexcept {
    return {.form = QuantisationForm::NormalVector};
}

Quantisation Quantisation::angles(std::uint8_t bits) noexcept {
    return {.form = QuantisationForm::Angles, .bits = bits};
}

Quantisation Quantisation::smallest_three(std::uint8_t bits) noexcept {
    return {.form = QuantisationForm::SmallestThree, .bits = bits};
}

Quantisation Quantisation::range(std::int64_t min, std::int64_t max) noexcept {
    return {.form = QuantisationForm::IntegerRange, .integer_min = min, .integer_max = max};
}

Quantisation Quantisation::enumerators(std::uint32_t count) noexcept {
    return range(0, std::int64_t{count} - 1);
}

Quantisation Quantisation::steps(double min, double max, double step) noexcept {
    return {
        .form = QuantisationForm::RealSteps, .real_min = min, .real_max = max, .real_step = step};
}

std::uint32_t step_count(const Quantisation& quantisation) noexcept {
    const double extent = quantisation.real_max - quantisation.real_min;
    const double quotient = extent / quantisation.real_step;
    // Written so that numbers which are none fail each comparison.
    const bool makes_sense = std::isfinite(extent) && extent > 0.0 &&
                             quantisation.real_step > 0.0 && quotient <= 4'294'967'295.0;
    if (!makes_sense) {
        return 0;
    }
    return static_cast<std::uint32_t>(
        std::max(1.0, std::ceil(quotient - quotient * step_rounding)));
}

double step_of_count(double min, double max, std::uint32_t count) noexcept {
    // In the middle of those with this count. The extent divided by the count itself is not one of
    // them from a thousand million on, where the share that is no step of its own is one or more.
    const double quotient = (static_cast<double>(count) - 0.5) / (1.0 - step_rounding);
    return (max - min) / quotient;
}

std::string quantisation_problem(const Quantisation& quantisation, PropertyKind kind,
                                 std::uint32_t size) {
    switch (quantisation.form) {
        case QuantisationForm::None:
            return {};
        case QuantisationForm::VectorSteps:
            if (quantisation.steps_per_unit != 1 && quantisation.steps_per_unit != 10 &&
                quantisation.steps_per_unit != 100) {
                return "has a vector in neither whole, 1/10 nor 1/100 units";
            }
            return check_kind(kind == PropertyKind::Vector, kind, "steps of a vector");
        case QuantisationForm::NormalVector:
            return check_kind(kind == PropertyKind::Vector, kind, "a normal vector");
        case QuantisationForm::Angles:
            if (quantisation.bits != 8 && quantisation.bits != 16) {
                return "has angles of neither 8 nor 16 bits";
            }
            return check_kind(kind == PropertyKind::Rotator, kind, "angles");
        case QuantisationForm::SmallestThree:
            if (quantisation.bits < 6 || quantisation.bits > 20) {
                return "has a quaternion of less than 6 or more than 20 bits a component";
            }
            return check_kind(kind == PropertyKind::Quat, kind, "a quaternion");
        case QuantisationForm::IntegerRange:
            return check_range(quantisation, kind, size);
        case QuantisationForm::RealSteps:
            return check_steps(quantisation, kind);
    }
    return "has an unknown quantisation";
}

std::string to_string(const Quantisation& quantisation) {
    switch (quantisation.form) {
        case QuantisationForm::None:
            return {};
        case QuantisationForm::VectorSteps:
            return quantisation.steps_per_unit == 1    ? "whole units"
                   : quantisation.steps_per_unit == 10 ? "tenths"
                                                       : "hundredths";
        case QuantisationForm::NormalVector:
            return "normal vector";
        case QuantisationForm::Angles:
            return std::to_string(quantisation.bits) + " bit angles";
        case QuantisationForm::SmallestThree:
            return "smallest three of " + std::to_string(quantisation.bits) + " bits";
        case QuantisationForm::IntegerRange:
            return std::to_string(quantisation.integer_min) + " to " +
                   std::to_string(quantisation.integer_max);
        case QuantisationForm::RealSteps:
            return real_text(quantisation.real_min) + " to " + real_text(quantisation.real_max) +
                   " in " + std::to_string(step_count(quantisation)) + " steps";
    }
    return "unknown";
}

}  // namespace replayout
