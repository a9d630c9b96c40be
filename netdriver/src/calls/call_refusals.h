// SPDX-License-Identifier: MIT
//
// What is checked of a remote call before it is queued, on both ends, and the sentence of its
// refusal.
#pragma once

#include <replayout/netdriver/call_arguments.h>
#include <replayout/netdriver/calls.h>
#include <replayout/rep_layout.h>

#include <optional>
#include <string_view>

#include "refusal_text.h"

namespace replayout {

/// The function that a call means, of that layout.
[[nodiscard]] std::optional<FunctionIndex> find_called(const RepLayout& layout,
                                                       const CalledFunction& function) noexcept;
/// There is such a function, and it takes these parameters.
[[nodiscard]] bool is_callable(const RepLayout& layout, FunctionIndex function,
                               const CallArguments& params) noexcept;
/// Why it is not.
[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText uncallable(
    const RepLayout& layout, FunctionIndex function, const CallArguments& params) noexcept;
/// For the log.
[[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText unknown_function(
    const RepLayout& layout, std::string_view function) noexcept;

}  // namespace replayout
