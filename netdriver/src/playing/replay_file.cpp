// SPDX-License-Identifier: MIT
#include "replay_file.h"

#include "control_message.h"

#include <algorithm>
#include <array>

namespace replayout {

ReplayFile::ReplayFile(ReplaySource& source, MemoryResource* resource)
    : source_(source),
      resource_(resource),
      game_data_(Allocator<std::byte>(resource)),
      layouts_(Allocator<Vector<std::byte>>(resource)),
      checkpoints_(Allocator<ReplayCheckpoint>(resource)),
      buffer_(Allocator<std::byte>(resource)) {}

ReplayError ReplayFile::read_header(const LayoutTable& layouts, const NetDriverSettings& settings) {
    const ReplayError error = read_head(layouts, settings);
    return error == ReplayError::None ? read_layouts(settings.config) : error;
}

ReplayError ReplayFile::find_checkpoints() {
    ReplayError error = ReplayError::None;
    const std::uint64_t first_offset = next_.offset;
    is_whole_ = read_end(error);
    if (error != ReplayError::None) {
        return error;
    }
    if (!is_whole_) {
        next_.offset = first_offset;
        error = scan();
    }
    return error == ReplayError::None && checkpoints_.empty() ? ReplayError::Empty : error;
}

ReplayError ReplayFile::read_head(const LayoutTable& layouts, const NetDriverSettings& settings) {
    end_offset_ = source_.size();
    std::array<std::byte, replay_magic.size()> magic;
    if (end_offset_ < magic.size()) {
        return ReplayError::NotAReplay;
    }
    if (!source_.read(0, magic)) {
        return ReplayError::ReadFailed;
    }
    if (magic != replay_magic) {
        return ReplayError::NotAReplay;
    }
    next_.begin_at(magic.size());
    Chunk& chunk = next_;
    if (const ReplayError error = read_chunk(chunk.offset, chunk); error != ReplayError::None) {
        return error;
    }
    ReplayHeader header;
    if (chunk.head.kind != ReplayChunkKind::Header || chunk.head.previous_digest != 0 ||
        !read_replay_header(chunk.payload, header)) {
        return ReplayError::Corrupt;
    }
    if (header.version != replay_version) {
        return ReplayError::UnknownVersion;
    }
    if (header.wire_version != wire_version) {
        return ReplayError::WireVersion;
    }
    const bool is_ours = header.schema == layouts.digest();
    if (!is_ours && settings.layout_policy != LayoutPolicy::SkipUnknown) {
        return ReplayError::LayoutMismatch;
    }
    layout_count_ = is_ours ? 0 : header.layout_count;
    if (!is_ours && header.layout_count > settings.config.described_layouts_max) {
        return ReplayError::LayoutMismatch;
    }
    start_ = header.start;
    end_ = header.start;
    game_data_.assign(header.game_data.begin(), header.game_data.end());
    header_digest_ = chunk.digest;
    chunk.is_any_before = true;
    chunk.take();
    return ReplayError::None;
}

ReplayError ReplayFile::read_layouts(const NetConfig& config) {
    Chunk& chunk = next_;
    std::size_t description_bytes = 0;
    for (std::uint32_t number = 0; number < layout_count_; ++number) {
        const std::uint64_t previous = chunk.digest;
        if (const ReplayError error = read_chunk(chunk.offset, chunk); error != ReplayError::None) {
            return error;
        }
        if (chunk.head.kind != ReplayChunkKind::Layout || chunk.head.previous_digest != previous) {
            return ReplayError::Corrupt;
        }
        // Behind the fingerprint, which is for tools: to compare descriptions is as good.
        constexpr std::size_t fingerprint_bytes = 16;
        if (chunk.payload.size() < fingerprint_bytes) {
            return ReplayError::Corrupt;
        }
        description_bytes += chunk.payload.size();
        if (description_bytes > config.described_bytes_max) {
            return ReplayError::LayoutMismatch;
        }
        layouts_.push_back(
            described_layout_message(chunk.payload.subspan(fingerprint_bytes), resource_));
        chunk.take();
    }
    return ReplayError::None;
}

bool ReplayFile::read_end(ReplayError& error) {
    const std::uint64_t size = source_.size();
    std::array<std::byte, replay_footer_bytes> footer;
    if (size < footer.size()) {
        return false;
    }
    if (!source_.read(size - footer.size(), footer)) {
        error = ReplayError::ReadFailed;
        return false;
    }
    const std::uint64_t chunk_bytes = load_le(footer, 4);
    if (!std::equal(replay_end_magic.begin(), replay_end_magic.end(), footer.begin() + 4) ||
        chunk_bytes > size - footer.size()) {
        return false;
    }
    const std::uint64_t offset = size - footer.size() - chunk_bytes;
    Chunk chunk;
    if (offset < next_.offset || read_chunk(offset, chunk) != ReplayError::None ||
        chunk.head.kind != ReplayChunkKind::End || chunk.bytes != chunk_bytes) {
        return false;
    }
    return read_checkpoints(chunk.payload, offset);
}

bool ReplayFile::read_checkpoints(std::span<const std::byte> payload, std::uint64_t offset) {
    constexpr std::size_t fixed_bytes = 8 + 8 + 4;
    if (payload.size() < fixed_bytes || load_le(payload.subspan(8), 8) != header_digest_) {
        return false;
    }
    const std::uint64_t count = load_le(payload.subspan(16), 4);
    if (count > replay_checkpoints_max ||
        payload.size() - fixed_bytes != count * replay_checkpoint_bytes) {
        return false;
    }
    Vector<ReplayCheckpoint> checkpoints(Allocator<ReplayCheckpoint>{resource_});
    checkpoints.reserve(count);
    const NetTime end{static_cast<std::int64_t>(load_le(payload, 8))};
    if (!may_be_at(end)) {
        return false;
    }
    NetTime last = start_;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::span<const std::byte> entry =
            payload.subspan(fixed_bytes + i * replay_checkpoint_bytes);
        ReplayCheckpoint checkpoint;
        checkpoint.time.microseconds = static_cast<std::int64_t>(load_le(entry, 8));
        checkpoint.offset = load_le(entry.subspan(8), 8);
        checkpoint.digest = load_le(entry.subspan(16), 8);
        if (checkpoint.time < last || checkpoint.time > end || checkpoint.offset < next_.offset ||
            checkpoint.offset >= offset) {
            return false;
        }
        last = checkpoint.time;
        checkpoints.push_back(checkpoint);
    }
    checkpoints_.swap(checkpoints);
    end_ = end;
    end_offset_ = offset;
    return true;
}

