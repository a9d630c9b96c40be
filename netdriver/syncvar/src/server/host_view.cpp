// SPDX-License-Identifier: MIT
#include "host_view.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace replayout::syncvar {

NetworkServer::HostView::HostView(const Environment& environment, const Parts& parts)
    : environment_(environment),
      objects_(parts.objects),
      host_(parts.host),
      observers_(parts.observers) {}

void NetworkServer::HostView::begin(NetworkConnection& host) {
    host_.begin(host);
    for (const auto& [net_id, object] : objects_.spawned()) {
        object->is_client_ = true;
    }
}

void NetworkServer::HostView::end() {
    // What they are told may spawn and destroy.
    std::vector<std::uint64_t> net_ids;
    for (const auto& [net_id, object] : objects_.spawned()) {
        net_ids.push_back(net_id);
    }
    for (const std::uint64_t net_id : net_ids) {
        if (NetworkIdentity* object = objects_.find(net_id)) {
            object->stop_client();
            forget(*object);
        }
    }
    for (const auto& [net_id, object] : objects_.spawned()) {
        object->is_client_ = false;
    }
    calls_.clear();
    environment_.driver.clear_host();
    host_.end();
}

void NetworkServer::HostView::update() {
    environment_.driver.interest().look_around();  // What moved in this tick counts at once.
    std::vector<NetworkIdentity*> objects = host_.take(objects_);
    for (NetworkIdentity* object : objects) {
        object->is_host_queued_ = false;
        if (object->is_spawned() && host_.host() != nullptr) {  // a callback may stop the host
            show(*object);
        }
    }
    host_.recycle(std::move(objects));
    run_calls(nullptr);
}

bool NetworkServer::HostView::hears(NetworkIdentity& object, const Function& function,
                                    const void* values, void* place) {
    if (host_.host() == nullptr || !observers_.host_sees(object)) {
        return false;
    }
    if (object.is_started_ && !keeps_calls_of(object)) {
        return true;
    }
    const Type* parameters = function.parameters;
    if (parameters != nullptr && parameters->ops().copy_construct == nullptr) {
        show(object);  // what cannot wait runs now, and the object starts for it
        return object.is_started_;
    }
    calls_.emplace_back(object, object.net_id_, place, parameters, values, environment_.resource);
    return false;
}

void NetworkServer::HostView::object_spawned(NetworkIdentity& object) noexcept {
    object.is_client_ = host_.host() != nullptr;
}

void NetworkServer::HostView::stop(NetworkIdentity& object) {
    if (keeps_calls_of(object)) {
        show(object);  // so that the calls run
        run_calls(&object);
    }
    object.stop_client();
}

void NetworkServer::HostView::forget(NetworkIdentity& object) noexcept {
    object.is_client_ = false;
    object.is_host_visible_ = false;
    object.is_host_told_ = false;
}

bool NetworkServer::HostView::keeps_calls_of(const NetworkIdentity& object) const noexcept {
    return std::any_of(calls_.begin(), calls_.end(),
                       [&](const HostCall& call) { return &call.object() == &object; });
}

void NetworkServer::HostView::show(NetworkIdentity& object) {
    const bool is_seen = observers_.host_sees(object);
    if (!std::exchange(object.is_host_told_, true) || object.is_host_visible_ != is_seen) {
        object.is_host_visible_ = is_seen;
        for (NetworkBehaviour* component : object.components()) {
            component->on_set_host_visibility(is_seen);
        }
        if (is_seen && host_.host() != nullptr) {
            object.for_each_component(&NetworkBehaviour::run_initial_hooks);
            object.start_client();
        }
    }
    if (object.is_started_ && host_.host() != nullptr) {
        object.tell_role(object.role_);
    }
}

void NetworkServer::HostView::run_calls(const NetworkIdentity* object) {
    // Each of them may call, spawn and destroy.
    for (std::size_t i = 0; i < calls_.size();) {
        if (object != nullptr && &calls_[i].object() != object) {
            ++i;
            continue;
        }
        HostCall call = std::move(calls_[i]);
        calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(i));
        if (call.object().net_id_ == call.net_id() && call.object().is_started_) {
            if (call.parameters() != nullptr) {
                objects_.references().clear_unspawned(*call.parameters(),
                                                      static_cast<std::byte*>(call.values()));
            }
            NetworkPrefab::run_function(call.object().block(), call.values(), call.place());
        }
    }
}

}  // namespace replayout::syncvar
