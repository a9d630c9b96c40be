// SPDX-License-Identifier: MIT
#include "worst/options.h"

#include <algorithm>
#include <charconv>

namespace replayout::worst {

namespace {

constexpr std::string_view usage =
    R"(Usage: replayout_worst --side server|client [--seconds N | --trials N] [--seed S] [--jobs J]
                       [--from DIR] [--out DIR]
       replayout_worst --replay FILE... [--mark PLACE]

Searches for the packets and the sequences of packets that cost one end the most: a server while
its game plays, or a client. It ends with the dearest of each score, each in a file of its own.

  --side SIDE      which end is ours, and is measured
  --seconds 60     how long it searches
  --trials N       in place of that: so many scripts in each job
  --seed 1         of chance; jobs have this one and those that follow
  --jobs 1         searches at a time, each in a thread of its own, up to 64
  --from DIR       begins with the scripts of this folder (*.txt) that are for that side
  --out DIR        where the finds go (worst_finds); it is made
  --replay FILE    plays these scripts again and prints what they cost
  --mark PLACE     the dispatch of that number goes through replayout_worst_marked_dispatch(), for
                   valgrind --tool=callgrind --toggle-collect=replayout_worst_marked_dispatch

Built with the preset worst it counts the blocks of code that run: then the same seed and number of
trials make the same finds. Built otherwise it reads the processor's clock, and they differ.

Exit status: 0 all is within the limits of docs/limits.md; 1 something is not; 2 the command line
or a file is wrong.)";

template <typename Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

[[nodiscard]] bool is_known(std::string_view name) {
    constexpr std::string_view names[] = {"--side", "--seconds", "--trials", "--seed", "--jobs",
                                          "--from", "--out",     "--replay", "--mark"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

std::string_view Options::help() {
    return usage;
}

std::string Options::read(const std::vector<std::string_view>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view name = arguments[i];
        if (!is_known(name)) {
            return std::string(name) + " is nothing it knows";
        }
        if (i + 1 == arguments.size()) {
            return std::string(name) + " lacks its value";
        }
        const std::string_view value = arguments[++i];
        bool is_right = true;
        if (name == "--side") {
            side = side_of(value);
            is_right = side.has_value();
        } else if (name == "--seconds") {
            is_right = read_number(value, seconds) && seconds > 0;
        } else if (name == "--trials") {
            is_right = read_number(value, trials.emplace()) && *trials > 0;
        } else if (name == "--seed") {
            is_right = read_number(value, seed);
        } else if (name == "--jobs") {
            is_right = read_number(value, job_count) && job_count > 0 && job_count <= 64;
        } else if (name == "--from") {
            from = value;
        } else if (name == "--out") {
            out = value;
        } else if (name == "--mark") {
            is_right = read_number(value, marked.emplace());
        } else {
            replayed.emplace_back(value);
            for (; i + 1 < arguments.size() && !arguments[i + 1].starts_with("--"); ++i) {
                replayed.emplace_back(arguments[i + 1]);
            }
        }
        if (!is_right) {
            return std::string(name) + " " + std::string(value) + " is not right";
        }
    }
    if (side.has_value() == !replayed.empty()) {
        return "either --side or --replay is needed";
    }
    return marked.has_value() && replayed.size() != 1 ? "--mark goes with one file of --replay"
                                                      : "";
}

}  // namespace replayout::worst
