// SPDX-License-Identifier: MIT
#include <replayout/netdriver/replay_player.h>

#include "replay_chunk.h"
#include "replication_client.h"
#include "value_scope.h"

#include <algorithm>
#include <utility>

namespace replayout {

/// Nothing comes or goes.
class ReplayPlayer::NoTransport final : public Transport {
  public:
    explicit NoTransport(std::size_t datagram_bytes_max)
        : datagram_bytes_max_(datagram_bytes_max) {}

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return datagram_bytes_max_;
    }
    void send(PeerId, std::span<const std::byte>) override {}
    [[nodiscard]] std::size_t receive(PeerId&, std::span<std::byte>) override {
        return nothing_received;
    }

  private:
    std::size_t datagram_bytes_max_;
};

namespace {

// Every recording begins with the protocol's numbers.
[[nodiscard]] NetDriverSettings playing_settings(NetDriverSettings settings) noexcept {
    settings.config.first_sequence = NetConfig().first_sequence;
    return settings;
}

}  // namespace

ReplayPlayer::ReplayPlayer(const NetDriverSettings& settings, ReplaySource& source, NetWorld& world)
    : source_(source),
      transport_(std::make_unique<NoTransport>(settings.config.packet_bytes_max)),
      driver_(playing_settings(settings), *transport_, world),
      resource_(settings.resource),
      game_data_(Allocator<std::byte>(resource_)),
      layouts_(Allocator<Vector<std::byte>>(resource_)),
      checkpoints_(Allocator<ReplayCheckpoint>(resource_)),
      buffer_(Allocator<std::byte>(resource_)),
      next_(std::make_unique<Chunk>()) {
    driver_.is_players_ = true;
}

ReplayPlayer::~ReplayPlayer() = default;

NetTime ReplayPlayer::checkpoint_time(std::size_t index) const noexcept {
    REPLAYOUT_EXPECT(index < checkpoints_.size(), start_,
                     "checkpoint_time: checkpoint %zu of a recording that has %zu", index,
                     checkpoints_.size());
    return checkpoints_[index].time;
}

ReplayError ReplayPlayer::seek(NetTime time) {
    REPLAYOUT_EXPECT(is_open_, ReplayError::Misused,
                     "seek: the recording is not open: call open() before, and look at its answer");
    REPLAYOUT_EXPECT(
        !driver_.is_ticking_, ReplayError::Misused,
        "seek: called from within the world, a notify or a function that is played; do "
        "it after that");
    error_ = ReplayError::None;
    time = std::clamp(time, start_, end_);
    const auto later =
        std::upper_bound(checkpoints_.begin(), checkpoints_.end(), time,
                         [](NetTime at, const ReplayCheckpoint& entry) { return at < entry.time; });
    // The start is that of the recording; its first checkpoint comes a moment later.
    const ReplayCheckpoint& checkpoint = later == checkpoints_.begin() ? *later : *std::prev(later);
    const ValueScope seeking(is_seeking_, true);
    const bool is_on_the_way =
        driver_.client_ != nullptr && time >= time_ && checkpoint.time <= time_;
    if (!is_on_the_way) {
        if (const ReplayError error = begin_at(checkpoint); error != ReplayError::None) {
            return fail(error);
        }
    }
    return advance(std::max(time, checkpoint.time));
}

ReplayError ReplayPlayer::advance(NetTime time) {
    REPLAYOUT_EXPECT(
        is_open_, ReplayError::Misused,
        "advance: the recording is not open: call open() before, and look at its answer");
    REPLAYOUT_EXPECT(
        !driver_.is_ticking_, ReplayError::Misused,
        "advance: called from within the world, a notify or a function that is played; do "
        "it after that");
    if (error_ != ReplayError::None) {
        return error_;  // else all before it would be played again, each time
    }
    if (driver_.client_ == nullptr) {
        if (const ReplayError error = begin_at(checkpoints_.front()); error != ReplayError::None) {
            return fail(error);
        }
    }
    if (const ReplayError error = play_until(time); error != ReplayError::None) {
        return fail(error);
    }
    time_ = std::max(time_, std::min(time, end_));
    tell_world();
    return ReplayError::None;
}

