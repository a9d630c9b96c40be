// SPDX-License-Identifier: MIT
#include "support/joining_clients.h"

#include "support/workloads/class_layout.h"

#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/reflection.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <deque>
#include <memory>
#include <memory_resource>
#include <utility>

namespace replayout::bench {

namespace {

constexpr PeerId server_peer{1};
constexpr std::uint32_t run_seconds_max = 60;

/// Health, where it is, and what it is: what most of a large world consists of.
struct Unit {
    std::int32_t hp = 100;
    float x = 0;
    float y = 0;
    float z = 0;
    std::uint16_t kind = 0;

    friend bool operator==(const Unit&, const Unit&) = default;
};

[[nodiscard]] Result<const Type*> declare_unit(TypeRegistry& registry) {
    return class_builder<Unit>(registry, "Unit")
        .property<&Unit::hp>()
        .property<&Unit::x>()
        .property<&Unit::y>()
        .property<&Unit::z>()
        .property<&Unit::kind>()
        .build();
}

class UnitWorld final : public NetWorld {
  public:
    [[nodiscard]] ObjectHandle add() {
        units_.emplace_back();
        return {units_.size()};
    }
    [[nodiscard]] Unit& at(ObjectHandle object) { return units_[object.value - 1]; }

    void* object_memory(ObjectHandle object) override { return &at(object); }
    ObjectHandle spawn(const SpawnInfo&) override { return add(); }
    void despawn(ObjectHandle, ChannelCloseReason) override {}
    void initial_batch_started() override { ++started_count; }
    void initial_batch_finished() override { ++finished_count; }
    void peer_joined(PeerId peer) override {
        if (server != nullptr) {
            server->interest().set_viewer(peer,
                                          Vector3{static_cast<float>(peer.value % 100) * 10, 0, 0});
        }
    }

    NetDriver* server = nullptr;  // null in the world of a client
    std::uint32_t started_count = 0;
    std::uint32_t finished_count = 0;

  private:
    std::deque<Unit> units_;
};

struct UnitClient {
    UnitClient(const NetDriverSettings& settings, Transport& transport)
        : driver(settings, transport, world) {}

    UnitWorld world;
    NetDriver driver;
};

[[nodiscard]] SimulatedNetworkSettings network_settings(const JoinSettings& settings) {
    SimulatedNetworkSettings network;
    network.link.latency_ms = settings.latency_ms;
    network.datagram_bytes_max = 1'400;
    return network;
}

class Run {
  public:
    explicit Run(const JoinSettings& settings)
        : settings_(settings),
          network_(network_settings(settings), 1, std::pmr::get_default_resource()),
          server_(server_settings(settings), network_.endpoint(server_peer), world_) {
        result_.clients = settings.clients;
        result_.objects = settings.objects;
        world_.server = &server_;
    }

    [[nodiscard]] JoinResult play() {
        if (!class_.error().empty() || !server_.add_layout(class_.layout()) || !server_.listen()) {
            result_.error = "the server does not start";
            return std::move(result_);
        }
        add_objects();
        stand();
        const std::uint32_t ticks_max = run_seconds_max * settings_.ticks_per_second;
        for (std::uint32_t i = 0; i < ticks_max && !is_over(); ++i) {
            play_tick(i);
        }
        finish();
        return std::move(result_);
    }

  private:
    [[nodiscard]] static NetDriverSettings server_settings(const JoinSettings& settings) {
        NetDriverSettings server;
        server.config.initial_opens_per_flush_max = settings.opens_per_flush_max;
        return server;
    }

    void add_objects() {
        const Unit archetype;
        for (std::uint32_t i = 0; i < settings_.objects; ++i) {
            const ObjectHandle object = world_.add();
            Unit& unit = world_.at(object);
            unit.hp = static_cast<std::int32_t>(i % 90);
            unit.x = static_cast<float>(i + 1);
            unit.y = static_cast<float>(i % 100);
            unit.kind = static_cast<std::uint16_t>(i % 7);
            result_.values_to_encode +=
                (unit.hp != archetype.hp ? 1u : 0u) + (unit.x != archetype.x ? 1u : 0u) +
                (unit.y != archetype.y ? 1u : 0u) + (unit.kind != archetype.kind ? 1u : 0u);
            SpawnParameters parameters;
            parameters.location = Vector3{unit.x, unit.y, 0};
            ids_.push_back(server_.add_object(class_.layout(), object, parameters));
        }
    }

