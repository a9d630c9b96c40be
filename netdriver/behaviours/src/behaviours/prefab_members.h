// SPDX-License-Identifier: MIT
//
// What the layout of a prefab calls for a member of a component: notifies of its properties, and
// the functions that bring collections and sections. Each call is given a Place, which names the
// member and stays where it is.
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
    [[nodiscard]] Place& add(const Place& place) { return places_.emplace_back(place); }

    // Notifies of properties. `place` is one of add().

    static void tell_received(void* block, const void* previous, void* place);
    static void tell_items(void* block, const void* previous, void* place);
    static void tell_initial_section(void* block, const void* previous, void* place);

    // Collections, by functions.

    template <void (detail::CollectionEnd::*Receive)(const void* params)>
    static void receive_at_client(void* block, const void* params, void* place) {
        const detail::ObjectComponent& component = component_at(block, place);
        if (!component.identity().is_server()) {
            (collection_at(component, place).*Receive)(params);
        }
    }
    static void receive_from_owner(void* block, const void* params, void* place);

    // Sections of behaviours that serialize themselves.

    template <bool IsInitial>
    static void receive_section(void* block, const void* params, void* place);

    // SyncVars that an owner decides.

    static void take_from_owner(void* block, const void* params, void* place);
    static void take_from_server(void* block, const void* params, void* place);

  private:
    [[nodiscard]] static detail::ObjectComponent& component_at(void* block,
                                                               const void* place) noexcept {
        return detail::Inside::of(Place::behaviour_at(block, place));
    }
    [[nodiscard]] static detail::CollectionEnd& collection_at(
        const detail::ObjectComponent& component, const void* place) noexcept {
        return component.collection(static_cast<const Place*>(place)->index);
    }

    std::deque<Place> places_;
};

}  // namespace replayout
