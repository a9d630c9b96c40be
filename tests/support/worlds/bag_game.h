// SPDX-License-Identifier: MIT
//
// A game of synchronized collections and of behaviours that serialize themselves: a server and
// clients of behaviours over a simulated network, on a virtual clock and from a seed. What the
// server sends is kept, if asked for.
//
//     BagGame game;
//     game.join();
//     NetworkIdentity& chest = game.spawn(game.chest());
//     chest.component<Bag>(0).numbers.add(5);
//     game.settle();
//     CHECK(game.on_client(0, chest)->component<Bag>(0).numbers.items() == std::vector{5});
#pragma once

#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_manager.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/behaviours/network_types.h>
#include <replayout/behaviours/sync_dictionary.h>
#include <replayout/behaviours/sync_list.h>
#include <replayout/behaviours/sync_set.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/hash.h>
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/networks/host_settings.h"
#include "support/networks/scripted_transport.h"

namespace replayout::test {

using namespace replayout;

struct Thing {
    std::string name;
    std::int32_t count = 0;

    friend bool operator==(const Thing&, const Thing&) = default;
};

/// Every kind of collection; notes what it is told, in `told`.
class Bag : public NetworkBehaviour {
  public:
    SyncList<std::int32_t> numbers;
    SyncList<Thing> things;
    SyncDictionary<std::string, std::int32_t> prices;
    SyncSet<std::uint32_t> keys;
    SyncDictionary<std::uint32_t, std::optional<std::int32_t>> wishes;

    std::vector<std::string> told;

    void on_start_client() override { told.push_back("start client"); }

    /// Notes what is told of each of them.
    void listen();
};

/// For its owner alone.
class Pouch : public NetworkBehaviour {
  public:
    SyncList<std::string> secrets;
};

/// Serializes itself. One bit each.
class Scroll : public NetworkBehaviour {
  public:
    std::int32_t page = 0;
    std::string text;

    std::function<void()> during_write;
    bool is_accumulating = false;
    std::int32_t misread_by = 0;  ///< bytes that its reader takes too many, or too few
    bool is_refusing = false;     ///< what it reads
    std::uint32_t write_count = 0;
    std::uint32_t initial_write_count = 0;
    std::uint32_t read_count = 0;
    std::uint32_t initial_read_count = 0;
    std::int32_t first_page = 0;  ///< that of the initial section

    void turn_to(std::int32_t to) {
        page = to;
        set_dirty_bit(1);
    }
    void write(std::string to) {
        text = std::move(to);
        set_dirty_bit(2);
    }
    bool on_serialize(NetworkWriter& writer, bool initial_state) override;
    bool on_deserialize(NetworkReader& reader, bool initial_state) override;
};

/// Of a base that serializes itself, too.
class SealedScroll : public Scroll {
  public:
    std::uint32_t seal = 0;

    bool on_serialize(NetworkWriter& writer, bool initial_state) override {
        const bool is_base_done = Scroll::on_serialize(writer, initial_state);
        writer.write_packed_uint32(seal);
        return is_base_done;
    }
    bool on_deserialize(NetworkReader& reader, bool initial_state) override {
        const bool is_base_read = Scroll::on_deserialize(reader, initial_state);
        seal = reader.read_packed_uint32();
        return is_base_read;
    }
};

struct BagOptions {
    SyncSettings bag{};
    LinkSettings link{};
    NetConfig config{};
    RepLimits limits{};
    std::uint64_t seed = 1;
    SharingLevel sharing = SharingLevel::Bundles;
    bool is_keeping_datagrams = false;
    bool is_validating = true;
    Executor* executor = nullptr;
};

class BagTypes {
  public:
    explicit BagTypes(const BagOptions& options);

    [[nodiscard]] const NetworkTypes& get() const noexcept { return types_; }
    [[nodiscard]] const NetworkPrefab& prefab(std::string_view name) const {
        const NetworkPrefab* found = types_.find_prefab(name);
        REQUIRE(found != nullptr);
        return *found;
    }

  private:
    NetworkTypes types_;
};

class BagGame {
  public:
    explicit BagGame(const BagOptions& options = {});

