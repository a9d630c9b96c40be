// SPDX-License-Identifier: MIT
//
// An object that is networked: its components, who it is to whom, and where it came from (Unity:
// NetworkIdentity). Made by a server or client from a prefab, never by itself.
#pragma once

#include <replayout/behaviours/network_behaviour.h>
#include <replayout/behaviours/network_prefab.h>
#include <replayout/behaviours/object_parts.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/math.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/type_key.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class NetworkIdentity;

namespace detail {
struct Inside;

/// Says that there is no such component, and ends the process, in a release build too.
[[noreturn, gnu::cold, gnu::noinline]] void stop_without_component(const NetworkIdentity& object,
                                                                   std::size_t index) noexcept;
}  // namespace detail

/// Who sees an object, beside its owner (Mirror: Visibility).
enum class Visibility : std::uint8_t {
    Default,      ///< as the server's InterestManagement says
    ForceHidden,  ///< nobody else
    ForceShown,   ///< all who are ready
};

/// Where an object is spawned, in local values, as Mirror's spawn message has them.
struct NetworkTransform {
    Vector3 position{};
    Quat rotation{0, 0, 0, 1};
    Vector3 scale{1, 1, 1};
};

class NetworkIdentity {
  public:
    /// Of a prefab whose NetworkTypes are frozen. Its behaviours are made in order.
    NetworkIdentity(const NetworkPrefab& prefab, MemoryResource* resource);
    ~NetworkIdentity();
    NetworkIdentity(const NetworkIdentity&) = delete;
    NetworkIdentity& operator=(const NetworkIdentity&) = delete;

    [[nodiscard]] const NetworkPrefab& prefab() const noexcept {
        return parts_.components.prefab();
    }
    [[nodiscard]] std::uint32_t asset_id() const noexcept { return prefab().asset_id(); }
    /// 0: made from a prefab, no object of the scene.
    [[nodiscard]] std::uint64_t scene_id() const noexcept { return parts_.scene_id; }
    /// 0 while it is not spawned.
    [[nodiscard]] std::uint64_t net_id() const noexcept { return parts_.net_id; }
    [[nodiscard]] bool is_spawned() const noexcept { return parts_.net_id != 0; }
    /// Of the scene: it is shown while it is spawned alone. Else always.
    [[nodiscard]] bool is_active() const noexcept { return scene_id() == 0 || is_spawned(); }

    [[nodiscard]] std::span<NetworkBehaviour* const> components() const noexcept {
        return parts_.components.all();
    }
    /// The first component of that class, or of one built with it as a base; null: there is none.
    template <typename T>
    [[nodiscard]] T* get_component() const noexcept {
        return static_cast<T*>(parts_.components.find(type_key_of<T>()));
    }
    /// The component `index`. Null: there is none, or it is not of class T.
    template <typename T>
    [[nodiscard]] T* find_component(std::size_t index) const noexcept {
        return static_cast<T*>(parts_.components.find_at(index, type_key_of<T>()));
    }
    /// The component `index`. The process ends if there is none, or it is not of class T.
    template <typename T>
    [[nodiscard]] T& component(std::size_t index) const noexcept {
        void* found = parts_.components.find_at(index, type_key_of<T>());
        if (found == nullptr) [[unlikely]] {
            detail::stop_without_component(*this, index);
        }
        return *static_cast<T*>(found);
    }

    NetworkTransform transform;  ///< what it is spawned with; later changes are the game's to sync

    /// This end is its server, or shows it as a client; on a host both.
    [[nodiscard]] bool is_server() const noexcept { return parts_.server.end != nullptr; }
    [[nodiscard]] bool is_client() const noexcept { return parts_.local.is_client(); }
    /// This client owns it (Mirror: isOwned, before that hasAuthority).
    [[nodiscard]] bool is_owned() const noexcept { return parts_.local.role().is_owned; }
    [[nodiscard]] bool is_local_player() const noexcept { return parts_.local.role().is_player; }
    /// Server: who owns it; 0: nobody.
    [[nodiscard]] PeerId connection_to_client() const noexcept { return parts_.server.owner.peer; }
    /// Host: its player sees the object.
    [[nodiscard]] bool is_visible_to_host() const noexcept { return parts_.host.is_visible; }

    // Server: what decides who sees it, before it is spawned or while it is. O(connections), but
    // for the position: O(1).

    [[nodiscard]] Visibility visibility() const noexcept {
        return parts_.server.interest.visibility;
    }
    void set_visibility(Visibility visibility);
    /// Its own range, with InterestKind::Distance and SceneDistance; 0: that of all.
    void set_interest_range(float range);
    /// Its team, match or scene. 0 is none, but of scenes the first. Below 2^32 - 3.
    [[nodiscard]] std::uint32_t interest_group() const noexcept {
        return parts_.server.interest.game_group;
    }
    void set_interest_group(std::uint32_t group);
    /// Where it is, also in `transform`. Of a player: from where its connection looks, too. Clients
    /// are told with what it was spawned, whenever they are shown it; what is to follow is a
    /// SyncVar.
    void set_position(const Vector3& position);

  private:
    friend struct detail::Inside;

    /// False, and a warning in the log: the object is a client's copy.
    [[nodiscard]] bool is_servers_to_set(const char* function) const;

    detail::ObjectParts parts_;
};

}  // namespace replayout
