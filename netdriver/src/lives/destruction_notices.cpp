// SPDX-License-Identifier: MIT
#include "destruction_notices.h"

#include <array>
#include <span>

namespace replayout {

void DestructionNotices::note(ObjectIndex index) {
    const std::string_view name = stable_name_of(objects_.at(index)->spawn_record());
    if (name.empty()) {
        return;
    }
    if (names_.count() + objects_.destroyed_part_count() >= config_.destroyed_names_max) {
        log(LogLevel::Error,
            "the end of an object is not told to who does not see it: there are "
            "destroyed_names_max of them");
        return;
    }
    if (objects_.at(index)->is_subobject()) {
        note_part(index, name);
        return;
    }
    const std::size_t number = names_.count();
    names_.add(objects_.at(index)->guid(), name);
    for (ServerClient* client : clients_) {
        // A client that has the object learns it by the close of its channel.
        if (client->next_notice == number && client->sender.pairs().has_object(index)) {
            ++client->next_notice;
        }
    }
}

void DestructionNotices::note_part(ObjectIndex index, std::string_view name) {
    const ObjectIndex outer = objects_.at(index)->family().outer;
    objects_.add_destroyed_part(outer, objects_.at(index)->guid(), name);
    const std::size_t number = objects_.destroyed_parts_of(outer)->count() - 1;
    clients_.for_each_joined([&](ServerClient& client) {
        // A client that has the part learns it by the close of its channel, and a client without
        // the outer when that is opened.
        if (client.sender.pairs().has_object(outer) &&
            !client.sender.channels().has_part_for_certain(index)) {
            client.sender.edit_part_notices().add(outer, number);
        }
    });
}

void DestructionNotices::forget(std::string_view stable_name) {
    if (stable_name.empty()) {
        return;
    }
    const std::size_t number = names_.find(stable_name);
    if (number == DestroyedNames::no_number) {
        return;
    }
    names_.erase(number);
    for (ServerClient* client : clients_) {
        client->next_notice -= client->next_notice > number ? 1u : 0u;
    }
}

void DestructionNotices::forget_all() {
    names_.clear();
    for (ServerClient* client : clients_) {
        client->next_notice = 0;
    }
}

void DestructionNotices::send(ServerClient& client) {
    std::array<std::byte, PacketBuilder::packet_bytes_limit> message;
    const std::size_t room_bytes = fragment_bytes(config_.packet_bytes_max);
    PacketStream& packets = client.connection.packets();
    while (client.next_notice < names_.count() && packets.can_write(PacketUse::Messages) &&
           packets.reliable().has_room_for(PacketUse::Messages, room_bytes)) {
        DestructionNoticeWriter writer(std::span<std::byte>(message).first(room_bytes));
        while (client.next_notice < names_.count() &&
               writer.add(names_.at(client.next_notice).guid, names_.at(client.next_notice).name)) {
            ++client.next_notice;
        }
        client.connection.send_control(writer.bytes());
        (void)packets.write_unsent_bunches();
    }
}

void DestructionNotices::forget_part(ObjectIndex outer, std::string_view stable_name) {
    const std::size_t number = objects_.forget_destroyed_part(outer, stable_name);
    for (ServerClient* client : clients_) {
        client->sender.edit_part_notices().forget_name(outer, number);
    }
}

}  // namespace replayout
