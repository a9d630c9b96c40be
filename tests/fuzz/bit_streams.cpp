// SPDX-License-Identifier: MIT
//
// A script of reads over bytes. Each gives what a reader gives that goes bit by bit; what was read
// and is written again is the same bits; a failure stays, and moves nothing. And text is UTF-8
// exactly when it can be decoded.
//
//     u8 count of reads   a byte for each: 3 bits which, 5 bits how many   the bytes
#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/utf8.h>

#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.h"

namespace replayout::test {
namespace {

enum class Read : std::uint8_t { Bits, ManyBits, Packed, Packed32, ExpGolomb, Bytes, Skip, Finish };

/// Written from docs/wire_format.md, section 2, and slow.
class SlowReader {
  public:
    explicit SlowReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::optional<std::uint64_t> bits(std::uint32_t count) {
        std::uint64_t value = 0;
        if (count > bytes_.size() * 8 - position) {
            return std::nullopt;
        }
        for (std::uint32_t i = 0; i < count; ++i, ++position) {
            value |= std::uint64_t{get_bit(bytes_, position)} << i;
        }
        return value;
    }
    [[nodiscard]] std::optional<std::uint64_t> packed(std::uint32_t bits_max) {
        std::vector<std::uint64_t> groups;
        bool goes_on = true;
        while (goes_on) {
            const auto group = bits(8);
            if (!group) {
                return std::nullopt;
            }
            goes_on = (*group & 1) != 0;
            groups.push_back(*group >> 1);
        }
        if (groups.size() > 1 && groups.back() == 0) {
            return std::nullopt;
        }
        std::uint64_t value = 0;
        for (std::size_t i = groups.size(); i-- > 0;) {
            if (value >> (bits_max - 7) != 0) {
                return std::nullopt;
            }
            value = value << 7 | groups[i];
        }
        return bits_max < 64 && value >> bits_max != 0 ? std::nullopt : std::optional(value);
    }
    [[nodiscard]] std::optional<std::uint64_t> exp_golomb(std::uint32_t order) {
        const auto remainder = bits(order);
        std::uint32_t zeros = 0;
        auto bit = remainder ? bits(1) : std::nullopt;
        for (; bit && *bit == 0 && zeros < 33; ++zeros) {
            bit = bits(1);
        }
        const auto below = bit && *bit == 1 ? bits(zeros) : std::nullopt;
        if (!below) {
            return std::nullopt;
        }
        const std::uint64_t quotient = ((std::uint64_t{1} << zeros) | *below) - 1;
        const std::uint64_t value = quotient << order | *remainder;
        return quotient > 0xFFFF'FFFF || value > 0xFFFF'FFFF ? std::nullopt : std::optional(value);
    }

    std::size_t position = 0;

  private:
    std::span<const std::byte> bytes_;
};

/// What Unicode says of one code point after the other.
[[nodiscard]] bool is_text(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<std::uint8_t>(text[i++]);
        const int more = lead < 0x80             ? 0
                         : (lead & 0xE0) == 0xC0 ? 1
                         : (lead & 0xF0) == 0xE0 ? 2
                         : (lead & 0xF8) == 0xF0 ? 3
                                                 : -1;
        if (more < 0 || text.size() - i < static_cast<std::size_t>(more)) {
            return false;
        }
        std::uint32_t point = more == 0 ? lead : lead & (0x3Fu >> more);
        for (int k = 0; k < more; ++k) {
            const auto byte = static_cast<std::uint8_t>(text[i++]);
            if ((byte & 0xC0) != 0x80) {
                return false;
            }
            point = point << 6 | (byte & 0x3Fu);
        }
        constexpr std::uint32_t least[] = {0, 0x80, 0x800, 0x1'0000};
        if (point < least[more] || point > 0x10'FFFF || (point >= 0xD800 && point < 0xE000)) {
            return false;
        }
    }
    return true;
}

class Script {
  public:
    explicit Script(std::span<const std::byte> bytes)
        : bytes_(bytes), reader_(bytes), slow_(bytes), copy_(bytes.size()), writer_(copy_) {}

    void step(Read read, std::uint32_t amount) {
        const std::size_t before = reader_.position_bits();
        const bool had_failed = reader_.failed();
        const std::optional<std::uint64_t> expected =
            had_failed ? std::nullopt : slow_read(read, amount);
        const std::uint64_t value = fast_read(read, amount);
        REQUIRE(reader_.failed() == !expected.has_value());
        REQUIRE(value == expected.value_or(0));
        REQUIRE(reader_.position_bits() + reader_.bits_left() == bytes_.size() * 8);
        REQUIRE((!had_failed || reader_.position_bits() == before));
        if (expected) {
            REQUIRE(reader_.position_bits() == slow_.position);
            write(read, amount, value, before);
            REQUIRE(writer_.bit_count() == slow_.position);
        }
    }

    void finish() {
        REQUIRE_FALSE(writer_.overflowed());
        for (std::size_t bit = 0; bit < writer_.bit_count(); ++bit) {
            REQUIRE(get_bit(copy_, bit) == get_bit(bytes_, bit));
        }
    }

