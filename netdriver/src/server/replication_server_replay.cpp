// SPDX-License-Identifier: MIT
//
// The connection of a recording (replay_recorder.h). It is one of the clients, with what those
// have; but nobody told it anything, it is nobody's peer, and what it is sent has arrived at once.
#include "replication_server_client.h"

#include <replayout/netdriver/replay_recorder.h>

#include <algorithm>
#include <limits>

namespace replayout {

namespace {

/// No transport has it.
constexpr PeerId replay_peer{std::numeric_limits<std::uint64_t>::max()};
constexpr std::uint32_t all_opens = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Status ReplicationServer::start_recording(ReplayRecorder& recorder, NetTime now) {
    if (recorder_ != nullptr) {
        return Error{ErrorCode::InvalidArgument, "net driver: it is being recorded already"};
    }
    const Status status = recorder.begin(layouts_, now);
    if (status) {
        recorder_ = &recorder;
        replay_tap_.emplace(settings_.config.packet_bytes_max, &memory_.in_flight);
    }
    return status;
}

void ReplicationServer::stop_recording(NetTime now) {
    if (recorder_ == nullptr) {
        return;
    }
    end_replay_connection();
    recorder_->end(now);
    recorder_ = nullptr;
    replay_tap_.reset();
}

// Not told of its layouts, nor welcomed: the recording says the one, and there is nobody for the
// other.
void ReplicationServer::begin_replay_connection(NetTime now) {
    PacketSender::Settings packets = PacketSender::Settings::of(settings_.config, replay_peer, 0);
    packets.bytes_per_second_max = 0;
    packets.has_congestion_control = false;
    packets.first_sequence = NetConfig().first_sequence;
    void* memory = memory_.connections.allocate(sizeof(Client), alignof(Client));
    ServerLane& lane = lanes_.emptiest();
    ++lane.client_count;
    auto* client = ::new (memory) Client(*this, packets, lane, now, &*replay_tap_);
    add_client(*client);
    replay_ = client;
    client->sender.set_is_replay(true);
    introduce_dormant(*client);
    introduce_torn_off(*client);
    introduce_departing(*client);
    show_conditional(*client);
    client->sender.mark_pending(live_);
    begin_initial_batch(*client);
}

void ReplicationServer::end_replay_connection() noexcept {
    if (replay_ != nullptr) {
        clients_.erase(clients_.begin() + replay_->place);
        number_clients(replay_->place);
        destroy(replay_);
        replay_ = nullptr;
    }
}

void ReplicationServer::record_flush(NetTime now) {
    if (replay_ != nullptr && !is_joined(*replay_)) {
        recorder_->fail(ReplayError::ConnectionEnded);
    }
    if (replay_ != nullptr && recorder_->error() == ReplayError::None) {
        replay_->connection.acknowledge_all(now, replay_->sender);
        // A client would get the rest in the flushes to come, as acks make room for it, or free the
        // channel that a new object has from one that went.
        while ((replay_->sender.has_pending() || replay_->sender.has_more_for_window()) &&
               send_more_to_replay(ReplayChunkKind::Frame, now)) {
        }
        write_replay_part(ReplayChunkKind::Frame, now, true);
    }
    const bool may_begin_anew = replay_ == nullptr || recorder_->is_checkpoint_overdue(now) ||
                                !replay_->sender.has_more_for_window();
    if (recorder_->error() == ReplayError::None && recorder_->is_checkpoint_due(now) &&
        may_begin_anew) {
        record_checkpoint(now);
    }
    if (recorder_->error() != ReplayError::None) {
        end_replay_connection();
        recorder_ = nullptr;
        replay_tap_.reset();
    }
}

void ReplicationServer::record_checkpoint(NetTime now) {
    end_replay_connection();
    begin_replay_connection(now);
    // What is opened in one round goes dormant in another, and the end of the batch comes behind
    // it, so one that sends nothing need not be the last.
    constexpr std::uint32_t idle_rounds_max = 3;
    for (std::uint32_t idle_rounds = 0; idle_rounds < idle_rounds_max;) {
        const bool is_idle = !send_more_to_replay(ReplayChunkKind::Checkpoint, now);
        idle_rounds = is_idle ? idle_rounds + 1 : 0;
    }
    write_replay_part(ReplayChunkKind::Checkpoint, now, true);
}

bool ReplicationServer::send_more_to_replay(ReplayChunkKind kind, NetTime now) {
    bundles_.clear();  // of this flush: what is owed of them by now is owed as by anybody else
    const std::uint64_t packet_count = replay_tap_->packet_count();
    Client& client = *replay_;
    client.connection.begin_flush(now);
    replicate_to(client, all_opens);
    client.connection.flush(now);
    client.lane.end_flush();
    client.connection.acknowledge_all(now, client.sender);
    if (replay_tap_->bytes().size() > replay_part_bytes) {
        write_replay_part(kind, now, false);
    }
    return replay_tap_->packet_count() > packet_count;
}

void ReplicationServer::write_replay_part(ReplayChunkKind kind, NetTime now, bool is_last) {
    replay_tap_->note_room();
    recorder_->write_part(kind, replay_tap_->bytes(), now, is_last);
}

}  // namespace replayout
