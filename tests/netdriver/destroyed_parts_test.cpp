// SPDX-License-Identifier: MIT
//
// Parts that an object makes itself, at both ends, and that are destroyed: every client that has
// the object is told, whether it saw the part or not, and whenever it comes.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/reflection.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <memory_resource>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "support/forged_pawn.h"
#include "support/forged_peer.h"
#include "support/log_spy.h"
#include "support/run_seed.h"
#include "support/seeded_random.h"

namespace replayout::test {
namespace {

using Names = std::set<std::string>;

struct Tank {
    std::int32_t hp = 100;
};

class TankLayout {
  public:
    TankLayout() {
        const auto type = class_builder<Tank>(registry_, "Tank").property<&Tank::hp>().build();
        REQUIRE(type);
        REQUIRE(registry_.freeze());
        auto layout = RepLayout::create(registry_, **type);
        REQUIRE(layout);
        layout_ = *std::move(layout);
    }
    [[nodiscard]] const RepLayout& operator*() const { return *layout_; }

  private:
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
};

/// Whoever makes a tank here makes these parts with it.
const Names made_parts = {"gun", "hatch", "left track", "right track"};

class TankWorld final : public NetWorld {
  public:
    [[nodiscard]] ObjectHandle make_tank() {
        const ObjectHandle tank = make();
        for (const std::string& name : made_parts) {
            parts_[tank][name] = make();
        }
        return tank;
    }
    [[nodiscard]] ObjectHandle make() {
        objects_[{++last_}] = std::make_unique<Tank>();
        return {last_};
    }
    void erase_tank(ObjectHandle tank) {
        for (const auto& [name, part] : parts_[tank]) {
            objects_.erase(part);
        }
        parts_.erase(tank);
        objects_.erase(tank);
    }
    void erase_part(ObjectHandle tank, const std::string& name) {
        objects_.erase(parts_.at(tank).at(name));
        parts_.at(tank).erase(name);
    }
    /// The one that is there, or a new one.
    ObjectHandle find_or_make_part(ObjectHandle tank, const std::string& name) {
        ObjectHandle& part = parts_.at(tank)[name];
        part = part.is_null() ? make() : part;
        return part;
    }
    [[nodiscard]] Names parts_of(ObjectHandle tank) const {
        Names names;
        for (const auto& [name, part] : parts_.at(tank)) {
            names.insert(name);
        }
        return names;
    }
    [[nodiscard]] ObjectHandle part(ObjectHandle tank, const std::string& name) const {
        return parts_.at(tank).at(name);
    }
    [[nodiscard]] Tank& at(ObjectHandle object) { return *objects_.at(object); }

    void* object_memory(ObjectHandle object) override { return &at(object); }
    ObjectHandle spawn(const SpawnInfo& info) override {
        if (info.outer.is_null()) {
            return make_tank();
        }
        const ObjectHandle part =
            find_or_make_part(info.outer, std::string(info.parameters.stable_name));
        shown_parts_.insert(part);
        return part;
    }
    void despawn(ObjectHandle object, ChannelCloseReason reason) override {
        if (parts_.contains(object)) {
            erase_tank(object);
            return;
        }
        shown_parts_.erase(object);
        if (reason != ChannelCloseReason::Destroyed) {
            return;
        }
        for (auto& [tank, parts] : parts_) {
            std::erase_if(parts, [&](const auto& part) { return part.second == object; });
        }
        objects_.erase(object);
    }
    void destroy_part(ObjectHandle outer, std::string_view stable_name) override {
        const std::string name(stable_name);
        told.push_back(name);
        REQUIRE(objects_.contains(outer));
        const auto found = parts_.at(outer).find(name);
        if (found != parts_.at(outer).end()) {
            REQUIRE_FALSE(shown_parts_.contains(found->second));
            erase_part(outer, name);
        }
    }

    std::vector<std::string> told;

  private:
    std::uint64_t last_ = 0;
    std::map<ObjectHandle, std::unique_ptr<Tank>> objects_;
    std::map<ObjectHandle, std::map<std::string, ObjectHandle>> parts_;  // by tank
    std::set<ObjectHandle> shown_parts_;
};

[[nodiscard]] LinkSettings bad_link() {
    LinkSettings link;
    link.loss = 0.3;
    link.duplicate = 0.1;
    link.reorder = 0.2;
    link.latency_ms = 60;
    link.jitter_ms = 40;
    return link;
}

[[nodiscard]] SimulatedNetworkSettings network_of(const LinkSettings& link) {
    SimulatedNetworkSettings settings;
    settings.link = link;
    settings.datagram_bytes_max = 1'400;
    return settings;
}

struct TankClient {
    TankClient(const NetDriverSettings& settings, Transport& transport)
        : driver(settings, transport, world) {}

