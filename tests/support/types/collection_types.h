// SPDX-License-Identifier: MIT
//
// Maps and sets of several kinds (collection.h) for random classes. They have no members that a
// walk over a description finds, so trees of values and edits ask here what is in one.
#pragma once

#include "support/types/value_tree.h"

#include <replayout/reflection/property.h>
#include <replayout/reflection/type_registry.h>

#include <cstdint>
#include <vector>

namespace replayout::test {

/// Above what edits go for, so that all of it is sent.
inline constexpr std::uint32_t collection_count_max = 64;
inline constexpr std::uint32_t collection_text_bytes_max = 8'192;

/// One of the maps or sets, as a tree: an Atom of an Atom for each entry, in the order of the
/// container; an entry has its key and, of a map, its value.
struct CollectionType {
    /// What the parts of an entry are like, for edits: the key, and of a map the value.
    std::vector<Property> parts;
    Value (*read)(const void* collection) = nullptr;
    void (*write)(void* collection, const Value& value) = nullptr;
    /// The same entries in order, of equal keys the first.
    Value (*in_order)(const Value& value) = nullptr;

    /// Null: `type` is none of them.
    [[nodiscard]] static const CollectionType* find(const Type& type);
};

/// Registers all of them.
[[nodiscard]] std::vector<const Type*> add_collections(TypeRegistry& registry);

}  // namespace replayout::test
