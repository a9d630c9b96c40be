// SPDX-License-Identifier: MIT
//
// Regular pairs: what all of them are owed is laid down once, and copied into everybody's packets.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/call_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {

namespace {

/// Pawns that every client has and that have rested since, so that all pairs are regular.
class RegularCrowd {
  public:
    static constexpr std::uint32_t client_count = 4;

    explicit RegularCrowd(std::uint32_t count, const NetFixtureOptions& options = {})
        : net(options) {
        for (std::uint32_t i = 0; i < count; ++i) {
            pawns.push_back(net.add_pawn());
        }
        for (std::uint32_t i = 0; i < client_count; ++i) {
            net.join();
        }
        REQUIRE(net.settle());
        change_all();  // it goes pair by pair, and they are regular afterwards
        net.tick(4);
    }

    void change_all() {
        for (const ObjectHandle pawn : pawns) {
            ++net.pawn(pawn).health;
        }
    }

    [[nodiscard]] const ReplicationCounters& counters() {
        return net.server_driver().stats().replication;
    }

    void check_clients() {
        for (std::uint32_t i = 0; i < client_count; ++i) {
            CHECK(net.client_text(i) == net.server_text());
        }
    }

    NetFixture net;
    std::vector<ObjectHandle> pawns;
};

/// What `act` and the tick after it add to the counters.
struct Added {
    std::uint64_t blocks = 0;
    std::uint64_t reused = 0;
    std::uint64_t built = 0;
    std::uint64_t bundles = 0;
    std::uint64_t copies = 0;
    std::uint64_t calls = 0;
};

Added added_by_tick(RegularCrowd& crowd, const std::function<void()>& act) {
    const ReplicationCounters before = crowd.counters();
    crowd.net.tick(act);
    const ReplicationCounters& after = crowd.counters();
    return {after.blocks_sent - before.blocks_sent,
            after.payloads_reused - before.payloads_reused,
            after.payloads_built - before.payloads_built,
            after.bundles_built - before.bundles_built,
            after.bundles_copied - before.bundles_copied,
            after.values_encoded - before.values_encoded};
}

}  // namespace

TEST_CASE("Bundles: what changed is laid down once, and copied whole for every client",
          "[netdriver][bundles]") {
    RegularCrowd crowd(10);
    const Added added = added_by_tick(crowd, [&] { crowd.change_all(); });
    CHECK(added.bundles == 1);
    CHECK(added.copies == RegularCrowd::client_count);
    CHECK(added.built == 10);
    CHECK(added.blocks == 10 * RegularCrowd::client_count);
    CHECK(added.reused == 10 * (RegularCrowd::client_count - 1));
    CHECK(added.calls == 10);
    REQUIRE(crowd.net.settle());
    crowd.check_clients();
}

TEST_CASE("Bundles: more than a packet or 64 objects are several", "[netdriver][bundles]") {
    RegularCrowd crowd(300);
    const Added added = added_by_tick(crowd, [&] { crowd.change_all(); });
    CHECK(added.bundles >= 300 / 64 + 1);
    CHECK(added.copies ==
          added.bundles * RegularCrowd::client_count);  // none is cut between two packets
    CHECK(added.reused == 300 * (RegularCrowd::client_count - 1));
    REQUIRE(crowd.net.settle());
    crowd.check_clients();
}

