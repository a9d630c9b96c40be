// SPDX-License-Identifier: MIT
//
// What tests of destroyed parts play with: tanks, which come with their parts at both ends.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/reflection.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/catch.h"
#include "support/types/test_layout.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {

using Names = std::set<std::string>;

struct Tank {
    std::int32_t hp = 100;
};

[[nodiscard]] inline Result<const Type*> build_tank(TypeRegistry& registry) {
    return class_builder<Tank>(registry, "Tank").property<&Tank::hp>().build();
}

/// Whoever makes a tank here makes these parts with it.
inline const Names made_parts = {"gun", "hatch", "left track", "right track"};

class TankWorld final : public TypedWorld<Tank> {
  public:
    [[nodiscard]] ObjectHandle make_tank() {
        const ObjectHandle tank = add();
        for (const std::string& name : made_parts) {
            parts_[tank][name] = add();
        }
        return tank;
    }
    void erase_tank(ObjectHandle tank) {
        for (const auto& [name, part] : parts_[tank]) {
            remove(part);
        }
        parts_.erase(tank);
        remove(tank);
    }
    void erase_part(ObjectHandle tank, const std::string& name) {
        remove(parts_.at(tank).at(name));
        parts_.at(tank).erase(name);
    }
    /// The one that is there, or a new one.
    ObjectHandle find_or_make_part(ObjectHandle tank, const std::string& name) {
        ObjectHandle& part = parts_.at(tank)[name];
        part = part.is_null() ? add() : part;
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
        remove(object);
    }
    void destroy_part(ObjectHandle outer, std::string_view stable_name) override {
        const std::string name(stable_name);
        told.push_back(name);
        REQUIRE(find(outer) != nullptr);
        const auto found = parts_.at(outer).find(name);
        if (found != parts_.at(outer).end()) {
            REQUIRE_FALSE(shown_parts_.contains(found->second));
            erase_part(outer, name);
        }
    }

    std::vector<std::string> told;

  private:
    std::map<ObjectHandle, std::map<std::string, ObjectHandle>> parts_;  // by tank
    std::set<ObjectHandle> shown_parts_;
};

[[nodiscard]] inline LinkSettings bad_tank_link() {
    LinkSettings link;
    link.loss = 0.3;
    link.duplicate = 0.1;
    link.reorder = 0.2;
    link.latency_ms = 60;
    link.jitter_ms = 40;
    return link;
}

[[nodiscard]] inline SimulatedNetworkSettings tank_network(const LinkSettings& link) {
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
                      const NetConfig& config = {})
        : seed_(seed),
          network_(tank_network(link), seed, std::pmr::get_default_resource()),
          server_(settings(config), network_.endpoint(PeerId{1}), world_) {
        REQUIRE(server_.add_layout(*layout_));
        REQUIRE(server_.listen());
    }

    [[nodiscard]] NetDriver& server() noexcept { return server_; }
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
    /// Nothing arrives any more, at either end.
    void cut() {
        LinkSettings link;
        link.loss = 1;
        network_.set_settings(link);
    }
    [[nodiscard]] TankClient& client(std::size_t index) { return *clients_[index]; }
    [[nodiscard]] TankWorld& world() noexcept { return world_; }
    [[nodiscard]] static PeerId peer_of(std::size_t client) { return {client + 2}; }
    [[nodiscard]] std::size_t client_count() const { return clients_.size(); }

    std::size_t join() {
        NetDriverSettings mine = settings({});
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

    void tick(std::uint32_t count = 1) {
        for (std::uint32_t i = 0; i < count; ++i) {
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
    [[nodiscard]] NetDriverSettings settings(const NetConfig& config) const {
        NetDriverSettings settings;
        settings.config = config;
        settings.config.timeout_ms = 60'000;  // so much is lost that ten seconds may be too few
        settings.seed = seed_;
        settings.is_validating = true;
        return settings;
    }

    TestLayout layout_{build_tank};
    std::uint64_t seed_;
    SimulatedNetwork network_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    TankWorld world_;
    NetDriver server_;
    std::vector<std::unique_ptr<TankClient>> clients_;
    std::map<ObjectHandle, NetObjectId> ids_;
    std::map<ObjectHandle, NetGUID> guids_;
};

}  // namespace replayout::test
