// SPDX-License-Identifier: MIT
//
// What the game of a simulation does with its crafts as a whole.
#include "simulation/fleet/sim_server.h"

#include <array>
#include <iterator>
#include <limits>

namespace replayout::test {

namespace {

constexpr std::array<NetDormancy, 3> dormancies{NetDormancy::Awake, NetDormancy::DormantAll,
                                                NetDormancy::Initial};
constexpr std::array<LifetimeCondition, 4> mood_conditions{
    LifetimeCondition::None, LifetimeCondition::OwnerOnly, LifetimeCondition::SkipOwner,
    LifetimeCondition::Never};
constexpr std::array<LifetimeCondition, 4> part_conditions{
    LifetimeCondition::None, LifetimeCondition::OwnerOnly, LifetimeCondition::NetGroup,
    LifetimeCondition::SkipOwner};
constexpr std::array<NetUpdateFrequency, 5> frequencies{{{}, {10}, {2}, {30, 5}, {10, 1}}};
constexpr std::array<float, 4> priorities{0.0625f, 0.5f, 1, 4};

template <typename Values>
[[nodiscard]] auto pick(Choices& row, const Values& values) {
    return values[row.below(static_cast<std::uint32_t>(values.size()))];
}

}  // namespace

const RepLayout& SimServer::layout_of(std::uint32_t number) const {
    return craft_layout(craft_version_, is_barge(number) ? CraftClass::Barge : CraftClass::Craft);
}

bool SimServer::is_of_barge(const CraftState& state) const {
    return is_barge(state.number) ||
           (!state.outer.is_null() && is_of_barge(crafts_.at(state.outer)));
}

void SimServer::add(Choices& row) {
    const ObjectHandle handle = world_.add();
    world_.at(handle).number = ++last_number_;
    world_.at(handle).built = ++version_;
    SpawnParameters parameters;
    if (swarm_.has(Feature::Places)) {
        parameters.location = Vector3{static_cast<float>(row.below(400)), 0, 0};
    }
    begin(handle, driver_.add_object(layout_of(last_number_), handle, parameters), {});
    if (swarm_.has_priorities) {
        driver_.rates().set_net_priority(crafts_.at(handle).id, busy_priority(last_number_));
    }
    if (!players_.empty() && row.percent(50)) {
        set_owner(handle, any_player(row));
    }
}

void SimServer::add_part(Choices& row, ObjectHandle outer) {
    const ObjectHandle handle = world_.add();
    world_.at(handle).number = ++last_number_;
    SubobjectParameters parameters;
    parameters.condition = pick(row, part_conditions);
    begin(handle,
          driver_.add_subobject(crafts_.at(outer).id, layout_of(last_number_), handle, parameters),
          outer);
    if (parameters.condition == LifetimeCondition::NetGroup) {
        driver_.interest().add_to_group(crafts_.at(handle).id, NetGroup{row.below(3)});
    }
}

void SimServer::begin(ObjectHandle handle, NetObjectId id, ObjectHandle outer) {
    ++counts_.spawned;
    CraftState state;
    state.number = last_number_;
    state.spawned_at = tick_;
    state.id = id;
    state.outer = outer;
    state.owner = outer.is_null() ? PeerId{} : crafts_.at(outermost(outer)).owner;
    state.owners_of_tick = {state.owner};
    crafts_[handle] = state;
    numbers_[driver_.guid_of(id)] = state.number;
    handles_[state.number] = handle;
    if (swarm_.has(Feature::LateSequences)) {
        world_.at(handle).hold.id_counter = std::numeric_limits<std::int32_t>::max() - 2;
    }
    trace_.made(state.number);
    note(handle);
}

void SimServer::forget(ObjectHandle handle) {
    std::vector<ObjectHandle> all{handle};
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const auto& [part, state] : crafts_) {
            if (state.outer == all[i]) {
                all.push_back(part);
            }
        }
    }
    for (const ObjectHandle gone : all) {
        ++counts_.removed;
        trace_.gone(crafts_.at(gone).number);
        calls_.gone(crafts_.at(gone).number);
        handles_.erase(crafts_.at(gone).number);
        crafts_.erase(gone);
        graveyard_.push_back(gone);
    }
}

