// SPDX-License-Identifier: MIT
#include "call_waits.h"

#include <algorithm>
#include <string>

#include "refusal_text.h"
#include "scoped_value.h"

namespace replayout {

CallWaits::CallWaits(const ServerEnvironment& environment, ServerObjects& objects,
                     ServerClients& clients, ServerLog& log)
    : environment_(environment),
      all_(objects),
      objects_(objects.store),
      clients_(clients),
      log_(log),
      logged_(&environment.memory.objects) {
    all_.tables.add(logged_, ObjectTables::Until::SlotIsFree);
}

bool CallWaits::is_family_called(const ReplicationSender& sender, ObjectIndex index) const {
    bool is_called = sender.leaving_channels().must_wait(index);
    objects_.for_each_part(
        index, [&](ObjectIndex part) { is_called = is_called || is_family_called(sender, part); });
    return is_called;
}

void CallWaits::compare_before_departure(ObjectIndex index) {
    ServerObject& info = *objects_.at(index);
    const bool is_meant =
        std::any_of(clients_.begin(), clients_.end(), [&](const ServerClient* client) {
            return client->is_joined() && client->sender.calls().has_fresh_call(index);
        });
    if (!is_meant || !info.changelist_state().is_due()) {
        return;
    }
    const ScopedValue calling_out(environment_.is_calling_out, true);
    const void* const memory = environment_.world.object_memory(info.object());
    REPLAYOUT_EXPECT(memory != nullptr, void(), "%s",
                     without_memory("remove_object", objects_, index).c_str());
    (void)info.changelist_state().update(memory, all_.shadow_ids, environment_.stats.replication);
}

void CallWaits::compare_before_hiding(ObjectIndex index) {
    ServerObject& info = *objects_.at(index);
    if (!info.changelist_state().is_due()) {
        return;
    }
    // The flush may compare the object once more, but a regular pair expects one new version a
    // flush.
    clients_.for_each_joined([&](ServerClient& client) { client.sender.leave_bundles(index); });
    const ScopedValue calling_out(environment_.is_calling_out, true);
    const void* const memory = environment_.world.object_memory(info.object());
    REPLAYOUT_EXPECT(memory != nullptr, void(), "%s",
                     without_memory("set_relevant_for", objects_, index).c_str());
    if (info.changelist_state().update(memory, all_.shadow_ids, environment_.stats.replication)) {
        all_.changes.objects.set(index);
    }
}

void CallWaits::note_dropped(const ServerClient& client,
                             std::span<const LeavingChannels::DroppedCalls> dropped) {
    for (const LeavingChannels::DroppedCalls& object : dropped) {
        if (logged_.test(object.index)) {
            continue;
        }
        logged_.insert(object.index);
        const ServerObject& info = *objects_.at(object.index);
        const PeerId peer = client.connection.peer();
        log_.peers.write_printable(
            LogLevel::Warning, peer,
            "object " + std::to_string(info.guid().value) + " of class \"" +
                std::string(info.changelist_state().layout().name()) + "\" went before " +
                std::to_string(object.count) + " of its reliable calls had arrived at peer " +
                std::to_string(peer.value) +
                ": a close waits for NetConfig::close_waits_for_calls_ms at most, and no longer "
                "than until there are channels_max objects",
            log_.now);
    }
}

}  // namespace replayout
