// SPDX-License-Identifier: MIT
//
// The game on the server of a session: objects appear, live a while or a tick, are edited, have
// edits undone, refer to each other, to the dead and to those to come, and go.
#pragma once

#include "support/networks/session_settings.h"
#include "support/types/tree_editor.h"
#include "support/worlds/session_worlds.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace replayout::test {

/// Learns what the game does, at once.
class GameListener {
  public:
    virtual void object_added(ObjectId id, std::uint32_t class_index) = 0;
    virtual void object_removed(ObjectId id) = 0;
    virtual void property_changed(ObjectId id, std::string_view property) = 0;

  protected:
    ~GameListener() = default;
};

class SessionGame {
  public:
    SessionGame(const SessionSettings& settings, const RandomTypes& types, ServerWorld& world,
                GameListener& listener);

    /// One tick.
    void play();

    /// Objects that are there and may differ from the tick before.
    [[nodiscard]] const std::vector<ObjectId>& touched() const noexcept { return touched_; }

  private:
    struct LiveObject {
        ObjectId id;
        std::uint32_t last_tick = 0;  ///< removed in the tick after it, or within it
        bool is_gone_before_flush = false;
    };
    struct Undo {
        ObjectId id;
        std::uint32_t tick = 0;
        SavedValue saved;
    };

    void spawn();
    void remove(std::size_t index);
    void remove_due();
    void edit(ObjectId id);
    void undo_due();
    [[nodiscard]] Reference pick_reference();

    const SessionSettings& settings_;
    const RandomTypes& types_;
    ServerWorld& world_;
    GameListener& listener_;
    SeededRandom random_;
    TreeEditor editor_;
    std::vector<LiveObject> live_;
    std::vector<Undo> undos_;
    std::vector<ObjectId> touched_;
    std::uint64_t last_id_ = 0;
    std::uint32_t tick_ = 0;
};

}  // namespace replayout::test