void SimServer::note(ObjectHandle handle) {
    const Craft& craft = world_.at(handle);
    const std::uint32_t number = crafts_.at(handle).number;
    histories_[number].note(craft, number_of(craft.escort));
    if (const NetObjectId id = crafts_.at(outermost(handle)).id;
        driver_.dormancy_of(id) != NetDormancy::Awake) {
        driver_.flush_dormancy(id);
    }
}

void SimServer::set_owner(ObjectHandle handle, PeerId owner) {
    if (owner == PeerId{}) {
        driver_.clear_owner(crafts_.at(handle).id);
    } else {
        driver_.set_owner(crafts_.at(handle).id, owner);
    }
    for (auto& [part, state] : crafts_) {
        if (outermost(part) == handle) {
            state.owner = owner;
            state.owners_of_tick.insert(owner);
            trace_.owner(state.number, owner == PeerId{} ? 0 : connection_at(owner));
        }
    }
    note_hides();
}

void SimServer::note_hides() {
    if (!swarm_.is_judging_closes) {
        return;
    }
    for (const auto& [handle, state] : crafts_) {
        for (const PeerId player : players_) {
            const std::pair key{player, state.number};
            if (driver_.is_relevant_for(player, state.id)) {
                relevant_.insert(key);
            } else if (relevant_.erase(key) > 0) {
                calls_.hidden_from(player, state.number);
            }
        }
    }
}

void SimServer::tell_owner(PeerId address, std::uint32_t connection) {
    for (const auto& [handle, craft] : crafts_) {
        if (craft.owner == address) {
            trace_.owner(craft.number, connection);
        }
    }
}

ObjectHandle SimServer::any(Choices& row) {
    return std::next(crafts_.begin(), row.below(static_cast<std::uint32_t>(crafts_.size())))->first;
}

ObjectHandle SimServer::outermost(ObjectHandle handle) const {
    for (auto found = crafts_.find(handle);
         found != crafts_.end() && !found->second.outer.is_null(); found = crafts_.find(handle)) {
        handle = found->second.outer;
    }
    return handle;
}

PeerId SimServer::any_player(Choices& row) {
    return players_.empty() ? PeerId{2} : pick(row, players_);
}

void SimServer::act_spawn(Choices& row, ObjectHandle) {
    if (crafts_.size() < swarm_.object_max) {
        add(row);
    }
}

void SimServer::act_remove(Choices& row, ObjectHandle handle) {
    if (row.percent(40) && crafts_.size() > 1 && !is_resident(handle)) {
        driver_.remove_object(crafts_.at(handle).id);
        forget(handle);
    }
}

void SimServer::act_part(Choices& row, ObjectHandle handle) {
    if (crafts_.size() < swarm_.object_max) {
        add_part(row, handle);
    }
}

void SimServer::act_owner(Choices& row, ObjectHandle handle) {
    set_owner(outermost(handle), row.percent(30) ? PeerId{} : any_player(row));
}

void SimServer::act_conditions(Choices& row, ObjectHandle handle) {
    const NetObjectId whole = crafts_.at(outermost(handle)).id;
    switch (row.below(3)) {
        case 0:
            driver_.set_dynamic_condition(crafts_.at(handle).id, "mood",
                                          pick(row, mood_conditions));
            break;
        case 1:
            driver_.set_autonomous(whole, row.percent(50));
            break;
        default:
            driver_.set_replicates_physics(whole, row.percent(50));
            break;
    }
}

void SimServer::act_dormancy(Choices& row, ObjectHandle handle) {
    driver_.set_dormancy(crafts_.at(outermost(handle)).id, pick(row, dormancies));
}

