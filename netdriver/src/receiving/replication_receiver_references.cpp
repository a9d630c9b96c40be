// SPDX-License-Identifier: MIT
//
// Which channels have objects that name which: what is to be done when one comes or goes.
#include "replication_receiver.h"

#include <algorithm>

namespace replayout {

void ReplicationReceiver::update_mentions(std::uint32_t index) {
    const ReceivingRepState& references = channels_[index]->references;
    for (const NetGUID guid : dropped_) {
        if (!references.names(guid)) {
            mentions_.remove(guid, index);
        }
    }
    for (const NetGUID guid : named_) {
        mentions_.add(guid, index);
    }
}

void ReplicationReceiver::forget_mentions(std::uint32_t index) {
    NetGUID last;  // many in a row name the same
    for (const auto& [path, reference] : channels_[index]->references.references()) {
        if (reference.guid != last) {
            mentions_.remove(reference.guid, index);
            last = reference.guid;
        }
    }
    for (const auto& [path, value] : channels_[index]->references.values()) {
        for (const NetGUID guid : value.guids) {
            mentions_.remove(guid, index);
        }
    }
}

void ReplicationReceiver::rebind(NetGUID guid, ObjectHandle target) {
    // An update that ended in this packet has notifies of its own, before this one begins.
    const auto& mentioning = mentions_.of(guid);
    if (std::any_of(mentioning.begin(), mentioning.end(),
                    [this](std::uint32_t index) { return is_waiting_to_notify(index); })) {
        run_notifies();
    }
    for (const std::uint32_t index : mentions_.of(guid)) {
        ActorChannel* channel = find_channel(index);
        // Of one that is dormant too: its references are the engine's to follow all the same.
        if (channel != nullptr && !channel->object.is_null()) {
            void* const object = memory_of(channel->object);
            if (!has_memory(*channel, object)) {
                continue;
            }
            ReceiveContext context = receive_context(*channel);
            context.waits_to_notify = !target.is_null();  // what goes is there until they ran
            rebind_references(*channel->layout, object, channel->references, guid, target, context);
            note_waiting(index);
            count_references(*channel);
            count_values(context);
        }
    }
}

bool ReplicationReceiver::spend_rebind(NetGUID guid) {
    // Before it begins: half of it would leave references to an object that is gone.
    std::size_t steps = 0;
    for (const std::uint32_t index : mentions_.of(guid)) {
        steps += channels_[index]->references.rebind_steps(guid);
    }
    if (steps > budget_->steps) {
        return false;
    }
    budget_->steps -= steps;
    return true;
}

NetGUID ReplicationReceiver::find_reference(ObjectHandle object,
                                            const RepPath& path) const noexcept {
    const auto found = channels_by_guid_.find(guids_.find_guid(object).value);
    return found == channels_by_guid_.end()
               ? NetGUID{}
               : channels_[found->second]->references.find_reference(path);
}

}  // namespace replayout
