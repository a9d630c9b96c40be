// SPDX-License-Identifier: MIT
#include <replayout/bit_writer.h>

#include <array>
#include <cstdint>
#include <limits>
#include <random>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout {
namespace {

constexpr std::byte guard{0xa5};

/// Memory of exactly `size` bytes between guards that nobody may touch.
class GuardedMemory {
  public:
    explicit GuardedMemory(std::size_t size) : bytes_(size + 2 * guard_size, guard), size_(size) {}

    [[nodiscard]] std::span<std::byte> span() noexcept {
        return std::span(bytes_).subspan(guard_size, size_);
    }
    [[nodiscard]] bool is_intact() const noexcept {
        for (std::size_t index = 0; index < guard_size; ++index) {
            if (bytes_[index] != guard || bytes_[bytes_.size() - 1 - index] != guard) {
                return false;
            }
        }
        return true;
    }

  private:
    static constexpr std::size_t guard_size = 16;
    Bytes bytes_;
    std::size_t size_;
};

Bytes packed(std::uint64_t value) {
    std::array<std::byte, 16> memory{};
    BitWriter writer(memory);
    writer.write_packed_uint(value);
    REQUIRE_FALSE(writer.overflowed());
    return to_bytes(writer.bytes());
}

TEST_CASE("BitWriter: the first bit written is bit 0 of byte 0", "[replayout][bit_writer]") {
    std::array<std::byte, 4> memory{};
    BitWriter writer(memory);
    writer.write_bits(0b101, 3);
    writer.write_bits(0x3f, 6);
    CHECK(writer.bit_count() == 9);
    CHECK(writer.byte_count() == 2);
    CHECK(writer.bits_left() == 23);
    CHECK(to_hex(writer.bytes()) == "fd 01");
}

TEST_CASE("BitWriter: the low bit of a number comes before its high bit",
          "[replayout][bit_writer]") {
    std::array<std::byte, 8> memory{};
    BitWriter writer(memory);
    writer.write_bits(0x0123'4567'89ab'cdef, 64);
    CHECK(to_hex(writer.bytes()) == "ef cd ab 89 67 45 23 01");
}

TEST_CASE("BitWriter: bits above the count are ignored", "[replayout][bit_writer]") {
    std::array<std::byte, 2> memory{};
    BitWriter writer(memory);
    writer.write_bits(~std::uint64_t{0}, 3);
    writer.write_bits(0, 5);
    CHECK(to_hex(writer.bytes()) == "07");
}

TEST_CASE("BitWriter: every width fits at every bit position, and nothing beside it changes",
          "[replayout][bit_writer]") {
    for (std::uint32_t shift = 0; shift < 8; ++shift) {
        for (std::uint32_t width = 0; width <= 64; ++width) {
            GuardedMemory memory((shift + width + 7) / 8);
            BitWriter writer(memory.span());
            writer.write_bits(0, shift);
            writer.write_bits(~std::uint64_t{0}, width);
            REQUIRE_FALSE(writer.overflowed());
            writer.finish_byte();
            REQUIRE(memory.is_intact());
            for (std::size_t bit = 0; bit < writer.bit_count(); ++bit) {
                REQUIRE(get_bit(writer.bytes(), bit) == (bit >= shift && bit < shift + width));
            }
        }
    }
}

TEST_CASE("BitWriter: the buffer need not be cleared before", "[replayout][bit_writer]") {
    std::array<std::byte, 3> memory;
    memory.fill(std::byte{0xff});
    BitWriter writer(memory);
    writer.write_bits(0, 1);
    writer.write_bits(0b10, 2);
    writer.finish_byte();
    CHECK(to_hex(writer.bytes()) == "04");
}

TEST_CASE("BitWriter: a write that does not fit writes nothing, nor does any after it",
          "[replayout][bit_writer]") {
    GuardedMemory memory(2);
    BitWriter writer(memory.span());
    writer.write_bits(0x1f, 5);
    const BitWriter::Mark mark = writer.mark();
    writer.write_bits(0, 12);
    CHECK(writer.overflowed());
    CHECK(writer.bit_count() == 5);
    writer.write_bits(0, 1);
    CHECK(writer.bit_count() == 5);
    writer.write_bytes(make_bytes(1));
    CHECK(writer.bit_count() == 5);

    writer.rewind(mark);
    CHECK_FALSE(writer.overflowed());
    writer.write_bits(0, 11);
    CHECK_FALSE(writer.overflowed());
    CHECK(writer.bits_left() == 0);
    CHECK(to_hex(writer.bytes()) == "1f 00");
    CHECK(memory.is_intact());
}

TEST_CASE("BitWriter: no bits fit where nothing else does", "[replayout][bit_writer]") {
    BitWriter writer(std::span<std::byte>{});
    writer.write_bits(1, 0);
    writer.write_bytes({});
    writer.finish_byte();
    CHECK_FALSE(writer.overflowed());
    writer.write_bool(false);
    CHECK(writer.overflowed());
}

TEST_CASE("BitWriter: what was written before a mark survives what is written after a rewind",
          "[replayout][bit_writer]") {
    std::array<std::byte, 8> memory{};
    BitWriter writer(memory);
    writer.write_bits(0b1011, 4);
    const BitWriter::Mark mark = writer.mark();
    writer.write_bits(0xffff, 16);
    writer.rewind(mark);
    writer.write_bits(0, 4);
    CHECK(to_hex(writer.bytes()) == "0b");
}

TEST_CASE("BitWriter: a byte is finished with zeros, and a finished one stays as it is",
          "[replayout][bit_writer]") {
    std::array<std::byte, 2> memory;
    memory.fill(std::byte{0xff});
    BitWriter writer(memory);
    writer.write_bool(true);
    writer.finish_byte();
    CHECK(writer.bit_count() == 8);
    writer.finish_byte();
    CHECK(writer.bit_count() == 8);
    CHECK(to_hex(writer.bytes()) == "01");
}

TEST_CASE("BitWriter: a packed integer has seven bits a group, low group first",
          "[replayout][bit_writer]") {
    CHECK(to_hex(packed(0)) == "00");
    CHECK(to_hex(packed(1)) == "02");
    CHECK(to_hex(packed(0x7f)) == "fe");
    CHECK(to_hex(packed(0x80)) == "01 02");
    CHECK(to_hex(packed(0x3fff)) == "ff fe");
    CHECK(to_hex(packed(0x4000)) == "01 01 02");
    CHECK(to_hex(packed(0xffff'ffff)) == "ff ff ff ff 1e");
    CHECK(to_hex(packed(std::numeric_limits<std::uint64_t>::max())) ==
          "ff ff ff ff ff ff ff ff ff 02");
}

TEST_CASE("BitWriter: an exponential Golomb code is remainder, zeros, a one, the rest",
          "[replayout][bit_writer]") {
    std::array<std::byte, 16> memory{};
    BitWriter writer(memory);
    writer.write_exp_golomb(0, 0);  // 1
    writer.write_exp_golomb(1, 0);  // 0 1 0
    writer.write_exp_golomb(2, 0);  // 0 1 1
    writer.finish_byte();
    // Bits in order: 1, 0 1 0, 0 1 1, 0.
    CHECK(to_hex(writer.bytes()) == "65");

    BitWriter ordered(memory);
    ordered.write_exp_golomb(13, 2);  // 13 = 3 * 4 + 1: 1 0, then 3 + 1 = 4 = 100: 0 0 1, 0 0
    CHECK(ordered.bit_count() == 7);
    ordered.finish_byte();
    CHECK(to_hex(ordered.bytes()) == "11");
}

TEST_CASE("BitWriter: exp_golomb_bits is the length of the code", "[replayout][bit_writer]") {
    for (std::uint32_t order = 0; order < 32; ++order) {
        for (std::uint64_t value = 0; value <= 0xffff'ffff; value = value * 3 + 1) {
            std::array<std::byte, 16> memory{};
            BitWriter writer(memory);
            writer.write_exp_golomb(static_cast<std::uint32_t>(value), order);
            REQUIRE_FALSE(writer.overflowed());
            REQUIRE(writer.bit_count() ==
                    exp_golomb_bits(static_cast<std::uint32_t>(value), order));
        }
    }
    CHECK(exp_golomb_bits(0xffff'ffff, 0) == 65);
    CHECK(exp_golomb_bits(0xffff'ffff, 31) == 34);
}

TEST_CASE("BitWriter: bits are copied from any position to any position",
          "[replayout][bit_writer]") {
    std::mt19937_64 random(7);
    Bytes source(24);
    for (std::byte& byte : source) {
        byte = static_cast<std::byte>(random());
    }
    for (std::size_t from = 0; from < 17; ++from) {
        for (std::uint32_t to = 0; to < 9; ++to) {
            for (std::size_t count = 0; count <= source.size() * 8 - from; count += 1 + count / 9) {
                GuardedMemory memory((to + count + 7) / 8);
                BitWriter writer(memory.span());
                writer.write_bits(0, to);
                writer.write_bits_from(source, from, count);
                REQUIRE_FALSE(writer.overflowed());
                REQUIRE(writer.bit_count() == to + count);
                REQUIRE(memory.is_intact());
                std::size_t wrong_bits = 0;
                for (std::size_t bit = 0; bit < count; ++bit) {
                    const bool is_right =
                        get_bit(writer.bytes(), to + bit) == get_bit(source, from + bit);
                    wrong_bits += is_right ? 0u : 1u;
                }
                REQUIRE(wrong_bits == 0);
            }
        }
    }
}

TEST_CASE("BitWriter: a copy that does not fit writes nothing", "[replayout][bit_writer]") {
    const Bytes source = make_bytes(1, 2, 3);
    GuardedMemory memory(2);
    BitWriter writer(memory.span());
    writer.write_bits_from(source, 3, 17);
    CHECK(writer.overflowed());
    CHECK(writer.bit_count() == 0);
    CHECK(memory.is_intact());
}

TEST_CASE("BitWriter: whole bytes keep their order at any bit position",
          "[replayout][bit_writer]") {
    std::array<std::byte, 4> memory{};
    BitWriter writer(memory);
    writer.write_bytes(make_bytes(0x12, 0x34));
    CHECK(to_hex(writer.bytes()) == "12 34");
    BitWriter shifted(memory);
    shifted.write_bits(0, 4);
    shifted.write_bytes(make_bytes(0x12, 0x34));
    shifted.finish_byte();
    CHECK(to_hex(shifted.bytes()) == "20 41 03");
}

}  // namespace
}  // namespace replayout
