// SPDX-License-Identifier: MIT
//
// Phase B of a flush by lanes (executor.h): each serves its connections. What gives ids, or calls
// what is not for several threads, is left to the driver's thread.
#include "replication_server_client.h"
#include "value_scope.h"

#include <algorithm>

namespace replayout {

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
    const bool sends_packets_of_run =
        std::any_of(clients_.begin(), clients_.end(), [](Client* client) {
            return client->sender.takes_bundles() && !client->sender.is_capped();
        });
    if (bundles_.is_built() && bundles_.has_bytes() && sends_packets_of_run) {
        lanes_.expect_bundles(bundles_);
    }
    objects_.set_shared(true);
    lanes_.run([&](std::uint32_t i) {
        const ValueScope at_rest(lanes_[i].context.may_ask_game, false);
        for (const std::uint32_t place : lanes_[i].places) {
            Client& client = *clients_[place];
            const std::uint32_t kept = lanes_[i].transport.kept_count();
            replicate_to(client, initial_opens);
            client.kept_count = lanes_[i].transport.kept_count() - kept;
        }
        lanes_[i].bundle_bytes.give_back();
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
