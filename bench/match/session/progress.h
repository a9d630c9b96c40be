// SPDX-License-Identifier: MIT
//
// Progress on stderr: a bar on a terminal, a line every tenth elsewhere, nothing when asked.
#pragma once

#include <cstdint>
#include <string_view>

namespace replayout::match {

class Progress {
  public:
    Progress(std::string_view what, std::uint64_t total, bool is_quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void advance(std::uint64_t done);

  private:
    enum class Mode : std::uint8_t { Quiet, Bar, Lines };

    std::string_view what_;
    std::uint64_t total_;
    std::uint64_t last_step_ = 0;
    Mode mode_;
};

}  // namespace replayout::match
