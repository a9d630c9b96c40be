// SPDX-License-Identifier: MIT
#include <replayout/bit_writer.h>

#include <algorithm>

namespace replayout {

namespace {

/// The lowest `byte_count` (0 to 8) bytes of a word.
void store_short(std::byte* bytes, std::size_t byte_count, std::uint64_t word) noexcept {
    for (std::size_t i = 0; i < byte_count; ++i) {
        bytes[i] = static_cast<std::byte>(word >> (8 * i));
    }
}

}  // namespace

void BitWriter::store_tail(std::size_t byte_index, std::size_t byte_count,
                           std::uint64_t word) noexcept {
    // At most eight bytes are left, so what fits lies in one word.
    REPLAYOUT_ASSERT(byte_count <= 8);
    store_short(bytes_ + byte_index, byte_count, word);
}

void BitWriter::write_bytes(std::span<const std::byte> bytes) noexcept {
    const std::size_t bit_count = bytes.size() * 8;
    if (bit_count > capacity_bits_ - position_bits_ || overflowed_) {
        overflowed_ = overflowed_ || bit_count > 0;
        return;
    }
    if (bytes.empty()) {
        return;
    }
    // All in registers, as the bytes that are stored could be the writer's own, for all that the
    // compiler knows.
    const auto shift = static_cast<std::uint32_t>(position_bits_ & 7);
    std::byte* target = bytes_ + (position_bits_ >> 3);
    const std::byte* const target_end = bytes_ + (capacity_bits_ >> 3);
    position_bits_ += bit_count;
    if (shift == 0) {
        std::memcpy(target, bytes.data(), bytes.size());
        return;
    }
    const std::byte* source = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t carry = std::to_integer<std::uint64_t>(*target) & detail::low_mask(shift);
    for (; left >= 8; left -= 8, source += 8, target += 8) {
        const std::uint64_t word = detail::load_little_endian(source);
        detail::store_little_endian(target, carry | (word << shift));
        carry = word >> (64 - shift);
    }
    const std::uint64_t word = carry | (detail::load_short(source, left) << shift);
    if (target_end - target >= 8) {
        detail::store_little_endian(target, word);
    } else {
        store_short(target, left + 1, word);
    }
}

void BitWriter::write_bits_from(std::span<const std::byte> source, std::size_t bit_offset,
                                std::size_t bit_count) noexcept {
    REPLAYOUT_ASSERT(bit_offset + bit_count <= source.size() * 8);
    if (bit_count > capacity_bits_ - position_bits_ || overflowed_) {
        overflowed_ = overflowed_ || bit_count > 0;
        return;
    }
    if ((bit_offset & 7) == 0) {
        const std::size_t whole_bytes = bit_count >> 3;
        write_bytes(source.subspan(bit_offset >> 3, whole_bytes));
        bit_offset += whole_bytes * 8;
        bit_count -= whole_bytes * 8;
    }
    while (bit_count > 0) {
        const std::size_t byte_index = bit_offset >> 3;
        const auto shift = static_cast<std::uint32_t>(bit_offset & 7);
        std::uint64_t word = 0;
        if (byte_index + 8 <= source.size()) {
            word = detail::load_little_endian(source.data() + byte_index);
        } else {
            word = detail::load_short(source.data() + byte_index, source.size() - byte_index);
        }
        const auto step = static_cast<std::uint32_t>(std::min<std::size_t>(bit_count, 64 - shift));
        write_bits(word >> shift, step);
        bit_offset += step;
        bit_count -= step;
    }
}

}  // namespace replayout
