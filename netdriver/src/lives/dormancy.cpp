// SPDX-License-Identifier: MIT
#include "dormancy.h"

#include <algorithm>

namespace replayout {

Dormancy::Dormancy(const ServerEnvironment& environment, ServerObjects& objects,
                   ServerClients& clients, CompareStage& compare)
    : objects_(objects.store),
      clients_(clients),
      compare_(compare),
      candidates_(&environment.memory.objects),
      becoming_(&environment.memory.objects),
      scratch_(&environment.memory.objects) {
    objects.tables.add(*this, ObjectTables::Until::TornOff);
}

void Dormancy::set(NetObjectId id, NetDormancy dormancy) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    objects_.for_each_in_family(slot_of(id), [&](ObjectIndex index) { set_of(index, dormancy); });
}

void Dormancy::set_of(ObjectIndex index, NetDormancy dormancy) {
    ServerObject& info = *objects_.at(index);
    const NetDormancy before = info.dormancy();
    const bool is_refused = before == NetDormancy::Never && may_be_dormant(dormancy);
    if (dormancy == before || is_refused) {
        return;
    }
    info.set_dormancy(dormancy);
    if (may_be_dormant(dormancy)) {
        candidates_.insert(index);
        info.changelist_state().mark_exact();  // so it does not sleep beside what it is
    } else {
        candidates_.erase(index);
    }
    // What was kept from clients is to be shown to them.
    apply_to_all(index, before == NetDormancy::Initial);
}

void Dormancy::flush(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    objects_.for_each_in_family(slot_of(id), [&](ObjectIndex index) {
        ServerObject& info = *objects_.at(index);
        if (!may_be_dormant(info.dormancy())) {
            return;
        }
        if (info.dormancy() == NetDormancy::Initial) {
            info.set_dormancy(NetDormancy::DormantAll);
        }
        info.changelist_state().mark_exact();
        apply_to_all(index, true);
        clients_.for_each_joined([&](ServerClient& client) { client.sender.force(index); });
    });
}

void Dormancy::set_for(PeerId peer, NetObjectId id, bool is_dormant) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    ServerClient* client = clients_.find_joined(peer);
    if (client == nullptr) {
        return;
    }
    objects_.for_each_in_family(slot_of(id), [&](ObjectIndex index) {
        client->sender.edit_dormant_channels().ask_dormant(index, is_dormant);
        if (objects_.at(index)->dormancy() != NetDormancy::DormantPartial) {
            return;
        }
        if (is_dormant) {
            apply(client->sender, index);
        } else {
            wake_for(*client, index);
        }
    });
}

bool Dormancy::is_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const ServerClient* client = clients_.find_joined(peer);
    return client != nullptr && client->sender.dormancy().dormant.test(slot_of(id));
}

void Dormancy::introduce(ServerClient& client) {
    candidates_.for_each([&](ObjectIndex index) {
        apply(client.sender, index);
        if (objects_.at(index)->dormancy() == NetDormancy::DormantPartial) {
            resume_compare(index);  // for this client it is awake, until it is said otherwise
        }
    });
}

void Dormancy::apply(ReplicationSender& sender, ObjectIndex index) {
    DormantChannels& channels = sender.edit_dormant_channels();
    switch (objects_.at(index)->dormancy()) {
        case NetDormancy::Never:
        case NetDormancy::Awake:
            channels.wake(index);
            return;
        case NetDormancy::DormantAll:
            channels.become_dormant(index);
            return;
        case NetDormancy::DormantPartial:
            if (sender.dormancy().asked.test(index)) {
                channels.become_dormant(index);
            } else {
                channels.wake(index);
            }
            return;
        case NetDormancy::Initial:
            channels.withhold(index);
            return;
    }
}

void Dormancy::apply_to_all(ObjectIndex index, bool wakes) {
    clients_.for_each_joined([&](ServerClient& client) {
        if (wakes) {
            client.sender.edit_dormant_channels().wake(index);
        }
        apply(client.sender, index);
    });
    const NetDormancy dormancy = objects_.at(index)->dormancy();
    const bool may_rest = compare_.resting().test(index) || dormancy == NetDormancy::Initial;
    if (may_be_dormant(dormancy) && may_rest && !wakes && is_for_all(index)) {
        compare_.rest(index);
        becoming_.erase(index);
    } else {
        resume_compare(index);
    }
}

void Dormancy::shown(ServerClient& client, ObjectIndex index) {
    if (!candidates_.test(index)) {
        return;
    }
    apply(client.sender, index);
    // An object that the client has not asked to be dormant is compared for it. Any other is sent
    // as all others show it, as to a client that joins.
    if (objects_.at(index)->dormancy() == NetDormancy::DormantPartial &&
        !client.sender.dormancy().asked.test(index)) {
        resume_compare(index);
    }
}

void Dormancy::force_net_update(NetObjectId id) {
    flush(id);
    objects_.for_each_in_family(slot_of(id), [&](ObjectIndex index) {
        compare_.force_paced(index);
        clients_.for_each_joined([&](ServerClient& client) { client.sender.force(index); });
    });
}

void Dormancy::wake_for(ServerClient& client, ObjectIndex index) {
    if (objects_.at(index)->dormancy() == NetDormancy::Initial) {
        // Whole: a part cannot be where its outer is not.
        objects_.for_each_in_family(objects_.root_of(index), [&](ObjectIndex member) {
            if (objects_.at(member)->dormancy() == NetDormancy::Initial) {
                objects_.at(member)->set_dormancy(NetDormancy::DormantAll);
                apply_to_all(member, true);
            }
        });
        return;
    }
    client.sender.edit_dormant_channels().wake(index);
    apply(client.sender, index);
    resume_compare(index);
}

void Dormancy::resume_compare(ObjectIndex index) {
    compare_.end_rest(index);
    if (may_be_dormant(objects_.at(index)->dormancy())) {
        becoming_.insert(index);
    } else {
        becoming_.erase(index);
    }
}

bool Dormancy::is_for_all(ObjectIndex index) const {
    return std::all_of(clients_.begin(), clients_.end(), [&](const ServerClient* client) {
        return !client->is_joined() || client->sender.dormancy().is_resting(index);
    });
}

void Dormancy::rest_dormant_objects() {
    if (becoming_.is_empty()) {
        return;
    }
    BitRow& resting = scratch_;
    resting.clear_all();
    resting.merge(becoming_);
    clients_.for_each_joined([&](const ServerClient& client) {
        const PairVisibility& pairs = client.sender.dormancy();
        resting.retain(pairs.dormant, pairs.irrelevant);
    });
    compare_.rest(resting);
    becoming_.remove(resting);
}

}  // namespace replayout
