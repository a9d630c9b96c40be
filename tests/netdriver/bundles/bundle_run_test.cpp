// SPDX-License-Identifier: MIT
//
// BundleRun: which blocks of a bundle are those of some objects, against a look at each block.
#include "bundle_run.h"

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {
namespace {

enum class RunOrder : std::uint8_t { OfObjects, Mixed };

struct Run {
    Run(SeededRandom& random, RunOrder order) {
        const std::uint32_t density = 1 + random.below(100);
        changes.objects.grow(object_count);
        std::vector<ObjectIndex> indices;
        for (std::uint32_t index = 0; index < object_count; ++index) {
            if (random.percent(density)) {
                changes.objects.set(ObjectIndex{index});
                indices.push_back(ObjectIndex{index});
            }
        }
        for (std::size_t i = indices.size(); order == RunOrder::Mixed && i > 1; --i) {
            std::swap(indices[i - 1], indices[random.below(static_cast<std::uint32_t>(i))]);
        }
        run.begin(1);
        for (const ObjectIndex index : indices) {
            BundleBlock block;
            block.index = index;
            run.add_block(block);
            if (run.is_bundle_full() || random.percent(3)) {
                run.end_bundle(0, 0);
            }
        }
        run.end_bundle(0, 0);
        changes.finish();
        if (order == RunOrder::Mixed && changes.has_any()) {
            run.find_positions(changes);
        }
    }

    static constexpr std::uint32_t object_count = 300;

    FlushChanges changes{std::pmr::get_default_resource()};
    BundleRun run{std::pmr::get_default_resource()};
};

[[nodiscard]] BitRow random_objects(SeededRandom& random) {
    BitRow objects(std::pmr::get_default_resource());
    const std::uint32_t density = 10 * random.below(11);  // of none, some, most, all
    for (std::uint32_t index = 0; index < Run::object_count; ++index) {
        if (random.percent(density)) {
            objects.insert(ObjectIndex{index});
        }
    }
    return objects;
}

}  // namespace

TEST_CASE("BundleRun: the blocks of some objects are found as by a look at each block",
          "[netdriver][bundles][random]") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        SeededRandom random(seed);
        const Run played(random, seed % 2 == 0 ? RunOrder::OfObjects : RunOrder::Mixed);
        for (int i = 0; i < 10; ++i) {
            const BitRow objects = random_objects(random);
            for (const Bundle& bundle : played.run.bundles()) {
                std::uint64_t expected = 0;
                for (std::uint32_t place = bundle.begin; place < bundle.end; ++place) {
                    const bool is_in = objects.test(played.run.blocks()[place].index);
                    expected |= std::uint64_t{is_in ? 1u : 0u} << (place - bundle.begin);
                }
                REQUIRE(played.run.blocks_in(bundle, objects) == expected);
            }
        }
    }
}

TEST_CASE("BundleRun: one that keeps some of its blocks says the same of these",
          "[netdriver][bundles][random]") {
    std::uint32_t thinned_count = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        SeededRandom random(seed);
        Run played(random, seed % 2 == 0 ? RunOrder::OfObjects : RunOrder::Mixed);
        const std::size_t bundle_count = played.run.bundles().size();
        std::vector<std::uint64_t> held(bundle_count, ~std::uint64_t{0});
        const BitRow objects = random_objects(random);
        for (std::uint32_t round = 0; round < 3; ++round) {
            std::vector<std::vector<ObjectIndex>> expected;  // by bundle: the objects
            std::vector<std::uint64_t> among;
            for (std::uint32_t i = 0; i < bundle_count; ++i) {
                held[i] &= played.run.bundles()[i].all_blocks() & random.bits() & random.bits();
                const SentBundle sent{&played.run, i, held[i]};
                std::vector<ObjectIndex>& indices = expected.emplace_back();
                sent.for_each_block(
                    [&](const BundleBlock& block) { indices.push_back(block.index); });
                among.push_back(sent.among(objects).blocks);
            }
            played.run.keep_only(held);
            thinned_count += played.run.keeps_all() ? 0u : 1u;
            for (std::uint32_t i = 0; i < bundle_count; ++i) {
                const SentBundle sent{&played.run, i, held[i]};
                std::vector<ObjectIndex> indices;
                sent.for_each_block(
                    [&](const BundleBlock& block) { indices.push_back(block.index); });
                REQUIRE(indices == expected[i]);
                REQUIRE(sent.among(objects).blocks == among[i]);
                REQUIRE(sent.block_count() == indices.size());
                for (ObjectIndex index{}; value_of(index) < Run::object_count; ++index) {
                    REQUIRE(sent.carries(index) ==
                            (std::find(indices.begin(), indices.end(), index) != indices.end()));
                }
            }
        }
        played.run.begin(2);
        CHECK(played.run.keeps_all());
    }
    CHECK(thinned_count > 300);
}

}  // namespace replayout::test
