// SPDX-License-Identifier: MIT
#include <replayout/netdriver/replay_player.h>

#include "replay_file.h"
#include "replication_client.h"
#include "scoped_value.h"

#include <algorithm>

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
    : transport_(std::make_unique<NoTransport>(settings.config.packet_bytes_max)),
      driver_(playing_settings(settings), *transport_, world),
      file_(std::make_unique<ReplayFile>(source, settings.resource)) {
    driver_.is_players_ = true;
}

ReplayPlayer::~ReplayPlayer() = default;

ReplayError ReplayPlayer::open() {
    REPLAYOUT_EXPECT(!is_open_ && !has_begun_, ReplayError::Misused,
                     "open: called before: a player is for one recording");
    has_begun_ = true;
    const Status status = driver_.check_settings();
    REPLAYOUT_EXPECT(status.has_value(), ReplayError::Misused, "open: %s",
                     status.error().message.c_str());
    driver_.guids_.set_authority(NetGUIDCache::Authority::Learns);
    ReplayError error = file_->read_header(*driver_.layouts_, driver_.settings_);
    if (error != ReplayError::None) {
        return error;
    }
    error = file_->find_checkpoints();
    is_open_ = error == ReplayError::None;
    time_ = file_->start();
    return error;
}

NetTime ReplayPlayer::start_time() const noexcept {
    return file_->start();
}

NetTime ReplayPlayer::end_time() const noexcept {
    return file_->end();
}

std::size_t ReplayPlayer::checkpoint_count() const noexcept {
    return file_->checkpoints().size();
}

NetTime ReplayPlayer::checkpoint_time(std::size_t index) const noexcept {
    REPLAYOUT_EXPECT(index < checkpoint_count(), file_->start(),
                     "checkpoint_time: checkpoint %zu of a recording that has %zu", index,
                     checkpoint_count());
    return file_->checkpoints()[index].time;
}

bool ReplayPlayer::is_whole() const noexcept {
    return file_->is_whole();
}

std::span<const std::byte> ReplayPlayer::game_data() const noexcept {
    return file_->game_data();
}

ReplayError ReplayPlayer::seek(NetTime time) {
    REPLAYOUT_EXPECT(is_open_, ReplayError::Misused,
                     "seek: the recording is not open: call open() before, and look at its answer");
    REPLAYOUT_EXPECT(
        !driver_.is_ticking_, ReplayError::Misused,
        "seek: called from within the world, a notify or a function that is played; do "
        "it after that");
    error_ = ReplayError::None;
    time = std::clamp(time, file_->start(), file_->end());
    const auto& checkpoints = file_->checkpoints();
    const auto later =
        std::upper_bound(checkpoints.begin(), checkpoints.end(), time,
                         [](NetTime at, const ReplayCheckpoint& entry) { return at < entry.time; });
    // The start is that of the recording; its first checkpoint comes a moment later.
    const ReplayCheckpoint& checkpoint = later == checkpoints.begin() ? *later : *std::prev(later);
    const ScopedValue seeking(is_seeking_, true);
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
        if (const ReplayError error = begin_at(file_->checkpoints().front());
            error != ReplayError::None) {
            return fail(error);
        }
    }
    if (const ReplayError error = play_until(time); error != ReplayError::None) {
        return fail(error);
    }
    time_ = std::max(time_, std::min(time, file_->end()));
    tell_world();
    return ReplayError::None;
}

ReplayError ReplayPlayer::begin_at(const ReplayCheckpoint& checkpoint) {
    const ReplayError error = begin_client();
    has_played_ = false;
    time_ = checkpoint.time;
    return error == ReplayError::None ? file_->begin_at(checkpoint) : error;
}

ReplayError ReplayPlayer::begin_client() {
    const ScopedValue calling_out(driver_.is_calling_out_, true);
    const ScopedValue ticking(driver_.is_ticking_, true);
    if (driver_.client_ != nullptr) {
        driver_.client_->stop_playing();
        driver_.client_.reset();
    }
    driver_.client_ = std::make_unique<ReplicationClient>(
        driver_.settings_, *driver_.layouts_, driver_.transport_, driver_.world_, driver_.guids_,
        driver_.stats_, PeerId{}, file_->start(), driver_.memory_, driver_.spawn_handlers_,
        driver_.is_calling_out_, ReplicationClient::Playing{is_join_told_});
    for (const Vector<std::byte>& layout : file_->layouts()) {
        if (driver_.client_->add_layout({layout.data(), layout.size()}) != CloseReason::None) {
            return ReplayError::LayoutMismatch;
        }
    }
    return ReplayError::None;
}

ReplayError ReplayPlayer::play_until(NetTime time) {
    const ScopedValue calling_out(driver_.is_calling_out_, true);
    const ScopedValue ticking(driver_.is_ticking_, true);
    for (;;) {
        if (file_->is_at_end()) {
            return file_->is_part_open() ? ReplayError::Corrupt : ReplayError::None;
        }
        if (const ReplayError error = file_->read_next(); error != ReplayError::None) {
            return error;
        }
        if (file_->next_part().time > time) {
            REPLAYOUT_ASSERT(!file_->is_part_open());  // the parts of a frame are of one time
            return ReplayError::None;
        }
        if (const ReplayError error = play_chunk(); error != ReplayError::None) {
            return error;
        }
    }
}

ReplayError ReplayPlayer::play_chunk() {
    ReplicationClient& client = *driver_.client_;
    ReplayPart part = file_->next_part();
    const bool is_checkpoint = file_->next_kind() == ReplayChunkKind::Checkpoint;
    const bool is_first_part = !file_->is_part_open();
    if (is_checkpoint && is_first_part && has_played_) {
        client.begin_checkpoint();
    }
    driver_.now_ = part.time;
    ReplayPacket packet;
    while (take_replay_packet(part.packets, packet)) {
        client.play(packet.content, packet.has_bunches, part.time);
        if (client.connection().state() != ConnectionState::Joined) {
            close_reason_ = client.connection().close_reason();
            return ReplayError::Refused;
        }
    }
    if (!part.packets.empty()) {
        close_reason_ = CloseReason::None;
        return ReplayError::Refused;
    }
    has_played_ = true;
    if (is_checkpoint && part.is_last) {
        client.end_checkpoint();
    }
    time_ = std::max(time_, part.time);
    file_->take_next();
    return ReplayError::None;
}

void ReplayPlayer::tell_world() {
    const ScopedValue ticking(driver_.is_ticking_, true);
    is_join_told_ = true;
    driver_.tell_of_peers();
}

ReplayError ReplayPlayer::fail(ReplayError error) {
    const ScopedValue calling_out(driver_.is_calling_out_, true);
    const ScopedValue ticking(driver_.is_ticking_, true);
    REPLAYOUT_ASSERT(driver_.client_ != nullptr);  // begin_at() made one, whatever failed
    error_ = error;
    driver_.client_->stop_playing();
    driver_.client_.reset();
    return error;
}

}  // namespace replayout
