// SPDX-License-Identifier: MIT
#include <replayout/netdriver/replay_recorder.h>

#include <replayout/layout_description.h>

#include "control_message.h"
#include "layout_table.h"
#include "replay_format.h"

#include <algorithm>
#include <string>

namespace replayout {

ReplayRecorder::ReplayRecorder(ReplaySink& sink, const ReplayRecorderSettings& settings)
    : sink_(sink),
      settings_(settings),
      game_data_(settings.game_data.begin(), settings.game_data.end(),
                 Allocator<std::byte>(settings.resource)),
      layouts_(Allocator<Vector<std::byte>>(settings.resource)),
      checkpoints_(Allocator<ReplayCheckpoint>(settings.resource)) {}

ReplayRecorder::~ReplayRecorder() {
    if (recorder_gone_ != nullptr) {
        log(LogLevel::Warning,
            "a ReplayRecorder went while it recorded: call NetDriver::stop_recording() before");
        recorder_gone_(recording_);
    }
}

Status ReplayRecorder::begin(const LayoutTable& layouts, NetTime now) {
    if (has_begun_) {
        return Error{ErrorCode::InvalidArgument, "replay: a recorder is for one recording"};
    }
    if (game_data_.size() > replay_game_data_bytes_max) {
        return Error{ErrorCode::LimitExceeded, "replay: more than 524,288 bytes of game data"};
    }
    Vector<Vector<std::byte>> chunks(layouts_.get_allocator());
    chunks.reserve(layouts.count());
    for (std::uint32_t number = 0; number < layouts.count(); ++number) {
        const RepLayout& layout = *layouts.find(number);
        const Vector<std::byte> description = describe_layout(layout, settings_.resource);
        if (description.size() > replay_payload_bytes_max / 2) {
            return Error{ErrorCode::LimitExceeded, "replay: the layout of \"" +
                                                       std::string(layout.name()) +
                                                       "\" has too long a description"};
        }
        Vector<std::byte> chunk(replay_chunk_head_bytes, std::byte{0},
                                Allocator<std::byte>(settings_.resource));
        append_le(chunk, layout.fingerprint().low);
        append_le(chunk, layout.fingerprint().high);
        chunk.insert(chunk.end(), description.begin(), description.end());
        chunks.push_back(std::move(chunk));
    }
    has_begun_ = true;
    last_checkpoint_ = now;
    is_checkpoint_requested_ = true;
    schema_ = layouts.digest();
    layouts_.swap(chunks);
    return {};
}

void ReplayRecorder::write_front(NetTime now) {
    is_front_written_ = true;
    start_ = now;
    if (!is_replay_time(now)) {
        fail(ReplayError::TooLong);
    }
    write_bytes(replay_magic);
    Vector<std::byte> header(replay_chunk_head_bytes, std::byte{0},
                             Allocator<std::byte>(settings_.resource));
    append_replay_header(header, {replay_version,
                                  wire_version,
                                  schema_,
                                  now,
                                  static_cast<std::uint32_t>(layouts_.size()),
                                  {game_data_.data(), game_data_.size()}});
    write_chunk(ReplayChunkKind::Header, header);
    header_digest_ = previous_digest_;
    for (Vector<std::byte>& chunk : layouts_) {
        write_chunk(ReplayChunkKind::Layout, chunk);
    }
    Vector<Vector<std::byte>>(layouts_.get_allocator()).swap(layouts_);
}

bool ReplayRecorder::is_checkpoint_due(NetTime now) const noexcept {
    return is_checkpoint_requested_ ||
           (settings_.checkpoint_ms != 0 &&
            now >= last_checkpoint_.plus_milliseconds(settings_.checkpoint_ms));
}

bool ReplayRecorder::is_checkpoint_overdue(NetTime now) const noexcept {
    return stats_.checkpoints_written == 0 ||
           now >= last_checkpoint_.plus_milliseconds(2 * std::int64_t{settings_.checkpoint_ms});
}

void ReplayRecorder::write_part(ReplayChunkKind kind, Vector<std::byte>& bytes, NetTime now,
                                bool is_last) {
    REPLAYOUT_ASSERT(bytes.size() >= replay_part_room);
    if (!is_front_written_) {
        write_front(now);
    }
    if (error_ == ReplayError::None &&
        (!is_replay_time(now) || now.microseconds_since(start_) > replay_length_us_max)) {
        fail(ReplayError::TooLong);
    }
    if (error_ == ReplayError::None && (bytes.size() > replay_part_room || is_part_open_)) {
        const bool is_checkpoint = kind == ReplayChunkKind::Checkpoint;
        const std::uint64_t offset = stats_.bytes_written;
        const std::span<std::byte> head(bytes.data() + replay_chunk_head_bytes,
                                        replay_part_head_bytes);
        head[0] = is_last ? std::byte{1} : std::byte{0};
        store_le(head.subspan(1), now.microseconds);
        write_chunk(kind, bytes);
        if (error_ == ReplayError::None) {
            count_part({now, offset, previous_digest_}, is_checkpoint);
        }
        is_part_open_ = !is_last;
    }
    bytes.resize(replay_part_room);
}

void ReplayRecorder::count_part(const ReplayCheckpoint& begin, bool is_checkpoint) {
    stats_.checkpoint_bytes += is_checkpoint ? stats_.bytes_written - begin.offset : 0;
    if (is_part_open_) {
        return;  // what it belongs to is counted
    }
    if (!is_checkpoint) {
        ++stats_.frames_written;
        return;
    }
    last_checkpoint_ = begin.time;
    is_checkpoint_requested_ = false;
    if (stats_.checkpoints_written++ % thinned_ == 0) {
        checkpoints_.push_back(begin);
    }
    thinned_ *= thin_replay_checkpoints(checkpoints_) ? 2u : 1u;
}

void ReplayRecorder::end(NetTime now) {
    if (!is_front_written_) {
        write_front(now);
    }
    if (error_ != ReplayError::None) {
        return;  // and of a start that no file holds nothing is to be reckoned
    }
    now.microseconds = std::min(now.microseconds, start_.microseconds + replay_length_us_max);
    Vector<std::byte> chunk(replay_chunk_head_bytes, std::byte{0},
                            Allocator<std::byte>(settings_.resource));
    append_le(chunk, now.microseconds);
    append_le(chunk, header_digest_);
    append_le(chunk, static_cast<std::uint32_t>(checkpoints_.size()));
    for (const ReplayCheckpoint& checkpoint : checkpoints_) {
        append_le(chunk, checkpoint.time.microseconds);
        append_le(chunk, checkpoint.offset);
        append_le(chunk, checkpoint.digest);
    }
    write_chunk(ReplayChunkKind::End, chunk);
    Vector<std::byte> footer(Allocator<std::byte>(settings_.resource));
    append_le(footer, static_cast<std::uint32_t>(chunk.size()));
    footer.insert(footer.end(), replay_end_magic.begin(), replay_end_magic.end());
    write_bytes({footer.data(), footer.size()});
}

void ReplayRecorder::write_bytes(std::span<const std::byte> bytes) {
    if (error_ != ReplayError::None) {
        return;
    }
    if (!sink_.write(bytes)) {
        fail(ReplayError::WriteFailed);
        return;
    }
    stats_.bytes_written += bytes.size();
}

void ReplayRecorder::write_chunk(ReplayChunkKind kind, Vector<std::byte>& chunk) {
    if (error_ != ReplayError::None) {
        return;
    }
    previous_digest_ = finish_replay_chunk(kind, previous_digest_, chunk);
    write_bytes({chunk.data(), chunk.size()});
}

}  // namespace replayout
