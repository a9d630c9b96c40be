// SPDX-License-Identifier: MIT
#include "client_log.h"

namespace replayout {

void NetworkClient::ClientLog::write(LogLevel level, std::string_view text) {
    log_.write(level, {}, text, now_);
}

void NetworkClient::ClientLog::write_failure(std::uint64_t NetworkClientCounters::*counter,
                                             std::string_view text) {
    ++(counters_.*counter);
    write(LogLevel::Error, text);
}

}  // namespace replayout
