// SPDX-License-Identifier: MIT
#include "support/checks/catch.h"

#include <replayout/reflection/hash.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

using namespace replayout;

namespace {

// The buffer over which the authors of XXH3 publish their values (xxHash, cli/xsum_sanity_check.c).
std::vector<std::byte> make_published_buffer(std::size_t size) {
    std::vector<std::byte> bytes;
    std::uint64_t generator = 2654435761u;
    for (std::size_t index = 0; index < size; ++index) {
        bytes.push_back(static_cast<std::byte>(generator >> 56));
        generator *= 11400714785074694797u;
    }
    return bytes;
}

std::string digest_of(const Fingerprint& fingerprint) {
    return to_string(fingerprint.digest());
}

}  // namespace

TEST_CASE("hash64: a number without a seed is XXH3 of its eight bytes, and another with each seed",
          "[reflection][hash]") {
    if constexpr (std::endian::native == std::endian::little) {
        const std::uint64_t number = 0x0807'0605'0403'0201;
        CHECK(hash64(number, 0) == hash64(std::as_bytes(std::span(&number, 1))));
    }
    CHECK(hash64(7, 1) != hash64(7, 2));
    CHECK(hash64(7, 1) != hash64(8, 1));
}

TEST_CASE("SecretHash: keys that share a chain of a table without it lie in many",
          "[reflection][hash]") {
    struct NoHash {
        [[nodiscard]] std::size_t operator()(std::uint64_t key) const noexcept {
            return static_cast<std::size_t>(key);
        }
    };
    constexpr std::uint64_t count = 10'000;
    std::unordered_map<std::uint64_t, int, NoHash> plain(count);
    const std::uint64_t step = plain.bucket_count();
    for (std::uint64_t i = 0; i < count; ++i) {
        plain.emplace(i * step, 0);
    }
    REQUIRE(plain.bucket_size(plain.bucket(0)) == count);
    for (const std::uint64_t secret : {1ULL, 2ULL, 0xFFFF'FFFF'FFFF'FFFFULL}) {
        std::unordered_map<std::uint64_t, int, SecretHash> keyed(step, SecretHash(secret));
        for (std::uint64_t i = 0; i < count; ++i) {
            keyed.emplace(i * step, 0);
        }
        std::size_t longest = 0;
        for (std::size_t bucket = 0; bucket < keyed.bucket_count(); ++bucket) {
            longest = std::max(longest, keyed.bucket_size(bucket));
        }
        CHECK(longest < 16);
    }
}

TEST_CASE("Hash: 64 bits are those that the authors of XXH3 publish", "[reflection][hash]") {
    const struct {
        std::size_t size;
        std::uint64_t hash;
    } published[] = {
        {0, 0x2D06800538D394C2u},    {1, 0xC44BDFF4074EECDBu},    {6, 0x27B56A84CD2D7325u},
        {12, 0xA713DAF0DFBB77E7u},   {24, 0xA3FE70BF9D3510EBu},   {48, 0x397DA259ECBA1F11u},
        {80, 0xBCDEFBBB2C47C90Au},   {195, 0xCD94217EE362EC3Au},  {403, 0xCDEB804D65C6DEA4u},
        {512, 0x617E49599013CB6Bu},  {2048, 0xDD59E2C3A5F038E0u}, {2240, 0x6E73A90539CF2948u},
        {2367, 0xCB37AEB9E5D361EDu},
    };
    for (const auto& line : published) {
        CAPTURE(line.size);
        CHECK(hash64(make_published_buffer(line.size)) == line.hash);
    }
}

TEST_CASE("Hash: text and its bytes have the same value", "[reflection][hash]") {
    const std::string_view text = "replayout";
    CHECK(hash64(text) == hash64(std::as_bytes(std::span(text))));
    CHECK(hash64(text) != hash64("Replayout"));
    CHECK(hash64(std::string_view()) == 0x2D06800538D394C2u);
}

TEST_CASE("Digest128: is printed high word first, and compares high by low", "[reflection][hash]") {
    CHECK(to_string(Digest128{0x6001C324468D497Fu, 0x99AA06D3014798D8u}) ==
          "99aa06d3014798d86001c324468d497f");
    CHECK(to_string(Digest128{1, 0}) == "00000000000000000000000000000001");
    CHECK(Digest128{1, 2} == Digest128{1, 2});
    CHECK(Digest128{1, 2} != Digest128{2, 1});
}

TEST_CASE("Fingerprint: of nothing is the published XXH3 of nothing", "[reflection][hash]") {
    CHECK(digest_of(Fingerprint()) == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("Fingerprint: hashes the bytes that the header draws", "[reflection][hash]") {
    Fingerprint fingerprint;
    fingerprint.add(std::uint64_t{0x0102030405060708});
    fingerprint.add(std::string_view("health"));
    fingerprint.add(Digest128{0x1112131415161718, 0x2122232425262728});
    // XXH3 128, seed 0, of these 41 bytes, computed with xxHash 0.8.1 and nothing of ours:
    //     75 08 07 06 05 04 03 02 01
    //     73 06 00 00 00 00 00 00 00  68 65 61 6c 74 68
    //     64 18 17 16 15 14 13 12 11  28 27 26 25 24 23 22 21
    CHECK(digest_of(fingerprint) == "5b92c9dcb061d590afbbc7e6e59d643c");
}

TEST_CASE("Fingerprint: depends on order, on kind, and on where one item ends",
          "[reflection][hash]") {
    std::vector<std::string> digests;
    const auto collect = [&digests](const auto&... items) {
        Fingerprint fingerprint;
        (fingerprint.add(items), ...);
        digests.push_back(digest_of(fingerprint));
    };
    using Text = std::string_view;
    collect(Text("ab"), Text("c"));
    collect(Text("a"), Text("bc"));
    collect(Text("abc"));
    collect(Text("c"), Text("ab"));
    collect(Text(""), Text("abc"));
    collect(std::uint64_t{1}, std::uint64_t{2});
    collect(std::uint64_t{2}, std::uint64_t{1});
    collect(Digest128{1, 2});
    collect(std::uint64_t{8}, std::uint64_t{0x6867666564636261});
    collect(Text("abcdefgh"));
    for (std::size_t left = 0; left < digests.size(); ++left) {
        for (std::size_t right = left + 1; right < digests.size(); ++right) {
            CAPTURE(left, right);
            CHECK(digests[left] != digests[right]);
        }
    }
}

TEST_CASE("Fingerprint: can be read and then continued", "[reflection][hash]") {
    Fingerprint halves;
    halves.add(std::uint64_t{1});
    const std::string first = digest_of(halves);
    halves.add(std::uint64_t{2});
    Fingerprint whole;
    whole.add(std::uint64_t{1});
    CHECK(digest_of(whole) == first);
    whole.add(std::uint64_t{2});
    CHECK(digest_of(whole) == digest_of(halves));
}
