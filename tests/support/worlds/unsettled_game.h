// SPDX-License-Identifier: MIT
//
// A game that never settles: its movers change in every tick, at any tick rate, and its clients
// have caps. It knows the bounds that docs/limits.md states for such a game.
//
//     UnsettledGame game({.cap = 30'000});
//     const std::size_t client = game.join();
//     const ObjectHandle mover = game.add(UnsettledGame::moves);
//     game.tick();
//     CHECK(game.is_shown(client, mover));
#pragma once

#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/netdriver/simulated_network.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/wait_bounds.h"
#include "support/networks/host_ticks.h"
#include "support/types/test_layout.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {

struct Mover {
    std::uint32_t tick = 0;
    float x = 0;
    float y = 0;
    float z = 0;
    std::string content;
    std::uint32_t rung = 0;  ///< not replicated

    void multicast_ring() { ++rung; }
};

[[nodiscard]] inline Result<const Type*> build_mover(TypeRegistry& registry) {
    return class_builder<Mover>(registry, "Mover")
        .property<&Mover::tick>()
        .property<&Mover::x>()
        .property<&Mover::y>()
        .property<&Mover::z>()
        .property<&Mover::content>()
        .function<&Mover::multicast_ring>(FunctionFlags::Multicast | FunctionFlags::Reliable)
        .build();
}

class UnsettledGame {
  public:
    struct Options {
        std::uint64_t seed = 1;
        std::uint32_t ticks_per_second = 60;
        std::uint32_t cap = 0;  ///< of connections that begin
        std::uint32_t packet_bytes = 1'200;
        LinkSettings link{.latency_ms = 30};
        bool is_sharing = true;
    };
    enum class Motion : std::uint8_t { Moves, Stands };

    explicit UnsettledGame(const Options& options)
        : options_(options),
          layout_(build_mover, layout_options()),
          network_(network_settings(options), options.seed, std::pmr::get_default_resource()),
          server_(make_host(0)) {
        REQUIRE(server_->driver.listen());
    }

    [[nodiscard]] NetDriver& driver() { return server_->driver; }
    [[nodiscard]] NetDriver& client_driver(std::size_t client) { return clients_[client]->driver; }
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
    [[nodiscard]] static constexpr PeerId peer_of(std::size_t client) noexcept {
        return {client + 2};
    }

    std::size_t join() {
        const std::size_t client = clients_.size();
        clients_.push_back(make_host(client + 1));
        REQUIRE(clients_.back()->driver.connect(server_peer, now_));
        return client;
    }
    ObjectHandle add(Motion motion, std::size_t content_bytes = 0) {
        const ObjectHandle object = server_->world.add();
        change(object, content_bytes);
        ids_[object] = server_->driver.add_object(*layout_, object);
        note_motion(object, motion);
        return object;
    }
    ObjectHandle add_part(ObjectHandle outer, Motion motion) {
        const ObjectHandle object = server_->world.add();
        move(object);
        ids_[object] = server_->driver.add_subobject(ids_.at(outer), *layout_, object);
        note_motion(object, motion);
        return object;
    }
    void remove(ObjectHandle object) {
        server_->driver.remove_object(ids_.at(object));
        ids_.erase(object);
        movers_.erase(object);
        server_->world.remove(object);
    }
    /// Where it is in that tick.
    void move(ObjectHandle object) {
        Mover& mover = server_->world.at(object);
        mover.tick = tick_ + 1;
        mover.x = static_cast<float>(tick_);
        mover.y = 2 * mover.x;
        mover.z = 3 * mover.x;
    }
    /// All of it.
    void change(ObjectHandle object, std::size_t content_bytes) {
        move(object);
        Mover& mover = server_->world.at(object);
        mover.content.assign(content_bytes, static_cast<char>('a' + tick_ % 26));
    }
    [[nodiscard]] NetObjectId id_of(ObjectHandle object) const { return ids_.at(object); }
    [[nodiscard]] Mover& object(ObjectHandle object) { return server_->world.at(object); }
    /// Null: the client does not have it.
    [[nodiscard]] Mover* find_on(std::size_t client, ObjectHandle object) {
        Host& host = *clients_[client];
        const NetGUID guid = server_->driver.guid_of(ids_.at(object));
        const ObjectHandle found = host.driver.guids().find_object(guid);
        return host.world.find(found);
    }
    /// The client has it, with first values.
    [[nodiscard]] bool is_shown(std::size_t client, ObjectHandle object) {
        const Mover* shown = find_on(client, object);
        return shown != nullptr && shown->tick > 0;
    }
    [[nodiscard]] bool is_equal(std::size_t client, ObjectHandle object) {
        const Mover* shown = find_on(client, object);
        const Mover& own = server_->world.at(object);
        return shown != nullptr && shown->tick == own.tick && shown->content == own.content;
    }

