// SPDX-License-Identifier: MIT
#include "support/worlds/spawn_game.h"

#include "support/networks/peers.h"

#include <algorithm>
#include <utility>

namespace replayout::test {

namespace {

[[nodiscard]] std::string text_of(const ObjectRole& role) {
    std::string text = role.role == NetRole::AutonomousProxy ? "autonomous" : "simulated";
    text += role.is_owned ? " owned" : "";
    text += role.is_player ? " player" : "";
    return text;
}

[[nodiscard]] std::string text_of(const Vector3& vector) {
    return std::to_string(static_cast<int>(vector.x)) + ',' +
           std::to_string(static_cast<int>(vector.y)) + ',' +
           std::to_string(static_cast<int>(vector.z));
}

[[nodiscard]] SimulatedNetworkSettings settings_of_link(const LinkSettings& link) {
    SimulatedNetworkSettings settings;
    settings.link = link;
    settings.datagram_bytes_max = 1'400;
    return settings;
}

[[nodiscard]] std::unique_ptr<RepLayout> make_prop_layout(const TypeRegistry& registry,
                                                          const Type& type, const Prop& archetype) {
    RepLayoutOptions options;
    options.archetype = &archetype;
    auto layout = RepLayout::create(registry, type, options);
    REQUIRE(layout);
    return *std::move(layout);
}

}  // namespace

Told take_told(PropHost& host) {
    return std::exchange(host.world.told, {});
}

LinkSettings bad_link() {
    LinkSettings link;
    link.loss = 0.3;
    link.duplicate = 0.1;
    link.reorder = 0.2;
    link.latency_ms = 60;
    link.jitter_ms = 20;
    return link;
}

NetConfig patient_config() {
    NetConfig config;
    config.timeout_ms = 60'000;
    return config;
}

PropLayouts::PropLayouts() {
    using F = FunctionFlags;
    const auto type = class_builder<Prop>(registry_, "Prop")
                          .property<&Prop::hp>()
                          .property<&Prop::secret>()
                          .condition(LifetimeCondition::OwnerOnly)
                          .property<&Prop::link>()
                          .function<&Prop::client_tell>(F::Client | F::Reliable)
                          .function<&Prop::multicast_boom>(F::Multicast | F::Reliable)
                          .function<&Prop::server_use>(F::Server | F::Reliable)
                          .build();
    INFO((type ? "" : type.error().message));
    REQUIRE(type);
    REQUIRE(registry_.freeze());
    prop_ = make_prop_layout(registry_, **type, Prop());
    Prop barrel;
    barrel.hp = 25;
    barrel_ = make_prop_layout(registry_, **type, barrel);
}

PropWorld::PropWorld(std::uint64_t first_handle, const PropLayouts& layouts)
    : TypedWorld(first_handle) {
    Prop barrel;
    barrel.hp = 25;
    begin_with(layouts.barrel(), barrel);
}

ObjectHandle PropWorld::spawn(const SpawnInfo& info) {
    const SpawnParameters& parameters = info.parameters;
    const std::string name(parameters.stable_name);
    std::string text = name.empty() ? "spawn" : "find " + name;
    text += info.archetype.value != 0 ? " #" + std::to_string(info.archetype.value) : "";
    text += parameters.location ? " at " + text_of(*parameters.location) : "";
    text += parameters.rotation ? " turned" : "";
    text += parameters.scale ? " scaled " + text_of(*parameters.scale) : "";
    text += parameters.velocity ? " moving " + text_of(*parameters.velocity) : "";
    text += info.role.is_owned ? ", " + text_of(info.role) : "";
    CHECK((info.outer.is_null() || contains(info.outer)));
    text += info.outer.is_null() ? "" : " as a part";
    told.push_back(text);
    if (name.empty() || !info.outer.is_null()) {
        const ObjectHandle object = add(info.layout);
        if (!info.outer.is_null()) {
            outers[object] = info.outer;
        }
        return object;
    }
    const auto found = named_.find(name);
    return found == named_.end() ? ObjectHandle{} : found->second;
}

void PropWorld::despawn(ObjectHandle object, ChannelCloseReason reason) {
    told.push_back("despawn: " + std::string(to_string(reason)));
    CHECK(contains(object));
    const auto outer = outers.find(object);
    if (outer != outers.end()) {
        CHECK((contains(outer->second) || reason == ChannelCloseReason::TearOff));
        outers.erase(outer);
    }
    const auto is_it = [&](const auto& named) { return named.second == object; };
    const auto named = std::find_if(named_.begin(), named_.end(), is_it);
    if (reason == ChannelCloseReason::TearOff ||
        (named != named_.end() && reason != ChannelCloseReason::Destroyed)) {
        return;
    }
    if (named != named_.end()) {
        named_.erase(named);
    }
    remove(object);
}

void PropWorld::role_changed(ObjectHandle object, const ObjectRole& previous,
                             const ObjectRole& role) {
    CHECK(contains(object));
    told.push_back(text_of(previous) + " -> " + text_of(role));
}

void PropWorld::destroy_named(std::string_view stable_name) {
    told.push_back("destroyed " + std::string(stable_name));
    const auto named = named_.find(std::string(stable_name));
    if (named != named_.end()) {
        remove(named->second);
        named_.erase(named);
    }
}

PropHost::PropHost(const NetDriverSettings& settings, Transport& transport,
                   const PropLayouts& layouts, std::uint64_t first_handle)
    : world(first_handle, layouts), driver(settings, transport, world) {
    REQUIRE(driver.add_layout(layouts.prop()));
    REQUIRE(driver.add_archetype(PropLayouts::barrel_id, layouts.barrel()));
    for (const char* name : SpawnGame::map_names) {
        (void)world.place(name);
    }
}

SpawnGame::SpawnGame(const LinkSettings& link, const NetConfig& config, std::uint64_t seed)
    : config_(config),
      seed_(seed),
      network_(settings_of_link(link), seed, std::pmr::get_default_resource()),
      now_(NetTime::from_milliseconds(1'000)) {
    NetDriverSettings settings;
    settings.config = config;
    settings.seed = seed;
    server_ = std::make_unique<PropHost>(settings, network_.endpoint(server_peer), layouts_, 1'000);
    REQUIRE(server_->driver.listen());
}

std::size_t SpawnGame::add_client() {
    const std::size_t client = clients_.size();
    NetDriverSettings settings;
    settings.config = config_;
    settings.seed = seed_ + client + 1;
    clients_.push_back(std::make_unique<PropHost>(settings, network_.endpoint(peer_of(client)),
                                                  layouts_, (client + 2) * 1'000'000));
    return client;
}

void SpawnGame::connect(std::size_t client) {
    REQUIRE(clients_[client]->driver.connect(server_peer, now_));
}

ObjectHandle SpawnGame::add(const RepLayout& layout, const SpawnParameters& parameters) {
    const ObjectHandle object = parameters.stable_name.empty()
                                    ? server_->world.add(layout)
                                    : server_->world.named(std::string(parameters.stable_name));
    ids_[object] = server_->driver.add_object(layout, object, parameters);
    guids_[object] = server_->driver.guid_of(ids_[object]);
    return object;
}

ObjectHandle SpawnGame::add_at(float x) {
    SpawnParameters parameters;
    parameters.location = Vector3{x, 0, 0};
    return add(layouts_.prop(), parameters);
}

ObjectHandle SpawnGame::add_part(ObjectHandle outer, const SubobjectParameters& parameters) {
    const ObjectHandle object = server_->world.add(layouts_.prop());
    ids_[object] =
        server_->driver.add_subobject(ids_.at(outer), layouts_.prop(), object, parameters);
    guids_[object] = server_->driver.guid_of(ids_[object]);
    return object;
}

ObjectHandle SpawnGame::announce(const std::string& stable_name) {
    SpawnParameters parameters;
    parameters.stable_name = stable_name;
    return add(layouts_.prop(), parameters);
}

void SpawnGame::remove(ObjectHandle object, ChannelCloseReason reason) {
    server_->driver.remove_object(ids_.at(object), reason);
    server_->world.remove(object);
}

ObjectHandle SpawnGame::find_on(std::size_t client, ObjectHandle object) {
    return clients_[client]->driver.guids().find_object(guids_.at(object));
}

Prop& SpawnGame::prop_on(std::size_t client, ObjectHandle object) {
    const ObjectHandle found = find_on(client, object);
    REQUIRE(!found.is_null());
    return clients_[client]->world.at(found);
}

void SpawnGame::tick(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        tick([] {});
    }
}

void SpawnGame::tick(const std::function<void()>& moves) {
    now_ = now_.plus_milliseconds(20);
    network_.advance(now_);
    server_->driver.tick_dispatch(now_);
    moves();
    server_->driver.tick_flush(now_);
    for (const auto& client : clients_) {
        if (client->driver.state() != ConnectionState::Closed) {
            client->driver.tick_dispatch(now_);
            client->driver.tick_flush(now_);
        }
    }
}

bool SpawnGame::settle() {
    for (std::uint32_t i = 0; i < 2'000; ++i) {
        tick();
        const bool are_joined =
            std::none_of(clients_.begin(), clients_.end(), [](const auto& client) {
                return client->driver.state() == ConnectionState::Connecting;
            });
        if (are_joined && server_->driver.is_settled()) {
            return true;
        }
    }
    return false;
}

}  // namespace replayout::test
