// SPDX-License-Identifier: MIT
#include <replayout/node_map.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::node_map_test {
namespace {

/// Says which memory it was given.
struct Note {
    explicit Note(MemoryResource* resource) : text(resource) {}

    PmrString text;
};

TEST_CASE("NodeMap: it holds what a map holds, in its order, whatever comes and goes",
          "[replayout][node_map][random]") {
    for (const std::uint64_t seed : seed_range(run_seed(), 20)) {
        INFO("seed " << seed);
        test::SeededRandom random(seed);
        NodeMap<std::uint32_t, std::uint32_t> map(std::pmr::get_default_resource());
        std::map<std::uint32_t, std::uint32_t> model;
        for (std::uint32_t step = 0; step < 2'000; ++step) {
            const std::uint32_t key = random.below(60);
            const auto found = map.find(key);
            REQUIRE((found == map.end()) == !model.contains(key));
            if (found == map.end() || random.percent(30)) {
                map[key] = step;
                model[key] = step;
            } else {
                const auto next = map.erase(found);
                REQUIRE((next == map.end()) == (model.upper_bound(key) == model.end()));
                model.erase(key);
            }
            REQUIRE(map.size() == model.size());
            REQUIRE(map.empty() == model.empty());
            REQUIRE(std::equal(map.begin(), map.end(), model.begin(), model.end()));
            const auto lower = map.lower_bound(key);
            REQUIRE((lower == map.end() ? 0 : lower->first) ==
                    (model.lower_bound(key) == model.end() ? 0 : model.lower_bound(key)->first));
        }
    }
}

TEST_CASE("NodeMap: entries that come and go in turn take no memory", "[replayout][node_map]") {
    CountingResource resource;
    NodeMap<std::uint32_t, std::uint32_t> map(&resource);
    const auto fill = [&](std::uint32_t first) {
        for (std::uint32_t key = first; key < first + 8; ++key) {
            map[key] = key;
        }
    };
    const auto empty = [&] {
        while (!map.empty()) {
            (void)map.erase(map.begin());
        }
    };
    fill(0);
    empty();
    const auto before = resource.allocation_count();
    for (std::uint32_t round = 0; round < 10; ++round) {
        fill(round * 4);
        empty();
    }
    CHECK(resource.allocation_count() == before);
    // One entry for another among many, too; and what many took goes back.
    for (std::uint32_t key = 0; key < 1'000; ++key) {
        map[key] = key;
    }
    (void)map.erase(map.begin());
    const auto full = resource.allocation_count();
    const auto full_bytes = resource.bytes_in_use();
    for (std::uint32_t key = 1'000; key < 1'100; ++key) {
        map[key] = key;
        (void)map.erase(map.begin());
    }
    CHECK(resource.allocation_count() == full);
    empty();
    CHECK(resource.bytes_in_use() < full_bytes / 50);
}

TEST_CASE("NodeMap: a value that goes gives back what it held, and the next one is new",
          "[replayout][node_map]") {
    CountingResource resource;
    NodeMap<std::uint32_t, Note> map(&resource);
    map[1].text = std::string(1'000, 'a');
    CHECK(map[1].text.get_allocator().resource() == &resource);
    const auto full = resource.bytes_in_use();
    (void)map.erase(map.begin());
    CHECK(resource.bytes_in_use() <= full - 900);
    CHECK(map[2].text.empty());
}

}  // namespace
}  // namespace replayout::node_map_test
