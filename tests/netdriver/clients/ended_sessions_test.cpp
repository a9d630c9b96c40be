// SPDX-License-Identifier: MIT
#include "ended_sessions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

constexpr PeerId ended_peer{7};
const ArrivalCredit full{32};

[[nodiscard]] EndedSessions room_for(std::size_t count) {
    return {count, std::pmr::new_delete_resource()};
}

}  // namespace

TEST_CASE("EndedSessions: one is known by its peer and its number, both",
          "[netdriver][ended_sessions]") {
    EndedSessions ended = room_for(4);
    ended.add(ended_peer, 500, {}, full);
    for (const PeerId other : {PeerId{6}, ended_peer, PeerId{8}}) {
        for (const std::uint32_t session : {0u, 499u, 500u, 501u, 65'535u}) {
            INFO("peer " << other.value << ", session " << session);
            CHECK(ended.contains(other, static_cast<std::uint16_t>(session)) ==
                  (other == ended_peer && session == 500));
        }
        CHECK(ended.contains(other) == (other == ended_peer));
    }
}

TEST_CASE("EndedSessions: where there is no more room the oldest makes it",
          "[netdriver][ended_sessions]") {
    EndedSessions ended = room_for(3);
    for (std::uint16_t peer = 1; peer <= 10; ++peer) {
        ended.add(PeerId{peer}, 5, {}, full);
        for (std::uint16_t earlier = 1; earlier <= peer; ++earlier) {
            INFO("peer " << earlier << " after " << peer);
            CHECK(ended.contains(PeerId{earlier}, 5) == (earlier + 3 > peer));
        }
    }
}

TEST_CASE("EndedSessions: a peer that ends many makes room for them itself",
          "[netdriver][ended_sessions]") {
    EndedSessions ended = room_for(3);
    ended.add(PeerId{1}, 1, {}, full);
    ended.add(PeerId{2}, 1, {}, full);
    for (std::uint16_t session = 1; session <= 40; ++session) {
        ended.add(ended_peer, session, {}, full);
        for (std::uint16_t earlier = 1; earlier <= session; ++earlier) {
            INFO("session " << earlier << " after " << session);
            CHECK(ended.contains(ended_peer, earlier) ==
                  (earlier + EndedSessions::sessions_max > session));
        }
        CHECK(ended.count(ended_peer) ==
              std::min<std::size_t>(session, EndedSessions::sessions_max));
    }
    CHECK(ended.contains(PeerId{1}, 1));
    CHECK(ended.contains(PeerId{2}, 1));
    ended.add(PeerId{3}, 1, {}, full);
    CHECK_FALSE(ended.contains(PeerId{1}));
    CHECK(ended.count(ended_peer) == EndedSessions::sessions_max);
}

TEST_CASE("EndedSessions: as many peers as there is room for are each held to their sessions",
          "[netdriver][ended_sessions]") {
    constexpr std::uint64_t peer_count = 1'088;
    EndedSessions ended = room_for(peer_count);
    for (std::uint16_t session = 1; session <= EndedSessions::sessions_max; ++session) {
        for (std::uint64_t peer = 1; peer <= peer_count; ++peer) {
            ended.add(PeerId{peer}, session, {session}, full);
        }
    }
    for (std::uint64_t peer = 1; peer <= peer_count; ++peer) {
        REQUIRE(ended.count(PeerId{peer}) == EndedSessions::sessions_max);
    }
}

TEST_CASE("EndedSessions: one that ends again drives out no other", "[netdriver][ended_sessions]") {
    EndedSessions ended = room_for(2);
    ended.add(ended_peer, 1, {}, full);
    for (int i = 0; i < 5; ++i) {
        ended.add(ended_peer, 2, {}, full);
    }
    CHECK(ended.contains(ended_peer, 1));
    CHECK(ended.contains(ended_peer, 2));
}

TEST_CASE("EndedSessions: what ended before a time is forgotten, and nothing that ended then",
          "[netdriver][ended_sessions]") {
    EndedSessions ended = room_for(8);
    ended.add(ended_peer, 1, {100}, full);
    ended.add(ended_peer, 2, {200}, full);
    ended.add(ended_peer, 3, {200}, full);
    ended.add(ended_peer, 4, {300}, full);
    ended.forget_before({200});
    CHECK_FALSE(ended.contains(ended_peer, 1));
    CHECK(ended.contains(ended_peer, 2));
    CHECK(ended.contains(ended_peer, 3));
    CHECK(ended.contains(ended_peer, 4));
    ended.forget_before({201});
    CHECK_FALSE(ended.contains(ended_peer, 2));
    CHECK_FALSE(ended.contains(ended_peer, 3));
    CHECK(ended.contains(ended_peer, 4));
    ended.forget_before({301});
    CHECK_FALSE(ended.contains(ended_peer));
}

}  // namespace replayout::test
