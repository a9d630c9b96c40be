// SPDX-License-Identifier: MIT
//
// NetDriverSettings::is_validating: what it lets pass, what it catches, and that nobody on the
// network can tell whether it is on.
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/type_builder.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/caught_failure.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/net_fixture.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

[[nodiscard]] NetFixtureOptions validating(bool is_validating = true) {
    NetFixtureOptions options;
    options.is_validating = is_validating;
    return options;
}

struct Script {
    std::uint64_t seed = 1;
    std::uint32_t cells_max = 300;
    double latency_ms = 50;
};

/// A network on which everything that can happen does.
[[nodiscard]] NetFixtureOptions rough(const Script& script, bool is_validating) {
    NetFixtureOptions options = validating(is_validating);
    options.seed = script.seed;
    options.server.packet_bytes_max = 300;
    options.client.packet_bytes_max = 300;
    options.link.loss = 0.15;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.1;
    options.link.latency_ms = script.latency_ms;
    options.link.jitter_ms = 20;
    return options;
}

/// A game that changes, adds and removes objects of all sizes, from a seed.
class Game {
  public:
    Game(NetFixture& net, const Script& script)
        : net_(net), random_(script.seed), cells_max_(script.cells_max), veteran_(net.add_pawn()) {
        net_.pawn(veteran_).name = "older than the history of changes";
    }

    void step() {
        ++net_.pawn(veteran_).health;
        if (pawns_.size() < 4 || random_.percent(10)) {
            pawns_.push_back(net_.add_pawn());
        }
        if (archives_.size() < 2 || random_.percent(3)) {
            archives_.push_back(net_.add_archive());
        }
        remove_some(pawns_, 6, 15);
        remove_some(archives_, 3, 10);
        for (const ObjectHandle pawn : pawns_) {
            if (random_.percent(50)) {
                change(net_.pawn(pawn));
            }
        }
        for (const ObjectHandle archive : archives_) {
            if (random_.percent(40)) {
                change(net_.archive(archive));
            }
        }
        net_.tick();
    }

  private:
    void remove_some(std::vector<ObjectHandle>& objects, std::size_t count_max,
                     std::uint32_t percent) {
        if (objects.size() > count_max || (!objects.empty() && random_.percent(percent))) {
            const auto place =
                objects.begin() + random_.below(static_cast<std::uint32_t>(objects.size()));
            net_.remove(*place);
            objects.erase(place);
        }
    }

    [[nodiscard]] std::string text(std::uint32_t length_max) {
        return std::string(random_.below(length_max + 1),
                           static_cast<char>('a' + random_.below(26)));
    }

    void change(Pawn& pawn) {
        pawn.health += static_cast<std::int32_t>(random_.below(3));
        if (random_.percent(30)) {
            pawn.name = text(30);
            pawn.position.x += 1.0f;
            pawn.target = random_.pick(pawns_);
        }
        if (random_.percent(30)) {
            pawn.hits.resize(random_.below(6));
            pawn.friends.resize(random_.below(4), random_.pick(pawns_));
        }
        for (Hit& hit : pawn.hits) {
            hit.bone = static_cast<std::uint8_t>(random_.below(2));
        }
    }

    void change(Archive& archive) {
        ++archive.counter;
        // Beyond about 230 bytes a text travels in fragments.
        archive.pages[random_.below(8)] = text(random_.percent(20) ? 900 : 60);
        if (random_.percent(30)) {
            archive.cells.resize(random_.below(cells_max_), archive.counter);
        }
        for (int i = 0; i < 5 && !archive.cells.empty(); ++i) {
            archive.cells[random_.below(static_cast<std::uint32_t>(archive.cells.size()))] =
                archive.counter;
        }
        if (random_.percent(30)) {
            archive.chapters.resize(random_.below(12));
        }
        for (Chapter& chapter : archive.chapters) {
            if (random_.percent(20)) {
                chapter.title = text(10);
                chapter.text = text(50);
            }
        }
    }

