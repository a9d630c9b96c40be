// SPDX-License-Identifier: MIT
#include "support/types/collection_types.h"

#include <replayout/collection.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <type_traits>

namespace replayout::test {

namespace {

enum class Suit : std::uint8_t {};
enum class Depth : std::int32_t {};

template <typename Part>
[[nodiscard]] Property part_property() {
    if constexpr (std::is_same_v<Part, std::string>) {
        return string_property<std::string>("");
    } else if constexpr (std::is_enum_v<Part>) {
        return enum_property("", sizeof(Part));
    } else {
        return plain_property("", KindOf<Part>::kind);
    }
}

template <typename Part>
[[nodiscard]] Value part_value(const Part& part) {
    if constexpr (std::is_same_v<Part, std::string>) {
        return Text(part);
    } else {
        Bits bits;
        std::memcpy(&bits.pattern, &part, sizeof(part));
        return bits;
    }
}

template <typename Part>
[[nodiscard]] Part part_of(const Value& value) {
    if constexpr (std::is_same_v<Part, std::string>) {
        return std::get<Text>(value.content);
    } else {
        Part part{};
        std::memcpy(&part, &std::get<Bits>(value.content).pattern, sizeof(part));
        return part;
    }
}

/// What the library is told of a C++ type, again, but as a tree.
template <typename Collection>
struct Trees {
    static constexpr bool is_map = requires { typename Collection::mapped_type; };

    [[nodiscard]] static Value read(const void* memory) {
        Atom atom;
        for (const auto& entry : *static_cast<const Collection*>(memory)) {
            if constexpr (is_map) {
                atom.parts.emplace_back(Atom{{part_value(entry.first), part_value(entry.second)}});
            } else {
                atom.parts.emplace_back(Atom{{part_value(entry)}});
            }
        }
        return atom;
    }

    static void write(void* memory, const Value& value) {
        auto& collection = *static_cast<Collection*>(memory);
        collection.clear();
        for (const Value& entry : std::get<Atom>(value.content).parts) {
            const std::vector<Value>& parts = std::get<Atom>(entry.content).parts;
            auto key = part_of<typename Collection::key_type>(parts.at(0));
            if constexpr (is_map) {
                collection.emplace(std::move(key),
                                   part_of<typename Collection::mapped_type>(parts.at(1)));
            } else {
                collection.insert(std::move(key));
            }
        }
    }

    [[nodiscard]] static Value in_order(const Value& value) {
        Collection collection;
        write(&collection, value);
        return read(&collection);
    }

    [[nodiscard]] static CollectionType make() {
        CollectionType type{
            {part_property<typename Collection::key_type>()}, read, write, in_order};
        if constexpr (is_map) {
            type.parts.push_back(part_property<typename Collection::mapped_type>());
        }
        return type;
    }

    [[nodiscard]] static const CollectionType* find(const Type& type) {
        static const CollectionType known = make();
        const bool is_it = type.ops().construct == make_type_ops<Collection>().construct;
        return is_it ? &known : nullptr;
    }

    [[nodiscard]] static const Type* add(TypeRegistry& registry) {
        const Result<const Type*> type =
            register_collection<Collection, collection_count_max, collection_text_bytes_max>(
                registry);
        if (!type) {
            std::abort();  // a mistake of this file
        }
        return *type;
    }
};

template <typename... Collections>
struct All {
    [[nodiscard]] static const CollectionType* find(const Type& type) {
        const CollectionType* found = nullptr;
        (void)(((found = Trees<Collections>::find(type)) != nullptr) || ...);
        return found;
    }
    [[nodiscard]] static std::vector<const Type*> add(TypeRegistry& registry) {
        return {Trees<Collections>::add(registry)...};
    }
};

using Known =
    All<std::map<std::int16_t, double>, std::map<std::string, std::uint32_t>,
        std::map<Suit, std::string>, std::map<std::uint64_t, Depth>, std::map<bool, float>,
        std::set<std::uint32_t>, std::set<std::string>, std::set<Depth>>;

}  // namespace

const CollectionType* CollectionType::find(const Type& type) {
    return Known::find(type);
}

std::vector<const Type*> add_collections(TypeRegistry& registry) {
    return Known::add(registry);
}

}  // namespace replayout::test
