// SPDX-License-Identifier: MIT
#include "simulation/fleet/sim_client.h"

#include "support/networks/host_settings.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace replayout::test {

void ClientCounts::add(const ClientCounts& other) {
    joins += other.joins;
    values_judged += other.values_judged;
    notifies_judged += other.notifies_judged;
    calls_judged += other.calls_judged;
    calls_made += other.calls_made;
    crafts_lacked += other.crafts_lacked;
}

SimClient::SimClient(const SwarmConfig& swarm, PeerId peer, FaultyNetwork& network,
                     SimServer& server, Verdict& verdict, TraceDigest& digest, HistoryTrace& trace)
    : swarm_(swarm),
      peer_(peer),
      network_(network),
      server_(server),
      verdict_(verdict),
      digest_(digest),
      trace_(trace) {}

SimClient::~SimClient() {
    crash();
}

void SimClient::join(std::uint32_t connection) {
    crash();
    connection_ = connection;
    ++counts_.joins;
    world_ = std::make_unique<CraftWorld>(std::uint64_t{connection} * 1'000'000);
    world_->listener = this;
    values_ = std::make_unique<ValueJudge>(server_.histories(), verdict_, digest_);
    has_joined_ = false;
    calls_ = std::make_unique<CallJudge>(server_.calls(), verdict_, address());
    world_->on_spawn = [this](const SpawnInfo& info, ObjectHandle handle) {
        const std::uint32_t number = server_.number_of(info.guid);
        if (!is_hostile) {
            trace_.show(connection_, number);
        }
        values_->shown(handle, number);
        calls_->shown(handle, number, !driver()->initial_batch().is_finished);
    };
    world_->on_despawn = [this](ObjectHandle handle, ChannelCloseReason reason) {
        // With the session all goes.
        const bool is_joined = driver_->state() == ConnectionState::Joined;
        if (swarm_.is_judging_closes && is_joined && reason == ChannelCloseReason::Destroyed) {
            calls_->closed(handle);
        }
        if (!is_hostile) {
            trace_.hide(connection_, values_->number_of(handle));
        }
        values_->hidden(handle);
        calls_->hidden(handle);
    };
    values_->on_seen = [this](std::uint32_t number, Slot slot, std::uint64_t value) {
        if (!is_hostile && slot == course_slot) {
            trace_.see(connection_, number, "course", value);
        } else if (!is_hostile && slot == orders_slot) {
            trace_.see(connection_, number, "orders",
                       HistoryTrace::version_of(MarkedValue::of(value)));
        }
    };
    NetDriverSettings settings = host_settings(net_config(swarm_), swarm_.seed * 1'000 + connection,
                                               SharingLevel::Bundles, false);
    settings.resource = &memory_;
    settings.layout_policy = layout_policy(swarm_);
    if (has_tight_memory) {
        settings.config.decode_allocation_bytes_max = swarm_.tight_allocation_bytes_max;
    }
    driver_ = std::make_unique<NetDriver>(settings, network_.endpoint(peer_), *world_);
    if (!is_hostile) {
        trace_.join(connection_);
        server_.tell_owner(address(), connection_);
    }
    const CraftVersion version = is_older ? CraftVersion::Older : CraftVersion::Pushed;
    const Status added = is_lacking_barges
                             ? driver_->add_layout(craft_layout(version, CraftClass::Craft))
                             : add_craft_layouts(*driver_, version);
    if (!added || !driver_->connect(SimServer::peer, now_)) {
        verdict_.fail(Invariant::Healing, "a client does not start");
    }
}

void SimClient::end_judging() {
    counts_.values_judged += values_->values_judged();
    counts_.notifies_judged += values_->notifies_judged();
    counts_.calls_judged += calls_->calls_judged();
    if (!is_hostile) {
        trace_.leave(connection_);
    }
}

void SimClient::crash() {
    if (driver_ == nullptr) {
        return;
    }
    driver_.reset();
    verdict_.require(Invariant::Memory, memory_.bytes_in_use() + planted_bytes == 0, [this] {
        return "a client's driver leaves " + std::to_string(memory_.bytes_in_use()) + " bytes";
    });
    end_judging();
    network_.disconnect(peer_);
    world_.reset();
    values_.reset();
    calls_.reset();
}

void SimClient::say_goodbye() {
    if (driver_ != nullptr) {
        driver_->disconnect(SimServer::peer);
        driver_->tick_flush(now_);
        crash();
    }
}

void SimClient::move_to(PeerId address) {
    network_.rebind(peer_, address);
    if (calls_ != nullptr) {
        calls_->add_address(address);
    }
}

