// SPDX-License-Identifier: MIT
#include "client_objects.h"

#include <replayout/reflection/diagnostics.h>

#include <cstdint>
#include <utility>

namespace replayout::syncvar {

NetworkIdentity& NetworkClient::ClientObjects::instantiate(const NetworkPrefab& prefab) {
    auto made = std::make_unique<NetworkIdentity>(prefab, resource_);
    NetworkIdentity& object = *made;
    objects_.emplace(&object, std::move(made));
    object.references_ = &references_;
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
    object.is_gone_ = true;
    has_gone_ = true;
    references_.object_left(object);
}

bool NetworkClient::ClientObjects::is_leaving(ObjectHandle handle) const noexcept {
    const auto* named =
        reinterpret_cast<const NetworkIdentity*>(static_cast<std::uintptr_t>(handle.value));
    const auto found = handle.is_null() ? objects_.end() : objects_.find(named);
    return found != objects_.end() && named->is_spawned() && !named->is_kept_ &&
           driver_.role_of(handle).role == NetRole::None;
}

void NetworkClient::ClientObjects::free_gone() {
    has_gone_ = false;
    references_.forget_gone();
    std::erase_if(objects_, [](const auto& entry) { return entry.second->is_gone_; });
}

void NetworkClient::ClientObjects::detach() {
    for (const auto& [key, object] : objects_) {
        object->net_id_ = 0;
        object->client_ = nullptr;
        object->references_ = nullptr;
    }
}

}  // namespace replayout::syncvar
