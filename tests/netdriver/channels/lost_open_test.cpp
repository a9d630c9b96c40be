// SPDX-License-Identifier: MIT
//
// Values too large for a packet that arrive before the open of their channel does. They wait for it
// at the client, and are not thrown away like blocks are.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/networks/scripted_transport.h"
#include "support/types/delta_types.h"
#include "support/types/test_layout.h"
#include "support/worlds/class_game.h"
#include "support/worlds/typed_world.h"

namespace replayout::test::lost_open_test {
namespace {

struct Entry {
    std::uint32_t id = 0;
    std::string text;
    friend bool operator==(const Entry&, const Entry&) = default;
};
/// Of each way to travel reliably one.
struct Ledger {
    std::int32_t round = 0;
    Scores scores;
    std::vector<Entry> keyed;
    std::vector<std::string> row;
    friend bool operator==(const Ledger&, const Ledger&) = default;
};

[[nodiscard]] Result<const Type*> build_ledger(TypeRegistry& registry) {
    REQUIRE(struct_builder<Scores>(registry, "Scores").build());
    REQUIRE(struct_builder<Entry>(registry, "Entry")
                .property<&Entry::id>()
                .property<&Entry::text>()
                .build());
    return class_builder<Ledger>(registry, "Ledger")
        .property<&Ledger::round>()
        .property<&Ledger::scores>()
        .property<&Ledger::keyed>()
        .keyed_by<&Entry::id>(ArrayOrder::Kept)
        .property<&Ledger::row>()
        .build();
}

[[nodiscard]] ClassGameOptions bad_network_for_ledgers(std::uint64_t seed) {
    ClassGameOptions options;
    options.seed = seed;
    options.sharing = sharing_level(seed % 2 == 0);
    options.link.loss = 0.35;
    options.link.latency_ms = 70;
    options.link.jitter_ms = 30;
    options.link.reorder = 0.1;
    options.layout.limits.string_bytes_max = 4'096;
    return options;
}

/// A server and a client; of what the server sends, a script decides.
struct Line {
    Line() : layout(build_ledger, bad_network_for_ledgers(1).layout) {
        REQUIRE(server.add_layout(*layout));
        REQUIRE(client.add_layout(*layout));
        REQUIRE(server.listen());
        REQUIRE(client.connect(PeerId{1}, now));
        tick(10);
    }
    void tick(std::uint32_t count) {
        for (; count > 0; --count) {
            now = now.plus_milliseconds(20);
            server.tick_dispatch(now);
            server.tick_flush(now);
            client.tick_dispatch(now);
            client.tick_flush(now);
        }
    }