ReplayError ReplayPlayer::begin_at(const ReplayCheckpoint& checkpoint) {
    const ReplayError error = begin_client();
    next_->begin_at(checkpoint.offset);
    time_ = checkpoint.time;
    if (error != ReplayError::None) {
        return error;
    }
    if (const ReplayError unread = read_next(); unread != ReplayError::None) {
        return unread;
    }
    return next_->digest == checkpoint.digest && next_->head.kind == ReplayChunkKind::Checkpoint &&
                   next_->part.time == checkpoint.time
               ? ReplayError::None
               : ReplayError::Corrupt;
}

ReplayError ReplayPlayer::begin_client() {
    const ValueScope calling_out(driver_.is_calling_out_, true);
    const ValueScope ticking(driver_.is_ticking_, true);
    if (driver_.client_ != nullptr) {
        driver_.client_->stop_playing();
        driver_.client_.reset();
    }
    driver_.client_ = std::make_unique<ReplicationClient>(
        driver_.settings_, *driver_.layouts_, driver_.transport_, driver_.world_, driver_.guids_,
        driver_.stats_, PeerId{}, start_, driver_.memory_, driver_.spawn_handlers_,
        driver_.is_calling_out_, ReplicationClient::Playing{is_join_told_});
    for (const Vector<std::byte>& layout : layouts_) {
        if (driver_.client_->add_layout({layout.data(), layout.size()}) != CloseReason::None) {
            return ReplayError::LayoutMismatch;
        }
    }
    return ReplayError::None;
}

ReplayError ReplayPlayer::play_until(NetTime time) {
    const ValueScope calling_out(driver_.is_calling_out_, true);
    const ValueScope ticking(driver_.is_ticking_, true);
    for (;;) {
        if (next_->offset >= end_offset_) {
            return next_->is_part_open ? ReplayError::Corrupt : ReplayError::None;
        }
        if (const ReplayError error = read_next(); error != ReplayError::None) {
            return error;
        }
        if (next_->part.time > time) {
            REPLAYOUT_ASSERT(!next_->is_part_open);  // the parts of a frame are of one time
            return ReplayError::None;
        }
        if (const ReplayError error = play_chunk(); error != ReplayError::None) {
            return error;
        }
    }
}

ReplayError ReplayPlayer::play_chunk() {
    ReplicationClient& client = *driver_.client_;
    const bool is_checkpoint = next_->head.kind == ReplayChunkKind::Checkpoint;
    const bool is_first_part = !next_->is_part_open;
    if (is_checkpoint && is_first_part && next_->has_played) {
        client.begin_checkpoint();
    }
    driver_.now_ = next_->part.time;
    ReplayPacket packet;
    while (take_replay_packet(next_->part.packets, packet)) {
        client.play(packet.content, packet.has_bunches, next_->part.time);
        if (client.connection().state() != ConnectionState::Joined) {
            close_reason_ = client.connection().close_reason();
            return ReplayError::Refused;
        }
    }
    if (!next_->part.packets.empty()) {
        close_reason_ = CloseReason::None;
        return ReplayError::Refused;
    }
    next_->has_played = true;
    next_->is_part_open = !next_->part.is_last;
    next_->open_kind = next_->head.kind;
    if (is_checkpoint && next_->part.is_last) {
        client.end_checkpoint();
    }
    time_ = std::max(time_, next_->part.time);
    next_->take();
    return ReplayError::None;
}

void ReplayPlayer::tell_world() {
    const ValueScope ticking(driver_.is_ticking_, true);
    is_join_told_ = true;
    driver_.tell_of_peers();
}

ReplayError ReplayPlayer::fail(ReplayError error) {
    const ValueScope calling_out(driver_.is_calling_out_, true);
    const ValueScope ticking(driver_.is_ticking_, true);
    REPLAYOUT_ASSERT(driver_.client_ != nullptr);  // begin_at() made one, whatever failed
    error_ = error;
    driver_.client_->stop_playing();
    driver_.client_.reset();
    return error;
}

}  // namespace replayout
