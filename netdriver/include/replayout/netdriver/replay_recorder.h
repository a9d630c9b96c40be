// SPDX-License-Identifier: MIT
//
// Records what a server replicates, to be played again by a ReplayPlayer.
//
//     ReplayRecorder recorder(sink);
//     server.start_recording(recorder);
//     ... ticks as ever ...
//     server.stop_recording();
//
// There is no client, and no network: the server has one connection more, which has no address,
// takes no player's place, is shown every object whatever the rules of interest say, and whose
// packets have all arrived when a flush ends. It takes part in what is computed once for all
// connections as any other that is up to date. Property conditions see a viewer who owns nothing
// and records (SkipReplay, ReplayOnly, ReplayOrOwner).
//
// At the end of the first flush, and once in each checkpoint_ms, the connection begins anew, as a
// client does who joins: that is a checkpoint, from which the recording can be played without
// anything before it. docs/wire_format.md, section 18, has the bytes.
#pragma once

#include <replayout/netdriver/replay_error.h>
#include <replayout/netdriver/replay_stream.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

namespace replayout {

class LayoutTable;
class NetDriver;
class ServerRecording;
enum class ReplayChunkKind : std::uint8_t;
struct ReplayCheckpoint;

struct ReplayRecorderSettings {
    /// From one checkpoint to the next. Less: seeking is sooner done, and the file is larger by the
    /// world each time, as is that tick. 0: there is only the first.
    std::uint32_t checkpoint_ms = 10'000;
    /// Whatever the game wants to find again (ReplayPlayer::game_data): a map, a version, at most
    /// 524,288 bytes. Copied.
    std::span<const std::byte> game_data{};
    MemoryResource* resource = std::pmr::get_default_resource();
};

struct ReplayRecorderStats {
    std::uint64_t frames_written = 0;  ///< flushes that had something to send
    std::uint64_t checkpoints_written = 0;
    std::uint64_t checkpoint_bytes = 0;  ///< of bytes_written
    std::uint64_t bytes_written = 0;
};

/// For one recording. Call NetDriver::stop_recording() before the recorder goes. If it goes first,
/// the recording ends as of the last tick, and a warning is logged. The driver may go first.
class ReplayRecorder {
  public:
    /// The sink outlives the recorder.
    explicit ReplayRecorder(ReplaySink& sink, const ReplayRecorderSettings& settings = {});
    ~ReplayRecorder();
    ReplayRecorder(const ReplayRecorder&) = delete;
    ReplayRecorder& operator=(const ReplayRecorder&) = delete;

    /// The next flush ends with a checkpoint.
    void request_checkpoint() noexcept { is_checkpoint_requested_ = true; }

    /// Why it records no more; None while it does, and once it was stopped.
    [[nodiscard]] ReplayError error() const noexcept { return error_; }
    [[nodiscard]] const ReplayRecorderStats& stats() const noexcept { return stats_; }

  private:
    friend class ServerRecording;

    /// Refused: it recorded before; game data, or the description of a layout, beyond what the
    /// format has room for. Nothing is written yet: a recording starts with the first flush.
    [[nodiscard]] Status begin(const LayoutTable& layouts, NetTime now);
    /// What stands before the first frame.
    void write_front(NetTime now);
    [[nodiscard]] bool is_checkpoint_due(NetTime now) const noexcept;
    /// It has waited so long that it is taken whatever is under way.
    [[nodiscard]] bool is_checkpoint_overdue(NetTime now) const noexcept;
    /// Packets of a frame or a checkpoint, behind replay_part_room bytes, which are the
    /// recorder's; afterwards they are gone. Nothing after an error.
    void write_part(ReplayChunkKind kind, Vector<std::byte>& bytes, NetTime now, bool is_last);
    void end(NetTime now);
    void fail(ReplayError error) noexcept { error_ = error; }

    /// One was written that begins there, or goes on.
    void count_part(const ReplayCheckpoint& begin, bool is_checkpoint);
    /// `chunk`: room for its head, and its payload. Nothing after an error.
    void write_chunk(ReplayChunkKind kind, Vector<std::byte>& chunk);
    /// Likewise; only what the sink took is counted.
    void write_bytes(std::span<const std::byte> bytes);

    // While a recording goes on: how to end it.
    ServerRecording* recording_ = nullptr;
    void (*recorder_gone_)(ServerRecording*) = nullptr;
    ReplaySink& sink_;
    ReplayRecorderSettings settings_;
    Vector<std::byte> game_data_;
    Vector<Vector<std::byte>> layouts_;  // their chunks, until they are written
    Digest128 schema_;
    Vector<ReplayCheckpoint> checkpoints_;
    std::uint32_t thinned_ = 1;  // one in so many is in checkpoints_
    ReplayRecorderStats stats_;
    ReplayError error_ = ReplayError::None;
    bool has_begun_ = false;
    bool is_front_written_ = false;
    NetTime start_;
    bool is_part_open_ = false;  // the part written last was not the last of its frame
    bool is_checkpoint_requested_ = false;
    std::uint64_t header_digest_ = 0;
    std::uint64_t previous_digest_ = 0;
    NetTime last_checkpoint_;
};

}  // namespace replayout
