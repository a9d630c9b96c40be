// SPDX-License-Identifier: MIT
//
// What the command lines of the programs have in common.
#pragma once

#include <replayout/sharing_level.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace replayout::bench {

/// Exit status: bad arguments, or a file that cannot be had, or not be written whole.
inline constexpr int exit_unusable = 2;
/// No exit status: the program has something to do.
inline constexpr int go_on = -1;

/// Checks text before it is converted: CLI::Range lets "nan" pass, and unsigned conversions let
/// "-5" pass and take "010" for eight.
[[nodiscard]] CLI::Validator number(double min, double max);

/// An option that takes such a number. What `value` is before is the default, which is shown.
template <typename Number>
CLI::Option* add_number(CLI::App& app, const char* name, Number& value, double min, double max,
                        const char* help) {
    return app.add_option(name, value, help)->check(number(min, max))->capture_default_str();
}

/// A word of a command line, and what it stands for.
template <typename Value>
struct Choice {
    const char* word;
    Value value;
};
template <typename Value>
using Choices = std::span<const Choice<Value>>;

/// The first word that stands for the value, which is one of these.
template <typename Value>
[[nodiscard]] const char* word_of(Choices<Value> choices, Value value) noexcept {
    return std::find_if(choices.begin(), choices.end(),
                        [=](const auto& choice) { return choice.value == value; })
        ->word;
}

/// An option that takes one of these words, which outlive the app. What `value` is before is the
/// default, and is shown by its last word.
template <typename Value>
CLI::Option* add_choice(CLI::App& app, const char* name, Value& value,
                        std::type_identity_t<Choices<Value>> choices, const char* help) {
    std::vector<std::string> words;
    std::string usual;
    for (const Choice<Value>& choice : choices) {
        words.emplace_back(choice.word);
        usual = choice.value == value ? choice.word : usual;
    }
    const auto take = [&value, choices](const std::string& word) {
        for (const Choice<Value>& choice : choices) {
            value = word == choice.word ? choice.value : value;
        }
    };
    return app.add_option_function<std::string>(name, take, help)
        ->check(CLI::IsMember(words))
        ->default_str(usual);
}

/// An option that is on or off.
void add_switch(CLI::App& app, const char* name, bool& value, const char* help);
[[nodiscard]] const char* on_or_off(bool is_on) noexcept;

/// --sharing: off, pieces, payloads or bundles; on is the same as bundles.
void add_sharing(CLI::App& app, SharingLevel& value);
[[nodiscard]] const char* name_of(SharingLevel sharing) noexcept;

/// go_on, or what the process is to exit with: 0 after --help, exit_unusable where something is
/// wrong, which was said. A --json without a name is wrong, and so is an option in place of the
/// value of another one.
[[nodiscard]] int parse_command_line(CLI::App& app, int argc, char** argv);

/// The main() of a program. Returns what `run` returns, if `parse` lets it go on. Prints `remedy`
/// after "out of memory".
template <typename Options, typename Run>
[[nodiscard]] int run_program(int argc, char** argv, int (*parse)(int, char**, Options&), Run run,
                              const char* remedy) {
    Options options;
    if (const int status = parse(argc, argv, options); status != go_on) {
        return status;
    }
    try {
        return run(options);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "out of memory%s\n", remedy);
    }
    return exit_unusable;
}

}  // namespace replayout::bench