  private:
    [[nodiscard]] std::optional<std::uint64_t> slow_read(Read read, std::uint32_t amount) {
        switch (read) {
            case Read::Bits:
                return slow_.bits(amount);
            case Read::ManyBits:
                return slow_.bits(33 + amount);
            case Read::Packed:
                return slow_.packed(64);
            case Read::Packed32:
                return slow_.packed(32);
            case Read::ExpGolomb:
                return slow_.exp_golomb(amount);
            case Read::Bytes: {
                // A number out of all of them, as fast_read() makes it.
                if (amount > bytes_.size() - (slow_.position + 7) / 8) {
                    return std::nullopt;
                }
                std::uint64_t sum = 0;
                for (std::uint32_t i = 0; i < amount; ++i) {
                    sum = sum * 31 + *slow_.bits(8);
                }
                return sum;
            }
            case Read::Skip:
                return slow_.bits(amount) ? std::optional<std::uint64_t>(0) : std::nullopt;
            case Read::Finish: {
                const auto padding = slow_.bits((8 - slow_.position % 8) % 8);
                return padding == 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::uint64_t fast_read(Read read, std::uint32_t amount) {
        switch (read) {
            case Read::Bits:
                return reader_.read_bits(amount);
            case Read::ManyBits:
                return reader_.read_bits(33 + amount);
            case Read::Packed:
                return reader_.read_packed_uint();
            case Read::Packed32:
                return reader_.read_packed_uint32();
            case Read::ExpGolomb:
                return reader_.read_exp_golomb(amount);
            case Read::Bytes: {
                taken_.assign(amount, std::byte{0xAA});
                reader_.read_bytes(taken_);
                std::uint64_t sum = 0;
                for (const std::byte byte : taken_) {
                    sum = sum * 31 + std::to_integer<std::uint64_t>(byte);
                }
                return sum;
            }
            case Read::Skip:
                reader_.skip_bits(amount);
                return 0;
            case Read::Finish:
                reader_.finish_byte();
                return 0;
        }
        return 0;
    }

    void write(Read read, std::uint32_t amount, std::uint64_t value, std::size_t from) {
        switch (read) {
            case Read::Bits:
                return writer_.write_bits(value, amount);
            case Read::ManyBits:
                return writer_.write_bits(value, 33 + amount);
            case Read::Packed:
            case Read::Packed32:
                return writer_.write_packed_uint(value);
            case Read::ExpGolomb:
                REQUIRE(exp_golomb_bits(static_cast<std::uint32_t>(value), amount) ==
                        reader_.position_bits() - from);
                return writer_.write_exp_golomb(static_cast<std::uint32_t>(value), amount);
            case Read::Bytes:
                return writer_.write_bytes(taken_);
            case Read::Skip:
                return writer_.write_bits_from(bytes_, from, amount);
            case Read::Finish:
                return writer_.finish_byte();
        }
    }

    std::span<const std::byte> bytes_;
    BitReader reader_;
    SlowReader slow_;
    Bytes copy_;
    BitWriter writer_;
    Bytes taken_;
};

[[nodiscard]] std::byte op(Read read, std::uint32_t amount) {
    return static_cast<std::byte>(static_cast<std::uint32_t>(read) | amount << 3);
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    Bytes memory(64);
    BitWriter writer(memory);
    writer.write_bits(5, 3);
    writer.write_packed_uint(0);
    writer.write_packed_uint(300);
    writer.write_packed_uint(~std::uint64_t{0});
    writer.write_exp_golomb(1'000, 3);
    writer.write_exp_golomb(0xFFFF'FFFF, 0);
    writer.write_bits(0x0123'4567'89ab'cdef, 64);
    writer.finish_byte();
    const Bytes ops{op(Read::Bits, 3),      op(Read::Packed, 0),    op(Read::Packed32, 0),
                    op(Read::Packed, 0),    op(Read::ExpGolomb, 3), op(Read::ExpGolomb, 0),
                    op(Read::ManyBits, 31), op(Read::Finish, 0)};
    seeds.push_back(FuzzSeed().number(ops.size(), 1).add(ops).add(writer.bytes()).bytes);
    const Bytes copies{op(Read::Skip, 5), op(Read::Bytes, 17), op(Read::Skip, 31),
                       op(Read::Bytes, 3)};
    seeds.push_back(FuzzSeed().number(copies.size(), 1).add(copies).add(writer.bytes()).bytes);
    for (const std::string_view text :
         {"plain", "gr\xC3\xBC\xC3\x9F", "\xE2\x82\xAC", "\xF0\x9F\x8E\xAE", "\xED\xA0\x80",
          "\xC0\xAF", "\xF4\x90\x80\x80"}) {
        seeds.push_back(FuzzSeed().number(0, 1).add(std::as_bytes(std::span(text))).bytes);
    }
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    FuzzInput input(data, size);
    const auto ops = input.take(input.byte());
    const auto bytes = input.rest();
    Script script(bytes);
    for (const std::byte op : ops) {
        const auto number = std::to_integer<std::uint32_t>(op);
        script.step(static_cast<Read>(number & 7), number >> 3);
    }
    script.finish();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    REQUIRE(replayout::is_valid_utf8(text) == is_text(text));
    return 0;
}
