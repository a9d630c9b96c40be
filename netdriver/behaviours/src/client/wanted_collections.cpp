// SPDX-License-Identifier: MIT
#include "wanted_collections.h"

#include "client_parts.h"
#include "inside.h"

#include <replayout/behaviours/collection_end.h>
#include <replayout/parameter_bytes.h>

#include <algorithm>

namespace replayout {

void NetworkClient::WantedCollections::want(const detail::ObjectComponent& component,
                                            std::uint8_t collection) {
    const Wanted added{component.identity().net_id(), component.index(), collection, {}};
    const auto found = std::find_if(wanted_.begin(), wanted_.end(), [&](const Wanted& wanted) {
        return wanted.net_id == added.net_id && wanted.component == added.component &&
               wanted.collection == added.collection;
    });
    if (found != wanted_.end()) {
        found->heard_at.reset();
    } else {
        wanted_.push_back(added);
    }
}

void NetworkClient::WantedCollections::forget(std::uint64_t net_id) {
    std::erase_if(wanted_, [&](const Wanted& wanted) { return wanted.net_id == net_id; });
}

detail::CollectionEnd* NetworkClient::WantedCollections::find(const NetworkIdentity* object,
                                                              std::size_t component,
                                                              std::uint8_t collection) noexcept {
    if (object == nullptr || component >= object->components().size()) {
        return nullptr;
    }
    const detail::ObjectComponent& found = detail::Inside::of(*object->components()[component]);
    return collection < found.type().collections.size() ? &found.collection(collection) : nullptr;
}

bool NetworkClient::WantedCollections::is_wanted(const Wanted& wanted) const {
    const detail::CollectionEnd* const collection =
        find(parts_.spawned.find(wanted.net_id), wanted.component, wanted.collection);
    return collection != nullptr && collection->is_partial();
}

bool NetworkClient::WantedCollections::is_due(const Wanted& wanted) const noexcept {
    return !wanted.heard_at || parts_.now >= wanted.heard_at->plus_milliseconds(patience_ms);
}

void NetworkClient::WantedCollections::ask() {
    if (wanted_.empty()) {
        return;
    }
    std::erase_if(wanted_, [&](const Wanted& wanted) { return !is_wanted(wanted); });
    detail::CollectionsWanted asked;
    for (const Wanted& wanted : wanted_) {
        if (is_due(wanted) && asked.paths.size() < detail::CollectionsWanted::paths_max) {
            asked.paths.push_back(
                {parts_.spawned.find(wanted.net_id), wanted.component, wanted.collection});
        }
    }
    if (asked.paths.empty() || parts_.readiness.channel() == nullptr ||
        parts_.readiness.channel()->components().front()->call("collections_wanted", &asked) !=
            CallResult::Sent) {
        return;
    }
    std::size_t count = asked.paths.size();
    for (Wanted& wanted : wanted_) {
        if (count > 0 && is_due(wanted)) {
            wanted.heard_at = parts_.now;
            --count;
        }
    }
}

void NetworkClient::WantedCollections::part_received(const detail::CollectionPart& part) {
    const auto& [object, component, index] = part.path;
    detail::CollectionEnd* const collection = find(object, component, index);
    if (collection == nullptr || !object->is_spawned() || object == parts_.readiness.channel()) {
        return;  // It ended meanwhile.
    }
    // The server sends one collection after another, so each part says that it goes on.
    for (Wanted& wanted : wanted_) {
        if (wanted.heard_at) {
            wanted.heard_at = parts_.now;
        }
    }
    const NetworkPrefab& prefab = object->prefab();
    const FunctionIndex function = prefab.components()[component].collections[index].changes;
    const RepLayout& changes = *prefab.layout().functions()[function.value].parameters;
    const auto read = [&](void* params) {
        return read_parameter_bytes(changes, part.operations.bytes, params, parts_.resource);
    };
    const ObjectHandle handle = detail::handle_of(*object);
    collection->take_part(read, part.is_last);
    parts_.driver.values_grew(handle, part.operations.bytes.size());
}

}  // namespace replayout