ReplayError ReplayFile::scan() {
    // Up to the first chunk that is not there, or not right: what is behind it cannot be trusted to
    // follow what is before it.
    Chunk& chunk = next_;
    Scan scan;
    scan.whole = chunk.offset;
    end_offset_ = source_.size();
    std::uint64_t previous = chunk.digest;
    bool are_layouts_over = false;
    for (;;) {
        const ReplayError error = read_chunk(chunk.offset, chunk);
        if (error == ReplayError::ReadFailed) {
            return error;
        }
        if (error != ReplayError::None || chunk.head.previous_digest != previous) {
            break;
        }
        previous = chunk.digest;
        if (chunk.head.kind == ReplayChunkKind::Layout && !are_layouts_over) {
            chunk.take();
            scan.whole = chunk.offset;
            continue;
        }
        are_layouts_over = true;
        if (chunk.head.kind == ReplayChunkKind::End) {
            is_whole_ = !scan.is_part_open;
            break;
        }
        if (!scan_part(scan)) {
            break;
        }
    }
    end_offset_ = scan.whole;
    return ReplayError::None;
}

bool ReplayFile::scan_part(Scan& scan) {
    Chunk& chunk = next_;
    const bool is_checkpoint = chunk.head.kind == ReplayChunkKind::Checkpoint;
    const bool is_frame = chunk.head.kind == ReplayChunkKind::Frame;
    if ((!is_checkpoint && !is_frame) || !read_replay_part(chunk.payload, chunk.part) ||
        !may_be_at(chunk.part.time) || chunk.part.time < end_ ||
        (scan.is_part_open &&
         (chunk.head.kind != scan.open_kind || chunk.part.time != scan.part_time)) ||
        (is_frame && !scan.is_any)) {
        return false;
    }
    if (is_checkpoint && !scan.is_part_open) {
        scan.open = {chunk.part.time, chunk.offset, chunk.digest};
        scan.has_open = true;
    }
    scan.part_time = chunk.part.time;
    scan.is_part_open = !chunk.part.is_last;
    scan.open_kind = chunk.head.kind;
    scan.is_any = true;
    chunk.take();
    if (scan.is_part_open) {
        return true;
    }
    if (scan.has_open && scan.checkpoint_count++ % scan.thinned == 0) {
        checkpoints_.push_back(scan.open);
        scan.thinned *= thin_replay_checkpoints(checkpoints_) ? 2u : 1u;
    }
    scan.has_open = false;
    scan.whole = chunk.offset;
    end_ = scan.part_time;
    return true;
}

