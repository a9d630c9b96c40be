// SPDX-License-Identifier: MIT
#include "host_view.h"

#include "server_parts.h"

#include <algorithm>

namespace replayout {

void NetworkServer::HostView::begin(NetworkConnection& host) {
    host_ = &host;
    host.is_host_ = true;
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
    for (NetworkIdentity* object : queue_) {
        detail::Inside::of(*object).host.is_queued = false;
    }
    queue_.clear();
    are_all_queued_ = false;
    host_ = nullptr;
}

void NetworkServer::HostView::update() {
    parts_.driver.interest().look_around();  // What moved in this tick counts at once.
    if (std::exchange(are_all_queued_, false)) {
        for (const auto& [net_id, object] : parts_.objects.spawned()) {
            add(*object);
        }
    }
    std::vector<NetworkIdentity*> objects;  // Those that are added meanwhile wait.
    objects.swap(queue_);
    std::sort(objects.begin(), objects.end(),
              [](const auto* left, const auto* right) { return left->net_id() < right->net_id(); });
    for (NetworkIdentity* object : objects) {
        detail::Inside::of(*object).host.is_queued = false;
        if (object->is_spawned() && host_ != nullptr) {  // a callback may stop the host
            show(*object);
        }
    }
    if (queue_.empty()) {
        objects.clear();
        queue_.swap(objects);  // keeps its memory
    }
    run_calls(nullptr);
}

bool NetworkServer::HostView::hears(NetworkIdentity& object, const Function& function,
                                    const void* values, void* path) {
    if (host_ == nullptr || !parts_.observers.host_sees(object)) {
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
    KeptCall call{&object, object.net_id(), path, {nullptr, {parameters, parts_.resource}}};
    if (parameters != nullptr) {
        void* copy = parts_.resource->allocate(parameters->size(), parameters->alignment());
        parameters->ops().copy_construct(copy, values);
        call.values.reset(copy);
    }
    calls_.push_back(std::move(call));
    return false;
}

void NetworkServer::HostView::object_spawned(NetworkIdentity& object) noexcept {
    detail::Inside::of(object).local.set_client(host_ != nullptr);
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
                       [&](const KeptCall& call) { return call.object == &object; });
}

void NetworkServer::HostView::show(NetworkIdentity& object) {
    const bool is_seen = parts_.observers.host_sees(object);
    detail::ObjectParts& parts = detail::Inside::of(object);
    if (!std::exchange(parts.host.is_told, true) || parts.host.is_visible != is_seen) {
        parts.host.is_visible = is_seen;
        for (NetworkBehaviour* component : object.components()) {
            component->on_set_host_visibility(is_seen);
        }
        if (is_seen && host_ != nullptr) {
            for (NetworkBehaviour* behaviour : object.components()) {
                detail::ObjectComponent& component = detail::Inside::of(*behaviour);
                component.hooks().run_initial(component);
            }
            parts.local.start(parts.components);
        }
    }
    if (parts.local.is_started() && host_ != nullptr) {
        parts.local.tell(parts.components, parts.local.role());
    }
}

void NetworkServer::HostView::run_calls(const NetworkIdentity* object) {
    // Each of them may call, spawn and destroy.
    for (std::size_t i = 0; i < calls_.size();) {
        if (object != nullptr && calls_[i].object != object) {
            ++i;
            continue;
        }
        KeptCall call = std::move(calls_[i]);
        calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(i));
        const detail::ObjectParts& called = detail::Inside::of(*call.object);
        if (called.net_id == call.net_id && called.local.is_started()) {
            if (void* values = call.values.get()) {
                parts_.objects.made().clear_unspawned(*call.values.get_deleter().type,
                                                      static_cast<std::byte*>(values));
            }
            detail::Inside::run_function(called.components.block(), call.values.get(), call.path);
        }
    }
}

}  // namespace replayout
