// SPDX-License-Identifier: MIT
#include "worst/step.h"

#include <algorithm>
#include <charconv>

namespace replayout::worst {

namespace {

constexpr std::array<std::string_view, step_kind_count> names = {
    "add",     "remove",  "play", "neighbour", "hello", "open", "close", "blocks", "values",
    "message", "control", "acks", "calls",     "part",  "junk", "flip",  "hold",   "wait"};

constexpr StepKind server_kinds[] = {
    StepKind::Add,  StepKind::Remove, StepKind::Play, StepKind::Neighbour, StepKind::Hello,
    StepKind::Acks, StepKind::Calls,  StepKind::Part, StepKind::Control,   StepKind::Junk,
    StepKind::Flip, StepKind::Hold,   StepKind::Wait,
};
constexpr StepKind client_kinds[] = {
    StepKind::Open,    StepKind::Close, StepKind::Blocks, StepKind::Values, StepKind::Message,
    StepKind::Control, StepKind::Acks,  StepKind::Calls,  StepKind::Part,   StepKind::Junk,
    StepKind::Flip,    StepKind::Hold,  StepKind::Wait,
};

/// The next word, which is taken from the front of `text`.
[[nodiscard]] std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

[[nodiscard]] std::optional<Step> read_step(std::string_view line) {
    const auto name = std::find(names.begin(), names.end(), take_word(line));
    if (name == names.end()) {
        return std::nullopt;
    }
    Step step;
    step.kind = static_cast<StepKind>(name - names.begin());
    for (std::uint32_t& number : step.numbers) {
        const std::string_view word = take_word(line);
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size()) {
            return std::nullopt;
        }
    }
    return step;
}

}  // namespace

std::span<const StepKind> kinds_of(Side side) noexcept {
    return side == Side::Server ? std::span<const StepKind>(server_kinds)
                                : std::span<const StepKind>(client_kinds);
}

std::string_view to_string(Side side) noexcept {
    return side == Side::Server ? "server" : "client";
}

std::optional<Side> side_of(std::string_view text) noexcept {
    for (const Side side : {Side::Server, Side::Client}) {
        if (text == to_string(side)) {
            return side;
        }
    }
    return std::nullopt;
}

std::string to_text(const Script& script) {
    std::string text(to_string(script.side));
    text += '\n';
    for (const Step& step : script.steps) {
        text += names[static_cast<std::size_t>(step.kind)];
        for (const std::uint32_t number : step.numbers) {
            text += ' ' + std::to_string(number);
        }
        text += '\n';
    }
    return text;
}

std::optional<Script> read_script(std::string_view text) {
    Script script;
    bool has_side = false;
    while (!text.empty()) {
        const std::size_t length = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, length);
        text.remove_prefix(std::min(length + 1, text.size()));
        if (line.empty() || line.starts_with('#')) {
            continue;
        }
        if (!has_side) {
            const std::optional<Side> side = side_of(line);
            if (!side) {
                return std::nullopt;
            }
            script.side = *side;
            has_side = true;
            continue;
        }
        const std::optional<Step> step = read_step(line);
        if (!step || script.steps.size() == steps_max) {
            return std::nullopt;
        }
        script.steps.push_back(*step);
    }
    return has_side ? std::optional(script) : std::nullopt;
}

}  // namespace replayout::worst
