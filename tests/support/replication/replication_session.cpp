// SPDX-License-Identifier: MIT
#include "support/replication/replication_session.h"

#include "support/networks/peers.h"
#include "support/types/type_counters_sum.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory_resource>
#include <numeric>
#include <span>

namespace replayout::test {

namespace {

constexpr std::int64_t tick_us = 33'333;
constexpr std::uint32_t quiet_ticks = 60;
constexpr std::uint32_t random_ticks_max = 20;

/// How a connection between honest ends may end.
constexpr CloseReason honest_reasons[] = {CloseReason::None, CloseReason::Requested,
                                          CloseReason::Timeout, CloseReason::Replaced};

[[nodiscard]] SimulatedNetworkSettings network_settings(const SessionSettings& settings) {
    SimulatedNetworkSettings network;
    network.link = settings.to_client;
    network.datagram_bytes_max = settings.net.packet_bytes_max;
    return network;
}

[[nodiscard]] std::uint32_t ticks_of(std::int64_t milliseconds) noexcept {
    return static_cast<std::uint32_t>(milliseconds * 1'000 / tick_us + 1);
}

/// The longest that a datagram is on its way.
[[nodiscard]] double delay_ms_max(const LinkSettings& link) noexcept {
    const double queue_ms = link.bandwidth_bytes_per_second == 0
                                ? 0
                                : 1'000.0 * static_cast<double>(link.queue_bytes) /
                                      static_cast<double>(link.bandwidth_bytes_per_second);
    return link.latency_ms + link.jitter_ms + link.reorder_ms + queue_ms;
}

void require(const Status& status) {
    if (!status) {
        std::abort();  // a mistake of this file
    }
}

}  // namespace

void SessionCounts::add(const SessionCounts& other) {
    joins += other.joins;
    connections_ended += other.connections_ended;
    channels_dormant += other.channels_dormant;
    objects_added += other.objects_added;
    objects_judged += other.objects_judged;
    notifies += other.notifies;
    records_sent += other.records_sent;
    records_lost += other.records_lost;
    values_sent_reliable += other.values_sent_reliable;
    bunches_resent += other.bunches_resent;
    payloads_reused += other.payloads_reused;
    values_reused += other.values_reused;
    timeouts += other.timeouts;
    quiet_broken += other.quiet_broken;
}

ReplicationSession::Server::Server(const NetDriverSettings& settings, ServerWorld& world)
    : transport(settings.config.packet_bytes_max), driver(settings, transport, world) {}

ReplicationSession::ReplicationSession(const SessionSettings& settings)
    : settings_(settings),
      executor_(2 + static_cast<std::uint32_t>(settings.seed % 3),
                settings.seed % 4 < 2 ? JobOrder::Reverse : JobOrder::Shuffled, settings.seed),
      server_types_(settings.seed, settings.types),
      client_types_(settings.seed, settings.types),
      network_(network_settings(settings), settings.seed, std::pmr::get_default_resource()),
      network_endpoint_(network_.endpoint(server_peer)),
      world_(server_types_),
      server_(driver_settings(settings.seed, settings.is_sharing), world_),
      twin_(driver_settings(settings.seed, !settings.is_sharing), world_),
      game_(settings_, server_types_, world_, *this),
      random_(settings.seed * 41 + 13) {
    for (Server* server : {&server_, &twin_}) {
        for (std::uint32_t i = 0; i < server_types_.class_count(); ++i) {
            require(server->driver.add_layout(server_types_.layout(i)));
        }
        require(server->driver.listen());
    }
    clients_.resize(settings_.client_count);
    for (std::uint32_t i = 0; i < settings_.client_count; ++i) {
        clients_[i].peer = PeerId{i + 2};
        clients_[i].absent_ticks = random_.percent(50) ? 0 : random_.below(settings_.tick_count);
        network_.set_settings(clients_[i].peer, server_peer, settings_.to_server);
    }
}

ReplicationSession::~ReplicationSession() = default;

NetDriverSettings ReplicationSession::driver_settings(std::uint64_t seed, bool is_sharing) {
    NetDriverSettings driver;
    driver.config = settings_.net;
    driver.may_leave_out_texts = true;
    driver.seed = seed;
    driver.sharing = sharing_level(is_sharing);
    driver.is_keeping_names = true;                            // for the judge
    driver.is_counting_types = is_sharing == (seed % 2 == 0);  // one of the twins
    if (!driver.is_counting_types) {
        driver.executor = &executor_;  // the other one
        driver.executor_work_min = 0;
    }
    return driver;
}

std::string ReplicationSession::run() {
    for (std::uint32_t i = 0; i < settings_.tick_count && !is_failed(); ++i) {
        tick(true);
    }
    if (!is_failed()) {
        heal();
    }
    bool is_quiet = false;
    while (!is_failed() && !is_quiet) {
        await_healed();
        if (!is_failed()) {
            check_healed();
        }
        is_quiet = stay_quiet();
    }
    if (!is_failed()) {
        check_accounts();
    }
    return problem_;
}

SessionCounts ReplicationSession::counts() const {
    const NetStats& stats = server_.driver.stats();
    const NetStats& twin = twin_.driver.stats();
    SessionCounts counts = counts_;
    counts.records_sent = stats.records_sent;
    counts.channels_dormant = stats.channels_dormant;
    counts.records_lost = stats.records_lost;
    counts.values_sent_reliable = stats.replication.blocks_sent - stats.records_sent;
    counts.bunches_resent = stats.bunches_resent;
    counts.payloads_reused = stats.replication.payloads_reused + twin.replication.payloads_reused;
    counts.values_reused = stats.replication.values_reused + twin.replication.values_reused;
    counts.timeouts = stats.closed[static_cast<std::size_t>(CloseReason::Timeout)];
    return counts;
}

void ReplicationSession::fail(const std::string& problem) {
    if (problem_.empty()) {
        problem_ = "tick " + std::to_string(tick_) + ": " + problem;
    }
}

void ReplicationSession::object_added(ObjectId id, std::uint32_t class_index) {
    const RepLayout& layout = server_types_.layout(class_index);
    for (Server* server : {&server_, &twin_}) {
        server->ids.emplace(id, server->driver.add_object(layout, ObjectHandle{id.value}));
    }
    oracle_.add_object(id, layout.type(), world_.read(id));
    ++counts_.objects_added;
}

void ReplicationSession::object_removed(ObjectId id) {
    for (Server* server : {&server_, &twin_}) {
        const auto found = server->ids.find(id);
        server->driver.remove_object(found->second);
        server->ids.erase(found);
    }
    oracle_.remove_object(id);
}

void ReplicationSession::property_changed(ObjectId id, std::string_view property) {
    for (Server* server : {&server_, &twin_}) {
        server->driver.mark_property_dirty(server->ids.at(id), property);
    }
}

void ReplicationSession::tick(bool is_playing) {
    ++tick_;
    now_.microseconds += tick_us;
    network_.advance(now_);
    if (server_hitch_ticks_ > 0) {
        --server_hitch_ticks_;
    } else {
        tick_server(is_playing);
    }
    for (Client& client : clients_) {
        tick_client(client);
        if (is_playing) {
            disturb(client);
        }
    }
    if (is_playing && random_.below(1'000) < settings_.hitch_per_mille) {
        server_hitch_ticks_ = random_.between(1, random_ticks_max);
    }
}

void ReplicationSession::tick_server(bool is_playing) {
    feed_servers();
    server_.driver.tick_dispatch(now_);
    twin_.driver.tick_dispatch(now_);
    if (is_playing) {
        game_.play();
        for (const ObjectId id : game_.touched()) {
            oracle_.set_state(id, world_.read(id));
        }
        if (settings_.dormant_percent > 0 && random_.percent(settings_.dormant_percent)) {
            change_dormancy();
        }
        if (settings_.role_percent > 0 && random_.percent(settings_.role_percent)) {
            change_role();
        }
    }
    server_.driver.tick_flush(now_);
    twin_.driver.tick_flush(now_);
    check_server();
    forward_sent();
}

void ReplicationSession::change_dormancy() {
    if (server_.ids.empty()) {
        return;
    }
    const auto count = static_cast<std::uint32_t>(server_.ids.size());
    const ObjectId id = std::next(server_.ids.begin(), random_.below(count))->first;
    const std::uint32_t what = random_.below(10);
    const auto dormancy = static_cast<NetDormancy>(random_.below(5));
    const PeerId peer = clients_[random_.below(settings_.client_count)].peer;
    const bool is_dormant = random_.percent(50);
    for (Server* server : {&server_, &twin_}) {
        const NetObjectId net_id = server->ids.at(id);
        if (what < 4) {
            server->driver.flush_dormancy(net_id);
        } else if (what < 6) {
            server->driver.set_dormant_for(peer, net_id, is_dormant);
        } else {
            server->driver.set_dormancy(net_id, what == 6 ? dormancy : NetDormancy::DormantAll);
        }
    }
}

void ReplicationSession::change_role() {
    if (server_.ids.empty()) {
        return;
    }
    const auto count = static_cast<std::uint32_t>(server_.ids.size());
    const ObjectId id = std::next(server_.ids.begin(), random_.below(count))->first;
    const std::uint32_t what = random_.below(4);
    const PeerId peer = clients_[random_.below(settings_.client_count)].peer;
    const bool is_on = random_.percent(50);
    for (Server* server : {&server_, &twin_}) {
        const NetObjectId net_id = server->ids.at(id);
        if (what == 0) {
            server->driver.clear_owner(net_id);
        } else if (what == 1) {
            server->driver.set_autonomous(net_id, is_on);
        } else {
            server->driver.set_owner(net_id, peer);
        }
    }
}

void ReplicationSession::wake_all() {
    for (Server* server : {&server_, &twin_}) {
        for (const auto& [id, net_id] : server->ids) {
            server->driver.flush_dormancy(net_id);
        }
    }
}

void ReplicationSession::feed_servers() {
    std::array<std::byte, 2'048> buffer;
    PeerId peer;
    for (std::size_t size = network_endpoint_.receive(peer, buffer);
         size != Transport::nothing_received; size = network_endpoint_.receive(peer, buffer)) {
        const auto bytes = std::span<const std::byte>(buffer).first(size);
        const Datagram datagram{peer, {bytes.begin(), bytes.end()}};
        server_.transport.put(datagram);
        twin_.transport.put(datagram);
    }
}

void ReplicationSession::forward_sent() {
    for (const Datagram& datagram : server_.transport.sent()) {
        ++packets_forwarded_;
        bytes_forwarded_ += datagram.bytes.size();
        network_endpoint_.send(datagram.peer, datagram.bytes);
    }
    server_.transport.sent().clear();
    twin_.transport.sent().clear();
}

void ReplicationSession::tick_client(Client& client) {
    if (client.driver == nullptr) {
        if (client.absent_ticks > 0) {
            --client.absent_ticks;
            return;
        }
        join(client);
    }
    if (client.hitch_ticks > 0) {
        --client.hitch_ticks;
        return;
    }
    client_types_.set_notify_handler([&](const NotifyEvent& event) {
        client.world->note_notify(event);
        ++counts_.notifies;
    });
    client.driver->tick_dispatch(now_);
    client.driver->tick_flush(now_);
    client_types_.set_notify_handler({});
    check_client(client);
    if (client.driver->state() == ConnectionState::Closed) {
        leave(client, random_.below(random_ticks_max));
    }
}

void ReplicationSession::join(Client& client) {
    const bool refuses = random_.percent(settings_.refuse_percent);
    const std::uint32_t refused_class =
        refuses ? random_.below(client_types_.class_count()) : client_types_.class_count();
    client.id = ClientId{++last_client_id_};
    client.world = std::make_unique<ClientWorld>(client_types_, refused_class);
    client.transport = std::make_unique<ScriptedTransport>(network_.endpoint(client.peer));
    client.driver =
        std::make_unique<NetDriver>(driver_settings(settings_.seed * 1'000 + last_client_id_, true),
                                    *client.transport, *client.world);
    // In the order of the server's, but another set of descriptors.
    for (std::uint32_t i = 0; i < client_types_.class_count(); ++i) {
        require(client.driver->add_layout(client_types_.layout(i)));
    }
    require(client.driver->connect(server_peer, now_));
    oracle_.add_client(client.id, client.world->refused_type());
    ++counts_.joins;
}

void ReplicationSession::leave(Client& client, std::uint32_t absent_ticks) {
    client.driver.reset();
    client.world.reset();
    client.transport.reset();
    client.absent_ticks = absent_ticks;
    client.hitch_ticks = 0;
    oracle_.remove_client(client.id);
    ++counts_.connections_ended;
}

void ReplicationSession::disturb(Client& client) {
    if (client.driver == nullptr || client.hitch_ticks > 0) {
        return;
    }
    if (random_.below(1'000) < settings_.hitch_per_mille) {
        client.hitch_ticks = random_.between(1, random_ticks_max);
        return;
    }
    if (random_.below(1'000) >= settings_.leave_per_mille) {
        return;
    }
    switch (random_.below(5)) {
        case 0:  // says goodbye
            client.driver->disconnect(server_peer);
            break;
        case 1:  // is thrown out
            server_.driver.disconnect(client.peer);
            twin_.driver.disconnect(client.peer);
            break;
        case 2:  // crashes, and what is on its way finds the next one in his place
            leave(client, random_.below(random_ticks_max));
            break;
        case 3:  // crashes, and nobody is there
            leave(client, random_.below(ticks_of(settings_.net.timeout_ms) * 2));
            network_.disconnect(client.peer);
            break;
        default:  // silent for longer than is borne
            client.hitch_ticks = ticks_of(settings_.net.timeout_ms) + random_.below(30);
            break;
    }
}

void ReplicationSession::check_server() {
    const std::vector<Datagram>& sent = server_.transport.sent();
    const std::vector<Datagram>& twin_sent = twin_.transport.sent();
    if (sent != twin_sent) {
        const auto [left, right] =
            std::mismatch(sent.begin(), sent.end(), twin_sent.begin(), twin_sent.end());
        fail("with sharing on and off the servers send " + std::to_string(sent.size()) + " and " +
             std::to_string(twin_sent.size()) + " packets, and the first to differ is number " +
             std::to_string(left - sent.begin()));
    }
    const NetStats& stats = server_.driver.stats();
    std::uint64_t bytes = bytes_forwarded_;
    for (const Datagram& datagram : sent) {
        bytes += datagram.bytes.size();
    }
    if (stats.packets_sent != packets_forwarded_ + sent.size() || stats.bytes_sent != bytes) {
        fail("the server miscounts what it sends");
    }
    if (stats.packets_delivered + stats.packets_lost > stats.packets_sent ||
        stats.records_lost > stats.records_sent) {
        fail("more packets or records have an end than were sent");
    }
    check_close_reasons("the server", stats);
}

void ReplicationSession::check_close_reasons(std::string_view who, const NetStats& stats) {
    for (std::size_t i = 0; i < stats.closed.size(); ++i) {
        const auto reason = static_cast<CloseReason>(i);
        const bool is_honest = std::find(std::begin(honest_reasons), std::end(honest_reasons),
                                         reason) != std::end(honest_reasons);
        if (stats.closed[i] > 0 && !is_honest) {
            fail(std::string(who) + " closed a connection: " + std::string(to_string(reason)));
        }
    }
}

void ReplicationSession::check_client(Client& client) {
    const std::string who = "client " + std::to_string(client.peer.value);
    const NetStats& stats = client.driver->stats();
    check_close_reasons(who, stats);
    const ConnectionState state = client.driver->state();
    // Objects can come before the welcome does, which may have to be sent again.
    if (state == ConnectionState::Joined || state == ConnectionState::Connecting) {
        const DriverView view(server_.driver, *client.driver, *client.world);
        if (std::string problem = oracle_.observe(client.id, view); !problem.empty()) {
            fail(who + ": " + problem);
        }
        counts_.objects_judged += client.world->objects().size();
    } else if (!client.world->objects().empty()) {
        fail(who + ": has objects, and its connection has ended");
    }
    if (!client.world->problem().empty()) {
        fail(who + ": " + client.world->problem());
    }
    const bool is_counted = state != ConnectionState::Closed;
    if (is_counted &&
        stats.packets_received + stats.packets_dropped != client.transport->received_count) {
        fail(who + ": miscounts what it receives");
    }
    if (stats.packets_sent != client.transport->sent_count) {
        fail(who + ": miscounts what it sends");
    }
}

std::uint32_t ReplicationSession::healing_ticks_max() const noexcept {
    const double delay_ms = delay_ms_max(settings_.to_client) + delay_ms_max(settings_.to_server);
    // A client that the server has given up learns it by silence, joins, and may be unlucky once
    // more.
    return ticks_of(static_cast<std::int64_t>(delay_ms) + 2 * settings_.net.timeout_ms +
                    settings_.net.linger_ms + 4'000) +
           400;
}

bool ReplicationSession::is_healed() const {
    return server_.driver.connection_count() == settings_.client_count &&
           server_.driver.is_settled() &&
           std::all_of(clients_.begin(), clients_.end(), [](const Client& client) {
               return client.driver != nullptr && client.driver->state() == ConnectionState::Joined;
           });
}

void ReplicationSession::heal() {
    network_.heal();
    server_hitch_ticks_ = 0;
    wake_all();  // what changed while it was dormant
    for (Client& client : clients_) {
        client.hitch_ticks = 0;
        client.absent_ticks = std::min(client.absent_ticks, random_ticks_max);
    }
    silence_end_tick_ = tick_ + ticks_of(settings_.net.timeout_ms) + 1;
}

void ReplicationSession::await_healed() {
    const std::uint32_t last_tick = tick_ + healing_ticks_max();
    while (!is_healed() && !is_failed()) {
        if (tick_ == last_tick) {
            fail("not settled " + std::to_string(healing_ticks_max()) +
                 " ticks after the network healed: " + describe_connections());
            return;
        }
        tick(false);
    }
}

std::string ReplicationSession::describe_connections() const {
    std::string text = server_.driver.is_settled() ? "the server is settled" : "the server is not";
    text += ", packets " + std::to_string(server_.driver.stats().packets_sent) + " sent, " +
            std::to_string(server_.driver.stats().packets_delivered) + " delivered, " +
            std::to_string(server_.driver.stats().packets_lost) + " lost";
    for (const Client& client : clients_) {
        const bool is_there = client.driver != nullptr;
        text += "; client " + std::to_string(client.peer.value) + " in state " +
                std::to_string(is_there ? static_cast<int>(client.driver->state()) : -1) +
                ", for the server " +
                std::to_string(static_cast<int>(server_.driver.connection_state(client.peer)));
    }
    return text;
}

void ReplicationSession::check_healed() {
    for (const auto& [id, net_id] : server_.ids) {
        oracle_.set_state(id, world_.read(id));
    }
    for (const Client& client : clients_) {
        const DriverView view(server_.driver, *client.driver, *client.world);
        if (std::string problem = oracle_.compare(client.id, view); !problem.empty()) {
            fail("client " + std::to_string(client.peer.value) + " in the end: " + problem);
        }
    }
}

std::uint64_t ReplicationSession::ended_connection_count() const noexcept {
    const auto& closed = server_.driver.stats().closed;
    return std::accumulate(closed.begin(), closed.end(), counts_.connections_ended);
}

bool ReplicationSession::stay_quiet() {
    const NetStats before = server_.driver.stats();
    const std::uint64_t ended_before = ended_connection_count();
    for (std::uint32_t i = 0; i < quiet_ticks && !is_failed(); ++i) {
        tick(false);
        if (ended_connection_count() == ended_before) {
            continue;
        }
        if (tick_ > silence_end_tick_) {
            fail("a connection has ended, and the network had healed long before");
        }
        ++counts_.quiet_broken;
        return false;
    }
    check_quiet(before);
    return true;
}

void ReplicationSession::check_quiet(const NetStats& before) {
    const NetStats& after = server_.driver.stats();
    if (after.replication.block_bytes_sent != before.replication.block_bytes_sent ||
        after.records_sent != before.records_sent || after.bunches_sent != before.bunches_sent) {
        fail("properties or bunches are sent, and nothing changes");
    }
    if (after.replication.values_encoded != before.replication.values_encoded) {
        fail("values are encoded, and nothing changes");
    }
    // One more for the phase, and one for an ack of what went before.
    const std::uint64_t keep_alives = quiet_ticks / (ticks_of(settings_.net.keep_alive_ms) - 1) + 2;
    if (after.packets_sent - before.packets_sent > keep_alives * settings_.client_count) {
        fail("more than keep-alives are sent, and nothing changes");
    }
    if (!is_healed() && !is_failed()) {
        fail("what was settled is so no more");
    }
}

void ReplicationSession::check_type_counters() {
    for (const Server* server : {&server_, &twin_}) {
        if (server->driver.type_counters(server_types_.layout(0)) == nullptr) {
            continue;
        }
        TypeCountersSum sum;
        for (std::uint32_t i = 0; i < server_types_.class_count(); ++i) {
            sum.add(*server->driver.type_counters(server_types_.layout(i)));
        }
        const std::string difference =
            sum.find_difference(server->driver.stats().replication, true);
        if (!difference.empty()) {
            fail("counters of types: " + difference);
        }
    }
}

void ReplicationSession::check_accounts() {
    const NetStats& stats = server_.driver.stats();
    std::uint64_t blocks_received = 0;
    for (const Client& client : clients_) {
        const NetStats& client_stats = client.driver->stats();
        blocks_received += client_stats.blocks_received + client_stats.blocks_skipped;
    }
    const std::uint64_t blocks_delivered =
        stats.replication.blocks_sent - stats.records_lost - stats.values_abandoned;
    // What was under way when a connection ended nobody knows.
    const bool is_exact = counts_.connections_ended == 0;
    if (is_exact ? blocks_received != blocks_delivered : blocks_received > blocks_delivered) {
        fail("blocks: " + std::to_string(blocks_delivered) + " delivered by the server's count, " +
             std::to_string(blocks_received) + " received");
    }
    const std::uint64_t in_flight =
        stats.packets_sent - stats.packets_delivered - stats.packets_lost;
    if (is_exact && in_flight > std::uint64_t{2} * settings_.client_count) {
        fail(std::to_string(in_flight) + " packets have no end");
    }
    const ReplicationCounters& own = stats.replication;
    const ReplicationCounters& twin = twin_.driver.stats().replication;
    if (own.properties_sent != twin.properties_sent || own.blocks_sent != twin.blocks_sent ||
        own.block_bytes_sent != twin.block_bytes_sent ||
        own.properties_changed != twin.properties_changed) {
        fail("sharing changes what is counted as sent");
    }
    for (const ReplicationCounters* counters : {&own, &twin}) {
        // Each block is copied or has a reason; the other copies are of parameters of calls.
        if (counters->block_hits() > counters->payloads_reused) {
            fail("blocks: more of them are without a reason than were copied");
        }
    }
    check_type_counters();
}

}  // namespace replayout::test