    NetTime now = NetTime::from_milliseconds(1'000);
    TestLayout layout;
    LoopbackNetwork network{{2'048, 1u << 17}, std::pmr::get_default_resource()};
    ScriptedTransport transport{network.endpoint(PeerId{1})};
    TypedWorld<Ledger> server_world{1};
    TypedWorld<Ledger> client_world{1'000};
    NetDriver server{NetDriverSettings(), transport, server_world};
    NetDriver client{NetDriverSettings(), network.endpoint(PeerId{2}), client_world};
};

/// Of what the server sent; of it the first two opens are lost, and all else arrives.
struct LostOpens {
    explicit LostOpens(Line& line) {
        line.transport.set_script([this](const Bytes& datagram) {
            const auto packet = parse_packet(datagram);
            const bool is_open = packet && packet->has_open(1);
            open_count += is_open ? 1u : 0u;
            large_count += datagram.size() > 1'000 ? 1u : 0u;
            return !is_open || open_count > 2;
        });
    }
    LostOpens(const LostOpens&) = delete;
    LostOpens& operator=(const LostOpens&) = delete;

    std::uint32_t open_count = 0;
    std::uint32_t large_count = 0;
};

/// Makes one of the values too large for a packet.
void fill(Ledger& ledger, std::uint32_t which, std::uint32_t value) {
    const std::string text(1'500, static_cast<char>('a' + value % 26));
    switch (which % 3) {
        case 0:
            for (std::uint32_t key = 0; key < 600; ++key) {
                ledger.scores.values[key] = static_cast<std::int32_t>(key * 1'000 + value);
            }
            return;
        case 1:
            ledger.keyed.insert(ledger.keyed.begin(), {value + 1'000, text});
            return;
        default:
            ledger.row.push_back(text);
            return;
    }
}

void edit(Ledger& ledger, SeededRandom& random, std::uint32_t& last_id) {
    switch (random.below(6)) {
        case 0:
            ++ledger.round;
            return;
        case 1:
            ledger.keyed.push_back({++last_id, "x"});
            return;
        case 2:
            if (!ledger.keyed.empty()) {
                ledger.keyed.erase(ledger.keyed.begin());
            }
            return;
        case 3:
            if (!ledger.row.empty()) {
                ledger.row[random.below(static_cast<std::uint32_t>(ledger.row.size()))] = "y";
            }
            return;
        default:
            ledger.scores.values[random.below(20)] = static_cast<std::int32_t>(random.below(1'000));
            return;
    }
}

/// Objects that come and go in the same places, large from the beginning.
void play_ledgers(std::uint64_t seed) {
    INFO("seed " << seed);
    ClassGame<Ledger> game(build_ledger, bad_network_for_ledgers(seed));
    SeededRandom random(seed);
    std::uint32_t last_id = 0;
    game.join();
    game.join();
    std::vector<ObjectHandle> ledgers;
    for (std::uint32_t tick = 0; tick < 250; ++tick) {
        if (ledgers.size() < 3 && random.percent(40)) {
            ledgers.push_back(game.add());
            for (std::uint32_t which = 0; which < 3; ++which) {
                if (random.percent(50)) {
                    fill(game.object(ledgers.back()), which, tick);
                }
            }
        }
        if (!ledgers.empty() && random.percent(10)) {
            const std::size_t i = random.below(static_cast<std::uint32_t>(ledgers.size()));
            game.remove(ledgers[i]);
            ledgers.erase(ledgers.begin() + static_cast<std::ptrdiff_t>(i));
        }
        for (const ObjectHandle ledger : ledgers) {
            if (random.percent(50)) {
                edit(game.object(ledger), random, last_id);
            }
            if (random.percent(5)) {
                fill(game.object(ledger), random.below(3), 500 + tick);
            }
        }
        game.tick();
    }
    game.network().set_settings(LinkSettings());
    REQUIRE(game.settle());
    for (const ObjectHandle ledger : ledgers) {
        for (std::size_t client = 0; client < game.client_count(); ++client) {
            CHECK((game.object_on(client, ledger) == game.object(ledger)));
        }
    }
}

}  // namespace

TEST_CASE("Lost opens: a large value that arrives before its open goes on from what it was",
          "[netdriver]") {
    for (std::uint32_t which = 0; which < 3; ++which) {
        INFO("value " << which);
        Line line;
        const LostOpens sent(line);
        const ObjectHandle handle = line.server_world.add();
        Ledger& ledger = line.server_world.at(handle);
        (void)line.server.add_object(*line.layout, handle);
        line.tick(1);
        fill(ledger, which, 0);
        for (std::int32_t round = 0; round < 20; ++round) {
            line.tick(1);
            ledger.scores.values[7] = round;
            ledger.keyed.push_back({static_cast<std::uint32_t>(round), "x"});
            ledger.round = round;
        }
        line.tick(60);
        CHECK(sent.open_count == 3);
        CHECK(line.server.is_settled());
        REQUIRE(line.client_world.object_count() == 1);
        CHECK((line.client_world.first() == ledger));
    }
}

TEST_CASE("Lost opens: a large value that arrived waits for the open, however often that is lost",
          "[netdriver]") {
    for (std::uint32_t which = 0; which < 3; ++which) {
        INFO("value " << which);
        Line line;
        const LostOpens sent(line);
        const ObjectHandle handle = line.server_world.add();
        Ledger& ledger = line.server_world.at(handle);
        (void)line.server.add_object(*line.layout, handle);
        line.tick(1);
        fill(ledger, which, 0);
        line.tick(60);
        CHECK(sent.open_count == 3);
        // Of the struct with deltas, two in its only message; of an array that message, and once
        // more what it is, as its first block was lost with the open.
        CHECK(sent.large_count == 2);
        REQUIRE(line.client_world.object_count() == 1);
        CHECK((line.client_world.first() == ledger));
    }
}

TEST_CASE("Lost opens: objects that come and go with large values end right, whatever is lost",
          "[netdriver]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 10; ++round) {
        play_ledgers(seed * 100 + round);
    }
}

}  // namespace replayout::test::lost_open_test
