// SPDX-License-Identifier: MIT
//
// Whether anybody drives a transport: one that is asked for datagrams and never ticked has none,
// for ever, and nothing else would say so.
#pragma once

#include <replayout/netdriver/transport.h>
#include <replayout/reflection/diagnostics.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace replayout {

class DriveWatch {
  public:
    /// Times that it is asked for datagrams in vain, without a tick between them: seconds, however
    /// often a game dispatches.
    static constexpr std::uint32_t vain_asks_max = 256;

    void ticked() noexcept { vain_asks_ = 0; }
    /// `size` is what the transport answers; returns that. Logs once.
    std::size_t answered(std::size_t size, const char* kind) {
        if (size == Transport::nothing_received && ++vain_asks_ == vain_asks_max && !is_told_) {
            is_told_ = true;
            log(LogLevel::Warning, std::string(kind) + ": receive() was called " +
                                       std::to_string(vain_asks_max) +
                                       " times and tick() not once between: call tick(now) of the "
                                       "transport before each tick_dispatch()");
        }
        return size;
    }

  private:
    std::uint32_t vain_asks_ = 0;
    bool is_told_ = false;
};

}  // namespace replayout
