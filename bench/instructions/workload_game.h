// SPDX-License-Identifier: MIT
//
// A workload of the benchmarks (support/workloads/workload.h) as a game whose server is counted.
#pragma once

#include "instructions/counted_game.h"
#include "support/workloads/workload.h"

#include <array>
#include <memory>
#include <vector>

namespace replayout::bench {

class WorkloadGame final : public CountedGame {
  public:
    explicit WorkloadGame(std::unique_ptr<Workload> workload);

    [[nodiscard]] const std::string& error() const noexcept override { return workload_->error(); }
    [[nodiscard]] std::span<const RepLayout* const> layouts() const noexcept override {
        return layouts_;
    }
    void begin(NetDriver& server, std::span<const PeerId> peers) override;
    void play(NetDriver& server) override;

    // NetWorld
    [[nodiscard]] void* object_memory(ObjectHandle object) override;
    void peer_joined(PeerId peer) override;

  private:
    std::unique_ptr<Workload> workload_;
    std::array<const RepLayout*, 1> layouts_{};
    NetDriver* server_ = nullptr;
    std::vector<NetObjectId> ids_;  // by object
};

}  // namespace replayout::bench
