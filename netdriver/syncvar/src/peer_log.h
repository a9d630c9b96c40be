// SPDX-License-Identifier: MIT
//
// Lines of the log that the other side can cause: few a second, and nothing in them but what
// prints. Those left out are counted, and the next line tells how many they were.
#pragma once

#include <replayout/netdriver/time.h>
#include <replayout/reflection/diagnostics.h>

#include <cstdint>
#include <string_view>

namespace replayout::syncvar::detail {

class PeerLog {
  public:
    static constexpr std::uint32_t lines_per_second = 10;

    void write(LogLevel level, std::string_view text, NetTime now);

  private:
    std::int64_t second_ = 0;
    std::uint32_t line_count_ = 0;  // in that second
    std::uint64_t left_out_count_ = 0;
};

}  // namespace replayout::syncvar::detail
