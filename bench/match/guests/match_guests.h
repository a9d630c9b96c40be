// SPDX-License-Identifier: MIT
//
// Clients of a server in another process: --connect. They know the same recordings, and play them
// when the server says that all is over, so each tells for itself whether what it was sent is
// right.
#pragma once

#include "match/battle/match_world.h"
#include "match/guests/guests_result.h"
#include "match/recording/recorded_world.h"
#include "match/session/match_options.h"

#include <replayout/reflection/error.h>

#include <memory>
#include <span>
#include <vector>

namespace replayout::match {

class MatchGuest;
class RefereeClass;

class MatchGuests {
  public:
    /// All outlive the guests.
    MatchGuests(const MatchOptions& options, std::span<const Recording> recordings,
                const MatchSchema& schema);
    ~MatchGuests();
    MatchGuests(const MatchGuests&) = delete;
    MatchGuests& operator=(const MatchGuests&) = delete;

    /// A socket for each client. Errors are those of connect_to().
    [[nodiscard]] Status open();
    /// Until the server says goodbye, is silent for too long or never answers. Once, behind open().
    [[nodiscard]] GuestsResult run();

  private:
    /// The recordings as they are at the end, played when somebody asks first.
    [[nodiscard]] const RecordedWorld& truth();

    const MatchOptions& options_;
    std::span<const Recording> recordings_;
    const MatchSchema& schema_;
    std::unique_ptr<RefereeClass> referee_class_;
    std::unique_ptr<RecordedWorld> truth_;
    std::uint64_t ticks_ = 0;
    std::vector<std::unique_ptr<MatchGuest>> guests_;
};

}  // namespace replayout::match
