// SPDX-License-Identifier: MIT
//
// The dynamic door: types from names, offsets and operations that exist only at run time, for
// engines and scripting languages with a reflection of their own. The typed door (type_builder.h)
// is a translation into this one, so both give the same descriptor.
//
//     Result<const Type*> pawn =
//         DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 104, 8)
//             .property("health", PropertyKind::Int32, 0)
//             .property("muzzle", PropertyKind::Vector, 4, 2)  // Vector3 muzzle[2]
//             .property(string_property<std::string>("title", 32)).on_rep({on_title, nullptr})
//             .property(enum_property("team", 1, 64))
//             .property(array_property<std::vector<Hit>>("hits", struct_property("", *hit), 72))
//             .build();
//
// A property of another kind or container is a Property filled by hand: property(Property).
//
// A builder is made, used and thrown away by one thread. Nothing is checked before build(), which
// reports the first error; the calls in between never fail.
#pragma once

#include <replayout/reflection/error.h>
#include <replayout/reflection/type_registry.h>
#include <replayout/reflection/value_ops.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace replayout {

/// Collects a type and hands it to the registry. The registry and all types given must outlive it.
class DynamicTypeBuilder {
  public:
    /// `size` and `alignment` in bytes, of the whole object.
    DynamicTypeBuilder(TypeRegistry& registry, TypeKind kind, std::string_view name,
                       std::uint32_t size, std::uint32_t alignment);
    DynamicTypeBuilder(const DynamicTypeBuilder&) = delete;
    DynamicTypeBuilder& operator=(const DynamicTypeBuilder&) = delete;

    /// The base, `offset` bytes into this type, at most one. Its properties and functions are
    /// inherited.
    DynamicTypeBuilder& base(const Type& base, std::uint32_t offset = 0);

    /// A property of a kind whose size is fixed. `array_dim` is the count of a C array's elements.
    DynamicTypeBuilder& property(std::string_view name, PropertyKind kind, std::uint32_t offset,
                                 std::uint32_t array_dim = 1);
    /// Any property.
    DynamicTypeBuilder& property(Property property);

    /// The property just declared calls `notify` after an update.
    DynamicTypeBuilder& on_rep(NotifyFunction notify);
    /// The property just declared is sent to those that meet `condition`.
    DynamicTypeBuilder& condition(LifetimeCondition condition);
    /// The property just declared is compared only where the game has marked it as changed.
    DynamicTypeBuilder& push_based();
    /// A change of the property just declared that Identical tolerates is sent after this time, 1
    /// to 3,600,000.
    DynamicTypeBuilder& sent_within_ms(std::uint32_t milliseconds);
    /// The property just declared is known and never sent.
    DynamicTypeBuilder& not_replicated();
    /// The property just declared travels like this; of an array, the innermost element does.
    DynamicTypeBuilder& quantised(const Quantisation& quantisation);

    /// Elements of the property just declared, an array of structs, are told apart by the integer
    /// or enum of `size` bytes that lies at `offset` in each.
    DynamicTypeBuilder& keyed_by(std::uint32_t offset, std::uint32_t size,
                                 ArrayOrder order = ArrayOrder::Free);

    /// The array just declared, which is keyed, says itself what changed in it.
    DynamicTypeBuilder& fast_array(const FastArrayOps& fast);

    /// A function; `parameters` is a struct type, or null when it has none. `thunk` runs it. `key`
    /// is the function_key_of() of its C++ function, by which typed calls find it.
    DynamicTypeBuilder& function(std::string_view name, FunctionFlags flags,
                                 const Type* parameters = nullptr, const FunctionThunk& thunk = {},
                                 TypeKey key = {});
    DynamicTypeBuilder& traits(const StructTraits& traits);
    /// What runs around a block of properties; for a class only.
    DynamicTypeBuilder& hooks(const ReceiveHooks& hooks);
    DynamicTypeBuilder& ops(const TypeOps& ops);
    /// The C++ type behind this one, by which the typed door finds it.
    DynamicTypeBuilder& key(TypeKey key);

    /// Notes an error of the caller's own, for doors built on this one. build() reports the first.
    DynamicTypeBuilder& refuse(Error error);

