// SPDX-License-Identifier: MIT
#include "initial_batches.h"

#include <algorithm>

namespace replayout {

namespace {

// Looking at an object costs a sixty-fourth of opening it, or less.
constexpr std::uint64_t looks_per_open = 64;

[[nodiscard]] bool is_sending(const ReplicationSender& sender) noexcept {
    return sender.initial_batch().state() == InitialBatch::State::Sending;
}

}  // namespace

void InitialBatches::begin() {
    std::uint64_t looks_left = std::uint64_t{config_.initial_opens_per_flush_max} * looks_per_open;
    for (ServerClient* client : clients_) {
        NetConnection& connection = client->connection;
        if (!client->is_joined() ||
            client->sender.initial_batch().state() != InitialBatch::State::Before) {
            continue;
        }
        client->awaits_layouts =
            client->awaits_layouts && !connection.packets().reliable().is_idle();
        if (client->awaits_layouts) {
            continue;
        }
        begin_for(*client);
        const std::uint64_t looks = objects_.object_count();
        if (looks > looks_left) {
            return;  // who comes behind begins with the next flush
        }
        looks_left -= looks;
    }
}

void InitialBatches::begin_for(ServerClient& client) {
    InitialBatch& batch = client.sender.edit_initial_batch();
    std::uint32_t count = 0;
    all_.live.for_each([&](ObjectIndex index) {
        const ServerObject& info = *objects_.at(index);
        if (info.is_torn_off() || client.sender.dormancy().is_resting(index)) {
            return;
        }
        if (info.is_subobject()) {
            // With its outer; where that does not come, as any other object.
            if (!client.sender.dormancy().is_resting(objects_.root_of(index))) {
                batch.add_part(index);
            }
            return;
        }
        const std::optional<float> squared =
            info.location().has_value()
                ? interest_.distance_squared_to(client.interest, *info.location())
                : std::nullopt;
        batch.add(index, squared.value_or(-1.0f));
        ++count;
    });
    batch.begin();
    client.connection.send_control(InitialBatchStartedMessage(count).bytes());
}

void InitialBatches::finish_for(ServerClient& client) {
    if (!is_sending(client.sender) || !client.sender.is_initial_batch_over()) {
        return;
    }
    PacketStream& packets = client.connection.packets();
    const std::span<const std::byte> message = initial_batch_finished_message();
    if (packets.reliable().has_room_for(PacketUse::Messages, message.size())) {
        client.sender.finish_initial_batch();
        client.connection.send_control(message);
        (void)packets.write_unsent_bunches();
    }
}

std::uint32_t InitialBatches::opens_per_client() const noexcept {
    std::uint32_t count = 0;
    clients_.for_each_joined(
        [&](ServerClient& client) { count += is_sending(client.sender) ? 1u : 0u; });
    return std::max(1u, config_.initial_opens_per_flush_max / std::max(1u, count));
}

}  // namespace replayout
