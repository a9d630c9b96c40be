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
    std::uint64_t id = 0;  ///< 0: null
};
/// An object, or a struct whose members travel one by one.
struct Record {
    std::vector<Value> parts;
};
/// What travels as a whole: a vector, a quaternion, a struct with a NetSerializer.
struct Atom {
    std::vector<Value> parts;
};
/// A dynamic array, or an optional value.
struct List {
    std::vector<Value> parts;
};

struct Value {
    Value() = default;
    template <typename Content>
    requires(!std::same_as<Content, Value>) Value(Content value) : content(std::move(value)) {}

    std::variant<Bits, Text, Reference, Record, Atom, List> content;
};

[[nodiscard]] bool operator==(const Value& left, const Value& right);
[[nodiscard]] std::uint64_t hash_of(const Value& value);
/// At most this many bytes does the value take on the wire, sets of handles included.
[[nodiscard]] std::size_t encoded_bytes_max(const Value& value);

/// The way down to a leaf as the wire counts it: the handle in the object, then in each array.
using HandlePath = std::vector<std::uint32_t>;
/// Turns what a reference holds into an id.
using NameReference = std::function<Reference(ObjectHandle held, const HandlePath& path)>;

[[nodiscard]] Value read_object(const Type& type, const void* memory, const NameReference& name);

/// One property as it is in memory, or one element of its C array; ids are the handles themselves.
[[nodiscard]] Value read_value(const Property& property, const void* memory);
void write_value(const Property& property, void* memory, const Value& value);
/// What a new element of an array holds.
[[nodiscard]] Value default_value(const Property& property);

/// The same as read_object() shows it; of a leaf that is no array.
[[nodiscard]] Value default_state(const Property& property);

/// A leaf, or the count of an array, where it stands in a tree.
struct Leaf {
    /// Property and place among its neighbours, from the object down.
    using Trail = std::vector<std::pair<const Property*, std::uint32_t>>;

    std::uint64_t path = 0;   ///< hash of the way down to it; equal in every tree of the type
    std::uint64_t value = 0;  ///< hash
    const Property* property = nullptr;
    bool is_in_array = false;
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

}  // namespace replayout::test
