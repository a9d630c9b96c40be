// SPDX-License-Identifier: MIT
#include <replayout/bit_reader.h>

#include <algorithm>

namespace replayout {

std::uint64_t BitReader::load_tail(std::size_t byte_index, std::uint32_t shift) const noexcept {
    // At most eight bytes are left, so one word holds them all.
    const std::size_t available = bytes_.size() - byte_index;
    REPLAYOUT_ASSERT(available <= 8);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < available; ++i) {
        word |= std::to_integer<std::uint64_t>(bytes_[byte_index + i]) << (8 * i);
    }
    return word >> shift;
}

std::uint64_t BitReader::read_packed_uint() noexcept {
    std::uint64_t value = 0;
    for (std::uint32_t shift = 0; shift < 64; shift += 7) {
        const std::uint64_t group = read_bits(8);
        const std::uint64_t payload = group >> 1;
        if (shift == 63 && payload > 1) {
            break;
        }
        value |= payload << shift;
        if ((group & 1) == 0) {
            // A longer form of the same number is refused, so that a value has one encoding.
            if (shift > 0 && payload == 0) {
                break;
            }
            return failed_ ? 0 : value;
        }
    }
    fail();
    return 0;
}

std::uint32_t BitReader::read_packed_uint32() noexcept {
    const std::uint64_t value = read_packed_uint();
    if (value > 0xFFFF'FFFFu) {
        fail();
        return 0;
    }
    return static_cast<std::uint32_t>(value);
}

std::uint32_t BitReader::read_exp_golomb(std::uint32_t order) noexcept {
    REPLAYOUT_ASSERT(order < 32);
    const std::uint64_t remainder = read_bits(order);
    std::uint32_t zeros = 0;
    while (!failed_ && zeros <= 32 && !read_bool()) {
        ++zeros;
    }
    if (failed_ || zeros > 32) {
        fail();
        return 0;
    }
    const std::uint64_t quotient = ((std::uint64_t{1} << zeros) | read_bits(zeros)) - 1;
    const std::uint64_t value = (quotient << order) | remainder;
    if (failed_ || quotient > (0xFFFF'FFFFu >> order)) {
        fail();
        return 0;
    }
    return static_cast<std::uint32_t>(value);
}

void BitReader::read_bytes(std::span<std::byte> bytes) noexcept {
    if (bytes.size() > bits_left() / 8 || failed_) {
        fail();
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
        return;
    }
    if ((position_bits_ & 7) == 0 && !bytes.empty()) {
        std::memcpy(bytes.data(), bytes_.data() + (position_bits_ >> 3), bytes.size());
        position_bits_ += bytes.size() * 8;
        return;
    }
    std::size_t index = 0;
    for (; index + 8 <= bytes.size(); index += 8) {
        detail::store_little_endian(bytes.data() + index, read_bits(64));
    }
    for (; index < bytes.size(); ++index) {
        bytes[index] = static_cast<std::byte>(read_bits(8));
    }
}

std::span<const std::byte> BitReader::take_bytes(std::uint64_t count) noexcept {
    REPLAYOUT_ASSERT((position_bits_ & 7) == 0);
    if (count > bits_left() / 8 || failed_) {
        fail();
        return {};
    }
    const auto size = static_cast<std::size_t>(count);  // at most what is left
    const auto taken = bytes_.subspan(position_bits_ >> 3, size);
    position_bits_ += size * 8;
    return taken;
}

BitReader BitReader::take_reader(std::uint64_t count) noexcept {
    BitReader taken(take_bytes(count), budget_);
    taken.failed_ = failed_;
    return taken;
}

void BitReader::finish_byte() noexcept {
    const auto used = static_cast<std::uint32_t>(position_bits_ & 7);
    if (used != 0 && read_bits(8 - used) != 0) {
        fail();
    }
}

bool BitReader::spend_steps(std::uint64_t count) noexcept {
    if (budget_ == nullptr) {
        return !failed_;
    }
    if (failed_ || count > budget_->steps) {
        fail();
        return false;
    }
    budget_->steps -= count;
    return true;
}

bool BitReader::spend_allocation(std::uint64_t bytes) noexcept {
    if (budget_ == nullptr) {
        return !failed_;
    }
    if (failed_ || bytes > budget_->allocation_bytes) {
        budget_->is_allocation_refused = budget_->is_allocation_refused || !failed_;
        fail();
        return false;
    }
    budget_->allocation_bytes -= bytes;
    return true;
}

bool BitReader::begin_keyed_array() noexcept {
    if (budget_ != nullptr && budget_->array_steps == 0) {
        fail();
    }
    return !failed_;
}

void BitReader::spend_array_steps(std::uint64_t count) noexcept {
    if (budget_ != nullptr) {
        budget_->array_steps -= std::min(budget_->array_steps, count);
    }
}

}  // namespace replayout
