// SPDX-License-Identifier: MIT
//
// --record: the server of a match into a file.
#pragma once

#include "match/recording/recording.h"
#include "match/recording/replay_file.h"
#include "match/session/match_options.h"

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/replay_recorder.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace replayout::match {

struct RecordResult {
    std::string error;  ///< empty: all of it is in the file
    ReplayRecorderStats stats;
};

class MatchRecorder {
  public:
    /// Begins with the server's next tick. Throws std::runtime_error where the file cannot be
    /// written.
    MatchRecorder(const MatchOptions& options, std::span<const Recording> recordings,
                  std::uint64_t ticks, NetDriver& server);

    /// Behind the last tick.
    [[nodiscard]] RecordResult stop();

  private:
    NetDriver& server_;
    std::string path_;
    ReplayFileSink sink_;
    std::vector<std::byte> game_data_;
    ReplayRecorder recorder_;
};

}  // namespace replayout::match
