// SPDX-License-Identifier: MIT
#include <replayout/change_mask.h>

#include <initializer_list>
#include <random>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/run_seed.h"

namespace replayout {
namespace {

ChangeMask make_mask(std::uint32_t bit_count, std::initializer_list<std::uint32_t> bits) {
    ChangeMask mask;
    mask.reset(bit_count);
    for (const std::uint32_t bit : bits) {
        mask.set(bit);
    }
    return mask;
}

/// Bits that come in runs, some long and some short, as changes do.
ChangeMask make_random_mask(std::mt19937_64& random, std::uint32_t bit_count) {
    ChangeMask mask;
    mask.reset(bit_count);
    const std::uint64_t gap_max = 1 + random() % (bit_count + 1);
    const std::uint64_t run_max = 1 + random() % (bit_count + 1);
    std::uint64_t bit = random() % (gap_max + 1);
    while (bit < bit_count) {
        const std::uint64_t length = std::min(1 + random() % run_max, bit_count - bit);
        mask.set_range(static_cast<std::uint32_t>(bit), static_cast<std::uint32_t>(length));
        bit += length + 1 + random() % gap_max;
    }
    return mask;
}

struct Written {
    Bytes bytes;
    std::size_t bit_count;
};

Written write(const ChangeMask& mask, EmptySet empty = EmptySet::Impossible) {
    Bytes memory(mask.bit_count() / 4 + 16);
    BitWriter writer(memory);
    write_change_mask(writer, mask, empty);
    REQUIRE_FALSE(writer.overflowed());
    const std::size_t bit_count = writer.bit_count();
    writer.finish_byte();
    return {to_bytes(writer.bytes()), bit_count};
}

/// What is read of the bits that `write_bits` writes.
template <typename WriteBits>
bool is_refused(std::uint32_t bit_count, EmptySet empty, WriteBits write_bits) {
    Bytes memory(64);
    BitWriter writer(memory);
    write_bits(writer);
    BitReader reader(memory, 0, writer.bit_count(), nullptr);
    ChangeMask mask;
    read_change_mask(reader, mask, bit_count, empty);
    return reader.failed();
}

TEST_CASE("ChangeMask: holds what was set", "[replayout][change_mask]") {
    ChangeMask mask = make_mask(130, {0, 63, 64, 129});
    CHECK(mask.bit_count() == 130);
    CHECK(mask.count() == 4);
    CHECK(mask.any());
    CHECK(mask.test(63));
    CHECK_FALSE(mask.test(62));
    mask.clear(63);
    CHECK_FALSE(mask.test(63));
    CHECK(mask.test(64));
    CHECK(mask.count() == 3);
}

TEST_CASE("ChangeMask: is walked bit by bit, over words without any", "[replayout][change_mask]") {
    const ChangeMask mask = make_mask(300, {5, 64, 299});
    CHECK(mask.next(0) == 5);
    CHECK(mask.next(5) == 5);
    CHECK(mask.next(6) == 64);
    CHECK(mask.next(65) == 299);
    CHECK(mask.next(300) == 300);
    CHECK(mask.next(1000) == 300);
    CHECK(mask.next_clear(0) == 0);
    CHECK(mask.next_clear(5) == 6);
    CHECK(mask.next_clear(299) == 300);
    CHECK(mask.next_clear(300) == 300);
}

TEST_CASE("ChangeMask: a full mask has no clear bit, whatever lies behind its end in the word",
          "[replayout][change_mask]") {
    for (const std::uint32_t bit_count : {1u, 63u, 64u, 65u, 128u, 200u}) {
        ChangeMask mask;
        mask.reset(bit_count);
        mask.set_range(0, bit_count);
        CHECK(mask.count() == bit_count);
        CHECK(mask.next_clear(0) == bit_count);
    }
}

TEST_CASE("ChangeMask: a range is set across words, and nothing beside it",
          "[replayout][change_mask]") {
    for (const std::uint32_t first : {0u, 1u, 63u, 64u, 100u}) {
        for (const std::uint32_t count : {0u, 1u, 27u, 64u, 65u, 130u}) {
            ChangeMask mask;
            mask.reset(256);
            mask.set_range(first, count);
            REQUIRE(mask.count() == count);
            REQUIRE((count == 0 || mask.next(0) == first));
            REQUIRE((count == 0 || mask.next_clear(first) == first + count));
        }
    }
}

TEST_CASE("ChangeMask: a reset empties it and keeps its memory", "[replayout][change_mask]") {
    ChangeMask mask = make_mask(500, {3, 400});
    const std::uint64_t* const memory = mask.words().data();
    mask.reset(100);
    CHECK(mask.bit_count() == 100);
    CHECK_FALSE(mask.any());
    mask.reset(500);
    CHECK_FALSE(mask.any());
    CHECK(mask.words().data() == memory);
}

TEST_CASE("ChangeMask: two are equal when universe and bits are", "[replayout][change_mask]") {
    CHECK(make_mask(10, {3}) == make_mask(10, {3}));
    CHECK_FALSE(make_mask(10, {3}) == make_mask(11, {3}));
    CHECK_FALSE(make_mask(10, {3}) == make_mask(10, {4}));
}

TEST_CASE("ChangeMask: an empty universe takes one bit", "[replayout][change_mask]") {
    const ChangeMask mask = make_mask(0, {});
    CHECK_FALSE(mask.any());
    CHECK(mask.next(0) == 0);
    CHECK(write(mask, EmptySet::Possible).bit_count == 1);
}

TEST_CASE("Change mask on the wire: the shorter form is taken, and dense in a tie",
          "[replayout][change_mask]") {
    // 7 of 7: dense 1 + 7 bits; one run from 0: 1 + 1 + 1 + 5 bits. A tie.
    CHECK(to_hex(write(make_mask(7, {0, 1, 2, 3, 4, 5, 6})).bytes) == "fe");
    // 8 of 8: dense 9 bits; runs 1 (form), 1 (one run), 1 (no gap), 0 0 0 1 0 0 0 (length 8).
    const Written eight = write(make_mask(8, {0, 1, 2, 3, 4, 5, 6, 7}));
    CHECK(eight.bit_count == 9);
    CHECK(to_hex(eight.bytes) == "fe 01");
    // 9 of 9: dense 10 bits; runs 10 bits. A tie again.
    CHECK(write(make_mask(9, {0, 1, 2, 3, 4, 5, 6, 7, 8})).bit_count == 10);
}

TEST_CASE("Change mask on the wire: costs what the head of its file says",
          "[replayout][change_mask]") {
    CHECK(write(make_mask(14, {2, 3})).bit_count <= 8);
    const std::size_t five = write(make_mask(1000, {0, 250, 500, 750, 999})).bit_count;
    CHECK(five >= 60);
    CHECK(five <= 72);
}

TEST_CASE("Change mask on the wire: any set comes back, and its length is known before",
          "[replayout][change_mask]") {
    std::mt19937_64 random(run_seed());
    for (int round = 0; round < 3000; ++round) {
        const auto bit_count = static_cast<std::uint32_t>(1 + random() % (1u << (random() % 12)));
        const ChangeMask mask = make_random_mask(random, bit_count);
        const EmptySet empty =
            mask.any() && random() % 2 == 0 ? EmptySet::Impossible : EmptySet::Possible;
        const Written written = write(mask, empty);
        REQUIRE(written.bit_count == change_mask_bits(mask, empty));
        REQUIRE(written.bit_count <= 1 + bit_count);

        BitReader reader(written.bytes, 0, written.bit_count, nullptr);
        ChangeMask read;
        read_change_mask(reader, read, bit_count, empty);
        REQUIRE_FALSE(reader.failed());
        REQUIRE(reader.bits_left() == 0);
        REQUIRE(read == mask);
    }
}

TEST_CASE("Change mask on the wire: every set over a small universe comes back",
          "[replayout][change_mask]") {
    for (std::uint32_t bit_count = 0; bit_count <= 10; ++bit_count) {
        for (std::uint64_t bits = 0; bits < (1u << bit_count); ++bits) {
            ChangeMask mask;
            mask.reset(bit_count);
            if (bit_count > 0) {
                mask.words()[0] = bits;
            }
            const Written written = write(mask, EmptySet::Possible);
            BitReader reader(written.bytes, 0, written.bit_count, nullptr);
            ChangeMask read;
            read_change_mask(reader, read, bit_count, EmptySet::Possible);
            REQUIRE_FALSE(reader.failed());
            REQUIRE(read == mask);
        }
    }
}

TEST_CASE("Change mask on the wire: truncated at any bit it is refused",
          "[replayout][change_mask]") {
    std::mt19937_64 random(run_seed());
    for (int round = 0; round < 50; ++round) {
        const ChangeMask mask =
            make_random_mask(random, static_cast<std::uint32_t>(1 + random() % 200));
        const Written written = write(mask, EmptySet::Possible);
        for (std::size_t bits = 0; bits < written.bit_count; ++bits) {
            BitReader reader(written.bytes, 0, bits, nullptr);
            ChangeMask read;
            read_change_mask(reader, read, mask.bit_count(), EmptySet::Possible);
            REQUIRE(reader.failed());
        }
    }
}

TEST_CASE("Change mask on the wire: an empty set is refused where none can be",
          "[replayout][change_mask]") {
    const auto dense = [](BitWriter& writer) { writer.write_bits(0, 1 + 5); };
    CHECK(is_refused(5, EmptySet::Impossible, dense));
    CHECK_FALSE(is_refused(5, EmptySet::Possible, dense));
    CHECK(is_refused(0, EmptySet::Impossible, [](BitWriter& writer) { writer.write_bits(0, 1); }));
}

TEST_CASE("Change mask on the wire: a run outside the universe is refused",
          "[replayout][change_mask]") {
    const auto one_run = [](std::uint32_t gap, std::uint32_t length) {
        return [gap, length](BitWriter& writer) {
            writer.write_bool(true);
            writer.write_exp_golomb(0, 0);  // one run
            writer.write_exp_golomb(gap, 0);
            writer.write_exp_golomb(length - 1, 0);
        };
    };
    CHECK_FALSE(is_refused(20, EmptySet::Impossible, one_run(0, 20)));
    CHECK_FALSE(is_refused(20, EmptySet::Impossible, one_run(19, 1)));
    CHECK(is_refused(20, EmptySet::Impossible, one_run(20, 1)));
    CHECK(is_refused(20, EmptySet::Impossible, one_run(0, 21)));
    CHECK(is_refused(20, EmptySet::Impossible, one_run(5, 16)));
    // Sums that would wrap in 32 bits.
    CHECK(is_refused(20, EmptySet::Impossible, one_run(0xffff'ffff, 2)));
    CHECK(is_refused(20, EmptySet::Impossible, one_run(3, 0xffff'fffe)));
}

TEST_CASE("Change mask on the wire: more runs than bits are refused without looping long",
          "[replayout][change_mask]") {
    CHECK(is_refused(20, EmptySet::Possible, [](BitWriter& writer) {
        writer.write_bool(true);
        writer.write_exp_golomb(0xffff'ffff, 0);
    }));
}

TEST_CASE("Change mask on the wire: each run is a step of the decode budget",
          "[replayout][change_mask]") {
    const ChangeMask mask = make_mask(1000, {10, 200, 900});
    const Written written = write(mask);
    for (const std::size_t steps : {2u, 3u}) {
        DecodeBudget budget;
        budget.steps = steps;
        BitReader reader(written.bytes, &budget);
        ChangeMask read;
        read_change_mask(reader, read, 1000, EmptySet::Impossible);
        CHECK(reader.failed() == (steps < 3));
    }
}

TEST_CASE("RunLengthMeter: counts as change_mask_bits does, bit by bit",
          "[replayout][change_mask]") {
    std::mt19937_64 random(run_seed());
    for (int round = 0; round < 200; ++round) {
        const auto bit_count = static_cast<std::uint32_t>(1 + random() % 400);
        const ChangeMask whole = make_random_mask(random, bit_count);
        ChangeMask part;
        part.reset(bit_count);
        RunLengthMeter meter(bit_count);
        CHECK(meter.bits(EmptySet::Possible) == change_mask_bits(part, EmptySet::Possible));
        for (std::uint32_t bit = whole.next(0); bit < bit_count; bit = whole.next(bit + 1)) {
            part.set(bit);
            meter.add(bit);
            REQUIRE(meter.bits(EmptySet::Impossible) ==
                    change_mask_bits(part, EmptySet::Impossible));
            REQUIRE(meter.bits(EmptySet::Possible) == change_mask_bits(part, EmptySet::Possible));
        }
    }
}

}  // namespace
}  // namespace replayout
