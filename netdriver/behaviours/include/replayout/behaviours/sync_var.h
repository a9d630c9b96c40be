// SPDX-License-Identifier: MIT
//
// SyncVar: a member of a NetworkBehaviour that is kept the same on all clients (Unity: [SyncVar]).
//
//     class Player : public NetworkBehaviour {
//       public:
//         SyncVar<std::int32_t> health = 100;
//         SyncVar<std::string> name;
//     };
//
//     player.health -= 20;              // stored, and sent with the next late_update()
//     player.health = player.health;    // the same value: costs a comparison, and nothing else
//
// Assignment compares, and stores only a change; that sets the variable's bit in the behaviour's
// dirty mask, which is the push-model mark of its property in the layout below. What a client is
// sent is written past the wrapper, and its hook runs (BehaviourBuilder::sync_var).
#pragma once

#include <replayout/reflection/replicated_value.h>

#include <concepts>
#include <cstdint>
#include <utility>

namespace replayout {

class NetworkBehaviour;

namespace detail {

/// Where a SyncVar belongs to: so many bytes behind its NetworkBehaviour, and which bit it has
/// there. Nowhere, distance 0, until the behaviour is a component of an identity. Four bytes, so
/// that a SyncVar of a float takes eight.
struct SyncVarLink {
    std::uint32_t distance : 24 = 0;
    std::uint32_t bit : 8 = 0;
};
inline constexpr std::uint32_t sync_var_distance_max = (1u << 24) - 1;

/// The variable at `variable` is about to become `*next`: hooks of UNet's style run on a host.
/// False: a limit of the prefab refuses that value.
[[nodiscard]] bool before_sync_var_changes(void* variable, const SyncVarLink& link,
                                           const void* next);
/// The variable at `variable` is about to be copied, changed and stored again: it names nothing
/// that left before.
void before_sync_var_is_modified(void* variable, const SyncVarLink& link);
/// The variable at `variable` was `*previous` until now.
void after_sync_var_changed(void* variable, const SyncVarLink& link, const void* previous);

}  // namespace detail

/// A value that remembers to be sent. Behaves as a `T` that is read through get() or by conversion.
/// `T` is whatever a property may be (reflection/kind_of.h), copies, and compares with ==. If the
/// game assigns it on a client, the value stays until the server sends another one. One thread at a
/// time, that of the server or client.
///
/// A reference in it, also in a struct or an array, never outlives its object. It is null at an end
/// that does not have the object, and becomes null when the object is unspawned, hidden or
/// destroyed there, at the latest when the current or next early_update() or late_update() returns.
/// Its hook runs then, and finds null already stored. Hooks that end one object after another
/// are stopped after 1,000 rounds, with a warning: then variables become null without a hook. On a
/// client, a reference that the server sent comes back with the object. The same object spawned
/// again is another object. A reference to an object of another server or client is refused: the
/// variable stays as it is.
template <typename T>
class SyncVar {
  public:
    using value_type = T;

    SyncVar() = default;
    /// A value to begin with, which is that of the prefab.
    SyncVar(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
    /// The value alone is copied.
    SyncVar(const SyncVar& other) : value_(other.value_) {}
    ~SyncVar() = default;

    SyncVar& operator=(const SyncVar& other) {
        set(other.value_);
        return *this;
    }
    SyncVar& operator=(T value) {
        set(std::move(value));
        return *this;
    }

    [[nodiscard]] const T& get() const noexcept { return value_; }
    operator const T&() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)
    [[nodiscard]] const T& operator*() const noexcept { return value_; }
    [[nodiscard]] const T* operator->() const noexcept { return &value_; }

    /// Compares, and stores only a change. False, and an error in the log: the value cannot be
    /// sent, because text or an array in it is beyond a limit of the prefab (RepLimits), or text is
    /// not UTF-8. The variable stays as it is. An assignment does the same.
    bool set(T value) {
        if (link_.distance == 0) {
            value_ = std::move(value);
            return true;
        }
        if (!detail::before_sync_var_changes(this, link_, &value)) {
            return false;
        }
        if (!(value_ == value)) {
            using std::swap;  // std::array has one of its own
            swap(value_, value);
            detail::after_sync_var_changed(this, link_, &value);
        }
        return true;
    }

    /// To change a part of a larger value: `change` receives the value, which is stored if it then
    /// differs. False as for set().
    template <std::invocable<T&> Change>
    bool modify(Change&& change) {
        if (link_.distance != 0) {
            detail::before_sync_var_is_modified(this, link_);
        }
        T value = value_;
        std::forward<Change>(change)(value);
        return set(std::move(value));
    }

    SyncVar& operator+=(const T& value) requires requires(T sum) { sum + value; }
    {
        set(static_cast<T>(value_ + value));
        return *this;
    }
    SyncVar& operator-=(const T& value) requires requires(T difference) { difference - value; }
    {
        set(static_cast<T>(value_ - value));
        return *this;
    }
    SyncVar& operator++() requires std::integral<T> {
        set(static_cast<T>(value_ + 1));
        return *this;
    }
    SyncVar& operator--() requires std::integral<T> {
        set(static_cast<T>(value_ - 1));
        return *this;
    }

    /// For BehaviourType, when the behaviour becomes a component.
    static void bind(void* variable, const detail::SyncVarLink& link) noexcept {
        static_cast<SyncVar*>(variable)->link_ = link;
    }

  private:
    T value_{};  // First: ReplicatedValue.
    detail::SyncVarLink link_;
};

}  // namespace replayout

/// The engine reads and writes the value in place.
template <typename T>
struct replayout::ReplicatedValue<replayout::SyncVar<T>> {
    using type = T;
};
