// SPDX-License-Identifier: MIT
#include "open_runs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "open_bunch.h"
#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"

namespace replayout::test {
namespace open_runs_test {
namespace {

/// Opens of objects with the indices 2, 4, 6 and on, laid down in one flush.
class LaidDown {
  public:
    explicit LaidDown(std::uint32_t count) : runs(&memory) {
        runs.begin_flush();
        for (std::uint32_t i = 0; i < count && runs.takes_more(); ++i) {
            add(ObjectIndex{2 * (i + 1)}, i % 3 == 0 ? 0 : i);
        }
    }

    /// Version 0: without a block.
    void add(ObjectIndex index, Version version) {
        const std::vector<std::byte> payload(3 + value_of(index) % 5, std::byte{7});
        OpenBunch* const bunch = OpenBunch::make(channel_of(index), payload, &bunch_memory);
        SharedPayload block{{}, {}, version, 2, 0, Vector<std::byte>(&memory)};
        block.bytes.assign(4 + value_of(index) % 3, static_cast<std::byte>(value_of(index)));
        runs.add({bunch, index, version}, OpenRuns::Entry(), version == 0 ? nullptr : &block);
        bunch->release();  // the run holds it
    }

    CountingResource memory;
    CountingResource bunch_memory;
    OpenRuns runs;
};

}  // namespace

TEST_CASE("OpenRuns: opens lie one behind another, and so do their blocks", "[netdriver][copies]") {
    LaidDown laid(9);
    const OpenRuns& runs = laid.runs;
    std::size_t bunch_bytes = 0;
    std::size_t payload_bytes = 0;
    for (std::uint32_t i = 0; i < 9; ++i) {
        const ObjectIndex index{2 * (i + 1)};
        REQUIRE(runs.find(index) == i);
        CHECK(runs.find(ObjectIndex{2 * i + 1}) == OpenRuns::none);
        const OpenBunch& bunch = *runs.run_part(i, i + 1).opens().front().bunch;
        const std::span<const std::byte> copied = runs.bunches(i, i + 1);
        CHECK(std::equal(copied.begin(), copied.end(), bunch.bytes().begin(), bunch.bytes().end()));
        bunch_bytes += bunch.bytes().size();
        payload_bytes += bunch.payload().size();
        CHECK(runs.sums_before(i + 1).payload_bytes == payload_bytes);
        if (i % 3 == 0) {
            CHECK(runs.sums_before(i + 1).block_count == runs.sums_before(i).block_count);
            continue;
        }
        // The head is left out; a length of one byte stands before the block.
        const std::span<const std::byte> block = runs.blocks(i, i + 1);
        REQUIRE(block.size() == 1 + 4 + value_of(index) % 3);
        CHECK(std::all_of(block.begin() + 1, block.end(), [&](std::byte byte) {
            return byte == static_cast<std::byte>(value_of(index));
        }));
    }
    CHECK(runs.bunches(0, 9).size() == bunch_bytes);
    CHECK(runs.run_part(0, 9).block_count == 6);
    CHECK(runs.sums_before(9).property_count == 12);
}

TEST_CASE("OpenRuns: a run ends where it is full, and the next one begins", "[netdriver][copies]") {
    constexpr std::uint32_t count = 2 * OpenRun::opens_max + 5;
    LaidDown laid(count);
    for (std::uint32_t begin = 0; begin < count; ++begin) {
        const std::uint32_t end = laid.runs.end_of_run(begin);
        REQUIRE(end > begin);
        CHECK((end == count || end % OpenRun::opens_max == 0));
        const OpenRunPart part = laid.runs.run_part(begin, end);
        REQUIRE(part.opens().size() == end - begin);
        CHECK(part.opens().front().object_index == ObjectIndex{2 * (begin + 1)});
        CHECK(part.opens().back().object_index == ObjectIndex{2 * end});
    }
}

TEST_CASE("OpenRuns: opens live as long as a connection holds their run", "[netdriver][copies]") {
    LaidDown laid(OpenRun::opens_max + 1);
    const OpenRunPart part = laid.runs.run_part(OpenRun::opens_max, OpenRun::opens_max + 1);
    part.run->hold();
    const std::int64_t all_bytes = laid.bunch_memory.bytes_in_use();
    laid.runs.end_flush();
    CHECK(laid.runs.is_empty());
    CHECK(laid.runs.find(ObjectIndex{2}) == OpenRuns::none);
    CHECK_FALSE(laid.runs.takes_more());
    CHECK(laid.bunch_memory.bytes_in_use() > 0);
    CHECK(laid.bunch_memory.bytes_in_use() < all_bytes);
    CHECK(part.opens().front().object_index == ObjectIndex{2 * (OpenRun::opens_max + 1)});

    // The run that nobody holds is used again, the other one is not.
    laid.runs.begin_flush();
    laid.add(ObjectIndex{900}, 1);
    CHECK(laid.runs.run_part(0, 1).run != part.run);
    CHECK(part.opens().size() == 1);
    laid.runs.end_flush();
    laid.runs.trim();
    part.run->release();
    CHECK(laid.bunch_memory.bytes_in_use() == 0);
    laid.runs.trim();
    laid.runs.trim();
    laid.runs.begin_flush();
    laid.add(ObjectIndex{2}, 1);
    CHECK(laid.runs.find(ObjectIndex{2}) == 0);
}

TEST_CASE("OpenRuns: a flush in which each client opens others keeps no more than it may",
          "[netdriver][copies]") {
    constexpr std::uint32_t more_than_kept = 20'000;
    const LaidDown laid(more_than_kept);
    CHECK_FALSE(laid.runs.takes_more());
    CHECK(laid.runs.entries().size() < more_than_kept / 2);
}

}  // namespace open_runs_test
}  // namespace replayout::test
