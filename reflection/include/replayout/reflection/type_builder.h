// SPDX-License-Identifier: MIT
//
// The typed door: C++ types described from outside, without macros and without a change to them.
//
//     const auto hit = struct_builder<Hit>(registry, "Hit").property<&Hit::point>().build();
//
//     const auto pawn =
//         class_builder<Pawn>(registry, "Pawn")
//             .base<Actor>()                          // registered before
//             .property<&Pawn::health>().on_rep<&Pawn::on_rep_health>()
//             .property<&Pawn::hits>()                // std::vector<Hit>; Hit is registered before
//             .property<&Pawn::title_>("title")       // a name of its own
//             .property<&Pawn::ammo>().not_replicated()
//             .property<&Pawn::position>().quantised(Quantisation::tenth())
//             .bit<[](Pawn& pawn, bool is_set) { pawn.is_crouched = is_set; }>("is_crouched")
//             .pre_net_receive<&Pawn::pre_net_receive>()   // before a block is applied
//             .function<FireParameters>("ServerFire",
//                                       FunctionFlags::Server | FunctionFlags::Reliable)
//             .build();                               // Result<const Type*>
//
// What is taken from the type, and from where:
//
//     kind of a member      KindOf<Member>; of an array its element; of a wrapper its value
//                           (ReplicatedValue)
//     name of a member      the member pointer, as written in the program
//     traits of a struct    StructTraitsOf<T>; what it promises and T lacks does not compile
//     life of a struct      its constructors, assignment, destructor and operator==
//     life of a class       its default constructor and destructor, nothing else
//
// A member may belong to a base that is not registered; its offset is that in T. A member that is
// private is reached by a builder function that is a friend. Errors are collected: build() reports
// the first. A builder is made, used and thrown away by one thread.
#pragma once

#include <replayout/reflection/call_function.h>
#include <replayout/reflection/call_notify.h>
#include <replayout/reflection/describe_value.h>
#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/member_pointer.h>
#include <replayout/reflection/property_builder.h>
#include <replayout/reflection/replicated_value.h>
#include <replayout/reflection/struct_traits.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace replayout {

/// Describes the C++ type `T`; made by class_builder and struct_builder. See the head of this file.
template <typename T>
class TypeBuilder {
    static_assert(std::is_class_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>);
    static_assert(sizeof(T) <= std::numeric_limits<std::uint32_t>::max());

  public:
    /// `registry` must outlive the builder; `name` is the type's name on both ends; `ops` are what
    /// class_builder and struct_builder differ in.
    TypeBuilder(TypeRegistry& registry, TypeKind kind, std::string_view name, const TypeOps& ops)
        : builder_(registry, kind, name, static_cast<std::uint32_t>(sizeof(T)),
                   static_cast<std::uint32_t>(alignof(T))) {
        builder_.key(type_key_of<T>()).traits(make_struct_traits<T>()).ops(ops);
    }

    /// The base whose properties and functions this type inherits. Must be registered already, and
    /// neither virtual nor ambiguous.
    template <typename Base>
    TypeBuilder& base() {
        static_assert(
            detail::PlainBaseOf<T, Base>,
            "base<B>() needs a base of the type that is accessible, unambiguous, not virtual");
        if (const Type* base = builder_.registry().find(type_key_of<Base>())) {
            builder_.base(*base, static_cast<std::uint32_t>(detail::offset_of_base<T, Base>()));
        } else {
            refuse_unknown("base", {}, detail::name_of_type<Base>());
        }
        return *this;
    }

    /// A member. The answer goes on with what can be said of that property, and with the type.
    template <auto Member>
    auto property(std::string_view name = detail::name_of_member<Member>()) {
        using Declared = typename ReplicatedValue<
            typename detail::MemberPointer<decltype(Member)>::value_type>::type;
        using Value = typename detail::Elements<Declared>::element_type;
        Property property;
        property.name = name;
        property.offset = static_cast<std::uint32_t>(detail::offset_of_member<T, Member>());
        property.array_dim = static_cast<std::uint32_t>(detail::Elements<Declared>::count);
        const std::string_view unknown =
            detail::describe_value<Value>(builder_.registry(), property);
        if (!unknown.empty()) {
            refuse_unknown("property", name, unknown);
        }
        builder_.property(std::move(property));
        return PropertyBuilder<T, Declared>(*this);
    }

