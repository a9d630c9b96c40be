// SPDX-License-Identifier: MIT
#include "group_table.h"

#include <cstdint>
#include <memory_resource>
#include <set>
#include <utility>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {

TEST_CASE("Group table: at random, each side knows who is in what", "[netdriver][interest]") {
    SeededRandom random(run_seed());
    GroupTable table(std::pmr::get_default_resource());
    std::set<std::pair<std::uint32_t, std::uint32_t>> model;  // group, object
    for (int step = 0; step < 20'000; ++step) {
        const std::uint32_t object = random.below(30);
        const ObjectIndex index{object};
        const std::uint32_t group = random.below(12);
        switch (random.below(8)) {
            case 0:
                table.remove_all(index);
                std::erase_if(model, [&](const auto& entry) { return entry.second == object; });
                break;
            case 1:
            case 2:
            case 3:
                REQUIRE(table.remove(index, NetGroup{group}) ==
                        (model.erase({group, object}) != 0));
                break;
            default:
                REQUIRE(table.add(index, NetGroup{group}) == model.insert({group, object}).second);
                break;
        }
        std::set<std::pair<std::uint32_t, std::uint32_t>> members;
        table.for_each_member(NetGroup{group}, [&](ObjectIndex member) {
            REQUIRE(members.insert({group, value_of(member)}).second);
        });
        for (std::uint32_t i = 0; i < 30; ++i) {
            REQUIRE(table.is_in(ObjectIndex{i}, NetGroup{group}) == model.contains({group, i}));
            REQUIRE(members.contains({group, i}) == model.contains({group, i}));
        }
        FlatSet<NetGroup> two{Allocator<NetGroup>(std::pmr::get_default_resource())};
        two.insert(NetGroup{group});
        two.insert(NetGroup{group + 1});
        REQUIRE(table.is_in_any(index, two) ==
                (model.contains({group, object}) || model.contains({group + 1, object})));
    }
}

}  // namespace replayout::test
