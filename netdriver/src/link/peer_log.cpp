// SPDX-License-Identifier: MIT
#include <replayout/netdriver/peer_log.h>
#include <replayout/reflection/printable.h>

#include <algorithm>
#include <utility>

namespace replayout {

PeerLog::Lines& PeerLog::lines_of(PeerId peer) noexcept {
    // Those that are nobody's yet are of peer 0, and for it as good as any.
    const auto known = std::find_if(lines_.begin(), lines_.end(),
                                    [peer](const Lines& lines) { return lines.peer == peer; });
    if (known != lines_.end()) {
        return *known;
    }
    Lines& silent = *std::min_element(
        lines_.begin(), lines_.end(),
        [](const Lines& left, const Lines& right) { return left.second < right.second; });
    all_.left_out_count += silent.left_out_count;
    silent = {};
    silent.peer = peer;
    return silent;
}

bool PeerLog::take_line(Lines& own, NetTime now) noexcept {
    const std::int64_t second = now.microseconds / 1'000'000;
    for (Lines* lines : {&own, &all_}) {
        if (std::exchange(lines->second, second) != second) {
            lines->count = 0;
        }
    }
    if (own.count == lines_per_second || all_.count == lines_per_second_of_all) {
        ++own.left_out_count;
        return false;
    }
    ++own.count;
    ++all_.count;
    return true;
}

void PeerLog::write_line(LogLevel level, Lines& own, std::string line) {
    const std::uint64_t count =
        std::exchange(own.left_out_count, 0) + std::exchange(all_.left_out_count, 0);
    if (count > 0) {
        line += " (" + std::to_string(count) + " lines like this were left out before)";
    }
    log(level, line);
}

void PeerLog::write(LogLevel level, PeerId peer, std::string_view text, NetTime now) {
    Lines& own = lines_of(peer);
    if (take_line(own, now)) {
        write_line(level, own, printable_front(text, text_bytes_max));
    }
}

void PeerLog::write_printable(LogLevel level, PeerId peer, std::string_view text, NetTime now) {
    Lines& own = lines_of(peer);
    if (take_line(own, now)) {
        write_line(level, own, std::string(text));
    }
}

}  // namespace replayout