ReplayError ReplayFile::read_chunk(std::uint64_t offset, Chunk& chunk) {
    const std::uint64_t size = source_.size();
    std::array<std::byte, replay_chunk_head_bytes> bytes;
    if (offset > size || size - offset < bytes.size()) {
        return ReplayError::Corrupt;
    }
    if (!source_.read(offset, bytes)) {
        return ReplayError::ReadFailed;
    }
    ReplayChunkHead head;
    if (!read_replay_chunk_head(bytes, head)) {
        return ReplayError::Corrupt;
    }
    const std::uint64_t whole_bytes =
        std::uint64_t{head.payload_bytes} + bytes.size() + replay_digest_bytes;
    if (size - offset < whole_bytes) {
        return ReplayError::Corrupt;
    }
    buffer_.resize(whole_bytes);
    if (!source_.read(offset, {buffer_.data(), buffer_.size()})) {
        return ReplayError::ReadFailed;
    }
    const std::span<const std::byte> all(buffer_.data(), buffer_.size());
    const std::span<const std::byte> checked = all.first(all.size() - replay_digest_bytes);
    const std::uint64_t digest = load_le(all.last(replay_digest_bytes), replay_digest_bytes);
    if (hash64(checked) != digest || !std::equal(bytes.begin(), bytes.end(), checked.begin())) {
        return ReplayError::Corrupt;
    }
    chunk.offset = offset;
    chunk.bytes = whole_bytes;
    chunk.digest = digest;
    chunk.head = head;
    chunk.payload = checked.subspan(bytes.size());
    return ReplayError::None;
}

bool ReplayFile::may_be_at(NetTime time) const noexcept {
    // Not by their difference, which is more than a number holds where an end says so.
    return time >= start_ && time.microseconds <= start_.microseconds + replay_length_us_max;
}

ReplayError ReplayFile::begin_at(const ReplayCheckpoint& checkpoint) {
    next_.begin_at(checkpoint.offset);
    if (const ReplayError error = read_next(); error != ReplayError::None) {
        return error;
    }
    return next_.digest == checkpoint.digest && next_.head.kind == ReplayChunkKind::Checkpoint &&
                   next_.part.time == checkpoint.time
               ? ReplayError::None
               : ReplayError::Corrupt;
}

ReplayError ReplayFile::read_next() {
    Chunk& chunk = next_;
    if (chunk.is_read) {
        return ReplayError::None;
    }
    const std::uint64_t previous = chunk.digest;
    if (const ReplayError error = read_chunk(chunk.offset, chunk); error != ReplayError::None) {
        return error;
    }
    const bool is_played =
        chunk.head.kind == ReplayChunkKind::Frame || chunk.head.kind == ReplayChunkKind::Checkpoint;
    if (!is_played || (chunk.is_any_before && chunk.head.previous_digest != previous) ||
        (chunk.is_part_open && chunk.head.kind != chunk.open_kind) ||
        !read_replay_part(chunk.payload, chunk.part) || !may_be_at(chunk.part.time) ||
        chunk.part.time > end_ || (chunk.is_any_before && chunk.part.time < chunk.time) ||
        (chunk.is_part_open && chunk.part.time != chunk.time)) {
        return ReplayError::Corrupt;
    }
    chunk.time = chunk.part.time;
    chunk.is_any_before = true;
    chunk.is_read = true;
    return ReplayError::None;
}

}  // namespace replayout
