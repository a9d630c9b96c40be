// SPDX-License-Identifier: MIT
//
// The shared buffer of one object: each changed value, encoded once and copied by every connection
// that is owed it.
//
//     buffer    [ health ][ position         ][ name        ]
//     pieces      handle 1: version 7, offset 0, 32 bits ...
//
// A piece stays valid as long as the value does, that is while its version is the property's last
// change; so it serves late joiners and repeats after a loss as well. The piece of a dynamic array
// holds the elements owed since some version and is kept under that question.
//
// Pieces start at byte boundaries; what is copied out of one need not.
//
// Above pieces lie payloads: the whole block that a receiver in some position was sent at the
// object's present version. The next receiver in the same position gets the same bytes by one copy.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/handle.h>
#include <replayout/net_delta.h>
#include <replayout/owed_versions.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>
#include <replayout/replication_flags.h>

#include <cstdint>
#include <span>

namespace replayout {

struct SharedPiece {
    Version version = 0;  ///< last change of the value that was encoded; 0: no piece
    std::uint32_t byte_offset = 0;
    std::uint32_t bit_count = 0;
};

/// A piece of an array, for every receiver that is owed the same of it; or a delta, for every
/// receiver that holds the same: `owed` says then what it was sent last.
struct SharedArrayPiece {
    RepHandle handle;
    OwedVersions owed;
    SharedPiece piece;
};

/// A whole property block, for every receiver that is owed the same.
struct SharedPayload {
    OwedVersions position;
    LifetimeConditionSet passing;  ///< conditions that its receivers meet
    Version version = 0;           ///< of the object; 0: no payload
    std::uint32_t property_count = 0;
    std::size_t array_steps = 0;  ///< SentBlock::array_steps
    Vector<std::byte> bytes;
};

class SharedSerialization {
  public:
    SharedSerialization(std::uint32_t handle_count, MemoryResource* resource);

    /// The piece of a value that last changed at `version`, or null.
    [[nodiscard]] const SharedPiece* find(RepHandle handle, Version version) const noexcept;
    /// The piece of an array for a receiver that is owed `owed`, or null.
    [[nodiscard]] const SharedPiece* find_array(RepHandle handle, Version version,
                                                const OwedVersions& owed) const noexcept;

    /// Plain values, from the handle of bit `first` on, whose shadow bytes are their pieces: takes
    /// note that they were used. Returns how many were used at that version for the first time.
    [[nodiscard]] std::uint32_t use_in_place(std::uint32_t first,
                                             std::span<const Version> versions);

    /// The same of a whole block: all values that changed at `version`, the newest, all of them
    /// plain, none used before. `last_changed`: of each handle. Versions only grow.
    void use_newest_in_place(Version version, std::span<const Version> last_changed) {
        REPLAYOUT_ASSERT(version > newest_used_);
        if (version != newest_used_ + 1) {
            begin_newest(version, last_changed);
        }
        newest_used_ = version;
    }

    /// Keeps `bits` as the piece. The reference is valid until the next call that keeps one.
    const SharedPiece& keep(RepHandle handle, Version version, const BitWriter& bits);
    const SharedPiece& keep_array(RepHandle handle, Version version, const OwedVersions& owed,
                                  const BitWriter& bits);

    /// The value that last changed at `version` could not be written, for any receiver that is owed
    /// the same of it. `owed` is what the receiver is owed of an array; empty for other values.
    /// False: a failure at this version was known.
    bool note_failure(RepHandle handle, Version version, const OwedVersions& owed);
    [[nodiscard]] bool has_failed(RepHandle handle, Version version,
                                  const OwedVersions& owed) const noexcept;
    [[nodiscard]] bool has_failures() const noexcept { return !failures_.empty(); }

    /// The state of a receiver that took a delta of the value that last changed at `version`, made
    /// for one of them: kept for all. Returns what is kept, which may have been made before.
    const NetDeltaStatePtr& keep_delta_state(RepHandle handle, Version version,
                                             const NetDeltaStatePtr& state);
    /// What is kept; there must be one.
    [[nodiscard]] const NetDeltaStatePtr& delta_state(RepHandle handle) const noexcept;