    TankWorld world;
    NetDriver driver;
};

class TankGame {
  public:
    explicit TankGame(const LinkSettings& link = {}, std::uint64_t seed = 1,
                      std::uint32_t destroyed_names_max = 65'536)
        : seed_(seed),
          network_(network_of(link), seed, std::pmr::get_default_resource()),
          server_(settings(destroyed_names_max), network_.endpoint(PeerId{1}), world_) {
        REQUIRE(server_.add_layout(*layout_));
        REQUIRE(server_.listen());
    }

    [[nodiscard]] NetDriver& server() noexcept { return server_; }
    [[nodiscard]] TankClient& client(std::size_t index) { return *clients_[index]; }
    [[nodiscard]] TankWorld& world() noexcept { return world_; }
    [[nodiscard]] static PeerId peer_of(std::size_t client) { return {client + 2}; }
    [[nodiscard]] std::size_t client_count() const { return clients_.size(); }

    std::size_t join() {
        NetDriverSettings mine = settings(65'536);
        mine.seed = seed_ + clients_.size() + 1;
        clients_.push_back(
            std::make_unique<TankClient>(mine, network_.endpoint(peer_of(clients_.size()))));
        REQUIRE(clients_.back()->driver.add_layout(*layout_));
        REQUIRE(clients_.back()->driver.connect(PeerId{1}, now_));
        return clients_.size() - 1;
    }

    ObjectHandle add_tank() {
        const ObjectHandle tank = world_.make_tank();
        ids_[tank] = server_.add_object(*layout_, tank);
        guids_[tank] = server_.guid_of(ids_[tank]);
        return tank;
    }
    void remove_tank(ObjectHandle tank) {
        server_.remove_object(ids_.at(tank));
        world_.erase_tank(tank);
    }
    /// Replicates a part: one that was made with the tank, or made again.
    void add_part(ObjectHandle tank, const std::string& name,
                  LifetimeCondition condition = LifetimeCondition::None) {
        SubobjectParameters parameters;
        parameters.stable_name = name;
        parameters.condition = condition;
        const ObjectHandle part = world_.find_or_make_part(tank, name);
        ids_[part] = server_.add_subobject(ids_.at(tank), *layout_, part, parameters);
    }
    void destroy_part(ObjectHandle tank, const std::string& name) {
        server_.remove_object(ids_.at(world_.part(tank, name)));
        world_.erase_part(tank, name);
    }
    [[nodiscard]] NetObjectId id_of(ObjectHandle object) const { return ids_.at(object); }
    [[nodiscard]] ObjectHandle find_on(std::size_t client, ObjectHandle tank) {
        return clients_[client]->driver.guids().find_object(guids_.at(tank));
    }
    /// What a client has of a tank that it is shown.
    [[nodiscard]] Names parts_on(std::size_t client, ObjectHandle tank) {
        const ObjectHandle shown = find_on(client, tank);
        REQUIRE(!shown.is_null());
        return clients_[client]->world.parts_of(shown);
    }

    void tick(int count = 1) {
        for (int i = 0; i < count; ++i) {
            now_ = now_.plus_milliseconds(20);
            network_.advance(now_);
            server_.tick_dispatch(now_);
            server_.tick_flush(now_);
            for (const auto& client : clients_) {
                client->driver.tick_dispatch(now_);
                client->driver.tick_flush(now_);
            }
        }
    }
    [[nodiscard]] bool settle() {
        for (int i = 0; i < 3'000; ++i) {
            tick();
            bool are_joined = true;
            for (const auto& client : clients_) {
                are_joined = are_joined && client->driver.state() != ConnectionState::Connecting;
            }
            if (are_joined && server_.is_settled()) {
                return true;
            }
        }
        return false;
    }

  private:
    [[nodiscard]] NetDriverSettings settings(std::uint32_t destroyed_names_max) const {
        NetDriverSettings settings;
        settings.config.destroyed_names_max = destroyed_names_max;
        settings.config.timeout_ms = 60'000;  // so much is lost that ten seconds may be too few
        settings.seed = seed_;
        settings.is_validating = true;
        return settings;
    }

    TankLayout layout_;
    std::uint64_t seed_;
    SimulatedNetwork network_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    TankWorld world_;
    NetDriver server_;
    std::vector<std::unique_ptr<TankClient>> clients_;
    std::map<ObjectHandle, NetObjectId> ids_;
    std::map<ObjectHandle, NetGUID> guids_;
};

[[nodiscard]] Bytes parts_message(const std::vector<std::string>& names) {
    return written([&](BitWriter& writer) {
        writer.write_bits(2, 8);
        for (const std::string& name : names) {
            writer.write_packed_uint(name.size());
            for (const char character : name) {
                writer.write_bits(static_cast<unsigned char>(character), 8);
            }
        }
    });
}

}  // namespace

TEST_CASE("Destroyed parts: who joins later is told behind the open of their outer",
          "[netdriver][subobjects]") {
    TankGame game;
    const std::size_t witness = game.join();
    const ObjectHandle tank = game.add_tank();
    game.add_part(tank, "gun");
    game.add_part(tank, "hatch");
    REQUIRE(game.settle());
    game.destroy_part(tank, "gun");
    REQUIRE(game.settle());
    CHECK(game.client(witness).world.told.empty());  // by the close of its channel
    CHECK(game.parts_on(witness, tank) == Names{"hatch", "left track", "right track"});

    const std::size_t late = game.join();
    while (game.find_on(late, tank).is_null()) {
        game.tick();
    }
    CHECK(game.client(late).world.told == std::vector<std::string>{"gun"});  // in the same packet
    REQUIRE(game.settle());
    CHECK(game.parts_on(late, tank) == Names{"hatch", "left track", "right track"});
    CHECK(game.client(late).driver.initial_batch().is_finished);
}

TEST_CASE("Destroyed parts: so is who is not shown the part, or sees the outer again",
          "[netdriver][subobjects]") {
    TankGame game(bad_link());
    const std::size_t client = game.join();
    const ObjectHandle tank = game.add_tank();
    NetDriver& driver = game.server();
    game.add_part(tank, "gun", LifetimeCondition::OwnerOnly);
    game.add_part(tank, "hatch");
    REQUIRE(game.settle());
    CHECK(game.parts_on(client, tank) == made_parts);
    game.destroy_part(tank, "gun");
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told == std::vector<std::string>{"gun"});

