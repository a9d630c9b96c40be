// SPDX-License-Identifier: MIT
//
// Objects of a server, one by one: that they are there, what is said of them, and calls on them.
#include <replayout/netdriver/net_driver.h>

#include "call_refusals.h"
#include "driver_end.h"

namespace replayout {

NetObjectId NetDriver::add_object(const RepLayout& layout, ObjectHandle object,
                                  const SpawnParameters& parameters) {
    REPLAYOUT_EXPECT(end().may_change(), NetObjectId(), "%s", end().refusal("add_object").c_str());
    return server_->lives().add(layout, object, parameters);
}

NetObjectId NetDriver::add_subobject(NetObjectId outer, const RepLayout& layout,
                                     ObjectHandle object, const SubobjectParameters& parameters) {
    REPLAYOUT_EXPECT(end().may_change(outer), NetObjectId(), "%s",
                     end().refusal("add_subobject", outer).c_str());
    return server_->lives().add_part(outer, layout, object, parameters);
}

void NetDriver::remove_object(NetObjectId id, ChannelCloseReason reason) {
    REPLAYOUT_EXPECT(end().may_change(id), void(), "%s",
                     end().refusal("remove_object", id).c_str());
    server_->lives().remove(id, reason);
}

void NetDriver::tear_off(NetObjectId id) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("tear_off", id).c_str());
    server_->lives().tear_off(id);
}

void NetDriver::forget_destroyed(std::string_view stable_name) {
    REPLAYOUT_EXPECT(end().may_change(), void(), "%s", end().refusal("forget_destroyed").c_str());
    server_->notices().forget(stable_name);
}

void NetDriver::forget_all_destroyed() {
    REPLAYOUT_EXPECT(end().may_change(), void(), "%s",
                     end().refusal("forget_all_destroyed").c_str());
    server_->notices().forget_all();
}

NetObjectId NetDriver::find_object(ObjectHandle object) const noexcept {
    REPLAYOUT_EXPECT(end().may_read(), NetObjectId(), "%s", end().refusal("find_object").c_str());
    const ObjectStore& objects = server_->objects();
    const std::uint32_t index = objects.find_index(guids_.find_guid(object));
    return index == ObjectStore::no_index || objects.at(index)->is_departing()
               ? NetObjectId{}
               : objects.id_at(index);
}

NetGUID NetDriver::guid_of(NetObjectId id) const {
    REPLAYOUT_EXPECT(end().may_read(id), NetGUID(), "%s", end().refusal("guid_of", id).c_str());
    return server_->objects().at(id.index)->guid();
}

bool NetDriver::is_relevant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT(end().may_read(id), false, "%s", end().refusal("is_relevant_for", id).c_str());
    return server_->relevancy().is_relevant_for(peer, id);
}

void NetDriver::mark_property_dirty(NetObjectId id, std::string_view property) {
    REPLAYOUT_EXPECT(end().may_change(id), void(), "%s",
                     end().refusal("mark_property_dirty", id).c_str());
    server_->properties().mark_dirty(id, property);
}

void NetDriver::mark_property_dirty(NetObjectId id, ParentIndex property) {
    REPLAYOUT_EXPECT(end().may_change(id), void(), "%s",
                     end().refusal("mark_property_dirty", id).c_str());
    server_->mark_property_dirty(id, property);
}

void NetDriver::mark_object_dirty(NetObjectId id) {
    REPLAYOUT_EXPECT(end().may_change(id), void(), "%s",
                     end().refusal("mark_object_dirty", id).c_str());
    server_->properties().mark_all_dirty(id);
}

void NetDriver::set_owner(NetObjectId id, PeerId owner) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("set_owner", id).c_str());
    REPLAYOUT_EXPECT(owner != PeerId{}, void(), "%s: peer 0 is nobody: use clear_owner()",
                     end().named("set_owner", id).c_str());
    ObjectFacts facts = facts_of(id);
    facts.owner = owner;
    facts.has_owner = true;
    server_->ownership().set_facts(id, facts);
}

void NetDriver::clear_owner(NetObjectId id) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("clear_owner", id).c_str());
    ObjectFacts facts = facts_of(id);
    facts.owner = PeerId{};
    facts.has_owner = false;
    server_->ownership().set_facts(id, facts);
}

void NetDriver::set_autonomous(NetObjectId id, bool is_autonomous) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("set_autonomous", id).c_str());
    ObjectFacts facts = facts_of(id);
    facts.is_autonomous = is_autonomous;
    server_->ownership().set_facts(id, facts);
}

void NetDriver::set_player(NetObjectId id, bool is_player) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("set_player", id).c_str());
    ObjectFacts facts = facts_of(id);
    facts.is_player = is_player;
    server_->ownership().set_facts(id, facts);
}

ObjectRole NetDriver::role_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT(end().may_read(id), nobodys_role, "%s", end().refusal("role_for", id).c_str());
    return server_->clients().host().role_for(peer, facts_of(id));
}

void NetDriver::set_replicates_physics(NetObjectId id, bool has_physics) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("set_replicates_physics", id).c_str());
    ObjectFacts facts = facts_of(id);
    facts.has_physics = has_physics;
    server_->ownership().set_facts(id, facts);
}

void NetDriver::set_property_active(NetObjectId id, std::string_view property, bool is_active) {
    REPLAYOUT_EXPECT(end().may_change(id), void(), "%s",
                     end().refusal("set_property_active", id).c_str());
    server_->properties().set_active(id, property, is_active);
}