    void tick(NetDriver& driver) {
        driver.tick_dispatch(now_);
        driver.tick_flush(now_);
    }
    void tick_clients() {
        for (const auto& client : clients_) {
            tick(client->driver);
        }
    }

    /// The world is there before anybody comes: its first compare is not what joins cost.
    void stand() {
        for (std::uint32_t i = 0; i < 2; ++i) {
            now_ = now_.plus_milliseconds(1'000 / settings_.ticks_per_second);
            tick(server_);
        }
    }

    void play_tick(std::uint32_t number) {
        now_ = now_.plus_milliseconds(1'000 / settings_.ticks_per_second);
        connect_due(number);
        for (std::uint32_t i = 0; i < settings_.changes_per_tick; ++i) {
            world_.at(ObjectHandle{1 + changed_count_++ % settings_.objects}).z += 1;
        }
        result_.values_changed += settings_.changes_per_tick;
        network_.advance(now_);
        const std::clock_t start = std::clock();
        tick(server_);
        result_.tick_ms.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        const std::uint64_t opened = server_.stats().channels_opened;
        result_.opens_in_flush_max = std::max(result_.opens_in_flush_max, opened - opened_count_);
        opened_count_ = opened;
        tick_clients();
        result_.seconds = static_cast<double>(number + 1) / settings_.ticks_per_second;
    }

    void connect_due(std::uint32_t tick) {
        const double ticks = settings_.join_seconds * settings_.ticks_per_second;
        const double share = ticks > 0 ? std::min(1.0, (tick + 1) / ticks) : 1.0;
        const auto due = static_cast<std::size_t>(std::ceil(share * settings_.clients));
        while (clients_.size() < due) {
            NetDriverSettings settings;
            settings.seed = 2 + clients_.size();
            clients_.push_back(std::make_unique<UnitClient>(
                settings, network_.endpoint(PeerId{2 + clients_.size()})));
            NetDriver& driver = clients_.back()->driver;
            if (!driver.add_layout(class_.layout()) || !driver.connect(server_peer, now_)) {
                result_.error = "a client does not start";
            }
        }
    }

    [[nodiscard]] bool is_over() const {
        return clients_.size() == settings_.clients &&
               std::all_of(clients_.begin(), clients_.end(), [](const auto& client) {
                   return client->driver.initial_batch().is_finished;
               });
    }

    void finish() {
        if (!is_over()) {
            result_.error = "after a minute not all clients have all objects";
        }
        for (std::uint32_t i = 0; i < 100 && !server_.is_settled(); ++i) {
            now_ = now_.plus_milliseconds(20);
            network_.advance(now_);
            tick(server_);
            tick_clients();
        }
        for (const auto& client : clients_) {
            result_.batches_started += client->world.started_count;
            result_.batches_finished += client->world.finished_count;
            for (std::uint32_t i = 0; i < settings_.objects; ++i) {
                const ObjectHandle shown =
                    client->driver.guids().find_object(server_.guid_of(ids_[i]));
                const bool is_equal =
                    !shown.is_null() && client->world.at(shown) == world_.at(ObjectHandle{i + 1});
                result_.objects_equal += is_equal ? 1u : 0u;
            }
        }
        if (result_.objects_equal != std::uint64_t{settings_.clients} * settings_.objects) {
            result_.error = "not all clients show what the server has";
        }
        result_.stats = server_.stats();
        result_.memory = server_.memory_report();
    }

    JoinSettings settings_;
    ClassLayout class_{declare_unit};
    SimulatedNetwork network_;
    UnitWorld world_;
    NetDriver server_;
    std::vector<NetObjectId> ids_;
    std::vector<std::unique_ptr<UnitClient>> clients_;
    NetTime now_;
    std::uint64_t changed_count_ = 0;
    std::uint64_t opened_count_ = 0;
    JoinResult result_;
};

}  // namespace

JoinResult join_clients(const JoinSettings& settings) {
    return Run(settings).play();
}

}  // namespace replayout::bench
