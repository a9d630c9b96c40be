// SPDX-License-Identifier: MIT
#include "server_session.h"

#include "stop_watch.h"

#include <algorithm>
#include <string_view>

namespace replayout::bench {

namespace {

constexpr std::uint32_t tick_ms = 33;

}  // namespace

ServerSession::ServerSession(const ServerSessionSettings& settings)
    : settings_(settings),
      schema_(settings.is_push_based),
      scene_(settings.objects, settings.scene_seed),
      world_(scene_.pawns()),
      clients_(settings.connections, schema_.error().empty()
                                         ? make_hello(schema_.layout())
                                         : std::vector<std::byte>(packet_header_bytes_max)),
      driver_(driver_settings(settings), clients_, world_),
      packets_of_client_(settings.connections) {
    if (!schema_.error().empty()) {
        error_ = schema_.error();
    } else if (!driver_.add_layout(schema_.layout()) || !driver_.listen()) {
        error_ = "the server does not start";
    } else {
        start();
    }
}

// What looks for mistakes is not to be measured, whatever the build.
NetDriverSettings ServerSession::driver_settings(const ServerSessionSettings& settings) {
    NetDriverSettings driver;
    driver.sharing = settings.sharing;
    driver.is_validating = false;
    driver.mark_validation_ticks = 0;
    return driver;
}

void ServerSession::start() {
    constexpr std::array<std::string_view, pawn_transform_count> names = {"px", "py", "pz", "qx",
                                                                          "qy", "qz", "qw"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        transform_[i] = schema_.layout().find_parent(names[i]).value();
    }
    health_ = schema_.layout().find_parent("health").value();
    for (std::uint32_t i = 0; i < settings_.objects; ++i) {
        ids_.push_back(driver_.add_object(schema_.layout(), ObjectHandle{i + 1}));
    }
    for (std::uint32_t i = 0; i < lonely_ticks; ++i) {
        TickCost cost;
        play_scene(cost);
        flush(cost);
    }
    if (!join()) {
        error_ = "not every client has joined and been sent every pawn";
        return;
    }
    changes_ = {};
    packets_of_tick_max_ = 0;
    const NetStats before = stats();
    for (std::uint32_t i = 0; i < crowded_ticks; ++i) {
        (void)tick();
    }
    if (!has_sent_all(before, {})) {
        error_ = "a tick must send what has changed to everyone, no less and no more";
    }
}

bool ServerSession::join() {
    // Opens are bounded by the flush, and that is what takes the time.
    const std::uint64_t pairs = std::uint64_t{settings_.objects} * settings_.connections;
    const std::uint64_t ticks_max = 1'000 + pairs / 500;
    for (std::uint64_t i = 0; i < ticks_max; ++i) {
        TickCost cost;
        dispatch(cost);
        flush(cost);
        if (driver_.connection_count() == settings_.connections && driver_.is_settled()) {
            return true;
        }
    }
    return false;
}

TickCost ServerSession::tick() {
    TickCost cost;
    dispatch(cost);
    play_scene(cost);
    flush(cost);
    return cost;
}

void ServerSession::play_scene(TickCost& cost) {
    const PawnChanges changes = scene_.advance();
    changes_.pawns += changes.pawns;
    changes_.properties += changes.properties;
    if (settings_.is_push_based) {
        const StopWatch watch;
        mark();
        cost.marking_seconds = watch.seconds();
    }
}

void ServerSession::mark() {
    const PawnRange moved = scene_.moved();
    for (std::uint32_t i = moved.first; i < moved.end(); ++i) {
        for (const ParentIndex property : transform_) {
            driver_.mark_property_dirty(ids_[i], property);
        }
    }
    const PawnRange hurt = scene_.hurt();
    for (std::uint32_t i = hurt.first; i < hurt.end(); ++i) {
        driver_.mark_property_dirty(ids_[i], health_);
    }
}

void ServerSession::dispatch(TickCost& cost) {
    now_ = now_.plus_milliseconds(tick_ms);
    const AllocationWatch allocations;
    const StopWatch watch;
    driver_.tick_dispatch(now_);
    cost.dispatch_seconds = watch.seconds();
    cost.allocations += allocations.count();
}

void ServerSession::flush(TickCost& cost) {
    const AllocationWatch allocations;
    const StopWatch watch;
    driver_.tick_flush(now_);
    cost.flush_seconds = watch.seconds();
    cost.allocations += allocations.count();
    clients_.answer();
    // A tick without a packet has no other part.
    cost.first_packet_seconds = clients_.packets().empty()
                                    ? cost.flush_seconds
                                    : watch.seconds_to(clients_.first_packet_at());
    count_packets();
}

void ServerSession::count_packets() {
    std::fill(packets_of_client_.begin(), packets_of_client_.end(), 0);
    for (const ScriptedClients::Packet& packet : clients_.packets()) {
        packets_of_tick_max_ = std::max(packets_of_tick_max_, ++packets_of_client_[packet.client]);
    }
}

bool ServerSession::has_sent_all(const NetStats& before, const PawnChanges& changed) const {
    const NetStats& after = driver_.stats();
    const std::uint64_t connections = settings_.connections;
    const std::uint64_t pawns = changes_.pawns - changed.pawns;
    const std::uint64_t properties = changes_.properties - changed.properties;
    return pawns > 0 && after.bytes_sent > before.bytes_sent &&
           after.records_sent - before.records_sent == pawns * connections &&
           after.replication.properties_sent - before.replication.properties_sent ==
               properties * connections &&
           after.packets_lost == before.packets_lost &&
           after.packets_dropped == before.packets_dropped && clients_.packets_refused() == 0;
}

}  // namespace replayout::bench