    NetFixture& net_;
    SeededRandom random_;
    std::uint32_t cells_max_;
    ObjectHandle veteran_;  // changes every tick and is never removed
    std::vector<ObjectHandle> pawns_;
    std::vector<ObjectHandle> archives_;
};

[[nodiscard]] std::vector<Datagram> play(const Script& script, bool is_validating) {
    NetFixture net(rough(script, is_validating));
    net.server().transport.is_recording = true;
    Game game(net, script);
    net.join();
    for (int tick = 0; tick < 80; ++tick) {
        game.step();
    }
    net.join();
    for (int tick = 0; tick < 40; ++tick) {
        game.step();
    }
    net.network().heal();
    REQUIRE(net.settle());
    for (std::size_t client = 0; client < 2; ++client) {
        CHECK(net.client_text(client) == net.server_text());
    }
    return net.server().transport.sent;
}

/// The session goes well, and its packets are the same with validation on and off.
void check_session(const Script& script) {
    const std::vector<Datagram> with = play(script, true);
    const std::vector<Datagram> without = play(script, false);
    REQUIRE(with.size() > 200);
    REQUIRE(with.size() == without.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
        REQUIRE(with[i].peer == without[i].peer);
        REQUIRE(with[i].bytes == without[i].bytes);
    }
}

}  // namespace

TEST_CASE("PairValidation: changes no byte, and has nothing to say of a rough session",
          "[netdriver][pair_validation]") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        INFO("seed " << seed);
        check_session({seed});
    }
}

