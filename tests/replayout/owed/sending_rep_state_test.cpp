// SPDX-License-Identifier: MIT
#include <replayout/sending_rep_state.h>

#include <algorithm>
#include <random>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"

namespace replayout {
namespace {

SendingRepState state_sent(Version version) {
    SendingRepState state;
    (void)state.send(version);
    state.delivered();
    return state;
}

TEST_CASE("VersionInterval: holds the versions after its begin and through its end",
          "[replayout][sending_rep_state]") {
    const VersionInterval interval{3, 6};
    CHECK_FALSE(interval.contains(3));
    CHECK(interval.contains(4));
    CHECK(interval.contains(6));
    CHECK_FALSE(interval.contains(7));
    CHECK_FALSE(interval.is_empty());
}

TEST_CASE("VersionInterval: is empty by default and wherever both ends are equal",
          "[replayout][sending_rep_state]") {
    CHECK(VersionInterval().is_empty());
    CHECK(VersionInterval{5, 5}.is_empty());
    CHECK_FALSE(VersionInterval{5, 5}.contains(5));
}

TEST_CASE("VersionInterval: a hull holds both and what lies between",
          "[replayout][sending_rep_state]") {
    CHECK(hull(VersionInterval{1, 3}, {2, 5}) == VersionInterval{1, 5});
    CHECK(hull(VersionInterval{1, 3}, {3, 5}) == VersionInterval{1, 5});
    CHECK(hull(VersionInterval{6, 7}, {1, 2}) == VersionInterval{1, 7});
    CHECK(hull(VersionInterval{1, 9}, {3, 4}) == VersionInterval{1, 9});
}

TEST_CASE("VersionInterval: an empty one adds nothing to a hull, wherever it lies",
          "[replayout][sending_rep_state]") {
    CHECK(hull(VersionInterval{}, {3, 5}) == VersionInterval{3, 5});
    CHECK(hull(VersionInterval{3, 5}, {}) == VersionInterval{3, 5});
    CHECK(hull(VersionInterval{9, 9}, {3, 5}) == VersionInterval{3, 5});
    CHECK(hull(VersionInterval{}, {}).is_empty());
}

TEST_CASE("VersionInterval: hulls keep the laws of a union", "[replayout][sending_rep_state]") {
    constexpr Version end = 6;
    std::vector<VersionInterval> intervals{{}};
    for (Version after = 0; after < end; ++after) {
        for (Version through = after + 1; through <= end; ++through) {
            intervals.push_back({after, through});
        }
    }
    for (const VersionInterval& left : intervals) {
        CHECK(hull(left, left) == left);
        for (const VersionInterval& right : intervals) {
            CHECK(hull(left, right) == hull(right, left));
            for (Version version = 0; version <= end + 1; ++version) {
                const bool is_in_either = left.contains(version) || right.contains(version);
                CHECK((!is_in_either || hull(left, right).contains(version)));
            }
            for (const VersionInterval& third : intervals) {
                CHECK(hull(hull(left, right), third) == hull(left, hull(right, third)));
            }
        }
    }
}

TEST_CASE("SendingRepState: a new one holds the archetype and owes all that ever changed",
          "[replayout][sending_rep_state]") {
    const SendingRepState state;
    CHECK(state.is_exact());
    CHECK(state.held_version() == 0);
    CHECK_FALSE(state.owes(0));
    CHECK(state.owes(1));
    CHECK_FALSE(state.owes_any(0));
    CHECK(state.owes_any(1));
}

TEST_CASE("SendingRepState: what was sent is owed no more, and exact once delivered",
          "[replayout][sending_rep_state]") {
    SendingRepState state;
    const SentVersions record = state.send(4);
    CHECK(record.sent == VersionInterval{0, 4});
    CHECK(record.lost.is_empty());
    CHECK_FALSE(state.owes(4));
    CHECK(state.owes(5));
    CHECK_FALSE(state.owes_any(4));
    CHECK_FALSE(state.is_exact());
    CHECK(state.held_version() == 0);

    state.delivered();
    CHECK(state.is_exact());
    CHECK(state.held_version() == 4);
}

TEST_CASE("SendingRepState: a loss owes what the packet held and not what newer packets carry",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(3);
    const SentVersions older = state.send(6);
    (void)state.send(7);
    state.lose(older);
    CHECK(state.lost() == VersionInterval{3, 6});
    CHECK(state.sent_version == 7);
    CHECK_FALSE(state.owes(3));
    CHECK(state.owes(4));
    CHECK(state.owes(6));
    CHECK_FALSE(state.owes(7));
    CHECK(state.owes(8));
    CHECK(state.owes_any(7));
}

TEST_CASE("SendingRepState: losses of one ack are owed together",
          "[replayout][sending_rep_state]") {
    SendingRepState state;
    const SentVersions first = state.send(1);
    const SentVersions second = state.send(2);
    (void)state.send(3);
    state.lose(first);
    state.lose(second);
    CHECK(state.lost() == VersionInterval{0, 2});
    CHECK_FALSE(state.owes(3));
}

TEST_CASE("SendingRepState: a send takes the lost interval along, and a second loss gives it back",
          "[replayout][sending_rep_state]") {
    SendingRepState state;
    state.lose(state.send(2));
    const SentVersions again = state.send(5);
    CHECK(again.sent == VersionInterval{2, 5});
    CHECK(again.lost == VersionInterval{0, 2});
    CHECK(state.lost().is_empty());
    CHECK_FALSE(state.owes(1));

    state.lose(again);
    CHECK(state.lost() == VersionInterval{0, 5});
}

TEST_CASE("SendingRepState: nothing is exact while anything is lost or in flight",
          "[replayout][sending_rep_state]") {
    SendingRepState state;
    const SentVersions first = state.send(1);
    (void)state.send(2);
    state.lose(first);
    CHECK_FALSE(state.is_exact());
    state.delivered();
    CHECK_FALSE(state.is_exact());
    (void)state.send(2);
    CHECK_FALSE(state.is_exact());
    state.delivered();
    CHECK(state.is_exact());
    CHECK(state.held_version() == 2);
}

TEST_CASE("SendingRepState: parts are in flight one by one, and a lost one is owed alone",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(3);
    const SentVersions record = state.send(5);
    state.send_part();
    CHECK(state.in_flight == 2);
    state.delivered();
    CHECK_FALSE(state.is_exact());
    state.lose(record);
    CHECK(state.in_flight == 0);
    CHECK(state.lost() == VersionInterval{3, 5});
}

TEST_CASE("SendingRepState: a part that found no room is owed again without a packet",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(3);
    const SentVersions record = state.send(5);
    state.return_unsent(record);
    CHECK(state.in_flight == 1);
    CHECK(state.lost() == VersionInterval{3, 5});
    state.delivered();
    CHECK_FALSE(state.is_exact());
}

TEST_CASE("SendingRepState: a skip comes to rest without a packet",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(3);
    state.skip(5);
    CHECK_FALSE(state.owes_any(5));
    CHECK(state.is_exact());
    CHECK(state.held_version() == 5);
}

TEST_CASE("SendingRepState: a skip leaves to packets in flight what they carry",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(3);
    const SentVersions record = state.send(4);
    state.skip(5);
    CHECK_FALSE(state.is_exact());
    state.lose(record);
    CHECK(state.owes(4));
    CHECK_FALSE(state.owes(5));
}

TEST_CASE("SendingRepState: with a lost open everything sent is owed again",
          "[replayout][sending_rep_state]") {
    SendingRepState state;
    (void)state.send(2);
    (void)state.send(6);
    state.lose_everything();
    CHECK(state.lost() == VersionInterval{0, 6});
    // What was dropped is reported as delivered all the same.
    state.delivered();
    state.delivered();
    CHECK(state.owes(1));
    CHECK(state.owes(6));
    CHECK_FALSE(state.is_exact());
}

TEST_CASE("SendingRepState: a lost open takes nothing from a receiver that was sent nothing",
          "[replayout][sending_rep_state]") {
    SendingRepState state;
    state.lose_everything();
    CHECK(state.is_exact());
    CHECK_FALSE(state.owes_any(0));
}

TEST_CASE("SendingRepState: a reopened one owes all that ever changed, and holds no version",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(4);
    state.reopen(6);
    CHECK_FALSE(state.owes(0));
    CHECK(state.owes(1));
    CHECK(state.owes(6));
    CHECK_FALSE(state.is_exact());
    CHECK(state.held_version() == 0);

    (void)state.send(6);
    CHECK_FALSE(state.owes_any(6));
    state.delivered();
    CHECK(state.held_version() == 6);
}

TEST_CASE("SendingRepState: a reopened one that never changed holds the archetype",
          "[replayout][sending_rep_state]") {
    SendingRepState state;
    state.reopen(0);
    CHECK(state.is_exact());
    CHECK_FALSE(state.owes_any(0));
}

TEST_CASE("SendingRepState: a condition that turns true owes what changed while it hid",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(3);
    const Version last_active = state.held_version();
    state.skip(5);
    state.activate_condition(last_active);
    CHECK_FALSE(state.owes(3));
    CHECK(state.owes(4));
    CHECK(state.owes(5));
    CHECK_FALSE(state.is_exact());
}

TEST_CASE("SendingRepState: a condition that hid nothing new owes nothing",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(3);
    state.activate_condition(state.held_version());
    CHECK(state.is_exact());
    CHECK_FALSE(state.owes_any(3));
}

TEST_CASE("SendingRepState: a condition that turned false while packets flew owes everything",
          "[replayout][sending_rep_state]") {
    SendingRepState state;
    const SentVersions record = state.send(3);
    const Version last_active = state.held_version();
    state.lose(record);
    (void)state.send(4);  // without the hidden properties
    state.delivered();
    state.activate_condition(last_active);
    CHECK(state.lost() == VersionInterval{0, 4});
}

TEST_CASE("SendingRepState: a condition cannot have been active after what was sent",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_sent(3);
    state.activate_condition(7);
    CHECK(state.lost().is_empty());
}

/// A state that was sent everything up to `sent` and lost `lost`.
SendingRepState state_lost(Version sent, VersionInterval lost) {
    SendingRepState state = state_sent(sent);
    state.return_unsent({lost, {}});
    return state;
}

TEST_CASE("SendingRepState: a pair takes twelve bytes", "[replayout][sending_rep_state]") {
    CHECK(sizeof(SendingRepState) == 12);
}

TEST_CASE("SendingRepState: what was lost is kept as it is, up to 65,534 versions back",
          "[replayout][sending_rep_state]") {
    constexpr Version sent = 1'000'000;
    for (const VersionInterval lost :
         {VersionInterval{sent - 65'534, sent - 65'533}, VersionInterval{sent - 65'534, sent},
          VersionInterval{sent - 1, sent}}) {
        const SendingRepState state = state_lost(sent, lost);
        CHECK(state.lost() == lost);
        CHECK_FALSE(state.is_exact());
    }
}

TEST_CASE("SendingRepState: what was lost further back is widened, and never narrowed",
          "[replayout][sending_rep_state]") {
    constexpr Version sent = 1'000'000;
    CHECK(state_lost(sent, {sent - 65'535, sent - 5}).lost() == VersionInterval{0, sent - 5});
    CHECK(state_lost(sent, {sent - 65'536, sent - 65'534}).lost() ==
          VersionInterval{0, sent - 65'534});
    CHECK(state_lost(sent, {sent - 65'536, sent - 65'535}).lost() ==
          VersionInterval{0, sent - 65'535});
    CHECK(state_lost(sent, {sent - 65'537, sent - 65'536}).lost() ==
          VersionInterval{0, sent - 65'535});
    CHECK(state_lost(sent, {0, 1}).lost() == VersionInterval{0, sent - 65'535});
    CHECK(state_lost(sent, {0, sent}).lost() == VersionInterval{0, sent});
}

TEST_CASE("SendingRepState: in the first 65,535 versions of an object nothing is widened",
          "[replayout][sending_rep_state]") {
    for (const Version sent : {Version{65'534}, Version{65'535}}) {
        CHECK(state_lost(sent, {0, 1}).lost() == VersionInterval{0, 1});
        CHECK(state_lost(sent, {1, 2}).lost() == VersionInterval{1, 2});
        CHECK(state_lost(sent, {0, sent}).lost() == VersionInterval{0, sent});
    }
    CHECK(state_lost(65'536, {1, 2}).lost() == VersionInterval{0, 2});
}

TEST_CASE("SendingRepState: what was widened goes out whole, and a second loss gives it back",
          "[replayout][sending_rep_state]") {
    SendingRepState state = state_lost(200'000, {7, 9});
    CHECK(state.lost() == VersionInterval{0, 134'465});
    const SentVersions record = state.send(200'001);
    CHECK(record.lost == VersionInterval{0, 134'465});
    CHECK_FALSE(state.owes_any(200'001));
    state.lose(record);
    CHECK(state.lost() == VersionInterval{0, 200'001});
    (void)state.send(200'002);
    state.delivered();
    CHECK(state.is_exact());
}

/// The same rules with whole versions: what SendingRepState must owe at least.
struct WideState {
    Version sent_version = 0;
    VersionInterval lost;
};

TEST_CASE("SendingRepState: around 65,535 it owes what whole versions owe, or more",
          "[replayout][sending_rep_state]") {
    const std::uint64_t seed = run_seed();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t count) { return static_cast<Version>(random() % count); };
    std::uint64_t widened_count = 0;
    for (int run = 0; run < 2'000; ++run) {
        SendingRepState state;
        WideState wide;
        for (int step = 0; step < 20; ++step) {
            if (below(3) == 0) {
                const Version version = wide.sent_version + below(below(2) == 0 ? 3 : 70'000);
                const SentVersions record = state.take_owed(version);
                REQUIRE(record.sent == VersionInterval{wide.sent_version, version});
                wide = {version, {}};
            } else if (wide.sent_version > 0) {
                // Near the edge more often than not.
                const Version end = wide.sent_version;
                const Version back = std::min(end, 65'530 + below(10));
                const Version through = below(2) == 0 ? 1 + below(end) : end - back + 1;
                const Version after = through - 1 - below(std::min<Version>(through, 4));
                state.return_unsent({{after, through}, {}});
                wide.lost = hull(wide.lost, {after, through});
            }
            const VersionInterval lost = state.lost();
            REQUIRE(state.sent_version == wide.sent_version);
            REQUIRE(lost.is_empty() == wide.lost.is_empty());
            REQUIRE(lost.through <= wide.sent_version);
            REQUIRE(state.is_exact() == wide.lost.is_empty());
            if (!lost.is_empty()) {
                REQUIRE(lost.after <= wide.lost.after);
                REQUIRE(lost.through >= wide.lost.through);
                const bool fits = wide.sent_version - wide.lost.after < 65'535;
                REQUIRE((!fits || lost == wide.lost));
                widened_count += lost == wide.lost ? 0u : 1u;
            }
        }
    }
    CHECK(widened_count > 1'000);
}

// The rules hold in constant expressions too, where nothing undefined goes unnoticed.
static_assert([] {
    SendingRepState state;
    const SentVersions record = state.send(1);
    state.lose(record);
    (void)state.send(2);
    state.delivered();
    return state.is_exact() && state.sent_version == 2;
}());

}  // namespace
}  // namespace replayout
