// SPDX-License-Identifier: MIT
//
// What the command lines of the programs have in common.
#pragma once

#include <replayout/sharing_level.h>

#include <CLI/CLI.hpp>

#include <string>

namespace replayout::bench {

/// Exit status: bad arguments, or a file that cannot be had, or not be written whole.
inline constexpr int exit_unusable = 2;
/// No exit status: the program has something to do.
inline constexpr int go_on = -1;

/// Checks text before it is converted: CLI::Range lets "nan" pass, and unsigned conversions let
/// "-5" pass and take "010" for eight.
[[nodiscard]] CLI::Validator number(double min, double max);

/// An option that is on or off.
void add_switch(CLI::App& app, const char* name, std::string& value, const char* help);

/// --sharing: off, pieces, payloads or bundles; on is the same as bundles.
void add_sharing(CLI::App& app, std::string& value);
/// What add_sharing() let pass.
[[nodiscard]] SharingLevel sharing_level_of(const std::string& value);
[[nodiscard]] const char* name_of(SharingLevel sharing) noexcept;

/// go_on, or what the process is to exit with: 0 after --help, exit_unusable where something is
/// wrong, which was said. A --json without a name is wrong, and so is an option in place of the
/// value of another one.
[[nodiscard]] int parse_command_line(CLI::App& app, int argc, char** argv);

}  // namespace replayout::bench
