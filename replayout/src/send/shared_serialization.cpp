// SPDX-License-Identifier: MIT
#include <replayout/shared_serialization.h>

#include "spare_room.h"

#include <algorithm>
#include <cstring>

namespace replayout {

namespace {

// Below this a buffer is not worth compacting: it is the size of a few cache lines.
constexpr std::size_t compact_bytes_min = 512;

[[nodiscard]] std::size_t piece_bytes(const SharedPiece& piece) noexcept {
    return (std::size_t{piece.bit_count} + 7) / 8;
}

}  // namespace

SharedSerialization::SharedSerialization(std::uint32_t handle_count, MemoryResource* resource)
    : pieces_(Allocator<SharedPiece>(resource)),
      array_pieces_(Allocator<SharedArrayPiece>(resource)),
      failures_(Allocator<Failure>(resource)),
      delta_states_(Allocator<DeltaState>(resource)),
      buffer_(Allocator<std::byte>(resource)),
      spare_(Allocator<std::byte>(resource)),
      handle_count_(handle_count),
      payloads_(Allocator<SharedPayload>(resource)) {}

const SharedPiece* SharedSerialization::find(RepHandle handle, Version version) const noexcept {
    if (pieces_.empty()) {
        return nullptr;
    }
    const SharedPiece& piece = pieces_[handle.value - 1];
    return piece.version == version && version != 0 ? &piece : nullptr;
}

const SharedPiece* SharedSerialization::find_array(RepHandle handle, Version version,
                                                   const OwedVersions& owed) const noexcept {
    for (const SharedArrayPiece& entry : array_pieces_) {
        if (entry.handle == handle && entry.piece.version == version && entry.owed == owed) {
            return &entry.piece;
        }
    }
    return nullptr;
}

std::uint32_t SharedSerialization::use_in_place(std::uint32_t first,
                                                std::span<const Version> versions) {
    if (pieces_.empty()) {
        pieces_.resize(handle_count_);
    }
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        SharedPiece& piece = pieces_[first + i];
        const bool is_used = piece.version == versions[i] || is_newest_used(versions[i]);
        count += is_used ? 0u : 1u;
        piece.version = versions[i];
    }
    return count;
}

// A version was passed over, so those before it are noted value by value.
void SharedSerialization::begin_newest(Version version, std::span<const Version> last_changed) {
    for (std::size_t i = 0; i < last_changed.size() && newest_used_ > newest_after_; ++i) {
        if (is_newest_used(last_changed[i])) {
            (void)use_in_place(static_cast<std::uint32_t>(i), last_changed.subspan(i, 1));
        }
    }
    newest_after_ = version - 1;
}

const SharedPiece& SharedSerialization::keep(RepHandle handle, Version version,
                                             const BitWriter& bits) {
    if (pieces_.empty()) {
        pieces_.resize(handle_count_);
    }
    SharedPiece& piece = pieces_[handle.value - 1];
    replace(bits, piece);
    piece.version = version;
    return piece;
}

const SharedPiece& SharedSerialization::keep_array(RepHandle handle, Version version,
                                                   const OwedVersions& owed,
                                                   const BitWriter& bits) {
    REPLAYOUT_ASSERT(owed.lost_parts.empty());  // a loan, which would not outlast this
    if (array_pieces_.size() < array_piece_count_max) {
        next_array_piece_ = static_cast<std::uint32_t>(array_pieces_.size());
        array_pieces_.emplace_back();
    }
    SharedArrayPiece& entry = array_pieces_[next_array_piece_];
    next_array_piece_ = (next_array_piece_ + 1) % array_piece_count_max;
    replace(bits, entry.piece);
    entry.handle = handle;
    entry.owed = owed;
    entry.piece.version = version;
    return entry.piece;
}

bool SharedSerialization::note_failure(RepHandle handle, Version version,
                                       const OwedVersions& owed) {
    REPLAYOUT_ASSERT(owed.lost_parts.empty());  // a loan, which would not outlast this
    const auto found =
        std::find_if(failures_.begin(), failures_.end(),
                     [handle](const Failure& entry) { return entry.handle == handle; });
    if (found == failures_.end()) {
        failures_.push_back({handle, version, owed});
        return true;
    }
    const bool is_new = found->version != version;
    *found = {handle, version, owed};
    return is_new;
}

bool SharedSerialization::has_failed(RepHandle handle, Version version,
                                     const OwedVersions& owed) const noexcept {
    return std::any_of(failures_.begin(), failures_.end(), [&](const Failure& entry) {
        return entry.handle == handle && entry.version == version && entry.owed == owed;
    });
}

const NetDeltaStatePtr& SharedSerialization::keep_delta_state(RepHandle handle, Version version,
                                                              const NetDeltaStatePtr& state) {
    const auto found =
        std::find_if(delta_states_.begin(), delta_states_.end(),
                     [handle](const DeltaState& entry) { return entry.handle == handle; });
    if (found == delta_states_.end()) {
        delta_states_.push_back({handle, version, state});
        return delta_states_.back().state;
    }
    if (found->version != version) {
        found->version = version;
        found->state = state;
    }
    return found->state;
}

