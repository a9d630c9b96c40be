// SPDX-License-Identifier: MIT
#include "ownership.h"

namespace replayout {

void Ownership::set_facts(NetObjectId id, const ObjectFacts& facts) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    if (facts == objects_.at(id.index)->facts()) {
        return;
    }
    relevancy_.hide_parts_before(id.index, facts);
    const ObjectFacts before = objects_.at(id.index)->facts();
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) { set_facts_of(index, facts); });
    for (const ObjectFacts* owned : {&before, &facts}) {
        ClientInterest* const client =
            owned->has_owner ? clients_.find_interest(owned->owner) : nullptr;
        if (client != nullptr) {
            relevancy_.interest().owner_changed(*client, id.index);
        }
    }
    relevancy_.show_parts_to_all(id.index);
}

void Ownership::set_facts_of(std::uint32_t index, const ObjectFacts& facts) {
    const NetworkObjectInfo& info = *objects_.at(index);
    // A client that is closing may have another object in the slot.
    clients_.for_each_joined(
        [&](ServerClient& client) { client.sender.facts_changed(index, info.facts(), facts); });
    objects_.set_facts(index, facts);
    clients_.take_back_hidden_values(index);
}

}  // namespace replayout
