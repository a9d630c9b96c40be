// SPDX-License-Identifier: MIT
#include "object_tables.h"

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "bit_row.h"
#include "support/checks/catch.h"

namespace replayout::test {
namespace {

/// A row that notes what it is told.
struct NotingRow {
    void forget(ObjectIndex index) { forgotten.push_back(value_of(index)); }
    void grow(std::uint32_t count) { size = count; }

    std::vector<std::uint32_t> forgotten;
    std::uint32_t size = 0;
};

using Until = ObjectTables::Until;
using Indices = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("Object tables: forgetting an object forgets it in every table that was added",
          "[netdriver][object_tables]") {
    ObjectTables tables;
    NotingRow noting;
    BitRow bits(std::pmr::get_default_resource());
    tables.add(noting, Until::SlotIsFree);
    tables.add(bits, Until::SlotIsFree);
    bits.insert(ObjectIndex{70});
    bits.insert(ObjectIndex{7});
    tables.free_slot(ObjectIndex{7});
    CHECK(noting.forgotten == Indices{7});
    CHECK_FALSE(bits.test(ObjectIndex{7}));
    CHECK(bits.test(ObjectIndex{70}));
    tables.free_slot(ObjectIndex{500});  // beyond its end
    CHECK(noting.forgotten == Indices{7, 500});
}

TEST_CASE(
    "Object tables: a table forgets an object at the step it was added for, and at later ones",
    "[netdriver][object_tables]") {
    ObjectTables tables;
    NotingRow torn;
    NotingRow done;
    NotingRow free;
    tables.add(torn, Until::TornOff);
    tables.add(done, Until::GameIsDone);
    tables.add(free, Until::SlotIsFree);
    tables.tear_off(ObjectIndex{1});
    CHECK(torn.forgotten == Indices{1});
    CHECK(done.forgotten.empty());
    tables.end_for_game(ObjectIndex{2});
    CHECK(torn.forgotten == Indices{1, 2});
    CHECK(done.forgotten == Indices{2});
    CHECK(free.forgotten.empty());
    tables.free_slot(ObjectIndex{3});
    CHECK(torn.forgotten == Indices{1, 2, 3});
    CHECK(done.forgotten == Indices{2, 3});
    CHECK(free.forgotten == Indices{3});
}

TEST_CASE("Object tables: tables that hold a value for each slot grow with the slots",
          "[netdriver][object_tables]") {
    ObjectTables tables;
    NotingRow full;
    NotingRow sparse;
    tables.add_full(full, Until::GameIsDone);
    tables.add(sparse, Until::GameIsDone);
    tables.grow(90);
    CHECK(full.size == 90);
    CHECK(sparse.size == 0);
    tables.end_for_game(ObjectIndex{4});
    CHECK(full.forgotten == Indices{4});
}

}  // namespace replayout::test
