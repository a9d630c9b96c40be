// SPDX-License-Identifier: MIT
// Private, and not to be seen through any public header.
#include "../../replayout/src/values/equal_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout {
namespace {

[[nodiscard]] bool equal_bytes_portable(const std::byte* left, const std::byte* right,
                                        std::size_t size) {
    return detail::equal_bytes_by<detail::PortableChunk>(left, right, size);
}

constexpr std::size_t size_max = 300;
constexpr std::size_t offset_max = 17;

}  // namespace

TEST_CASE("equal_bytes: with vector instructions and without, every size and place agrees",
          "[replayout][equal_bytes]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    test::SeededRandom random(seed);
    std::vector<std::byte> left(size_max + offset_max);
    std::vector<std::byte> right(size_max + offset_max);
    bool is_right = true;
    for (std::size_t size = 0; size <= size_max; ++size) {
        for (std::size_t offset = 0; offset < offset_max; ++offset) {
            // What lies around must not count, so it differs.
            for (std::byte& byte : left) {
                byte = static_cast<std::byte>(random.bits());
            }
            std::transform(left.begin(), left.end(), right.begin(),
                           [](std::byte byte) { return ~byte; });
            const std::size_t other = random.below(offset_max);
            const std::byte* from = left.data() + offset;
            std::byte* to = right.data() + other;
            std::copy_n(from, size, to);
            is_right = is_right && equal_bytes(from, to, size) &&
                       equal_bytes_portable(from, to, size) &&
                       next_difference(from, to, 0, size) == size;
            if (size == 0) {
                continue;
            }
            const std::size_t place = random.below(static_cast<std::uint32_t>(size));
            to[place] ^= static_cast<std::byte>(1u << random.below(8));
            is_right = is_right && !equal_bytes(from, to, size) &&
                       !equal_bytes_portable(from, to, size) &&
                       next_difference(from, to, 0, size) == place;
        }
    }
    CHECK(is_right);
}

TEST_CASE("equal_bytes: one bit makes the difference, wherever it is", "[replayout][equal_bytes]") {
    bool is_found = true;
    for (std::size_t size = 1; size <= size_max; ++size) {
        std::vector<std::byte> left(size, std::byte{0x5a});
        std::vector<std::byte> right = left;
        for (std::size_t place = 0; place < size; ++place) {
            right[place] ^= std::byte{0x80};
            is_found = is_found && !equal_bytes(left.data(), right.data(), size) &&
                       !equal_bytes_portable(left.data(), right.data(), size);
            right[place] = left[place];
        }
        is_found = is_found && equal_bytes(left.data(), right.data(), size);
    }
    CHECK(is_found);
}

}  // namespace replayout
