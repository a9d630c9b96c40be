// SPDX-License-Identifier: MIT
//
// Maps and sets as properties. One is a struct with a NetSerializer, shared, which is registered
// like any other struct before the classes that hold it:
//
//     using Stock = std::map<std::string, std::uint32_t>;
//     (void)register_collection<Stock>(registry);
//     class_builder<Shop>(registry, "Shop").property<&Shop::stock>().build();
//
// It travels whole when anything in it changes, and so it is never seen half changed; for one that
// is large and changes often an array of entries costs less, because arrays send what changed.
//
// Containers that keep an order, such as std::map and std::set: equal ones must give equal bits.
// Keys and values are bools, integers, enums and std::string; values of a map also float and
// double. Both ends must order keys alike.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/kind_of.h>
#include <replayout/utf8.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace replayout {

namespace detail {

/// Memory of a node of a tree beside its entry, for the budget of decoding, bytes.
inline constexpr std::size_t collection_node_bytes = 48;

template <typename Collection>
concept HasMappedType = requires {
    typename Collection::mapped_type;
};

template <typename T>
concept CollectionPart =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>;

template <typename Collection>
concept OrderedCollection = requires {
    typename Collection::key_compare;
    typename Collection::key_type;
    typename Collection::value_type;
};

/// What an entry is made of, and what its parts may be.
template <typename Collection, std::uint32_t CountMax, std::uint32_t TextBytesMax>
class CollectionSerializer {
    using Key = typename Collection::key_type;
    static constexpr bool is_map = HasMappedType<Collection>;

  public:
    static bool net_serialize(void* value, NetArchive& archive, PackageMap*, bool&) {
        auto& collection = *static_cast<Collection*>(value);
        if (archive.is_saving()) {
            write(collection, archive);
        } else {
            read(collection, archive);
        }
        return true;
    }

    static bool identical(const void* left, const void* right) {
        return equal(*static_cast<const Collection*>(left), *static_cast<const Collection*>(right));
    }

    static bool can_be_sent(const void* value) {
        const auto& collection = *static_cast<const Collection*>(value);
        return collection.size() <= CountMax &&
               std::all_of(collection.begin(), collection.end(), [](const auto& entry) {
                   return all_parts(entry, [](const auto& part) { return is_fine(part); });
               });
    }
    [[nodiscard]] static std::string name() {
        std::string text = is_map ? "map of " : "set of ";
        text += to_string(KindOf<Key>::kind);
        if constexpr (is_map) {
            text += " to ";
            text += to_string(KindOf<typename Collection::mapped_type>::kind);
        }
        text += ", at most " + std::to_string(CountMax);
        return holds_texts() ? text + ", texts of " + std::to_string(TextBytesMax) : text;
    }

  private:
    [[nodiscard]] static constexpr bool holds_texts() noexcept {
        if constexpr (is_map) {
            return std::is_same_v<Key, std::string> ||
                   std::is_same_v<typename Collection::mapped_type, std::string>;
        } else {
            return std::is_same_v<Key, std::string>;
        }
    }

    /// Whether the test is true of the key, and of the value that a map has for it.
    template <typename Entry, typename Test>
    [[nodiscard]] static bool all_parts(const Entry& entry, const Test& test) {
        if constexpr (is_map) {
            return test(entry.first) && test(entry.second);
        } else {
            return test(entry);
        }
    }

    template <typename Part>
    static void serialize(Part& part, NetArchive& archive) {
        if constexpr (std::is_same_v<Part, std::string>) {
            archive.serialize_string(part, TextBytesMax);
        } else {
            archive.serialize(part);
        }
    }

    static void write(const Collection& collection, NetArchive& archive) {
        std::uint64_t count = collection.size();
        archive.serialize_packed_uint(count);
        for (const auto& entry : collection) {
            (void)all_parts(entry, [&](auto part) {
                serialize(part, archive);
                return true;
            });
        }
    }

    static void read(Collection& collection, NetArchive& archive) {
        std::uint64_t count = 0;
        archive.serialize_packed_uint(count);
        if (count > CountMax) {
            archive.fail();
            return;
        }
        Collection incoming;
        for (std::uint64_t i = 0; i < count && !archive.failed(); ++i) {
            read_entry(incoming, archive);
        }
        if (!archive.failed()) {
            collection = std::move(incoming);
        }
    }