void SimClient::tick(std::int64_t elapsed_us, Choices& row) {
    const std::int64_t own_us = elapsed_us * clock_per_mille / 1'000;
    now_.microseconds += frozen_ticks > 0 ? 0 : own_us;
    frozen_ticks -= frozen_ticks > 0 ? 1 : 0;
    row_ = &row;
    driver_->tick_dispatch(now_);
    if (!has_joined_ && driver_->initial_batch().is_finished) {
        has_joined_ = true;
        calls_->joined();
    }
    if (is_talking) {
        call_server(row);
    }
    driver_->tick_flush(now_);
    row_ = nullptr;
    values_->check(*world_);
    verdict_.require(Invariant::Memory, driver_->memory_report().total_bytes() <= 16u << 20,
                     [] { return "a client holds more than 16 MiB"; });
}

void SimClient::updated(Craft& craft) {
    values_->touched(craft.handle);
}

void SimClient::notified(Craft& craft, std::uint32_t property, std::uint64_t previous) {
    values_->touched(craft.handle);
    values_->notified(craft, property, previous);
}

void SimClient::called(Craft& craft, CraftFunction function, const Report& report) {
    digest_.add(std::uint64_t{connection_} << 40 ^ report.number);
    // What a call says of an object comes with what that was when it was made.
    values_->touched(craft.handle);
    calls_->ran(craft, function, report.number);
    if (!is_hostile && function == CraftFunction::Signal) {
        trace_.ran(connection_, values_->number_of(craft.handle), report.number);
    }
    if (row_ != nullptr && is_talking && swarm_.has(Feature::NestedCalls) && row_->percent(20)) {
        call_server(*row_);
    }
}

void SimClient::call_server(Choices& row) {
    // Few enough for the rate that a server takes.
    if (!swarm_.has(Feature::ServerCalls) || !row.percent(15) || world_->crafts().empty()) {
        return;
    }
    const auto count = static_cast<std::uint32_t>(world_->crafts().size());
    const ObjectHandle handle = std::next(world_->crafts().begin(), row.below(count))->first;
    if (driver_->role_of(handle).is_owned) {
        const Report report{++next_call_, handle, "of a client"};
        ++counts_.calls_made;
        (void)driver_->call_function(handle, row.percent(50) ? "server_steer" : "server_ping",
                                     &report);
    }
}

void SimClient::check_converged() {
    for (const auto& [handle, state] : server_.crafts()) {
        check_craft(state);
    }
    values_->check_told(*world_);
    if (!is_older) {  // of a class of another version nothing is called
        calls_->check_all_ran();
    }
}

void SimClient::check_craft(const CraftState& state) {
    NetDriver& server = server_.driver();
    const ObjectHandle handle = driver_->guids().find_object(server.guid_of(state.id));
    const bool is_lacked = is_lacking_barges && server_.is_of_barge(state);
    counts_.crafts_lacked += is_lacked ? 1u : 0u;
    const bool is_relevant = server.is_relevant_for(address(), state.id) && !is_lacked;
    const auto describe = [&](const std::string& what) {
        return "client " + std::to_string(connection_) + ", craft " + std::to_string(state.number) +
               ": " + what;
    };
    if (handle.is_null() == is_relevant) {
        verdict_.fail(Invariant::Converged, describe(is_relevant ? "is not shown" : "is shown"));
        return;
    }
    if (!is_relevant) {
        return;
    }
    if (!is_hostile) {
        trace_.relevant(connection_, state.number);
    }
    const bool is_owned = server.role_for(address(), state.id).is_owned;
    std::map<Slot, std::uint64_t> expected;
    visit_slots(
        server_.world().at(server_.handle_of(state.number)),
        [&](ObjectHandle target) {
            // Null where the client does not show it.
            const NetObjectId id = server.find_object(target);
            return id.generation == 0 || driver_->guids().find_object(server.guid_of(id)).is_null()
                       ? 0u
                       : server_.number_of(target);
        },
        [&](Slot slot, std::uint64_t value) { expected[slot] = value; });
    std::map<Slot, std::uint64_t> shown;
    visit_slots(
        world_->at(handle),
        [&](ObjectHandle target) { return target.is_null() ? 0u : values_->number_of(target); },
        [&](Slot slot, std::uint64_t value) { shown[slot] = value; });
    const auto is_not_his = [&](const auto& entry) {
        const Slot slot = entry.first;
        return slot == built_slot || (slot == orders_slot && !is_owned) ||
               (slot == rumour_slot && is_owned) || (is_older && !is_in_older_craft(slot));
    };
    std::erase_if(expected, is_not_his);
    std::erase_if(shown, is_not_his);
    const auto differs =
        std::mismatch(expected.begin(), expected.end(), shown.begin(), shown.end());
    verdict_.require(Invariant::Converged, expected == shown, [&] {
        const Slot slot =
            differs.first == expected.end() ? differs.second->first : differs.first->first;
        return describe("property " + std::to_string(slot >> 16) + ", place " +
                        std::to_string(slot & 0xFFFF) + " is not the server's");
    });
}

void SimClient::plant_value() {
    for (const auto& [handle, craft] : world_->crafts()) {
        ++craft->gauge;
    }
}

}  // namespace replayout::test
