// SPDX-License-Identifier: MIT
#include "server_recording.h"

#include <limits>

namespace replayout {

namespace {

/// No transport has it.
constexpr PeerId replay_peer{std::numeric_limits<std::uint64_t>::max()};
constexpr std::uint32_t all_opens = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void ServerRecording::begin_flush(NetTime now) {
    if (client_ != nullptr) {  // a server that stood still has its recording, as it has its clients
        client_->connection.acknowledge_all(now, client_->sender);
    }
}

ServerRecording::~ServerRecording() {
    let_go();
}

Status ServerRecording::start(ReplayRecorder& recorder, NetTime now) {
    if (recorder_ != nullptr) {
        return Error{ErrorCode::InvalidArgument, "net driver: it is being recorded already"};
    }
    const Status status = recorder.begin(environment_.layouts, now);
    if (status) {
        recorder_ = &recorder;
        recorder.recording_ = this;
        recorder.recorder_gone_ = [](ServerRecording* recording) {
            recording->stop(recording->last_flush_);
        };
        last_flush_ = now;
        tap_.emplace(environment_.settings.config.packet_bytes_max, &environment_.memory.in_flight);
    }
    return status;
}

void ServerRecording::stop(NetTime now) {
    if (recorder_ != nullptr) {
        end_connection();
        recorder_->end(now);
        let_go();
    }
}

void ServerRecording::let_go() noexcept {
    if (recorder_ != nullptr) {
        recorder_->recording_ = nullptr;
        recorder_->recorder_gone_ = nullptr;
        recorder_ = nullptr;
        tap_.reset();
    }
}

// The server sends it neither its layouts nor a welcome: the recording has the one, and there is
// nobody for the other.
void ServerRecording::begin_connection(NetTime now) {
    PacketStream::Settings packets =
        PacketStream::Settings::of(environment_.settings.config, replay_peer, 0);
    packets.bytes_per_second_max = 0;
    packets.has_congestion_control = false;
    packets.first_sequence = NetConfig().first_sequence;
    ServerClient& client = clients_.add_recording(packets, now, *tap_);
    client_ = &client;
    client.sender.set_is_replay(true);
    lives_.introduce(client);
    batches_.begin_for(client);
}

void ServerRecording::end_connection() noexcept {
    if (client_ != nullptr) {
        clients_.end(*client_);
        client_ = nullptr;
    }
}

void ServerRecording::record_flush(NetTime now) {
    last_flush_ = now;
    if (client_ != nullptr && !client_->is_joined()) {
        recorder_->fail(ReplayError::ConnectionEnded);
    }
    if (client_ != nullptr && recorder_->error() == ReplayError::None) {
        client_->connection.acknowledge_all(now, client_->sender);
        // A client would get the rest in the flushes to come, as acks make room for it, or free the
        // channel that a new object has from one that went.
        while ((client_->sender.pairs().has_pending() || client_->sender.has_more_for_window()) &&
               send_more(ReplayChunkKind::Frame, now)) {
        }
        write_part(ReplayChunkKind::Frame, now, true);
    }
    const bool may_begin_anew = client_ == nullptr || recorder_->is_checkpoint_overdue(now) ||
                                !client_->sender.has_more_for_window();
    if (recorder_->error() == ReplayError::None && recorder_->is_checkpoint_due(now) &&
        may_begin_anew) {
        record_checkpoint(now);
    }
    if (recorder_->error() != ReplayError::None) {
        end_connection();
        let_go();
    }
}

void ServerRecording::record_checkpoint(NetTime now) {
    end_connection();
    begin_connection(now);
    // What is opened in one round goes dormant in another, and the end of the batch comes behind
    // it, so one that sends nothing need not be the last.
    constexpr std::uint32_t idle_rounds_max = 3;
    for (std::uint32_t idle_rounds = 0; idle_rounds < idle_rounds_max;) {
        const bool is_idle = !send_more(ReplayChunkKind::Checkpoint, now);
        idle_rounds = is_idle ? idle_rounds + 1 : 0;
    }
    write_part(ReplayChunkKind::Checkpoint, now, true);
}

bool ServerRecording::send_more(ReplayChunkKind kind, NetTime now) {
    const std::uint64_t packet_count = tap_->packet_count();
    ServerClient& client = *client_;
    client.connection.begin_flush(now);
    fan_out_.replicate_alone(client, all_opens);
    client.connection.flush(now);
    client.lane.end_flush();
    client.connection.acknowledge_all(now, client.sender);
    if (tap_->bytes().size() > replay_part_bytes) {
        write_part(kind, now, false);
    }
    return tap_->packet_count() > packet_count;
}

void ServerRecording::write_part(ReplayChunkKind kind, NetTime now, bool is_last) {
    tap_->note_room();
    recorder_->write_part(kind, tap_->bytes(), now, is_last);
}

}  // namespace replayout
