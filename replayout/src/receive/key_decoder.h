// SPDX-License-Identifier: MIT
//
// Ascending keys out of the bits of a block, see KeyWriter. A key that does not ascend, or that
// exceeds the key's width, makes the reader fail.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/reflection/property.h>

#include <cstdint>

namespace replayout {

class KeyDecoder {
  public:
    KeyDecoder(BitReader& reader, const ArrayKey& key) noexcept
        : reader_(reader), greatest_(greatest_key(key)) {}

    [[nodiscard]] std::uint64_t read() noexcept {
        const std::uint64_t value = reader_.read_packed_uint();
        const std::uint64_t room = is_first_ ? greatest_ : greatest_ - last_;
        // The gap is one less than the distance, so it must stay below what is left.
        if (!reader_.spend_steps(1) || value > room || (!is_first_ && value == room)) {
            reader_.fail();
            return 0;
        }
        last_ = is_first_ ? value : last_ + value + 1;
        is_first_ = false;
        return last_;
    }

  private:
    [[nodiscard]] static std::uint64_t greatest_key(const ArrayKey& key) noexcept {
        return key.size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (key.size * 8)) - 1;
    }

    BitReader& reader_;
    std::uint64_t greatest_;
    std::uint64_t last_ = 0;
    bool is_first_ = true;
};

}  // namespace replayout
