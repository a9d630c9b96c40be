// SPDX-License-Identifier: MIT
//
// A class with remote functions of every kind, and a server with any number of clients over a
// simulated network that call them. Every call that runs is written down with what the callee saw.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/counting_resource.h"
#include "support/networks/scripted_transport.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {

class CallWorld;

/// The parameters of most functions.
struct Order {
    std::uint32_t number = 0;
    ObjectHandle target;
    std::string text;
};

/// Parameters of any size.
struct Cargo {
    std::uint32_t number = 0;
    ObjectHandle target;
    std::string text;
    std::vector<std::string> boxes;
};

/// One of about so many bytes, all of which follow from its number.
[[nodiscard]] Cargo make_cargo(std::uint32_t number, std::size_t bytes);
/// It is as it was made.
[[nodiscard]] bool is_intact(const Cargo& cargo);

/// What a callee saw when a call ran.
struct HeardCall {
    std::string function;
    std::uint32_t number = 0;
    std::uint32_t power = 0;         ///< of the callee
    ObjectHandle target;             ///< as it arrived
    std::uint32_t target_power = 0;  ///< 0 without a target

    friend bool operator==(const HeardCall&, const HeardCall&) = default;
};

/// Takes up room before the base that has functions.
struct Plate {
    std::uint64_t serial = 0;
};

struct Machine {
    std::uint32_t power = 0;  // handle 1
    CallWorld* world = nullptr;
    std::vector<HeardCall> heard;

    void multicast_shake(const Order& order) { hear("shake", order); }
    void hear(const char* function, const Order& order);
    /// As "broken" where it is not intact.
    void hear_cargo(const char* function, const Cargo& cargo) {
        hear(is_intact(cargo) ? function : "broken", Order{cargo.number, cargo.target, cargo.text});
    }
};

struct Turret : Plate, Machine {
    std::string label;                 // handle 2
    ObjectHandle aim;                  // handle 3
    std::array<std::string, 4> pages;  // handles 4 to 7
    std::uint32_t secret = 0;          // handle 8, of the owner
    std::uint32_t born = 0;            // handle 9, at first only

    void server_fire(const Order& order) { hear("fire", order); }
    static constexpr std::uint32_t refused_number = 0xBAD0'0000;
    bool server_fire_validate(const Order& order) { return order.number != refused_number; }
    void server_aim(const Order& order) { hear("aim", order); }
    void server_reset() { hear("reset", {}); }
    void client_tell(const Order& order) { hear("tell", order); }
    void client_hint(const Order& order) { hear("hint", order); }
    void multicast_boom(const Order& order) { hear("boom", order); }
    void multicast_flash(const Order& order) { hear("flash", order); }
    void remote_ping(const Order& order) { hear("ping", order); }
    void server_deliver(const Cargo& cargo) { hear_cargo("deliver", cargo); }
    void server_toss(const Cargo& cargo) { hear_cargo("toss", cargo); }
    void client_deliver(const Cargo& cargo) { hear_cargo("deliver", cargo); }
    void multicast_deliver(const Cargo& cargo) { hear_cargo("deliver all", cargo); }
    void multicast_toss(const Cargo& cargo) { hear_cargo("toss all", cargo); }
};

/// The layout of a Turret. Immutable; both ends use the same one.
[[nodiscard]] const RepLayout& turret_layout();

class CallWorld final : public TypedWorld<Turret> {
  public:
    explicit CallWorld(std::uint64_t first_handle) : TypedWorld(first_handle) {
        on_made = [this](ObjectHandle, Turret& turret) { turret.world = this; };
    }

    [[nodiscard]] Turret& turret(ObjectHandle handle) { return at(handle); }
    [[nodiscard]] bool has(ObjectHandle handle) const { return find(handle) != nullptr; }

    ObjectHandle spawn(const SpawnInfo& info) override {
        const ObjectHandle handle = is_refusing ? ObjectHandle{} : TypedWorld::spawn(info);
        tell("spawn", handle);
        return handle;
    }
    void despawn(ObjectHandle handle, ChannelCloseReason reason) override {
        tell("despawn", handle);
        TypedWorld::despawn(handle, reason);
    }
    void role_changed(ObjectHandle handle, const ObjectRole&, const ObjectRole&) override {
        tell("role", handle);
    }
    void destroy_named(std::string_view) override { tell("named", {}); }
    void initial_batch_started() override { tell("started", {}); }
    void initial_batch_finished() override { tell("finished", {}); }
    bool may_run_call(ObjectHandle handle, const Function& function, bool is_last) override {
        return !may_run || may_run(handle, function, is_last);
    }
    void peer_joined(PeerId) override { tell("joined", {}); }
    void peer_left(PeerId, CloseReason) override { tell("left", {}); }

