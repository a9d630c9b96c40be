// SPDX-License-Identifier: MIT
//
// What the game says of an object that is there, beside its values: whose it is, what of it
// changed, and which of its properties are for whom.
#include "replication_server_client.h"

#include <string>

namespace replayout {

namespace {

/// The assertion that follows can name neither.
void log_unknown_property(const RepLayout& layout, std::string_view property) {
    log(LogLevel::Error, "\"" + std::string(layout.name()) + "\" has no property \"" +
                             std::string(property) + "\" that is replicated");
}

}  // namespace

void ReplicationServer::set_facts(NetObjectId id, const ObjectFacts& facts) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    if (facts == objects_.at(id.index)->facts()) {
        return;
    }
    const ObjectFacts before = objects_.at(id.index)->facts();
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) { set_facts_of(index, facts); });
    for (const ObjectFacts* owned : {&before, &facts}) {
        if (ClientInterest* client = owned->has_owner ? find_interest(owned->owner) : nullptr) {
            interest_.owner_changed(*client, id.index);
        }
    }
    std::uint32_t part = objects_.at(id.index)->family().first;
    for (; part != ObjectStore::no_index; part = objects_.at(part)->family().next) {
        show_part_to_all(part);
    }
}

void ReplicationServer::set_facts_of(std::uint32_t index, const ObjectFacts& facts) {
    const NetworkObjectInfo& info = *objects_.at(index);
    // Of who is closing, slots may have other objects by now.
    for_each_joined(
        [&](Client& client) { client.sender.facts_changed(index, info.facts(), facts); });
    objects_.set_facts(index, facts);
    take_back_hidden_values(index);
}

void ReplicationServer::take_back_hidden_values(std::uint32_t index) {
    for_each_joined([&](Client& client) { client.sender.take_back_hidden_values(index); });
}

void ReplicationServer::mark_property_dirty(NetObjectId id, std::string_view property) {
    for_each_parent(id, property,
                    [](ChangelistState& state, ParentIndex parent) { state.mark_dirty(parent); });
    set_due(id.index);
}

void ReplicationServer::mark_property_dirty(NetObjectId id, ParentIndex property) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    objects_.at(id.index)->changelist_state().mark_dirty(property);
    set_due(id.index);
}

void ReplicationServer::mark_object_dirty(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    objects_.at(id.index)->changelist_state().mark_all_dirty();
    set_due(id.index);
}

void ReplicationServer::set_property_active(NetObjectId id, std::string_view property,
                                            bool is_active) {
    for_each_parent(id, property, [&](ChangelistState& state, ParentIndex parent) {
        state.set_active(parent, is_active);
    });
    update_polled(id.index);
    force_due(id.index);  // the switch takes effect with a compare
}

void ReplicationServer::set_dynamic_condition(NetObjectId id, std::string_view property,
                                              LifetimeCondition condition) {
    for_each_parent(id, property, [&](ChangelistState& state, ParentIndex parent) {
        const LifetimeCondition before = state.conditions().condition_of(parent);
        if (condition == before) {
            return;
        }
        for_each_joined([&](Client& client) {
            client.sender.dynamic_condition_changed(id.index, parent, condition);
        });
        state.set_dynamic_condition(parent, condition);
        take_back_hidden_values(id.index);
    });
}

LifetimeCondition ReplicationServer::dynamic_condition_of(NetObjectId id,
                                                          std::string_view property) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const ChangelistState& state = objects_.at(id.index)->changelist_state();
    const std::optional<ParentIndex> parent = state.layout().find_parent(property);
    if (!parent.has_value()) {
        log_unknown_property(state.layout(), property);
    }
    REPLAYOUT_ASSERT(parent.has_value());
    REPLAYOUT_ASSERT(state.layout().parents()[parent->value].condition ==
                     LifetimeCondition::Dynamic);
    return state.conditions().condition_of(*parent);
}

template <typename Visitor>
void ReplicationServer::for_each_parent(NetObjectId id, std::string_view property, Visitor visit) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    ChangelistState& state = objects_.at(id.index)->changelist_state();
    const std::span<const RepParentCmd> parents = state.layout().parents();
    bool is_found = false;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (parents[i].property->name == property) {
            visit(state, ParentIndex{static_cast<std::uint16_t>(i)});
            is_found = true;
        }
    }
    if (!is_found) {
        log_unknown_property(state.layout(), property);
    }
    REPLAYOUT_ASSERT(is_found);
}

}  // namespace replayout
