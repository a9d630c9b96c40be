// SPDX-License-Identifier: MIT
//
// The value of an object as a plain tree, read and written through the type descriptors alone. The
// oracle's own notion of state: it knows neither layouts nor shadows, so it cannot share their
// mistakes.
//
//     struct Hit { int part; Name by; };
//     struct Pawn { float health; Vector3 at; std::vector<Hit> hits; };
//
//     Record( Bits, Atom(Bits Bits Bits), List( Record(Bits, Text), Record(Bits, Text) ) )
//
// A tree holds what is replicated: a base before its child, members in order, a C array as that
// many members. Of a quantised value the state has the integers, for they are what is replicated;
// read_value() has the value as it is, which is what an editor changes. Floats are bit patterns,
// names are text, and references are ids of the reader's choice.
#pragma once

#include <replayout/reflection/type.h>
#include <replayout/reflection/value_ops.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace replayout::test {

struct Value;

/// An integer, enum, bool or float.
struct Bits {
    std::uint64_t pattern = 0;
};
using Text = std::string;
struct Reference {
    /// It is null, and may name an object that is not there: nobody can tell.
    static constexpr std::uint64_t unknown_id = ~std::uint64_t{0};

    std::uint64_t id = 0;  ///< 0: null
};
/// An object, or a struct whose members travel one by one.
struct Record {
    std::vector<Value> parts;
};
/// What travels as a whole: a vector, a quaternion, a struct with a NetSerializer or a
/// NetDeltaSerializer, a map or set (collection_types.h).
struct Atom {
    std::vector<Value> parts;
};
/// A dynamic array, or an optional value. An element of a keyed array is a Record whose first part
/// is its key; the state has them by ascending key where their order is free.
struct List {
    std::vector<Value> parts;
};

/// What a value can be. Said one by one, as any other type would be taken for a value, too,
/// wherever two are compared.
template <typename Content>
concept ValueContent = std::same_as<Content, Bits> || std::same_as<Content, Text> ||
    std::same_as<Content, Reference> || std::same_as<Content, Record> ||
    std::same_as<Content, Atom> || std::same_as<Content, List>;

struct Value {
    Value() = default;
    template <ValueContent Content>
    Value(Content value) : content(std::move(value)) {}

    std::variant<Bits, Text, Reference, Record, Atom, List> content;
};

[[nodiscard]] bool operator==(const Value& left, const Value& right);
[[nodiscard]] std::uint64_t hash_of(const Value& value);
/// At most this many bytes does the value take on the wire, sets of handles included.
[[nodiscard]] std::size_t encoded_bytes_max(const Value& value);

/// The way down to a leaf as the wire counts it: the handle in the object, then in each array. In a
/// keyed array, where a receiver counts as it likes, it is no handle: is_in_keyed_array().
using HandlePath = std::vector<std::uint32_t>;
[[nodiscard]] bool is_in_keyed_array(const HandlePath& path) noexcept;
/// Turns what a reference holds into an id.
using NameReference = std::function<Reference(ObjectHandle held, const HandlePath& path)>;

[[nodiscard]] Value read_object(const Type& type, const void* memory, const NameReference& name);

/// One property as it is in memory, or one element of its C array; ids are the handles themselves.
[[nodiscard]] Value read_value(const Property& property, const void* memory);
/// The same of a whole property: a C array is a Record of its elements.
[[nodiscard]] Value read_member(const Property& property, const void* memory);
void write_value(const Property& property, void* memory, const Value& value);
/// What a new element of an array holds.
[[nodiscard]] Value default_value(const Property& property);
/// A new element of the keyed array.
[[nodiscard]] Value new_keyed_element(const Property& array, std::uint64_t key);
[[nodiscard]] std::uint64_t key_of(const Value& keyed_element);

/// The same as read_object() shows it; of anything but a keyed array.
[[nodiscard]] Value default_state(const Property& property);

/// Whether it holds a reference of which nobody can tell what it names.
[[nodiscard]] bool has_unknown(const Value& value);

/// A leaf where it stands in a tree. Likewise the count of an array that has no keys, that an
/// element of a keyed array is there (value 1), and an atomic struct as a whole.
struct Leaf {
    /// Property and place among its neighbours, from the object down.
    using Trail = std::vector<std::pair<const Property*, std::uint32_t>>;

    std::uint64_t path = 0;   ///< hash of the way down to it; equal in every tree of the type
    std::uint64_t value = 0;  ///< hash
    const Property* property = nullptr;
    const Value* state = nullptr;
    /// It lies in an element of an array without keys, which may be shown before its values are.
    bool is_in_array = false;
    bool is_presence = false;
    /// Path of the element of a keyed array in which it lies; 0: in none. All values of such an
    /// element arrive with it, those in arrays too.
    std::uint64_t keyed_element = 0;
    const Trail* trail = nullptr;
};

using VisitLeaf = std::function<void(const Leaf& leaf)>;

/// Visits the leaves of an object's tree. What Leaf points to lives until the visit returns.
void for_each_leaf(const Type& type, const Value& object, const VisitLeaf& visit);

/// For people: "hits[3].by".
[[nodiscard]] std::string to_string(const Leaf::Trail& trail);
[[nodiscard]] std::string to_string(const Value& value);

/// Calls `visit(property, offset)` for each property, base first, and each element of a C array.
template <typename Visit>
void for_each_slot(const Type& type, std::uint32_t offset, Visit visit) {
    if (type.base() != nullptr) {
        for_each_slot(*type.base(), offset + type.base_offset(), visit);
    }
    for (const Property& property : type.properties()) {
        for (std::uint32_t i = 0; i < property.array_dim; ++i) {
            visit(property, offset + property.offset + i * property.size);
        }
    }
}

/// The same of what is replicated. In an element of a keyed array (`key`) that is not the key.
template <typename Visit>
void for_each_member(const Type& type, const ArrayKey* key, Visit visit) {
    for_each_slot(type, 0, [&](const Property& property, std::uint32_t offset) {
        const bool is_key = key != nullptr && property.size == key->size && offset == key->offset;
        if (property.is_replicated && !is_key) {
            visit(property, offset);
        }
    });
}

}  // namespace replayout::test
