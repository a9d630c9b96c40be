// SPDX-License-Identifier: MIT
//
// All that a game may do to a driver, at random and all at once: also out of remote functions that
// run on the server, and where its world is told of peers. In the end every client is right, and
// packets are the same at each level of sharing.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/reflection.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/networks/host_settings.h"
#include "support/networks/host_ticks.h"
#include "support/networks/scripted_transport.h"
#include "support/types/random_rates.h"
#include "support/types/test_layout.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

struct Command {
    std::uint32_t number = 0;
    ObjectHandle target;
    std::string text;
};

struct Ship {
    std::uint32_t course = 0;
    std::uint32_t orders = 0;  // OwnerOnly
    std::string cargo;         // now and then larger than many packets
    std::vector<std::uint32_t> crew;
    ObjectHandle escort;
    std::uint32_t built = 0;                         // InitialOnly
    std::uint32_t mood = 0;                          // Dynamic
    std::string rumour;                              // SkipOwner
    const std::function<void()>* on_call = nullptr;  // the object may be gone after it

    void multicast_signal(const Command&) { react(); }
    void multicast_flash(const Command&) { react(); }
    void client_order(const Command&) { react(); }
    void server_steer(const Command&) { react(); }

  private:
    void react() const {
        if (on_call != nullptr) {
            (*on_call)();
        }
    }
};

[[nodiscard]] Result<const Type*> build_ship(TypeRegistry& registry) {
    (void)struct_builder<Command>(registry, "Order")
        .property<&Command::number>()
        .property<&Command::target>()
        .property<&Command::text>()
        .build();
    using Flags = FunctionFlags;
    return class_builder<Ship>(registry, "Ship")
        .property<&Ship::course>()
        .property<&Ship::orders>()
        .condition(LifetimeCondition::OwnerOnly)
        .property<&Ship::cargo>()
        .property<&Ship::crew>()
        .property<&Ship::escort>()
        .property<&Ship::built>()
        .condition(LifetimeCondition::InitialOnly)
        .property<&Ship::mood>()
        .condition(LifetimeCondition::Dynamic)
        .property<&Ship::rumour>()
        .condition(LifetimeCondition::SkipOwner)
        .function<&Ship::multicast_signal>(Flags::Multicast | Flags::Reliable)
        .function<&Ship::multicast_flash>(Flags::Multicast)
        .function<&Ship::client_order>(Flags::Client | Flags::Reliable)
        .function<&Ship::server_steer>(Flags::Server | Flags::Reliable)
        .build();
}

[[nodiscard]] const RepLayout& ship_layout() {
    static const TestLayout layout(build_ship, [] {
        RepLayoutOptions options;
        options.limits.string_bytes_max = 30'000;
        return options;
    }());
    return *layout;
}

class Sea final : public TypedWorld<Ship> {
  public:
    explicit Sea(std::uint64_t first_handle) : TypedWorld(first_handle) {
        on_made = [this](ObjectHandle, Ship& ship) { ship.on_call = on_call ? &on_call : nullptr; };
    }

    bool is_net_relevant_for(ObjectHandle object, PeerId peer) override {
        return (object.value * 31 + peer.value * 17 + whim) / 7 % 2 == 0;
    }
    void peer_joined(PeerId) override { react(); }
    void peer_left(PeerId, CloseReason) override { react(); }

    std::function<void()> on_call;  // the server's alone
    std::uint64_t whim = 0;

  private:
    void react() const {
        if (on_call) {
            on_call();
        }
    }
};

struct Host {
    Host(const NetDriverSettings& settings, Transport& endpoint, std::uint64_t first_handle)
        : sea(first_handle),
          transport(endpoint),
          driver(with_resource(settings, &memory), transport, sea) {
        REQUIRE(driver.add_layout(ship_layout()));
    }

    CountingResource memory;
    Sea sea;
    ScriptedTransport transport;
    NetDriver driver;
};

