// SPDX-License-Identifier: MIT
#include <replayout/shared_serialization.h>

#include <array>
#include <map>
#include <random>
#include <string>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/replication/block_sender.h"

namespace replayout::shared_serialization_test {
namespace {

constexpr std::uint32_t handle_count = 20;

/// Bits to be kept: `size` bytes of `fill`, less `spare_bits`.
class Bits {
  public:
    Bits(std::size_t size, unsigned fill, std::uint32_t spare_bits = 0)
        : memory_(size + 1), writer_(memory_) {
        for (std::size_t index = 0; index < size; ++index) {
            const std::uint32_t width = index + 1 == size ? 8 - spare_bits : 8;
            writer_.write_bits(fill, width);
        }
    }
    [[nodiscard]] const BitWriter& writer() const noexcept { return writer_; }

  private:
    Bytes memory_;
    BitWriter writer_;
};

/// A piece as it comes out of the buffer.
std::string copy_of(const SharedSerialization& shared, const SharedPiece* piece) {
    REQUIRE(piece != nullptr);
    Bytes memory(4096);
    BitWriter writer(memory);
    shared.write(*piece, writer);
    REQUIRE(writer.bit_count() == piece->bit_count);
    writer.finish_byte();
    return to_hex(writer.bytes());
}

std::string repeated(std::string_view byte, std::size_t count) {
    std::string text;
    for (std::size_t index = 0; index < count; ++index) {
        text += text.empty() ? "" : " ";
        text += byte;
    }
    return text;
}

SharedSerialization make_shared() {
    return SharedSerialization(handle_count, std::pmr::get_default_resource());
}

TEST_CASE("SharedSerialization: has no pieces at first", "[replayout][shared_serialization]") {
    const SharedSerialization shared = make_shared();
    CHECK(shared.find(RepHandle{1}, 1) == nullptr);
    CHECK(shared.find(RepHandle{1}, 0) == nullptr);
    CHECK(shared.find_array(RepHandle{1}, 1, since(0)) == nullptr);
    CHECK(shared.find_payload({1, since(0), {}}) == nullptr);
}

TEST_CASE("SharedSerialization: a piece is valid for the version it was kept for",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    const SharedPiece& kept = shared.keep(RepHandle{3}, 7, Bits(2, 0x5a).writer());
    CHECK(kept.version == 7);
    CHECK(kept.bit_count == 16);
    CHECK(copy_of(shared, shared.find(RepHandle{3}, 7)) == "5a 5a");
    CHECK(shared.find(RepHandle{3}, 6) == nullptr);
    CHECK(shared.find(RepHandle{3}, 8) == nullptr);
    CHECK(shared.find(RepHandle{2}, 7) == nullptr);
    CHECK(shared.find(RepHandle{handle_count}, 7) == nullptr);
}

TEST_CASE("SharedSerialization: a piece of the same size is replaced in place",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    const std::uint32_t place = shared.keep(RepHandle{3}, 7, Bits(4, 1).writer()).byte_offset;
    (void)shared.keep(RepHandle{4}, 7, Bits(4, 2).writer());
    const SharedPiece& again = shared.keep(RepHandle{3}, 8, Bits(4, 3).writer());
    CHECK(again.byte_offset == place);
    CHECK(shared.find(RepHandle{3}, 7) == nullptr);
    CHECK(copy_of(shared, shared.find(RepHandle{3}, 8)) == "03 03 03 03");
    CHECK(copy_of(shared, shared.find(RepHandle{4}, 7)) == "02 02 02 02");
}

TEST_CASE("SharedSerialization: a piece that differs in bits but not in bytes stays in place too",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    const std::uint32_t place = shared.keep(RepHandle{3}, 7, Bits(2, 0xff, 3).writer()).byte_offset;
    const SharedPiece& again = shared.keep(RepHandle{3}, 8, Bits(2, 0xff, 7).writer());
    CHECK(again.byte_offset == place);
    CHECK(again.bit_count == 9);
    CHECK(copy_of(shared, &again) == "ff 01");
}

TEST_CASE("SharedSerialization: a piece that grows or shrinks harms no other",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    for (std::uint32_t handle = 1; handle <= 5; ++handle) {
        (void)shared.keep(RepHandle{handle}, 1, Bits(handle, handle).writer());
    }
    (void)shared.keep(RepHandle{3}, 2, Bits(9, 0xaa).writer());
    (void)shared.keep(RepHandle{5}, 2, Bits(1, 0xbb).writer());
    CHECK(copy_of(shared, shared.find(RepHandle{1}, 1)) == "01");
    CHECK(copy_of(shared, shared.find(RepHandle{2}, 1)) == "02 02");
    CHECK(copy_of(shared, shared.find(RepHandle{3}, 2)) == repeated("aa", 9));
    CHECK(copy_of(shared, shared.find(RepHandle{4}, 1)) == "04 04 04 04");
    CHECK(copy_of(shared, shared.find(RepHandle{5}, 2)) == "bb");
}

TEST_CASE("SharedSerialization: a value of no bits is a piece like any other",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    (void)shared.keep(RepHandle{3}, 7, Bits(0, 0).writer());
    REQUIRE(shared.find(RepHandle{3}, 7) != nullptr);
    CHECK(shared.find(RepHandle{3}, 7)->bit_count == 0);
    (void)shared.keep(RepHandle{3}, 8, Bits(1, 5).writer());
    CHECK(copy_of(shared, shared.find(RepHandle{3}, 8)) == "05");
}

TEST_CASE("SharedSerialization: pieces survive compaction, and memory stays bounded",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    std::mt19937_64 random(run_seed());
    std::map<std::uint32_t, std::pair<Version, std::string>> expected;
    for (Version version = 1; version <= 3000; ++version) {
        const auto handle = static_cast<std::uint32_t>(1 + random() % handle_count);
        const std::size_t size = random() % 60;
        const auto fill = static_cast<unsigned>(random() % 256);
        const Bits bits(size, fill);
        (void)shared.keep(RepHandle{handle}, version, bits.writer());
        expected[handle] = {version, to_hex(bits.writer().bytes())};
        if (version % 50 == 0) {
            for (const auto& [known, value] : expected) {
                REQUIRE(copy_of(shared, shared.find(RepHandle{known}, value.first)) ==
                        value.second);
            }
        }
    }
    // Twenty pieces of at most sixty bytes; twice that and the threshold, in two buffers that
    // double.
    CHECK(shared.memory_bytes() < 20'000);
}

TEST_CASE("SharedSerialization: warm, it takes no memory", "[replayout][shared_serialization]") {
    CountingResource resource;
    {
        SharedSerialization shared(handle_count, &resource);
        const auto churn = [&shared](Version from) {
            for (Version version = from; version < from + 500; ++version) {
                const std::uint32_t handle = 1 + version % handle_count;
                (void)shared.keep(RepHandle{handle}, version,
                                  Bits(1 + version * 7 % 50, version & 0xff).writer());
                (void)shared.keep_array(RepHandle{handle}, version, since(version),
                                        Bits(1 + version * 5 % 40, version & 0xff).writer());
                shared.keep_payload({version, since(version - 1), {}}, 3,
                                    Bits(1 + version * 3 % 90, version & 0xff).writer().bytes());
            }
        };
        churn(1);
        const std::uint64_t before = resource.allocation_count();
        churn(501);
        CHECK(resource.allocation_count() == before);
    }
    CHECK(resource.blocks_in_use() == 0);
}

TEST_CASE("SharedSerialization: a piece of an array is valid for one question",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    (void)shared.keep_array(RepHandle{3}, 9, since(7), Bits(1, 1).writer());
    (void)shared.keep_array(RepHandle{3}, 9, since(8), Bits(1, 2).writer());
    (void)shared.keep_array(RepHandle{3}, 9, since(8, 4, 5), Bits(1, 3).writer());
    (void)shared.keep_array(RepHandle{4}, 9, since(8), Bits(1, 4).writer());
    CHECK(copy_of(shared, shared.find_array(RepHandle{3}, 9, since(7))) == "01");
    CHECK(copy_of(shared, shared.find_array(RepHandle{3}, 9, since(8))) == "02");
    CHECK(copy_of(shared, shared.find_array(RepHandle{3}, 9, since(8, 4, 5))) == "03");
    CHECK(copy_of(shared, shared.find_array(RepHandle{4}, 9, since(8))) == "04");
    CHECK(shared.find_array(RepHandle{3}, 10, since(8)) == nullptr);
    CHECK(shared.find_array(RepHandle{3}, 9, since(8, 4, 6)) == nullptr);

    OwedVersions part = since(8, 4, 5);
    part.lost_range = {3, 4, 0, 2};
    CHECK(shared.find_array(RepHandle{3}, 9, part) == nullptr);
}

TEST_CASE("SharedSerialization: many questions about arrays push out the oldest answers only",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    for (Version version = 1; version <= 40; ++version) {
        (void)shared.keep_array(RepHandle{3}, 50, since(version),
                                Bits(1 + version, version).writer());
        const std::size_t size = 1 + version;
        REQUIRE(shared.find_array(RepHandle{3}, 50, since(version))->bit_count == size * 8);
        if (version > 1) {
            REQUIRE(copy_of(shared, shared.find_array(RepHandle{3}, 50, since(version - 1))) ==
                    to_hex(Bits(version, version - 1).writer().bytes()));
        }
    }
    CHECK(shared.find_array(RepHandle{3}, 50, since(1)) == nullptr);
}

TEST_CASE("SharedSerialization: a payload serves a receiver in the same position, and no other",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    shared.keep_payload({9, since(8), {}}, 4, make_bytes(1, 2, 3));
    const SharedPayload* payload = shared.find_payload({9, since(8), {}});
    REQUIRE(payload != nullptr);
    CHECK(to_hex({payload->bytes.data(), payload->bytes.size()}) == "01 02 03");
    CHECK(payload->property_count == 4);
    CHECK(shared.find_payload({10, since(8), {}}) == nullptr);
    CHECK(shared.find_payload({9, since(7), {}}) == nullptr);
    CHECK(shared.find_payload({9, since(8, 2, 3), {}}) == nullptr);
}

TEST_CASE(
    "SharedSerialization: a payload for what was lost in part serves no receiver that lost all",
    "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    OwedVersions part = since(8, 2, 3);
    part.lost_range = RepRange::of(RepHandle{4});
    shared.keep_payload({9, part, {}}, 1, make_bytes(1));
    CHECK(shared.find_plain_payload(9, since(8, 2, 3)) == nullptr);
    shared.keep_payload({9, since(8, 2, 3), {}}, 2, make_bytes(2));
    const SharedPayload* payload = shared.find_plain_payload(9, since(8, 2, 3));
    REQUIRE(payload != nullptr);
    CHECK(payload->property_count == 2);
    CHECK(shared.find_plain_payload(9, since(8)) == nullptr);
}

TEST_CASE("SharedSerialization: payloads of few positions are kept side by side",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    for (Version version = 0; version < 4; ++version) {
        shared.keep_payload({9, since(version), {}}, 1, make_bytes(version));
    }
    for (Version version = 0; version < 4; ++version) {
        REQUIRE(shared.find_payload({9, since(version), {}}) != nullptr);
        CHECK(shared.find_payload({9, since(version), {}})->bytes[0] ==
              static_cast<std::byte>(version));
    }
    shared.keep_payload({9, since(4), {}}, 1, make_bytes(4));
    CHECK(shared.find_payload({9, since(4), {}}) != nullptr);
    CHECK(shared.find_payload({9, since(0), {}}) == nullptr);
    CHECK(shared.find_payload({9, since(1), {}}) != nullptr);
}

TEST_CASE("SharedSerialization: a payload takes the place of one of an older version",
          "[replayout][shared_serialization]") {
    SharedSerialization shared = make_shared();
    for (Version version = 9; version < 30; ++version) {
        for (Version lag = 1; lag <= 2; ++lag) {
            shared.keep_payload({version, since(version - lag), {}}, 1, make_bytes(version));
        }
        CHECK(shared.find_payload({version, since(version - 1), {}}) != nullptr);
        CHECK(shared.find_payload({version, since(version - 2), {}}) != nullptr);
        CHECK(shared.payloads().size() == 2);
    }
}

}  // namespace
}  // namespace replayout::shared_serialization_test
