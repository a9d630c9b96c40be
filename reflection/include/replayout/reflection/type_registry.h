// SPDX-License-Identifier: MIT
//
// The registry: owns types, finds them by name, and is frozen before it is used.
//
//     TypeRegistry registry;
//     auto pawn = class_builder<Pawn>(registry, "Pawn").property<&Pawn::health>().build();
//     auto script = DynamicTypeBuilder(registry, TypeKind::Class, "Script", 64, 8)
//                       .property("health", PropertyKind::Int32, 0)
//                       .build();
//     if (!pawn || !script || !registry.freeze()) { ... }
//
// It is an object: two can live in one process. Until frozen it belongs to one thread; afterwards
// it is immutable and any thread may read it.
//
// What is refused, each with an error that names type and property: a frozen registry, an empty or
// duplicate name, a property outside its type or overlapping another, wrong size or alignment, a
// trait without its function, a struct or array without the operations it needs, nesting beyond
// `nesting_depth_max`, a base that is not of this registry. The sentence reads
//
//     type "Pawn": property "health": lies outside its type (offset 96, 4 bytes, type has 64 bytes)
//
// What is completed, so that both doors give the same type: a property of a plain kind gets
// operations on its bytes, and a struct property those of its struct, where the description has
// none.
#pragma once

#include <replayout/reflection/error.h>
#include <replayout/reflection/name.h>
#include <replayout/reflection/type.h>
#include <replayout/reflection/type_key.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace replayout {

/// Deepest chain of struct and array below one property (docs: reliability limits, "static
/// nesting").
inline constexpr std::uint32_t nesting_depth_max = 8;

class TypeRegistry {
  public:
    /// `name_count_max` bounds names(), the part that a peer can make grow; `name_resource` holds
    /// them.
    explicit TypeRegistry(std::uint32_t name_count_max = NameTable::count_max_default,
                          MemoryResource* name_resource = std::pmr::get_default_resource());
    TypeRegistry(const TypeRegistry&) = delete;
    TypeRegistry& operator=(const TypeRegistry&) = delete;

    /// Checks a description and adds the type. The builders call it; so may an engine's own door.
    /// `key` names the C++ type behind it, if there is one. Types it mentions must be alive. When
    /// refused, the registry is as it was.
    [[nodiscard]] Result<const Type*> add(TypeDescription description, TypeKey key = {});

    /// Ends registration. Refused when already frozen.
    [[nodiscard]] Status freeze();
    [[nodiscard]] bool is_frozen() const noexcept { return is_frozen_; }

    /// The type of that name, or null.
    [[nodiscard]] const Type* find(std::string_view name) const noexcept;

    /// The type that was added with that key, or null.
    [[nodiscard]] const Type* find(TypeKey key) const noexcept;

    /// Whether `type` was added to this registry. `type` must be alive.
    [[nodiscard]] bool owns(const Type& type) const noexcept { return find(type.name()) == &type; }

    /// All types in order of registration.
    [[nodiscard]] const std::vector<std::unique_ptr<Type>>& types() const noexcept {
        return types_;
    }

    /// Table of the Name members of this registry's types. The one part that stays writable.
    [[nodiscard]] NameTable& names() noexcept { return names_; }
    [[nodiscard]] const NameTable& names() const noexcept { return names_; }

  private:
    std::vector<std::unique_ptr<Type>> types_;
    std::map<std::string, const Type*, std::less<>> types_by_name_;
    std::map<const void*, const Type*, std::less<>> types_by_key_;
    NameTable names_;
    bool is_frozen_ = false;
};

}  // namespace replayout
