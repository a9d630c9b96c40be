// SPDX-License-Identifier: MIT
#include "relevancy.h"

#include <string>

#include "scoped_value.h"

namespace replayout {

Relevancy::Relevancy(const ServerEnvironment& environment, ServerObjects& objects,
                     ServerClients& clients, InterestManager& interest, Dormancy& dormancy,
                     CallWaits& waits)
    : environment_(environment),
      objects_(objects.store),
      clients_(clients),
      interest_(interest),
      dormancy_(dormancy),
      waits_(waits),
      conditional_(&environment.memory.objects),
      new_objects_(&environment.memory.objects) {
    objects.tables.add(conditional_, ObjectTables::Until::TornOff);
    objects.tables.add(interest_, ObjectTables::Until::TornOff);
}

void Relevancy::object_added(ObjectIndex index) {
    interest_.object_added(index, objects_.at(index)->layout_number());
    new_objects_.insert(index);
}

void Relevancy::part_added(ObjectIndex index) {
    if (objects_.at(index)->family().condition != LifetimeCondition::None) {
        conditional_.insert(index);
    }
    show_part_to_all(index);
}

void Relevancy::set_is_replay(PeerId peer, bool is_replay) {
    if (ServerClient* client = clients_.find_joined(peer)) {
        client->sender.set_is_replay(is_replay);
        show_conditional(*client);
    }
}

void Relevancy::set_location(NetObjectId id, const Vector3& location) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    objects_.at(slot_of(id))->set_location(location);
    interest_.set_location(slot_of(id), location);
}

void Relevancy::add_to_group(NetObjectId id, NetGroup group) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const ServerObject& info = *objects_.at(slot_of(id));
    if (!info.is_subobject()) {
        interest_.add_to_group(slot_of(id), group);
        return;
    }
    REPLAYOUT_EXPECT(info.family().condition == LifetimeCondition::NetGroup, void(),
                     "add_to_group: object %u.%u, a \"%s\", is a part that is not of "
                     "LifetimeCondition::NetGroup: put its outer into the group",
                     id.index, id.generation,
                     std::string(info.changelist_state().layout().name()).c_str());
    if (interest_.groups().add(slot_of(id), group)) {
        show_part_to_all(slot_of(id));
    }
}

void Relevancy::remove_from_group(NetObjectId id, NetGroup group) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    if (!objects_.at(slot_of(id))->is_subobject()) {
        interest_.remove_from_group(slot_of(id), group);
    } else if (interest_.groups().remove(slot_of(id), group)) {
        show_part_to_all(slot_of(id));
    }
}

void Relevancy::clear_groups(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id));
    if (!objects_.at(slot_of(id))->is_subobject()) {
        interest_.clear_groups(slot_of(id));
    } else if (interest_.groups().remove_all(slot_of(id))) {
        show_part_to_all(slot_of(id));
    }
}

void Relevancy::set_in_group(PeerId peer, NetGroup group, bool is_in_group) {
    if (ServerClient* client = clients_.find_joined(peer)) {
        if (interest_.set_in_group(client->interest, group, is_in_group)) {
            show_conditional(*client);
        }
    }
}

void Relevancy::set_relevant_for(PeerId peer, NetObjectId id, bool is_relevant) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    ServerClient* client = clients_.find_joined(peer);
    if (client == nullptr) {
        return;
    }
    ClientInterest& interest = client->interest;
    if ((is_relevant ? interest.shown : interest.hidden).test(slot_of(id))) {
        return;
    }
    (is_relevant ? interest.hidden : interest.shown).erase(slot_of(id));
    (is_relevant ? interest.shown : interest.hidden).insert(slot_of(id));
    decide(*client, slot_of(id));
}

void Relevancy::clear_relevant_for(PeerId peer, NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    ServerClient* client = clients_.find_joined(peer);
    if (client == nullptr) {
        return;
    }
    ClientInterest& interest = client->interest;
    if (interest.shown.test(slot_of(id)) || interest.hidden.test(slot_of(id))) {
        interest.shown.erase(slot_of(id));
        interest.hidden.erase(slot_of(id));
        interest.reconsidered.mark(slot_of(id));
    }
}

bool Relevancy::is_relevant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const ServerClient* client = clients_.find_joined(peer);
    return client != nullptr && client->sender.dormancy().is_shown(slot_of(id));
}

void Relevancy::update() {
    interest_.update();
    clients_.for_each_joined([&](ServerClient& client) {
        client.interest.reconsidered.take_all([&](ObjectIndex index) { decide(client, index); });
        client.interest.is_new = false;
    });
    if (!new_objects_.is_empty()) {
        new_objects_.clear_all();
    }
}

void Relevancy::update_of(ObjectIndex index) {
    index = objects_.root_of(index);
    clients_.for_each_joined([&](ServerClient& client) {
        if (client.interest.reconsidered.test(index)) {
            client.interest.reconsidered.forget(index);
            decide(client, index);
        }
    });
}

