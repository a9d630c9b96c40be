// SPDX-License-Identifier: MIT
#include "support/worlds/call_game.h"

#include <algorithm>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "support/networks/host_settings.h"
#include "support/networks/host_ticks.h"
#include "support/types/type_counters_sum.h"

namespace replayout::test {

namespace {

struct TurretSchema {
    TurretSchema() {
        using F = FunctionFlags;
        REQUIRE(struct_builder<Order>(registry, "Order")
                    .property<&Order::number>()
                    .property<&Order::target>()
                    .property<&Order::text>()
                    .build());
        REQUIRE(struct_builder<Cargo>(registry, "Cargo")
                    .property<&Cargo::number>()
                    .property<&Cargo::target>()
                    .property<&Cargo::text>()
                    .property<&Cargo::boxes>()
                    .build());
        REQUIRE(class_builder<Machine>(registry, "Machine")
                    .property<&Machine::power>()
                    .function<&Machine::multicast_shake>(F::Multicast)
                    .build());
        const auto turret = class_builder<Turret>(registry, "Turret")
                                .base<Machine>()
                                .property<&Turret::label>()
                                .property<&Turret::aim>()
                                .property<&Turret::pages>()
                                .property<&Turret::secret>()
                                .condition(LifetimeCondition::OwnerOnly)
                                .property<&Turret::born>()
                                .condition(LifetimeCondition::InitialOnly)
                                .function<&Turret::server_fire, &Turret::server_fire_validate>(
                                    F::Server | F::Reliable)
                                .function<&Turret::server_aim>(F::Server)
                                .function<&Turret::server_reset>(F::Server | F::Reliable)
                                .function<&Turret::client_tell>(F::Client | F::Reliable)
                                .function<&Turret::client_hint>(F::Client)
                                .function<&Turret::multicast_boom>(F::Multicast | F::Reliable)
                                .function<&Turret::multicast_flash>(F::Multicast)
                                .function<&Turret::remote_ping>(F::Remote | F::Reliable)
                                .function<&Turret::server_deliver>(F::Server | F::Reliable)
                                .function<&Turret::server_toss>(F::Server)
                                .function<&Turret::client_deliver>(F::Client | F::Reliable)
                                .function<&Turret::multicast_deliver>(F::Multicast | F::Reliable)
                                .function<&Turret::multicast_toss>(F::Multicast)
                                .build();
        INFO((turret ? "" : turret.error().message));
        REQUIRE(turret);
        REQUIRE(registry.freeze());
        auto made = RepLayout::create(registry, **turret);
        INFO((made ? "" : made.error().message));
        REQUIRE(made);
        layout = std::move(*made);
    }

