// SPDX-License-Identifier: MIT
//
// Packed integers: the vectors at the borders of their forms, both ways, and what is refused.
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <array>
#include <cstdint>
#include <limits>

#include "support/checks/exact_bytes.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/unet_script.h"

namespace replayout::test {

namespace {

struct PackedExample {
    std::uint64_t value;
    std::string_view bytes;
};

constexpr std::uint64_t power(unsigned exponent) {
    return std::uint64_t{1} << exponent;
}

constexpr PackedExample examples[] = {
    {0, "00"},
    {1, "01"},
    {240, "F0"},
    {241, "F1 01"},
    {300, "F1 3C"},
    {495, "F1 FF"},
    {496, "F2 00"},
    {2031, "F7 FF"},
    {2032, "F8 00"},
    {2287, "F8 FF"},
    {2288, "F9 00 00"},
    {2289, "F9 00 01"},
    {23487, "F9 52 CF"},
    {67823, "F9 FF FF"},
    {67824, "FA F0 08 01"},
    {16777215, "FA FF FF FF"},
    {16777216, "FB 00 00 00 01"},
    {4294967295, "FB FF FF FF FF"},
    {4294967296, "FC 00 00 00 00 01"},
    {power(40) - 1, "FC 5*FF"},
    {power(40), "FD 5*00 01"},
    {power(48) - 1, "FD 6*FF"},
    {power(48), "FE 6*00 01"},
    {power(56) - 1, "FE 7*FF"},
    {power(56), "FF 7*00 01"},
    {std::numeric_limits<std::uint64_t>::max(), "FF 8*FF"},
};

Bytes write_packed(std::uint64_t value) {
    std::array<std::byte, 9> memory{};
    NetworkWriter writer(memory);
    writer.write_packed_uint64(value);
    REQUIRE_FALSE(writer.failed());
    return to_bytes(writer.bytes());
}

struct Read {
    std::uint64_t value = 0;
    UNetError error = UNetError::None;
    std::size_t position = 0;

    friend bool operator==(const Read&, const Read&) = default;
};

std::ostream& operator<<(std::ostream& stream, const Read& read) {
    return stream << read.value << ", " << to_string(read.error) << ", at " << read.position;
}

Read read_64(const Bytes& bytes, UNetStrictness strictness = UNetStrictness::Strict) {
    const ExactBytes exact(bytes);
    NetworkReader reader(exact.span(), strictness);
    const std::uint64_t value = reader.read_packed_uint64();
    return {value, reader.error(), reader.position()};
}

Read read_32(const Bytes& bytes, UNetStrictness strictness = UNetStrictness::Strict) {
    const ExactBytes exact(bytes);
    NetworkReader reader(exact.span(), strictness);
    const std::uint32_t value = reader.read_packed_uint32();
    return {value, reader.error(), reader.position()};
}

TEST_CASE("UNet packed integers: the vectors at the borders of the forms, both ways",
          "[behaviours][unet_packed]") {
    for (const PackedExample& example : examples) {
        CAPTURE(example.value);
        const Bytes bytes = unet_bytes(example.bytes);
        CHECK(to_hex(write_packed(example.value)) == to_hex(bytes));
        CHECK(unet_packed_bytes(example.value) == bytes.size());
        CHECK(read_64(bytes) == Read{example.value, UNetError::None, bytes.size()});
        if (example.value <= std::numeric_limits<std::uint32_t>::max()) {
            CHECK(read_32(bytes) == Read{example.value, UNetError::None, bytes.size()});
        } else {
            CHECK(read_32(bytes) == Read{0, UNetError::PackedTooWide, 0});
        }
    }
}

TEST_CASE("UNet packed integers: a vector cut at any byte is an error, and nothing is moved",
          "[behaviours][unet_packed]") {
    for (const PackedExample& example : examples) {
        const Bytes whole = unet_bytes(example.bytes);
        for (std::size_t count = 0; count < whole.size(); ++count) {
            CAPTURE(example.value, count);
            const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count));
            CHECK(read_64(cut) == Read{0, UNetError::EndOfBytes, 0});
            CHECK(read_64(cut, UNetStrictness::Lenient) == Read{0, UNetError::EndOfBytes, 0});
            CHECK(read_32(cut).error != UNetError::None);
        }
    }
}

