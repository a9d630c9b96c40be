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

#include <replayout/behaviours/behaviour_type.h>
#include <replayout/behaviours/object_component.h>
#include <replayout/behaviours/sync_settings.h>
#include <replayout/behaviours/sync_var.h>
#include <replayout/netdriver/call_arguments.h>
#include <replayout/netdriver/calls.h>
#include <replayout/reflection/call_function.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace replayout {

class NetworkClient;
class NetworkConnection;
class NetworkIdentity;
class NetworkReader;
class NetworkServer;
class NetworkWriter;

namespace detail {

struct Inside;

/// Of a remote function; void: it has none.
template <auto Member>
using ParametersOf = typename replayout::detail::RemoteParameters<decltype(Member)>::type;

}  // namespace detail

/// Callbacks come on the thread of the server or client; they may assign SyncVars, spawn and
/// destroy. On a server also their own object, but not in on_serialize(): it ends within the call,
/// and is freed behind the update. What a client shows ends when its server says so.
class NetworkBehaviour {
  public:
    NetworkBehaviour() = default;
    virtual ~NetworkBehaviour();
    NetworkBehaviour(const NetworkBehaviour&) = delete;
    NetworkBehaviour& operator=(const NetworkBehaviour&) = delete;

    /// Requires that the behaviour was made with an identity; if not, the process ends.
    [[nodiscard]] NetworkIdentity& identity() const noexcept;
    [[nodiscard]] std::uint8_t component_index() const noexcept { return component_.index(); }
    [[nodiscard]] const SyncSettings& sync_settings() const noexcept {
        return component_.settings();
    }

    // What this end is to the object, see NetworkIdentity.
    [[nodiscard]] bool is_server() const noexcept;
    [[nodiscard]] bool is_client() const noexcept;
    [[nodiscard]] bool is_owned() const noexcept;
    [[nodiscard]] bool is_local_player() const noexcept;

    /// SyncVars that changed and were not handed to the layout below: bit i is the variable i of
    /// the class, in order of declaration, those of bases first. Only of a spawned object, of the
    /// server; and of a client that owns it, if the component is SyncDirection::ClientToServer.
    [[nodiscard]] std::uint64_t sync_var_dirty_bits() const noexcept {
        return component_.changes().sync_vars();
    }
    /// A mask, not an index: 0x4 is the third variable. A variable that did not change is compared
    /// and not sent; bits without a variable do nothing. Nothing of an object that is not spawned.
    void set_dirty_bit(std::uint64_t mask);
    /// What was changed is not sent before it changes again. Of SyncVars, and the bits of who
    /// serializes himself; operations of collections are sent.
    void clear_all_dirty_bits() noexcept { component_.changes().clear_sync_vars(); }
    /// Collections that changed and were not sent yet: bit i is the collection i of the class.
    [[nodiscard]] std::uint64_t sync_collection_dirty_bits() const noexcept {
        return component_.changes().collections();
    }
    /// Something changed, and the sync interval is over.
    [[nodiscard]] bool is_dirty() const noexcept;

    /// Runs a function of this behaviour (BehaviourBuilder::command, client_rpc, target_rpc) where
    /// it belongs; see NetDriver::call_function() for the answer. UnknownFunction: it is none of
    /// those, or of another class. That, and parameters that cannot be sent, is an error in the
    /// log, too. NotOwned: a target RPC of an object without an owner, or a client's command of an
    /// object that it does not own, which is not sent, with a warning in the log.
    ///
    /// Earlier changes of the object are sent first, even those that a sync interval holds back, so
    /// on_serialize() may run in this call. Full: these changes or the call found no room, or this
    /// client calls too often; nothing of the call was sent.
    ///
    ///     call<&Player::cmd_fire>();
    ///     call<&Player::cmd_eat>({basket, 1});  // what its parameters are made of
    template <auto Member>
    requires std::is_void_v<detail::ParametersOf<Member>> CallResult call() {
        return call_function(detail::remote_function_key<Member>(), nullptr);
    }
    template <auto Member>
    requires(!std::is_void_v<detail::ParametersOf<Member>>) CallResult
        call(const detail::ParametersOf<Member>& params) {
        return call_function(detail::remote_function_key<Member>(), &params);
    }
    /// The same by name, for scripts. Parameters of another type than the function's are refused.
    CallResult call(std::string_view function, CallArguments params = {});

    // Custom serialization, of a class that BehaviourBuilder::custom_serialization() says it of.
    // The behaviour has a dirty mask of its own bits (set_dirty_bit), and no SyncVars. What is
    // written travels as it is, reliably and in order, within its length: what is misread is
    // reported with the name of the class, and nothing beside it is touched. Call that of the base
    // first. The library throws nothing, nor may these.

    /// Writes all (`initial_state`), for who is opened the object; or what the dirty mask says has
    /// changed. The latter once for each time that the component is due, however many clients
    /// there are, and only while there are any. True: the mask is cleared, and what was written is
    /// sent. False: nothing is sent, the mask stays, and the next late_update() asks again. The
    /// answer of the former counts for nothing, and it must change nothing; of a driver that
    /// validates and has an executor it comes on the threads of that. What it wrote may be said
    /// again by what has changed since, so write values and not differences. 32,767 bytes at most;
    /// more is an error in the log, and is not sent.
    virtual bool on_serialize(NetworkWriter& writer, bool initial_state);
    /// Reads what on_serialize() wrote, all of it. False: it could not. After that, as after an
    /// error of the reader or with bytes left, the behaviour is what this made of it.
    virtual bool on_deserialize(NetworkReader& reader, bool initial_state);

    // Called in this order, each once for each start and stop; authority and local player also
    // where only these change, in the order: stop local player, authority, start local player. On a
    // host both kinds, those of the client with the late_update() behind what they tell of.

    virtual void on_start_server() {}
    virtual void on_start_client() {}
    virtual void on_start_authority() {}
    virtual void on_start_local_player() {}
    virtual void on_stop_local_player() {}
    virtual void on_stop_client() {}
    virtual void on_stop_authority() {}
    virtual void on_stop_server() {}

    /// Host: the object is to be shown or hidden, beside being there for the server. Before
    /// on_start_client(), and with each change.
    virtual void on_set_host_visibility(bool is_visible) { (void)is_visible; }
    /// Server, with InterestKind::Custom: whether that connection is to see the object; all
    /// components must say so. Asked when one of the two is new, the owner changed, or by
    /// NetworkServer::rebuild_observers(). May call nothing of the server that is not const.
    [[nodiscard]] virtual bool on_check_observer(const NetworkConnection& connection) const {
        (void)connection;
        return true;
    }

  protected:
    // Require that the behaviour is spawned at that end; if not, the process ends.
    [[nodiscard]] NetworkServer& server() const noexcept;
    [[nodiscard]] NetworkClient& client() const noexcept;

  private:
    friend struct detail::Inside;

    CallResult call_function(TypeKey function, CallArguments params);

    [[no_unique_address]] detail::ObjectComponent component_;
};

}  // namespace replayout
