// SPDX-License-Identifier: MIT
#include <replayout/bit_writer.h>

#include <algorithm>

namespace replayout {

void BitWriter::store_tail(std::size_t byte_index, std::size_t byte_count,
                           std::uint64_t word) noexcept {
    // At most eight bytes are left, so what fits lies in one word.
    REPLAYOUT_ASSERT(byte_count <= 8);
    for (std::size_t i = 0; i < byte_count; ++i) {
        bytes_[byte_index + i] = static_cast<std::byte>(word >> (8 * i));
    }
}

void BitWriter::write_bytes(std::span<const std::byte> bytes) noexcept {
    write_bits_from(bytes, 0, bytes.size() * 8);
}

void BitWriter::write_bits_from(std::span<const std::byte> source, std::size_t bit_offset,
                                std::size_t bit_count) noexcept {
    REPLAYOUT_ASSERT(bit_offset + bit_count <= source.size() * 8);
    if (bit_count > capacity_bits_ - position_bits_ || overflowed_) {
        overflowed_ = overflowed_ || bit_count > 0;
        return;
    }
    if (((bit_offset | position_bits_) & 7) == 0) {
        const std::size_t whole_bytes = bit_count >> 3;
        if (whole_bytes > 0) {
            std::memcpy(bytes_ + (position_bits_ >> 3), source.data() + (bit_offset >> 3),
                        whole_bytes);
        }
        position_bits_ += whole_bytes * 8;
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
            for (std::size_t i = 0; byte_index + i < source.size(); ++i) {
                word |= std::to_integer<std::uint64_t>(source[byte_index + i]) << (8 * i);
            }
        }
        const auto step = static_cast<std::uint32_t>(std::min<std::size_t>(bit_count, 64 - shift));
        write_bits(word >> shift, step);
        bit_offset += step;
        bit_count -= step;
    }
}

}  // namespace replayout
