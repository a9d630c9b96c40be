// SPDX-License-Identifier: MIT
//
// What a match came to for the clients of one process, and its two forms: one screen for people,
// JSON for programs.
#pragma once

#include "match/session/match_options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace replayout::match {

class MatchGuest;

struct GuestsResult {
    std::uint64_t ticks = 0;  ///< that the server played
    std::uint32_t clients_joined = 0;
    std::uint32_t clients_equal = 0;
    std::vector<std::uint32_t> client_crc32;  ///< of what each holds; 0: it did not see the end
    std::vector<std::uint32_t> server_crc32;  ///< of what each is to hold, as the server says
    std::string first_difference;             ///< empty when all are equal
    std::uint64_t packets_received = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t packets_sent = 0;
    std::uint64_t bytes_sent = 0;
    double seconds = 0;  ///< of the machine's clock

    void add(const MatchGuest& guest);
    [[nodiscard]] bool is_good(const MatchOptions& options) const noexcept {
        return clients_equal == options.clients;
    }
};

[[nodiscard]] std::string report(const MatchOptions& options, const GuestsResult& result);
[[nodiscard]] std::string to_json(const MatchOptions& options, const GuestsResult& result);

}  // namespace replayout::match
