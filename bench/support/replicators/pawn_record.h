// SPDX-License-Identifier: MIT
//
// One pawn on the wire of the replicators that are written by hand: what differs from its shadow.
//
//     record    u32 index, u16 mask, the values of the mask; a string with its length in a byte
//
// It is written to be fast, since it is what the library is compared with: one class that is known
// when it is compiled, values stored as bytes, nothing looked up. It lies in a header so that each
// replicator has it within its loop.
#pragma once

#include "support/workloads/pawn.h"

#include <replayout/reflection/diagnostics.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace replayout::bench {

/// What a receiver holds of a pawn. The name lies in it: to follow a pointer, and to keep 88 bytes
/// instead of 72, takes a sixth more time.
struct PawnShadow {
    static constexpr std::size_t name_bytes_max = 19;

    float px = 0;
    float py = 0;
    float pz = 0;
    float qx = 0;
    float qy = 0;
    float qz = 0;
    float qw = 0;
    float vx = 0;
    float vy = 0;
    float vz = 0;
    std::int32_t health = 0;
    std::uint8_t state = 0;
    std::uint16_t ammo = 0;
    std::uint32_t owner = 0;
    std::uint8_t name_bytes = 0;
    std::array<char, name_bytes_max> name{};
};
static_assert(sizeof(PawnShadow) == 72);
static_assert(offsetof(PawnShadow, owner) == offsetof(Pawn, owner));

inline constexpr std::size_t pawn_record_head_bytes = 6;
/// At its longest: all values.
inline constexpr std::size_t pawn_record_bytes_max =
    pawn_record_head_bytes + 51 + 1 + PawnShadow::name_bytes_max;

struct PawnRecord {
    std::size_t bytes = 0;  ///< 0: nothing differs
    std::uint32_t values = 0;
};

/// Names of 8 to 16 characters, which is what they are, by two words that overlap; memcmp would be
/// a call.
[[nodiscard]] inline bool is_name_equal(const Pawn& pawn, const PawnShadow& shadow) noexcept {
    const std::size_t bytes = pawn.name.size();
    if (bytes != shadow.name_bytes) {
        return false;
    }
    if (bytes < 8 || bytes > 16) {
        return std::memcmp(pawn.name.data(), shadow.name.data(), bytes) == 0;
    }
    const auto word = [bytes](const char* text, bool is_last) {
        std::uint64_t value = 0;
        std::memcpy(&value, text + (is_last ? bytes - 8 : 0), sizeof(value));
        return value;
    };
    const char* const name = pawn.name.data();
    const char* const kept = shadow.name.data();
    return ((word(name, false) ^ word(kept, false)) | (word(name, true) ^ word(kept, true))) == 0;
}

/// Whether there is nothing to write. Bytes of padding may differ, which costs a look at each
/// property and writes nothing.
[[nodiscard]] inline bool is_equal(const Pawn& pawn, const PawnShadow& shadow) noexcept {
    static_assert(offsetof(Pawn, owner) == 6 * sizeof(std::uint64_t));
    std::uint64_t difference = pawn.owner ^ shadow.owner;
    for (std::size_t i = 0; i < 6; ++i) {
        std::uint64_t value = 0;
        std::uint64_t kept = 0;
        std::memcpy(&value, reinterpret_cast<const std::byte*>(&pawn) + 8 * i, sizeof(value));
        std::memcpy(&kept, reinterpret_cast<const std::byte*>(&shadow) + 8 * i, sizeof(kept));
        difference |= value ^ kept;
    }
    return difference == 0 && is_name_equal(pawn, shadow);
}

/// Writes what differs behind a place for index and mask, and keeps it.
class PawnRecordWriter {
  public:
    explicit PawnRecordWriter(std::byte* record) noexcept
        : record_(record), end_(record + pawn_record_head_bytes) {}

    /// Bits are compared: of the numbers, two zeros would be equal and a NaN never.
    template <typename T>
    void write_plain(const T& value, T& kept) noexcept {
        if (std::memcmp(&value, &kept, sizeof(T)) != 0) {
            kept = value;
            append(&value, sizeof(T));
            mask_ |= bit_;
            ++values_;
        }
        bit_ <<= 1;
    }

    void write_name(const Pawn& pawn, PawnShadow& shadow) noexcept {
        if (!is_name_equal(pawn, shadow)) {
            REPLAYOUT_ASSERT(pawn.name.size() <= PawnShadow::name_bytes_max);
            shadow.name_bytes = static_cast<std::uint8_t>(pawn.name.size());
            std::memcpy(shadow.name.data(), pawn.name.data(), shadow.name_bytes);
            append(&shadow.name_bytes, sizeof(shadow.name_bytes));
            append(shadow.name.data(), shadow.name_bytes);
            mask_ |= bit_;
            ++values_;
        }
        bit_ <<= 1;
    }

    [[nodiscard]] PawnRecord finish(std::uint32_t index) noexcept {
        if (mask_ == 0) {
            return {};
        }
        const auto mask = static_cast<std::uint16_t>(mask_);
        std::memcpy(record_, &index, sizeof(index));
        std::memcpy(record_ + sizeof(index), &mask, sizeof(mask));
        return {static_cast<std::size_t>(end_ - record_), values_};
    }

  private:
    void append(const void* bytes, std::size_t size) noexcept {
        std::memcpy(end_, bytes, size);
        end_ += size;
    }

    std::byte* record_;
    std::byte* end_;
    std::uint32_t mask_ = 0;
    std::uint32_t bit_ = 1;
    std::uint32_t values_ = 0;  // counted one by one: of the mask it would be a call
};

/// Writes to `record`, where pawn_record_bytes_max bytes are free, what of `pawn` differs from
/// `shadow`, which is then equal.
[[gnu::always_inline]] inline PawnRecord write_pawn_record(std::byte* record, std::uint32_t index,
                                                           const Pawn& pawn,
                                                           PawnShadow& shadow) noexcept {
    PawnRecordWriter writer(record);
    writer.write_plain(pawn.px, shadow.px);
    writer.write_plain(pawn.py, shadow.py);
    writer.write_plain(pawn.pz, shadow.pz);
    writer.write_plain(pawn.qx, shadow.qx);
    writer.write_plain(pawn.qy, shadow.qy);
    writer.write_plain(pawn.qz, shadow.qz);
    writer.write_plain(pawn.qw, shadow.qw);
    writer.write_plain(pawn.vx, shadow.vx);
    writer.write_plain(pawn.vy, shadow.vy);
    writer.write_plain(pawn.vz, shadow.vz);
    writer.write_plain(pawn.health, shadow.health);
    writer.write_plain(pawn.state, shadow.state);
    writer.write_plain(pawn.ammo, shadow.ammo);
    writer.write_plain(pawn.owner, shadow.owner);
    writer.write_name(pawn, shadow);
    return writer.finish(index);
}

}  // namespace replayout::bench
