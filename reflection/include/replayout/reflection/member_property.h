// SPDX-License-Identifier: MIT
//
// Properties, functions and offsets of C++ members, for a typed door of one's own over
// DynamicTypeBuilder: one that puts the members of several C++ classes into one type, or keeps more
// about each than a Property does. type_builder.h is the door for everybody else.
//
//     Result<Property> health = member_property<Pawn, &Pawn::health>(registry);
//     health->offset += offset_of_pawn;
#pragma once

#include <replayout/reflection/call_function.h>
#include <replayout/reflection/describe_value.h>
#include <replayout/reflection/elements.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/function.h>
#include <replayout/reflection/member_pointer.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/replicated_value.h>
#include <replayout/reflection/type_registry.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace replayout {

/// The property that `Member` of a `T` makes, as TypeBuilder::property() describes it: named as in
/// the program, or by `name`, with its offset in bytes from the start of a `T`. Error: UnknownType,
/// if it is of a struct that the registry does not know.
template <typename T, auto Member>
[[nodiscard]] Result<Property> member_property(
    TypeRegistry& registry, std::string_view name = detail::name_of_member<Member>()) {
    using Declared = typename ReplicatedValue<
        typename detail::MemberPointer<decltype(Member)>::value_type>::type;
    Property property;
    property.name = name;
    property.offset = static_cast<std::uint32_t>(detail::offset_of_member<T, Member>());
    property.array_dim = static_cast<std::uint32_t>(detail::Elements<Declared>::count);
    const std::string_view unknown =
        detail::describe_value<typename detail::Elements<Declared>::element_type>(registry,
                                                                                  property);
    if (!unknown.empty()) {
        return Error{ErrorCode::UnknownType, "property \"" + std::string(name) + "\": C++ type " +
                                                 std::string(unknown) +
                                                 " must be registered before"};
    }
    return property;
}

/// The function that `Member` of a `T` makes, as TypeBuilder::function() describes it. Error:
/// UnknownType, if the registry does not know its parameters.
template <typename T, auto Member>
[[nodiscard]] Result<Function> member_function(
    const TypeRegistry& registry, FunctionFlags flags,
    std::string_view name = detail::name_of_member<Member>()) {
    using Parameters = typename detail::RemoteParameters<decltype(Member)>::type;
    Function function;
    function.name = name;
    function.flags = flags;
    function.thunk.call = detail::call_remote<T, Member, Parameters>;
    function.key = function_key_of<Member>();
    if constexpr (!std::is_void_v<Parameters>) {
        function.parameters = registry.find(type_key_of<Parameters>());
        if (function.parameters == nullptr) {
            return Error{ErrorCode::UnknownType,
                         "function \"" + std::string(name) + "\": C++ type " +
                             std::string(detail::name_of_type<Parameters>()) +
                             " must be registered before"};
        }
    }
    return function;
}

/// Bytes from the start of a `T` to its base `Base`, which is accessible, unambiguous, not virtual.
template <typename T, typename Base>
[[nodiscard]] std::uint32_t base_offset() noexcept {
    static_assert(detail::PlainBaseOf<T, Base>);
    return static_cast<std::uint32_t>(detail::offset_of_base<T, Base>());
}

/// Bytes from the start of a `T` to its member.
template <typename T, auto Member>
[[nodiscard]] std::uint32_t member_offset() noexcept {
    return static_cast<std::uint32_t>(detail::offset_of_member<T, Member>());
}

/// The name of the member in the program.
template <auto Member>
[[nodiscard]] constexpr std::string_view member_name() noexcept {
    return detail::name_of_member<Member>();
}

}  // namespace replayout
