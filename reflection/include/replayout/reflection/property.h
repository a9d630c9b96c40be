// SPDX-License-Identifier: MIT
//
// A property: one member of a type, as the engine sees it. Where it lies, what kind of value it is,
// and what is needed to reach a value that is not plain bytes.
//
//     struct Pawn { std::int32_t health; Vector3 muzzle[2]; std::vector<Hit> hits; };
//
//     name    kind          offset  size  array_dim  struct_type  element
//     health  Int32              0     4          1  -            -
//     muzzle  Vector             4    12          2  -            -
//     hits    DynamicArray      32    24          1  -            Struct, offset 0, size 8, Hit
//
// A C array is its element's property with array_dim > 1; `size` is always the size of one element.
#pragma once

#include <replayout/reflection/array_key.h>
#include <replayout/reflection/lifetime_condition.h>
#include <replayout/reflection/quantisation.h>
#include <replayout/reflection/type_ops.h>
#include <replayout/reflection/value_ops.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace replayout {

class Type;

/// What a property's memory holds. The order is part of the layout fingerprint: append only.
enum class PropertyKind : std::uint8_t {
    Bool,  ///< one byte, 0 or 1
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float,   ///< IEEE binary32
    Double,  ///< IEEE binary64
    Enum,    ///< an integer of 1, 2, 4 or 8 bytes
    String,
    Name,  ///< an interned string; travels as its text
    ObjectReference,
    Vector,  ///< three floats
    Quat,    ///< four floats
    Struct,
    DynamicArray,
    Rotator,   ///< three floats: pitch, yaw, roll in degrees
    BitBool,   ///< one bit of a byte, of a bitfield or a set of flags
    Optional,  ///< a value, or none: in memory a container of one element at most
};

/// Stable lower-case English word for a kind ("int32", "dynamic array").
[[nodiscard]] std::string_view to_string(PropertyKind kind) noexcept;

/// Size in bytes that a kind prescribes, or 0 where it depends on the type behind it.
[[nodiscard]] std::uint32_t fixed_size_of(PropertyKind kind) noexcept;

/// True for the kinds whose memory is compared and copied as plain bytes.
[[nodiscard]] constexpr bool is_plain(PropertyKind kind) noexcept {
    return kind <= PropertyKind::Enum || kind == PropertyKind::Vector ||
           kind == PropertyKind::Quat || kind == PropertyKind::Rotator;
}

/// True for the kinds that have elements and ArrayOps.
[[nodiscard]] constexpr bool is_array(PropertyKind kind) noexcept {
    return kind == PropertyKind::DynamicArray || kind == PropertyKind::Optional;
}

/// When a notify runs, once its property was received.
enum class RepNotify : std::uint8_t {
    OnChanged,  ///< the value differs from what the object held
    Always,     ///< whatever the value; also where a reference is null until its target is there
};

/// A function to be notified. `object` is the value of the type that declares the property: for a
/// property of a base that is the base's part of the object. `previous` points to the value before
/// the update, in the property's own type, and lives until the call returns; for a C array, which
/// is told of once, to the first of array_dim elements, as all of them were. Kind BitBool: to a
/// bool.
struct NotifyFunction {
    void (*call)(void* object, const void* previous, void* context) = nullptr;
    void* context = nullptr;
    RepNotify when = RepNotify::OnChanged;

    explicit operator bool() const noexcept { return call != nullptr; }
};

/// An hour.
inline constexpr std::uint32_t sent_within_us_max = 3'600'000'000;

/// One member of a type. Owned by its Type; immutable once the type is built.
struct Property {
    std::string name;
    PropertyKind kind = PropertyKind::UInt8;
    std::uint32_t offset = 0;     ///< bytes from the start of the type that declares it
    std::uint32_t size = 0;       ///< bytes of one element
    std::uint32_t array_dim = 1;  ///< elements of a C array; 1: no array
    /// False: the member is known, and never sent (Unreal's NotReplicated).
    bool is_replicated = true;
    /// Who is sent it. Only a property of a class has one, other than None.
    LifetimeCondition condition = LifetimeCondition::None;
    /// The game says when it changed (ChangelistState::mark_dirty); while it does not, the property
    /// is not compared. Only a property of a class is; both ends need not agree.
    bool is_push_based = false;
    /// Where something in the property is a struct with Identical: after so many microseconds a
    /// change that Identical tolerates is sent, too. 0: never. Only a property of a class has it,
    /// of at most sent_within_us_max; both ends need not agree.
    std::uint32_t sent_within_us = 0;
    /// Kind BitBool: which bit of the byte at `offset`, one of 1, 2, 4 to 128. Properties may lie
    /// in the same byte where their bits differ.
    std::uint8_t bit_mask = 0;
    /// How it travels, where not as it is. Of an array: its element's.
    Quantisation quantisation;
    /// Kind Struct: the struct. Never null then.
    const Type* struct_type = nullptr;
    /// Kinds DynamicArray and Optional: one element, at offset 0, without a C array or a notify of
    /// its own. Never null then.
    std::shared_ptr<const Property> element;
    /// Of the property's own C++ type. Needed for elements of arrays that are not plain, and for
    /// a property with a notify (to keep the previous value). The registry fills them for plain
    /// kinds (on bytes) and for structs (from the struct type) where they are absent.
    TypeOps ops;
    ArrayOps array;          ///< kinds DynamicArray and Optional
    ArrayKey array_key;      ///< kind DynamicArray, of structs: how elements keep their identity
    StringOps string;        ///< kinds String and Name
    ReferenceOps reference;  ///< kind ObjectReference
    NotifyFunction notify;
};

/// Some value in the property is a struct with a serializer and Identical, which may call values
/// the same that are not.
[[nodiscard]] bool may_tolerate(const Property& property) noexcept;

}  // namespace replayout
