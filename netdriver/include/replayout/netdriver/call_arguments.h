// SPDX-License-Identifier: MIT
//
// The parameters of a remote call, on loan for the call: where they lie, and their type. A call
// with parameters of another type is refused, and their memory is not read.
//
//     driver.call_function(id, "server_fire", &order);                      // a C++ struct
//     driver.call_function(id, "server_fire", CallArguments(memory, type));    // a script's
//     driver.call_function(id, "server_reload");                            // none
#pragma once

#include <replayout/reflection/type.h>
#include <replayout/reflection/type_key.h>

#include <cstddef>
#include <type_traits>

namespace replayout {

class CallArguments {
  public:
    CallArguments() = default;
    CallArguments(std::nullptr_t) noexcept {}
    /// `T` is the registered type itself, and not one derived from it. Null: no parameters.
    template <typename T>
    requires std::is_object_v<T> CallArguments(const T* params)
    noexcept : memory_(params), key_(type_key_of<T>()) {}
    /// A pointer alone does not tell its type: pass the type too.
    CallArguments(const void*) = delete;
    /// `memory` is an object of `type`; both null: no parameters. For types that were described
    /// without a C++ type, and for callers in another shared library than the one that registered
    /// the type (type_key.h).
    CallArguments(const void* memory, const Type* type) noexcept
        : memory_(memory), type_(type), key_(type != nullptr ? type->key() : TypeKey()) {}

    [[nodiscard]] const void* memory() const noexcept { return memory_; }
    /// Whether a function with these parameters may be called; null: it has none.
    [[nodiscard]] bool are_of(const Type* parameters) const noexcept {
        if (memory_ == nullptr || parameters == nullptr) {
            return memory_ == nullptr && parameters == nullptr;
        }
        return type_ == parameters || (!key_.is_null() && key_ == parameters->key());
    }
    /// Null: there are no parameters, or only the key of their type is known.
    [[nodiscard]] const Type* type() const noexcept { return type_; }
    [[nodiscard]] TypeKey key() const noexcept { return key_; }

  private:
    const void* memory_ = nullptr;
    const Type* type_ = nullptr;
    TypeKey key_;
};

using CallParams = CallArguments;  ///< the name of before, for one version

}  // namespace replayout
