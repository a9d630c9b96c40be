// SPDX-License-Identifier: MIT
//
// A game of one class, played by a server and clients over a simulated network.
//
//     ClassGame<Pawn> game(build_pawn);
//     game.join();
//     const ObjectHandle pawn = game.add();
//     game.object(pawn).health = 7;
//     REQUIRE(game.settle());
//     CHECK(game.object_on(0, pawn).health == 7);
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "support/checks/catch.h"
#include "support/networks/host_ticks.h"
#include "support/networks/scripted_transport.h"
#include "support/types/test_layout.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {

struct ClassGameOptions {
    LinkSettings link;
    NetConfig config;  ///< of all drivers
    std::uint64_t seed = 1;
    SharingLevel sharing = SharingLevel::Bundles;
    Executor* executor = nullptr;  ///< of the server, which uses it however little there is to do
    bool is_validating = NetDriverSettings().is_validating;
    std::uint32_t mark_validation_ticks = NetDriverSettings().mark_validation_ticks;
    RepLayoutOptions layout;
    InterestSettings interest;
    /// Of all drivers, and of the network.
    MemoryResource* resource = std::pmr::get_default_resource();
};

template <typename T>
class ClassGame {
  public:
    explicit ClassGame(BuildType build, const ClassGameOptions& options = {})
        : options_(options),
          layout_(build, options.layout),
          network_(network_settings(options.link), options.seed, options.resource),
          now_(NetTime::from_milliseconds(1'000)) {
        server_ = make_host(0, server_peer);
        REQUIRE(server_->driver.listen());
    }

    [[nodiscard]] NetDriver& driver() { return server_->driver; }
    [[nodiscard]] NetDriver& client_driver(std::size_t client) { return clients_[client]->driver; }
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
    /// Between the server and the network.
    [[nodiscard]] ScriptedTransport& server_transport() noexcept { return server_->transport; }
    [[nodiscard]] const RepLayout& layout() const noexcept { return *layout_; }
    [[nodiscard]] std::size_t client_count() const noexcept { return clients_.size(); }

    std::size_t join() {
        const std::size_t client = clients_.size();
        clients_.push_back(make_host(client + 1, peer_of(client)));
        REQUIRE(clients_.back()->driver.connect(server_peer, now_));
        return client;
    }
    /// So many clients join, and all is settled.
    void join_settled(std::size_t count = 1) {
        for (; count > 0; --count) {
            join();
        }
        REQUIRE(settle());
    }
    [[nodiscard]] static constexpr PeerId peer_of(std::size_t client) noexcept {
        return {client + 2};
    }

    ObjectHandle add() {
        const ObjectHandle handle = make();
        announce(handle);
        return handle;
    }
    /// One that the driver is not told of yet; it can be referred to.
    ObjectHandle make() { return server_->world.add(); }
    NetObjectId announce(ObjectHandle handle) {
        return ids_[handle] = server_->driver.add_object(*layout_, handle);
    }
    ObjectHandle add_part(ObjectHandle outer, const SubobjectParameters& parameters = {}) {
        const ObjectHandle handle = server_->world.add();
        ids_[handle] = server_->driver.add_subobject(ids_.at(outer), *layout_, handle, parameters);
        return handle;
    }
    void remove(ObjectHandle object) {
        server_->driver.remove_object(ids_.at(object));
        ids_.erase(object);
        server_->world.remove(object);
    }
    [[nodiscard]] NetObjectId id_of(ObjectHandle object) const { return ids_.at(object); }
    [[nodiscard]] T& object(ObjectHandle object) { return server_->world.at(object); }
    /// Null: the client does not have it.
    [[nodiscard]] T* find_on(std::size_t client, ObjectHandle object) {
        Host& host = *clients_[client];
        const NetGUID guid = server_->driver.guid_of(ids_.at(object));
        const ObjectHandle found = host.driver.guids().find_object(guid);
        return host.world.find(found);
    }
    [[nodiscard]] T& object_on(std::size_t client, ObjectHandle object) {
        T* found = find_on(client, object);
        REQUIRE(found != nullptr);
        return *found;
    }
    /// The handle by which the client knows the object; null when it does not.
    [[nodiscard]] ObjectHandle handle_on(std::size_t client, ObjectHandle object) {
        return clients_[client]->driver.guids().find_object(
            server_->driver.guid_of(ids_.at(object)));
    }

    /// How often the server's driver asked for the memory of an object.
    [[nodiscard]] std::uint64_t lookup_count() const { return server_->world.lookup_count; }
    /// How many objects the client shows.
    [[nodiscard]] std::size_t object_count_on(std::size_t client) const {
        return clients_[client]->world.object_count();
    }

    void tick() {
        tick([] {});
    }
    /// The game `moves` when the server has taken what arrived, and before it sends.
    template <std::invocable Moves>
    void tick(Moves moves) {
        now_ = now_.plus_milliseconds(tick_ms);
        tick_hosts(network_, now_, server_, clients_, moves);
    }
    void tick(std::uint32_t count) {
        for (; count > 0; --count) {
            tick();
        }
    }
    /// Ticks until nothing is owed or under way. False: it does not come to that.
    [[nodiscard]] bool settle() {
        for (std::uint32_t i = 0; i < 2'000; ++i) {
            tick();
            if (are_settled(server_, clients_)) {
                return true;
            }
        }
        return false;
    }

  private:
    static constexpr PeerId server_peer{1};
    static constexpr std::int64_t tick_ms = 20;

    struct Host {
        Host(const NetDriverSettings& settings, Transport& endpoint, const RepLayout& layout,
             std::uint64_t first_handle)
            : world(first_handle), transport(endpoint), driver(settings, transport, world) {
            REQUIRE(driver.add_layout(layout));
        }

        TypedWorld<T> world;
        ScriptedTransport transport;
        NetDriver driver;
    };

    [[nodiscard]] static SimulatedNetworkSettings network_settings(const LinkSettings& link) {
        SimulatedNetworkSettings settings;
        settings.link = link;
        settings.datagram_bytes_max = 1'400;
        return settings;
    }

    [[nodiscard]] std::unique_ptr<Host> make_host(std::size_t number, PeerId peer) {
        constexpr std::uint64_t handles_per_host = 1'000'000;
        NetDriverSettings settings;
        settings.may_leave_out_texts = true;
        settings.config = options_.config;
        settings.seed = options_.seed + number;
        settings.sharing = options_.sharing;
        settings.executor = number == 0 ? options_.executor : nullptr;
        settings.executor_work_min = 0;
        settings.is_validating = options_.is_validating;
        settings.mark_validation_ticks = options_.mark_validation_ticks;
        settings.interest = options_.interest;
        settings.resource = options_.resource;
        return std::make_unique<Host>(settings, network_.endpoint(peer), *layout_,
                                      1'000 + number * handles_per_host);
    }

    ClassGameOptions options_;
    TestLayout layout_;
    SimulatedNetwork network_;
    NetTime now_;
    std::unique_ptr<Host> server_;
    std::vector<std::unique_ptr<Host>> clients_;
    std::map<ObjectHandle, NetObjectId> ids_;
};

}  // namespace replayout::test
