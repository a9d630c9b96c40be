// SPDX-License-Identifier: MIT
//
// An object that is networked: its components, who it is to whom, and where it came from (Unity:
// NetworkIdentity). Made by a server or client from a prefab, never by itself.
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_role.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/math.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/value_ops.h>
#include <replayout/syncvar/network_behaviour.h>
#include <replayout/syncvar/network_prefab.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace replayout::syncvar {

class NetworkIdentity;

namespace detail {
struct ClientParts;

/// Says that there is no such component, and ends the process, in a release build too.
[[noreturn, gnu::cold, gnu::noinline]] void stop_without_component(const NetworkIdentity& object,
                                                                   std::size_t index) noexcept;
}  // namespace detail

class NetworkClient;
class NetworkServer;
class StoredReferences;
class SyncCollection;

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

    [[nodiscard]] const NetworkPrefab& prefab() const noexcept { return *prefab_; }
    [[nodiscard]] std::uint32_t asset_id() const noexcept { return prefab_->asset_id(); }
    /// 0: made from a prefab, no object of the scene.
    [[nodiscard]] std::uint64_t scene_id() const noexcept { return scene_id_; }
    /// 0 while it is not spawned.
    [[nodiscard]] std::uint64_t net_id() const noexcept { return net_id_; }
    [[nodiscard]] bool is_spawned() const noexcept { return net_id_ != 0; }
    /// Of the scene: it is shown while it is spawned alone. Else always.
    [[nodiscard]] bool is_active() const noexcept { return scene_id_ == 0 || is_spawned(); }

    [[nodiscard]] std::span<NetworkBehaviour* const> components() const noexcept {
        return components_;
    }
    /// The first component of that class, or of one built with it as a base; null: there is none.
    template <typename T>
    [[nodiscard]] T* get_component() const noexcept {
        return static_cast<T*>(find_component(type_key_of<T>()));
    }
    /// The component `index`. Null: there is none, or it is not of class T.
    template <typename T>
    [[nodiscard]] T* find_component(std::size_t index) const noexcept {
        return static_cast<T*>(component_as(index, type_key_of<T>()));
    }
    /// The component `index`. The process ends if there is none, or it is not of class T.
    template <typename T>
    [[nodiscard]] T& component(std::size_t index) const noexcept {
        void* found = component_as(index, type_key_of<T>());
        if (found == nullptr) [[unlikely]] {
            detail::stop_without_component(*this, index);
        }
        return *static_cast<T*>(found);
    }

    NetworkTransform transform;  ///< what it is spawned with; later changes are the game's to sync

    /// This end is its server, or shows it as a client; on a host both.
    [[nodiscard]] bool is_server() const noexcept { return server_ != nullptr; }
    [[nodiscard]] bool is_client() const noexcept { return is_client_; }
    /// This client owns it (Mirror: isOwned, before that hasAuthority).
    [[nodiscard]] bool is_owned() const noexcept { return role_.is_owned; }
    [[nodiscard]] bool is_local_player() const noexcept { return role_.is_player; }
    /// Server: who owns it; 0: nobody.
    [[nodiscard]] PeerId connection_to_client() const noexcept { return owner_; }
    /// Host: its player sees the object.
    [[nodiscard]] bool is_visible_to_host() const noexcept { return is_host_visible_; }

    // Server: what decides who sees it, before it is spawned or while it is. O(connections), but
    // for the position: O(1).

    [[nodiscard]] Visibility visibility() const noexcept { return visibility_; }
    void set_visibility(Visibility visibility);
    /// Its own range, with InterestKind::Distance and SceneDistance; 0: that of all.
    void set_interest_range(float range);
    /// Its team, match or scene. 0 is none, but of scenes the first. Below 2^32 - 3.
    [[nodiscard]] std::uint32_t interest_group() const noexcept { return interest_group_; }
    void set_interest_group(std::uint32_t group);
    /// Where it is, also in `transform`. Of a player: from where its connection looks, too. Clients
    /// are told with what it was spawned, whenever they are shown it; what is to follow is a
    /// SyncVar.
    void set_position(const Vector3& position);

  private:
    friend class NetworkBehaviour;
    friend class NetworkClient;
    friend class NetworkPrefab;
    friend class NetworkServer;
    friend class StoredReferences;
    friend class SyncCollection;

    [[nodiscard]] void* find_component(TypeKey key) const noexcept;
    [[nodiscard]] void* component_as(std::size_t index, TypeKey key) const noexcept;
    [[nodiscard]] ObjectHandle handle() const noexcept;
    [[nodiscard]] static NetworkIdentity& of(ObjectHandle handle) noexcept;
    /// False, and a warning in the log: the object is a client's copy.
    [[nodiscard]] bool is_servers_to_set(const char* function) const;
    void make_components();
    /// Sets all SyncVars and collections to what they are in `from`, an object of the same prefab.
    /// With `keeps_own`, which is for an owner, SyncVars that the owner decides stay until the
    /// server has said what it has, and so do collections that come in parts.
    void reset_values(const NetworkIdentity& from, bool keeps_own = false);
    /// Keeps the values that an object of the scene has before it is spawned for the first time,
    /// except references.
    void keep_own_values();
    [[nodiscard]] void* block() const noexcept { return block_; }
    /// In order of components, or from the last to the first.
    void for_each_component(void (NetworkBehaviour::*callback)());
    /// A bit of its mask was set.
    void component_changed();

    // What its components are told as a client, or a host: each start has its stop.

    /// Client: hooks and calls wait until the object is started.
    [[nodiscard]] bool must_wait() const noexcept;
    void start_client();
    /// What begins and ends with `role`, which is its role then.
    void tell_role(const ObjectRole& role);
    void stop_client();

    const NetworkPrefab* prefab_;
    MemoryResource* resource_;
    std::byte* block_ = nullptr;
    std::vector<NetworkBehaviour*> components_;
    NetworkServer* server_ = nullptr;
    detail::ClientParts* client_ = nullptr;
    std::unique_ptr<NetworkIdentity> own_values_;  // of the scene, once it was spawned
    StoredReferences* references_ = nullptr;       // of the end that made it; of a prefab null
    NetObjectId object_;                           // server
    std::uint64_t scene_id_ = 0;
    std::uint64_t net_id_ = 0;
    PeerId owner_;
    PeerId served_owner_;                // server: was sent what is for the owner, by calls
    ObjectRole role_;                    // client, host
    std::uint32_t authority_epoch_ = 0;  // server: counts its owners
    std::optional<NetTime> owner_told_;  // server: when it was sent what it decides
    std::uint32_t interest_group_ = 0;
    std::uint32_t next_update_ = 0;  // client: the part with which its next turn begins
    float interest_range_ = 0;
    NetGroup group_;  // server: that it is in below
    Visibility visibility_ = Visibility::Default;
    bool is_client_ = false;
    bool is_initial_ = false;      // client: what arrives is what it is spawned with
    bool is_kept_ = false;         // client: not shown any more, and kept till it is ready again
    bool is_refreshed_ = false;    // client: shown again, and not told of it yet
    bool is_started_ = false;      // client, host: on_start_client() was called
    bool is_told_owned_ = false;   // likewise on_start_authority()
    bool is_told_player_ = false;  // likewise on_start_local_player()
    bool is_queued_ = false;       // in the row of those that changed
    bool is_host_visible_ = false;
    bool is_host_told_ = false;        // of its visibility
    bool is_host_queued_ = false;      // in the row of those to be looked at for the host
    bool was_open_for_owner_ = false;  // server
    bool is_stopping_ = false;         // server: it is told that it ends
    bool is_state_due_ = false;     // server: in the row of those whose owner is to be told of it
    bool is_owner_asking_ = false;  // server: that is due because the owner asked for it
    bool is_named_ = false;         // by a SyncVar of this end, which its driver does not follow
    bool is_gone_ = false;          // destroyed, and freed when nothing of it runs any more
};

}  // namespace replayout::syncvar
