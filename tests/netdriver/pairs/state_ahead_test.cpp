// SPDX-License-Identifier: MIT
#include "state_ahead.h"

#include <cstdint>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

void resolve_records(StateAhead& ahead, int count) {
    for (int i = 0; i < count; ++i) {
        ahead.record_resolved();
    }
}

}  // namespace

TEST_CASE("State ahead: it begins to drain when two rounds of records are over",
          "[netdriver][state_ahead]") {
    StateAhead ahead;
    ahead.record_resolved();
    CHECK_FALSE(ahead.is_on());
    ahead.held_back(3, 0);
    CHECK(ahead.is_on());
    resolve_records(ahead, 7);
    ahead.held_back(3, 0);  // the same call, in a later flush
    CHECK(ahead.may_begin_values());
    ahead.record_resolved();
    CHECK(ahead.is_draining());
    CHECK_FALSE(ahead.may_begin_values());
}

TEST_CASE("State ahead: it drains after two rounds of values, or when none is under way",
          "[netdriver][state_ahead]") {
    for (const bool is_last : {false, true}) {
        INFO("the last " << is_last);
        StateAhead ahead;
        ahead.held_back(0, 2);
        resolve_records(ahead, 2);
        ahead.value_resolved(false);
        CHECK_FALSE(ahead.is_draining());
        ahead.value_resolved(is_last);
        CHECK(ahead.is_draining() == is_last);
        ahead.value_resolved(false);
        ahead.value_resolved(false);
        CHECK(ahead.is_draining());
    }
}

TEST_CASE("State ahead: what went in several flushes is as old as the first of them",
          "[netdriver][state_ahead]") {
    StateAhead ahead;
    ahead.held_back(0, 0);
    resolve_records(ahead, 2);
    ahead.go();
    CHECK(ahead.is_going());
    CHECK(ahead.next_handle() == 1);
    ahead.sent(7, 4, false);
    CHECK(ahead.next_handle() == 4);
    CHECK_FALSE(ahead.is_all_sent());
    ahead.sent(9, 6, true);
    CHECK(ahead.is_all_sent());
    CHECK(ahead.version() == 7);
    CHECK_FALSE(ahead.may_begin_values());
    ahead.stop();
    CHECK_FALSE(ahead.is_on());
    CHECK(ahead.may_begin_values());
    CHECK(ahead.version() == 0);
}

TEST_CASE("State ahead: what went with a call meanwhile ends it, unless all was sent before",
          "[netdriver][state_ahead]") {
    const auto begin = [] {
        StateAhead ahead;
        ahead.held_back(0, 0);
        resolve_records(ahead, 2);
        ahead.go();
        ahead.sent(7, 3, false);
        return ahead;
    };
    StateAhead ahead = begin();
    ahead.overtaken();
    CHECK_FALSE(ahead.is_on());
    ahead = begin();
    ahead.sent(9, 5, true);
    ahead.overtaken();
    CHECK(ahead.is_all_sent());
    CHECK(ahead.version() == 7);
}

}  // namespace replayout::test
