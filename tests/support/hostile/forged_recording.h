// SPDX-License-Identifier: MIT
//
// Recordings that somebody wrote who knows the format: a recording taken apart into its chunks, of
// which a test changes what it likes, and put together again with every digest right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

#include "replay_format.h"

namespace replayout::test {

struct ForgedChunk {
    ReplayChunkKind kind = ReplayChunkKind::Frame;
    Vector<std::byte> payload;
    std::int64_t digest_offset = 0;  ///< from the digest of the chunk before to what it says

    [[nodiscard]] std::span<std::byte> body() { return {payload.data(), payload.size()}; }
};

struct ForgedEntry {
    std::int64_t time = 0;
    std::uint64_t offset = 0;
    std::uint64_t digest = 0;
};

struct ForgedEnd {
    ReplayChunkKind kind = ReplayChunkKind::End;
    std::uint64_t previous_digest = 0;
    std::int64_t time = 0;
    std::uint64_t header_digest = 0;
    std::uint32_t count = 0;
    std::vector<ForgedEntry> entries;

    [[nodiscard]] Vector<std::byte> payload() const {
        Vector<std::byte> bytes;
        append_le(bytes, time);
        append_le(bytes, header_digest);
        append_le(bytes, count);
        for (const ForgedEntry& entry : entries) {
            append_le(bytes, entry.time);
            append_le(bytes, entry.offset);
            append_le(bytes, entry.digest);
        }
        return bytes;
    }
};

/// Returns its digest, which is right.
inline std::uint64_t append_chunk(Bytes& bytes, ReplayChunkKind kind, std::uint64_t previous,
                                  std::span<const std::byte> payload) {
    Vector<std::byte> chunk(replay_chunk_head_bytes, std::byte{0});
    chunk.insert(chunk.end(), payload.begin(), payload.end());
    const std::uint64_t digest = finish_replay_chunk(kind, previous, chunk);
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
    return digest;
}

inline void append_footer(Bytes& bytes, std::size_t chunk_bytes) {
    Vector<std::byte> footer;
    append_le(footer, static_cast<std::uint32_t>(chunk_bytes));
    bytes.insert(bytes.end(), footer.begin(), footer.end());
    bytes.insert(bytes.end(), replay_end_magic.begin(), replay_end_magic.end());
}

/// A recording, chunk by chunk, but for its end.
class Forgery {
  public:
    struct Place {
        std::uint64_t offset = 0;
        std::uint64_t digest = 0;
    };

    explicit Forgery(const Bytes& whole) {
        for (std::size_t at = replay_magic.size(); at + replay_footer_bytes < whole.size();) {
            ReplayChunkHead head;
            REQUIRE(read_replay_chunk_head(std::span(whole).subspan(at), head));
            const auto from =
                whole.begin() + static_cast<std::ptrdiff_t>(at + replay_chunk_head_bytes);
            if (head.kind != ReplayChunkKind::End) {
                chunks.push_back(
                    {head.kind, Vector<std::byte>(from, from + head.payload_bytes), 0});
            }
            at += replay_chunk_head_bytes + head.payload_bytes + replay_digest_bytes;
        }
    }

    /// Index of the nth chunk of a kind.
    [[nodiscard]] std::size_t find(ReplayChunkKind kind, std::size_t nth = 0) const {
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            if (chunks[i].kind == kind && nth-- == 0) {
                return i;
            }
        }
        FAIL("no such chunk");
        return 0;
    }
    [[nodiscard]] std::span<std::byte> header() { return chunks.front().body(); }
    [[nodiscard]] std::int64_t time_of(std::size_t chunk) {
        return static_cast<std::int64_t>(load_le(chunks[chunk].body().subspan(1), 8));
    }

    /// All of it, without an end. Says where each chunk lies.
    [[nodiscard]] Bytes bytes() {
        places.clear();
        Bytes bytes(replay_magic.begin(), replay_magic.end());
        std::uint64_t digest = 0;
        for (ForgedChunk& chunk : chunks) {
            const std::uint64_t offset = bytes.size();
            digest = append_chunk(bytes, chunk.kind,
                                  digest + static_cast<std::uint64_t>(chunk.digest_offset),
                                  chunk.body());
            places.push_back({offset, digest});
        }
        return bytes;
    }
    /// What an end says of a chunk. Behind bytes().
    [[nodiscard]] ForgedEntry entry(std::size_t chunk) {
        return {time_of(chunk), places[chunk].offset, places[chunk].digest};
    }
    /// One that names these, and is right if they are. Behind bytes().
    [[nodiscard]] ForgedEnd end(std::vector<ForgedEntry> entries) {
        ForgedEnd end;
        end.previous_digest = places.back().digest;
        end.time = time_of(chunks.size() - 1);
        end.header_digest = places.front().digest;
        end.count = static_cast<std::uint32_t>(entries.size());
        end.entries = std::move(entries);
        return end;
    }

    std::vector<ForgedChunk> chunks;
    std::vector<Place> places;
};

inline void append_end(Bytes& bytes, const ForgedEnd& end) {
    const std::size_t offset = bytes.size();
    const Vector<std::byte> payload = end.payload();
    (void)append_chunk(bytes, end.kind, end.previous_digest, {payload.data(), payload.size()});
    append_footer(bytes, bytes.size() - offset);
}

}  // namespace replayout::test