    driver.interest().set_relevant_for(TankGame::peer_of(client), game.id_of(tank), false);
    REQUIRE(game.settle());
    game.destroy_part(tank, "hatch");
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told.size() == 1);
    driver.interest().set_relevant_for(TankGame::peer_of(client), game.id_of(tank), true);
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told == std::vector<std::string>{"gun", "gun", "hatch"});
    CHECK(game.parts_on(client, tank) == Names{"left track", "right track"});
}

TEST_CASE("Destroyed parts: of an outer that sleeps it is told when that wakes",
          "[netdriver][subobjects][dormancy]") {
    TankGame game;
    const std::size_t client = game.join();
    const ObjectHandle tank = game.add_tank();
    NetDriver& driver = game.server();
    game.add_part(tank, "gun");
    game.add_part(tank, "hatch", LifetimeCondition::OwnerOnly);
    REQUIRE(game.settle());
    driver.set_dormancy(game.id_of(tank), NetDormancy::DormantAll);
    game.tick(50);
    REQUIRE(driver.is_dormant_for(TankGame::peer_of(client), game.id_of(tank)));
    game.destroy_part(tank, "gun");    // goes at once, as any dormant object
    game.destroy_part(tank, "hatch");  // was not shown
    game.tick(50);
    CHECK(game.parts_on(client, tank) == Names{"hatch", "left track", "right track"});
    CHECK(driver.is_settled());

    const std::size_t late = game.join();  // is sent what sleeps, and told with it
    game.tick(100);
    CHECK(game.parts_on(late, tank) == Names{"left track", "right track"});
    CHECK(driver.is_dormant_for(TankGame::peer_of(late), game.id_of(tank)));
    CHECK(game.client(client).world.told.empty());

    driver.flush_dormancy(game.id_of(tank));
    game.tick(50);
    CHECK(game.parts_on(client, tank) == Names{"left track", "right track"});
    CHECK(driver.is_dormant_for(TankGame::peer_of(client), game.id_of(tank)));
}

TEST_CASE("Destroyed parts: torn off, an object is told of them first", "[netdriver][subobjects]") {
    TankGame game;
    const std::size_t client = game.join();
    const ObjectHandle tank = game.add_tank();
    game.add_part(tank, "gun", LifetimeCondition::OwnerOnly);
    REQUIRE(game.settle());
    game.destroy_part(tank, "gun");
    game.server().tear_off(game.id_of(tank));
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told == std::vector<std::string>{"gun"});
    CHECK(game.server().object_count() == 0);
}

