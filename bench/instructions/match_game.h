// SPDX-License-Identifier: MIT
//
// A match (match/recording/recorded_world.h) as a game whose server is counted: the built-in
// battle, or a recording. Everybody is sent everything; it is polled.
#pragma once

#include "instructions/counted_game.h"
#include "match/recording/recorded_world.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace replayout::bench {

class MatchGame final : public CountedGame {
  public:
    explicit MatchGame(match::Recording recording);

    [[nodiscard]] const std::string& error() const noexcept override { return error_; }
    [[nodiscard]] std::span<const RepLayout* const> layouts() const noexcept override {
        return layouts_;
    }
    void begin(NetDriver&, std::span<const PeerId>) override {}
    /// Beyond its last tick nothing happens.
    void play(NetDriver& server) override;

    // NetWorld
    [[nodiscard]] void* object_memory(ObjectHandle object) override {
        return world_->world().object_memory(object);
    }

  private:
    void tell(NetDriver& server, const match::RecordedChange& change);

    std::vector<match::Recording> recordings_;  // one
    std::unique_ptr<match::MatchSchema> schema_;
    std::optional<match::RecordedWorld> world_;
    std::vector<const RepLayout*> layouts_;
    std::unordered_map<std::uint64_t, NetObjectId> ids_;  // by handle; looked up only
    std::uint64_t tick_ = 0;
    std::string error_;
};

}  // namespace replayout::bench
