// SPDX-License-Identifier: MIT
#include "client_readiness.h"

#include "client_parts.h"

#include <utility>

namespace replayout {

bool NetworkClient::ClientReadiness::refuse_request(const char* why) {
    parts_.log.write_failure(&NetworkClientCounters::requests_refused, why);
    return false;
}

bool NetworkClient::ClientReadiness::ready() {
    if (channel_ == nullptr) {
        return refuse_request(
            "ready: this client is not connected yet: call it from "
            "on_client_connect(), or later");
    }
    if (is_ready_) {
        return refuse_request("ready: this client is ready already");
    }
    is_ready_ = channel_->components().front()->call("ready") == CallResult::Sent;
    return is_ready_;
}

bool NetworkClient::ClientReadiness::add_player() {
    if (!is_ready_ || channel_ == nullptr) {
        return refuse_request("add_player: this client is not ready: call ready() before");
    }
    if (parts_.spawned.local_player() != nullptr) {
        return refuse_request("add_player: this client has a player already");
    }
    return channel_->components().front()->call("add_player") == CallResult::Sent;
}

void NetworkClient::ClientReadiness::channel_left() noexcept {
    channel_ = nullptr;
    is_ready_ = false;
    answers_due_ = 0;
}

void NetworkClient::ClientReadiness::joined() {
    if (channel_ != nullptr && !std::exchange(is_connected_, true)) {
        parts_.manager.on_client_connect(parts_.client);
    }
}

void NetworkClient::ClientReadiness::connection_ended(CloseReason reason) {
    is_connected_ = false;
    is_ready_ = false;
    is_spawn_finished_ = false;
    // What it kept while it was not ready; all else is despawned by now.
    parts_.spawned.unspawn_all();
    parts_.manager.on_client_disconnect(parts_.client, reason);
}

void NetworkClient::ClientReadiness::spawn_started() {
    is_ready_ = true;
    is_spawn_finished_ = false;
    parts_.manager.on_client_spawn_started(parts_.client);
}

void NetworkClient::ClientReadiness::spawn_finished() {
    parts_.spawned.unspawn_kept();
    is_spawn_finished_ = true;
    parts_.spawned.start_all(is_spawn_finished_);
    parts_.manager.on_client_spawn_finished(parts_.client);
}

void NetworkClient::ClientReadiness::not_ready() {
    is_ready_ = false;
    is_spawn_finished_ = false;
    ++answers_due_;
    send_answers();
    parts_.manager.on_client_not_ready(parts_.client);
}

void NetworkClient::ClientReadiness::send_answers() {
    while (answers_due_ > 0 && channel_ != nullptr &&
           channel_->components().front()->call("not_ready_heard") == CallResult::Sent) {
        --answers_due_;
    }
}

}  // namespace replayout