    TypeRegistry registry;
    std::unique_ptr<RepLayout> layout;
};

}  // namespace

const RepLayout& turret_layout() {
    static const TurretSchema schema;
    return *schema.layout;
}

Cargo make_cargo(std::uint32_t number, std::size_t bytes) {
    constexpr std::size_t box_bytes = 1'000;
    Cargo cargo;
    cargo.number = number;
    for (std::size_t offset = 0; offset < bytes; offset += box_bytes) {
        const auto letter = static_cast<char>('a' + (number + offset / box_bytes) % 26);
        cargo.boxes.emplace_back(std::min(box_bytes, bytes - offset), letter);
    }
    return cargo;
}

bool is_intact(const Cargo& cargo) {
    std::size_t bytes = 0;
    for (const std::string& box : cargo.boxes) {
        bytes += box.size();
    }
    return make_cargo(cargo.number, bytes).boxes == cargo.boxes;
}

void Machine::hear(const char* function, const Order& order) {
    HeardCall call{function, order.number, power, order.target, 0};
    if (!order.target.is_null()) {
        call.target_power = world->turret(order.target).power;
    }
    if (world->is_listening) {
        heard.push_back(call);
        world->heard.push_back(call);
    }
    if (world->on_callee) {
        world->on_callee(*this, order);
    }
    if (world->on_call) {
        world->on_call(function, order);  // may remove this object
    }
}

CallHost::CallHost(const NetDriverSettings& settings, Transport& endpoint,
                   std::uint64_t first_handle)
    : world(first_handle),
      transport(endpoint),
      driver(with_resource(settings, &memory), transport, world) {
    REQUIRE(driver.add_layout(turret_layout()));
}

CallFixtureOptions rough_line(std::uint64_t seed) {
    SeededRandom random(seed);
    CallFixtureOptions options;
    options.seed = seed;
    options.link.loss = 0.01 * random.below(31);
    options.link.duplicate = 0.05;
    options.link.reorder = 0.1;
    options.link.reorder_ms = 60;
    options.link.latency_ms = 10 + random.below(60);
    options.link.jitter_ms = 10;
    return options;
}

namespace {

[[nodiscard]] NetDriverSettings server_settings(const CallFixtureOptions& options) {
    NetDriverSettings settings = host_settings(
        options.server, options.seed, sharing_level(options.is_sharing), options.is_validating);
    settings.is_counting_types = options.is_counting_types;
    return settings;
}

}  // namespace

CallFixture::CallFixture(const CallFixtureOptions& options)
    : options_(options),
      network_(wide_network(options.link), options.seed, std::pmr::get_default_resource()),
      now_(NetTime::from_milliseconds(1'000)),
      server_(std::make_unique<CallHost>(server_settings(options), network_.endpoint(server_peer),
                                         1'000)),
      next_seed_(options.seed + 1) {
    REQUIRE(server_->driver.listen());
}

void CallFixture::join(std::size_t count,
                       std::function<void(std::size_t, const Turret&, const Order&)> on_called,
                       std::function<void(std::size_t, ObjectHandle)> on_despawn) {
    for (std::size_t client = 0; client < count; ++client) {
        join();
        CallWorld& world = clients_[client]->world;
        world.on_callee = [client, on_called](const Machine& callee, const Order& order) {
            on_called(client, static_cast<const Turret&>(callee), order);
        };
        world.on_told = [client, on_despawn](const std::string& what, ObjectHandle object) {
            if (what == "despawn") {
                on_despawn(client, object);
            }
        };
    }
    while (server_->driver.connection_count() < count) {
        tick();
    }
}

std::size_t CallFixture::join() {
    const std::size_t index = clients_.size();
    clients_.push_back(std::make_unique<CallHost>(
        host_settings(options_.client, next_seed_++, sharing_level(options_.is_sharing),
                      options_.is_validating),
        network_.endpoint(client_peer(index)), 1'000'000));
    REQUIRE(clients_.back()->driver.connect(server_peer, now_));
    return index;
}

void CallFixture::join_settled(std::size_t count) {
    for (; count > 0; --count) {
        join();
    }
    REQUIRE(settle());
}

void CallFixture::tick() {
    tick([] {});
}

void CallFixture::tick(const std::function<void()>& moves) {
    now_ = now_.plus_milliseconds(options_.tick_ms);
    tick_hosts(network_, now_, server_, clients_, moves);
}

void CallFixture::tick(int count) {
    for (int i = 0; i < count; ++i) {
        tick();
    }
}

bool CallFixture::settle(int ticks_max) {
    tick();
    for (int i = 0; i < ticks_max && !are_settled(server_, clients_); ++i) {
        tick();
    }
    return are_settled(server_, clients_);
}

ObjectHandle CallFixture::add() {
    const ObjectHandle object = server_->world.add();
    ids_[object] = server_->driver.add_object(turret_layout(), object);
    return object;
}

ObjectHandle CallFixture::add_owned(std::size_t client) {
    const ObjectHandle object = add();
    server_->driver.set_owner(id_of(object), client_peer(client));
    return object;
}

ObjectHandle CallFixture::join_with_turret() {
    const ObjectHandle turret = add_owned(join());
    REQUIRE(settle());
    return turret;
}

void CallFixture::remove(ObjectHandle object) {
    server_->driver.remove_object(ids_.at(object));
    ids_.erase(object);
    server_->world.remove(object);
}

ObjectHandle CallFixture::find_on(std::size_t client, ObjectHandle object) {
    const NetGUID guid = server_->driver.guids().find_guid(object);
    return clients_[client]->driver.guids().find_object(guid);
}

Numbers heard(const CallWorld& world, const char* function) {
    Numbers numbers;
    for (const HeardCall& call : world.heard) {
        if (call.function == function) {
            numbers.push_back(call.number);
        }
    }
    return numbers;
}

std::string CallFixture::find_type_difference() const {
    const TypeCounters* counters = server_->driver.type_counters(turret_layout());
    if (counters == nullptr) {
        return {};
    }
    TypeCountersSum sum;
    sum.add(*counters);
    return sum.find_block_difference(server_->driver.stats().replication);
}

}  // namespace replayout::test
