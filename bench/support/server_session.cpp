// SPDX-License-Identifier: MIT
#include "support/server_session.h"

#include "support/measured_driver.h"
#include "support/stop_watch.h"

#include <algorithm>

namespace replayout::bench {

namespace {

constexpr std::uint32_t tick_ms = 33;

}  // namespace

ServerSession::ServerSession(const ServerSessionSettings& settings, Workload& workload)
    : settings_(settings),
      workload_(workload),
      world_(workload, driver_),
      clients_(settings.connections, hello_of(workload),
               settings.executor != nullptr && settings.is_transport_concurrent),
      driver_(driver_settings(settings), clients_, world_),
      packets_of_client_(settings.connections) {
    if (!workload.error().empty()) {
        error_ = workload.error();
    } else if (!driver_.add_layout(workload.layout()) || !driver_.listen()) {
        error_ = "the server does not start";
    } else {
        start();
    }
}

std::vector<std::byte> ServerSession::hello_of(const Workload& workload) {
    return workload.error().empty() ? make_hello(workload.layout())
                                    : std::vector<std::byte>(packet_header_bytes_max);
}

NetDriverSettings ServerSession::driver_settings(const ServerSessionSettings& settings) {
    NetDriverSettings driver =
        measured_driver(settings.config, settings.interest, settings.sharing);
    driver.executor = settings.executor;
    return driver;
}

void ServerSession::start() {
    for (std::uint32_t i = 0; i < workload_.object_count(); ++i) {
        ids_.push_back(driver_.add_object(workload_.layout(), ObjectHandle{i + 1}));
    }
    workload_.introduce(driver_, ids_, clients_.peers());
    for (std::uint32_t i = 0; i < workload_.ticks_until_warm(); ++i) {
        TickCost cost;
        play_workload(cost);
        flush(cost);
    }
    // Opens are bounded by the flush, and that is what takes the time.
    const std::uint64_t pairs = std::uint64_t{workload_.object_count()} * settings_.connections;
    if (!settle(1'000 + pairs / 500) || driver_.connection_count() != settings_.connections) {
        error_ = "not every client has joined and been sent every object";
        return;
    }
    changes_ = {};
    packets_of_tick_max_ = 0;
    const NetStats before = stats();
    for (std::uint32_t i = 0; i < settings_.crowded_ticks; ++i) {
        (void)tick();
    }
    if (workload_.is_exact() && !has_sent_all(before, {})) {
        error_ = "a tick must send what has changed to everyone, no less and no more";
    }
}

bool ServerSession::settle(std::uint64_t ticks_max) {
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
    play_workload(cost);
    flush(cost);
    return cost;
}

void ServerSession::play_workload(TickCost& cost) {
    changes_ += workload_.advance(settings_.connections);
    ++ticks_played_;
    if (workload_.is_push_based()) {
        const StopWatch watch;
        workload_.mark(driver_, ids_);
        cost.marking_seconds = watch.seconds();
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

bool ServerSession::has_sent_all(const NetStats& before, const Changes& changed) const {
    const NetStats& after = driver_.stats();
    const Changes changes = changes_ - changed;
    return after.records_sent - before.records_sent == changes.blocks_owed &&
           after.replication.properties_sent - before.replication.properties_sent ==
               changes.values_owed &&
           after.packets_lost == before.packets_lost &&
           after.packets_dropped == before.packets_dropped && clients_.packets_refused() == 0;
}

}  // namespace replayout::bench
