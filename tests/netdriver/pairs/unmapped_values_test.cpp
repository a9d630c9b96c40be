// SPDX-License-Identifier: MIT
#include "unmapped_values.h"

#include <cstdint>
#include <set>
#include <tuple>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::test::unmapped_values {
namespace {

using Entry = UnmappedValues::Entry;
using Model = std::set<std::tuple<ObjectIndex, std::uint32_t, std::uint64_t>>;

/// What is taken, from both; `is_asked` says of which entries of the model that may be.
class ModelledValues {
  public:
    explicit ModelledValues(MemoryResource* resource) : values(resource) {}

    void add(const Entry& entry) {
        values.add(entry);
        model_.insert({entry.index, entry.handle.value, entry.guid.value});
    }
    void take_of(ObjectIndex index, std::uint32_t modulo) {
        std::size_t count = 0;
        values.take_of(
            index, [&](const Entry& entry) { return entry.handle.value % modulo == 0; },
            [&](const Entry& entry) {
                REQUIRE(entry.index == index);
                taken(entry, modulo);
                ++count;
            });
        for (const auto& [other, handle, guid] : model_) {
            REQUIRE_FALSE((other == index && handle % modulo == 0));
        }
        total += count;
    }
    void take_waiting_for(NetGUID guid, std::uint32_t modulo) {
        values.take_waiting_for(
            guid, [&](const Entry& entry) { return entry.handle.value % modulo == 0; },
            [&](const Entry& entry) {
                REQUIRE(entry.guid == guid);
                taken(entry, modulo);
                ++total;
            });
        for (const auto& [index, handle, other] : model_) {
            REQUIRE_FALSE((other == guid.value && handle % modulo == 0));
        }
    }
    void check(ObjectIndex index) {
        ChangeMask expected;
        ChangeMask found;
        expected.reset(64);
        found.reset(64);
        bool is_any = false;
        for (const auto& [other, handle, guid] : model_) {
            if (other == index) {
                expected.set(handle - 1);
                is_any = true;
            }
        }
        REQUIRE(values.is_waiting(index) == is_any);
        REQUIRE(values.mark(index, found) == is_any);
        for (std::uint32_t bit = 0; bit < 64; ++bit) {
            REQUIRE(found.test(bit) == expected.test(bit));
        }
    }

    UnmappedValues values;
    std::size_t total = 0;

  private:
    void taken(const Entry& entry, std::uint32_t modulo) {
        REQUIRE(entry.handle.value % modulo == 0);
        REQUIRE(model_.erase({entry.index, entry.handle.value, entry.guid.value}) == 1);
    }

    Model model_;
};

}  // namespace

TEST_CASE("Unmapped values: at random, they are found by their object and by what they wait for") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    ModelledValues values(std::pmr::get_default_resource());
    for (int step = 0; step < 5'000; ++step) {
        const ObjectIndex index{random.below(12)};
        const NetGUID guid{1 + random.below(12)};
        if (random.percent(80)) {
            values.add({guid, index, RepHandle{1 + random.below(40)}});
        } else if (random.percent(50)) {
            values.take_of(index, 1 + random.below(3));
        } else {
            values.take_waiting_for(guid, 1 + random.below(3));
        }
        values.check(ObjectIndex{random.below(13)});
    }
    CHECK(values.total > 1'000);
}

TEST_CASE("Unmapped values: what waits again and again takes no memory") {
    CountingResource resource;
    UnmappedValues values(&resource);
    std::uint64_t taken = 0;
    for (int tick = 0; tick < 50; ++tick) {
        for (ObjectIndex index{}; value_of(index) < 1'000; ++index) {
            values.take_of(
                index, [](const Entry&) { return true; }, [](const Entry&) {});
            values.add({NetGUID{7}, index, RepHandle{3}});
        }
        if (tick == 0) {
            taken = resource.allocation_count();
        }
    }
    CHECK(resource.allocation_count() == taken);
}

}  // namespace replayout::test::unmapped_values
