// SPDX-License-Identifier: MIT
//
// Describes a class of behaviours from outside, as class_builder describes a class.
//
//     auto player = BehaviourBuilder<Player>(types, "Player")
//                       .base<Character>()                        // built before
//                       .sync_var<&Player::health, &Player::on_health_changed>()  // and its hook
//                       .sync_var<&Player::ammo>()
//                       .sync_mode(SyncMode::Owner)               // of the variable above
//                       .sync_list<&Player::items>()
//                       .command<&Player::cmd_fire>()
//                       .build();                                 // Result<const BehaviourType*>
//
// Variables have their bits in the order of declaration here, those of the base first, however deep
// that is. More than 64 are refused, and the error names the one that is too many.
#pragma once

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/behaviours/network_behaviour.h>
#include <replayout/behaviours/network_types.h>
#include <replayout/behaviours/sync_collection.h>
#include <replayout/reflection/member_property.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace replayout {

enum class SyncDictionaryOperation : std::uint8_t;
enum class SyncListOperation : std::uint8_t;
enum class SyncSetOperation : std::uint8_t;

namespace detail {

template <typename T, auto Function, typename Value>
void call_hook(void* owner, const void* previous, const void* current) {
    using Callable = decltype(Function);
    T& object = *static_cast<T*>(owner);
    const Value& value = *static_cast<const Value*>(current);
    if constexpr (std::is_invocable_v<Callable, T&, const Value&, const Value&>) {
        std::invoke(Function, object, *static_cast<const Value*>(previous), value);
    } else {
        static_assert(std::is_invocable_v<Callable, T&, const Value&>,
                      "a hook is void f(previous, current) or void f(current) of the object, or a "
                      "free function that takes the object before these");
        std::invoke(Function, object, value);
    }
}

template <typename T, auto Function, typename Value>
[[nodiscard]] SyncVarHook make_hook() {
    SyncVarHook hook;
    hook.call = call_hook<T, Function, Value>;
    hook.replace = [](void* owner, void* value, const void* previous) {
        auto& variable = *static_cast<Value*>(value);
        const Value received = std::exchange(variable, *static_cast<const Value*>(previous));
        call_hook<T, Function, Value>(owner, previous, &received);
    };
    return hook;
}

template <typename Declares, typename Function>
[[nodiscard]] consteval bool is_declared_by(Function Declares::*) noexcept {
    return !std::is_same_v<Declares, NetworkBehaviour>;
}

/// The class, or a base of it, overrides NetworkBehaviour::on_serialize(). If the name is not
/// accessible, the class counts as one that does.
template <typename T>
[[nodiscard]] consteval bool overrides_on_serialize() noexcept {
    if constexpr (requires { &T::on_serialize; }) {
        return is_declared_by(&T::on_serialize);
    } else {
        return true;
    }
}

}  // namespace detail

/// Made, used and thrown away by one thread. Errors are collected: build() reports the first.
/// `IsCustom`: the class or a base of it declared custom_serialization().
template <std::derived_from<NetworkBehaviour> T, bool IsCustom = false>
class BehaviourBuilder {
  public:
    /// `types` must outlive the builder; `name` is the class's name on both ends.
    BehaviourBuilder(NetworkTypes& types, std::string_view name) : types_(types) {
        type_.name = name;
        type_.ops = make_class_ops<T>();
        type_.behaviour_offset = base_offset<T, NetworkBehaviour>();
        type_.classes.push_back({type_key_of<T>(), 0});
    }

    /// The class whose variables and functions this one inherits, built before; to be said first.
    template <typename Base>
    decltype(auto) base() {
        add_base<Base>();
        if constexpr (detail::overrides_on_serialize<Base>() && !IsCustom) {
            return custom_serialization();
        } else {
            return *this;
        }
    }

    /// A member SyncVar<Value>. `Hook` runs when it changed: void f(previous, current) or
    /// void f(current) of the object, or a free function that takes the object before these; when
    /// exactly, SyncSettings::hook_style says. `name` is that of the member, on both ends.
    template <auto Member, auto Hook = nullptr>
    BehaviourBuilder& sync_var(std::string_view name = member_name<Member>()) {
        using Variable = typename MemberTypeOf<decltype(Member)>::type;
        using Value = typename Variable::value_type;
        static_assert(std::is_same_v<Variable, SyncVar<Value>>, "sync_var is for a SyncVar<T>");
        static_assert(!detail::overrides_on_serialize<T>(),
                      "a class that overrides on_serialize() writes all of itself and has no "
                      "SyncVars: remove the override, or move it to a behaviour of its own");
        Result<Property> property = member_property<T, Member>(types_.registry(), name);
        if (!property) {
            return refuse(property.error().code, property.error().message);
        }
        property->is_push_based = true;
        property->ops = make_type_ops<typename replayout::detail::Elements<Value>::element_type>();
        SyncVarInfo variable;
        variable.property = std::move(*property);
        variable.bind = [](void* memory, const detail::SyncVarLink& link) noexcept {
            Variable::bind(memory, link);
        };
        if constexpr (!std::is_null_pointer_v<decltype(Hook)>) {
            variable.hook = detail::make_hook<T, Hook, Value>();
        }
        return add(std::move(variable));
    }