void Relevancy::decide(ServerClient& client, ObjectIndex index) {
    const ScopedValue calling_out(environment_.is_calling_out, true);
    const BitRow& irrelevant = client.sender.dormancy().irrelevant;
    const bool is_relevant = interest_.is_relevant(client.interest, irrelevant, index);
    ++environment_.stats.interest.pairs_decided;
    if (is_relevant == client.sender.dormancy().is_shown(index)) {
        return;
    }
    if (!client.interest.is_new && !new_objects_.test(index)) {
        ++(is_relevant ? environment_.stats.interest.pairs_shown
                       : environment_.stats.interest.pairs_hidden);
    }
    show_family(client, index, is_relevant);
    changed(client, index);
}

bool Relevancy::is_shown(const ServerClient& client, ObjectIndex index,
                         const ObjectOwnership& ownership) const {
    const LifetimeCondition condition = objects_.at(index)->family().condition;
    return condition == LifetimeCondition::NetGroup
               ? client.is_replay || interest_.groups().is_in_any(index, client.interest.groups)
               : passes(condition, client.sender.pairs().flags_for(ownership));
}

void Relevancy::show_family(ServerClient& client, ObjectIndex index, bool is_relevant) {
    ReplicationSender& sender = client.sender;
    if (!is_relevant) {
        hide_family(client, index);
        return;
    }
    if (sender.is_leaving(index)) {
        // With its parts, as far as it is to have them then.
        sender.edit_leaving_channels().return_later(index);
        return;
    }
    if (sender.dormancy().irrelevant.test(index)) {
        sender.edit_channels().set_relevant(index, true);
        dormancy_.shown(client, index);
    }
    objects_.for_each_part(index, [&](ObjectIndex part) { show_part(client, part); });
}

void Relevancy::hide_family(ServerClient& client, ObjectIndex index) {
    if (objects_.at(index)->is_removed()) {
        return;  // it goes already
    }
    if (!waits_.is_family_called(client.sender, index)) {
        hide_at_once(client.sender, index);
        return;
    }
    waits_.note_leaving();
    if (!hide_behind_calls(client, index)) {
        waits_.note_dropped(client, client.sender.edit_leaving_channels().close_now(index));
    }
}

void Relevancy::hide_at_once(ReplicationSender& sender, ObjectIndex index) {
    if (objects_.at(index)->is_removed()) {
        return;
    }
    // Parts first: a client that has them has the whole.
    objects_.for_each_part(index, [&](ObjectIndex part) { hide_at_once(sender, part); });
    sender.edit_leaving_channels().forget_return(index);
    sender.edit_channels().set_relevant(index, false);
}

bool Relevancy::hide_behind_calls(ServerClient& client, ObjectIndex index) {
    if (objects_.at(index)->is_removed()) {
        return true;
    }
    bool is_kept = true;
    objects_.for_each_part(
        index, [&](ObjectIndex part) { is_kept = hide_behind_calls(client, part) && is_kept; });
    ReplicationSender& sender = client.sender;
    sender.edit_leaving_channels().forget_return(index);
    if (sender.dormancy().irrelevant.test(index)) {
        return is_kept;
    }
    if (sender.calls().has_fresh_call(index)) {
        waits_.compare_before_hiding(index);
    }
    return sender.edit_leaving_channels().leave_hidden(index) && is_kept;
}

void Relevancy::hide_parts_before(ObjectIndex index, const ObjectOwnership& ownership) {
    objects_.for_each_part(index, [&](ObjectIndex part) {
        clients_.for_each_joined([&](ServerClient& client) {
            if (client.sender.dormancy().is_shown(part) && !is_shown(client, part, ownership)) {
                hide_family(client, part);
            }
        });
        hide_parts_before(part, ownership);
    });
}

void Relevancy::show_part(ServerClient& client, ObjectIndex part) {
    if (objects_.at(part)->is_removed()) {
        return;  // a client that still has it is to lose it
    }
    const ObjectIndex outer = objects_.at(part)->family().outer;
    const bool is_shown_whole = !client.sender.dormancy().irrelevant.test(outer);
    const ObjectOwnership& ownership = objects_.at(part)->ownership();
    show_family(client, part, is_shown_whole && is_shown(client, part, ownership));
}

void Relevancy::show_parts_to_all(ObjectIndex index) {
    objects_.for_each_part(index, [&](ObjectIndex part) { show_part_to_all(part); });
}

void Relevancy::show_part_to_all(ObjectIndex part) {
    clients_.for_each_joined([&](ServerClient& client) { show_part(client, part); });
}

void Relevancy::show_conditional(ServerClient& client) {
    conditional_.for_each([&](ObjectIndex index) { show_part(client, index); });
}

}  // namespace replayout
