// SPDX-License-Identifier: MIT
//
// What a hostile peer does, and what an honest game does meanwhile, as a list of steps. A step is a
// kind and six numbers, of which any values mean something, so whatever changes a list leaves one
// that can be played. A line of text is a step:
//
//     acks 0 1 8 0 0 0
//
// hostile_client.h and hostile_server.h have the meaning of each kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::worst {

/// Which end is ours, and is measured.
enum class Side : std::uint8_t { Server, Client };

enum class StepKind : std::uint8_t {
    // The game of a server.
    Add,
    Remove,
    Play,
    Neighbour,
    // A hostile client.
    Hello,
    // A hostile server.
    Open,
    Close,
    Blocks,
    Values,
    Message,
    Control,
    // Either.
    Acks,
    Calls,
    Part,
    Junk,
    Flip,
    Hold,
    Wait,
};
inline constexpr std::size_t step_kind_count = 18;
inline constexpr std::size_t step_number_count = 6;
inline constexpr std::size_t steps_max = 48;

struct Step {
    StepKind kind = StepKind::Wait;
    std::array<std::uint32_t, step_number_count> numbers{};

    friend bool operator==(const Step&, const Step&) noexcept = default;
};
using Steps = std::vector<Step>;

/// The kinds that mean something where that side is ours.
[[nodiscard]] std::span<const StepKind> kinds_of(Side side) noexcept;

[[nodiscard]] std::string_view to_string(Side side) noexcept;
[[nodiscard]] std::optional<Side> side_of(std::string_view text) noexcept;

/// What a file has: the side, and a line for each step. A line that begins with # says nothing.
struct Script {
    Side side = Side::Server;
    Steps steps;
};
[[nodiscard]] std::string to_text(const Script& script);
/// Nothing: a line is no step, or the first one is no side.
[[nodiscard]] std::optional<Script> read_script(std::string_view text);

}  // namespace replayout::worst
