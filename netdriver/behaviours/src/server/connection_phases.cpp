// SPDX-License-Identifier: MIT
#include "connection_phases.h"

#include "inside.h"
#include "server_parts.h"

#include <string>
#include <utility>

namespace replayout {

void NetworkServer::Phases::ready(PeerId peer) {
    NetworkConnection* connection = parts_.connections.find(peer);
    if (connection == nullptr) {
        return;
    }
    if (connection->is_ready()) {
        ++parts_.counters.ready_repeated;
        return;
    }
    parts_.manager.on_server_ready(parts_.server, *connection);
}

void NetworkServer::Phases::add_player(PeerId peer) {
    NetworkConnection* connection = parts_.connections.find(peer);
    if (connection == nullptr) {
        return;
    }
    if (connection->identity() != nullptr) {
        ++parts_.counters.players_refused;
        parts_.log.write(LogLevel::Warning, peer, "a client asks for a player, and has one");
        return;
    }
    parts_.manager.on_server_add_player(parts_.server, *connection);
}

void NetworkServer::Phases::not_ready_heard(PeerId peer) {
    NetworkConnection* connection = parts_.connections.find(peer);
    if (connection == nullptr || connection->answers_owed_ == 0) {
        return;
    }
    --connection->answers_owed_;
    connection->waiting_since_ = parts_.now;
    if (connection->answers_owed_ == 0 && connection->phase_ == Phase::Leaving) {
        end_showing(*connection);
    }
}

// Ready or not.

void NetworkServer::Phases::set_ready(NetworkConnection& connection) {
    connection.is_ready_ = true;
    if (connection.phase_ != Phase::Ready) {
        change_phase(connection);
    }
}

void NetworkServer::Phases::update_all() {
    for (const auto& [peer, connection] : parts_.connections.all()) {
        if (is_answer_missing(*connection)) {
            ++parts_.counters.answers_missing;
            parts_.log.write(LogLevel::Warning, peer,
                             "peer " + std::to_string(peer.value) +
                                 " does not answer that it is not ready: it is disconnected");
            parts_.driver.disconnect(peer);  // The manager hears of it after the flush.
        } else {
            update(*connection);
        }
    }
}

bool NetworkServer::Phases::is_answer_missing(NetworkConnection& connection) {
    if (connection.answers_owed_ == 0) {
        return false;
    }
    // The time to answer begins when the question was sent, which other calls may put off.
    if (parts_.driver.call_progress(connection.peer(),
                                    detail::Inside::of(*connection.channel_).server.id) ==
        CallProgress::Waiting) {
        connection.waiting_since_ = parts_.now;
    }
    return parts_.now >= connection.waiting_since_.plus_milliseconds(answer_wait_ms_);
}

void NetworkServer::Phases::update(NetworkConnection& connection) {
    if (connection.is_ready_ != (connection.phase_ == Phase::Ready)) {
        change_phase(connection);
    }
}

void NetworkServer::Phases::change_phase(NetworkConnection& connection) {
    if (connection.is_ready_) {
        if (connection.is_host_ ||
            Connections::call(connection, "spawn_started") != CallResult::Full) {
            begin_showing(connection);
        }
        return;
    }
    if (connection.phase_ == Phase::Leaving) {
        return;
    }
    if (connection.is_host_) {
        end_showing(connection);
        return;
    }
    // What is hidden at the client may overtake the call, and would be gone there: so nothing is
    // hidden before the client has answered.
    if (Connections::call(connection, "not_ready") != CallResult::Full) {
        connection.phase_ = Phase::Leaving;
        connection.has_batch_ = false;
        if (connection.answers_owed_++ == 0) {
            connection.waiting_since_ = parts_.now;
        }
    }
}

void NetworkServer::Phases::begin_showing(NetworkConnection& connection) {
    connection.phase_ = Phase::Ready;
    connection.has_batch_ = !connection.is_host_;
    connection.is_batch_due_ = false;
    connection.batch_next_ = 0;
    parts_.observers.phase_changed(connection);
    for (NetworkIdentity* object : connection.owned_) {
        parts_.authority.queue_state(*object);
    }
}

void NetworkServer::Phases::end_showing(NetworkConnection& connection) {
    connection.phase_ = Phase::NotReady;
    connection.has_batch_ = false;
    parts_.observers.phase_changed(connection);
}

// The batch.

void NetworkServer::Phases::send_batches() {
    // In the flush after that in which they became ready the driver knows what they are to see.
    for (const auto& [peer, connection] : parts_.connections.all()) {
        if (connection->has_batch_ && std::exchange(connection->is_batch_due_, true)) {
            connection->has_batch_ = !send_batch(*connection);
        }
    }
}

bool NetworkServer::Phases::send_batch(NetworkConnection& connection) {
    const Objects::Spawned& spawned = parts_.objects.spawned();
    auto next = spawned.lower_bound(connection.batch_next_);
    while (next != spawned.end()) {
        detail::SpawnBatch batch;
        while (next != spawned.end() && batch.objects.size() < detail::SpawnBatch::objects_max) {
            if (parts_.driver.is_relevant_for(connection.peer(),
                                              detail::Inside::of(*next->second).server.id)) {
                batch.objects.push_back(next->second);
            }
            ++next;
        }
        if (Connections::call(connection, "spawn_batch", &batch) == CallResult::Full) {
            return false;
        }
        connection.batch_next_ = next == spawned.end() ? ~std::uint64_t{0} : next->first;
    }
    return Connections::call(connection, "spawn_finished") != CallResult::Full;
}

}  // namespace replayout
