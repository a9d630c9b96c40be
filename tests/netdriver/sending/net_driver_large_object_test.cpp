// SPDX-License-Identifier: MIT
//
// What does not fit: an object larger than a packet, a value larger than a packet, a value larger
// than anything, and a world larger than a round trip.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/class_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

/// Text that a wrong cut would show in.
[[nodiscard]] std::string text_of_size(std::size_t size, std::uint32_t salt = 0) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = static_cast<char>('a' + (i * 7 + i / 26 + salt) % 26);
    }
    return text;
}

void fill_pages(Archive& archive, std::size_t page_bytes, std::uint32_t salt = 0) {
    for (std::string& page : archive.pages) {
        page = text_of_size(page_bytes, salt++);
    }
}

/// Loses the datagrams of the server whose number, from now on, is among these.
void lose(NetFixture& net, std::vector<std::uint32_t> numbers) {
    std::uint32_t number = 0;
    net.server().transport.set_script([=](Bytes&) mutable {
        return std::find(numbers.begin(), numbers.end(), number++) == numbers.end();
    });
}

/// Of the next `count` datagrams of the server loses those whose bits are set.
void lose_by_bits(NetFixture& net, unsigned bits, unsigned count) {
    unsigned number = 0;
    net.server().transport.set_script(
        [=](Bytes&) mutable { return number >= count || ((bits >> number++) & 1) == 0; });
}

/// Begins with an archive that the only client has.
struct ArchiveNet : NetFixture {
    explicit ArchiveNet(std::uint32_t latency_ms = 0) : NetFixture(with_latency(latency_ms)) {
        join_settled();
    }
    [[nodiscard]] Archive& own() { return archive(object); }
    [[nodiscard]] Archive& shown() { return archive_on(0, object); }
    void require_equal() {
        REQUIRE(settle());
        REQUIRE(client_text(0) == server_text());
    }
    [[nodiscard]] static NetFixtureOptions with_latency(std::uint32_t latency_ms) {
        NetFixtureOptions options;
        options.link.latency_ms = latency_ms;
        return options;
    }

    ObjectHandle object = add_archive();
};

/// What that client sends arrives late: its acknowledgements, too.
void slow_down(NetFixture& net, std::size_t client) {
    LinkSettings slow;
    slow.latency_ms = 200;
    net.network().set_settings(NetFixture::client_peer(client), NetFixture::server_peer, slow);
}

/// Two clients end right after `play`, and are sent the same with sharing and without.
void check_same_to_two_clients(const std::function<void(NetFixture&)>& play) {
    std::vector<Datagram> sent[2];
    for (const bool is_sharing : {true, false}) {
        NetFixtureOptions options;
        options.sharing = sharing_level(is_sharing);
        NetFixture net(options);
        net.server().transport.is_recording = true;
        net.join_settled(2);
        play(net);
        REQUIRE(net.settle());
        REQUIRE(net.client_text(0) == net.server_text());
        REQUIRE(net.client_text(1) == net.server_text());
        sent[is_sharing ? 1 : 0] = std::move(net.server().transport.sent);
    }
    REQUIRE(sent[0] == sent[1]);
}

struct Library {
    std::vector<std::string> books;
    std::uint32_t visitors = 0;
};

[[nodiscard]] Result<const Type*> build_library(TypeRegistry& registry) {
    return class_builder<Library>(registry, "Library")
        .property<&Library::books>()
        .property<&Library::visitors>()
        .build();
}

}  // namespace

TEST_CASE("NetDriver: an object larger than a packet arrives in parts", "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle archive = net.add_archive();
    fill_pages(net.archive(archive), 900);
    net.archive(archive).counter = 7;
    net.join_settled();
    CHECK(net.server_driver().stats().records_sent == 8);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: of an object in parts only the part that was lost is sent again",
          "[netdriver][net_driver]") {
    constexpr std::size_t page_bytes = 900;
    ArchiveNet net;
    fill_pages(net.own(), page_bytes);
    const ReplicationCounters before = net.server_driver().stats().replication;
    lose(net, {2});
    REQUIRE(net.settle());
    const ReplicationCounters after = net.server_driver().stats().replication;
    CHECK(net.client_text(0) == net.server_text());
    CHECK(after.properties_sent - before.properties_sent == 8 + 1);
    constexpr std::size_t overhead_bytes = 10;
    CHECK(after.block_bytes_sent - before.block_bytes_sent < 9 * (page_bytes + overhead_bytes));
}

