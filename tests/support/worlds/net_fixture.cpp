// SPDX-License-Identifier: MIT
#include "support/worlds/net_fixture.h"

#include "support/checks/catch.h"
#include "support/networks/host_settings.h"
#include "support/networks/host_ticks.h"

namespace replayout::test {

namespace {

[[nodiscard]] std::string join_lines(const std::map<NetGUID, std::string>& lines) {
    std::string text;
    for (const auto& [guid, line] : lines) {
        text += std::to_string(guid.value) + ": " + line + "\n";
    }
    return text;
}

}  // namespace

NetHost::NetHost(const NetDriverSettings& settings, Transport& endpoint, std::uint64_t first_handle,
                 bool is_pooled)
    : world(first_handle),
      transport(endpoint),
      driver(std::make_unique<NetDriver>(is_pooled ? with_resource(settings, &pool.emplace(&memory))
                                                   : with_resource(settings, &memory),
                                         transport, world)) {}

NetFixture::NetFixture(const NetFixtureOptions& options)
    : options_(options),
      network_(wide_network(options.link), options.seed, std::pmr::get_default_resource()),
      now_(NetTime::from_milliseconds(1'000)),
      next_seed_(options.seed) {
    NetDriverSettings server =
        host_settings(options.server, next_seed_++, options.sharing, options.is_validating);
    server.executor = options.executor;
    server.executor_work_min = 0;
    server_ = std::make_unique<NetHost>(server, network_.endpoint(server_peer), server_first_handle,
                                        options.is_pooled);
    TestSchema::get().add_to(*server_->driver);
    REQUIRE(server_->driver->listen());
}

std::unique_ptr<NetHost> NetFixture::make_client(std::size_t index, const NetConfig& config) {
    auto client = std::make_unique<NetHost>(
        host_settings(config, next_seed_++, SharingLevel::Bundles, options_.is_validating),
        network_.endpoint(client_peer(index)), client_first_handle, options_.is_pooled);
    TestSchema::get().add_to(*client->driver);
    REQUIRE(client->driver->connect(server_peer, now_));
    return client;
}

std::size_t NetFixture::join() {
    return join(options_.client);
}

std::size_t NetFixture::join(const NetConfig& config) {
    clients_.push_back(make_client(clients_.size(), config));
    return clients_.size() - 1;
}

void NetFixture::join_settled(std::size_t count) {
    for (; count > 0; --count) {
        join();
    }
    REQUIRE(settle());
}

void NetFixture::restart(std::size_t client) {
    network_.disconnect(client_peer(client));
    clients_[client] = make_client(client, options_.client);
}

void NetFixture::tick() {
    tick([] {});
}

void NetFixture::tick(const std::function<void()>& moves) {
    now_ = now_.plus_milliseconds(options_.tick_ms);
    tick_hosts(network_, now_, server_, clients_, moves);
}

void NetFixture::tick(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        tick();
    }
}

void NetFixture::tick_for_ms(std::int64_t milliseconds) {
    const NetTime end = now_.plus_milliseconds(milliseconds);
    while (now_ < end) {
        tick();
    }
}

bool NetFixture::tick_until(const std::function<bool()>& is_done, std::uint32_t ticks_max) {
    for (std::uint32_t i = 0; i < ticks_max && !is_done(); ++i) {
        tick();
    }
    return is_done();
}

bool NetFixture::settle(std::uint32_t ticks_max) {
    // Changes since the last flush are found in the next, and without a client nothing is owed at
    // all.
    tick();
    return tick_until([this] { return are_settled(server_, clients_); }, ticks_max);
}

ObjectHandle NetFixture::add(const RepLayout& layout) {
    const ObjectHandle object = server_->world.add(layout);
    announce(object);
    return object;
}

void NetFixture::announce(ObjectHandle object) {
    const RepLayout& layout = TestSchema::get().layout_of(*server_->world.find(object));
    ids_[object] = server_->driver->add_object(layout, object);
}

void NetFixture::remove(ObjectHandle object) {
    server_->driver->remove_object(ids_.at(object));
    ids_.erase(object);
    server_->world.remove(object);
}

NetGUID NetFixture::guid_of(ObjectHandle object) {
    return server_->driver->guids().find_guid(object);
}

ObjectHandle NetFixture::find_on(std::size_t client, ObjectHandle object) {
    return client_driver(client).guids().find_object(guid_of(object));
}

Pawn& NetFixture::pawn_on(std::size_t client, ObjectHandle object) {
    return clients_[client]->world.pawn(find_on(client, object));
}

Archive& NetFixture::archive_on(std::size_t client, ObjectHandle object) {
    return clients_[client]->world.archive(find_on(client, object));
}

std::string NetFixture::server_text() {
    const NetGUIDCache& guids = server_->driver->guids();
    std::map<NetGUID, std::string> lines;
    for (const auto& [object, id] : ids_) {
        lines[guids.find_guid(object)] =
            TestWorld::text_of(*server_->world.find(object), [&](ObjectHandle target) {
                const NetGUID guid = guids.find_guid(target);
                const bool is_alive = !guids.find_object(guid).is_null();
                return is_alive ? "#" + std::to_string(guid.value) : std::string("none");
            });
    }
    return join_lines(lines);
}

std::string NetFixture::client_text(std::size_t client) {
    NetHost& host = *clients_[client];
    const NetGUIDCache& guids = host.driver->guids();
    std::map<NetGUID, std::string> lines;
    for (const auto& [object, value] : host.world.objects()) {
        lines[guids.find_guid(object)] = TestWorld::text_of(*value, [&](ObjectHandle target) {
            if (target.is_null()) {
                return std::string("none");
            }
            // One that is not there any more would be a dangling reference.
            const bool is_alive = host.world.find(target) != nullptr;
            return is_alive ? "#" + std::to_string(guids.find_guid(target).value)
                            : std::string("dangling");
        });
    }
    return join_lines(lines);
}

}  // namespace replayout::test
