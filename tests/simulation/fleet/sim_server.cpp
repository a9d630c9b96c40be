// SPDX-License-Identifier: MIT
#include "simulation/fleet/sim_server.h"

#include "support/networks/host_settings.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace replayout::test {

namespace {

[[nodiscard]] NetDriverSettings server_settings(const SwarmConfig& swarm, const TwinSettings& twin,
                                                MemoryResource* memory, Executor* executor) {
    NetDriverSettings settings = host_settings(net_config(swarm), swarm.seed, twin.sharing,
                                               NetDriverSettings().is_validating);
    settings.config.bytes_per_second_max = swarm.cap_bytes_per_second;
    settings.interest.cull_distance = 100;
    settings.resource = memory;
    settings.executor = executor;
    settings.executor_work_min = 0;
    settings.layout_policy = layout_policy(swarm);
    if (swarm.plant == BusyPlant::CallLoss) {
        settings.config.close_waits_for_calls_ms = 0;
    }
    return settings;
}

/// To open one, with its first block and without its texts and arrays.
constexpr std::uint64_t craft_bytes = 150;

[[nodiscard]] std::optional<OrderedExecutor> make_executor(const SwarmConfig& swarm,
                                                           const TwinSettings& twin) {
    const std::uint32_t worker_count =
        twin.worker_count == 0 && swarm.has(Feature::Workers) ? 3 : twin.worker_count;
    if (worker_count == 0) {
        return std::nullopt;
    }
    return OrderedExecutor(worker_count, JobOrder::Shuffled, swarm.seed);
}

}  // namespace

std::uint32_t cargo_version_of(std::string_view cargo) noexcept {
    std::uint32_t version = 0;
    for (const char letter : cargo.substr(std::min(cargo.size(), cargo_word.size()))) {
        if (letter < '0' || letter > '9') {
            break;
        }
        version = 10 * version + static_cast<std::uint32_t>(letter - '0');
    }
    return version;
}

