// SPDX-License-Identifier: MIT
//
// A server and a client over UDP sockets of this machine, as two programs would do it: each side
// has its transport, its driver and its world, and meets the other through the network alone.
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>
#include <replayout/transports/udp_transport.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>

using namespace replayout;

namespace {

struct Lamp {
    std::int32_t light = 0;
};

NetTime clock_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::microseconds>(now).count()};
}

/// Transport, driver and world of one program.
struct Side final : NetWorld {
    Side(const char* side_name, std::unique_ptr<UdpTransport> udp)
        : name(side_name), transport(std::move(udp)), driver({}, *transport, *this) {}

    void* object_memory(ObjectHandle object) override { return &lamps.at(object.value); }
    ObjectHandle spawn(const SpawnInfo&) override {
        lamps[++last] = {};
        return {last};
    }
    void despawn(ObjectHandle object, ChannelCloseReason) override { lamps.erase(object.value); }
    void peer_joined(PeerId) override { std::printf("%s: joined\n", name); }
    void peer_left(PeerId peer, CloseReason reason) override {
        std::printf("%s: left, %s\n", name, std::string(to_string(reason)).c_str());
        transport->close(peer);  // its slot is free
    }
    void tick() {
        const NetTime now = clock_now();
        transport->tick(now);  // before the driver reads
        driver.tick_dispatch(now);
        // ... the game ...
        driver.tick_flush(now);
        transport->flush();  // behind what the driver sent
    }

    const char* name;
    std::map<std::uint64_t, Lamp> lamps;
    std::uint64_t last = 0;
    std::unique_ptr<UdpTransport> transport;
    NetDriver driver;
};

/// Both go on until that holds; false: it did not within ten seconds.
template <typename Condition>
bool run_until(Side& server, Side& client, Condition holds) {
    for (int i = 0; i < 2'000 && !holds(); ++i) {
        server.tick();
        client.tick();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return holds();
}

bool play(const RepLayout& layout) {
    // Port 0 is any that is free; a server elsewhere has "0.0.0.0:7777", and its clients its
    // address.
    auto listening = UdpTransport::listen("127.0.0.1:0");
    if (!listening) {
        std::printf("%s\n", listening.error().message.c_str());
        return false;
    }
    Side server("server", std::move(*listening));
    auto connecting = UdpTransport::connect(server.transport->local_address());
    if (!connecting) {
        return false;
    }
    Side client("client", std::move(*connecting));
    if (!server.driver.add_layout(layout) || !server.driver.listen() ||
        !client.driver.add_layout(layout) ||
        !client.driver.connect(client.transport->server(), clock_now())) {
        return false;
    }
    const ObjectHandle lamp = server.spawn({{}, layout});
    (void)server.driver.add_object(layout, lamp);
    const auto is_shown = [&] {
        return !client.lamps.empty() &&
               client.lamps.begin()->second.light == server.lamps.at(lamp.value).light;
    };
    bool is_good = run_until(server, client, is_shown);
    server.lamps.at(lamp.value).light = 7;
    is_good = is_good && run_until(server, client, is_shown);
    std::printf("the client's lamp has light %d\n",
                is_good ? static_cast<int>(client.lamps.begin()->second.light) : -1);
    client.driver.disconnect(client.transport->server());
    return is_good &&
           run_until(server, client, [&] { return server.driver.connection_count() == 0; });
}

}  // namespace

int main() {
    TypeRegistry registry;
    const auto type = class_builder<Lamp>(registry, "Lamp").property<&Lamp::light>().build();
    if (!type || !registry.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(registry, **type);
    return layout && play(**layout) ? 0 : 1;
}