    /// Another client begins to connect; returns its index.
    std::size_t join();
    /// So many clients join, and all is settled.
    void join_settled(std::size_t count = 1) {
        for (; count > 0; --count) {
            join();
        }
        settle();
    }
    /// The client says goodbye. Its index stays.
    void leave(std::size_t client);
    [[nodiscard]] bool is_there(std::size_t client) const { return !clients_[client].has_left; }
    [[nodiscard]] std::size_t client_count() const noexcept { return clients_.size(); }

    void tick();
    void tick(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            tick();
        }
    }
    /// Ticks until nothing is owed or under way.
    void settle(std::uint32_t ticks_max = 3'000);

    NetworkIdentity& spawn(const NetworkPrefab& prefab, NetworkConnection* owner = nullptr) {
        NetworkIdentity& object = server_->instantiate(prefab);
        REQUIRE(server_->spawn(object, owner));
        return object;
    }
    /// Another client joins, and is shown one of these.
    NetworkIdentity& join_with(const NetworkPrefab& prefab) {
        join();
        NetworkIdentity& object = spawn(prefab);
        settle();
        return object;
    }
    /// A bag, a pouch for the owner, and another bag.
    [[nodiscard]] const NetworkPrefab& chest() const { return types_.prefab("Chest"); }
    /// A scroll, a bag, a sealed scroll, and a scroll for the owner.
    [[nodiscard]] const NetworkPrefab& shelf() const { return types_.prefab("Shelf"); }

    /// The client is not to have the object, or is again.
    void show(std::size_t client, const NetworkIdentity& object, bool is_shown) {
        server_->driver().interest().set_relevant_for(peer_of(client), id_of(object), is_shown);
    }
    [[nodiscard]] NetObjectId id_of(const NetworkIdentity& object) {
        return server_->driver().find_object({reinterpret_cast<std::uintptr_t>(&object)});
    }
    [[nodiscard]] static PeerId peer_of(std::size_t client) noexcept { return {client + 2}; }
    [[nodiscard]] NetworkServer& server() noexcept { return *server_; }
    [[nodiscard]] NetworkClient& client(std::size_t index) noexcept {
        return *clients_[index].client;
    }
    [[nodiscard]] NetworkConnection& connection(std::size_t client) {
        NetworkConnection* found = server_->find_connection(peer_of(client));
        REQUIRE(found != nullptr);
        return *found;
    }
    /// The same object there; null: it does not have it.
    [[nodiscard]] NetworkIdentity* on_client(std::size_t client, const NetworkIdentity& object) {
        return clients_[client].client->find(object.net_id());
    }
    [[nodiscard]] Bag& bag_on(std::size_t client, const NetworkIdentity& object,
                              std::size_t component = 0) {
        NetworkIdentity* shown = on_client(client, object);
        REQUIRE(shown != nullptr);
        return shown->component<Bag>(component);
    }
    /// What the bags of a chest have on the server, they have on each client that is there.
    void check_equal(const NetworkIdentity& chest);
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
    [[nodiscard]] ScriptedTransport& transport() noexcept { return transport_; }
    [[nodiscard]] const BagTypes& types() const noexcept { return types_; }
    /// What the server took from the global heap so far.
    [[nodiscard]] std::uint64_t server_allocations() const noexcept { return allocations_; }
    /// Called with each object that a client makes of a prefab, before it is shown.
    std::function<void(NetworkIdentity&)> on_made;

  private:
    struct Client {
        std::unique_ptr<NetworkClient> client;
        bool has_left = false;
    };

    [[nodiscard]] NetDriverSettings settings(std::uint64_t seed) const {
        NetDriverSettings settings =
            host_settings(options_.config, seed, options_.sharing, options_.is_validating);
        settings.executor = seed == 1 ? options_.executor : nullptr;  // the server's
        settings.executor_work_min = 1;
        return settings;
    }
    [[nodiscard]] bool are_clients_there() const;
    [[nodiscard]] NetworkSpawnHandler handler(const NetworkPrefab& prefab);

    BagOptions options_;
    BagTypes types_;
    SimulatedNetwork network_;
    NetTime now_;
    NetworkManager server_manager_;
    NetworkManager client_manager_;
    ScriptedTransport transport_;
    std::unique_ptr<NetworkServer> server_;
    std::vector<Client> clients_;
    std::uint64_t allocations_ = 0;
};

}  // namespace replayout::test