    /// Of the variable just said: who is sent it, of those who are sent the component.
    BehaviourBuilder& sync_mode(SyncMode mode) {
        return change_last("a sync mode", [&](SyncVarInfo& last) { last.sync_mode = mode; });
    }

    /// Of the variable just said: how it travels.
    BehaviourBuilder& quantised(const Quantisation& quantisation) {
        return change_last("a quantisation",
                           [&](SyncVarInfo& last) { last.property.quantisation = quantisation; });
    }

    /// A member SyncList<Item>; up to 64 collections, those of bases included. A struct of items is
    /// registered before.
    template <auto Member>
    BehaviourBuilder& sync_list(std::string_view name = member_name<Member>()) {
        return collection<Member, SyncListOperation>(name);
    }
    /// A member SyncDictionary<Key, Value>.
    template <auto Member>
    BehaviourBuilder& sync_dictionary(std::string_view name = member_name<Member>()) {
        return collection<Member, SyncDictionaryOperation>(name);
    }
    /// A member SyncSet<Item>.
    template <auto Member>
    BehaviourBuilder& sync_set(std::string_view name = member_name<Member>()) {
        return collection<Member, SyncSetOperation>(name);
    }

    /// The class serializes itself, by NetworkBehaviour::on_serialize(). It has no SyncVars then,
    /// nor have its bases; it may have collections. Continue the chain on what this returns. A
    /// class that overrides on_serialize() does not compile unless it or a base of it declares
    /// this.
    [[nodiscard]] BehaviourBuilder<T, true> custom_serialization() {
        type_.has_custom_serialization = true;
        return BehaviourBuilder<T, true>(types_, std::move(type_), std::move(error_));
    }

    /// `Member` is void f() or void f(const Parameters&) of the object; `Parameters` is a struct
    /// that NetworkTypes::registry() knows. Called by the client that owns the object
    /// (NetworkBehaviour::call<&Player::cmd_fire>()), it runs on the server.
    template <auto Member>
    BehaviourBuilder& command(std::string_view name = member_name<Member>()) {
        return function<Member>(name, FunctionFlags::Server | FunctionFlags::Reliable);
    }
    /// Called by the server, it runs on all clients that see the object.
    template <auto Member>
    BehaviourBuilder& client_rpc(std::string_view name = member_name<Member>()) {
        return function<Member>(name, FunctionFlags::Multicast | FunctionFlags::Reliable);
    }
    /// Called by the server, it runs on the client that owns the object.
    template <auto Member>
    BehaviourBuilder& target_rpc(std::string_view name = member_name<Member>()) {
        return function<Member>(name, FunctionFlags::Client | FunctionFlags::Reliable);
    }

    /// The function declared before this is sent once and may be lost. If the server calls it, the
    /// state of its SyncVars goes with it. It overtakes operations of collections, sections of
    /// custom serialization and what an owner decides if these were lost on the way and it was not.
    BehaviourBuilder& unreliable() {
        if (type_.functions.empty()) {
            return refuse(ErrorCode::InvalidArgument, "unreliable() stands after its function");
        }
        FunctionFlags& flags = type_.functions.back().function.flags;
        flags = static_cast<FunctionFlags>(static_cast<std::uint8_t>(flags) &
                                           ~static_cast<std::uint8_t>(FunctionFlags::Reliable));
        return *this;
    }

    /// Adds the class to the NetworkTypes. Once only.
    [[nodiscard]] Result<const BehaviourType*> build() {
        static_assert(IsCustom || !detail::overrides_on_serialize<T>(),
                      "the class overrides on_serialize(), which nobody would call: say "
                      ".custom_serialization() in the chain before .build()");
        if (type_.has_custom_serialization && !type_.sync_vars.empty()) {
            refuse(ErrorCode::InvalidArgument, "serializes itself, and so cannot have SyncVar \"" +
                                                   type_.sync_vars.front().property.name + "\"");
        }
        refuse_twins();
        if (error_.code != ErrorCode::Ok) {
            return std::move(error_);
        }
        return types_.add_behaviour(std::move(type_), type_key_of<T>());
    }

  private:
    template <std::derived_from<NetworkBehaviour> Other, bool IsOtherCustom>
    friend class BehaviourBuilder;

    BehaviourBuilder(NetworkTypes& types, BehaviourType type, Error error)
        : types_(types), type_(std::move(type)), error_(std::move(error)) {}

