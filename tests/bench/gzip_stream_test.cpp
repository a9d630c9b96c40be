// SPDX-License-Identifier: MIT
#include "match/recording/gzip_stream.h"

#include "support/checks/catch.h"
#include "support/checks/trace_writer.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace replayout::match;
using replayout::testing::gzip;

using Bytes = std::vector<std::byte>;

constexpr GzipLimits generous{
    .bytes_max = std::uint64_t{1} << 30, .ratio_max = 2000, .ratio_free_size = 0};

struct Unzipped {
    Bytes bytes;
    std::string error;
};

[[nodiscard]] Unzipped unzip(const Bytes& file, const GzipLimits& limits = generous,
                             std::size_t read_size = 1000) {
    MemorySource source(file);
    GzipStream stream(source, limits);
    Unzipped result;
    Bytes buffer(read_size);
    while (const std::size_t size = stream.read(buffer)) {
        result.bytes.insert(result.bytes.end(), buffer.begin(),
                            buffer.begin() + static_cast<std::ptrdiff_t>(size));
    }
    result.error = stream.error();
    return result;
}

[[nodiscard]] Bytes some_bytes(std::size_t size) {
    std::mt19937_64 engine(size);
    Bytes bytes(size);
    // Few different values, so that it compresses, but not to nothing.
    std::generate(bytes.begin(), bytes.end(),
                  [&] { return static_cast<std::byte>(engine() % 11); });
    return bytes;
}

[[nodiscard]] Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

}  // namespace

TEST_CASE("GzipStream: gives back what was compressed", "[bench][gzip_stream]") {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}}) {
        for (const int level : {0, 1, 9}) {
            const Unzipped result = unzip(gzip(some_bytes(size), level), generous, 777);
            CHECK(result.error.empty());
            CHECK(result.bytes == some_bytes(size));
        }
    }
}

TEST_CASE("GzipStream: members follow one another, with zeros between", "[bench][gzip_stream]") {
    const Bytes zeros(70'000);
    const Bytes file = gzip(some_bytes(500)) + gzip({}) + zeros + gzip(some_bytes(90'000)) + zeros;
    const Unzipped result = unzip(file);
    CHECK(result.error.empty());
    CHECK(result.bytes == some_bytes(500) + some_bytes(90'000));
}

TEST_CASE("GzipStream: what follows the last member and is none is an error",
          "[bench][gzip_stream]") {
    const Bytes good = gzip(some_bytes(500));
    CHECK(unzip(good + Bytes{std::byte{'x'}}).error.find("truncated") != std::string::npos);
    CHECK(unzip(good + some_bytes(100)).error.find("after the end") != std::string::npos);
    CHECK(unzip(good + Bytes(good.begin(), good.end() - 1)).error.find("truncated") !=
          std::string::npos);
}

TEST_CASE("GzipStream: a file that is none is refused", "[bench][gzip_stream]") {
    CHECK(unzip({}).error == "is empty");
    CHECK(unzip(some_bytes(100)).error == "is not a gzip file");
    CHECK(unzip(Bytes(100)).error == "is not a gzip file");
}

TEST_CASE("GzipStream: every prefix of a file is truncated", "[bench][gzip_stream]") {
    const Bytes file = gzip(some_bytes(300));
    for (std::size_t size = 1; size < file.size(); ++size) {
        const Unzipped result =
            unzip(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
        CAPTURE(size);
        REQUIRE(result.error.find("truncated") != std::string::npos);
    }
}

TEST_CASE("GzipStream: a wrong checksum or length is an error", "[bench][gzip_stream]") {
    for (const std::size_t from_end : {std::size_t{8}, std::size_t{4}}) {
        Bytes file = gzip(some_bytes(300));
        file[file.size() - from_end] ^= std::byte{1};
        CHECK(unzip(file).error.find("damaged") != std::string::npos);
    }
}

TEST_CASE("GzipStream: sizes are bounded on both sides", "[bench][gzip_stream]") {
    const Bytes file = gzip(some_bytes(5000), 0);
    CHECK(unzip(file, {.bytes_max = file.size(), .ratio_max = 9, .ratio_free_size = 0})
              .error.empty());
    const std::string decompressed =
        unzip(gzip(some_bytes(5000)), {.bytes_max = 4999, .ratio_max = 9, .ratio_free_size = 0})
            .error;
    CHECK(decompressed == "decompresses to more than 4999 bytes");
    const std::string compressed =
        unzip(file, {.bytes_max = file.size() - 1, .ratio_max = 9, .ratio_free_size = 0}).error;
    CHECK(compressed == "is longer than " + std::to_string(file.size() - 1) + " bytes");
}

TEST_CASE("GzipStream: a bomb is refused by its ratio", "[bench][gzip_stream]") {
    const Bytes bomb = gzip(Bytes(3'000'000), 9);
    const GzipLimits limits{
        .bytes_max = std::uint64_t{1} << 30, .ratio_max = 200, .ratio_free_size = 1'000'000};
    const Unzipped result = unzip(bomb, limits);
    CHECK(result.error.find("200 times") != std::string::npos);
    CHECK(result.bytes.size() <= 1'001'000);
    CHECK(unzip(gzip(Bytes(1'000'000), 9), limits).error.empty());
}
