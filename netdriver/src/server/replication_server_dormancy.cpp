// SPDX-License-Identifier: MIT
//
// Dormancy of a server's objects: what the game says of each, once for all connections, and which
// of them need not be compared. Nothing here walks objects x connections but words of bits.
//
// An object that is dormant for everybody stays as it was when it was last compared. Who joins then
// is sent that, and not what the object became meanwhile: all clients show the same.
#include "replication_server_client.h"

#include <algorithm>

namespace replayout {

void ReplicationServer::set_dormancy(NetObjectId id, NetDormancy dormancy) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    objects_.for_each_in_family(id.index,
                                [&](std::uint32_t index) { set_dormancy_of(index, dormancy); });
}

void ReplicationServer::set_dormancy_of(std::uint32_t index, NetDormancy dormancy) {
    NetworkObjectInfo& info = *objects_.at(index);
    const NetDormancy before = info.dormancy();
    const bool is_refused = before == NetDormancy::Never && may_be_dormant(dormancy);
    if (dormancy == before || is_refused) {
        return;
    }
    info.set_dormancy(dormancy);
    if (may_be_dormant(dormancy)) {
        dormancy_.candidates.insert(index);
        info.changelist_state().mark_exact();  // so it does not sleep beside what it is
    } else {
        dormancy_.candidates.erase(index);
    }
    // What was kept from clients is to be shown to them.
    apply_dormancy_to_all(index, before == NetDormancy::Initial);
}

void ReplicationServer::flush_dormancy(NetObjectId id) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) {
        NetworkObjectInfo& info = *objects_.at(index);
        if (!may_be_dormant(info.dormancy())) {
            return;
        }
        if (info.dormancy() == NetDormancy::Initial) {
            info.set_dormancy(NetDormancy::DormantAll);
        }
        info.changelist_state().mark_exact();
        apply_dormancy_to_all(index, true);
        for_each_joined([&](Client& client) { client.sender.force(index); });
    });
}

void ReplicationServer::set_dormant_for(PeerId peer, NetObjectId id, bool is_dormant) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(id.index)->is_subobject());
    Client* client = find_joined(peer);
    if (client == nullptr) {
        return;
    }
    objects_.for_each_in_family(id.index, [&](std::uint32_t index) {
        client->sender.ask_dormant(index, is_dormant);
        if (objects_.at(index)->dormancy() != NetDormancy::DormantPartial) {
            return;
        }
        if (is_dormant) {
            apply_dormancy(client->sender, index);
        } else {
            wake_for(*client, index);
        }
    });
}

bool ReplicationServer::is_dormant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const Client* client = find_joined(peer);
    return client != nullptr && client->sender.dormancy().dormant.test(id.index);
}

void ReplicationServer::introduce_dormant(Client& client) {
    for (std::uint32_t index = dormancy_.candidates.next(0); index != BitRow::no_bit;
         index = dormancy_.candidates.next(index + 1)) {
        apply_dormancy(client.sender, index);
        if (objects_.at(index)->dormancy() == NetDormancy::DormantPartial) {
            resume_compare(index);  // for this client it is awake, until it is said otherwise
        }
    }
}

void ReplicationServer::apply_dormancy(ReplicationSender& sender, std::uint32_t index) {
    switch (objects_.at(index)->dormancy()) {
        case NetDormancy::Never:
        case NetDormancy::Awake:
            sender.wake(index);
            return;
        case NetDormancy::DormantAll:
            sender.become_dormant(index);
            return;
        case NetDormancy::DormantPartial:
            if (sender.dormancy().asked.test(index)) {
                sender.become_dormant(index);
            } else {
                sender.wake(index);
            }
            return;
        case NetDormancy::Initial:
            sender.withhold(index);
            return;
    }
}

void ReplicationServer::apply_dormancy_to_all(std::uint32_t index, bool wakes) {
    for_each_joined([&](Client& client) {
        if (wakes) {
            client.sender.wake(index);
        }
        apply_dormancy(client.sender, index);
    });
    const NetDormancy dormancy = objects_.at(index)->dormancy();
    const bool may_rest = dormancy_.dormant.test(index) || dormancy == NetDormancy::Initial;
    if (may_be_dormant(dormancy) && may_rest && !wakes && is_dormant_for_all(index)) {
        dormancy_.dormant.insert(index);
        dormancy_.becoming.erase(index);
        due_.clear(index);
    } else {
        resume_compare(index);
    }
}

void ReplicationServer::wake_for(Client& client, std::uint32_t index) {
    if (objects_.at(index)->dormancy() == NetDormancy::Initial) {
        // Whole: a part cannot be where its outer is not.
        objects_.for_each_in_family(objects_.root_of(index), [&](std::uint32_t member) {
            if (objects_.at(member)->dormancy() == NetDormancy::Initial) {
                objects_.at(member)->set_dormancy(NetDormancy::DormantAll);
                apply_dormancy_to_all(member, true);
            }
        });
        return;
    }
    client.sender.wake(index);
    apply_dormancy(client.sender, index);
    resume_compare(index);
}

void ReplicationServer::resume_compare(std::uint32_t index) {
    dormancy_.dormant.erase(index);
    force_due(index);
    if (may_be_dormant(objects_.at(index)->dormancy())) {
        dormancy_.becoming.insert(index);
    } else {
        dormancy_.becoming.erase(index);
    }
}

bool ReplicationServer::is_dormant_for_all(std::uint32_t index) const {
    return std::all_of(clients_.begin(), clients_.end(), [&](const Client* client) {
        return !is_joined(*client) || client->sender.dormancy().is_resting(index);
    });
}

void ReplicationServer::rest_dormant_objects() {
    if (dormancy_.becoming.is_empty()) {
        return;
    }
    BitRow& resting = dormancy_.scratch;
    resting.clear_all();
    resting.merge(dormancy_.becoming);
    for_each_joined([&](const Client& client) {
        const PairDormancy& pairs = client.sender.dormancy();
        resting.retain(pairs.dormant, pairs.irrelevant);
    });
    dormancy_.dormant.merge(resting);
    dormancy_.becoming.remove(resting);
    due_.remove(resting);
}

}  // namespace replayout