TEST_CASE("Destroyed parts: a name that is given again is told no more",
          "[netdriver][subobjects]") {
    TankGame game;
    const ObjectHandle tank = game.add_tank();
    for (const std::string& name : made_parts) {
        game.add_part(tank, name);
        game.destroy_part(tank, name);
    }
    game.add_part(tank, "hatch");
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told ==
          std::vector<std::string>{"gun", "left track", "right track"});
    CHECK(game.parts_on(client, tank) == Names{"hatch"});
}

TEST_CASE("Destroyed parts: one that is made again waits until the old one is gone",
          "[netdriver][subobjects]") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        INFO("seed " << seed);
        TankGame game(bad_link(), seed);
        const std::size_t client = game.join();
        const ObjectHandle tank = game.add_tank();
        game.add_part(tank, "gun");
        REQUIRE(game.settle());
        for (int i = 0; i < 10; ++i) {
            game.destroy_part(tank, "gun");
            (void)game.add_tank();  // takes the slot, so that the next gun has another channel
            game.add_part(tank, "gun");
            game.world().at(game.world().part(tank, "gun")).hp = i;
            game.tick(1 + i);
        }
        REQUIRE(game.settle());
        CHECK(game.parts_on(client, tank) == made_parts);
        const ObjectHandle shown = game.find_on(client, tank);
        const TankWorld& world = game.client(client).world;
        CHECK(game.client(client).world.at(world.part(shown, "gun")).hp == 9);
        CHECK(game.client(client).world.told.empty());
    }
}

TEST_CASE("Destroyed parts: a notice that comes behind the same name again takes nothing",
          "[netdriver][subobjects]") {
    const LogSpy log;
    ForgedServer server;
    server.welcome();
    server.open(1, TestSchema::pawn_number);
    server.deliver_packet({open_bunch(
        2, NetGUID{2}, TestSchema::pawn_number, (1u << 9) | (1u << 4), [](BitWriter& writer) {
            writer.write_packed_uint(1);
            writer.write_packed_uint(3);
            for (const char character : {'g', 'u', 'n'}) {
                writer.write_bits(static_cast<unsigned char>(character), 8);
            }
        })});
    REQUIRE_FALSE(server.object_on(2).is_null());
    server.deliver_packet({message_bunch(1, 2, parts_message({"gun", "hatch"}))});
    CHECK(server.is_joined());
    CHECK(server.world().destroyed_parts == std::vector<std::string>{"hatch"});
    server.deliver_packet({close_bunch(2, 2)});
    server.deliver_packet({message_bunch(1, 3, parts_message({"gun"}))});
    CHECK(server.world().destroyed_parts == std::vector<std::string>{"hatch", "gun"});
}

TEST_CASE("Hostile: a notice of destroyed parts is all names, or nothing of it is told",
          "[netdriver][hostile][subobjects]") {
    ForgedServer server;
    server.welcome();
    SECTION("of none") {
        server.open(1, TestSchema::pawn_number);
        server.deliver_packet({message_bunch(1, 2, parts_message({}))});
        CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    }
    SECTION("with one that is none behind one that is") {
        server.open(1, TestSchema::pawn_number);
        const std::string bad = GENERATE(std::string(), std::string(97, 'x'), std::string("\xFF"));
        server.deliver_packet({message_bunch(1, 2, parts_message({"gun", bad}))});
        CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    }
    SECTION("of an object that was refused") {
        const LogSpy log;
        server.world().refused_layout = &TestSchema::get().pawn();
        server.deliver_packet({open_bunch(1, NetGUID{1}, TestSchema::pawn_number)});
        server.deliver_packet({message_bunch(1, 2, parts_message({"gun"}))});
        CHECK(server.is_joined());
    }
    SECTION("of none that is there") {
        server.deliver_packet({message_bunch(1, 1, parts_message({"gun"}))});
        CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    }
    CHECK(server.world().destroyed_parts.empty());
}