    static void read_entry(Collection& incoming, NetArchive& archive) {
        if (!archive.spend(1, sizeof(typename Collection::value_type) + collection_node_bytes)) {
            return;
        }
        Key key{};
        serialize(key, archive);
        // Ascending, so that a collection has one form and no key comes twice.
        if (!incoming.empty() && !incoming.key_comp()(last_key(incoming), key)) {
            archive.fail();
            return;
        }
        if constexpr (is_map) {
            typename Collection::mapped_type mapped{};
            serialize(mapped, archive);
            incoming.emplace_hint(incoming.end(), std::move(key), std::move(mapped));
        } else {
            incoming.emplace_hint(incoming.end(), std::move(key));
        }
    }

    [[nodiscard]] static const Key& last_key(const Collection& collection) {
        if constexpr (is_map) {
            return collection.rbegin()->first;
        } else {
            return *collection.rbegin();
        }
    }

    template <typename Part>
    [[nodiscard]] static bool is_fine(const Part& part) {
        if constexpr (std::is_same_v<Part, std::string>) {
            return part.size() <= TextBytesMax && is_valid_utf8(part);
        } else {
            return true;
        }
    }

    /// By bits, so that a NaN equals itself and is not sent on each tick.
    template <typename Part>
    [[nodiscard]] static bool equal_parts(const Part& left, const Part& right) {
        if constexpr (std::is_same_v<Part, float>) {
            return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
        } else if constexpr (std::is_same_v<Part, double>) {
            return std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right);
        } else {
            return left == right;
        }
    }

    [[nodiscard]] static bool equal(const Collection& left, const Collection& right) {
        if (left.size() != right.size()) {
            return false;
        }
        auto other = right.begin();
        for (const auto& entry : left) {
            if constexpr (is_map) {
                if (!equal_parts(entry.first, other->first) ||
                    !equal_parts(entry.second, other->second)) {
                    return false;
                }
            } else if (!equal_parts(entry, *other)) {
                return false;
            }
            ++other;
        }
        return true;
    }
};

}  // namespace detail

/// Makes the struct type of a map or set; see the head of this file. A collection of more than
/// `CountMax` entries, or with a text of more than `TextBytesMax` bytes or not in UTF-8, is not
/// sent, and counted: the value before stays in force. The limits, that of texts where there are
/// any, and the kinds of key and value are in the type's name and so in the fingerprint. Refused:
/// what TypeRegistry refuses, and one that is registered.
template <typename Collection, std::uint32_t CountMax = 256, std::uint32_t TextBytesMax = 256>
[[nodiscard]] Result<const Type*> register_collection(TypeRegistry& registry) {
    static_assert(detail::OrderedCollection<Collection>,
                  "only a container that keeps its keys in order gives equal bits");
    using Key = typename Collection::key_type;
    static_assert(detail::CollectionPart<Key> && !std::is_floating_point_v<Key>,
                  "a key is a bool, an integer, an enum or a std::string");
    if constexpr (detail::HasMappedType<Collection>) {
        static_assert(detail::CollectionPart<typename Collection::mapped_type>,
                      "a value is a bool, an integer, an enum, a float, a double or a std::string");
    }
    using Serializer = detail::CollectionSerializer<Collection, CountMax, TextBytesMax>;
    StructTraits traits;
    traits.has_net_serializer = true;
    traits.net_serialize = Serializer::net_serialize;
    traits.has_net_shared_serialization = true;
    traits.has_identical = true;
    traits.identical = Serializer::identical;
    traits.can_be_sent = Serializer::can_be_sent;
    return DynamicTypeBuilder(registry, TypeKind::Struct, Serializer::name(),
                              static_cast<std::uint32_t>(sizeof(Collection)),
                              static_cast<std::uint32_t>(alignof(Collection)))
        .traits(traits)
        .ops(make_type_ops<Collection>())
        .key(type_key_of<Collection>())
        .build();
}

}  // namespace replayout
