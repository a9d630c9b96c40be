// SPDX-License-Identifier: MIT
//
// Objects that come and go: in each tick so many are added and as many removed, the oldest first.
// None of them changes, so what is sent is what comes and goes.
#pragma once

#include "instructions/counted_game.h"
#include "support/workloads/class_layout.h"

#include <replayout/reflection/math.h>

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>

namespace replayout::bench {

struct Spark {
    Vector3 place;
    std::uint16_t kind = 0;
};

class SpawnGame final : public CountedGame {
  public:
    SpawnGame(std::uint32_t count, std::uint32_t spawns_per_tick);

    [[nodiscard]] const std::string& error() const noexcept override { return layout_.error(); }
    [[nodiscard]] std::span<const RepLayout* const> layouts() const noexcept override {
        return layouts_;
    }
    void begin(NetDriver& server, std::span<const PeerId> peers) override;
    void play(NetDriver& server) override;

    // NetWorld
    [[nodiscard]] void* object_memory(ObjectHandle object) override {
        return &sparks_.at(object.value);
    }

  private:
    struct Added {
        ObjectHandle handle;
        NetObjectId id;
    };

    void add(NetDriver& server);

    ClassLayout layout_;
    std::array<const RepLayout*, 1> layouts_{};
    std::uint32_t count_;
    std::uint32_t spawns_per_tick_;
    std::unordered_map<std::uint64_t, Spark> sparks_;  // by handle; looked up only
    std::deque<Added> added_;
    std::uint64_t next_handle_ = 1;
};

}  // namespace replayout::bench