SimServer::SimServer(const SwarmConfig& swarm, const TwinSettings& twin, Transport& transport,
                     Verdict& verdict, TraceDigest& digest, HistoryTrace& trace)
    : swarm_(swarm),
      verdict_(verdict),
      digest_(digest),
      trace_(trace),
      craft_version_(twin.is_pushed ? CraftVersion::Pushed : CraftVersion::Compared),
      executor_(make_executor(swarm, twin)),
      world_(1'000),
      driver_(server_settings(swarm, twin, &memory_, executor_ ? &*executor_ : nullptr), transport,
              world_),
      calls_(verdict) {
    world_.listener = this;
    world_.on_left = [this](PeerId, CloseReason reason) { left.push_back(reason); };
    if (!add_craft_layouts(driver_, craft_version_) || !driver_.listen()) {
        verdict_.fail(Invariant::Healing, "the server does not start");
    }
    calls_.close_wait_ticks = static_cast<std::uint32_t>(
        std::int64_t{1'000} * net_config(swarm).close_waits_for_calls_ms / swarm.tick_us);
    calls_.dropped = [this] { return driver_.stats().calls_dropped; };
    trace_.secret("orders");
    choose_work();
}

void SimServer::choose_work() {
    const auto act = [this](Feature feature, std::initializer_list<Act> acts) {
        if (swarm_.has(feature)) {
            acts_.insert(acts_.end(), acts);
        }
    };
    act(Feature::Churn, {&SimServer::act_spawn, &SimServer::act_remove});
    act(Feature::Subobjects, {&SimServer::act_part});
    act(Feature::Owners, {&SimServer::act_owner});
    act(Feature::Conditions, {&SimServer::act_conditions});
    act(Feature::Dormancy, {&SimServer::act_dormancy, &SimServer::act_dormancy});
    act(Feature::Relevancy, {&SimServer::act_relevancy, &SimServer::act_relevancy});
    act(Feature::Places, {&SimServer::act_place, &SimServer::act_place});
    act(Feature::Rates, {&SimServer::act_rates});
    act(Feature::TearOff, {&SimServer::act_tear_off});
    act(Feature::ReliableCalls, {&SimServer::act_signal, &SimServer::act_order});
    act(Feature::UnreliableCalls, {&SimServer::act_flash});
    const auto write = [this](Feature feature, std::initializer_list<Write> writes) {
        if (swarm_.has(feature)) {
            writes_.insert(writes_.end(), writes);
        }
    };
    writes_ = {&SimServer::write_course, &SimServer::write_heading, &SimServer::write_scores};
    write(Feature::Reverts, {&SimServer::write_reverted});
    write(Feature::Texts, {&SimServer::write_label});
    write(Feature::LargeTexts, {&SimServer::write_cargo});
    write(Feature::Arrays, {&SimServer::write_crew});
    write(Feature::StructArrays, {&SimServer::write_legs});
    write(Feature::AtomicStructs, {&SimServer::write_purse});
    write(Feature::References, {&SimServer::write_escort});
    write(Feature::FastArrays, {&SimServer::write_hold});
    write(Feature::Quantised, {&SimServer::write_place});
    write(Feature::PushModel, {&SimServer::write_gauge});
    write(Feature::Secrets, {&SimServer::write_secrets});
    write(Feature::Conditions, {&SimServer::write_conditional});
}

void SimServer::dispatch(NetTime now, Choices& row) {
    row_ = &row;
    driver_.tick_dispatch(now);
    row_ = nullptr;
}

void SimServer::play(std::uint32_t tick, Choices& row, const std::vector<PeerId>& players) {
    tick_ = tick;
    players_ = players;
    row_ = &row;
    const std::uint32_t first_count = swarm_.is_busy               ? swarm_.object_max / 4 + 1
                                      : swarm_.has(Feature::Churn) ? 2
                                                                   : swarm_.object_max;
    while (crafts_.size() < first_count) {
        add(row);
    }
    for (std::uint32_t i = acts_.empty() ? 0 : row.below(swarm_.acts_max + 1); i > 0; --i) {
        const Act act = acts_[row.below(static_cast<std::uint32_t>(acts_.size()))];
        (this->*act)(row, any(row));
        if (crafts_.empty()) {
            add(row);
        }
    }
    for (std::uint32_t i = row.below(swarm_.writes_max + 1); i > 0; --i) {
        const ObjectHandle handle = any(row);
        const Write write = writes_[row.below(static_cast<std::uint32_t>(writes_.size()))];
        (this->*write)(row, world_.at(handle));
        ++counts_.writes;
        note(handle);
    }
    if (swarm_.is_busy) {
        stir(row);
    }
    row_ = nullptr;
}

bool SimServer::spend(std::uint64_t bytes) noexcept {
    if (credit_bytes_ < bytes) {
        return false;
    }
    credit_bytes_ -= bytes;
    return true;
}

void SimServer::stir(Choices& row) {
    const std::uint64_t earned =
        swarm_.cap_bytes_per_second * static_cast<std::uint64_t>(swarm_.tick_us) / 1'000'000 / 4;
    credit_bytes_ = std::min<std::uint64_t>(credit_bytes_ + earned, swarm_.cap_bytes_per_second);
    // Now and then one, and now and then as many as there may be.
    const bool is_burst = row.percent(3);
    while ((is_burst || row.percent(20)) && crafts_.size() < swarm_.object_max &&
           spend(craft_bytes)) {
        add(row);
    }
    if (const bool is_spent = row.percent(20) && crafts_.size() > 1 && spend(craft_bytes);
        is_spent) {
        const ObjectHandle handle = outermost(any(row));
        act_signal(row, handle);
        if (!is_resident(handle)) {
            driver_.remove_object(crafts_.at(handle).id);
            forget(handle);
        }
    }
    for (const auto& [handle, state] : crafts_) {
        Craft& craft = world_.at(handle);
        write_course(row, craft);
        write_heading(row, craft);
        histories_[state.number].note(course_slot, craft.course);
        histories_[state.number].note(heading_slot, craft.heading);
        counts_.writes += 2;
    }
}

std::size_t SimServer::block_bytes(ObjectHandle handle) const {
    const Craft& craft = *world_.crafts().at(handle);
    return craft_bytes + craft.label.size() + 6 * craft.crew.size() + 60 * craft.legs.size() +
           16 * craft.hold.items.size();
}

void SimServer::lift_caps(const std::vector<PeerId>& players) {
    for (const PeerId player : players) {
        driver_.rates().set_bytes_per_second_max(player, 0);
    }
}

void SimServer::flush(NetTime now) {
    driver_.tick_flush(now);
    note_hides();
    for (auto& [handle, craft] : crafts_) {
        for (const PeerId owner : craft.owners_of_tick) {
            craft.owned_last[owner] = tick_;
        }
        const PeerId only =
            craft.owners_of_tick.size() == 1 ? *craft.owners_of_tick.begin() : PeerId{};
        if (std::exchange(craft.only_owner, only) != only) {
            craft.only_owner_since = tick_;
        }
        craft.owners_of_tick = {craft.owner};
    }
    for (const ObjectHandle gone : graveyard_) {
        world_.remove(gone);
    }
    graveyard_.clear();
}

void SimServer::wake_all(const std::vector<PeerId>& players) {
    is_over_ = true;
    for (const auto& [handle, craft] : crafts_) {
        if (craft.outer.is_null()) {
            driver_.set_dormancy(craft.id, NetDormancy::Awake);
            driver_.rates().set_net_update_frequency(craft.id, {});
        }
        driver_.set_dynamic_condition(craft.id, "mood", LifetimeCondition::None);
    }
    lift_caps(players);
}

void SimServer::remove_all() {
    while (!crafts_.empty()) {
        const ObjectHandle handle = outermost(crafts_.begin()->first);
        driver_.remove_object(crafts_.at(handle).id);
        forget(handle);
    }
}

std::uint32_t SimServer::number_of(NetGUID guid) const {
    const auto found = numbers_.find(guid);
    return found == numbers_.end() ? 0 : found->second;
}

std::uint32_t SimServer::number_of(ObjectHandle handle) const {
    const auto found = crafts_.find(handle);
    return found == crafts_.end() ? 0 : found->second.number;
}

const CraftState* SimServer::find_number(std::uint32_t number) const {
    const auto found = handles_.find(number);
    return found == handles_.end() ? nullptr : &crafts_.at(found->second);
}

void SimServer::plant_write() {
    for (const auto& [handle, craft] : crafts_) {
        ++world_.at(handle).heading;
        note(handle);
    }
}

std::uint64_t SimServer::state_hash() {
    TraceDigest digest;
    for (const auto& [handle, craft] : crafts_) {
        digest.add(craft.number);
        visit_slots(
            world_.at(handle), [this](ObjectHandle target) { return number_of(target); },
            [&](Slot slot, std::uint64_t value) { digest.add(slot ^ value); });
    }
    return digest.value();
}

void SimServer::called(Craft& craft, CraftFunction function, const Report& report) {
    digest_.add(std::uint64_t{craft.number} << 32 ^ report.number);
    const ObjectHandle handle = craft.handle;
    const bool is_of_client = function == CraftFunction::Steer || function == CraftFunction::Ping;
    const PeerId caller = driver_.current_call()->caller;
    if (is_of_client && !hostile.contains(caller)) {
        // No client is at an address that it has left, and several clients may have left one.
        constexpr std::uint32_t left_behind = 0x8000'0000;
        const std::uint32_t connection = connection_at(caller);
        calls_.ran(
            connection != 0 ? connection : left_behind | static_cast<std::uint32_t>(caller.value),
            function, craft.number, report.number);
    }
    const auto state = crafts_.find(handle);
    verdict_.require(Invariant::PresentCrafts, state != crafts_.end(),
                     [] { return "a call of a craft that is gone"; });
    if (state != crafts_.end() && is_of_client && caller != PeerId{}) {
        verdict_.require(Invariant::ReliableCalls, state->second.owners_of_tick.contains(caller),
                         [] { return "who does not own a craft calls a function of it"; });
    }
    if (row_ != nullptr && depth_ < 3 && !is_over_) {
        react(*row_, handle);
    }
}

void SimServer::react(Choices& row, ObjectHandle handle) {
    ++depth_;
    if (swarm_.has(Feature::NestedCalls) && row.percent(60) && crafts_.contains(handle)) {
        ++counts_.reactions;
        if (row.percent(50)) {
            act_signal(row, handle);
        } else {
            act_flash(row, any(row));
        }
        const ObjectHandle changed = any(row);
        write_course(row, world_.at(changed));
        note(changed);
    }
    if (swarm_.has(Feature::DestroyInCalls) && row.percent(10) && crafts_.size() > 1) {
        if (const ObjectHandle gone = outermost(handle); crafts_.contains(gone)) {
            ++counts_.reactions;
            driver_.remove_object(crafts_.at(gone).id);
            forget(gone);
        }
        if (crafts_.empty()) {
            add(row);
        }
    }
    --depth_;
}

}  // namespace replayout::test
