// SPDX-License-Identifier: MIT
//
// Lines of the log that a peer can cause: few a second of each, not many of all, and nothing in
// them but what prints. Those left out are counted, and the next line tells how many they were.
//
//     PeerLog log;
//     log.write(LogLevel::Warning, peer, "it asks for class \"" + name + '"', now);
//
// Takes no memory but that of the line.
#pragma once

#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/diagnostics.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace replayout {

/// One thread at a time. The limits are chosen: a person reads ten lines in a second at most, four
/// peers may be heard at the same time, and with lines of text_bytes_max, escaped to four times
/// that, peers make a log grow by 160 KiB a second.
class PeerLog {
  public:
    static constexpr std::uint32_t lines_per_second = 10;         ///< of one peer
    static constexpr std::uint32_t lines_per_second_of_all = 40;  ///< however many peers there are
    static constexpr std::size_t text_bytes_max = 1'024;  ///< of a line, before it is escaped
    /// Peers that are told apart; of more, who was silent longest is forgotten.
    static constexpr std::size_t peers_max = 32;

    /// `text` may hold anything. `peer` is who caused it, 0 where that is nobody in particular.
    /// Seconds are those of `now`, which may be any clock that does not go back.
    void write(LogLevel level, PeerId peer, std::string_view text, NetTime now);
    /// The same of a text that prints as it is, see printable(), and that is written whole, however
    /// long it is.
    void write_printable(LogLevel level, PeerId peer, std::string_view text, NetTime now);

  private:
    struct Lines {
        PeerId peer;
        // Of its last line, written or not. Before any that a clock tells: nobody's yet.
        std::int64_t second = std::numeric_limits<std::int64_t>::min();
        std::uint32_t count = 0;  // written in that second
        std::uint64_t left_out_count = 0;
    };

    [[nodiscard]] Lines& lines_of(PeerId peer) noexcept;
    /// Counts a line. False: it is one too many.
    [[nodiscard]] bool take_line(Lines& own, NetTime now) noexcept;
    void write_line(LogLevel level, Lines& own, std::string line);

    std::array<Lines, peers_max> lines_{};
    Lines all_;  // left out: of peers that were forgotten
};

}  // namespace replayout
