// SPDX-License-Identifier: MIT
#include "server_parts.h"

#include <replayout/behaviours/network_identity.h>
#include <replayout/reflection/diagnostics.h>

#include <string>
#include <utility>

namespace replayout {

NetworkIdentity::NetworkIdentity(const NetworkPrefab& prefab, MemoryResource* resource)
    : parts_(prefab, resource) {
    parts_.components.make(*this);
    if (prefab.configure()) {
        prefab.configure()(*this);
    }
}

NetworkIdentity::~NetworkIdentity() = default;

void detail::stop_without_component(const NetworkIdentity& object, std::size_t index) noexcept {
    const std::string text = "component: a \"" + object.prefab().name() + "\" has no component " +
                             std::to_string(index) +
                             " of this class: find_component() answers null where there is none";
    replayout::detail::fail_assertion(text.c_str(), __FILE__, __LINE__);
}

// Who sees it.

bool NetworkIdentity::is_servers_to_set(const char* function) const {
    if (parts_.client.end == nullptr) {
        return true;
    }
    replayout::log(LogLevel::Warning, std::string(function) + ": net id " +
                                          std::to_string(net_id()) + ", an object of prefab \"" +
                                          prefab().name() +
                                          "\", is a client's copy: only the server sets this");
    return false;
}

void NetworkIdentity::set_visibility(Visibility visibility) {
    if (!is_servers_to_set("set_visibility")) {
        return;
    }
    REPLAYOUT_EXPECT(visibility <= Visibility::ForceShown, void(),
                     "set_visibility: %u is no Visibility", static_cast<unsigned>(visibility));
    parts_.server.interest.visibility = visibility;
    if (parts_.server.end != nullptr) {
        parts_.server.end->observers.apply_visibility(*this);
    }
}

void NetworkIdentity::set_interest_range(float range) {
    if (!is_servers_to_set("set_interest_range")) {
        return;
    }
    REPLAYOUT_EXPECT(range >= 0, void(), "set_interest_range: %g is below 0",
                     static_cast<double>(range));
    parts_.server.interest.range = range;
    if (parts_.server.end != nullptr) {
        parts_.server.end->observers.apply_visibility(*this);
    }
}

void NetworkIdentity::set_interest_group(std::uint32_t group) {
    if (!is_servers_to_set("set_interest_group")) {
        return;
    }
    REPLAYOUT_EXPECT(group < 0xFFFF'FFFD, void(),
                     "set_interest_group: %u is one of the library's own groups: use a lower one",
                     group);
    const std::uint32_t previous = std::exchange(parts_.server.interest.game_group, group);
    if (parts_.server.end != nullptr && previous != group) {
        parts_.server.end->observers.interest_group_changed(*this, previous);
    }
}

void NetworkIdentity::set_position(const Vector3& position) {
    if (!is_servers_to_set("set_position")) {
        return;
    }
    transform.position = position;
    if (parts_.server.end != nullptr) {
        parts_.server.end->observers.position_changed(*this);
    }
}

}  // namespace replayout
