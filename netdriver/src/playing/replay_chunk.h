// SPDX-License-Identifier: MIT
//
// The chunk of a recording that is played next, and where it stands.
#pragma once

#include <replayout/netdriver/replay_player.h>

#include "replay_format.h"

#include <cstdint>

namespace replayout {

struct ReplayPlayer::Chunk {
    /// What comes next is there; what came before it is not known.
    void begin_at(std::uint64_t at) noexcept {
        *this = Chunk();
        offset = at;
    }
    /// It was used.
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
    bool has_played = false;    ///< since begin_at()
    ReplayChunkKind open_kind = ReplayChunkKind::Frame;
    ReplayChunkHead head;
    std::span<const std::byte> payload;
    ReplayPart part;  ///< of a frame or a checkpoint
};

}  // namespace replayout
