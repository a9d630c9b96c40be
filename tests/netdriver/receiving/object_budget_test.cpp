// SPDX-License-Identifier: MIT
//
// What one packet may cost a client, to the last step: opens and closes of an object that many
// references name, blocks, and messages, which bring what they cost with them.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

// A packet has 1,000,000 steps. To bind 1,465 references of one object to another one takes 1 step,
// 16 for each reference, and a quarter for each look, at a reference or at the id. The bunch that
// brings the object takes one more.
constexpr std::uint32_t reference_count = 1'465;
constexpr std::uint32_t binding_steps = 1 + 1 + 16 * reference_count + (reference_count + 1) / 4;
constexpr std::uint32_t binding_count = 42;
constexpr std::uint32_t steps_left = 1'000'000 - binding_count * binding_steps;
static_assert(steps_left < 200);

constexpr std::uint64_t target = 120;

/// A client with a pawn on channel 1 whose friends are all the same object, which is not there.
struct ReferringClient {
    explicit ReferringClient(const NetConfig& config = {}) : server(config) {
        server.welcome_with_pawn();
        server.deliver_packet({}, block_of(1, pawn_block({friends_handle}, [](BitWriter& writer) {
                                               writer.write_packed_uint(reference_count);
                                               ChangeMask all;
                                               all.reset(reference_count);
                                               all.set_range(0, reference_count);
                                               write_change_mask(writer, all, EmptySet::Possible);
                                               for (std::uint32_t i = 0; i < reference_count; ++i) {
                                                   writer.write_packed_uint(target);
                                               }
                                           })));
        REQUIRE(server.is_joined());
    }

    /// Bunches that leave so many of a packet's steps, or take more than there are: the object
    /// comes and goes, 21 times. Before that come bunches that were there already, at a step each.
    [[nodiscard]] static std::vector<Bunch> bunches_that_leave(int steps) {
        std::vector<Bunch> bunches(static_cast<std::size_t>(static_cast<int>(steps_left) - steps),
                                   control_bunch(1, Bytes()));
        for (std::uint32_t i = 0; i < binding_count; i += 2) {
            bunches.push_back(open_bunch(2, NetGUID{target}, TestSchema::pawn_number));
            bunches.push_back(close_bunch(2, 2));
        }
        return bunches;
    }

    ForgedServer server;
};

}  // namespace

TEST_CASE("Object budget: opens and closes take each what they bind, as long as a step is left",
          "[netdriver][hostile][object_budget]") {
    for (const int left : {1, 0, -1}) {
        INFO("steps left " << left);
        ReferringClient fixture;
        fixture.server.deliver_packet(ReferringClient::bunches_that_leave(left));
        CHECK(fixture.server.is_joined());
        CHECK(fixture.server.driver().stats().channels_opened == 1 + binding_count / 2);
    }
    // To set what it comes to takes the last step, and so nothing is left for what goes.
    for (const int left : {3, 2}) {
        INFO("steps left " << left);
        ReferringClient fixture;
        std::vector<Bunch> bunches = ReferringClient::bunches_that_leave(left);
        bunches.push_back(open_bunch(2, NetGUID{target}, TestSchema::pawn_number));
        bunches.push_back(close_bunch(2, 2));
        fixture.server.deliver_packet(bunches);
        CHECK(fixture.server.driver().close_reason() == CloseReason::MalformedBunch);
    }
}

TEST_CASE("Object budget: references to what comes when it is spent are set with the next packet",
          "[netdriver][object_budget]") {
    for (const int left : {2, 1}) {
        INFO("steps left " << left);
        ReferringClient fixture;
        std::vector<Bunch> bunches = ReferringClient::bunches_that_leave(left);
        bunches.push_back(open_bunch(2, NetGUID{target}, TestSchema::pawn_number));
        fixture.server.deliver_packet(bunches);
        REQUIRE(fixture.server.is_joined());
        const ObjectHandle came = fixture.server.object_on(static_cast<std::uint32_t>(target));
        REQUIRE_FALSE(came.is_null());
        const Pawn& pawn = fixture.server.world().pawn(fixture.server.object_on(1));
        const auto count_set = [&] {
            return std::count(pawn.friends.begin(), pawn.friends.end(), came);
        };
        CHECK(count_set() == (left == 2 ? reference_count : 0));
        fixture.server.deliver_packet({});
        CHECK(count_set() == reference_count);
        CHECK(fixture.server.is_joined());
    }
}

TEST_CASE("Object budget: each block takes a step of its packet's, if it is passed over, too",
          "[netdriver][hostile][object_budget]") {
    for (const int left : {2, 1, 0}) {
        INFO("steps left " << left);
        ReferringClient fixture;
        const Bytes block = block_with_length_of(9, Bytes());
        Bytes blocks = block;
        blocks.insert(blocks.end(), block.begin(), block.end());
        fixture.server.deliver_packet(ReferringClient::bunches_that_leave(left), blocks);
        CHECK(fixture.server.driver().close_reason() ==
              (left >= 2 ? CloseReason::None : CloseReason::MalformedBlock));
        CHECK(fixture.server.driver().stats().blocks_skipped == static_cast<std::uint64_t>(left));
    }
}

TEST_CASE("Object budget: a message brings the steps that it takes", "[netdriver][object_budget]") {
    ReferringClient fixture;
    std::vector<Bunch> bunches = ReferringClient::bunches_that_leave(1);
    bunches.push_back(value_bunch(1, 2, health_block(5)));
    fixture.server.deliver_packet(bunches);
    REQUIRE(fixture.server.is_joined());
    CHECK(fixture.server.world().pawn(fixture.server.object_on(1)).health == 5);
    // A block does not.
    fixture.server.deliver_packet(ReferringClient::bunches_that_leave(1),
                                  block_of(1, health_block(6)));
    CHECK(fixture.server.driver().close_reason() == CloseReason::MalformedBlock);
}

TEST_CASE("Object budget: messages that waited bring the memory that they ask for",
          "[netdriver][object_budget]") {
    NetConfig config;
    config.bunch_bytes_max = 1'200;
    config.decode_allocation_bytes_max = 4 * config.bunch_bytes_max;
    constexpr std::uint16_t count = 8;
    const std::string text(1'000, 'x');
    ForgedServer server(config);
    server.welcome_with_pawn();
    // All at once when the first of them comes, which comes last; 8,000 bytes, and a packet has
    // 4,800.
    for (std::uint16_t i = count; i > 0; --i) {
        server.deliver_packet({value_bunch(1, static_cast<std::uint16_t>(i + 1),
                                           pawn_block({name_handle}, [&](BitWriter& writer) {
                                               write_text(writer, text + std::to_string(i));
                                           }))});
    }
    REQUIRE(server.is_joined());
    CHECK(server.world().pawn(server.object_on(1)).name == text + std::to_string(count));
}

}  // namespace replayout::test
