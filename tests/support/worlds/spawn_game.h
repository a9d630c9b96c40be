// SPDX-License-Identifier: MIT
//
// What tests of the spawn mechanism play with: props of one class and two archetypes, some of which
// lie in the map of both ends, and worlds that write down what they are told.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/reflection.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {

struct Prop {
    std::int32_t hp = 100;
    std::int32_t secret = 0;  // OwnerOnly
    ObjectHandle link;
    std::vector<std::string> heard;

    void client_tell() { heard.emplace_back("tell"); }
    void multicast_boom() { heard.emplace_back("boom"); }
    void server_use() { heard.emplace_back("use"); }
};

/// The class, and a barrel, which begins with 25.
class PropLayouts {
  public:
    static constexpr ArchetypeId barrel_id{7};

    PropLayouts();

    [[nodiscard]] const RepLayout& prop() const noexcept { return *prop_; }
    [[nodiscard]] const RepLayout& barrel() const noexcept { return *barrel_; }

  private:
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> prop_;
    std::unique_ptr<RepLayout> barrel_;
};

using Told = std::vector<std::string>;

class PropWorld final : public TypedWorld<Prop> {
  public:
    PropWorld(std::uint64_t first_handle, const PropLayouts& layouts);

    /// An object of the map, that both ends have.
    ObjectHandle place(const std::string& stable_name) { return named_[stable_name] = add(); }
    [[nodiscard]] bool contains(ObjectHandle object) const { return find(object) != nullptr; }
    [[nodiscard]] ObjectHandle named(const std::string& stable_name) const {
        return named_.at(stable_name);
    }

    ObjectHandle spawn(const SpawnInfo& info) override;
    /// Keeps what has a name, unless it was destroyed, and what was torn off.
    void despawn(ObjectHandle object, ChannelCloseReason reason) override;
    void role_changed(ObjectHandle object, const ObjectRole& previous,
                      const ObjectRole& role) override;
    void destroy_named(std::string_view stable_name) override;
    void initial_batch_started() override { batch_told.push_back(object_count()); }
    void initial_batch_finished() override {
        batch_told.push_back(object_count());
        if (on_batch_finished) {
            on_batch_finished();
        }
    }
    bool is_net_relevant_for(ObjectHandle object, PeerId peer) override {
        ++relevancy_questions;
        return on_relevancy_asked && on_relevancy_asked(object, peer);
    }
    void peer_joined(PeerId peer) override {
        told.push_back(std::to_string(peer.value) + " joined");
        if (on_peer_joined) {
            on_peer_joined(peer);
        }
    }

    Told told;
    /// Props that there were when the initial batch started, and when it was finished.
    std::vector<std::size_t> batch_told;
    std::function<void()> on_batch_finished;
    std::function<void(PeerId)> on_peer_joined;
    std::function<bool(ObjectHandle, PeerId)> on_relevancy_asked;
    std::size_t relevancy_questions = 0;
    /// Outers of the parts that were spawned.
    std::map<ObjectHandle, ObjectHandle> outers;

  private:
    std::map<std::string, ObjectHandle> named_;
};

struct PropHost {
    PropHost(const NetDriverSettings& settings, Transport& transport, const PropLayouts& layouts,
             std::uint64_t first_handle);

    PropWorld world;
    NetDriver driver;
};

/// What a host's world was told since this was asked last.
[[nodiscard]] Told take_told(PropHost& host);

/// Loses nearly a third, in any order.
[[nodiscard]] LinkSettings bad_link();
/// For a network that loses much, all the time.
[[nodiscard]] NetConfig patient_config();

class SpawnGame {
  public:
    explicit SpawnGame(const LinkSettings& link = {}, const NetConfig& config = {},
                       std::uint64_t seed = 1);

    [[nodiscard]] PropHost& server() noexcept { return *server_; }
    [[nodiscard]] PropHost& client(std::size_t index) noexcept { return *clients_[index]; }
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
    [[nodiscard]] const PropLayouts& layouts() const noexcept { return layouts_; }
    [[nodiscard]] static constexpr PeerId peer_of(std::size_t client) noexcept {
        return {client + 2};
    }

    /// A host with the map's objects; not connected.
    std::size_t add_client();
    void connect(std::size_t client);
    std::size_t join() {
        const std::size_t client = add_client();
        connect(client);
        return client;
    }

    ObjectHandle add(const RepLayout& layout, const SpawnParameters& parameters = {});
    /// On the x axis.
    ObjectHandle add_at(float x);
    ObjectHandle add_part(ObjectHandle outer, const SubobjectParameters& parameters = {});
    /// Begins to replicate an object of the map.
    ObjectHandle announce(const std::string& stable_name);
    void remove(ObjectHandle object, ChannelCloseReason reason = ChannelCloseReason::Destroyed);
    [[nodiscard]] NetObjectId id_of(ObjectHandle object) const { return ids_.at(object); }
    /// Null: the client does not have it.
    [[nodiscard]] ObjectHandle find_on(std::size_t client, ObjectHandle object);
    [[nodiscard]] Prop& prop(ObjectHandle object) { return server_->world.at(object); }
    [[nodiscard]] Prop& prop_on(std::size_t client, ObjectHandle object);

    void tick(std::uint32_t count = 1);
    /// The game `moves` when the server has taken what arrived, and before it sends.
    void tick(const std::function<void()>& moves);
    /// Ticks until nothing is owed or under way. False: it does not come to that.
    [[nodiscard]] bool settle();

    /// Names of the objects that lie in everybody's map.
    static constexpr const char* map_names[] = {"door", "lamp"};

  private:
    PropLayouts layouts_;
    NetConfig config_;
    std::uint64_t seed_;
    SimulatedNetwork network_;
    NetTime now_;
    std::unique_ptr<PropHost> server_;
    std::vector<std::unique_ptr<PropHost>> clients_;
    std::map<ObjectHandle, NetObjectId> ids_;
    std::map<ObjectHandle, NetGUID> guids_;
};

}  // namespace replayout::test
