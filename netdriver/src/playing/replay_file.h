// SPDX-License-Identifier: MIT
//
// The file of a recording as a player reads it: its header, the offsets of its checkpoints, and its
// chunks one after the other. The bytes may come from anybody, so this checks everything before it
// hands it out.
//
//     ReplayFile file(source, memory);
//     file.read_header(...), file.find_checkpoints();
//     file.begin_at(file.checkpoints().front());
//     while (!file.is_at_end() && file.read_next() == ReplayError::None) {
//         ... file.next_part() is played;
//         file.take_next();
//     }
#pragma once

#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/netdriver/replay_error.h>
#include <replayout/netdriver/replay_stream.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>

#include "layout_table.h"
#include "replay_format.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class ReplayFile {
  public:
    /// The source must outlive the file.
    ReplayFile(ReplaySource& source, MemoryResource* resource);
    ReplayFile(const ReplayFile&) = delete;
    ReplayFile& operator=(const ReplayFile&) = delete;

    /// Reads the header, and the layouts of the recording if they are not those of `layouts`. To be
    /// called first, once.
    [[nodiscard]] ReplayError read_header(const LayoutTable& layouts,
                                          const NetDriverSettings& settings);
    /// Finds the checkpoints. Reads all of the recording if it was never ended. To be called after
    /// read_header(), once.
    [[nodiscard]] ReplayError find_checkpoints();

    [[nodiscard]] NetTime start() const noexcept { return start_; }
    [[nodiscard]] NetTime end() const noexcept { return end_; }
    /// The recording was ended, and not cut off.
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
    [[nodiscard]] std::span<const std::byte> game_data() const noexcept {
        return {game_data_.data(), game_data_.size()};
    }
    /// Messages as a server tells of its layouts; none where they are ours.
    [[nodiscard]] const Vector<Vector<std::byte>>& layouts() const noexcept { return layouts_; }
    /// In ascending order of time. At least one, once they were found.
    [[nodiscard]] const Vector<ReplayCheckpoint>& checkpoints() const noexcept {
        return checkpoints_;
    }

    /// The checkpoint is next, and read.
    [[nodiscard]] ReplayError begin_at(const ReplayCheckpoint& checkpoint);
    /// Nothing comes next.
    [[nodiscard]] bool is_at_end() const noexcept { return next_.offset >= end_offset_; }
    /// Reads the part that comes next, unless it was read already.
    [[nodiscard]] ReplayError read_next();
    /// The kind of the part that was read.
    [[nodiscard]] ReplayChunkKind next_kind() const noexcept { return next_.head.kind; }
    [[nodiscard]] const ReplayPart& next_part() const noexcept { return next_.part; }
    /// The frame or checkpoint of the part before is not at its end.
    [[nodiscard]] bool is_part_open() const noexcept { return next_.is_part_open; }
    /// The part that was read was played.
    void take_next() noexcept {
        next_.is_part_open = !next_.part.is_last;
        next_.open_kind = next_.head.kind;
        next_.take();
    }

  private:
    /// The chunk that comes next, and where it stands.
    struct Chunk {
        /// The next chunk is at that offset; the one before it is not known.
        void begin_at(std::uint64_t at) noexcept {
            *this = Chunk();
            offset = at;
        }
        /// The chunk was used.
        void take() noexcept {
            offset += bytes;
            is_read = false;
        }

        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;   ///< of all of it
        std::uint64_t digest = 0;  ///< of the chunk, while it is read; else of the one before
        bool is_any_before = false;
        NetTime time;               ///< of the part before, where there is any before
        bool is_read = false;       ///< it is in the buffer, and was found to be right
        bool is_part_open = false;  ///< the frame before it is not at its end
        ReplayChunkKind open_kind = ReplayChunkKind::Frame;
        ReplayChunkHead head;
        std::span<const std::byte> payload;
        ReplayPart part;  ///< of a frame or a checkpoint
    };
    /// A recording that nobody ended, as far as it was read.
    struct Scan {
        std::uint64_t whole = 0;  ///< where the last whole frame, or layout, ends
        std::uint64_t checkpoint_count = 0;
        std::uint64_t thinned = 1;  ///< one of so many is kept, as a recorder does
        ReplayCheckpoint open;      ///< the checkpoint whose parts are read, if there is one
        bool has_open = false;
        bool is_part_open = false;  ///< more parts of the last chunk's frame or checkpoint follow
        bool is_any = false;
        NetTime part_time;
        ReplayChunkKind open_kind = ReplayChunkKind::Frame;
    };

    [[nodiscard]] ReplayError read_head(const LayoutTable& layouts,
                                        const NetDriverSettings& settings);
    [[nodiscard]] ReplayError read_layouts(const NetConfig& config);
    /// False: it has no end, or not one that can be trusted.
    [[nodiscard]] bool read_end(ReplayError& error);
    /// Reads the payload of the end, whose chunk stands at `offset`.
    [[nodiscard]] bool read_checkpoints(std::span<const std::byte> payload, std::uint64_t offset);
    [[nodiscard]] ReplayError scan();
    /// Takes the chunk that was read. False: it does not follow those before.
    [[nodiscard]] bool scan_part(Scan& scan);
    /// The chunk at `offset` into buffer_, if it is one, and whole, and was not changed.
    [[nodiscard]] ReplayError read_chunk(std::uint64_t offset, Chunk& chunk);
    /// Not before the start, and not further after it than a recording lasts.
    [[nodiscard]] bool may_be_at(NetTime time) const noexcept;

    ReplaySource& source_;
    MemoryResource* resource_;
    std::uint64_t end_offset_ = 0;  // of what is played
    Vector<std::byte> game_data_;
    Vector<Vector<std::byte>> layouts_;
    std::uint32_t layout_count_ = 0;
    Vector<ReplayCheckpoint> checkpoints_;
    Vector<std::byte> buffer_;  // the chunk that was read last
    Chunk next_;
    NetTime start_;
    NetTime end_;
    std::uint64_t header_digest_ = 0;
    bool is_whole_ = false;
};

}  // namespace replayout
