// SPDX-License-Identifier: MIT
//
// Quantisation: how a property travels in fewer bits than its memory has. It is part of the
// property's description and of the layout's fingerprint; both ends must say the same.
//
//     class_builder<Pawn>(registry, "Pawn")
//         .property<&Pawn::position>().quantised(Quantisation::hundredth())
//         .property<&Pawn::facing>().quantised(Quantisation::angles(8))
//         .property<&Pawn::turn>().quantised(Quantisation::smallest_three())
//         .property<&Pawn::health>().quantised(Quantisation::range(0, 100))
//         .property<&Pawn::throttle>().quantised(Quantisation::steps(-1.0, 1.0, 0.01))
//
// What a value becomes, and how far off it is then, stands in <replayout/quantise.h>; the bits
// stand in docs/wire_format.md, section 5. A change that does not reach the next step is no change.
#pragma once

#include <cstdint>
#include <string>

namespace replayout {

enum class PropertyKind : std::uint8_t;

/// What a quantised value is made of. The number is part of the layout fingerprint: append only.
enum class QuantisationForm : std::uint8_t {
    None,           ///< as it is in memory
    VectorSteps,    ///< kind Vector: components in whole, 1/10 or 1/100 units
    NormalVector,   ///< kind Vector: components from -1 to 1, 16 bits each
    Angles,         ///< kind Rotator: 8 or 16 bits an angle
    SmallestThree,  ///< kind Quat: a rotation, its largest component left out
    IntegerRange,   ///< integers and enums: from a least to a greatest value
    RealSteps,      ///< kinds Float and Double: from a least to a greatest value, in even steps
};

/// A form and its numbers. Made by the functions below; the registry checks that it fits the kind
/// and that its numbers make sense.
struct Quantisation {
    QuantisationForm form = QuantisationForm::None;
    /// Form Angles: of an angle, 8 or 16. Form SmallestThree: of a component, 6 to 20.
    std::uint8_t bits = 0;
    /// Form VectorSteps: 1, 10 or 100.
    std::uint32_t steps_per_unit = 0;
    /// Form IntegerRange: the least and the greatest value.
    std::int64_t integer_min = 0;
    std::int64_t integer_max = 0;
    /// Form RealSteps: the least and the greatest value, and how far a step goes at most.
    double real_min = 0.0;
    double real_max = 0.0;
    double real_step = 0.0;

    /// A vector in whole units, to ±1,000,000,000 (Unreal's NetQuantize).
    [[nodiscard]] static Quantisation whole() noexcept { return vector_steps(1); }
    /// ... in tenths, to ±100,000,000 (NetQuantize10).
    [[nodiscard]] static Quantisation tenth() noexcept { return vector_steps(10); }
    /// ... in hundredths, to ±10,000,000 (NetQuantize100).
    [[nodiscard]] static Quantisation hundredth() noexcept { return vector_steps(100); }
    /// A vector whose components lie from -1 to 1 (NetQuantizeNormal); 48 bits.
    [[nodiscard]] static Quantisation normal() noexcept;
    /// A rotator: each angle in `bits`, 8 or 16, and in one bit where it is 0.
    [[nodiscard]] static Quantisation angles(std::uint8_t bits = 16) noexcept;
    /// A unit quaternion in 2 + 3 * `bits`; `bits` 6 to 20. The rotation counts, not its sign: q
    /// and -q are the same.
    [[nodiscard]] static Quantisation smallest_three(std::uint8_t bits = 15) noexcept;
    /// An integer from `min` to `max`, in as few bits as tell that many values apart.
    [[nodiscard]] static Quantisation range(std::int64_t min, std::int64_t max) noexcept;
    /// An enum whose enumerators are 0 to `count` - 1.
    [[nodiscard]] static Quantisation enumerators(std::uint32_t count) noexcept;
    /// A float or double from `min` to `max`, both of which are exact; evenly spaced between them,
    /// at most `step` apart.
    [[nodiscard]] static Quantisation steps(double min, double max, double step) noexcept;

    explicit operator bool() const noexcept { return form != QuantisationForm::None; }

  private:
    [[nodiscard]] static Quantisation vector_steps(std::uint32_t steps_per_unit) noexcept;
};

/// Form RealSteps: how many steps lie between least and greatest value; 0 when the numbers make no
/// sense or ask for more than 4,294,967,295. A quotient that is a whole number but for rounding
/// (relative 1e-9) is that number.
[[nodiscard]] std::uint32_t step_count(const Quantisation& quantisation) noexcept;

/// A step of which there are `count` from `min` to `max`, if steps can be that many: where
/// step_count() of it is another number, no step has this one.
[[nodiscard]] double step_of_count(double min, double max, std::uint32_t count) noexcept;

/// Why this quantisation does not fit a value of that kind and size in bytes; empty when it does.
[[nodiscard]] std::string quantisation_problem(const Quantisation& quantisation, PropertyKind kind,
                                               std::uint32_t size);

/// For people: "hundredths", "16 bit angles", "0 to 100", "-1 to 1 in 200 steps"; empty for None.
[[nodiscard]] std::string to_string(const Quantisation& quantisation);

}  // namespace replayout