TEST_CASE("Destroyed parts: any number is told, and their number is bounded",
          "[netdriver][subobjects]") {
    constexpr int count = 3'000;
    const LogSpy log;
    TankGame game(bad_link(), 1, count);
    const ObjectHandle tank = game.add_tank();
    const ObjectHandle other = game.add_tank();
    for (int i = 0; i < count; ++i) {
        const std::string name = "bolt " + std::to_string(i);
        game.add_part(i % 2 == 0 ? tank : other, name);
        game.destroy_part(i % 2 == 0 ? tank : other, name);
    }
    game.add_part(tank, "gun");
    CHECK(LogSpy::messages().empty());
    game.destroy_part(tank, "gun");  // one too many
    CHECK(LogSpy::messages().size() == 1);
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told.size() == count);
    CHECK(game.client(client).driver.initial_batch().is_finished);
    game.remove_tank(other);  // takes its names along
    game.add_part(tank, "hatch");
    game.destroy_part(tank, "hatch");
    CHECK(LogSpy::messages().size() == 1);
    REQUIRE(game.settle());
}

namespace {

/// Tanks of which parts are destroyed and made again, come into sight and go out of it, sleep and
/// change owners, before clients that come later and later.
class TankStage {
  public:
    explicit TankStage(std::uint64_t seed) : random_(seed), game_(bad_link(), seed) {
        (void)game_.join();
    }

    void play(int tick_count) {
        for (int i = 0; i < tick_count; ++i) {
            for (std::uint32_t turn = random_.below(3); turn > 0; --turn) {
                act();
            }
            if (game_.client_count() < 4 && random_.percent(2)) {
                (void)game_.join();
            }
            game_.tick();
        }
        for (const auto& [tank, parts] : tanks_) {
            game_.server().set_dormancy(game_.id_of(tank), NetDormancy::Awake);
        }
        REQUIRE(game_.settle());
        check();
    }

  private:
    void check() {
        for (std::size_t client = 0; client < game_.client_count(); ++client) {
            for (const auto& [tank, replicated] : tanks_) {
                INFO("client " << client << ", tank " << tank.value);
                const bool is_shown =
                    game_.server().is_relevant_for(TankGame::peer_of(client), game_.id_of(tank));
                REQUIRE(!game_.find_on(client, tank).is_null() == is_shown);
                if (is_shown) {
                    CHECK(game_.parts_on(client, tank) == game_.world().parts_of(tank));
                }
            }
        }
    }
    void act() {
        if (tanks_.size() < 2 || (tanks_.size() < 6 && random_.percent(5))) {
            tanks_[game_.add_tank()] = {};
            return;
        }
        auto tank = tanks_.begin();
        std::advance(tank, random_.below(static_cast<std::uint32_t>(tanks_.size())));
        const NetObjectId id = game_.id_of(tank->first);
        const PeerId peer = TankGame::peer_of(random_.below(4));
        switch (random_.below(12)) {
            case 0:
                game_.server().interest().set_relevant_for(peer, id, random_.percent(60));
                break;
            case 1:
                game_.server().set_owner(id, peer);
                break;
            case 2:
                game_.server().set_dormancy(
                    id, random_.percent(50) ? NetDormancy::DormantAll : NetDormancy::Awake);
                break;
            case 3:
                game_.server().flush_dormancy(id);
                break;
            case 4:
                if (random_.percent(10)) {
                    game_.remove_tank(tank->first);
                    tanks_.erase(tank);
                }
                break;
            default:
                add_or_destroy(tank->first, tank->second);
                break;
        }
    }
    void add_or_destroy(ObjectHandle tank, Names& replicated) {
        auto name = made_parts.begin();
        std::advance(name, random_.below(static_cast<std::uint32_t>(made_parts.size())));
        if (replicated.erase(*name) != 0) {
            game_.destroy_part(tank, *name);
            return;
        }
        constexpr LifetimeCondition conditions[] = {
            LifetimeCondition::None, LifetimeCondition::OwnerOnly, LifetimeCondition::SkipOwner};
        // Made again, a part is shown to all, or who is not shown it does not know that it is.
        const bool is_made = game_.world().parts_of(tank).contains(*name);
        game_.add_part(tank, *name, is_made ? random_.pick(conditions) : LifetimeCondition::None);
        replicated.insert(*name);
    }

    SeededRandom random_;
    TankGame game_;
    std::map<ObjectHandle, Names> tanks_;  // with the parts of them that are replicated
};

}  // namespace

TEST_CASE("Destroyed parts: at random over a network that loses, all show the same tanks",
          "[netdriver][subobjects]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 200; ++round) {
        INFO("seed " << seed << ", round " << round);
        TankStage stage(seed * 1'000 + round);
        stage.play(static_cast<int>(20 + 10 * (round % 30)));
    }
}

}  // namespace replayout::test
