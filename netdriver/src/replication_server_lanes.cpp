// SPDX-License-Identifier: MIT
//
// A flush by lanes (executor.h): what each does, and what is left to the driver's thread because it
// gives ids, moves objects in the calendar, or calls what is not for several threads.
#include "replication_server.h"

#include <algorithm>

namespace replayout {

// A lane's marks of its objects are bits of rows that all lanes write, so words are its own.
std::size_t ReplicationServer::share_begin(std::uint32_t lane) const noexcept {
    const std::size_t count = due_objects_.size();
    std::size_t place = LaneShare::of(count, lane, lanes_.count()).begin;
    while (place > 0 && place < count &&
           due_objects_[place].index / 64 == due_objects_[place - 1].index / 64) {
        ++place;
    }
    return place;
}

void ReplicationServer::compare_in_lanes() {
    lanes_.run([this](std::uint32_t i) {
        ServerLane& lane = lanes_[i];
        lane.places.clear();
        for_each_due({share_begin(i), share_begin(i + 1)}, [&](const DueObject& due) {
            compare_in_lane(lane, static_cast<std::uint32_t>(&due - due_objects_.data()));
        });
    });
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        for (const std::uint32_t place : lanes_[i].places) {
            compare_left_over(place);
        }
    }
}

void ReplicationServer::compare_in_lane(ServerLane& lane, std::uint32_t place) {
    DueObject& due = due_objects_[place];
    if (compared_alone_.test(due.info->layout_number())) {
        lane.places.push_back(place);
        return;
    }
    const void* memory = world_.object_memory(due.info->object());
    if (polled_.is_same(due.index, memory)) {
        ++lane.stats.replication.objects_compared;
        return;
    }
    due.has_changed = due.info->changelist_state().update(memory, lane.ids, lane.stats.replication);
    if (lane.ids.take_missed() || calendar_.is_paced(due.index)) {
        due.is_compared = true;
        lane.places.push_back(place);
    } else {
        note_compared(due, due.has_changed);
    }
}

void ReplicationServer::compare_left_over(std::uint32_t place) {
    const DueObject& due = due_objects_[place];
    if (due.is_compared) {
        due.info->changelist_state().name_references(LaneIds::unnamed, shadow_ids_);
        note_compared(due, due.has_changed);
    } else {
        compare(due);
    }
}

bool ReplicationServer::is_compared_alone(const RepLayout& layout) noexcept {
    const std::span<const RepLayoutCmd> cmds = layout.cmds();
    return layout.has_keyed_arrays() &&
           std::any_of(cmds.begin(), cmds.end(), [](const RepLayoutCmd& cmd) {
               return cmd.type == RepLayoutCmdType::Object;
           });
}

std::uint64_t ReplicationServer::sending_work(std::uint32_t initial_opens) const noexcept {
    if (!type_counters_.empty()) {
        return 0;  // which all connections have in common
    }
    // Blocks that are copied in bundles cost a few nanoseconds each, so few that to keep their
    // packets for the driver's thread would cost more than is gained.
    constexpr std::uint64_t copies_per_object = 16;
    const bool is_transport_concurrent = transport_.is_concurrent();
    const std::uint64_t changed = changes_.has_any() ? changes_.objects.count() : 0;
    const std::uint64_t copied = is_transport_concurrent ? changed / copies_per_object : 0;
    std::uint64_t work = 0;
    std::uint32_t count = 0;
    for_each_joined([&](const Client& client) {
        const bool is_joining =
            client.sender.initial_batch().state() == InitialBatch::State::Sending;
        work += client.sender.takes_bundles() ? copied : changed;
        work += is_joining ? initial_opens : 0;
        ++count;
    });
    return count > 1 ? work + 1 : 0;  // so that what is little may be split, too
}

void ReplicationServer::replicate_in_lanes(std::uint32_t initial_opens) {
    const bool is_any_written_alone = !written_alone_.is_empty();
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].places.clear();
        lanes_[i].transport.begin_keeping();
    }
    for (std::uint32_t place = 0; place < clients_.size(); ++place) {
        Client& client = *clients_[place];
        client.is_alone = is_joined(client) && is_any_written_alone &&
                          client.sender.may_send_any(written_alone_, changes_.objects);
        if (is_joined(client) && !client.is_alone) {
            client.lane.places.push_back(place);
        }
    }
    objects_.set_shared(true);
    lanes_.run([&](std::uint32_t i) {
        for (const std::uint32_t place : lanes_[i].places) {
            Client& client = *clients_[place];
            const std::uint32_t kept = lanes_[i].transport.kept_count();
            replicate_to(client, initial_opens);
            client.kept_count = lanes_[i].transport.kept_count() - kept;
        }
    });
    objects_.set_shared(false);
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].transport.end_keeping();
    }
    for (Client* client : clients_) {
        if (client->is_alone) {
            replicate_to(*client, initial_opens);
        } else {
            client->lane.transport.send_kept(client->kept_count);
        }
        client->is_alone = false;
        client->kept_count = 0;
    }
}

}  // namespace replayout
