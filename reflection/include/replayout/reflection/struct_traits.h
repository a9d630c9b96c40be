// SPDX-License-Identifier: MIT
//
// Struct traits in Unreal's sense: what a struct type promises beyond its members. A type says so
// by specialising StructTraitsOf, as TStructOpsTypeTraits does there:
//
//     struct Hit {
//         Vector3 point;
//         bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok);
//         bool operator==(const Hit&) const = default;
//     };
//     template <>
//     struct replayout::StructTraitsOf<Hit> : replayout::DefaultStructTraits {
//         static constexpr bool with_net_serializer = true;
//         static constexpr bool with_net_shared_serialization = true;
//     };
//
// A trait whose function is missing does not compile; at run time the registry refuses it by name.
//
// The trap, kept on purpose because Unreal has it: with_net_shared_serialization has an effect only
// together with with_net_serializer. Alone the struct is flattened, no command exists that could
// carry the flag, and the layout builder says so in a diagnostic.
#pragma once

#include <replayout/reflection/fwd.h>

#include <concepts>

namespace replayout {

/// Writes or reads a whole struct. Answer: every reference in it could be mapped. `ok` = false: the
/// value could not be serialized at all. Must write the same bits for equal values.
using NetSerializeFunction = bool (*)(void* value, NetArchive& archive, PackageMap* map, bool& ok);

/// Writes what is new since a state that the receiver holds, or reads it; see
/// <replayout/net_delta.h>. Answer, writing: there was something to send; reading: the bits are
/// those of such a value.
using NetDeltaSerializeFunction = bool (*)(void* value, NetDeltaInfo& info);

/// Equal as far as replication is concerned.
using IdenticalFunction = bool (*)(const void* left, const void* right);

/// Deep assignment; used when a shadow is created or refreshed.
using CopyFunction = void (*)(void* target, const void* source);

/// Whether a value lies within the limits that its receivers check.
using CanBeSentFunction = bool (*)(const void* value);

/// What a struct promises. A flag without its function is refused when the type is built.
struct StructTraits {
    bool has_net_serializer = false;
    bool has_net_shared_serialization = false;
    bool has_net_delta_serializer = false;
    bool has_identical = false;
    bool has_copy = false;
    bool is_atomic = false;
    NetSerializeFunction net_serialize = nullptr;
    NetDeltaSerializeFunction net_delta_serialize = nullptr;
    IdenticalFunction identical = nullptr;
    CopyFunction copy = nullptr;
    /// Of a struct with a NetSerializer or NetDeltaSerializer. Null: every value can be sent. One
    /// that cannot is counted (ReplicationCounters::values_over_limit), and the value before stays
    /// in force.
    CanBeSentFunction can_be_sent = nullptr;
};

/// Base of every StructTraitsOf: nothing promised.
struct DefaultStructTraits {
    /// `bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok)`. With this, as with
    /// with_net_delta_serializer, the struct is one value to the engine, described properties or
    /// not, in parameters too: it needs `operator==` or with_identical to tell that it changed.
    static constexpr bool with_net_serializer = false;
    static constexpr bool with_net_shared_serialization = false;
    /// `bool net_delta_serialize(NetDeltaInfo& info)`
    static constexpr bool with_net_delta_serializer = false;
    /// `bool identical(const T& other) const`
    static constexpr bool with_identical = false;
    /// `operator==`; excludes with_identical
    static constexpr bool with_identical_via_equality = false;
    /// `void copy_from(const T& other)`
    static constexpr bool with_copy = false;
    /// Its members travel as those of any struct, each when it changed; but a receiver never sees
    /// some of a change without the others, whatever is lost: a struct without it is only as whole
    /// as the packets that arrive. No effect together with with_net_serializer, which always
    /// writes the whole struct.
    static constexpr bool with_atomic = false;
};

/// What `T` promises; to be specialised.
template <typename T>
struct StructTraitsOf : DefaultStructTraits {};

namespace detail {

// One function to a promise. The test is inside, and not a constraint, so that the compiler's first
// line says what is missing; the call is compiled only when it is there, so that it is also the
// last.

/// A struct with a serializer is one value to the engine, which must tell whether it changed.
template <typename T>
constexpr void check_equality() noexcept {
    static_assert(StructTraitsOf<T>::with_identical ||
                      StructTraitsOf<T>::with_identical_via_equality || std::equality_comparable<T>,
                  "a struct with a serializer is compared as one value: it needs "
                  "bool operator==(const T& other) const, or with_identical");
}

template <typename T>
[[nodiscard]] constexpr NetSerializeFunction net_serialize_of() noexcept {
    constexpr bool is_there =
        requires(T & value, NetArchive & archive, PackageMap * map, bool& ok) {
        { value.net_serialize(archive, map, ok) } -> std::same_as<bool>;
    };
    static_assert(is_there,
                  "with_net_serializer promises a member function that is missing: "
                  "bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok)");
    if constexpr (is_there) {
        check_equality<T>();
        return [](void* value, NetArchive& archive, PackageMap* map, bool& ok) {
            return static_cast<T*>(value)->net_serialize(archive, map, ok);
        };
    }
    return nullptr;
}

template <typename T>
[[nodiscard]] constexpr NetDeltaSerializeFunction net_delta_serialize_of() noexcept {
    constexpr bool is_there = requires(T & value, NetDeltaInfo & info) {
        { value.net_delta_serialize(info) } -> std::same_as<bool>;
    };
    static_assert(is_there,
                  "with_net_delta_serializer promises a member function that is missing: "
                  "bool net_delta_serialize(NetDeltaInfo& info)");
    if constexpr (is_there) {
        check_equality<T>();
        return [](void* value, NetDeltaInfo& info) {
            return static_cast<T*>(value)->net_delta_serialize(info);
        };
    }
    return nullptr;
}

template <typename T>
[[nodiscard]] constexpr IdenticalFunction identical_of() noexcept {
    constexpr bool is_there = requires(const T& value) {
        { value.identical(value) } -> std::same_as<bool>;
    };
    static_assert(is_there,
                  "with_identical promises a member function that is missing: "
                  "bool identical(const T& other) const");
    if constexpr (is_there) {
        return [](const void* left, const void* right) {
            return static_cast<const T*>(left)->identical(*static_cast<const T*>(right));
        };
    }
    return nullptr;
}

template <typename T>
[[nodiscard]] constexpr IdenticalFunction equality_of() noexcept {
    static_assert(std::equality_comparable<T>,
                  "with_identical_via_equality promises an operator that is missing: "
                  "bool operator==(const T& other) const");
    if constexpr (std::equality_comparable<T>) {
        return [](const void* left, const void* right) {
            return static_cast<bool>(*static_cast<const T*>(left) == *static_cast<const T*>(right));
        };
    }
    return nullptr;
}

template <typename T>
[[nodiscard]] constexpr CopyFunction copy_of() noexcept {
    constexpr bool is_there = requires(T & target, const T& source) {
        target.copy_from(source);
    };
    static_assert(is_there,
                  "with_copy promises a member function that is missing: "
                  "void copy_from(const T& other)");
    if constexpr (is_there) {
        return [](void* target, const void* source) {
            static_cast<T*>(target)->copy_from(*static_cast<const T*>(source));
        };
    }
    return nullptr;
}

}  // namespace detail

/// What StructTraitsOf<T> promises, with the functions of `T`. A promise that `T` does not keep
/// does not compile, and the message names the function.
template <typename T>
[[nodiscard]] StructTraits make_struct_traits() noexcept {
    using Promised = StructTraitsOf<T>;
    static_assert(!(Promised::with_net_serializer && Promised::with_net_delta_serializer),
                  "a struct is either with_net_serializer or with_net_delta_serializer");
    static_assert(!(Promised::with_identical && Promised::with_identical_via_equality),
                  "a struct is either with_identical or with_identical_via_equality");
    StructTraits traits;
    traits.has_net_serializer = Promised::with_net_serializer;
    traits.has_net_shared_serialization = Promised::with_net_shared_serialization;
    traits.has_net_delta_serializer = Promised::with_net_delta_serializer;
    traits.has_identical = Promised::with_identical || Promised::with_identical_via_equality;
    traits.has_copy = Promised::with_copy;
    traits.is_atomic = Promised::with_atomic;
    if constexpr (Promised::with_net_serializer) {
        traits.net_serialize = detail::net_serialize_of<T>();
    }
    if constexpr (Promised::with_net_delta_serializer) {
        traits.net_delta_serialize = detail::net_delta_serialize_of<T>();
    }
    if constexpr (Promised::with_identical) {
        traits.identical = detail::identical_of<T>();
    }
    if constexpr (Promised::with_identical_via_equality) {
        traits.identical = detail::equality_of<T>();
    }
    if constexpr (Promised::with_copy) {
        traits.copy = detail::copy_of<T>();
    }
    return traits;
}

}  // namespace replayout
