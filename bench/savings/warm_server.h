// SPDX-License-Identifier: MIT
//
// The server of a row, with its clients: what a cell times and what Callgrind counts.
#pragma once

#include "savings/savings_row.h"

#include <replayout/sharing_level.h>

#include <cstdint>
#include <optional>
#include <string>

namespace replayout::bench {

class WarmServer {
  public:
    /// The game has played alone. See error().
    WarmServer(const SavingsRow& row, std::uint32_t connections, SharingLevel sharing);

    /// All clients join. Returns the seconds of all ticks in which they do. Requires is_good().
    double join();
    /// The game plays until its ticks are alike; packets are compared (RunningServer::digest()).
    void warm_up();
    /// Returns the seconds that the server took.
    double tick() { return server_->tick(true); }
    void set_digesting(bool is_digesting) noexcept { server_->set_digesting(is_digesting); }

    /// Ticks that the game has left after those until it is warm.
    [[nodiscard]] std::uint32_t ticks_left() const noexcept {
        return game_.ticks_max - game_.alone_ticks - game_.warm_ticks;
    }
    [[nodiscard]] const RunningServer& server() const noexcept { return *server_; }
    /// Empty: all is well.
    [[nodiscard]] std::string error() const {
        return error_.empty() && server_.has_value() ? server_->fault() : error_;
    }
    [[nodiscard]] bool is_good() const noexcept { return error_.empty(); }

  private:
    SavingsGame game_;
    std::optional<RunningServer> server_;
    std::string error_;
};

}  // namespace replayout::bench
