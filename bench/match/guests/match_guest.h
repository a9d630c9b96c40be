// SPDX-License-Identifier: MIT
//
// One client of a server in another process, from its socket to what it says of what it holds.
#pragma once

#include "match/judge/client_judge.h"
#include "match/judge/match_referee.h"
#include "match/recording/recorded_world.h"

#include <replayout/netdriver/net_driver.h>
#include <replayout/transports/socket_transport.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace replayout::match {

class MatchGuest final : private NetWorld {
  public:
    MatchGuest(const MatchOptions& options, const MatchSchema& schema,
               const RefereeClass& referee_class, std::unique_ptr<SocketTransport> transport,
               std::uint64_t seed);
    ~MatchGuest() override;
    MatchGuest(const MatchGuest&) = delete;
    MatchGuest& operator=(const MatchGuest&) = delete;

    /// Once a tick of this process.
    void tick(NetTime now);
    /// Whether the server said what is to be held, and it was not looked at yet.
    [[nodiscard]] bool is_to_report() const noexcept { return end_.has_value() && !report_; }
    /// Compares, and tells the server. `truth`: the recordings behind `ticks`.
    void report(const RecordedWorld& truth, std::uint64_t ticks);

    [[nodiscard]] bool has_joined() const noexcept { return has_joined_; }
    /// Its connection has ended.
    [[nodiscard]] bool is_over() const noexcept;
    /// Nothing: there was no end of a match that it saw.
    [[nodiscard]] const std::optional<RefereeReport>& report_made() const noexcept {
        return report_;
    }
    /// What the server said that is to be held; nothing likewise.
    [[nodiscard]] const std::optional<RefereeEnd>& end() const noexcept { return end_; }
    /// Why there is no report.
    [[nodiscard]] std::string complaint() const;
    [[nodiscard]] const NetStats& stats() const noexcept { return driver_.stats(); }

  private:
    // NetWorld, for the referee
    [[nodiscard]] void* object_memory(ObjectHandle) override { return &referee_; }
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle, ChannelCloseReason) override {}

    [[nodiscard]] ServerFacts facts(bool has_all) const;

    const MatchSchema& schema_;
    std::unique_ptr<SocketTransport> transport_;
    MatchWorld world_;
    NetDriver driver_;
    MatchReferee referee_;
    bool has_begun_ = false;
    bool has_joined_ = false;
    std::vector<std::uint32_t> names_;                      // handles, by id - 1
    std::unordered_map<std::uint64_t, std::uint64_t> ids_;  // the last of each handle
    std::optional<RefereeEnd> end_;
    std::optional<RefereeReport> report_;
};

}  // namespace replayout::match
