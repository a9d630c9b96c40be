// SPDX-License-Identifier: MIT
//
// How a server and clients in other processes find out at the end of a match whether they agree: an
// object of each client's own, through which they call each other.
//
//     server                                        client
//     adds the client's referee
//     client_names: which object each id names
//     client_end: ticks, checksum, objects   --->   compares, field by field
//                                            <---   server_report: its checksum, and what differs
//     says goodbye
//
// Ids are the server's to give, so what a client holds has names of the recording by these alone.
#pragma once

#include "support/workloads/class_layout.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace replayout::match {

/// The handles that ids from `first` on were given to.
struct RefereeNames {
    std::uint32_t first = 0;
    std::vector<std::uint32_t> handles;
};
/// Of each call that tells of names.
inline constexpr std::size_t referee_names_max = 1'000;

/// What a client is to hold.
struct RefereeEnd {
    std::uint32_t ticks = 0;
    std::uint32_t crc32 = 0;
    std::uint32_t object_count = 0;
};

struct RefereeReport {
    std::uint32_t crc32 = 0;  ///< of what the client holds
    bool is_equal = false;
    std::string difference;  ///< the first one; empty: none
};

struct MatchReferee {
    std::uint32_t number = 0;  ///< of the client, at the server
    std::function<void(const RefereeNames&)> on_names;
    std::function<void(const RefereeEnd&)> on_end;
    std::function<void(const RefereeReport&)> on_report;

    void client_names(const RefereeNames& names) { on_names(names); }
    void client_end(const RefereeEnd& end) { on_end(end); }
    void server_report(const RefereeReport& report) { on_report(report); }
};

/// Its class; both ends add the layout behind those of the match.
class RefereeClass {
  public:
    RefereeClass();

    [[nodiscard]] const RepLayout& layout() const noexcept { return class_.layout(); }

  private:
    bench::ClassLayout class_;
};

}  // namespace replayout::match
