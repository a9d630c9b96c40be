// SPDX-License-Identifier: MIT
//
// A recorded match in neutral form: what a server did, tick by tick, and nothing about how it is
// sent. Both a trace file and the built-in battle end up as one of these, so that whoever plays it
// back cannot tell them apart.
//
//               tick 0        tick 1   tick 2 (empty)   tick 3
//     ops       S S s s s s | s s D  |                | S s D
//     tick_ends             6        9                9       12
//
// An entry of tick_ends is the index of the op after the last of the tick.
//
// Ops are 16 bytes each in one vector, their values in one byte arena as the file encodes them,
// save that a string is stored without its length (the op knows it). A match of 300,000 ops is then
// three allocations that matter and 10 MB, and a tick is a span.
//
// Rules that every Recording keeps, whoever made it; the trace reader refuses what breaks one:
//  * object ids are 1, 2, 3, ... in the order of the spawns and never used again;
//  * a set and a destroy name a live object, a field index is one of the object's class;
//  * the order of ops in a tick matters; a field may be set more than once, the last one wins; an
//    object may live for less than a tick;
//  * an ObjectRef is 0 or at most object_count; it may name an object not yet or no longer live;
//  * tick times are finite and never go back; float values are finite, quaternions of unit length,
//    bools 0 or 1, strings UTF-8 of at most 65,535 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::match {

/// What a field holds. The numbers are those of the trace format.
enum class FieldType : std::uint8_t {
    Bool = 0,       ///< one byte, 0 or 1
    U8 = 1,         ///< one byte
    U16 = 2,        ///< two bytes
    U32 = 3,        ///< four bytes
    I32 = 4,        ///< four bytes
    F32 = 5,        ///< four bytes
    Vec3f = 6,      ///< x, y, z as F32
    Quatf = 7,      ///< x, y, z, w as F32, of unit length
    String = 8,     ///< UTF-8
    ObjectRef = 9,  ///< U32: the id of an object, 0 names none
};

inline constexpr std::uint8_t field_type_count = 10;

/// What those who follow a recording note as the class of an object that is gone. No index of a
/// class has so many bits.
inline constexpr std::uint32_t no_class = 0xFFFF'FFFF;

/// Bytes of a value of the type; 0 for String, whose values differ in size.
[[nodiscard]] std::size_t fixed_size(FieldType type) noexcept;

/// The name that the trace format gives the type ("vec3f").
[[nodiscard]] std::string_view to_string(FieldType type) noexcept;

struct FieldInfo {
    std::string name;
    FieldType type = FieldType::Bool;

    friend bool operator==(const FieldInfo&, const FieldInfo&) = default;
};

/// Names are as recorded: not necessarily distinct, possibly empty, long or beyond ASCII.
struct ClassInfo {
    std::string name;
    std::vector<FieldInfo> fields;

    friend bool operator==(const ClassInfo&, const ClassInfo&) = default;
};

enum class OpKind : std::uint8_t { Spawn = 1, Set = 2, Destroy = 3 };

/// One change of the world. Which members mean something depends on the kind.
struct Op {
    std::uint32_t object = 0;
    std::uint32_t value_offset = 0;  ///< Set: where the value starts in Recording::values
    std::uint32_t value_size = 0;    ///< Set: its bytes
    /// Spawn: class index. Set: field index in the object's class.
    std::uint16_t class_or_field = 0;
    OpKind kind = OpKind::Spawn;

    friend bool operator==(const Op&, const Op&) = default;
};

// Four ops to a cache line; a match is walked front to back.
static_assert(sizeof(Op) == 16);

struct Recording {
    std::string name;
    std::string source;
    float tick_rate_hz = 0.0F;  ///< nominal, above 0; the real intervals are in tick_times_s
    std::vector<ClassInfo> classes;
    std::uint32_t object_count = 0;  ///< objects ever spawned, and the highest id
    std::uint32_t destroy_count = 0;
    std::uint64_t set_count = 0;

    std::vector<double> tick_times_s;
    std::vector<std::uint32_t> tick_ends;  ///< per tick, the op index after its last op
    std::vector<Op> ops;
    std::vector<std::byte> values;

    [[nodiscard]] std::size_t tick_count() const noexcept { return tick_ends.size(); }

    /// The ops of a tick in their order; `tick` is below tick_count(). Valid until ops are
    /// appended.
    [[nodiscard]] std::span<const Op> ops_of_tick(std::size_t tick) const noexcept;

    /// The bytes of a Set's value as the file encodes them, a string without its length. The op
    /// must be of this recording. Read numbers with load_le.
    [[nodiscard]] std::span<const std::byte> value(const Op& op) const noexcept;

    /// The same bytes as text, for a String.
    [[nodiscard]] std::string_view text(const Op& op) const noexcept;

    // For those who make recordings: ops go to the tick begun last. Sizes are not checked here
    // beyond an assertion: ops and value bytes together stay below 2^32 (the reader's limit, the
    // battle's size).
    void begin_tick(double time_s);
    void append_spawn(std::uint32_t object, std::uint16_t class_index);
    void append_set(std::uint32_t object, std::uint16_t field,
                    std::span<const std::byte> value_bytes);
    void append_destroy(std::uint32_t object);

    friend bool operator==(const Recording&, const Recording&) = default;

  private:
    void append(const Op& op);
};

/// Why the bytes cannot be a value of the type, as the end of a sentence, or empty if they can.
/// `object_count` is the highest id that an ObjectRef may name.
[[nodiscard]] std::string_view value_fault(FieldType type, std::span<const std::byte> bytes,
                                           std::uint32_t object_count) noexcept;

/// Whether the bytes are UTF-8 in its strict form: shortest encodings, no surrogates, up to
/// U+10FFFF.
[[nodiscard]] bool is_utf8(std::span<const std::byte> bytes) noexcept;

}  // namespace replayout::match