TEST_CASE(
    "UNet packed integers: a longer form than needed is an error, and a lenient reader takes it",
    "[behaviours][unet_packed]") {
    constexpr PackedExample longer[] = {
        {1, "FB 01 00 00 00"},         {0, "FA 00 00 00"},
        {67823, "FA EF 08 01"},        {16777215, "FB FF FF FF 00"},
        {4294967295, "FC 4*FF 00"},    {power(40) - 1, "FD 5*FF 00"},
        {power(48) - 1, "FE 6*FF 00"}, {power(56) - 1, "FF 7*FF 00"},
    };
    for (const PackedExample& example : longer) {
        CAPTURE(example.value);
        const Bytes bytes = unet_bytes(example.bytes);
        CHECK(read_64(bytes) == Read{0, UNetError::NonCanonicalPacked, 0});
        CHECK(read_64(bytes, UNetStrictness::Lenient) ==
              Read{example.value, UNetError::None, bytes.size()});
    }
    CHECK(read_32(unet_bytes("FB 01 00 00 00")) == Read{0, UNetError::NonCanonicalPacked, 0});
    CHECK(read_32(unet_bytes("FB 01 00 00 00"), UNetStrictness::Lenient) ==
          Read{1, UNetError::None, 5});
}

TEST_CASE("UNet packed integers: a lenient read of 32 bits takes FC to FF for four bytes",
          "[behaviours][unet_packed]") {
    for (const std::string_view prefix : {"FC", "FD", "FE", "FF"}) {
        const Bytes bytes = unet_bytes(std::string(prefix) + " 78 56 34 12 AA AA AA AA");
        CHECK(read_32(bytes) == Read{0, UNetError::PackedTooWide, 0});
        CHECK(read_32(bytes, UNetStrictness::Lenient) == Read{0x12345678, UNetError::None, 5});
    }
    CHECK(read_32(unet_bytes("FF 01 02 03"), UNetStrictness::Lenient) ==
          Read{0, UNetError::EndOfBytes, 0});
}

TEST_CASE("UNet packed integers: every value up to the fourth form has one form, and it comes back",
          "[behaviours][unet_packed]") {
    Bytes memory(9);
    for (std::uint32_t value = 0; value < 70'000; ++value) {
        NetworkWriter writer(memory);
        writer.write_packed_uint32(value);
        NetworkReader reader(writer.bytes());
        REQUIRE(reader.read_packed_uint32() == value);
        REQUIRE(reader.bytes_left() == 0);
        REQUIRE_FALSE(reader.failed());
    }
}

TEST_CASE(
    "UNet packed integers: random values of all widths come back, and bytes that are read are "
    "the bytes that are written",
    "[behaviours][unet_packed][random]") {
    for (const std::uint64_t seed : seed_range(1, 20)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t value = random.bits() >> random.below(64);
            const Bytes bytes = write_packed(value);
            REQUIRE(read_64(bytes) == Read{value, UNetError::None, bytes.size()});
        }
        for (int i = 0; i < 1000; ++i) {
            Bytes noise(9);
            for (std::byte& byte : noise) {
                byte = static_cast<std::byte>(random.percent(30) ? 0 : random.bits());
            }
            const Read read = read_64(noise);
            if (read.error == UNetError::None) {
                noise.resize(read.position);
                REQUIRE(to_hex(write_packed(read.value)) == to_hex(noise));
            } else {
                REQUIRE(read.error == UNetError::NonCanonicalPacked);
            }
        }
    }
}

}  // namespace
}  // namespace replayout::test
