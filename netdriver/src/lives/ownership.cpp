// SPDX-License-Identifier: MIT
#include "ownership.h"

namespace replayout {

void Ownership::set_owner(NetObjectId id, PeerId owner) {
    ObjectFacts facts = facts_of(id);
    facts.owner = owner;
    facts.has_owner = true;
    set_facts(id, facts);
}

void Ownership::clear_owner(NetObjectId id) {
    ObjectFacts facts = facts_of(id);
    facts.owner = PeerId{};
    facts.has_owner = false;
    set_facts(id, facts);
}

void Ownership::set_autonomous(NetObjectId id, bool is_autonomous) {
    ObjectFacts facts = facts_of(id);
    facts.is_autonomous = is_autonomous;
    set_facts(id, facts);
}

void Ownership::set_player(NetObjectId id, bool is_player) {
    ObjectFacts facts = facts_of(id);
    facts.is_player = is_player;
    set_facts(id, facts);
}

void Ownership::set_physics(NetObjectId id, bool has_physics) {
    ObjectFacts facts = facts_of(id);
    facts.has_physics = has_physics;
    set_facts(id, facts);
}

const ObjectFacts& Ownership::facts_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    return objects_.at(slot_of(id))->facts();
}

void Ownership::set_facts(NetObjectId id, const ObjectFacts& facts) {
    if (facts == facts_of(id)) {
        return;
    }
    relevancy_.hide_parts_before(slot_of(id), facts);
    const ObjectFacts before = facts_of(id);
    objects_.for_each_in_family(slot_of(id), [&](ObjectIndex part) { set_facts_of(part, facts); });
    for (const ObjectFacts* owned : {&before, &facts}) {
        ClientInterest* const client =
            owned->has_owner ? clients_.find_interest(owned->owner) : nullptr;
        if (client != nullptr) {
            relevancy_.interest().owner_changed(*client, slot_of(id));
        }
    }
    relevancy_.show_parts_to_all(slot_of(id));
}

void Ownership::set_facts_of(ObjectIndex index, const ObjectFacts& facts) {
    const NetworkObjectInfo& info = *objects_.at(index);
    // A client that is closing may have another object in the slot.
    clients_.for_each_joined(
        [&](ServerClient& client) { client.sender.facts_changed(index, info.facts(), facts); });
    objects_.set_facts(index, facts);
    clients_.take_back_hidden_values(index);
}

}  // namespace replayout
