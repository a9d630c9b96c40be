// SPDX-License-Identifier: MIT
#include "object_starts.h"

#include "client_roles.h"
#include "spawned_objects.h"
#include "waiting_changes.h"

#include <algorithm>

namespace replayout::syncvar {

void NetworkClient::ObjectStarts::forget(const NetworkIdentity& object) {
    std::erase(spawned_now_, &object);
}

void NetworkClient::ObjectStarts::start_all(bool is_spawn_finished) {
    for (NetworkIdentity* object : spawned_now_) {
        object->is_initial_ = false;
    }
    if (!is_spawn_finished) {
        return;
    }
    std::vector<NetworkIdentity*> objects;
    objects.swap(spawned_now_);
    std::sort(objects.begin(), objects.end(),
              [](const auto* left, const auto* right) { return left->net_id() < right->net_id(); });
    for (NetworkIdentity* object : objects) {
        if (object->is_spawned()) {
            start(*object);
        }
    }
    waiting_.run_all();
    driver_.run_kept_calls();
}

bool NetworkClient::ObjectStarts::start_early(NetworkIdentity& object) {
    const std::uint64_t net_id = object.net_id();
    forget(object);
    object.is_initial_ = false;
    start(object);
    return spawned_.find(net_id) == &object;
}

void NetworkClient::ObjectStarts::start(NetworkIdentity& object) {
    // Each of these may end the object.
    object.is_refreshed_ = false;
    waiting_.run(object.net_id());
    if (object.is_spawned()) {
        object.start_client();
    }
    if (object.is_spawned()) {
        roles_.tell(object, object.role_);
    }
    if (object.is_spawned()) {
        driver_.run_kept_calls(object.handle());
    }
}

}  // namespace replayout::syncvar