TEST_CASE("NetDriver: whichever parts are lost, the object ends right", "[netdriver][net_driver]") {
    for (unsigned lost = 0; lost < 256; ++lost) {
        INFO("lost " << lost);
        ArchiveNet net;
        lose_by_bits(net, lost, 8);
        fill_pages(net.own(), 900);
        net.tick();
        net.own().pages[3] = "short";
        net.own().counter = 9;
        net.tick();
        net.own().pages[5] = text_of_size(1'000, 5);
        net.require_equal();
    }
}

TEST_CASE("NetDriver: an array larger than a packet is cut between elements",
          "[netdriver][net_driver]") {
    ArchiveNet net;
    for (std::uint32_t i = 0; i < 2'000; ++i) {
        net.own().cells.push_back(i * 0x9E37'79B9u);
    }
    const NetStats before = net.server_driver().stats();
    lose(net, {1, 4});
    REQUIRE(net.settle());
    const NetStats after = net.server_driver().stats();
    CHECK(net.client_text(0) == net.server_text());
    CHECK(after.bunches_sent == before.bunches_sent);
    const std::uint64_t parts = (2'000 * 4 + 1'158) / 1'159;
    // Two lost packets, and what lies between them of the same array: the interval is a hull.
    CHECK(after.records_sent - before.records_sent <= parts + 4);
    CHECK(after.replication.block_bytes_sent - before.replication.block_bytes_sent <
          (2'000 + 4 * 290 + 50) * 4);
}

TEST_CASE("NetDriver: of an array in parts one lost packet is sent again",
          "[netdriver][net_driver]") {
    ArchiveNet net;
    net.own().cells.assign(2'000, 0xFEED'F00D);
    const NetStats before = net.server_driver().stats();
    lose(net, {3});
    REQUIRE(net.settle());
    const NetStats after = net.server_driver().stats();
    CHECK(net.client_text(0) == net.server_text());
    CHECK(after.records_lost - before.records_lost == 1);
    CHECK(after.replication.block_bytes_sent - before.replication.block_bytes_sent <
          2'000 * 4 + 1'159 + 100);
}

TEST_CASE("NetDriver: a large array that shrinks while parts are in flight ends right",
          "[netdriver][net_driver]") {
    for (unsigned lost = 0; lost < 64; ++lost) {
        INFO("lost " << lost);
        ArchiveNet net(30);
        lose_by_bits(net, lost, 6);
        std::vector<std::uint32_t>& cells = net.own().cells;
        for (const std::size_t size : {1'200u, 700u, 1'300u, 1u, 900u}) {
            cells.resize(size, static_cast<std::uint32_t>(size));
            cells[size / 2] = static_cast<std::uint32_t>(size + lost);
            net.tick();
        }
        net.require_equal();
    }
}

TEST_CASE("NetDriver: a value larger than a packet travels in fragments, once",
          "[netdriver][net_driver]") {
    ArchiveNet net;
    const NetStats before = net.server_driver().stats();
    net.own().pages[2] = text_of_size(10'000);
    REQUIRE(net.settle());
    const NetStats after = net.server_driver().stats();
    CHECK(net.client_text(0) == net.server_text());
    const std::size_t fragments = 10'000 / fragment_bytes(1'200) + 1;
    CHECK(after.bunches_sent - before.bunches_sent == fragments);
    CHECK(after.bunches_resent == before.bunches_resent);
}

TEST_CASE("NetDriver: of a value in fragments only those that were lost are sent again",
          "[netdriver][net_driver]") {
    ArchiveNet net;
    net.own().pages[2] = text_of_size(30'000);
    lose(net, {0, 5, 6});
    net.require_equal();
    CHECK(net.server_driver().stats().bunches_resent == 3);
}

TEST_CASE("NetDriver: a value under way in fragments waits with its changes, the rest does not",
          "[netdriver][net_driver]") {
    ArchiveNet net(200);
    const NetStats before = net.server_driver().stats();
    std::uint32_t client_counter_while_paused = 0;
    for (std::uint32_t change = 1; change <= 15; ++change) {
        net.own().pages[0] = text_of_size(5'000, change);
        net.own().counter = change;
        net.tick();
        if (net.shown().pages[0].empty()) {
            client_counter_while_paused = net.shown().counter;
        }
    }
    REQUIRE(net.settle());
    CHECK(client_counter_while_paused < 15);
    CHECK(net.client_text(0) == net.server_text());
    // Fifteen changes within one round trip: the first went out, and the last.
    const std::uint64_t fragments = 5;
    CHECK(net.server_driver().stats().bunches_sent - before.bunches_sent == 2 * fragments);
}

TEST_CASE("NetDriver: changes of a paused value arrive, whatever is lost",
          "[netdriver][net_driver]") {
    for (unsigned lost = 0; lost < 256; lost += 3) {
        INFO("lost " << lost);
        ArchiveNet net(30);
        lose_by_bits(net, lost, 8);
        // Large, small, large: the paths of a value cross.
        for (const std::size_t size : {3'000u, 20u, 4'000u, 0u, 1'000u}) {
            net.own().pages[0] = text_of_size(size, lost);
            net.own().counter = static_cast<std::uint32_t>(size);
            net.tick();
        }
        net.require_equal();
    }
}

TEST_CASE("NetDriver: what was lost of an array before it grew too large for a packet arrives too",
          "[netdriver][net_driver]") {
    for (unsigned lost = 0; lost < 256; ++lost) {
        INFO("lost " << lost);
        NetFixtureOptions options;
        options.link.latency_ms = 30;
        NetFixture net(options);
        const ObjectHandle archive = net.add_archive();
        std::vector<Chapter>& chapters = net.archive(archive).chapters;
        chapters = {{"one", "short"}, {"two", "short"}};
        net.join_settled();
        lose_by_bits(net, lost, 8);
        chapters[0].title = "first";
        net.tick();
        // Only this element is owed now, and no packet holds it.
        chapters[1].text = text_of_size(3'000, lost);
        net.tick();
        net.archive(archive).counter = 1;
        net.tick();
        net.archive(archive).counter = 2;
        REQUIRE(net.settle());
        REQUIRE(net.client_text(0) == net.server_text());
    }
}

TEST_CASE("NetDriver: an object with a value in fragments may be removed at any time",
          "[netdriver][net_driver]") {
    for (std::uint32_t ticks = 0; ticks < 12; ++ticks) {
        INFO("ticks " << ticks);
        NetFixtureOptions options;
        options.link.latency_ms = 70;
        NetFixture net(options);
        net.join_settled();
        lose(net, {0, 3});
        const ObjectHandle archive = net.add_archive();
        net.archive(archive).pages[0] = text_of_size(8'000);
        net.tick(ticks);
        net.remove(archive);
        const ObjectHandle successor = net.add_archive();
        net.archive(successor).pages[0] = text_of_size(6'000, 3);
        REQUIRE(net.settle());
        REQUIRE(net.client_text(0) == net.server_text());
        REQUIRE(net.client_driver(0).close_reason() == CloseReason::None);
    }
}

TEST_CASE("NetDriver: an open that is lost before a value in fragments is made good",
          "[netdriver][net_driver]") {
    for (std::uint32_t number = 0; number < 6; ++number) {
        INFO("number " << number);
        NetFixture net;
        net.join_settled();
        lose(net, {number, number + 2});
        const ObjectHandle archive = net.add_archive();
        fill_pages(net.archive(archive), 500);
        net.archive(archive).pages[4] = text_of_size(2'500);
        net.tick(2);
        net.archive(archive).pages[4] = text_of_size(2'600);
        net.archive(archive).pages[5] = "new";
        REQUIRE(net.settle());
        REQUIRE(net.client_text(0) == net.server_text());
    }
}

TEST_CASE("NetDriver: a value larger than a message may be is left out, and said so",
          "[netdriver][net_driver]") {
    ArchiveNet net;
    std::vector<std::string> log;
    set_log_handler(
        [](LogLevel, std::string_view message, void* context) {
            static_cast<std::vector<std::string>*>(context)->emplace_back(message);
        },
        &log);
    fill_pages(net.own(), 800);
    net.own().pages[3] = text_of_size(NetConfig().bunch_bytes_max);
    net.own().counter = 1;
    REQUIRE(net.settle());
    set_log_handler(nullptr, nullptr);
    CHECK(net.server_driver().stats().replication.values_over_limit == 1);
    REQUIRE(log.size() == 1);
    CHECK(log[0] == "property \"pages\" of object " +
                        std::to_string(net.server_driver().guid_of(net.id_of(net.object)).value) +
                        " of class \"Archive\" takes more than NetConfig::bunch_bytes_max (" +
                        std::to_string(NetConfig().bunch_bytes_max) +
                        " bytes), so it is not sent: raise that, or lower the limits of the "
                        "property");
    // All the others are there.
    CHECK(net.shown().counter == 1);
    CHECK(net.shown().pages[3].empty());
    CHECK(net.shown().pages[2] == net.own().pages[2]);
    CHECK(net.shown().pages[4] == net.own().pages[4]);
    // As soon as it is small enough, it is sent.
    net.own().pages[3] = text_of_size(40'000);
    net.require_equal();
}

TEST_CASE("NetDriver: a value as large as a message may be arrives, and one byte more does not",
          "[netdriver][net_driver]") {
    NetConfig config;
    config.bunch_bytes_max = 5'000;
    // The set of handles takes a byte at most, the length of a string of 5,000 two.
    constexpr std::size_t overhead_bytes = 1 + 2;
    for (const std::size_t excess : {0u, 1u}) {
        NetFixtureOptions options;
        options.server = config;
        options.client = config;
        NetFixture net(options);
        const ObjectHandle archive = net.add_archive();
        net.join_settled();
        net.archive(archive).pages[0] =
            text_of_size(config.bunch_bytes_max - overhead_bytes + excess);
        REQUIRE(net.settle());
        CHECK(net.server_driver().stats().replication.values_over_limit == excess);
        CHECK(net.archive_on(0, archive).pages[0].empty() == (excess == 1));
        CHECK(net.client_driver(0).close_reason() == CloseReason::None);
    }
}

TEST_CASE("NetDriver: a block that just fits into a packet, and one that just does not",
          "[netdriver][net_driver]") {
    // The second client is where the first is, only its open is not yet acknowledged, so its blocks
    // carry a length: what fits for one need not fit for the other.
    for (std::size_t size = 1'120; size < 1'170; ++size) {
        INFO("size " << size);
        check_same_to_two_clients([&](NetFixture& net) {
            slow_down(net, 1);
            const ObjectHandle archive = net.add_archive();
            net.archive(archive).counter = 1;
            net.tick(4);
            net.archive(archive).pages[0] = text_of_size(size);
        });
    }
}

TEST_CASE("NetDriver: what one client lost in part another lost whole", "[netdriver][net_driver]") {
    // Both lost the same versions. To the client whose open is not yet acknowledged they went in
    // two parts, and only the second was lost: what it is owed serves no other client.
    std::uint32_t lost_in_part = 0;
    for (std::size_t size = 560; size < 585; ++size) {
        INFO("size of each of two pages: " << size);
        check_same_to_two_clients([&](NetFixture& net) {
            slow_down(net, 0);
            const ObjectHandle archive = net.add_archive();
            net.tick(4);
            net.network().heal();
            const std::uint64_t records_before = net.server_driver().stats().records_sent;
            lose(net, {1, 2});
            net.archive(archive).pages[0] = text_of_size(size, 1);
            net.archive(archive).pages[1] = text_of_size(size, 2);
            net.tick();
            const std::uint64_t records = net.server_driver().stats().records_sent - records_before;
            lost_in_part += records == 3 ? 1u : 0u;
        });
    }
    CHECK(lost_in_part > 0);
}

TEST_CASE("NetDriver: a world larger than all packets of a round trip arrives",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.link.latency_ms = 60;
    NetFixture net(options);
    for (std::uint32_t i = 0; i < 600; ++i) {
        const ObjectHandle archive = net.add_archive();
        net.archive(archive).pages[i % 8] = text_of_size(1'000, i);
        net.archive(archive).counter = i;
    }
    net.join();
    REQUIRE(net.tick_until([&] { return net.server_driver().connection_count() == 1; }));
    // The whole window goes out at once, and nothing more until it is acknowledged.
    constexpr std::uint64_t window_packets = 224;
    CHECK(net.server_driver().stats().packets_sent == window_packets);
    net.tick(4);
    CHECK(net.server_driver().stats().packets_sent == window_packets);
    REQUIRE(net.settle());
    CHECK(net.client_text(0) == net.server_text());
    CHECK(net.server_driver().stats().packets_lost == 0);
}

TEST_CASE("NetDriver: a world larger than all packets of a round trip arrives through loss",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.link.latency_ms = 30;
    options.link.loss = 0.1;
    NetFixture net(options);
    for (std::uint32_t i = 0; i < 300; ++i) {
        const ObjectHandle archive = net.add_archive();
        fill_pages(net.archive(archive), 300, i);
    }
    net.join();
    for (std::uint32_t i = 0; i < 30; ++i) {
        net.tick();
        for (const ObjectHandle handle : {ObjectHandle{1'000}, ObjectHandle{1'150}}) {
            net.archive(handle).pages[i % 8] = text_of_size(200 + i, i);
        }
    }
    REQUIRE(net.settle());
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: large values by the hundred arrive through heavy loss",
          "[netdriver][net_driver]") {
    // What waits for a lost fragment at the client is bounded, and an honest server stays within.
    NetFixtureOptions options;
    options.link.loss = 0.3;
    options.link.latency_ms = 30;
    NetFixture net(options);
    for (std::uint32_t i = 0; i < 60; ++i) {
        const ObjectHandle archive = net.add_archive();
        net.archive(archive).pages[0] = text_of_size(50'000, i);
    }
    net.join();
    REQUIRE(net.settle(6'000));
    CHECK(net.client_driver(0).close_reason() == CloseReason::None);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a server sends no more ahead than may wait at a client",
          "[netdriver][net_driver]") {
    // The tightest limits that a message of the largest size permits, of bytes and of bunches.
    for (const bool is_tight_in_bytes : {true, false}) {
        NetFixtureOptions options;
        options.link.loss = 0.2;
        options.link.latency_ms = 30;
        for (NetConfig* config : {&options.server, &options.client}) {
            config->bunch_bytes_max = 60'000;
            config->reliable_waiting_bytes_max = is_tight_in_bytes ? 60'000 : 1'000'000;
            config->reliable_waiting_max = is_tight_in_bytes ? 4'096 : 60;
        }
        NetFixture net(options);
        std::vector<ObjectHandle> archives;
        for (std::uint32_t i = 0; i < 20; ++i) {
            archives.push_back(net.add_archive());
            net.archive(archives.back()).pages[0] = text_of_size(i % 2 == 0 ? 59'000 : 9'000, i);
            net.archive(archives.back()).pages[1] = text_of_size(5'000, i);
        }
        net.join();
        // Objects that are there already are served while others wait for their opens.
        for (std::uint32_t change = 1; change < 40; ++change) {
            net.archive(archives[0]).counter = change;
            net.tick();
        }
        CHECK(net.archive_on(0, archives[0]).counter > 20);
        REQUIRE(net.settle(6'000));
        CHECK(net.client_driver(0).close_reason() == CloseReason::None);
        CHECK(net.client_text(0) == net.server_text());
    }
}

TEST_CASE("NetDriver: packets of any permitted size carry everything", "[netdriver][net_driver]") {
    for (const std::uint32_t packet_bytes : {256u, 257u, 500u, 1'200u, 1'399u, 1'400u}) {
        INFO("packet " << packet_bytes);
        NetFixtureOptions options;
        options.server.packet_bytes_max = packet_bytes;
        options.client.packet_bytes_max = packet_bytes;
        NetFixture net(options);
        net.server().transport.is_recording = true;
        const ObjectHandle archive = net.add_archive();
        fill_pages(net.archive(archive), 150);
        net.archive(archive).pages[1] = text_of_size(9'000);
        for (std::uint32_t i = 0; i < 400; ++i) {
            net.archive(archive).cells.push_back(i);
        }
        net.archive(archive).chapters = {{"one", text_of_size(200)}, {"two", text_of_size(700)}};
        net.join_settled();
        CHECK(net.client_text(0) == net.server_text());
        for (const Datagram& datagram : net.server().transport.sent) {
            CHECK(datagram.bytes.size() <= packet_bytes);
        }
    }
}

TEST_CASE("NetDriver: an object may have many values in fragments at once",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.server.packet_bytes_max = 256;
    options.client.packet_bytes_max = 256;
    NetFixture net(options);
    const ObjectHandle archive = net.add_archive();
    net.join_settled();
    fill_pages(net.archive(archive), 60'000);  // 8 x 313 fragments of 192 bytes
    REQUIRE(net.settle(6'000));
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: an object with more fragments than are counted waits with the rest of them",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    for (NetConfig* config : {&options.server, &options.client}) {
        config->packet_bytes_max = 256;
        config->bunch_bytes_max = 1 << 20;
    }
    NetFixture net(options);
    const ObjectHandle archive = net.add_archive();
    net.join_settled();
    for (std::uint32_t page = 0; page < 4; ++page) {
        net.archive(archive).pages[page] = text_of_size(1'000'000, page);  // 5,209 fragments each
    }
    net.archive(archive).counter = 1;
    net.tick(3);
    CHECK(net.archive_on(0, archive).counter == 1);
    net.archive(archive).pages[3] = text_of_size(900'000, 7);
    REQUIRE(net.settle(6'000));
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: under a cap an object of small and large values arrives, each value once",
          "[netdriver][net_driver][rates][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 40)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        NetFixtureOptions options;
        options.link.latency_ms = random.between(5, 60);
        options.server.bytes_per_second_max = random.between(6'000, 40'000);
        NetFixture net(options);
        const std::uint32_t client_count = random.between(1, 3);
        for (std::uint32_t i = 0; i < client_count; ++i) {
            net.join();
        }
        REQUIRE(net.settle());
        const ObjectHandle archive = net.add_archive();
        std::size_t bytes = 0;
        for (std::uint32_t page = 0; page < 8; ++page) {
            constexpr std::uint32_t sizes[] = {0, 40, 1'000, 4'000};
            net.archive(archive).pages[page] = text_of_size(random.below(random.pick(sizes) + 1));
            bytes += net.archive(archive).pages[page].size();
        }
        const std::uint64_t before = net.server_driver().stats().bytes_sent;
        const double seconds =
            static_cast<double>(bytes) / static_cast<double>(options.server.bytes_per_second_max);
        REQUIRE(net.settle(static_cast<std::uint32_t>((3 * seconds + 2) * 50)));
        const auto sent = static_cast<double>(net.server_driver().stats().bytes_sent - before);
        for (std::size_t i = 0; i < client_count; ++i) {
            CHECK(net.client_text(i) == net.server_text());
        }
        CHECK(sent < (1.2 * static_cast<double>(bytes) + 4'000) * client_count);
    }
}

TEST_CASE("NetDriver: an element that is lost while its array is paused is sent afterwards",
          "[netdriver][net_driver]") {
    ClassGameOptions options;
    options.link.latency_ms = 60;
    options.layout.limits.string_bytes_max = 8'192;
    ClassGame<Library> game(build_library, options);
    game.join();
    const ObjectHandle library = game.add();
    game.object(library).books.resize(3);
    REQUIRE(game.settle());

    LinkSettings dead = options.link;
    dead.loss = 1;
    game.network().set_settings(dead);
    game.object(library).books[0] = "lost at first";
    game.tick();
    // No packet holds the array any more, so it travels reliably: what is new in it.
    game.object(library).books[1] = text_of_size(5'000);
    game.tick();
    game.network().set_settings(options.link);
    // What was lost goes out again while the array is paused, without it.
    for (std::uint32_t i = 0; i < 12; ++i) {
        ++game.object(library).visitors;
        game.tick();
    }
    REQUIRE(game.settle());
    CHECK(game.object_on(0, library).books == game.object(library).books);
}

}  // namespace replayout::test
