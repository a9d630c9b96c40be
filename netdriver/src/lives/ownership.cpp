// SPDX-License-Identifier: MIT
#include "ownership.h"

namespace replayout {

void Ownership::set_owner(NetObjectId id, PeerId owner) {
    ObjectOwnership ownership = ownership_of(id);
    ownership.owner = owner;
    ownership.has_owner = true;
    set_ownership(id, ownership);
}

void Ownership::clear_owner(NetObjectId id) {
    ObjectOwnership ownership = ownership_of(id);
    ownership.owner = PeerId{};
    ownership.has_owner = false;
    set_ownership(id, ownership);
}

void Ownership::set_flag(NetObjectId id, bool ObjectOwnership::*flag, bool value) {
    ObjectOwnership ownership = ownership_of(id);
    ownership.*flag = value;
    set_ownership(id, ownership);
}

const ObjectOwnership& Ownership::ownership_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    return objects_.at(slot_of(id))->ownership();
}

void Ownership::set_ownership(NetObjectId id, const ObjectOwnership& ownership) {
    if (ownership == ownership_of(id)) {
        return;
    }
    relevancy_.hide_parts_before(slot_of(id), ownership);
    const ObjectOwnership before = ownership_of(id);
    objects_.for_each_in_family(slot_of(id),
                                [&](ObjectIndex part) { set_ownership_of(part, ownership); });
    for (const ObjectOwnership* owned : {&before, &ownership}) {
        ClientInterest* const client =
            owned->has_owner ? clients_.find_interest(owned->owner) : nullptr;
        if (client != nullptr) {
            relevancy_.interest().owner_changed(*client, slot_of(id));
        }
    }
    relevancy_.show_parts_to_all(slot_of(id));
}

void Ownership::set_ownership_of(ObjectIndex index, const ObjectOwnership& ownership) {
    const ServerObject& info = *objects_.at(index);
    // A client that is closing may have another object in the slot.
    clients_.for_each_joined([&](ServerClient& client) {
        client.sender.ownership_changed(index, info.ownership(), ownership);
    });
    objects_.set_ownership(index, ownership);
    clients_.take_back_hidden_values(index);
}

}  // namespace replayout
