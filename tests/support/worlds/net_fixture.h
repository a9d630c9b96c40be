// SPDX-License-Identifier: MIT
//
// A server and any number of clients over a simulated network, on a virtual clock and from a seed.
// What most tests of the driver begin with.
//
//     NetFixture net;
//     const ObjectHandle pawn = net.add_pawn();
//     net.pawn(pawn).health = 50;
//     net.join();
//     REQUIRE(net.settle());
//     CHECK(net.client_text(0) == net.server_text());
//
// The network is perfect unless told otherwise; what is sent in one tick arrives in the next.
#pragma once

#include <replayout/netdriver/executor.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/counting_resource.h"
#include "support/networks/scripted_transport.h"
#include "support/worlds/test_world.h"

namespace replayout::test {

/// One end: a process of its own, so to speak.
struct NetHost {
    NetHost(const NetDriverSettings& settings, Transport& endpoint, std::uint64_t first_handle,
            bool is_pooled = false);

    CountingResource memory;
    std::optional<std::pmr::unsynchronized_pool_resource> pool;  // made only where it is used
    TestWorld world;
    ScriptedTransport transport;
    std::unique_ptr<NetDriver> driver;
};

struct NetFixtureOptions {
    NetConfig server;
    NetConfig client;
    LinkSettings link;
    std::uint64_t seed = 1;
    SharingLevel sharing = SharingLevel::Bundles;
    bool is_validating = NetDriverSettings().is_validating;
    std::int64_t tick_ms = 20;
    bool is_pooled = false;        ///< drivers take their memory from NetHost::pool
    Executor* executor = nullptr;  ///< of the server, which splits whatever it can
};

class NetFixture {
  public:
    static constexpr PeerId server_peer{1};
    [[nodiscard]] static constexpr PeerId client_peer(std::size_t client) noexcept {
        return {client + 2};
    }

    explicit NetFixture(const NetFixtureOptions& options = {});

    [[nodiscard]] NetHost& server() noexcept { return *server_; }
    [[nodiscard]] NetHost& client(std::size_t index) noexcept { return *clients_[index]; }
    [[nodiscard]] NetDriver& server_driver() noexcept { return *server_->driver; }
    [[nodiscard]] NetDriver& client_driver(std::size_t index) noexcept {
        return *clients_[index]->driver;
    }
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }

    /// A further client begins to connect; returns its index.
    std::size_t join();
    std::size_t join(const NetConfig& config);
    /// So many join, and all is settled.
    void join_settled(std::size_t count = 1);
    /// The client's process dies without a word and a new one begins, with another seed.
    void restart(std::size_t client);

    /// One tick: the clock moves, datagrams arrive, the server and then the clients take them and
    /// send.
    void tick();
    /// The game `moves` when the server has taken what arrived, and before it sends.
    void tick(const std::function<void()>& moves);
    void tick(std::uint32_t count);
    void tick_for_ms(std::int64_t milliseconds);
    /// Ticks until `is_done`, at most `ticks_max` times. Whether it came to that.
    [[nodiscard]] bool tick_until(const std::function<bool()>& is_done,
                                  std::uint32_t ticks_max = 2'000);
    /// Ticks until every client has joined and nothing is owed or under way.
    [[nodiscard]] bool settle(std::uint32_t ticks_max = 2'000);

    // Objects of the server.
    ObjectHandle add_pawn() { return add(TestSchema::get().pawn()); }
    ObjectHandle add_archive() { return add(TestSchema::get().archive()); }
    ObjectHandle add_marker() { return add(TestSchema::get().marker()); }
    /// One that the driver is not told of yet; it can be referred to.
    ObjectHandle make_pawn() { return server_->world.add(TestSchema::get().pawn()); }
    void announce(ObjectHandle object);
    void remove(ObjectHandle object);
    [[nodiscard]] Pawn& pawn(ObjectHandle object) { return server_->world.pawn(object); }
    [[nodiscard]] Archive& archive(ObjectHandle object) { return server_->world.archive(object); }
    [[nodiscard]] NetGUID guid_of(ObjectHandle object);
    [[nodiscard]] NetObjectId id_of(ObjectHandle object) const { return ids_.at(object); }

    // The same objects at a client.
    /// Null when the client does not have it.
    [[nodiscard]] ObjectHandle find_on(std::size_t client, ObjectHandle object);
    [[nodiscard]] Pawn& pawn_on(std::size_t client, ObjectHandle object);
    [[nodiscard]] Archive& archive_on(std::size_t client, ObjectHandle object);

    /// All objects with all their values, by network id. A client is right when its text is the
    /// server's.
    [[nodiscard]] std::string server_text();
    [[nodiscard]] std::string client_text(std::size_t client);

  private:
    ObjectHandle add(const RepLayout& layout);
    [[nodiscard]] std::unique_ptr<NetHost> make_client(std::size_t index, const NetConfig& config);

    NetFixtureOptions options_;
    SimulatedNetwork network_;
    NetTime now_;
    std::unique_ptr<NetHost> server_;
    std::vector<std::unique_ptr<NetHost>> clients_;
    std::map<ObjectHandle, NetObjectId> ids_;
    std::uint64_t next_seed_;
};

}  // namespace replayout::test