TEST_CASE("Bundles: of small blocks several are a packet, which arrives or is lost as one",
          "[netdriver][bundles]") {
    constexpr std::uint32_t count = 600;
    for (const int lost : {-1, 0, 1, 2}) {  // of the packets of the first client
        INFO("lost: " << lost);
        RegularCrowd crowd(count);
        int sent_count = 0;
        std::vector<std::size_t> sizes;
        crowd.net.server().transport.set_script([&](Bytes& datagram) {
            sizes.push_back(datagram.size());
            return sent_count++ != lost;
        });
        const NetStats before = crowd.net.server_driver().stats();
        const Added added = added_by_tick(crowd, [&] { crowd.change_all(); });
        crowd.net.server().transport.set_script({});
        REQUIRE(sizes.size() >= 3 * RegularCrowd::client_count);
        CHECK(sizes.size() < added.bundles * RegularCrowd::client_count);
        CHECK(sizes.front() > 1'100);  // it is full, and 64 blocks are not
        CHECK(added.copies == added.bundles * RegularCrowd::client_count);
        REQUIRE(crowd.net.settle());
        const NetStats& after = crowd.net.server_driver().stats();
        const std::uint64_t records_lost = after.records_lost - before.records_lost;
        CHECK((lost < 0 ? records_lost == 0 : records_lost > 64));
        CHECK(after.records_sent - before.records_sent ==
              count * RegularCrowd::client_count + records_lost);
        crowd.check_clients();
    }
}

TEST_CASE("Bundles: what one client lost goes to it alone, and all others go on copying",
          "[netdriver][bundles]") {
    RegularCrowd crowd(10);
    int sent_count = 0;  // the first client's packet is the first
    crowd.net.server().transport.set_script([&](Bytes&) { return sent_count++ != 0; });
    (void)added_by_tick(crowd, [&] {
        crowd.change_all();
        for (const ObjectHandle pawn : crowd.pawns) {
            crowd.net.pawn(pawn).name = "Ann";  // which does not change again
        }
    });
    crowd.net.server().transport.set_script({});
    bool has_gone_alone = false;
    for (int tick = 0; tick < 20; ++tick) {
        const Added added = added_by_tick(crowd, [&] { crowd.change_all(); });
        CHECK(added.copies >= RegularCrowd::client_count - 1);
        CHECK(added.blocks == 10 * RegularCrowd::client_count);
        has_gone_alone = has_gone_alone || added.copies == RegularCrowd::client_count - 1;
    }
    CHECK(has_gone_alone);
    const Added added = added_by_tick(crowd, [&] { crowd.change_all(); });
    CHECK(added.copies ==
          RegularCrowd::client_count);  // what was lost has been sent: it is regular again
    REQUIRE(crowd.net.settle());
    crowd.check_clients();
}

namespace {

[[nodiscard]] NetFixtureOptions capped_options(std::uint32_t bytes_per_second) {
    NetFixtureOptions options;
    options.server.bytes_per_second_max = bytes_per_second;
    return options;
}

/// What a server sends, while as many pawns change as find room under its cap, or more: several
/// packets in each tick, some of which are lost.
[[nodiscard]] std::vector<Datagram> played_with_loss(SharingLevel sharing,
                                                     std::uint32_t bytes_per_second) {
    NetFixtureOptions options = capped_options(bytes_per_second);
    options.sharing = sharing;
    options.link.loss = 0.1;
    RegularCrowd crowd(200, options);
    crowd.net.server().transport.is_recording = true;
    for (std::size_t tick = 0; tick < 200; ++tick) {
        crowd.net.tick([&] {
            const std::size_t count = tick % 50 < 25 ? 15 : 150;
            for (std::size_t i = 0; i < count; ++i) {
                crowd.net.pawn(crowd.pawns[(tick * 7 + i) % 200]).name =
                    "name of tick " + std::to_string(tick) + std::string(i % 40, 'x');
            }
        });
    }
    REQUIRE(crowd.net.settle());
    crowd.check_clients();
    return crowd.net.server().transport.sent;
}

}  // namespace

TEST_CASE("Bundles: who has a cap copies them while all that changed finds room",
          "[netdriver][bundles][bandwidth]") {
    RegularCrowd crowd(40, capped_options(100'000));
    const Added calm = added_by_tick(crowd, [&] { crowd.change_all(); });
    CHECK(calm.copies >= RegularCrowd::client_count);
    CHECK(calm.reused == 40 * (RegularCrowd::client_count - 1));
    for (std::uint32_t i = 0; i < RegularCrowd::client_count; ++i) {
        crowd.net.server_driver().rates().set_bytes_per_second_max(NetFixture::client_peer(i),
                                                                   2'000);
    }
    for (int tick = 0; tick < 100; ++tick) {
        crowd.net.tick([&] { crowd.change_all(); });
    }
    const Added pressed = added_by_tick(crowd, [&] { crowd.change_all(); });
    CHECK(pressed.copies == 0);
    for (std::uint32_t i = 0; i < RegularCrowd::client_count; ++i) {
        crowd.net.server_driver().rates().set_bytes_per_second_max(NetFixture::client_peer(i),
                                                                   100'000);
    }
    REQUIRE(crowd.net.settle());
    for (int tick = 0; tick < 1'000; ++tick) {  // it goes back a step in four periods
        crowd.net.tick([&] { crowd.change_all(); });
    }
    const Added calm_again = added_by_tick(crowd, [&] { crowd.change_all(); });
    CHECK(calm_again.copies >= RegularCrowd::client_count);
    REQUIRE(crowd.net.settle());
    crowd.check_clients();
}

TEST_CASE("Bundles: they change no packet, under a cap or without, whatever is lost",
          "[netdriver][bundles][bandwidth]") {
    const std::uint32_t cap = GENERATE(0u, 8'000u, 30'000u, 200'000u);
    const std::vector<Datagram> alone = played_with_loss(SharingLevel::Off, cap);
    for (const SharingLevel sharing :
         {SharingLevel::Pieces, SharingLevel::Payloads, SharingLevel::Bundles}) {
        const std::vector<Datagram> sent = played_with_loss(sharing, cap);
        REQUIRE(sent.size() == alone.size());
        for (std::size_t i = 0; i < sent.size(); ++i) {
            REQUIRE(sent[i].bytes == alone[i].bytes);
        }
    }
}

TEST_CASE("Bundles: who does not see an object copies those around it", "[netdriver][bundles]") {
    RegularCrowd crowd(10);
    const PeerId blind = NetFixture::client_peer(1);
    crowd.net.server_driver().interest().set_relevant_for(blind, crowd.net.id_of(crowd.pawns[4]),
                                                          false);
    REQUIRE(crowd.net.settle());
    const Added added = added_by_tick(crowd, [&] { crowd.change_all(); });
    CHECK(added.copies == RegularCrowd::client_count);
    CHECK(added.blocks == 10 * RegularCrowd::client_count - 1);
    CHECK(added.reused == 10 * (RegularCrowd::client_count - 1) - 1);
    REQUIRE(crowd.net.settle());
    CHECK(crowd.net.find_on(1, crowd.pawns[4]).is_null());
}

TEST_CASE("Bundles: an object that is too large for a packet goes its own way, then is regular",
          "[netdriver][bundles]") {
    RegularCrowd crowd(10);
    const Added large = added_by_tick(crowd, [&] {
        crowd.change_all();
        crowd.net.pawn(crowd.pawns[3]).hits.resize(300);
    });
    CHECK(large.blocks > 10 * RegularCrowd::client_count);
    CHECK(large.copies == RegularCrowd::client_count);
    REQUIRE(crowd.net.settle());
    (void)added_by_tick(crowd, [&] { crowd.change_all(); });
    const Added added = added_by_tick(crowd, [&] { crowd.change_all(); });
    CHECK(added.blocks == 10 * RegularCrowd::client_count);
    CHECK(added.reused == 10 * (RegularCrowd::client_count - 1));
    REQUIRE(crowd.net.settle());
    crowd.check_clients();
}

TEST_CASE("Bundles: blocks are looked at one by one only of objects that a reliable call meant",
          "[netdriver][bundles]") {
    constexpr std::size_t client_count = 2;
    CallFixture net;
    for (std::size_t client = 0; client < client_count; ++client) {
        net.join();
    }
    REQUIRE(net.settle());
    std::vector<ObjectHandle> turrets = add_many(10, [&] { return net.add(); });
    REQUIRE(net.settle());
    const auto accounted_in = [&](std::uint32_t ticks) {
        const auto accounted = [&] {
            return net.server().driver.stats().replication.blocks_accounted;
        };
        const std::uint64_t before = accounted();
        for (std::uint32_t i = 0; i < ticks; ++i) {
            net.tick([&] {
                for (const ObjectHandle turret : turrets) {
                    ++net.turret(turret).power;
                }
            });
        }
        return accounted() - before;
    };
    CHECK(accounted_in(20) == 0);
    net.tick([&] { CHECK(net.call(turrets[3], "multicast_boom", Order{}) == CallResult::Sent); });
    (void)accounted_in(20);
    CHECK(accounted_in(20) == 20 * client_count * 2);  // of one turret: sent, and delivered
}

TEST_CASE("Bundles: lower levels of sharing build none and count what they do",
          "[netdriver][bundles]") {
    NetFixtureOptions options;
    options.sharing = SharingLevel::Payloads;
    RegularCrowd payloads(10, options);
    const Added by_payload = added_by_tick(payloads, [&] { payloads.change_all(); });
    CHECK(by_payload.bundles == 0);
    CHECK(by_payload.copies == 0);
    CHECK(by_payload.built == 10);
    CHECK(by_payload.reused == 10 * (RegularCrowd::client_count - 1));
    options.sharing = SharingLevel::Pieces;
    RegularCrowd pieces(10, options);
    const Added by_piece = added_by_tick(pieces, [&] { pieces.change_all(); });
    CHECK(by_piece.built == 0);
    CHECK(by_piece.reused == 0);
    CHECK(by_piece.calls == 10);
    options.sharing = SharingLevel::Off;
    RegularCrowd off(10, options);
    const Added alone = added_by_tick(off, [&] { off.change_all(); });
    CHECK(alone.built == 0);
    CHECK(alone.calls == 10 * RegularCrowd::client_count);
    CHECK(alone.blocks == 10 * RegularCrowd::client_count);
}

TEST_CASE("Bundles: a client that leaves lets go of what it holds", "[netdriver][bundles]") {
    RegularCrowd crowd(10);
    (void)added_by_tick(crowd, [&] { crowd.change_all(); });
    const auto held_bytes = [&] {
        const MemoryReport report = crowd.net.server_driver().memory_report();
        return report.in_flight_bytes + report.bundle_bytes;
    };
    const std::size_t held = held_bytes();
    crowd.net.server_driver().disconnect(NetFixture::client_peer(2));
    for (int tick = 0; tick < 200; ++tick) {
        crowd.net.tick([&] { crowd.change_all(); });
    }
    CHECK(crowd.net.server_driver().connection_count() == RegularCrowd::client_count - 1);
    CHECK(held_bytes() <= held);
}

TEST_CASE("Bundles: a client that leaves minds nothing that takes the place of what it had",
          "[netdriver][bundles]") {
    RegularCrowd crowd(10);
    crowd.net.server_driver().disconnect(NetFixture::client_peer(2));
    crowd.net.remove(crowd.pawns[3]);
    const ObjectHandle heir = crowd.net.add_pawn();
    crowd.net.server_driver().set_owner(crowd.net.id_of(heir), NetFixture::client_peer(1));
    crowd.pawns[3] = heir;
    for (int tick = 0; tick < 100; ++tick) {
        crowd.net.tick([&] { crowd.change_all(); });
    }
    crowd.net.tick(20);
    CHECK(crowd.net.client_text(0) == crowd.net.server_text());
    CHECK(crowd.net.client_text(1) == crowd.net.server_text());
}

}  // namespace replayout::test
