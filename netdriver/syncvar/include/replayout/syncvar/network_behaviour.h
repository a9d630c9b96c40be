// SPDX-License-Identifier: MIT
//
// A component of a networked object, which the game derives from (Unity: NetworkBehaviour).
//
//     class Player : public NetworkBehaviour {
//       public:
//         SyncVar<std::int32_t> health = 100;
//         void on_start_local_player() override { follow_with_camera(); }
//     };
//
// It is made with its NetworkIdentity and dies with it. Its SyncVars are described by a
// BehaviourBuilder.
#pragma once

#include <replayout/netdriver/remote_function.h>
#include <replayout/syncvar/sync_settings.h>
#include <replayout/syncvar/sync_var.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replayout::syncvar {

class NetworkClient;
class NetworkIdentity;
class NetworkPrefab;
class NetworkServer;
struct BehaviourType;

/// Callbacks come on the thread of the server or client; they may assign SyncVars, spawn and
/// destroy, but not destroy their own object.
class NetworkBehaviour {
  public:
    NetworkBehaviour() = default;
    virtual ~NetworkBehaviour();
    NetworkBehaviour(const NetworkBehaviour&) = delete;
    NetworkBehaviour& operator=(const NetworkBehaviour&) = delete;

    /// Of a behaviour that an identity was made with; asserted.
    [[nodiscard]] NetworkIdentity& identity() const noexcept;
    [[nodiscard]] std::uint8_t component_index() const noexcept { return component_index_; }
    [[nodiscard]] const SyncSettings& sync_settings() const noexcept { return settings_; }

    // What this end is to the object, see NetworkIdentity.
    [[nodiscard]] bool is_server() const noexcept;
    [[nodiscard]] bool is_client() const noexcept;
    [[nodiscard]] bool is_owned() const noexcept;
    [[nodiscard]] bool is_local_player() const noexcept;

    /// SyncVars that changed and were not handed to the layout below: bit i is the variable i of
    /// the class, in order of declaration, those of bases first. Only of a spawned object.
    [[nodiscard]] std::uint64_t sync_var_dirty_bits() const noexcept { return dirty_bits_; }
    /// A mask, not an index: 0x4 is the third variable. A variable that did not change is compared
    /// and not sent; bits without a variable do nothing. Nothing of an object that is not spawned.
    void set_dirty_bit(std::uint64_t mask);
    /// What was changed is not sent before it changes again.
    void clear_all_dirty_bits() noexcept { dirty_bits_ = 0; }
    /// Something changed, and the sync interval is over.
    [[nodiscard]] bool is_dirty() const noexcept;

    /// Runs `function` of this behaviour (BehaviourBuilder::command, client_rpc, target_rpc) where
    /// it belongs; see NetDriver::call_function() for the answer. `params` is of its parameters'
    /// type, null where it has none.
    CallResult call(std::string_view function, const void* params = nullptr);

    // Called in this order, each once for each start and stop. On a host both kinds.

    virtual void on_start_server() {}
    virtual void on_start_client() {}
    virtual void on_start_authority() {}
    virtual void on_start_local_player() {}
    virtual void on_stop_local_player() {}
    virtual void on_stop_authority() {}
    virtual void on_stop_client() {}
    virtual void on_stop_server() {}

  protected:
    // Of a behaviour that is spawned at that end (asserted).
    [[nodiscard]] NetworkServer& server() const noexcept;
    [[nodiscard]] NetworkClient& client() const noexcept;

  private:
    friend class NetworkIdentity;
    friend class NetworkClient;
    friend class NetworkPrefab;
    friend class NetworkServer;
    friend void detail::before_sync_var_changes(void* variable, const detail::SyncVarLink& link,
                                                const void* next);
    friend void detail::after_sync_var_changed(void* variable, const detail::SyncVarLink& link,
                                               const void* previous);

    void bind(NetworkIdentity& identity, const BehaviourType& type, const SyncSettings& settings,
              std::uint8_t component_index);
    [[nodiscard]] static NetworkBehaviour& behaviour_of(void* variable,
                                                        const detail::SyncVarLink& link) noexcept;
    /// The object of the class that BehaviourType is of.
    [[nodiscard]] std::byte* object() noexcept;
    /// Of a host, which assigns what its client shows.
    [[nodiscard]] bool runs_hooks_on_assignment(std::uint32_t variable) const noexcept;
    /// With the guard set: what the hook assigns runs no hook of the same variable.
    void run_hook(std::uint32_t variable, const void* previous, const void* current);
    /// A client was sent another value of the variable, which is stored.
    void sync_var_received(std::uint32_t variable, const void* previous);

    NetworkIdentity* identity_ = nullptr;
    const BehaviourType* type_ = nullptr;
    SyncSettings settings_;
    std::uint64_t dirty_bits_ = 0;
    std::uint64_t running_hooks_ = 0;  // guards, a bit for each variable
    std::int64_t last_sync_us_ = 0;
    std::uint8_t component_index_ = 0;
};

}  // namespace replayout::syncvar
