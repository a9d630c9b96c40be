// SPDX-License-Identifier: MIT
#include "object_starts.h"

#include "client_parts.h"
#include "inside.h"

#include <algorithm>

namespace replayout {

void NetworkClient::ObjectStarts::start_all(bool is_spawn_finished) {
    for (NetworkIdentity* object : spawned_now_) {
        detail::Inside::of(*object).client.is_initial = false;
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
    parts_.waiting.run_all();
    parts_.driver.run_kept_calls();
}

bool NetworkClient::ObjectStarts::start_early(NetworkIdentity& object) {
    const std::uint64_t net_id = object.net_id();
    forget(object);
    detail::Inside::of(object).client.is_initial = false;
    start(object);
    return parts_.spawned.find(net_id) == &object;
}

void NetworkClient::ObjectStarts::start(NetworkIdentity& object) {
    // Each of these may end the object.
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts.client.is_refreshed = false;
    parts_.waiting.run(object.net_id());
    if (object.is_spawned()) {
        parts.local.start(parts.components);
    }
    if (object.is_spawned()) {
        parts_.roles.tell(object, parts.local.role());
    }
    if (object.is_spawned()) {
        parts_.driver.run_kept_calls(detail::handle_of(object));
    }
}

}  // namespace replayout