void SimServer::act_relevancy(Choices& row, ObjectHandle handle) {
    Interest interest = driver_.interest();
    const NetObjectId id = crafts_.at(outermost(handle)).id;
    const PeerId player = any_player(row);
    const NetGroup group{row.below(3)};
    switch (row.below(6)) {
        case 0:
            interest.set_relevant_for(player, id, row.percent(50));
            break;
        case 1:
            interest.clear_relevant_for(player, id);
            break;
        case 2:
            world_.whim = row.below(1'000);
            interest.set_relevancy(
                id, row.percent(40) ? NetRelevancy::Custom : NetRelevancy(row.below(3)));
            interest.reconsider(id);
            break;
        case 3:
            interest.add_to_group(id, group);
            break;
        case 4:
            interest.clear_groups(id);
            break;
        default:
            interest.set_in_group(player, group, row.percent(50));
            break;
    }
    note_hides();
}

void SimServer::act_place(Choices& row, ObjectHandle handle) {
    Interest interest = driver_.interest();
    const NetObjectId id = crafts_.at(outermost(handle)).id;
    const Vector3 place{static_cast<float>(row.below(400)), 0, 0};
    const PeerId player = any_player(row);
    switch (row.below(4)) {
        case 0:
            interest.set_relevancy(id,
                                   row.percent(50) ? NetRelevancy::Distance : NetRelevancy::Grid);
            break;
        case 1:
            interest.set_location(id, place);
            break;
        case 2:
            interest.set_viewer(player, place, row.below(views_per_client_max));
            break;
        default:
            interest.set_cull_distance(id, static_cast<float>(1 + row.below(300)));
            break;
    }
}

void SimServer::act_rates(Choices& row, ObjectHandle handle) {
    NetRates rates = driver_.rates();
    const NetObjectId id = crafts_.at(outermost(handle)).id;
    switch (row.below(3)) {
        case 0:
            rates.set_net_update_frequency(id, pick(row, frequencies));
            break;
        case 1:
            rates.set_net_priority(id, pick(row, priorities));
            break;
        default:
            rates.force_net_update(id);
            break;
    }
}

void SimServer::act_tear_off(Choices& row, ObjectHandle handle) {
    if (row.percent(10) && crafts_.size() > 1) {
        const ObjectHandle whole = outermost(handle);
        driver_.tear_off(crafts_.at(whole).id);
        for (const auto& [part, state] : crafts_) {
            if (outermost(part) == whole) {
                torn_off_.insert(state.number);
            }
        }
        forget(whole);
    }
}

bool SimServer::is_taken(CallResult result) noexcept {
    return result == CallResult::Ran || result == CallResult::Sent || result == CallResult::Queued;
}

// A call is in the book before it is made, as those that it causes here are behind it.

void SimServer::act_signal(Choices& row, ObjectHandle handle) {
    Report report{++version_, any(row), "all"};
    if (swarm_.has(Feature::LargeCalls) && row.percent(15)) {
        report.text.assign(1'000 + row.below(4'000), 's');
    }
    const CraftState state = crafts_.at(handle);
    ++counts_.calls;
    calls_.multicast(CraftFunction::Signal, state.number, report.number);
    trace_.call(state.number, report.number);
    if (!is_taken(driver_.call_function(state.id, "multicast_signal", &report))) {
        calls_.take_back(CraftFunction::Signal, state.number, report.number);
    }
    if (!crafts_.contains(handle)) {
        return;  // the call removed it
    }
    for (const PeerId player : players_) {
        if (!driver_.is_relevant_for(player, state.id)) {
            calls_.not_for(player, state.number, report.number);
        }
    }
}

void SimServer::act_flash(Choices& row, ObjectHandle handle) {
    const Report report{++version_, any(row), "all"};
    const CraftState state = crafts_.at(handle);
    ++counts_.calls;
    calls_.multicast(CraftFunction::Flash, state.number, report.number);
    (void)driver_.call_function(
        state.id, "multicast_flash", &report,
        row.percent(30) ? CallSendPolicy::ForceSend : CallSendPolicy::Default);
}

void SimServer::act_order(Choices& row, ObjectHandle handle) {
    const Report report{++version_, any(row), "one"};
    const CraftState state = crafts_.at(handle);
    ++counts_.calls;
    calls_.told_owner(state.owner, state.number, report.number);
    (void)driver_.call_function(state.id, "client_order", &report);
}

}  // namespace replayout::test
