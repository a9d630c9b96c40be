// SPDX-License-Identifier: MIT
#include "match/session/progress.h"

#include <unistd.h>
#include <cstdio>
#include <string>

namespace replayout::match {

namespace {

constexpr std::uint64_t bar_steps = 50;
constexpr std::uint64_t line_steps = 10;

}  // namespace

Progress::Progress(std::string_view what, std::uint64_t total, bool is_quiet)
    : what_(what),
      total_(total == 0 ? 1 : total),
      mode_(is_quiet                     ? Mode::Quiet
            : isatty(STDERR_FILENO) != 0 ? Mode::Bar
                                         : Mode::Lines) {}

Progress::~Progress() {
    if (mode_ == Mode::Bar) {
        std::fputs("\r\033[K", stderr);
    }
}

void Progress::advance(std::uint64_t done) {
    if (mode_ == Mode::Quiet) {
        return;
    }
    const std::uint64_t steps = mode_ == Mode::Bar ? bar_steps : line_steps;
    const std::uint64_t step = done * steps / total_;
    if (step == last_step_) {
        return;
    }
    last_step_ = step;
    const auto percent = static_cast<unsigned>(done * 100 / total_);
    const std::string what(what_);
    if (mode_ == Mode::Bar) {
        const std::string bar = std::string(step, '#') + std::string(bar_steps - step, '.');
        std::fprintf(stderr, "\r%s [%s] %3u %%", what.c_str(), bar.c_str(), percent);
        std::fflush(stderr);
    } else {
        std::fprintf(stderr, "%s %u %%\n", what.c_str(), percent);
    }
}

}  // namespace replayout::match
