// SPDX-License-Identifier: MIT
//
// Of NetworkServer: who joins, who is ready, and the batch of objects that those are named.
#include "connection_channel.h"
#include "host_calls.h"
#include "part_sender.h"
#include "server_groups.h"
#include "stored_references.h"
#include "update_scope.h"

#include <replayout/netdriver/peer_log.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/syncvar/network_server.h>

#include <string>
#include <utility>

namespace replayout::syncvar {

NetworkConnection* NetworkServer::find_connection(PeerId peer) noexcept {
    const auto found = connections_.find(peer);
    return found == connections_.end() ? nullptr : found->second.get();
}

NetworkConnection& NetworkServer::make_connection(PeerId peer) {
    forget_connection(peer);
    auto made = std::make_unique<NetworkConnection>(peer);
    NetworkConnection& connection = *made;
    connections_.emplace(peer, std::move(made));
    owned_connections_.insert(&connection);
    return connection;
}

void NetworkServer::forget_connection(PeerId peer) {
    if (const auto found = connections_.find(peer); found != connections_.end()) {
        owned_connections_.erase(found->second.get());
        ended_connections_.push_back(std::move(found->second));
        connections_.erase(found);
    }
}

void NetworkServer::peer_joined(PeerId peer) {
    if (host_ != nullptr && host_->peer() == peer) {
        return;
    }
    NetworkConnection& connection = make_connection(peer);
    NetworkIdentity& channel = instantiate(types_.connection_prefab());
    channel.server_ = this;
    channel.object_ = driver_.add_object(channel.prefab().layout(), channel.handle());
    if (channel.object_.generation == 0) {
        log_->write(LogLevel::Warning, peer,
                    "there is no room for the object of a connection: it is closed", now_);
        channel.is_gone_ = true;
        has_gone_ = true;
        forget_connection(peer);
        driver_.disconnect(peer);
        return;
    }
    channel.net_id_ = driver_.guid_of(channel.object_).value;
    channel.owner_ = peer;
    driver_.interest().set_relevancy(channel.object_, NetRelevancy::OnlyToOwner);
    driver_.set_owner(channel.object_, peer);
    connection.channel_ = &channel;
    manager_.on_server_connect(*this, connection);
}

void NetworkServer::peer_left(PeerId peer, CloseReason /*reason*/) {
    NetworkConnection* connection = find_connection(peer);
    if (connection == nullptr) {
        return;
    }
    manager_.on_server_disconnect(*this, *connection);
    if (connection->identity_ != nullptr) {
        set_player(*connection, nullptr);
    }
    while (!connection->owned_.empty()) {
        clear_owner(*connection->owned_.back());  // that the game keeps
    }
    driver_.remove_object(connection->channel_->object_);
    references_->object_left(*connection->channel_);  // A client may name it in a call.
    connection->channel_->is_gone_ = true;
    has_gone_ = true;
    forget_connection(peer);
    parts_->client_left(peer);
}

NetworkConnection& NetworkServer::no_connection() {
    if (no_connection_ == nullptr) {
        no_connection_ = std::make_unique<NetworkConnection>(PeerId{});
    }
    return *no_connection_;
}

void NetworkServer::set_answer_wait_ms(std::uint32_t milliseconds) {
    REPLAYOUT_EXPECT(milliseconds >= 1 && milliseconds <= 3'600'000, void(),
                     "set_answer_wait_ms: %u is not between 1 and 3,600,000", milliseconds);
    answer_wait_ms_ = milliseconds;
}

NetworkConnection& NetworkServer::start_host(PeerId host) {
    REPLAYOUT_EXPECT(is_listening_, no_connection(),
                     "start_host: the server does not listen: call listen() before, and look at "
                     "its Status");
    REPLAYOUT_EXPECT(may_change(), no_connection(), "start_host: %s", within_a_question);
    REPLAYOUT_EXPECT(host != PeerId{}, no_connection(),
                     "start_host: peer 0 is nobody: give the host another id");
    REPLAYOUT_EXPECT(host_ == nullptr, *host_,
                     "start_host: this process plays already: call stop_host() before");
    REPLAYOUT_EXPECT(find_connection(host) == nullptr, *find_connection(host),
                     "start_host: peer %llu is a client: give the host an id of its own",
                     static_cast<unsigned long long>(host.value));
    driver_.set_host(host);
    host_ = &make_connection(host);
    host_->is_host_ = true;
    for (const auto& [net_id, object] : spawned_) {
        object->is_client_ = true;
    }
    manager_.on_server_connect(*this, *host_);
    manager_.on_start_host(*this, *host_);
    return *host_;
}

void NetworkServer::stop_host() {
    REPLAYOUT_EXPECT(may_change(), void(), "stop_host: %s", within_a_question);
    REPLAYOUT_EXPECT(!is_stopping_host_, void(),
                     "stop_host: called from within a callback of stop_host(), which goes on when "
                     "that returns");
    if (host_ == nullptr) {
        return;
    }
    const detail::UpdateScope stopping(is_stopping_host_);
    NetworkConnection& host = *host_;
    manager_.on_stop_host(*this, host);
    manager_.on_server_disconnect(*this, host);
    if (host.identity_ != nullptr) {
        set_player(host, nullptr);
    }
    while (!host.owned_.empty()) {
        clear_owner(*host.owned_.back());  // that the game keeps
    }
    // What they are told may spawn and destroy.
    std::vector<std::uint64_t> net_ids;
    for (const auto& [net_id, object] : spawned_) {
        net_ids.push_back(net_id);
    }
    for (const std::uint64_t net_id : net_ids) {
        if (NetworkIdentity* object = find(net_id)) {
            object->stop_client();
            object->is_client_ = false;
            object->is_host_visible_ = false;
            object->is_host_told_ = false;
        }
    }
    for (const auto& [net_id, object] : spawned_) {
        object->is_client_ = false;
    }
    for (NetworkIdentity* object : host_queue_) {
        object->is_host_queued_ = false;
    }
    host_queue_.clear();
    host_calls_->clear();
    is_host_looking_at_all_ = false;
    driver_.clear_host();
    const PeerId peer = host.peer();
    host_ = nullptr;
    forget_connection(peer);
}

// What clients say.

void NetworkServer::ready(PeerId peer) {
    NetworkConnection* connection = find_connection(peer);
    if (connection == nullptr) {
        return;
    }
    if (connection->is_ready()) {
        ++counters_.ready_repeated;
        return;
    }
    manager_.on_server_ready(*this, *connection);
}

void NetworkServer::add_player(PeerId peer) {
    NetworkConnection* connection = find_connection(peer);
    if (connection == nullptr) {
        return;
    }
    if (connection->identity() != nullptr) {
        ++counters_.players_refused;
        log_->write(LogLevel::Warning, peer, "a client asks for a player, and has one", now_);
        return;
    }
    manager_.on_server_add_player(*this, *connection);
}

void NetworkServer::not_ready_heard(PeerId peer) {
    NetworkConnection* connection = find_connection(peer);
    if (connection == nullptr || connection->answers_owed_ == 0) {
        return;
    }
    --connection->answers_owed_;
    connection->waiting_since_ = now_;
    if (connection->answers_owed_ == 0 && connection->phase_ == Phase::Leaving) {
        end_showing(*connection);
    }
}

// Ready or not.

void NetworkServer::set_client_ready(NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), void(), "set_client_ready: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(connection), void(), "set_client_ready: %s", another_connection);
    connection.is_ready_ = true;
    // At once, so that what the server calls next reaches it.
    if (connection.phase_ != Phase::Ready) {
        update_phase(connection);
    }
}

