// SPDX-License-Identifier: MIT
//
// A function that the game hands to the library, which calls it later: a callback of a collection,
// a spawn handler. While it runs it may be cleared or replaced, also by itself: what runs stays
// alive until it returns, and the next call finds the new one.
//
//     bag.items.on_add = [&bag](std::uint32_t index) {
//         bag.items.on_add = nullptr;  // only the first one
//         welcome(bag.items[index]);
//     };
//
// Assigning allocates; calling does not.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace replayout {

template <typename Signature>
class Callback;

/// Copies share the function, with what it captured. One thread at a time.
template <typename Result, typename... Arguments>
class Callback<Result(Arguments...)> {
  public:
    Callback() = default;
    Callback(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
    /// Whatever a std::function may be made of; an empty one makes an empty callback.
    template <typename Function>
    requires(!std::same_as<std::remove_cvref_t<Function>, Callback> &&
             std::is_invocable_r_v<Result, std::remove_cvref_t<Function>&, Arguments...>)
        Callback(Function&& function) {  // NOLINT(google-explicit-constructor)
        std::function<Result(Arguments...)> made(std::forward<Function>(function));
        if (made) {
            function_ = std::make_shared<std::function<Result(Arguments...)>>(std::move(made));
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return function_ != nullptr; }

    /// Calls the function, which may destroy this callback. Requires that there is one.
    Result operator()(Arguments... arguments) const {
        const auto running = function_;
        return (*running)(std::forward<Arguments>(arguments)...);
    }

  private:
    std::shared_ptr<std::function<Result(Arguments...)>> function_;
};

}  // namespace replayout