    /// A bool in a bitfield, which has no member pointer: `Set` is void(T&, bool), sets it and
    /// nothing else. The type needs a default constructor, to find the bit with.
    template <auto Set>
    auto bit(std::string_view name) {
        static_assert(std::is_invocable_v<decltype(Set), T&, bool>,
                      "bit<f> needs void f(T&, bool)");
        static_assert(
            std::is_default_constructible_v<T>,
            "the place of a bit is found with an object: give it to a DynamicTypeBuilder");
        const detail::BitPosition position = detail::position_of_bit<T, Set>();
        builder_.property(
            bit_property(name, position.mask, static_cast<std::uint32_t>(position.offset)));
        return PropertyBuilder<T, bool>(*this);
    }

    /// A function; `parameters` is a struct type, or null when it has none.
    TypeBuilder& function(std::string_view name, FunctionFlags flags,
                          const Type* parameters = nullptr) {
        builder_.function(name, flags, parameters);
        return *this;
    }

    /// A function whose parameters are the struct `Parameters`, registered already.
    template <typename Parameters>
    TypeBuilder& function(std::string_view name, FunctionFlags flags) {
        const Type* parameters = builder_.registry().find(type_key_of<Parameters>());
        if (parameters == nullptr) {
            refuse_unknown("function", name, detail::name_of_type<Parameters>());
        }
        return function(name, flags, parameters);
    }

    /// `Member` is what a remote call runs: void f() or void f(const Parameters&) of the object,
    /// const or not, or a free function void f(T&) or void f(T&, const Parameters&); `Parameters`
    /// is a struct that is registered already. `Validate`, a bool of the same form, is asked first
    /// when the call comes from a client, and adds the flag WithValidation.
    template <auto Member, auto Validate = nullptr>
    TypeBuilder& function(FunctionFlags flags,
                          std::string_view name = detail::name_of_member<Member>()) {
        using Parameters = typename detail::RemoteParameters<decltype(Member)>::type;
        FunctionThunk thunk;
        thunk.call = detail::call_remote<T, Member, Parameters>;
        if constexpr (!std::is_null_pointer_v<decltype(Validate)>) {
            thunk.validate = detail::validate_remote<T, Validate, Parameters>;
            flags = flags | FunctionFlags::WithValidation;
        }
        const Type* parameters = nullptr;
        if constexpr (!std::is_void_v<Parameters>) {
            parameters = builder_.registry().find(type_key_of<Parameters>());
            if (parameters == nullptr) {
                refuse_unknown("function", name, detail::name_of_type<Parameters>());
            }
        }
        builder_.function(name, flags, parameters, thunk, function_key_of<Member>());
        return *this;
    }

    /// `Function` runs before a block is applied, after that, and after the notifies; see
    /// ReceiveHooks. A member function without parameters, or a free one that takes the object.
    template <auto Function>
    TypeBuilder& pre_net_receive() {
        hooks_.pre_net_receive = {detail::call_hook<T, Function>, nullptr};
        return *this;
    }
    template <auto Function>
    TypeBuilder& post_net_receive() {
        hooks_.post_net_receive = {detail::call_hook<T, Function>, nullptr};
        return *this;
    }
    template <auto Function>
    TypeBuilder& post_rep_notifies() {
        hooks_.post_rep_notifies = {detail::call_hook<T, Function>, nullptr};
        return *this;
    }

    /// Checks the type and adds it to the registry; see TypeRegistry for what is refused. Once
    /// only.
    [[nodiscard]] Result<const Type*> build() { return builder_.hooks(hooks_).build(); }

  private:
    template <typename, typename>
    friend class PropertyBuilder;

    /// Notes that `member` needs the C++ type `type`, which the registry does not know.
    void refuse_unknown(std::string_view member, std::string_view name, std::string_view type) {
        std::string text = "type \"" + builder_.description().name + "\": " + std::string(member);
        if (!name.empty()) {
            text += " \"" + std::string(name) + '"';
        }
        text += ": C++ type " + std::string(type) + " must be registered before";
        builder_.refuse({ErrorCode::UnknownType, std::move(text)});
    }

    DynamicTypeBuilder builder_;
    ReceiveHooks hooks_;
};

/// Describes a class: its objects are replicated by themselves.
template <typename T>
[[nodiscard]] TypeBuilder<T> class_builder(TypeRegistry& registry, std::string_view name) {
    return TypeBuilder<T>(registry, TypeKind::Class, name, make_class_ops<T>());
}

/// Describes a struct: its values are members of other types, or parameters of functions.
template <typename T>
[[nodiscard]] TypeBuilder<T> struct_builder(TypeRegistry& registry, std::string_view name) {
    return TypeBuilder<T>(registry, TypeKind::Struct, name, make_type_ops<T>());
}

}  // namespace replayout
