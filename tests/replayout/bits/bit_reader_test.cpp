// SPDX-License-Identifier: MIT
#include <replayout/bit_reader.h>

#include <array>
#include <cstdint>
#include <limits>
#include <random>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/exact_bytes.h"
#include "support/checks/run_seed.h"

namespace replayout {
namespace {

std::uint64_t read_packed(const Bytes& bytes, bool& is_failed) {
    const ExactBytes exact(bytes);
    BitReader reader(exact.span());
    const std::uint64_t value = reader.read_packed_uint();
    is_failed = reader.failed();
    return value;
}

void check_packed_refused(const Bytes& bytes) {
    CAPTURE(to_hex(bytes));
    bool is_failed = false;
    CHECK(read_packed(bytes, is_failed) == 0);
    CHECK(is_failed);
}

TEST_CASE("BitReader: reads what the writer wrote", "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0xfd, 0x01);
    BitReader reader(bytes);
    CHECK(reader.read_bits(3) == 0b101);
    CHECK(reader.read_bits(6) == 0x3f);
    CHECK(reader.position_bits() == 9);
    CHECK(reader.bits_left() == 7);
    CHECK_FALSE(reader.failed());
}

TEST_CASE("BitReader: every width at every bit position, up to the last bit",
          "[replayout][bit_reader]") {
    std::mt19937_64 random(11);
    for (std::uint32_t shift = 0; shift < 8; ++shift) {
        for (std::uint32_t width = 0; width <= 64; ++width) {
            for (const std::size_t spare_bytes : {0u, 1u, 8u, 9u}) {
                const std::uint64_t value = random() & detail::low_mask(width);
                Bytes memory((shift + width + 7) / 8 + spare_bytes, std::byte{0xff});
                BitWriter writer(memory);
                writer.write_bits(0, shift);
                writer.write_bits(value, width);
                const ExactBytes exact(memory);
                BitReader reader(exact.span());
                reader.skip_bits(shift);
                REQUIRE(reader.read_bits(width) == value);
                REQUIRE_FALSE(reader.failed());
            }
        }
    }
}

TEST_CASE("BitReader: a read past the end fails, gives zero, moves nothing and stays failed",
          "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0xff, 0xff);
    BitReader reader(bytes);
    (void)reader.read_bits(10);
    CHECK(reader.read_bits(7) == 0);
    CHECK(reader.failed());
    CHECK(reader.position_bits() == 10);
    CHECK(reader.read_bits(1) == 0);
    CHECK(reader.read_bits(0) == 0);
    CHECK_FALSE(reader.read_bool());
    CHECK(reader.read_packed_uint() == 0);
    CHECK(reader.read_exp_golomb(0) == 0);
    reader.skip_bits(1);
    CHECK(reader.position_bits() == 10);
    CHECK_FALSE(reader.spend_steps(0));
    CHECK_FALSE(reader.spend_allocation(0));
}

TEST_CASE("BitReader: no bits can be read from nothing", "[replayout][bit_reader]") {
    BitReader reader(std::span<const std::byte>{});
    CHECK(reader.read_bits(0) == 0);
    reader.finish_byte();
    CHECK_FALSE(reader.failed());
    CHECK(reader.read_bits(1) == 0);
    CHECK(reader.failed());
}

TEST_CASE("BitReader: reads a part of the bytes and not a bit beyond it",
          "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0xf0, 0x0f, 0xff);
    BitReader reader(bytes, 4, 9, nullptr);
    CHECK(reader.bits_left() == 9);
    CHECK(reader.read_bits(9) == 0x0ff);
    CHECK(reader.read_bits(1) == 0);
    CHECK(reader.failed());
}

TEST_CASE("BitReader: packed integers come back", "[replayout][bit_reader]") {
    for (std::uint32_t shift = 0; shift < 64; ++shift) {
        for (const std::uint64_t offset : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1}}) {
            const std::uint64_t value = (std::uint64_t{1} << shift) + offset;
            std::array<std::byte, 10> memory{};
            BitWriter writer(memory);
            writer.write_packed_uint(value);
            bool is_failed = true;
            CHECK(read_packed(to_bytes(writer.bytes()), is_failed) == value);
            CHECK_FALSE(is_failed);
        }
    }
}

