// SPDX-License-Identifier: MIT
//
// What W1 is defined for, and what a machine has room for; beyond that nothing is measured.
#pragma once

#include "w1/w1_options.h"

#include <cstdint>
#include <string>

namespace replayout::bench {

class ServerSession;

inline constexpr std::uint32_t w1_ticks_max = 1'000'000;
inline constexpr std::uint32_t w1_turn_max = 1'000;
inline constexpr std::uint32_t w1_workers_max = 16;

/// Why these objects and connections are refused before anything is made. Empty: they are not.
[[nodiscard]] std::string refusal_of(const W1Options& options);

/// Why they are refused now that all have joined: objects take more packets than W1 is defined for.
/// Empty: they are not.
[[nodiscard]] std::string refusal_of(const W1Options& options, const ServerSession& session);

/// So many objects that one connection is to be asked first how many packets they take: to have all
/// join takes long then.
[[nodiscard]] bool is_tried_first(const W1Options& options) noexcept;

}  // namespace replayout::bench
