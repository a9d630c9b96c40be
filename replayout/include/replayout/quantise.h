// SPDX-License-Identifier: MIT
//
// Quantisers: a value to the integers that travel, and back. An object is compared by these
// integers, the shadow keeps them, and they are what is written; so a change that does not reach
// the next step sends nothing. Which quantiser a property has,
// <replayout/reflection/quantisation.h> says; their bits are in docs/wire_format.md, section 5.
//
// Promises, for every quantiser:
//
//     total        each bit pattern of memory gives integers; what is beyond the range becomes the
//                  nearest that is in it, and a NaN becomes what each says below
//     idempotent   quantise(dequantise(quantise(v))) == quantise(v) for every v, so a value that is
//                  received and sent on stays what it is
//     determined   equal on every machine with IEEE 754 arithmetic: only +, -, *, /, sqrt, floor
//                  and fmod of doubles are used, each of which is exact or correctly rounded, and
//                  no two are contracted into one (replayout/CMakeLists.txt sees to that)
//
// How far dequantise(quantise(v)) is from a v within the range, at most, "rounding" being that of
// the value to its float or double:
//
//     VectorSteps     half a step a component, and rounding
//     NormalVector    1/65534 a component, and rounding; the result is not made unit again
//     Angles          180/2^bits degrees on the circle, and rounding
//     SmallestThree   7 / 2^bits radians between the two rotations
//     IntegerRange    nothing
//     RealSteps       half a step, and rounding
//
// Rounding is to the nearest integer, halves up: floor(x + 0.5).
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/reflection/property.h>

#include <array>
#include <cstdint>

namespace replayout {

/// The integers of one value. What stands in which bits is the form's own; equal values have equal
/// words.
struct QuantisedValue {
    std::array<std::uint64_t, 2> words{};

    friend constexpr bool operator==(const QuantisedValue&,
                                     const QuantisedValue&) noexcept = default;
};

/// Bytes that the integers take in a shadow: 1, 2, 4, 8 or 16.
[[nodiscard]] std::uint32_t quantised_size(const Quantisation& quantisation) noexcept;

/// Reads `property.size` bytes at `memory`, whose quantisation must not be None. By form:
///
///     VectorSteps     NaN: 0. Infinite: the end of the range
///     NormalVector    NaN: 0. A component beyond 1 is 1
///     Angles          NaN, infinite: 0. Others modulo 360
///     SmallestThree   normalised first. Components that are not numbers, or all 0: the identity.
///                     Method: leave out the component of the largest magnitude and make it
///                     positive; the other three lie within ±1/sqrt(2). (G. Fiedler, "Snapshot
///                     Compression", 2015.) Where two are as large, rounding can make the receiver
///                     take the other for the largest; quantise() follows these exchanges until
///                     they repeat and takes the least of those that repeat, which makes it
///                     idempotent
///     IntegerRange    an enum is zero-extended, or sign-extended when the range begins below 0
///     RealSteps       NaN: the least value
[[nodiscard]] QuantisedValue quantise(const Property& property, const void* memory) noexcept;

/// Writes `property.size` bytes at `memory`. `value` must come from quantise() or read_quantised().
void dequantise(const Property& property, const QuantisedValue& value, void* memory) noexcept;

/// Bits that write_quantised writes.
[[nodiscard]] std::uint32_t quantised_bit_count(const Quantisation& quantisation,
                                                const QuantisedValue& value) noexcept;
void write_quantised(const Quantisation& quantisation, const QuantisedValue& value,
                     BitWriter& writer) noexcept;

/// The reader fails on what no quantise() gives: an integer beyond its range, a vector in more bits
/// than it needs, an angle of 0 that is written out, components longer than a unit quaternion.
[[nodiscard]] QuantisedValue read_quantised(const Quantisation& quantisation,
                                            BitReader& reader) noexcept;

/// The integers in and out of a shadow, quantised_size() bytes.
[[nodiscard]] QuantisedValue load_quantised(const std::byte* shadow, std::uint32_t size) noexcept;
void store_quantised(const QuantisedValue& value, std::byte* shadow, std::uint32_t size) noexcept;

}  // namespace replayout
