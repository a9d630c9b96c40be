// SPDX-License-Identifier: MIT
//
// Comparison of plain bytes, for the loop over all objects, where most are equal.
//
// Sixteen bytes at a time where the compiler says that the machine has instructions for it (SSE2,
// which every x86-64 has, and NEON), else eight; the answer is the same. No more is asked of the
// machine at run time: what is long enough to gain from wider instructions goes to memcmp, which
// knows them.
#pragma once

#include "native_value.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#define REPLAYOUT_EQUAL_BYTES_SSE2 1
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define REPLAYOUT_EQUAL_BYTES_NEON 1
#include <arm_neon.h>
#endif

namespace replayout {

namespace detail {

/// Sixteen bytes as two words.
struct PortableChunk {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    [[nodiscard]] static PortableChunk difference(const std::byte* left,
                                                  const std::byte* right) noexcept {
        std::uint64_t words[4];
        std::memcpy(words, left, 16);
        std::memcpy(words + 2, right, 16);
        return {words[0] ^ words[2], words[1] ^ words[3]};
    }
    void add(const PortableChunk& other) noexcept {
        low |= other.low;
        high |= other.high;
    }
    [[nodiscard]] bool is_zero() const noexcept { return (low | high) == 0; }
};

#if defined(REPLAYOUT_EQUAL_BYTES_SSE2)
struct VectorChunk {
    __m128i bits;

    [[nodiscard]] static VectorChunk difference(const std::byte* left,
                                                const std::byte* right) noexcept {
        return {_mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(left)),
                              _mm_loadu_si128(reinterpret_cast<const __m128i*>(right)))};
    }
    void add(const VectorChunk& other) noexcept { bits = _mm_or_si128(bits, other.bits); }
    [[nodiscard]] bool is_zero() const noexcept {
        return _mm_movemask_epi8(_mm_cmpeq_epi8(bits, _mm_setzero_si128())) == 0xFFFF;
    }
};
#elif defined(REPLAYOUT_EQUAL_BYTES_NEON)
struct VectorChunk {
    uint8x16_t bits;

    [[nodiscard]] static VectorChunk difference(const std::byte* left,
                                                const std::byte* right) noexcept {
        return {veorq_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(left)),
                         vld1q_u8(reinterpret_cast<const std::uint8_t*>(right)))};
    }
    void add(const VectorChunk& other) noexcept { bits = vorrq_u8(bits, other.bits); }
    [[nodiscard]] bool is_zero() const noexcept { return vmaxvq_u8(bits) == 0; }
};
#else
using VectorChunk = PortableChunk;
#endif

/// Less than sixteen bytes, as two words that overlap.
template <typename Word>
[[nodiscard]] bool equal_ends(const std::byte* left, const std::byte* right,
                              std::size_t size) noexcept {
    const std::size_t last = size - sizeof(Word);
    const auto first_difference =
        static_cast<Word>(load_native<Word>(left) ^ load_native<Word>(right));
    const auto last_difference =
        static_cast<Word>(load_native<Word>(left + last) ^ load_native<Word>(right + last));
    return (first_difference | last_difference) == 0;
}

[[nodiscard]] inline bool equal_short_bytes(const std::byte* left, const std::byte* right,
                                            std::size_t size) noexcept {
    if (size >= 8) {
        return equal_ends<std::uint64_t>(left, right, size);
    }
    if (size >= 4) {
        return equal_ends<std::uint32_t>(left, right, size);
    }
    if (size >= 2) {
        return equal_ends<std::uint16_t>(left, right, size);
    }
    return size == 0 || *left == *right;
}

/// Where a call of memcmp, with wider instructions, begins to cost less than what is here.
inline constexpr std::size_t in_place_bytes_max = 128;

/// `Count` chunks from the front and as many up to the end; where there are fewer, they overlap.
template <typename Chunk, std::size_t Count>
[[nodiscard]] bool equal_chunks(const std::byte* left, const std::byte* right,
                                std::size_t size) noexcept {
    const std::size_t back = size - 16 * Count;
    Chunk difference = Chunk::difference(left, right);
    difference.add(Chunk::difference(left + back, right + back));
    for (std::size_t i = 16; i < 16 * Count; i += 16) {
        difference.add(Chunk::difference(left + i, right + i));
        difference.add(Chunk::difference(left + back + i, right + back + i));
    }
    return difference.is_zero();
}

/// For at most in_place_bytes_max.
template <typename Chunk>
[[nodiscard]] bool equal_in_place(const std::byte* left, const std::byte* right,
                                  std::size_t size) noexcept {
    if (size < 16) {
        return equal_short_bytes(left, right, size);
    }
    if (size <= 32) {
        return equal_chunks<Chunk, 1>(left, right, size);
    }
    if (size <= 64) {
        return equal_chunks<Chunk, 2>(left, right, size);
    }
    return equal_chunks<Chunk, 4>(left, right, size);
}

template <typename Chunk>
[[nodiscard]] bool equal_bytes_by(const std::byte* left, const std::byte* right,
                                  std::size_t size) noexcept {
    return size <= in_place_bytes_max ? equal_in_place<Chunk>(left, right, size)
                                      : std::memcmp(left, right, size) == 0;
}

}  // namespace detail

/// Whether a run is so short that equal_bytes() calls nobody.
[[nodiscard]] constexpr bool is_short_run(std::size_t size) noexcept {
    return size <= detail::in_place_bytes_max;
}

/// equal_bytes() of a short run.
[[nodiscard]] inline bool equal_short_run(const std::byte* left, const std::byte* right,
                                          std::size_t size) noexcept {
    return detail::equal_in_place<detail::VectorChunk>(left, right, size);
}

/// Short runs in place, because the call of memcmp would cost more than the comparison.
[[nodiscard]] inline bool equal_bytes(const std::byte* left, const std::byte* right,
                                      std::size_t size) noexcept {
    return detail::equal_bytes_by<detail::VectorChunk>(left, right, size);
}

/// The first byte from `from` on that differs, or `size`.
[[nodiscard]] inline std::size_t next_difference(const std::byte* left, const std::byte* right,
                                                 std::size_t from, std::size_t size) noexcept {
    std::size_t i = from;
    for (; i + 8 <= size; i += 8) {
        const std::uint64_t difference =
            load_native<std::uint64_t>(left + i) ^ load_native<std::uint64_t>(right + i);
        if (difference != 0) {
            const int bits = std::endian::native == std::endian::little
                                 ? std::countr_zero(difference)
                                 : std::countl_zero(difference);
            return i + static_cast<std::size_t>(bits) / 8;
        }
    }
    while (i < size && left[i] == right[i]) {
        ++i;
    }
    return i;
}

/// Two plain leaves: mostly numbers, so one comparison.
[[nodiscard]] inline bool equal_plain_leaves(const std::byte* left, const std::byte* right,
                                             std::size_t size) noexcept {
    if (size == 4) {
        return load_native<std::uint32_t>(left) == load_native<std::uint32_t>(right);
    }
    switch (size) {
        case 1:
            return *left == *right;
        case 2:
            return load_native<std::uint16_t>(left) == load_native<std::uint16_t>(right);
        case 8:
            return load_native<std::uint64_t>(left) == load_native<std::uint64_t>(right);
        default:
            return std::memcmp(left, right, size) == 0;
    }
}

}  // namespace replayout
