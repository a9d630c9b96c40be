// SPDX-License-Identifier: MIT
#include "host_view.h"

#include "inside.h"
#include "server_parts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace replayout {

void NetworkServer::HostView::begin(NetworkConnection& host) {
    parts_.host.begin(host);
    for (const auto& [net_id, object] : parts_.objects.spawned()) {
        detail::Inside::of(*object).local.set_client(true);
    }
}

void NetworkServer::HostView::end() {
    // What they are told may spawn and destroy.
    std::vector<std::uint64_t> net_ids;
    for (const auto& [net_id, object] : parts_.objects.spawned()) {
        net_ids.push_back(net_id);
    }
    for (const std::uint64_t net_id : net_ids) {
        if (NetworkIdentity* object = parts_.objects.find(net_id)) {
            detail::ObjectParts& parts = detail::Inside::of(*object);
            parts.local.stop(parts.components);
            forget(*object);
        }
    }
    for (const auto& [net_id, object] : parts_.objects.spawned()) {
        detail::Inside::of(*object).local.set_client(false);
    }
    calls_.clear();
    parts_.driver.clear_host();
    parts_.host.end();
}

void NetworkServer::HostView::update() {
    parts_.driver.interest().look_around();  // What moved in this tick counts at once.
    std::vector<NetworkIdentity*> objects = parts_.host.take(parts_.objects);
    for (NetworkIdentity* object : objects) {
        detail::Inside::of(*object).host.is_queued = false;
        if (object->is_spawned() &&
            parts_.host.host() != nullptr) {  // a callback may stop the host
            show(*object);
        }
    }
    parts_.host.recycle(std::move(objects));
    run_calls(nullptr);
}

bool NetworkServer::HostView::hears(NetworkIdentity& object, const Function& function,
                                    const void* values, void* place) {
    if (parts_.host.host() == nullptr || !parts_.observers.host_sees(object)) {
        return false;
    }
    const detail::LocalRole& local = detail::Inside::of(object).local;
    if (local.is_started() && !keeps_calls_of(object)) {
        return true;
    }
    const Type* parameters = function.parameters;
    if (parameters != nullptr && parameters->ops().copy_construct == nullptr) {
        show(object);  // what cannot wait runs now, and the object starts for it
        return local.is_started();
    }
    calls_.emplace_back(object, object.net_id(), place, parameters, values, parts_.resource);
    return false;
}

void NetworkServer::HostView::object_spawned(NetworkIdentity& object) noexcept {
    detail::Inside::of(object).local.set_client(parts_.host.host() != nullptr);
}

void NetworkServer::HostView::stop(NetworkIdentity& object) {
    if (keeps_calls_of(object)) {
        show(object);  // so that the calls run
        run_calls(&object);
    }
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts.local.stop(parts.components);
}

void NetworkServer::HostView::forget(NetworkIdentity& object) noexcept {
    detail::ObjectParts& parts = detail::Inside::of(object);
    parts.local.set_client(false);
    parts.host.is_visible = false;
    parts.host.is_told = false;
}

bool NetworkServer::HostView::keeps_calls_of(const NetworkIdentity& object) const noexcept {
    return std::any_of(calls_.begin(), calls_.end(),
                       [&](const HostCall& call) { return &call.object() == &object; });
}

void NetworkServer::HostView::show(NetworkIdentity& object) {
    const bool is_seen = parts_.observers.host_sees(object);
    detail::ObjectParts& parts = detail::Inside::of(object);
    if (!std::exchange(parts.host.is_told, true) || parts.host.is_visible != is_seen) {
        parts.host.is_visible = is_seen;
        for (NetworkBehaviour* component : object.components()) {
            component->on_set_host_visibility(is_seen);
        }
        if (is_seen && parts_.host.host() != nullptr) {
            for (NetworkBehaviour* behaviour : object.components()) {
                detail::ObjectComponent& component = detail::Inside::of(*behaviour);
                component.hooks().run_initial(component);
            }
            parts.local.start(parts.components);
        }
    }
    if (parts.local.is_started() && parts_.host.host() != nullptr) {
        parts.local.tell(parts.components, parts.local.role());
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
        const detail::ObjectParts& called = detail::Inside::of(call.object());
        if (called.net_id == call.net_id() && called.local.is_started()) {
            if (call.parameters() != nullptr) {
                parts_.objects.references().clear_unspawned(*call.parameters(),
                                                            static_cast<std::byte*>(call.values()));
            }
            detail::Inside::run_function(called.components.block(), call.values(), call.place());
        }
    }
}

}  // namespace replayout