    /// What makes a block: receivers that agree in this are sent the same.
    struct PayloadKey {
        Version version = 0;  ///< of the object
        OwedVersions position;
        /// Conditions that the receiver meets, of those that the object has.
        LifetimeConditionSet passing;
    };
    /// Null: there is none.
    [[nodiscard]] const SharedPayload* find_payload(const PayloadKey& key) const noexcept;
    /// The same for a receiver that lost whole blocks, if any, of an object without conditions,
    /// groups and keyed arrays: what it was sent and lost, and whether that is exact, is then all
    /// that tells it from others.
    [[nodiscard]] const SharedPayload* find_plain_payload(
        Version version, const OwedVersions& position) const noexcept {
        for (const SharedPayload& payload : payloads_) {
            if (payload.version == version &&
                payload.position.sent_version == position.sent_version &&
                payload.position.lost == position.lost && payload.position.lost_range.is_whole() &&
                payload.position.is_exact == position.is_exact) {
                REPLAYOUT_ASSERT(payload.position == position &&
                                 payload.passing == LifetimeConditionSet());
                return &payload;
            }
        }
        return nullptr;
    }
    /// Somebody was sent a whole block at that version of the object.
    [[nodiscard]] bool has_payload_of(Version version) const noexcept;
    void keep_payload(const PayloadKey& key, std::uint32_t property_count,
                      std::span<const std::byte> block, std::size_t array_steps = 0);
    void drop_payloads() noexcept;

    /// Appends the bits of a piece of this buffer.
    void write(const SharedPiece& piece, BitWriter& writer) const noexcept {
        writer.write_bits_from({buffer_.data(), buffer_.size()}, std::size_t{piece.byte_offset} * 8,
                               piece.bit_count);
    }

    // For people and counters. Entries of version 0 hold nothing.

    /// By handle; empty until the first is kept. One of version > 0 without bits lies in the
    /// shadow; of use_newest_in_place() there may be none.
    [[nodiscard]] std::span<const SharedPiece> pieces() const noexcept {
        return {pieces_.data(), pieces_.size()};
    }
    [[nodiscard]] std::span<const SharedArrayPiece> array_pieces() const noexcept {
        return {array_pieces_.data(), array_pieces_.size()};
    }
    [[nodiscard]] std::span<const SharedPayload> payloads() const noexcept {
        return {payloads_.data(), payloads_.size()};
    }
    /// What the offsets of pieces lead into.
    [[nodiscard]] std::span<const std::byte> buffer() const noexcept {
        return {buffer_.data(), buffer_.size()};
    }

    /// Bytes held, for reports.
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    /// Receivers ask for an array in few ways at a time: most since the last tick, some after a
    /// loss, joiners since ever.
    static constexpr std::uint32_t array_piece_count_max = 8;
    static constexpr std::uint32_t payload_count_max = 4;

    struct Failure {
        RepHandle handle;
        Version version = 0;
        OwedVersions owed;
    };
    struct DeltaState {
        RepHandle handle;
        Version version = 0;
        NetDeltaStatePtr state;
    };

    /// Returns the payload whose place one of that version, the newest, is to take.
    [[nodiscard]] SharedPayload& payload_to_replace(Version version);
    void replace(const BitWriter& bits, SharedPiece& piece);
    void compact();
    void begin_newest(Version version, std::span<const Version> last_changed);
    [[nodiscard]] bool is_newest_used(Version version) const noexcept {
        return version > newest_after_ && version <= newest_used_;
    }

    // Versions newest_after_ < v <= newest_used_: what changed last at one of these was used in
    // place, whatever its piece says. So what goes out version by version needs no piece.
    Version newest_after_ = 0;
    Version newest_used_ = 0;
    Vector<SharedPiece> pieces_;  // by handle; empty until the first is kept
    Vector<SharedArrayPiece> array_pieces_;
    Vector<Failure> failures_;         // one of a handle
    Vector<DeltaState> delta_states_;  // of the newest value that was written
    Vector<std::byte> buffer_;
    Vector<std::byte> spare_;  // for compacting
    std::uint32_t handle_count_;
    Vector<SharedPayload> payloads_;
    std::uint32_t next_array_piece_ = 0;
    std::uint32_t next_payload_ = 0;  // to be replaced where all are of the newest version
    std::size_t dropped_bytes_ = 0;
};

}  // namespace replayout