const NetDeltaStatePtr& SharedSerialization::delta_state(RepHandle handle) const noexcept {
    const auto found =
        std::find_if(delta_states_.begin(), delta_states_.end(),
                     [handle](const DeltaState& entry) { return entry.handle == handle; });
    REPLAYOUT_ASSERT(found != delta_states_.end());
    return found->state;
}

const SharedPayload* SharedSerialization::find_payload(const PayloadKey& key) const noexcept {
    for (const SharedPayload& payload : payloads_) {
        if (payload.version == key.version && payload.passing == key.passing &&
            payload.position == key.position) {
            return &payload;
        }
    }
    return nullptr;
}

bool SharedSerialization::has_payload_of(Version version) const noexcept {
    return std::any_of(payloads_.begin(), payloads_.end(), [version](const SharedPayload& payload) {
        return payload.version == version;
    });
}

void SharedSerialization::drop_payloads() noexcept {
    for (SharedPayload& payload : payloads_) {
        payload.version = 0;
    }
}

void SharedSerialization::keep_payload(const PayloadKey& key, std::uint32_t property_count,
                                       std::span<const std::byte> block, std::size_t array_steps) {
    REPLAYOUT_ASSERT(key.version != 0);
    REPLAYOUT_ASSERT(key.position.lost_parts.empty());  // a loan, which would not outlast this
    SharedPayload& payload = payload_to_replace(key.version);
    payload.position = key.position;
    payload.passing = key.passing;
    payload.version = key.version;
    payload.property_count = property_count;
    payload.array_steps = array_steps;
    payload.bytes.assign(block.begin(), block.end());
}

SharedPayload& SharedSerialization::payload_to_replace(Version version) {
    // Nobody asks for a payload of an older version again. So an object stops taking memory once it
    // has had as many receivers in different positions at one version as it will have.
    const auto old = std::find_if(
        payloads_.begin(), payloads_.end(),
        [version](const SharedPayload& payload) { return payload.version != version; });
    if (old != payloads_.end()) {
        return *old;
    }
    if (payloads_.size() < payload_count_max) {
        const Allocator<std::byte> allocator(buffer_.get_stored_allocator().resource());
        payloads_.push_back({OwedVersions(), {}, 0, 0, 0, Vector<std::byte>(allocator)});
        return payloads_.back();
    }
    SharedPayload& payload = payloads_[next_payload_];
    next_payload_ = (next_payload_ + 1) % payload_count_max;
    return payload;
}

std::size_t SharedSerialization::memory_bytes() const noexcept {
    std::size_t payload_bytes = payloads_.capacity() * sizeof(SharedPayload);
    for (const SharedPayload& payload : payloads_) {
        payload_bytes += payload.bytes.capacity();
    }
    return payload_bytes + pieces_.capacity() * sizeof(SharedPiece) +
           array_pieces_.capacity() * sizeof(SharedArrayPiece) +
           failures_.capacity() * sizeof(Failure) + delta_states_.capacity() * sizeof(DeltaState) +
           buffer_.capacity() + spare_.capacity();
}

void SharedSerialization::replace(const BitWriter& bits, SharedPiece& piece) {
    const std::size_t old_bytes = piece_bytes(piece);
    piece.bit_count = static_cast<std::uint32_t>(bits.bit_count());
    if (old_bytes == bits.byte_count() && old_bytes > 0) {
        // The common case: a plain value, always of one size, stays where it is.
        std::memcpy(buffer_.data() + piece.byte_offset, bits.bytes().data(), old_bytes);
        return;
    }
    piece.bit_count = 0;
    dropped_bytes_ += old_bytes;
    if (dropped_bytes_ >= compact_bytes_min && dropped_bytes_ * 2 >= buffer_.size()) {
        compact();
    }
    piece.byte_offset = static_cast<std::uint32_t>(buffer_.size());
    piece.bit_count = static_cast<std::uint32_t>(bits.bit_count());
    buffer_.insert(buffer_.end(), bits.bytes().begin(), bits.bytes().end());
}

void SharedSerialization::compact() {
    // Into the other of two buffers, which keep their memory: compacting allocates only while they
    // grow, or where they were far larger.
    std::size_t kept_bytes = 0;
    const auto count_piece = [&kept_bytes](const SharedPiece& piece) {
        kept_bytes += piece_bytes(piece);
    };
    std::for_each(pieces_.begin(), pieces_.end(), count_piece);
    for (const SharedArrayPiece& entry : array_pieces_) {
        count_piece(entry.piece);
    }
    clear_for(spare_, 2 * kept_bytes);
    const auto move_piece = [this](SharedPiece& piece) {
        const std::byte* bytes = buffer_.data() + piece.byte_offset;
        piece.byte_offset = static_cast<std::uint32_t>(spare_.size());
        spare_.insert(spare_.end(), bytes, bytes + piece_bytes(piece));
    };
    std::for_each(pieces_.begin(), pieces_.end(), move_piece);
    for (SharedArrayPiece& entry : array_pieces_) {
        move_piece(entry.piece);
    }
    buffer_.swap(spare_);
    clear_for(spare_, 2 * kept_bytes);
    dropped_bytes_ = 0;
}

}  // namespace replayout
