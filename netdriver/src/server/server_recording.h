// SPDX-License-Identifier: MIT
//
// The recording of a server (replay_recorder.h). Its connection is one of the clients, with what
// those have. But it is no peer, and what the server sends it has arrived at once.
#pragma once

#include <replayout/netdriver/replay_recorder.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/error.h>

#include <cstdint>
#include <optional>

#include "fan_out.h"
#include "initial_batches.h"
#include "object_lives.h"
#include "replay_format.h"
#include "replay_tap.h"
#include "server_clients.h"

namespace replayout {

class ServerRecording {
  public:
    ServerRecording(const ServerEnvironment& environment, ServerClients& clients,
                    ObjectLives& lives, InitialBatches& batches, FanOut& fan_out) noexcept
        : environment_(environment),
          clients_(clients),
          lives_(lives),
          batches_(batches),
          fan_out_(fan_out) {}
    ~ServerRecording();
    ServerRecording(const ServerRecording&) = delete;
    ServerRecording& operator=(const ServerRecording&) = delete;

    // See NetDriver.
    [[nodiscard]] Status start(ReplayRecorder& recorder, NetTime now);
    void stop(NetTime now);
    [[nodiscard]] bool is_on() const noexcept { return recorder_ != nullptr; }

    /// Before anything of a flush.
    void begin_flush(NetTime now);
    /// After a flush: writes what the connection was sent, and begins it anew for a checkpoint.
    void end_flush(NetTime now) {
        if (recorder_ != nullptr) {
            record_flush(now);
        }
    }
    /// Between flushes, once in a period.
    void trim() {
        if (tap_.has_value()) {
            tap_->trim();
        }
    }

  private:
    /// The recorder and this no longer know of each other.
    void let_go() noexcept;
    void record_flush(NetTime now);
    void record_checkpoint(NetTime now);
    void begin_connection(NetTime now);
    void end_connection() noexcept;
    /// As one more flush of that connection alone, in which nothing changed. False: nothing was
    /// sent.
    bool send_more(ReplayChunkKind kind, NetTime now);
    void write_part(ReplayChunkKind kind, NetTime now, bool is_last);

    const ServerEnvironment& environment_;
    ServerClients& clients_;
    ObjectLives& lives_;
    InitialBatches& batches_;
    FanOut& fan_out_;
    ReplayRecorder* recorder_ = nullptr;
    NetTime last_flush_;
    std::optional<ReplayTap> tap_;    // while there is a recorder
    ServerClient* client_ = nullptr;  // one of the clients, once there was a checkpoint
};

}  // namespace replayout
