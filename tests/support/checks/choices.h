// SPDX-License-Identifier: MIT
//
// A bounded row of bytes, read as choices: what a simulation, a property test or a fuzz target does
// next. The bytes come from a seed or from a fuzzer, and whoever reads them cannot tell.
//
//     Choices choices = Choices::from_seed(seed, tick, 4'096);
//     while (choices.percent(60)) { act(choices.below(8)); }
//
// Where the bytes end every choice is the first one, so a row that is cut is a simpler case of the
// same kind: loops are to be written so that the first choice ends them. No distribution of the
// library, no float: the same bytes give the same choices with every compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace replayout::test {

class Choices {
  public:
    explicit Choices(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}

    /// `stream` tells rows of one seed apart, a tick's or a part's: what one of them reads moves no
    /// other. SplitMix64 (Steele, Lea, Flood 2014), lowest byte first.
    [[nodiscard]] static Choices from_seed(std::uint64_t seed, std::uint64_t stream,
                                           std::size_t bytes_max) {
        std::uint64_t state = mixed(seed) ^ mixed(stream + golden);
        std::vector<std::byte> bytes;
        bytes.reserve(bytes_max);
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < bytes_max; ++i) {
            if (i % 8 == 0) {
                state += golden;
                word = mixed(state);
            }
            bytes.push_back(static_cast<std::byte>(word & 0xFF));
            word >>= 8;
        }
        return Choices(bytes);
    }

    /// 0 to count - 1, by as few bytes as hold that; a count of 0 or 1 takes none and gives 0.
    [[nodiscard]] std::uint32_t below(std::uint32_t count) {
        if (count <= 1) {
            return 0;
        }
        std::uint64_t value = 0;
        for (std::uint32_t rest = count - 1; rest > 0; rest >>= 8) {
            value = value << 8 | take_byte();
        }
        return static_cast<std::uint32_t>(value % count);
    }
    /// low to high, both included.
    [[nodiscard]] std::uint32_t between(std::uint32_t low, std::uint32_t high) {
        return high - low == 0xFFFF'FFFF ? static_cast<std::uint32_t>(bits())
                                         : low + below(high - low + 1);
    }
    /// Never at the end of the bytes, but where it is certain.
    [[nodiscard]] bool percent(std::uint32_t probability) {
        return below(100) + probability >= 100;
    }
    /// Eight bytes.
    [[nodiscard]] std::uint64_t bits() {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i) {
            value = value << 8 | take_byte();
        }
        return value;
    }

    [[nodiscard]] bool is_at_end() const noexcept { return position_ == bytes_.size(); }
    /// Bytes that choices took so far: what is behind them changes nothing.
    [[nodiscard]] std::size_t taken_bytes() const noexcept { return position_; }

  private:
    static constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;

    [[nodiscard]] static constexpr std::uint64_t mixed(std::uint64_t value) noexcept {
        value = (value ^ value >> 30) * 0xBF58'476D'1CE4'E5B9;
        value = (value ^ value >> 27) * 0x94D0'49BB'1331'11EB;
        return value ^ value >> 31;
    }
    [[nodiscard]] std::uint8_t take_byte() noexcept {
        return position_ == bytes_.size() ? std::uint8_t{0}
                                          : std::to_integer<std::uint8_t>(bytes_[position_++]);
    }

    std::vector<std::byte> bytes_;
    std::size_t position_ = 0;
};

}  // namespace replayout::test