void NetworkServer::set_client_not_ready(NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), void(), "set_client_not_ready: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(connection), void(), "set_client_not_ready: %s", another_connection);
    connection.is_ready_ = false;
}

void NetworkServer::update_phases() {
    for (const auto& [peer, connection] : connections_) {
        // The time to answer begins when the question was sent, which other calls may put off.
        if (connection->answers_owed_ > 0 &&
            driver_.call_progress(peer, connection->channel_->object_) == CallProgress::Waiting) {
            connection->waiting_since_ = now_;
        }
        if (connection->answers_owed_ > 0 &&
            now_ >= connection->waiting_since_.plus_milliseconds(answer_wait_ms_)) {
            ++counters_.answers_missing;
            log_->write(LogLevel::Warning, peer,
                        "peer " + std::to_string(peer.value) +
                            " does not answer that it is not ready: it is disconnected",
                        now_);
            driver_.disconnect(peer);  // it is told of behind the flush
        } else if (connection->is_ready_ != (connection->phase_ == Phase::Ready)) {
            update_phase(*connection);
        }
    }
}

void NetworkServer::update_phase(NetworkConnection& connection) {
    if (connection.is_ready_) {
        if (connection.is_host_ || call(connection, "spawn_started") != CallResult::Full) {
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
    if (call(connection, "not_ready") != CallResult::Full) {
        connection.phase_ = Phase::Leaving;
        connection.has_batch_ = false;
        if (connection.answers_owed_++ == 0) {
            connection.waiting_since_ = now_;
        }
    }
}

void NetworkServer::begin_showing(NetworkConnection& connection) {
    connection.phase_ = Phase::Ready;
    connection.has_batch_ = !connection.is_host_;
    connection.is_batch_due_ = false;
    connection.batch_next_ = 0;
    is_host_looking_at_all_ = is_host_looking_at_all_ || connection.is_host_;
    Interest interest = driver_.interest();
    interest.set_in_group(connection.peer(), ready_group, true);
    for (const auto& [group, count] : connection.groups_) {
        interest.set_in_group(connection.peer(), NetGroup{group}, true);
    }
    apply_all_shown(connection);
    for (NetworkIdentity* object : connection.owned_) {
        queue_owner_state(*object);
    }
}

void NetworkServer::end_showing(NetworkConnection& connection) {
    connection.phase_ = Phase::NotReady;
    connection.has_batch_ = false;
    is_host_looking_at_all_ = is_host_looking_at_all_ || connection.is_host_;
    Interest interest = driver_.interest();
    interest.set_in_group(connection.peer(), ready_group, false);
    for (const auto& [group, count] : connection.groups_) {
        interest.set_in_group(connection.peer(), NetGroup{group}, false);
    }
    apply_all_shown(connection);
}

// The batch.

void NetworkServer::send_batches() {
    // In the flush after that in which they became ready the driver knows what they are to see.
    for (const auto& [peer, connection] : connections_) {
        if (connection->has_batch_ && std::exchange(connection->is_batch_due_, true)) {
            connection->has_batch_ = !send_batch(*connection);
        }
    }
}

bool NetworkServer::send_batch(NetworkConnection& connection) {
    auto next = spawned_.lower_bound(connection.batch_next_);
    while (next != spawned_.end()) {
        detail::SpawnBatch batch;
        while (next != spawned_.end() &&
               batch.objects.size() < detail::ConnectionChannel::batch_objects_max) {
            if (driver_.is_relevant_for(connection.peer(), next->second->object_)) {
                batch.objects.push_back(next->second);
            }
            ++next;
        }
        if (call(connection, "spawn_batch", &batch) == CallResult::Full) {
            return false;
        }
        connection.batch_next_ = next == spawned_.end() ? ~std::uint64_t{0} : next->first;
    }
    return call(connection, "spawn_finished") != CallResult::Full;
}

CallResult NetworkServer::call(NetworkConnection& connection, std::string_view function,
                               CallParams params) {
    return connection.channel_->components().front()->call(function, params);
}

}  // namespace replayout::syncvar