    /// What may_run_call() answers; all may while there is none.
    std::function<bool(ObjectHandle object, const Function&, bool is_last)> may_run;
    bool is_refusing = false;
    bool is_listening = true;  ///< calls are written down
    /// Called within each call, after it was written down.
    std::function<void(const char* function, const Order&)> on_call;
    std::function<void(const Machine& callee, const Order&)> on_callee;  ///< likewise
    /// Called where the world is told of something, of an object or of none.
    std::function<void(const std::string& what, ObjectHandle object)> on_told;
    /// Of all objects, the dead ones too, in order.
    std::vector<HeardCall> heard;

  private:
    void tell(const char* what, ObjectHandle object) const {
        if (on_told) {
            on_told(what, object);
        }
    }
};

struct CallHost {
    CallHost(const NetDriverSettings& settings, Transport& endpoint, std::uint64_t first_handle);

    CountingResource memory;
    CallWorld world;
    ScriptedTransport transport;
    NetDriver driver;
};

struct CallFixtureOptions {
    NetConfig server;
    NetConfig client;
    LinkSettings link;
    std::uint64_t seed = 1;
    bool is_sharing = true;
    bool is_validating = NetDriverSettings().is_validating;
    bool is_counting_types = false;  ///< of the server
    std::int64_t tick_ms = 20;
};

/// Options with a line that loses, repeats and reorders packets; the seed decides how often.
[[nodiscard]] CallFixtureOptions rough_line(std::uint64_t seed);

using Numbers = std::vector<std::uint32_t>;

/// The numbers of the calls of one function that ran in a world, in order.
[[nodiscard]] Numbers heard(const CallWorld& world, const char* function);
[[nodiscard]] inline Numbers heard(const CallHost& host, const char* function) {
    return heard(host.world, function);
}

class CallFixture {
  public:
    static constexpr PeerId server_peer{1};
    [[nodiscard]] static constexpr PeerId client_peer(std::size_t client) noexcept {
        return {client + 2};
    }

    explicit CallFixture(const CallFixtureOptions& options = {});

    [[nodiscard]] CallHost& server() noexcept { return *server_; }
    [[nodiscard]] CallHost& client(std::size_t index) noexcept { return *clients_[index]; }
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }

    std::size_t join();
    /// So many join, and all is settled.
    void join_settled(std::size_t count = 1);
    /// So many join, and are there when this returns. `on_called` hears each call that runs at one
    /// of them, `on_despawn` of each object that goes there.
    void join(std::size_t count,
              std::function<void(std::size_t client, const Turret&, const Order&)> on_called,
              std::function<void(std::size_t client, ObjectHandle)> on_despawn);
    void tick();
    void tick(int count);
    /// The game `moves` when the server has taken what arrived, and before it sends.
    void tick(const std::function<void()>& moves);
    [[nodiscard]] bool settle(int ticks_max = 2'000);

    [[nodiscard]] ObjectHandle add();
    /// One of that client's.
    [[nodiscard]] ObjectHandle add_owned(std::size_t client);
    /// A client joins, is given a turret, and has it.
    [[nodiscard]] ObjectHandle join_with_turret();
    void remove(ObjectHandle object);
    [[nodiscard]] NetObjectId id_of(ObjectHandle object) const { return ids_.at(object); }
    [[nodiscard]] Turret& turret(ObjectHandle object) { return server_->world.turret(object); }
    /// What does not add up in the blocks that the server counted by type; nothing when all does.
    [[nodiscard]] std::string find_type_difference() const;
    [[nodiscard]] ObjectHandle find_on(std::size_t client, ObjectHandle object);
    [[nodiscard]] Turret& turret_on(std::size_t client, ObjectHandle object) {
        return clients_[client]->world.turret(find_on(client, object));
    }

    // Calls with an Order, or with a Cargo.
    CallResult call_with(ObjectHandle object, const char* function, const Cargo& cargo) {
        return server_->driver.call_function(id_of(object), function, &cargo);
    }
    CallResult call_with_from(std::size_t client, ObjectHandle object, const char* function,
                              const Cargo& cargo) {
        return clients_[client]->driver.call_function(find_on(client, object), function, &cargo);
    }
    CallResult call(ObjectHandle object, const char* function, const Order& order,
                    CallSendPolicy policy = CallSendPolicy::Default) {
        return server_->driver.call_function(id_of(object), function, &order, policy);
    }
    /// A client calls; `object` is the server's.
    CallResult call_from(std::size_t client, ObjectHandle object, const char* function,
                         const Order& order) {
        return clients_[client]->driver.call_function(find_on(client, object), function, &order);
    }

  private:
    CallFixtureOptions options_;
    SimulatedNetwork network_;
    NetTime now_;
    std::unique_ptr<CallHost> server_;
    std::vector<std::unique_ptr<CallHost>> clients_;
    std::map<ObjectHandle, NetObjectId> ids_;
    std::uint64_t next_seed_;
};

}  // namespace replayout::test
