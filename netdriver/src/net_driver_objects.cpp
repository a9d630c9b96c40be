// SPDX-License-Identifier: MIT
//
// Objects of a server, one by one: that they are there, what is said of them, and calls on them.
#include <replayout/netdriver/net_driver.h>

#include "replication_client.h"
#include "replication_server.h"
#include "value_scope.h"

namespace replayout {

NetObjectId NetDriver::add_object(const RepLayout& layout, ObjectHandle object,
                                  const SpawnParameters& parameters) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->add_object(layout, object, parameters);
}

NetObjectId NetDriver::add_subobject(NetObjectId outer, const RepLayout& layout,
                                     ObjectHandle object, const SubobjectParameters& parameters) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->add_subobject(outer, layout, object, parameters);
}

void NetDriver::remove_object(NetObjectId id, ChannelCloseReason reason) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->remove_object(id, reason);
}

void NetDriver::tear_off(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->tear_off(id);
}

void NetDriver::forget_destroyed(std::string_view stable_name) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->forget_destroyed(stable_name);
}

void NetDriver::forget_all_destroyed() {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->forget_all_destroyed();
}

NetObjectId NetDriver::find_object(ObjectHandle object) const noexcept {
    REPLAYOUT_ASSERT(server_ != nullptr);
    const ObjectStore& objects = server_->objects();
    const std::uint32_t index = objects.find_index(guids_.find_guid(object));
    return index == ObjectStore::no_index || objects.at(index)->is_torn_off()
               ? NetObjectId{}
               : objects.id_at(index);
}

NetGUID NetDriver::guid_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->objects().at(id.index)->guid();
}

bool NetDriver::is_relevant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->is_relevant_for(peer, id);
}

void NetDriver::mark_property_dirty(NetObjectId id, std::string_view property) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->mark_property_dirty(id, property);
}

void NetDriver::mark_property_dirty(NetObjectId id, ParentIndex property) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->mark_property_dirty(id, property);
}

void NetDriver::mark_object_dirty(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->mark_object_dirty(id);
}

void NetDriver::set_owner(NetObjectId id, PeerId owner) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.owner = owner;
    facts.has_owner = true;
    server_->set_facts(id, facts);
}

void NetDriver::clear_owner(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.owner = PeerId{};
    facts.has_owner = false;
    server_->set_facts(id, facts);
}

void NetDriver::set_autonomous(NetObjectId id, bool is_autonomous) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.is_autonomous = is_autonomous;
    server_->set_facts(id, facts);
}

void NetDriver::set_player(NetObjectId id, bool is_player) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.is_player = is_player;
    server_->set_facts(id, facts);
}

ObjectRole NetDriver::role_for(PeerId peer, NetObjectId id) const {
    return server_->role_for(peer, facts_of(id));
}

void NetDriver::set_replicates_physics(NetObjectId id, bool has_physics) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.has_physics = has_physics;
    server_->set_facts(id, facts);
}

void NetDriver::set_property_active(NetObjectId id, std::string_view property, bool is_active) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_property_active(id, property, is_active);
}

void NetDriver::set_dynamic_condition(NetObjectId id, std::string_view property,
                                      LifetimeCondition condition) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_dynamic_condition(id, property, condition);
}

LifetimeCondition NetDriver::dynamic_condition_of(NetObjectId id, std::string_view property) const {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->dynamic_condition_of(id, property);
}

void NetDriver::set_dormancy(NetObjectId id, NetDormancy dormancy) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_dormancy(id, dormancy);
}

NetDormancy NetDriver::dormancy_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->objects().at(id.index)->dormancy();
}

void NetDriver::set_dormant_for(PeerId peer, NetObjectId id, bool is_dormant) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_dormant_for(peer, id, is_dormant);
}

void NetDriver::flush_dormancy(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->flush_dormancy(id);
}

bool NetDriver::is_dormant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->is_dormant_for(peer, id);
}

const ObjectFacts& NetDriver::facts_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->objects().at(id.index)->facts();
}

CallResult NetDriver::call_function(NetObjectId id, std::string_view function, const void* params,
                                    RemoteFunctionSendPolicy policy) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    const std::optional<FunctionIndex> found =
        server_->objects().at(id.index)->changelist_state().layout().find_function(function);
    return found.has_value() ? server_->call_function(id, *found, params, policy)
                             : CallResult::UnknownFunction;
}

CallResult NetDriver::call_function(NetObjectId id, FunctionIndex function, const void* params,
                                    RemoteFunctionSendPolicy policy) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->call_function(id, function, params, policy);
}

CallResult NetDriver::call_function(ObjectHandle object, std::string_view function,
                                    const void* params) {
    // From a notify or a hook too: a call is encoded and queued, and touches no object and no
    // channel.
    REPLAYOUT_ASSERT(client_ != nullptr);
    return client_->call_function(object, function, params);
}

}  // namespace replayout
