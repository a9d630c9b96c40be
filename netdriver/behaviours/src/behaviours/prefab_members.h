// SPDX-License-Identifier: MIT
//
// What the layout of a prefab calls for a member of a component: notifies of its properties, and
// the functions that bring collections and sections. Each call is given a MemberPath, which names
// the member and stays where it is.
#pragma once

#include <replayout/behaviours/collection_end.h>
#include <replayout/behaviours/network_prefab.h>

#include <deque>

#include "inside.h"

namespace replayout {

class NetworkPrefab::Members {
  public:
    Members() = default;
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;

    /// Valid as long as this.
    [[nodiscard]] MemberPath& add(const MemberPath& path) { return paths_.emplace_back(path); }

    // Notifies of properties. `path` is one of add().

    static void tell_received(void* block, const void* previous, void* path);
    static void tell_items(void* block, const void* previous, void* path);
    static void tell_initial_section(void* block, const void* previous, void* path);

    // Collections, by functions.

    template <void (detail::CollectionEnd::*Receive)(const void* params)>
    static void receive_at_client(void* block, const void* params, void* path) {
        const detail::ObjectComponent& component = component_at(block, path);
        if (!component.identity().is_server()) {
            (collection_at(component, path).*Receive)(params);
        }
    }
    static void receive_from_owner(void* block, const void* params, void* path);

    // Sections of behaviours that serialize themselves.

    template <bool IsInitial>
    static void receive_section(void* block, const void* params, void* path);

    // SyncVars that an owner decides.

    static void take_from_owner(void* block, const void* params, void* path);
    static void take_from_server(void* block, const void* params, void* path);

  private:
    [[nodiscard]] static detail::ObjectComponent& component_at(void* block,
                                                               const void* path) noexcept {
        return detail::Inside::of(MemberPath::behaviour_at(block, path));
    }
    [[nodiscard]] static detail::CollectionEnd& collection_at(
        const detail::ObjectComponent& component, const void* path) noexcept {
        return component.collection(static_cast<const MemberPath*>(path)->index);
    }

    std::deque<MemberPath> paths_;
};

}  // namespace replayout
