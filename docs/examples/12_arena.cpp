// SPDX-License-Identifier: MIT
//
// One small arena, twice: a fighter for each player, first in Unity's words, then in Unreal's. Both
// are doors to one engine, so what goes over the wire for the same properties is the same, byte for
// byte.
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

using namespace replayout;

namespace {

constexpr PeerId server_peer{1};
constexpr PeerId client_peer{2};
MemoryResource* const memory = std::pmr::get_default_resource();

/// Notes what a server sends, without the headers of packets, which tell of time and not of values.
class Tap final : public Transport {
  public:
    explicit Tap(Transport& below) : below_(below) {}

    std::string taken;  // since it was cleared

    std::size_t datagram_bytes_max() const noexcept override { return below_.datagram_bytes_max(); }
    std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        return below_.receive(peer, buffer);
    }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        const auto ack_words = 1 + (std::to_integer<std::size_t>(datagram[6]) & 7);
        for (const std::byte byte : datagram.subspan(7 + 4 * ack_words)) {
            char text[4];
            std::snprintf(text, sizeof(text), "%02x ", std::to_integer<unsigned>(byte));
            taken += text;
        }
        below_.send(peer, datagram);
    }

  private:
    Transport& below_;
};

// In Unity's words.

namespace unity {

class Fighter : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> health = 100;
    SyncVar<std::uint8_t> ammo = 12;
    SyncVar<std::string> name;

    void on_health_changed(std::int32_t previous, std::int32_t current) {
        std::printf("  hook: health %d -> %d\n", previous, current);
    }
    void on_start_local_player() override { std::printf("  this is the local player\n"); }
};

std::vector<std::string> play() {
    NetworkTypes types;
    const auto fighter = BehaviourBuilder<Fighter>(types, "Fighter")
                             .sync_var<&Fighter::health, &Fighter::on_health_changed>()
                             .sync_var<&Fighter::ammo>()
                             .sync_var<&Fighter::name>()
                             .build();
    const auto prefab = types.add_prefab("FighterPrefab", {{*fighter}});
    if (!prefab || !types.freeze()) {
        return {};
    }
    NetworkManager manager;
    manager.player_prefab = *prefab;

    LoopbackNetwork network({}, memory);
    Tap tap(network.endpoint(server_peer));
    NetworkServer server({}, tap, types, manager);
    NetworkClient client({}, network.endpoint(client_peer), types, manager);
    NetTime now;
    if (!server.listen() || !client.connect(server_peer, now)) {
        return {};
    }
    const auto tick = [&] {
        now = now.plus_milliseconds(33);
        tap.taken.clear();
        server.early_update(now);
        server.late_update(now);
        client.early_update(now);
        client.late_update(now);
        return tap.taken;
    };
    while (client.local_player() == nullptr || !server.driver().is_settled()) {
        tick();
    }

    Fighter& player = server.find_connection(client_peer)->identity()->component<Fighter>(0);
    std::vector<std::string> packets;
    player.health -= 40;
    packets.push_back(tick());
    player.ammo = 11;
    player.name = "ann";
    packets.push_back(tick());
    player.ammo = 11;  // the same value: nothing
    packets.push_back(tick());
    return packets;
}

}  // namespace unity

// In Unreal's words.

namespace unreal {

struct Fighter {
    std::int32_t health = 100;
    std::uint8_t ammo = 12;
    std::string name;

    void on_rep_health(std::int32_t previous) {
        std::printf("  on_rep: health %d -> %d\n", previous, health);
    }
};

/// Each player has one, and owns it.
struct PlayerController {};

class World final : public NetWorld {
  public:
    std::function<void(PeerId)> post_login;
    std::map<std::uint64_t, Fighter> fighters;
    PlayerController controller;

    void* object_memory(ObjectHandle object) override {
        const auto found = fighters.find(object.value);
        return found == fighters.end() ? static_cast<void*>(&controller) : &found->second;
    }
    ObjectHandle spawn(const SpawnInfo& info) override {
        if (info.layout.name() == "Fighter") {
            fighters.try_emplace(info.guid.value);
        }
        return {info.guid.value};
    }
    void despawn(ObjectHandle object, ChannelCloseReason) override { fighters.erase(object.value); }
    void peer_joined(PeerId peer) override {
        if (post_login) {
            post_login(peer);
        }
    }
};

std::vector<std::string> play() {
    TypeRegistry registry;
    const auto controller = class_builder<PlayerController>(registry, "PlayerController").build();
    const auto fighter = class_builder<Fighter>(registry, "Fighter")
                             .property<&Fighter::health>()
                             .on_rep<&Fighter::on_rep_health>()
                             .property<&Fighter::ammo>()
                             .property<&Fighter::name>()
                             .build();
    if (!controller || !fighter || !registry.freeze()) {
        return {};
    }
    const auto controller_layout = RepLayout::create(registry, **controller);
    const auto fighter_layout = RepLayout::create(registry, **fighter);
    if (!controller_layout || !fighter_layout) {
        return {};
    }

    LoopbackNetwork network({}, memory);
    Tap tap(network.endpoint(server_peer));
    World server_world;
    World client_world;
    NetDriver server({}, tap, server_world);
    NetDriver client({}, network.endpoint(client_peer), client_world);
    constexpr ObjectHandle player{7};
    server_world.post_login = [&](PeerId peer) {
        const NetObjectId id = server.add_object(**controller_layout, ObjectHandle{8});
        server.interest().set_relevancy(id, NetRelevancy::OnlyToOwner);
        server.set_owner(id, peer);
        server_world.fighters.try_emplace(player.value);
        const NetObjectId pawn = server.add_object(**fighter_layout, player);
        server.set_owner(pawn, peer);
        server.set_autonomous(pawn, true);
        server.set_player(pawn, true);
    };
    NetTime now;
    for (NetDriver* driver : {&server, &client}) {
        if (!driver->add_layout(**controller_layout) || !driver->add_layout(**fighter_layout)) {
            return {};
        }
    }
    if (!server.listen() || !client.connect(server_peer, now)) {
        return {};
    }
    const auto tick = [&] {
        now = now.plus_milliseconds(33);
        tap.taken.clear();
        server.tick_dispatch(now);
        server.tick_flush(now);
        client.tick_dispatch(now);
        client.tick_flush(now);
        return tap.taken;
    };
    while (client_world.fighters.empty() || !server.is_settled()) {
        tick();
    }

    Fighter& pawn = server_world.fighters.at(player.value);
    std::vector<std::string> packets;
    pawn.health -= 40;
    packets.push_back(tick());
    pawn.ammo = 11;
    pawn.name = "ann";
    packets.push_back(tick());
    pawn.ammo = 11;  // the same value: nothing
    packets.push_back(tick());
    return packets;
}

}  // namespace unreal

}  // namespace

int main() {
    std::puts("Unity's words");
    const std::vector<std::string> unity_packets = unity::play();
    for (const std::string& packet : unity_packets) {
        std::printf("  packet: %s\n", packet.c_str());
    }
    std::puts("Unreal's words");
    const std::vector<std::string> unreal_packets = unreal::play();
    for (const std::string& packet : unreal_packets) {
        std::printf("  packet: %s\n", packet.c_str());
    }
    const bool is_same = !unity_packets.empty() && unity_packets == unreal_packets;
    std::puts(is_same ? "the same bytes" : "DIFFERENT BYTES");
    return is_same ? 0 : 1;
}