TEST_CASE("PairValidation: ... nor of one that has more to say than its window holds",
          "[netdriver][pair_validation]") {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        INFO("seed " << seed);
        check_session({seed, 4'000, 300});
    }
}

TEST_CASE("PairValidation: large values of one object arrive in order, whichever is complete first",
          "[netdriver][pair_validation]") {
    NetFixture net(validating());
    const ObjectHandle archive = net.add_archive();
    net.join_settled();
    const NetTime start = net.now().plus_milliseconds(20);
    // Of page 0 a fragment is lost again and again; page 1 is complete long before.
    std::uint32_t lost_count = 0;
    net.server().transport.set_script([&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        const bool is_first =
            packet && packet->has_part() && (lost_count == 0 || net.now() > start);
        lost_count += is_first ? 1 : 0;
        return !is_first;
    });
    net.archive(archive).pages[0].assign(3'000, 'a');
    net.archive(archive).pages[1].assign(3'000, 'b');
    net.tick(4);
    // What page 1 becomes meanwhile must not be overwritten by what it was.
    const std::string later = "too long for the room beside a fragment";
    net.archive(archive).pages[1] = later;
    net.tick(4);
    net.server().transport.set_script({});
    REQUIRE(net.settle());
    CHECK(lost_count > 1);
    CHECK(net.archive_on(0, archive).pages[1] == later);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("PairValidation: a value that is larger than a message may be is not asked for",
          "[netdriver][pair_validation]") {
    NetFixture net(validating());
    const ObjectHandle archive = net.add_archive();
    net.join();
    net.archive(archive).pages[3].assign(70'000, 'x');
    net.archive(archive).counter = 3;
    REQUIRE(net.settle());
    CHECK(net.archive_on(0, archive).counter == 3);
    CHECK(net.archive_on(0, archive).pages[3].empty());
}

namespace {

/// Serializes itself, and does not always tell the truth.
struct Rumour {
    std::uint32_t number = 0;

    static inline bool is_lying = false;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        std::uint32_t told = number + (is_lying && archive.is_saving() ? 1 : 0);
        archive.serialize(told);
        if (archive.is_loading()) {
            number = told;
        }
        return true;
    }
    friend bool operator==(const Rumour&, const Rumour&) = default;
};

struct Gossip {
    std::uint32_t rank = 0;
    Rumour rumour;
};

Result<const Type*> build_gossip(TypeRegistry& registry) {
    (void)struct_builder<Rumour>(registry, "Rumour").property<&Rumour::number>().build();
    return class_builder<Gossip>(registry, "Gossip")
        .property<&Gossip::rank>()
        .property<&Gossip::rumour>()
        .build();
}

}  // namespace
}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Rumour> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

namespace replayout::test {
namespace {

/// A server and a client that tell each other about one Gossip.
class GossipSession {
  public:
    explicit GossipSession(bool is_validating)
        : server_(settings(is_validating), network_.endpoint(server_peer), server_world),
          client_(settings(is_validating), network_.endpoint({2}), client_world) {
        const Result<const Type*> type = build_gossip(registry_);
        REQUIRE(type);
        REQUIRE(registry_.freeze());
        auto layout = RepLayout::create(registry_, **type);
        REQUIRE(layout);
        layout_ = std::move(*layout);
        REQUIRE(server_.add_layout(*layout_));
        REQUIRE(client_.add_layout(*layout_));
        REQUIRE(server_.listen());
        REQUIRE(client_.connect(server_peer, now_));
        (void)server_.add_object(*layout_, server_world.handle);
    }

    void tick(int count = 10) {
        for (int i = 0; i < count; ++i) {
            now_ = now_.plus_milliseconds(20);
            network_.advance(now_);
            client_.tick_dispatch(now_);
            client_.tick_flush(now_);
            server_.tick_dispatch(now_);
            server_.tick_flush(now_);
        }
    }

  private:
    static constexpr PeerId server_peer{1};

    [[nodiscard]] static NetDriverSettings settings(bool is_validating) {
        NetDriverSettings settings;
        settings.is_validating = is_validating;
        return settings;
    }

    SimulatedNetwork network_{{}, 1, std::pmr::get_default_resource()};
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
    NetTime now_;

  public:
    SoleWorld<Gossip> server_world;
    SoleWorld<Gossip> client_world;

  private:
    NetDriver server_;
    NetDriver client_;
};

/// What the assertion said that fails within some ticks; empty when none does.
std::string failure_of(GossipSession& session) {
    return failure_in([&] { session.tick(); });
}

}  // namespace

TEST_CASE("PairValidation: a client that was told something else is found, and by name",
          "[netdriver][pair_validation]") {
    GossipSession session(true);
    session.server_world.object = {1, {2}};
    CHECK(failure_of(session) == "");
    CHECK(session.client_world.object.rumour.number == 2);

    Rumour::is_lying = true;
    session.server_world.object.rumour.number = 7;
    session.tick(1);
    Rumour::is_lying = false;
    const std::string failure = failure_of(session);
    CHECK(session.client_world.object.rumour.number == 8);
    CHECK(failure ==
          "pair validation: object 0 (id 1) of class \"Gossip\", \"rumour\" (handle 2): the "
          "receiver holds a struct Rumour, the object a struct Rumour, and that is not owed; "
          "object at version 2, property changed at 2, pair sent 2, lost nothing, 0 in flight, "
          "channel open");
}

TEST_CASE("PairValidation: is off when it is off", "[netdriver][pair_validation]") {
    GossipSession session(false);
    session.server_world.object = {1, {2}};
    Rumour::is_lying = true;
    CHECK(failure_of(session) == "");
    Rumour::is_lying = false;
    CHECK(failure_of(session) == "");
    CHECK(session.client_world.object.rumour.number == 3);
}

TEST_CASE("PairValidation: a difference is found while other values are on their way",
          "[netdriver][pair_validation]") {
    GossipSession session(true);
    session.tick();
    Rumour::is_lying = true;
    session.server_world.object.rumour.number = 7;
    session.tick(1);
    Rumour::is_lying = false;
    // From now on rank changes at every tick, so that the pair is never exact.
    const std::string failure = failure_in([&] {
        for (int tick = 0; tick < 10; ++tick) {
            ++session.server_world.object.rank;
            session.tick(1);
        }
    });
    CHECK(failure.find("\"rumour\"") != std::string::npos);
    CHECK(failure.find("2 in flight") != std::string::npos);
}

}  // namespace replayout::test