    template <typename Pointer>
    struct MemberTypeOf;
    template <typename Class, typename Member>
    struct MemberTypeOf<Member Class::*> {
        using type = Member;
    };

    template <typename Base>
    BehaviourBuilder& add_base() {
        const BehaviourType* base = types_.find_behaviour(type_key_of<Base>());
        if (base == nullptr) {
            return refuse(ErrorCode::UnknownType, "its base must be built before");
        }
        if (!type_.sync_vars.empty() || !type_.functions.empty() || !type_.collections.empty()) {
            return refuse(ErrorCode::BaseMismatch, "its base must be said before its members");
        }
        const std::uint32_t offset = base_offset<T, Base>();
        for (const BehaviourType::Class& known : base->classes) {
            type_.classes.push_back({known.key, offset + known.offset});
        }
        for (SyncVarInfo variable : base->sync_vars) {
            variable.property.offset += offset;
            variable.owner_offset += offset;
            type_.sync_vars.push_back(std::move(variable));
        }
        for (SyncCollectionInfo collection : base->collections) {
            collection.property.offset += offset;
            collection.offset += offset;
            type_.collections.push_back(std::move(collection));
        }
        type_.has_custom_serialization |= base->has_custom_serialization;
        for (BehaviourFunction function : base->functions) {
            function.owner_offset += offset;
            type_.functions.push_back(std::move(function));
        }
        return *this;
    }

    template <typename Change>
    BehaviourBuilder& change_last(const std::string& what, const Change& change) {
        if (type_.sync_vars.empty()) {
            return refuse(ErrorCode::InvalidArgument, what + " stands behind its variable");
        }
        change(type_.sync_vars.back());
        return *this;
    }

    template <auto Member>
    BehaviourBuilder& function(std::string_view name, FunctionFlags flags) {
        Result<Function> function = member_function<T, Member>(types_.registry(), flags, name);
        if (!function) {
            return refuse(function.error().code, function.error().message);
        }
        type_.functions.push_back({std::move(*function), detail::remote_function_key<Member>()});
        return *this;
    }

    template <auto Member, typename Operation>
    BehaviourBuilder& collection(std::string_view name) {
        using Collection = typename MemberTypeOf<decltype(Member)>::type;
        static_assert(std::is_same_v<typename Collection::Operation, Operation>,
                      "a collection is said by the function of its kind");
        if (type_.collections.size() == sync_vars_max) {
            return refuse(ErrorCode::LimitExceeded, "collection \"" + std::string(name) +
                                                        "\" is one too many: a behaviour has " +
                                                        std::to_string(sync_vars_max) +
                                                        " at most, those of its bases included");
        }
        const Result<detail::CollectionTypes> types = Collection::describe_types(types_.registry());
        if (!types) {
            return refuse(types.error().code,
                          "collection \"" + std::string(name) + "\": " + types.error().message);
        }
        SyncCollectionInfo info;
        info.offset = member_offset<T, Member>();
        info.property =
            struct_property(name, *types->state, info.offset + Collection::state_offset());
        info.property.is_push_based = true;
        info.property.condition = LifetimeCondition::InitialOnly;
        info.changes = types->changes;
        info.has_invalid_items = Collection::has_invalid_items;
        info.at = [](void* memory) noexcept -> SyncCollection& {
            return *static_cast<Collection*>(memory);
        };
        type_.collections.push_back(std::move(info));
        return *this;
    }

    BehaviourBuilder& add(SyncVarInfo variable) {
        if (type_.sync_vars.size() == sync_vars_max) {
            return refuse(ErrorCode::LimitExceeded, "SyncVar \"" + variable.property.name +
                                                        "\" is one too many: a behaviour "
                                                        "has " +
                                                        std::to_string(sync_vars_max) +
                                                        " at most, those of its bases included");
        }
        type_.sync_vars.push_back(std::move(variable));
        return *this;
    }

    /// A member, or a name, is that of one SyncVar.
    void refuse_twins() {
        for (auto later = type_.sync_vars.begin(); later != type_.sync_vars.end(); ++later) {
            for (auto known = type_.sync_vars.begin(); known != later; ++known) {
                if (known->property.name == later->property.name ||
                    known->property.offset == later->property.offset) {
                    refuse(ErrorCode::DuplicateName, "SyncVar \"" + later->property.name +
                                                         "\" is declared twice, as \"" +
                                                         known->property.name + "\" before");
                }
            }
        }
    }

    BehaviourBuilder& refuse(ErrorCode code, const std::string& why) {
        if (error_.code == ErrorCode::Ok) {
            error_ = {code, "behaviour \"" + type_.name + "\": " + why};
        }
        return *this;
    }

    NetworkTypes& types_;
    BehaviourType type_;
    Error error_;
};

}  // namespace replayout
