// SPDX-License-Identifier: MIT
#include "client_objects.h"

#include "inside.h"

#include <replayout/reflection/diagnostics.h>

#include <utility>

namespace replayout {

NetworkIdentity& NetworkClient::ClientObjects::instantiate(const NetworkPrefab& prefab) {
    auto made = std::make_unique<NetworkIdentity>(prefab, resource_);
    NetworkIdentity& object = *made;
    objects_.emplace(&object, std::move(made));
    detail::Inside::of(object).references = &references_;
    references_.object_made(object);
    return object;
}

void NetworkClient::ClientObjects::destroy(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(
        objects_.contains(&object), void(),
        "destroy: the object is none of this client: use one that it made, and did not "
        "destroy");
    REPLAYOUT_EXPECT(!object.is_spawned(), void(),
                     "destroy: the server shows net id %llu, a \"%s\": only it destroys that",
                     static_cast<unsigned long long>(object.net_id()),
                     object.prefab().name().c_str());
    detail::Inside::of(object).is_gone = true;
    has_gone_ = true;
    references_.object_left(object);
}

bool NetworkClient::ClientObjects::is_leaving(ObjectHandle handle) const noexcept {
    const NetworkIdentity* const named = detail::object_of(handle);
    const auto found = handle.is_null() ? objects_.end() : objects_.find(named);
    return found != objects_.end() && named->is_spawned() &&
           !detail::Inside::of(*named).client.is_kept &&
           driver_.role_of(handle).role == NetRole::None;
}

void NetworkClient::ClientObjects::free_gone() {
    has_gone_ = false;
    references_.forget_gone();
    std::erase_if(objects_,
                  [](const auto& entry) { return detail::Inside::of(*entry.second).is_gone; });
}

void NetworkClient::ClientObjects::detach() {
    for (const auto& [key, object] : objects_) {
        detail::ObjectParts& parts = detail::Inside::of(*object);
        parts.net_id = 0;
        parts.client.end = nullptr;
        parts.references = nullptr;
    }
}

}  // namespace replayout
