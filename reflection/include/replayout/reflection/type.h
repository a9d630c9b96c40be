// SPDX-License-Identifier: MIT
//
// A type: a class whose objects are replicated, or a struct that is part of one. A name, a size, a
// base, properties and functions. Built once, by a TypeBuilder or a DynamicTypeBuilder, and
// immutable then.
#pragma once

#include <replayout/reflection/function.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/receive_hooks.h>
#include <replayout/reflection/struct_traits.h>
#include <replayout/reflection/type_key.h>
#include <replayout/reflection/type_ops.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout {

enum class TypeKind : std::uint8_t { Class, Struct };

/// Everything about a type, as a builder collects it. The registry checks it and makes the Type.
struct TypeDescription {
    std::string name;
    TypeKind kind = TypeKind::Struct;
    std::uint32_t size = 0;       ///< bytes
    std::uint32_t alignment = 1;  ///< bytes, a power of two
    const Type* base = nullptr;
    std::uint32_t base_offset = 0;  ///< where the base lies inside this type, bytes
    std::vector<Property> properties;
    std::vector<Function> functions;
    StructTraits traits;
    ReceiveHooks hooks;  ///< kind Class
    TypeOps ops;
};

/// An immutable type. Lives as long as its registry; compare by address.
class Type {
  public:
    /// Only a TypeRegistry makes types; it has checked the description.
    explicit Type(TypeDescription description, TypeKey key = {});
    Type(const Type&) = delete;
    Type& operator=(const Type&) = delete;

    [[nodiscard]] std::string_view name() const noexcept { return description_.name; }
    /// The key of the C++ type. Null: it was described without one.
    [[nodiscard]] TypeKey key() const noexcept { return key_; }
    [[nodiscard]] TypeKind kind() const noexcept { return description_.kind; }
    [[nodiscard]] std::uint32_t size() const noexcept { return description_.size; }
    [[nodiscard]] std::uint32_t alignment() const noexcept { return description_.alignment; }
    [[nodiscard]] const Type* base() const noexcept { return description_.base; }
    [[nodiscard]] std::uint32_t base_offset() const noexcept { return description_.base_offset; }
    [[nodiscard]] const StructTraits& traits() const noexcept { return description_.traits; }
    [[nodiscard]] const TypeOps& ops() const noexcept { return description_.ops; }
    /// Those declared here; those of the base are the base's.
    [[nodiscard]] const ReceiveHooks& hooks() const noexcept { return description_.hooks; }

    /// Properties declared here, in order of declaration; those of the base are the base's.
    [[nodiscard]] std::span<const Property> properties() const noexcept {
        return description_.properties;
    }
    [[nodiscard]] std::span<const Function> functions() const noexcept {
        return description_.functions;
    }

    /// Deepest chain of struct and array below a property of this type or of a base; 0: none is
    /// nested.
    [[nodiscard]] std::uint32_t nesting_depth() const noexcept { return nesting_depth_; }

    /// Own property or one of a base, or null.
    [[nodiscard]] const Property* find_property(std::string_view name) const noexcept;
    /// Own function or one of a base, or null.
    [[nodiscard]] const Function* find_function(std::string_view name) const noexcept;
    /// Whether this is `base` or derived from it.
    [[nodiscard]] bool is_child_of(const Type& base) const noexcept;

  private:
    TypeDescription description_;
    TypeKey key_;
    std::uint32_t nesting_depth_ = 0;
};

/// Deepest chain of struct and array that a property is the head of; 0 for all other kinds. A
/// struct with a serializer counts as one level: what is below it the engine never visits.
[[nodiscard]] std::uint32_t nesting_depth(const Property& property) noexcept;

}  // namespace replayout
