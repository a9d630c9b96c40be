// SPDX-License-Identifier: MIT
//
// Plays a recording (replay_recorder.h) into a world, by the code of a client: objects are spawned,
// updated and despawned there, notifies and multicasts run, as they did for who watched.
//
//     ReplayPlayer player(settings, source, world);
//     player.driver().add_layout(*pawn_layout);
//     if (player.open() != ReplayError::None || player.seek(t) != ReplayError::None) {
//         return;
//     }
//     every tick: if (player.advance(t += tick) != ReplayError::None) return;
//
// A recording is bytes of somebody else. Each part of it is checked before it is used, and what it
// holds is taken as a server's packets are: within NetConfig, and no further. After an error the
// world is empty, and advance() answers the same until seek() to another time does.
//
// What it calls of the world, notifies, hooks and functions must not call the player. Calls that
// break these rules are refused, as by a driver, and answer ReplayError::Misused.
//
// Classes that changed since are read as those of a server of another version, if the settings say
// so (NetDriverSettings::layout_policy); else they must be the same.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/replay_error.h>
#include <replayout/netdriver/replay_stream.h>

#include <cstddef>
#include <span>

namespace replayout {

class ReplayFile;
struct ReplayCheckpoint;

class ReplayPlayer {
  public:
    /// Source and world outlive the player.
    ReplayPlayer(const NetDriverSettings& settings, ReplaySource& source, NetWorld& world);
    ~ReplayPlayer();
    ReplayPlayer(const ReplayPlayer&) = delete;
    ReplayPlayer& operator=(const ReplayPlayer&) = delete;

    /// The client: add layouts and spawn handlers before open(); behind it its const functions say
    /// what those of a client say. It is never ticked, disconnected or connected. Its
    /// call_function() answers NoChannel.
    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] const NetDriver& driver() const noexcept { return driver_; }

    /// The settings' config must be valid. Reads what the recording is, and where its checkpoints
    /// are. Once. One that was never ended is read as a whole, and is good up to its last whole
    /// frame. The world stays empty.
    [[nodiscard]] ReplayError open();

    // After open().

    /// The world becomes what it was at `time`: of what is recorded, the last that is not later.
    /// Behind the start or the end it is that. Where a checkpoint lies between here and there, or
    /// `time` is behind us, everything is despawned, and begins anew from the checkpoint before
    /// `time`; NetWorld::initial_batch_started() is then called before the first spawn(): that is
    /// where a map sets back what it destroyed. Remote calls from there to `time` run, too
    /// (is_seeking()). What was torn off is not in a checkpoint.
    [[nodiscard]] ReplayError seek(NetTime time);
    /// Plays up to `time`, through all that lies between. Not back: then nothing happens.
    [[nodiscard]] ReplayError advance(NetTime time);
    /// For what the game would rather not show or let be heard.
    [[nodiscard]] bool is_seeking() const noexcept { return is_seeking_; }

    /// Of the recording, no more than 50 days from each other: of its first tick, and of the last
    /// one before it was stopped; the end of one that was never ended is its last whole frame.
    [[nodiscard]] NetTime start_time() const noexcept;
    [[nodiscard]] NetTime end_time() const noexcept;
    /// Where it is; before the first seek() or advance() the start.
    [[nodiscard]] NetTime time() const noexcept { return time_; }
    [[nodiscard]] std::size_t checkpoint_count() const noexcept;
    /// Requires index < checkpoint_count().
    [[nodiscard]] NetTime checkpoint_time(std::size_t index) const noexcept;
    /// The recording was ended, and not cut off.
    [[nodiscard]] bool is_whole() const noexcept;
    [[nodiscard]] std::span<const std::byte> game_data() const noexcept;
    /// Behind ReplayError::Refused: what a client would have ended the connection for.
    [[nodiscard]] CloseReason close_reason() const noexcept { return close_reason_; }

  private:
    class NoTransport;

    /// The world is empty, and the checkpoint comes next.
    [[nodiscard]] ReplayError begin_at(const ReplayCheckpoint& checkpoint);
    [[nodiscard]] ReplayError begin_client();
    [[nodiscard]] ReplayError play_until(NetTime time);
    /// One chunk, of a frame or a checkpoint.
    [[nodiscard]] ReplayError play_chunk();
    void tell_world();
    ReplayError fail(ReplayError error);

    std::unique_ptr<NoTransport> transport_;
    NetDriver driver_;
    std::unique_ptr<ReplayFile> file_;
    NetTime time_;
    CloseReason close_reason_ = CloseReason::None;
    bool has_begun_ = false;  // open() was called
    bool is_open_ = false;
    bool is_seeking_ = false;
    bool has_played_ = false;                // a part, since begin_at()
    ReplayError error_ = ReplayError::None;  // of the last seek() or advance()
    bool is_join_told_ = false;
};

}  // namespace replayout