class WholeGame {
  public:
    WholeGame(std::uint64_t seed, SharingLevel sharing, bool is_reacting)
        : seed_(seed),
          sharing_(sharing),
          random_(seed),
          rates_(seed),
          network_(wide_network(link(seed)), seed, std::pmr::get_default_resource()),
          now_(NetTime::from_milliseconds(1'000)),
          server_(make_host(0, server_peer)) {
        REQUIRE(server_->driver.listen());
        server_->transport.is_recording = true;
        if (is_reacting) {
            server_->sea.on_call = [this] { react(); };
        }
        for (int i = 0; i < 3; ++i) {
            join();
        }
    }

    void play(int ticks) {
        for (int i = 0; i < ticks; ++i) {
            if (random_.percent(1)) {
                replace_client();
            }
            tick();
        }
    }
    void end() {
        is_over_ = true;
        network_.heal();
        NetDriver& driver = server_->driver;
        for (const auto& [handle, id] : ids_) {
            if (!outers_.contains(handle)) {
                driver.rates().set_net_update_frequency(id, {});
                driver.set_dormancy(id, NetDormancy::Awake);
            }
            driver.set_dynamic_condition(id, "mood", LifetimeCondition::None);
        }
        for (const PeerId peer : peers_) {
            driver.rates().set_bytes_per_second_max(peer, 0);
        }
        bool is_settled = false;
        for (int i = 0; i < 6'000 && !is_settled; ++i) {
            tick();
            is_settled = i > 60 && are_settled(server_, clients_);
        }
        REQUIRE(is_settled);
        for (std::size_t client = 0; client < clients_.size(); ++client) {
            for (const auto& [handle, id] : ids_) {
                INFO("client " << client << ", object " << handle.value);
                check(client, handle, id);
            }
        }
        CHECK(static_cast<std::int64_t>(driver.memory_report().total_bytes()) ==
              server_->memory.bytes_in_use());
    }

    [[nodiscard]] const std::vector<Datagram>& sent() const { return server_->transport.sent; }
    [[nodiscard]] std::uint32_t reaction_count() const noexcept { return reaction_count_; }

  private:
    static constexpr PeerId server_peer{1};
    static constexpr std::size_t ships_max = 24;

    [[nodiscard]] static LinkSettings link(std::uint64_t seed) {
        LinkSettings link;
        link.loss = seed % 3 == 0 ? 0.0 : 0.3;
        link.latency_ms = seed % 2 == 0 ? 0 : 40;
        link.jitter_ms = seed % 2 == 0 ? 0 : 20;
        link.duplicate = 0.05;
        return link;
    }
    [[nodiscard]] std::unique_ptr<Host> make_host(std::uint64_t number, PeerId peer) {
        NetConfig config = number == 0 ? rates_.with_caps({}) : NetConfig();
        config.timeout_ms = 60'000;
        if (seed_ % 4 == 0) {
            config.packet_bytes_max = 400;
        }
        if (seed_ % 5 == 0) {
            config.initial_opens_per_flush_max = 3;
        }
        if (seed_ % 7 == 0) {
            config.reliable_waiting_max = 40;
            config.reliable_waiting_bytes_max = 64 * 1024;
        }
        NetDriverSettings settings = host_settings(config, seed_ * 100 + number, sharing_,
                                                   NetDriverSettings().is_validating);
        settings.interest.cull_distance = 100;
        settings.interest.axes = InterestAxes(seed_ % 3);
        return std::make_unique<Host>(settings, network_.endpoint(peer),
                                      1'000 + number * 1'000'000);
    }
    void join() {
        const PeerId peer{++next_peer_};
        clients_.push_back(make_host(next_peer_, peer));
        peers_.push_back(peer);
        REQUIRE(clients_.back()->driver.connect(server_peer, now_));
    }
    /// It is kept, as packets to it may be under way.
    void retire(std::size_t client) {
        const auto place = static_cast<std::ptrdiff_t>(client);
        retired_.push_back(std::move(clients_[client]));
        clients_.erase(clients_.begin() + place);
        peers_.erase(peers_.begin() + place);
        join();
    }
    void replace_client() {
        const std::uint32_t client = random_.below(static_cast<std::uint32_t>(clients_.size()));
        if (random_.percent(50)) {
            server_->driver.disconnect(peers_[client]);
        } else {
            clients_[client]->driver.disconnect(server_peer);
        }
        clients_[client]->driver.tick_flush(now_);
        retire(client);
    }

    void tick() {
        now_ = now_.plus_milliseconds(random_.percent(3) ? 500 : random_.percent(5) ? 0 : 20);
        tick_hosts(network_, now_, server_, clients_, [this] {
            for (std::uint32_t i = is_over_ ? 0 : random_.below(10); i > 0; --i) {
                act();
            }
            for (std::uint32_t i = is_over_ ? 0 : random_.below(10); i > 0 && !ids_.empty(); --i) {
                change(ship(any()));
            }
        });
        if (!is_over_) {
            call_from_clients();
        }
        for (std::size_t client = 0; client < clients_.size(); ++client) {
            if (clients_[client]->driver.state() == ConnectionState::Closed) {
                retire(client);
                break;
            }
        }
    }
    void call_from_clients() {
        for (const std::unique_ptr<Host>& host : clients_) {
            if (host->driver.state() != ConnectionState::Joined || host->sea.objects().empty()) {
                continue;
            }
            const auto count = static_cast<std::uint32_t>(host->sea.objects().size());
            const ObjectHandle ship =
                std::next(host->sea.objects().begin(), random_.below(count))->first;
            const Command order{++count_, {}, "left"};
            if (host->driver.role_of(ship).is_owned) {
                (void)host->driver.call_function(ship, "server_steer", &order);
            }
        }
    }
    void react() {
        if (is_over_ || depth_ >= 3 || ids_.empty()) {
            return;
        }
        ++depth_;
        ++reaction_count_;
        for (std::uint32_t i = random_.below(4); i > 0; --i) {
            act();
        }
        if (random_.percent(3)) {
            server_->driver.disconnect(random_.pick(peers_));
        }
        --depth_;
    }

    [[nodiscard]] ObjectHandle any() {
        return std::next(ids_.begin(), random_.below(static_cast<std::uint32_t>(ids_.size())))
            ->first;
    }
    [[nodiscard]] ObjectHandle any_whole() {
        ObjectHandle found = any();
        while (outers_.contains(found)) {
            found = outers_.at(found);
        }
        return found;
    }
    [[nodiscard]] Ship& ship(ObjectHandle handle) { return server_->sea.at(handle); }
    [[nodiscard]] Vector3 anywhere() {
        Vector3 place;
        place.x = static_cast<float>(random_.below(400)) - 100;
        place.y = static_cast<float>(random_.below(50));
        place.z = static_cast<float>(random_.below(50));
        return place;
    }
    [[nodiscard]] std::string letters(std::size_t count) {
        return std::string(count, static_cast<char>('a' + random_.below(26)));
    }

    void change(Ship& ship) {
        switch (random_.below(8)) {
            case 0:
                ship.course = ++count_;
                break;
            case 1:
                ship.orders = ++count_;
                break;
            case 2:
                ship.cargo = letters(random_.below(random_.percent(25) ? 25'000 : 300));
                break;
            case 3:
                ship.crew.resize(random_.below(600), ++count_);
                break;
            case 4:
                ship.escort = random_.percent(75) ? any() : ObjectHandle{};
                break;
            case 5:
                ship.built = ++count_;
                break;
            case 6:
                ship.mood = ++count_;
                break;
            default:
                ship.rumour = letters(random_.percent(12) ? 5'000 : 20);
                break;
        }
    }
    void act() {
        if (ids_.size() < 6 || (ids_.size() < ships_max && random_.percent(10))) {
            add();
            return;
        }
        const ObjectHandle part = any();
        const ObjectHandle whole = any_whole();
        const PeerId peer = random_.pick(peers_);
        switch (random_.below(4)) {
            case 0:
                say_who_sees(peer, part, whole);
                break;
            case 1:
                say_what_it_is(peer, part, whole);
                break;
            case 2:
                say_where(peer, whole);
                break;
            default:
                end_or_call(part, whole);
                break;
        }
        if (!ids_.empty()) {
            rates_.maybe_change(server_->driver.rates(), peer, ids_.at(any_whole()));
        }
    }
    void add() {
        SpawnParameters parameters;
        if (random_.percent(60)) {
            parameters.location = anywhere();
        }
        const ObjectHandle handle = server_->sea.add();
        ship(handle).built = ++count_;
        ids_[handle] = server_->driver.add_object(ship_layout(), handle, parameters);
        rates_.set_object(server_->driver.rates(), ids_[handle]);
    }
    void add_part(ObjectHandle outer) {
        static constexpr LifetimeCondition conditions[] = {
            LifetimeCondition::None, LifetimeCondition::OwnerOnly, LifetimeCondition::NetGroup,
            LifetimeCondition::SkipOwner};
        SubobjectParameters parameters;
        parameters.condition = random_.pick(conditions);
        const ObjectHandle handle = server_->sea.add();
        ids_[handle] =
            server_->driver.add_subobject(ids_.at(outer), ship_layout(), handle, parameters);
        outers_[handle] = outer;
        if (parameters.condition == LifetimeCondition::NetGroup) {
            server_->driver.interest().add_to_group(ids_[handle], NetGroup{random_.below(3)});
        }
    }
    void say_who_sees(PeerId peer, ObjectHandle part, ObjectHandle whole) {
        Interest interest = server_->driver.interest();
        const NetObjectId id = ids_.at(whole);
        switch (random_.below(8)) {
            case 0:
                interest.set_relevant_for(peer, id, random_.percent(50));
                break;
            case 1:
                interest.clear_relevant_for(peer, id);
                break;
            case 2:
                interest.set_relevancy(id, NetRelevancy(random_.below(6)));
                break;
            case 3:
                interest.add_to_group(id, NetGroup{random_.below(3)});
                break;
            case 4:
                interest.remove_from_group(ids_.at(part), NetGroup{random_.below(3)});
                interest.clear_groups(id);
                break;
            case 5:
                interest.set_in_group(peer, NetGroup{random_.below(3)}, random_.percent(50));
                break;
            case 6:
                server_->sea.whim = random_.below(1'000);
                interest.reconsider(id);
                break;
            default:
                if (const ObjectHandle owner = any_whole(); owner < whole) {  // no circle
                    interest.set_owner_object(id, ids_.at(owner));
                }
                break;
        }
    }
    void say_what_it_is(PeerId peer, ObjectHandle part, ObjectHandle whole) {
        static constexpr NetDormancy dormancies[] = {NetDormancy::Awake, NetDormancy::DormantAll,
                                                     NetDormancy::DormantPartial,
                                                     NetDormancy::Initial};
        static constexpr LifetimeCondition conditions[] = {
            LifetimeCondition::None, LifetimeCondition::OwnerOnly, LifetimeCondition::SkipOwner,
            LifetimeCondition::InitialOnly, LifetimeCondition::Never};
        NetDriver& driver = server_->driver;
        const NetObjectId id = ids_.at(whole);
        switch (random_.below(7)) {
            case 0:
                driver.set_owner(id, peer);
                break;
            case 1:
                driver.clear_owner(id);
                break;
            case 2:
                driver.set_dormancy(id, random_.pick(dormancies));
                break;
            case 3:
                driver.set_dormant_for(peer, id, random_.percent(50));
                break;
            case 4:
                driver.flush_dormancy(id);
                break;
            case 5:
                driver.set_dynamic_condition(ids_.at(part), "mood", random_.pick(conditions));
                break;
            default:
                driver.set_autonomous(id, random_.percent(50));
                driver.set_replicates_physics(id, random_.percent(50));
                break;
        }
    }
    void say_where(PeerId peer, ObjectHandle whole) {
        Interest interest = server_->driver.interest();
        const std::uint32_t view = random_.below(views_per_client_max);
        switch (random_.below(6)) {
            case 0:
                interest.set_location(ids_.at(whole), anywhere());
                break;
            case 1:
                interest.set_viewer(peer, anywhere(), view);
                break;
            case 2:
                interest.remove_viewer(peer, view);
                break;
            case 3:
                interest.set_view_radius(peer, static_cast<float>(random_.below(300)), view);
                break;
            case 4:
                interest.set_cull_distance(ids_.at(whole),
                                           static_cast<float>(1 + random_.below(300)));
                break;
            default:
                server_->driver.rates().set_priority_distance(static_cast<float>(random_.below(3)) *
                                                              50);
                break;
        }
    }
    void end_or_call(ObjectHandle part, ObjectHandle whole) {
        const NetObjectId id = ids_.at(part);
        Command order{++count_, any(), "right"};
        switch (random_.below(6)) {
            case 0:
                if (random_.percent(15)) {
                    server_->driver.tear_off(ids_.at(whole));
                    forget(whole);
                } else if (random_.percent(15)) {
                    server_->driver.remove_object(id);
                    forget(part);
                }
                break;
            case 1:
                if (ids_.size() < ships_max) {
                    add_part(part);
                }
                break;
            case 2:
                order.text = random_.percent(10) ? letters(4'000) : order.text;
                (void)server_->driver.call_function(id, "multicast_signal", &order);
                break;
            case 3:
                (void)server_->driver.call_function(id, "multicast_flash", &order);
                break;
            case 4:
                (void)server_->driver.call_function(id, "client_order", &order);
                break;
            default:
                (void)server_->driver.rates().owed_to(random_.pick(peers_), id);
                break;
        }
    }
    /// With all its parts. Memory stays: the driver asks for that of what is torn off.
    void forget(ObjectHandle gone) {
        std::vector<ObjectHandle> all{gone};
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (const auto& [part, outer] : outers_) {
                if (outer == all[i]) {
                    all.push_back(part);
                }
            }
        }
        for (const ObjectHandle handle : all) {
            ids_.erase(handle);
            outers_.erase(handle);
        }
    }

    void check(std::size_t client, ObjectHandle handle, NetObjectId id) {
        Host& host = *clients_[client];
        NetDriver& driver = server_->driver;
        const auto found_on = [&](ObjectHandle object) {
            return ids_.contains(object)
                       ? host.driver.guids().find_object(driver.guid_of(ids_.at(object)))
                       : ObjectHandle{};
        };
        const bool is_relevant = driver.is_relevant_for(peers_[client], id);
        REQUIRE(found_on(handle).is_null() != is_relevant);
        if (!is_relevant) {
            return;
        }
        const Ship& there = host.sea.at(found_on(handle));
        const Ship& here = ship(handle);
        CHECK(there.course == here.course);
        CHECK((there.cargo == here.cargo));
        CHECK((there.crew == here.crew));
        CHECK(there.mood == here.mood);
        CHECK(there.escort == found_on(here.escort));
        if (driver.role_for(peers_[client], id).is_owned) {
            CHECK(there.orders == here.orders);
        } else {
            CHECK((there.rumour == here.rumour));
        }
        CHECK(driver.rates().owed_to(peers_[client], id).reason == OwedReason::Nothing);
    }

    std::uint64_t seed_;
    SharingLevel sharing_;
    SeededRandom random_;
    RandomRates rates_;
    SimulatedNetwork network_;
    NetTime now_;
    std::unique_ptr<Host> server_;
    std::vector<std::unique_ptr<Host>> clients_;
    std::vector<std::unique_ptr<Host>> retired_;
    std::vector<PeerId> peers_;
    std::uint64_t next_peer_ = 1;
    std::map<ObjectHandle, NetObjectId> ids_;
    std::map<ObjectHandle, ObjectHandle> outers_;  // of parts
    std::uint32_t count_ = 0;
    std::uint32_t reaction_count_ = 0;
    int depth_ = 0;
    bool is_over_ = false;
};

}  // namespace

TEST_CASE("Whole game: whatever games do to the driver, out of calls too, ends right",
          "[netdriver][random]") {
    const SeedRange seeds = seed_range(1, 8);
    std::uint32_t reaction_count = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        WholeGame game(seed, SharingLevel::Bundles, seed % 4 != 0);
        game.play(150);
        game.end();
        reaction_count += game.reaction_count();
    }
    CHECK((!seeds.is_default || reaction_count > 500));
}

TEST_CASE("Whole game: whatever games do to the driver, sharing changes no byte",
          "[netdriver][random]") {
    for (const std::uint64_t seed : seed_range(21, 2)) {
        INFO("REPLAYOUT_SEED=" << seed);
        WholeGame shared(seed, SharingLevel::Bundles, true);
        shared.play(100);
        for (const SharingLevel sharing :
             {SharingLevel::Off, SharingLevel::Pieces, SharingLevel::Payloads}) {
            WholeGame other(seed, sharing, true);
            other.play(100);
            REQUIRE((other.sent() == shared.sent()));
        }
    }
}

}  // namespace replayout::test
