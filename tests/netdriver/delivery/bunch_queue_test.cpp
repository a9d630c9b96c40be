// SPDX-License-Identifier: MIT
//
// BunchQueue against a map, which it is cheaper than.
#include "bunch_queue.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory_resource>
#include <span>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {
namespace {

struct Entry {
    ObjectIndex number{};
    bool is_lost = false;

    friend bool operator==(const Entry&, const Entry&) = default;
};

class ComparedRow {
  public:
    explicit ComparedRow(std::uint64_t seed)
        : random_(seed),
          pool_(std::pmr::get_default_resource()),
          row_(pool_, std::pmr::get_default_resource()) {}

    void step() {
        switch (random_.below(8)) {
            case 0:
            case 1:
            case 2:
                push_back();
                break;
            case 3:
                take_first();
                break;
            case 4:
            case 5:
                take(BunchOrder{last_.value - random_.below(40)});
                break;
            case 6:
                lose(BunchOrder{last_.value - random_.below(40)});
                break;
            default:
                erase_some();
                break;
        }
        check();
    }

  private:
    void push_back() {
        last_.value += 1 + random_.below(3);
        const std::array<std::byte, 100> bytes{};
        const ObjectIndex number{random_.below(1'000'000)};
        row_.push_back(last_, pool_.make({}, {BunchTag::Kind::Value, number, 0},
                                         std::span(bytes).first(random_.below(100)), 0));
        model_[last_] = {number};
    }
    void take_first() {
        if (!row_.is_empty()) {
            REQUIRE(row_.take_first()->tag.object_index == model_.begin()->second.number);
            model_.erase(model_.begin());
        }
    }
    void take(BunchOrder order) {
        const auto found = model_.find(order);
        const BunchPool::BunchPtr bunch = row_.take(order);
        REQUIRE((bunch == nullptr) == (found == model_.end()));
        if (bunch != nullptr) {
            REQUIRE(bunch->tag.object_index == found->second.number);
            REQUIRE(bunch->is_lost == found->second.is_lost);
            model_.erase(found);
        }
    }
    void lose(BunchOrder order) {
        if (OutBunch* const bunch = row_.find(order)) {
            bunch->is_lost = true;
            model_.at(order).is_lost = true;
        }
    }
    void erase_some() {
        const std::uint32_t rest = random_.below(9);
        const auto is_dropped = [&](ObjectIndex number) { return value_of(number) % 9 == rest; };
        const std::size_t count = row_.erase_if(
            [&](const OutBunch& bunch) { return is_dropped(bunch.tag.object_index); });
        REQUIRE(count == std::erase_if(model_, [&](const auto& entry) {
                    return is_dropped(entry.second.number);
                }));
    }
    void check() {
        REQUIRE(row_.is_empty() == model_.empty());
        REQUIRE(row_.count() == model_.size());
        std::vector<Entry> seen;
        row_.for_each([&](OutBunch& bunch) {
            seen.push_back({bunch.tag.object_index, bunch.is_lost});
        });
        std::vector<Entry> expected;
        for (const auto& [order, entry] : model_) {
            expected.push_back(entry);
        }
        REQUIRE(seen == expected);
        if (!model_.empty()) {
            REQUIRE(row_.first().tag.object_index == model_.begin()->second.number);
        }
        const BunchOrder order{last_.value - random_.below(40)};
        const auto found = model_.find(order);
        const OutBunch* const bunch = row_.find(order);
        REQUIRE((bunch == nullptr) == (found == model_.end()));
        REQUIRE((bunch == nullptr || bunch->tag.object_index == found->second.number));
        for (auto entry = model_.lower_bound(order); entry != model_.end(); ++entry) {
            if (entry->second.is_lost) {
                REQUIRE(row_.first_lost_from(order) == entry->first);
                break;
            }
        }
    }

    SeededRandom random_;
    BunchPool pool_;
    BunchQueue row_;
    std::map<BunchOrder, Entry> model_;
    BunchOrder last_{100};
};

}  // namespace

TEST_CASE("Bunch row: it answers as a map does", "[netdriver][bunch_queue][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 40)) {
        INFO("REPLAYOUT_SEED=" << seed);
        ComparedRow row(seed);
        for (int i = 0; i < 1'000; ++i) {
            row.step();
        }
    }
}

TEST_CASE("Bunch row: bunches that leave after one that stays leave no memory taken",
          "[netdriver][bunch_queue]") {
    CountingResource resource;
    BunchPool pool(&resource);
    BunchQueue row(pool, &resource);
    row.push_back(BunchOrder{1}, pool.make({}, {}, {}, 0));
    for (std::uint64_t order = 2; order < 100; ++order) {
        row.push_back(BunchOrder{order}, pool.make({}, {}, {}, 0));
    }
    for (std::uint64_t order = 2; order < 100; ++order) {
        REQUIRE(row.take(BunchOrder{order}) != nullptr);
    }
    const std::int64_t bytes = resource.bytes_in_use();
    for (std::uint64_t order = 100; order < 10'000; order += 2) {
        row.push_back(BunchOrder{order}, pool.make({}, {}, {}, 0));
        row.push_back(BunchOrder{order + 1}, pool.make({}, {}, {}, 0));
        REQUIRE(row.take(BunchOrder{order - 1}) == nullptr);
        REQUIRE(row.take(BunchOrder{order}) != nullptr);
        REQUIRE(row.take(BunchOrder{order + 1}) != nullptr);
    }
    CHECK(row.count() == 1);
    CHECK(resource.bytes_in_use() == bytes);
}

}  // namespace replayout::test