    [[nodiscard]] std::uint32_t now() const noexcept { return tick_; }
    /// All movers change, then the server sends.
    void tick(std::uint32_t count = 1) {
        for (; count > 0; --count) {
            ++tick_;
            now_ = NetTime{1'000'000 + std::int64_t{1'000'000} * tick_ / options_.ticks_per_second};
            tick_hosts(network_, now_, server_, clients_, [this] {
                for (const ObjectHandle object : movers_) {
                    move(object);
                }
            });
        }
    }

    void set_cap(std::uint32_t cap, std::size_t client = 0) {
        options_.cap = cap;
        server_->driver.rates().set_bytes_per_second_max(peer_of(client), cap);
    }
    /// The bounds of objects while `other_kinds` of calls, joins and large values want their share.
    [[nodiscard]] WaitBounds bounds(std::uint32_t other_kinds = 0) const {
        return WaitBounds::of_cap(options_.cap, options_.ticks_per_second, other_kinds,
                                  options_.packet_bytes);
    }
    /// Bytes of datagrams that a block with `content_bytes` takes at most, in a packet of its own.
    [[nodiscard]] static double block_bytes(std::size_t content_bytes = 0) {
        return static_cast<double>(content_bytes) + 42;
    }
    [[nodiscard]] static double open_bytes(std::size_t content_bytes = 0) {
        return block_bytes(content_bytes) + 26;
    }
    [[nodiscard]] double round_trip_flushes() const {
        return 2.0 * (options_.link.latency_ms + options_.link.jitter_ms) / 1'000 *
                   options_.ticks_per_second +
               4;
    }

  private:
    static constexpr PeerId server_peer{1};

    struct Host {
        Host(const NetDriverSettings& settings, Transport& endpoint, const RepLayout& layout,
             std::uint64_t first_handle)
            : world(first_handle), driver(settings, endpoint, world) {
            REQUIRE(driver.add_layout(layout));
        }

        TypedWorld<Mover> world;
        NetDriver driver;
    };

    [[nodiscard]] static RepLayoutOptions layout_options() {
        RepLayoutOptions options;
        options.limits.string_bytes_max = 30'000;
        return options;
    }
    [[nodiscard]] static SimulatedNetworkSettings network_settings(const Options& options) {
        SimulatedNetworkSettings settings;
        settings.link = options.link;
        return settings;
    }
    [[nodiscard]] std::unique_ptr<Host> make_host(std::size_t number) {
        constexpr std::uint64_t handles_per_host = 1'000'000;
        NetDriverSettings settings;
        settings.config.bytes_per_second_max = options_.cap;
        settings.config.packet_bytes_max = options_.packet_bytes;
        settings.config.timeout_ms = 120'000;  // so much is lost that ten seconds may be too few
        settings.seed = options_.seed + number;
        settings.sharing = sharing_level(options_.is_sharing);
        settings.is_validating = false;
        return std::make_unique<Host>(settings, network_.endpoint(PeerId{number + 1}), *layout_,
                                      1'000 + number * handles_per_host);
    }
    void note_motion(ObjectHandle object, Motion motion) {
        if (motion == Motion::Moves) {
            movers_.insert(object);
        }
    }

    Options options_;
    TestLayout layout_;
    SimulatedNetwork network_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    std::uint32_t tick_ = 0;
    std::unique_ptr<Host> server_;
    std::vector<std::unique_ptr<Host>> clients_;
    std::map<ObjectHandle, NetObjectId> ids_;
    std::set<ObjectHandle> movers_;
};

}  // namespace replayout::test