TEST_CASE("BitReader: a packed integer has one encoding only", "[replayout][bit_reader]") {
    check_packed_refused(make_bytes(0x01, 0x00));        // zero in two groups
    check_packed_refused(make_bytes(0xff, 0x00));        // 127 in two groups
    check_packed_refused(make_bytes(0x01, 0x01, 0x00));  // zero in three groups
    check_packed_refused(make_bytes(0xff));              // ends in the middle
    check_packed_refused(Bytes(10, std::byte{0xff}));    // an eleventh group would follow
    check_packed_refused(Bytes(11, std::byte{0xff}));
    Bytes too_large(9, std::byte{0xff});
    too_large.push_back(std::byte{0x04});  // the 65th bit
    check_packed_refused(too_large);
}

TEST_CASE("BitReader: a packed integer of 32 bits ends at 32 bits", "[replayout][bit_reader]") {
    const Bytes largest = make_bytes(0xff, 0xff, 0xff, 0xff, 0x1e);
    BitReader reader(largest);
    CHECK(reader.read_packed_uint32() == 0xffff'ffff);
    CHECK_FALSE(reader.failed());
    const Bytes beyond = make_bytes(0x01, 0x01, 0x01, 0x01, 0x20);
    BitReader refusing(beyond);
    CHECK(refusing.read_packed_uint32() == 0);
    CHECK(refusing.failed());
}

TEST_CASE("BitReader: exponential Golomb codes come back, up to 32 bits",
          "[replayout][bit_reader]") {
    for (std::uint32_t order = 0; order < 32; ++order) {
        for (std::uint64_t value = 0; value <= 0xffff'ffff; value = value * 2 + 1) {
            std::array<std::byte, 12> memory{};
            BitWriter writer(memory);
            writer.write_exp_golomb(static_cast<std::uint32_t>(value), order);
            const ExactBytes exact(writer.bytes());
            BitReader reader(exact.span());
            REQUIRE(reader.read_exp_golomb(order) == value);
            REQUIRE_FALSE(reader.failed());
            REQUIRE(reader.position_bits() == writer.bit_count());
        }
    }
}

TEST_CASE("BitReader: an exponential Golomb code beyond 32 bits is refused",
          "[replayout][bit_reader]") {
    // 33 zeros: the quotient would have 34 bits.
    const Bytes too_long(12, std::byte{0});
    BitReader reader(too_long);
    CHECK(reader.read_exp_golomb(0) == 0);
    CHECK(reader.failed());

    // 32 zeros, a one, and a remainder that makes 2^32.
    std::array<std::byte, 12> memory{};
    BitWriter writer(memory);
    writer.write_bits(0, 32);
    writer.write_bits(1, 1);
    writer.write_bits(1, 32);
    BitReader too_large(writer.bytes());
    CHECK(too_large.read_exp_golomb(0) == 0);
    CHECK(too_large.failed());

    // With an order the quotient ends earlier: 2^29 << 3 is 2^32.
    BitWriter ordered(memory);
    ordered.write_bits(0, 3);
    ordered.write_bits(0, 29);
    ordered.write_bits(1, 1);
    ordered.write_bits(1, 29);
    BitReader shifted(ordered.bytes());
    CHECK(shifted.read_exp_golomb(3) == 0);
    CHECK(shifted.failed());
}

TEST_CASE("BitReader: an exponential Golomb code that ends early is refused",
          "[replayout][bit_reader]") {
    std::array<std::byte, 8> memory{};
    BitWriter writer(memory);
    writer.write_exp_golomb(1'000'000, 3);
    for (std::size_t bits = 0; bits < writer.bit_count(); ++bits) {
        BitReader reader(writer.bytes(), 0, bits, nullptr);
        CHECK(reader.read_exp_golomb(3) == 0);
        CHECK(reader.failed());
    }
}

TEST_CASE("BitReader: bytes are read at any bit position, and zeroed on failure",
          "[replayout][bit_reader]") {
    Bytes source(21);
    for (std::size_t index = 0; index < source.size(); ++index) {
        source[index] = static_cast<std::byte>(index * 37 + 1);
    }
    for (std::uint32_t shift = 0; shift < 9; ++shift) {
        Bytes memory(source.size() + 2);
        BitWriter writer(memory);
        writer.write_bits(0, shift);
        writer.write_bytes(source);
        const ExactBytes exact(writer.bytes());
        BitReader reader(exact.span(), shift, source.size() * 8, nullptr);
        Bytes target(source.size());
        reader.read_bytes(target);
        CHECK(to_hex(target) == to_hex(source));
        CHECK(reader.bits_left() == 0);
        reader.read_bytes({});
        CHECK_FALSE(reader.failed());

        BitReader short_reader(exact.span(), shift, source.size() * 8 - 1, nullptr);
        short_reader.read_bytes(target);
        CHECK(short_reader.failed());
        CHECK(target == Bytes(source.size()));
    }
}

TEST_CASE("BitReader: bytes are taken where they lie", "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(1, 2, 3, 4);
    BitReader reader(bytes);
    (void)reader.read_bits(8);
    const auto taken = reader.take_bytes(2);
    CHECK(taken.data() == bytes.data() + 1);
    CHECK(taken.size() == 2);
    CHECK(reader.take_bytes(2).empty());
    CHECK(reader.failed());
}

TEST_CASE("BitReader: a reader of its own is made of bytes, on the same budget",
          "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(1, 2, 3, 4);
    DecodeBudget budget;
    budget.steps = 3;
    BitReader reader(bytes, &budget);
    (void)reader.read_bits(8);
    BitReader inner = reader.take_reader(2);
    CHECK(reader.position_bits() == 24);
    CHECK(inner.bits_left() == 16);
    CHECK(inner.read_bits(16) == 0x0302);
    CHECK(inner.read_bits(1) == 0);
    CHECK(inner.failed());
    CHECK_FALSE(reader.failed());
    CHECK(reader.spend_steps(3));

    const BitReader beyond = reader.take_reader(2);
    CHECK(beyond.failed());
    CHECK(reader.failed());
}

TEST_CASE("BitReader: the rest of a byte must be zero", "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0x01, 0x03, 0x80);
    BitReader reader(bytes);
    (void)reader.read_bool();
    reader.finish_byte();
    CHECK(reader.position_bits() == 8);
    reader.finish_byte();
    CHECK(reader.position_bits() == 8);
    CHECK_FALSE(reader.failed());
    (void)reader.read_bool();
    reader.finish_byte();
    CHECK(reader.failed());

    BitReader last_bit(bytes, 16, 8, nullptr);
    (void)last_bit.read_bool();
    last_bit.finish_byte();
    CHECK(last_bit.failed());
}

TEST_CASE("BitReader: a byte whose end lies beyond the bits cannot be finished",
          "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0);
    BitReader reader(bytes, 0, 5, nullptr);
    (void)reader.read_bool();
    reader.finish_byte();
    CHECK(reader.failed());
}

TEST_CASE("BitReader: bits can be skipped up to the end and no further",
          "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0, 0);
    BitReader reader(bytes);
    reader.skip_bits(16);
    CHECK_FALSE(reader.failed());
    reader.skip_bits(1);
    CHECK(reader.failed());
    BitReader huge(bytes);
    huge.skip_bits(std::numeric_limits<std::size_t>::max());
    CHECK(huge.failed());
}

TEST_CASE("BitReader: the budget bounds steps and memory, and no budget bounds nothing",
          "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0);
    DecodeBudget budget;
    budget.steps = 5;
    budget.allocation_bytes = 100;
    BitReader reader(bytes, &budget);
    CHECK(reader.spend_steps(4));
    CHECK(reader.spend_allocation(99));
    CHECK(reader.spend_steps(1));
    CHECK(reader.spend_allocation(1));
    CHECK(reader.spend_steps(0));
    CHECK_FALSE(reader.failed());
    CHECK_FALSE(reader.spend_steps(1));
    CHECK(reader.failed());

    DecodeBudget memory;
    memory.allocation_bytes = 8;
    BitReader greedy(bytes, &memory);
    CHECK_FALSE(greedy.spend_allocation(9));
    CHECK(greedy.failed());
    CHECK(memory.allocation_bytes == 8);

    BitReader free(bytes);
    CHECK(free.spend_steps(std::numeric_limits<std::size_t>::max()));
    CHECK(free.spend_allocation(std::numeric_limits<std::size_t>::max()));
}

TEST_CASE(
    "BitReader: one budget serves one reader after another, and a copy without it spends none",
    "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0xff);
    DecodeBudget budget;
    budget.steps = 2;
    BitReader first(bytes, &budget);
    (void)first.read_bits(3);
    CHECK(first.spend_steps(1));
    BitReader unbounded = first.without_budget();
    CHECK(unbounded.position_bits() == 3);
    CHECK(unbounded.spend_steps(100));
    CHECK(budget.steps == 1);
    BitReader second(bytes, &budget);
    CHECK_FALSE(second.spend_steps(2));
    CHECK_FALSE(first.failed());
}

TEST_CASE("BitReader: a caller can refuse what it read", "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(0xff);
    BitReader reader(bytes);
    reader.fail();
    CHECK(reader.failed());
    CHECK(reader.read_bits(1) == 0);
}

TEST_CASE("BitReader: after a failure no bytes are taken and nothing is spent",
          "[replayout][bit_reader]") {
    const Bytes bytes = make_bytes(1, 2, 3, 4);
    DecodeBudget budget;
    budget.steps = 5;
    budget.allocation_bytes = 100;
    BitReader reader(bytes, &budget);
    reader.fail();
    CHECK(reader.take_bytes(1).empty());
    CHECK_FALSE(reader.spend_steps(1));
    CHECK_FALSE(reader.spend_allocation(1));
    CHECK(budget.steps == 5);
    CHECK(budget.allocation_bytes == 100);
    Bytes target = make_bytes(9, 9);
    reader.read_bytes(target);
    CHECK(target == Bytes(2));
    CHECK(reader.position_bits() == 0);
}

TEST_CASE("BitReader: random sequences of writes come back in order", "[replayout][bit_reader]") {
    std::mt19937_64 random(run_seed());
    for (int round = 0; round < 200; ++round) {
        struct Item {
            std::uint64_t value;
            std::uint32_t width;  // 65: packed; 66 and more: exponential Golomb of order width - 66
        };
        std::vector<Item> items(random() % 60);
        Bytes memory(1024);
        BitWriter writer(memory);
        for (Item& item : items) {
            item.width = static_cast<std::uint32_t>(random() % 98);
            item.value = random() >> (random() % 64);
            if (item.width <= 64) {
                item.value &= detail::low_mask(item.width);
                writer.write_bits(item.value, item.width);
            } else if (item.width == 65) {
                writer.write_packed_uint(item.value);
            } else {
                item.value &= 0xffff'ffff;
                writer.write_exp_golomb(static_cast<std::uint32_t>(item.value), item.width - 66);
            }
        }
        writer.finish_byte();
        REQUIRE_FALSE(writer.overflowed());
        const ExactBytes exact(writer.bytes());
        BitReader reader(exact.span());
        for (const Item& item : items) {
            const std::uint64_t value = item.width <= 64 ? reader.read_bits(item.width)
                                        : item.width == 65
                                            ? reader.read_packed_uint()
                                            : reader.read_exp_golomb(item.width - 66);
            REQUIRE(value == item.value);
        }
        reader.finish_byte();
        REQUIRE_FALSE(reader.failed());
        REQUIRE(reader.bits_left() == 0);
    }
}

}  // namespace
}  // namespace replayout
