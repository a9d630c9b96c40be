// SPDX-License-Identifier: MIT
//
// The half of the typed door that speaks of one property: what can be said behind .property<...>().
// Whoever describes types includes type_builder.h, which tells the whole.
#pragma once

#include <replayout/reflection/array_key.h>
#include <replayout/reflection/call_notify.h>
#include <replayout/reflection/elements.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/function.h>
#include <replayout/reflection/fwd.h>
#include <replayout/reflection/lifetime_condition.h>
#include <replayout/reflection/member_pointer.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/quantisation.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace replayout {

namespace detail {

template <typename Value>
concept HasElements = requires {
    typename Value::value_type;
};

}  // namespace detail

template <typename T>
class TypeBuilder;

/// What can be said of the property just declared, a member of the type `Declared`; the rest is
/// passed on to the type's builder, on which this is a loan.
template <typename T, typename Declared>
class PropertyBuilder {
    using Value = typename detail::Elements<Declared>::element_type;

  public:
    explicit PropertyBuilder(TypeBuilder<T>& type) noexcept : type_(&type) {}

    /// Of a class: `Function` is called after an update of this property: `void f()` or `void
    /// f(const Declared& previous)` of the object, or a free function that takes the object
    /// besides. Of an array it runs once, whatever changed in it: `void f(const Slot
    /// (&previous)[4])`, `void f(const std::array<Slot, 4>& previous)`, or of both kinds `void
    /// f(std::span<const Slot> previous)`.
    template <auto Function>
    PropertyBuilder& on_rep(RepNotify when = RepNotify::OnChanged) {
        type_->builder_.on_rep({detail::call_notify<T, Declared, Function>, nullptr, when});
        return *this;
    }

    /// The member is sent to those that meet `condition`.
    PropertyBuilder& condition(LifetimeCondition condition) {
        type_->builder_.condition(condition);
        return *this;
    }

    /// The member is compared only where the game has marked it as changed.
    PropertyBuilder& push_based() {
        type_->builder_.push_based();
        return *this;
    }

    /// After this time a change that the Identical of a struct in the member tolerates is sent,
    /// too, so that no client differs by a small amount for ever. 1 to 3,600,000 milliseconds;
    /// without it such a change waits for one that is large enough. Such a struct needs operator==
    /// beside Identical. Whatever is compared otherwise, quantised values too, is sent with each
    /// change that a client could see.
    PropertyBuilder& sent_within_ms(std::uint32_t milliseconds) {
        type_->builder_.sent_within_ms(milliseconds);
        return *this;
    }

    /// The member is known and never sent.
    PropertyBuilder& not_replicated() {
        type_->builder_.not_replicated();
        return *this;
    }

    /// How the member travels; of an array, how its elements do.
    PropertyBuilder& quantised(const Quantisation& quantisation) {
        type_->builder_.quantised(quantisation);
        return *this;
    }

    /// Elements are told apart by `Key`, an integer or enum that each has: what is inserted,
    /// removed or moved is sent, not what stands behind it.
    template <auto Key>
    PropertyBuilder& keyed_by(ArrayOrder order = ArrayOrder::Free) {
        using Element = typename detail::MemberPointer<decltype(Key)>::class_type;
        using KeyType = typename detail::MemberPointer<decltype(Key)>::value_type;
        static_assert(detail::HasElements<Value>, "keyed_by is for arrays");
        if constexpr (detail::HasElements<Value>) {  // else one sentence is enough
            static_assert(std::is_same_v<typename Value::value_type, Element> ||
                              std::is_base_of_v<Element, typename Value::value_type>,
                          "keyed_by needs a member of the elements of an array");
            static_assert((std::is_integral_v<KeyType> && !std::is_same_v<KeyType, bool>) ||
                              std::is_enum_v<KeyType>,
                          "a key is an integer or an enum");
            type_->builder_.keyed_by(
                static_cast<std::uint32_t>(
                    detail::offset_of_member<typename Value::value_type, Key>()),
                static_cast<std::uint32_t>(sizeof(KeyType)), order);
        }
        return *this;
    }

    /// The array, which is keyed, says itself what changed; see <replayout/fast_array.h>.
    PropertyBuilder& fast_array(const FastArrayOps& fast) {
        type_->builder_.fast_array(fast);
        return *this;
    }

    template <auto Member>
    auto property(std::string_view name = detail::name_of_member<Member>()) {
        return type_->template property<Member>(name);
    }

    template <auto Set>
    auto bit(std::string_view name) {
        return type_->template bit<Set>(name);
    }

    TypeBuilder<T>& function(std::string_view name, FunctionFlags flags,
                             const Type* parameters = nullptr) {
        return type_->function(name, flags, parameters);
    }

    template <typename Parameters>
    TypeBuilder<T>& function(std::string_view name, FunctionFlags flags) {
        return type_->template function<Parameters>(name, flags);
    }

    template <auto Member, auto Validate = nullptr>
    TypeBuilder<T>& function(FunctionFlags flags,
                             std::string_view name = detail::name_of_member<Member>()) {
        return type_->template function<Member, Validate>(flags, name);
    }

    template <auto Function>
    TypeBuilder<T>& pre_net_receive() {
        return type_->template pre_net_receive<Function>();
    }
    template <auto Function>
    TypeBuilder<T>& post_net_receive() {
        return type_->template post_net_receive<Function>();
    }
    template <auto Function>
    TypeBuilder<T>& post_rep_notifies() {
        return type_->template post_rep_notifies<Function>();
    }

    [[nodiscard]] Result<const Type*> build() { return type_->build(); }

  private:
    TypeBuilder<T>* type_;
};

}  // namespace replayout