    /// Checks the type and adds it to the registry; see TypeRegistry for what is refused. Once
    /// only.
    [[nodiscard]] Result<const Type*> build();

    [[nodiscard]] TypeRegistry& registry() const noexcept { return *registry_; }
    /// What was collected so far.
    [[nodiscard]] const TypeDescription& description() const noexcept { return description_; }

  private:
    /// An error that this type's description is wrongly built.
    [[nodiscard]] Error misuse(std::string_view why) const;
    /// Refuses where there is no property yet that `change` could change.
    template <typename Change>
    DynamicTypeBuilder& change_last(std::string_view what, const Change& change);

    TypeRegistry* registry_;
    TypeDescription description_;
    TypeKey key_;
    Error error_;  // the first; code Ok while there is none
};

// Properties for DynamicTypeBuilder::property(Property): the name, what it is, and where it lies.
// An element of an array is a property too; it has no name and lies at 0.

/// A property of a kind whose size is fixed.
[[nodiscard]] Property plain_property(std::string_view name, PropertyKind kind,
                                      std::uint32_t offset = 0, std::uint32_t array_dim = 1);

/// An enum of `size` bytes: 1, 2, 4 or 8.
[[nodiscard]] Property enum_property(std::string_view name, std::uint32_t size,
                                     std::uint32_t offset = 0, std::uint32_t array_dim = 1);

/// The bit `bit_mask` of the byte at `offset`, as a bool.
[[nodiscard]] Property bit_property(std::string_view name, std::uint8_t bit_mask,
                                    std::uint32_t offset = 0);

/// A member of a registered struct.
[[nodiscard]] Property struct_property(std::string_view name, const Type& struct_type,
                                       std::uint32_t offset = 0, std::uint32_t array_dim = 1);

/// A member of type Name, whose text is in `names`.
[[nodiscard]] Property name_property(std::string_view name, NameTable& names,
                                     std::uint32_t offset = 0, std::uint32_t array_dim = 1);

/// A member of type ObjectHandle.
[[nodiscard]] Property handle_property(std::string_view name, std::uint32_t offset = 0,
                                       std::uint32_t array_dim = 1);

/// A string of any make. `ops` are those of the C++ type and tell its size; see Property::ops for
/// when more than that is needed.
[[nodiscard]] Property string_property(std::string_view name, const StringOps& string,
                                       const TypeOps& ops, std::uint32_t offset = 0,
                                       std::uint32_t array_dim = 1);

/// A string in the manner of std::string.
template <typename String>
[[nodiscard]] Property string_property(std::string_view name, std::uint32_t offset = 0,
                                       std::uint32_t array_dim = 1) {
    return string_property(name, make_string_ops<String>(), make_type_ops<String>(), offset,
                           array_dim);
}

/// A dynamic array of any make, whose elements are `element`; `ops` as for a string.
[[nodiscard]] Property array_property(std::string_view name, Property element,
                                      const ArrayOps& array, const TypeOps& ops,
                                      std::uint32_t offset = 0, std::uint32_t array_dim = 1);

/// An optional value of any make; `optional` as of an array that holds one element or none.
[[nodiscard]] Property optional_property(std::string_view name, Property element,
                                         const ArrayOps& optional, const TypeOps& ops,
                                         std::uint32_t offset = 0, std::uint32_t array_dim = 1);

/// An optional value in the manner of std::optional.
template <typename Optional>
[[nodiscard]] Property optional_property(std::string_view name, Property element,
                                         std::uint32_t offset = 0, std::uint32_t array_dim = 1) {
    return optional_property(name, std::move(element), make_optional_ops<Optional>(),
                             make_type_ops<Optional>(), offset, array_dim);
}

/// A contiguous container in the manner of std::vector.
template <typename Container>
[[nodiscard]] Property array_property(std::string_view name, Property element,
                                      std::uint32_t offset = 0, std::uint32_t array_dim = 1) {
    return array_property(name, std::move(element), make_array_ops<Container>(),
                          make_type_ops<Container>(), offset, array_dim);
}

}  // namespace replayout
