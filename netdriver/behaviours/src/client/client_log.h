// SPDX-License-Identifier: MIT
//
// Counts what goes wrong at a client, and writes lines that its server may have caused.
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/netdriver/peer_log.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/diagnostics.h>

#include <cstdint>
#include <string_view>

namespace replayout {

class NetworkClient::ClientLog {
  public:
    /// `now` is the time of the client, and changes with it.
    explicit ClientLog(const NetTime& now) : now_(now) {}
    ClientLog(const ClientLog&) = delete;
    ClientLog& operator=(const ClientLog&) = delete;

    void write(LogLevel level, std::string_view text) { log_.write(level, {}, text, now_); }
    /// Writes an error, and counts it.
    void write_failure(std::uint64_t NetworkClientCounters::*counter, std::string_view text) {
        ++(counters_.*counter);
        write(LogLevel::Error, text);
    }

    [[nodiscard]] const NetworkClientCounters& counters() const noexcept { return counters_; }

  private:
    const NetTime& now_;
    NetworkClientCounters counters_;
    PeerLog log_;
};

}  // namespace replayout