void NetDriver::set_dynamic_condition(NetObjectId id, std::string_view property,
                                      LifetimeCondition condition) {
    REPLAYOUT_EXPECT(end().may_change(id), void(), "%s",
                     end().refusal("set_dynamic_condition", id).c_str());
    server_->properties().set_dynamic_condition(id, property, condition);
}

LifetimeCondition NetDriver::dynamic_condition_of(NetObjectId id, std::string_view property) const {
    REPLAYOUT_EXPECT(end().may_read(id), LifetimeCondition::None, "%s",
                     end().refusal("dynamic_condition_of", id).c_str());
    return server_->properties().dynamic_condition_of(id, property);
}

void NetDriver::set_dormancy(NetObjectId id, NetDormancy dormancy) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("set_dormancy", id).c_str());
    REPLAYOUT_EXPECT(dormancy <= NetDormancy::Initial, void(), "%s: %u is no NetDormancy",
                     end().named("set_dormancy", id).c_str(), static_cast<unsigned>(dormancy));
    server_->dormancy().set(id, dormancy);
}

NetDormancy NetDriver::dormancy_of(NetObjectId id) const {
    REPLAYOUT_EXPECT(end().may_read(id), NetDormancy::Awake, "%s",
                     end().refusal("dormancy_of", id).c_str());
    return server_->objects().at(id.index)->dormancy();
}

void NetDriver::set_dormant_for(PeerId peer, NetObjectId id, bool is_dormant) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("set_dormant_for", id).c_str());
    server_->dormancy().set_for(peer, id, is_dormant);
}

void NetDriver::flush_dormancy(NetObjectId id) {
    REPLAYOUT_EXPECT(end().may_change_whole(id), void(), "%s",
                     end().refusal("flush_dormancy", id).c_str());
    server_->dormancy().flush(id);
}

bool NetDriver::is_dormant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT(end().may_read(id), false, "%s", end().refusal("is_dormant_for", id).c_str());
    return server_->dormancy().is_for(peer, id);
}

const ObjectFacts& NetDriver::facts_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->objects().at(id.index)->facts();
}

CallResult NetDriver::call_function(NetObjectId id, std::string_view function, CallParams params,
                                    RemoteFunctionSendPolicy policy) {
    return call_named(id, {function, {}}, params, policy);
}

CallResult NetDriver::call_function(NetObjectId id, FunctionIndex function, CallParams params,
                                    RemoteFunctionSendPolicy policy) {
    REPLAYOUT_EXPECT(end().may_change(id), CallResult::Misused, "%s",
                     end().refusal("call_function", id).c_str());
    const RepLayout& layout = server_->objects().at(id.index)->changelist_state().layout();
    REPLAYOUT_EXPECT(is_callable(layout, function, params), CallResult::Misused,
                     "%s (object %u.%u)", uncallable(layout, function, params).c_str(), id.index,
                     id.generation);
    REPLAYOUT_EXPECT(policy <= RemoteFunctionSendPolicy::ForceQueue, CallResult::Misused,
                     "%s: %u is no RemoteFunctionSendPolicy",
                     end().named("call_function", id).c_str(), static_cast<unsigned>(policy));
    return server_->calls().call(id, function, params.memory(), policy);
}

CallProgress NetDriver::call_progress(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT(end().may_read(id), CallProgress::Arrived, "%s",
                     end().refusal("call_progress", id).c_str());
    return server_->calls().progress(peer, id);
}

CallResult NetDriver::call_named(NetObjectId id, const CalledFunction& function, CallParams params,
                                 RemoteFunctionSendPolicy policy) {
    REPLAYOUT_EXPECT(end().may_change(id), CallResult::Misused, "%s",
                     end().refusal("call_function", id).c_str());
    const RepLayout& layout = server_->objects().at(id.index)->changelist_state().layout();
    const std::optional<FunctionIndex> found = find_called(layout, function);
    if (!found.has_value()) {
        server_->calls().log_unknown_function(layout, function.name);
        return CallResult::UnknownFunction;
    }
    return call_function(id, *found, params, policy);
}

CallResult NetDriver::call_function(ObjectHandle object, std::string_view function,
                                    CallParams params) {
    return call_named(object, {function, {}}, params);
}

CallResult NetDriver::call_named(ObjectHandle object, const CalledFunction& function,
                                 CallParams params) {
    // From a notify or a hook too: a call is encoded and queued, and touches no object and no
    // channel.
    REPLAYOUT_EXPECT(client_ != nullptr, CallResult::Misused, "%s",
                     end().refusal_of_client("call_function of an ObjectHandle").c_str());
    return client_->call_function(object, function, params);
}

void NetDriver::run_kept_calls(ObjectHandle object) {
    REPLAYOUT_EXPECT(client_ != nullptr, void(), "%s",
                     end().refusal_of_client("run_kept_calls").c_str());
    REPLAYOUT_EXPECT(!is_calling_out_, void(), "%s",
                     DriverEnd::refusal_within("run_kept_calls").c_str());
    client_->run_kept_calls(object);
}

void NetDriver::values_grew(ObjectHandle object, std::uint64_t bytes) {
    REPLAYOUT_EXPECT(client_ != nullptr, void(), "%s",
                     end().refusal_of_client("values_grew").c_str());
    client_->values_grew(object, bytes);
}

}  // namespace replayout
