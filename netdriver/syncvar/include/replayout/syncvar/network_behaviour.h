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

#include <replayout/handle.h>
#include <replayout/netdriver/call_params.h>
#include <replayout/netdriver/remote_function.h>
#include <replayout/reflection/call_function.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/syncvar/behaviour_type.h>
#include <replayout/syncvar/sync_settings.h>
#include <replayout/syncvar/sync_var.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace replayout::syncvar {

class NetworkClient;
class NetworkConnection;
class NetworkIdentity;
class NetworkPrefab;
class NetworkReader;
class NetworkServer;
class NetworkWriter;
class SyncCollection;
class SectionSender;
class StoredReferences;

namespace detail {

struct BehaviourSection;
struct ClientParts;
class ConnectionChannel;
struct SectionParameters;
struct SectionState;

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
    [[nodiscard]] std::uint8_t component_index() const noexcept { return component_index_; }
    [[nodiscard]] const SyncSettings& sync_settings() const noexcept { return settings_; }

    // What this end is to the object, see NetworkIdentity.
    [[nodiscard]] bool is_server() const noexcept;
    [[nodiscard]] bool is_client() const noexcept;
    [[nodiscard]] bool is_owned() const noexcept;
    [[nodiscard]] bool is_local_player() const noexcept;

    /// SyncVars that changed and were not handed to the layout below: bit i is the variable i of
    /// the class, in order of declaration, those of bases first. Only of a spawned object, of the
    /// server; and of a client that owns it, if the component is SyncDirection::ClientToServer.
    [[nodiscard]] std::uint64_t sync_var_dirty_bits() const noexcept { return dirty_bits_; }
    /// A mask, not an index: 0x4 is the third variable. A variable that did not change is compared
    /// and not sent; bits without a variable do nothing. Nothing of an object that is not spawned.
    void set_dirty_bit(std::uint64_t mask);
    /// What was changed is not sent before it changes again. Of SyncVars, and the bits of who
    /// serializes himself; operations of collections are sent.
    void clear_all_dirty_bits() noexcept { dirty_bits_ = 0; }
    /// Collections that changed and were not sent yet: bit i is the collection i of the class.
    [[nodiscard]] std::uint64_t sync_collection_dirty_bits() const noexcept {
        return collection_dirty_bits_;
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
    CallResult call(std::string_view function, CallParams params = {});

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
    friend class NetworkIdentity;
    friend class NetworkClient;
    friend class NetworkPrefab;
    friend class NetworkServer;
    friend class SyncCollection;
    friend class detail::ConnectionChannel;
    friend struct detail::SectionState;
    friend class SectionSender;
    friend class StoredReferences;
    friend bool detail::before_sync_var_changes(void* variable, const detail::SyncVarLink& link,
                                                const void* next);
    friend void detail::before_sync_var_is_modified(void* variable,
                                                    const detail::SyncVarLink& link);
    friend void detail::after_sync_var_changed(void* variable, const detail::SyncVarLink& link,
                                               const void* previous);

    /// A time at which nothing was ever sent. The game's clock has no such time.
    static constexpr std::int64_t never_us = std::numeric_limits<std::int64_t>::min();

    /// As client().
    [[nodiscard]] detail::ClientParts& client_parts() const noexcept;
    CallResult call_function(TypeKey function, CallParams params);
    /// Sends what the object holds back, so that the call made next finds it. False: a part of it
    /// found no room.
    [[nodiscard]] bool send_state_ahead();
    /// The same answer, of a call of `function`, which is in the log if it can never be.
    CallResult logged(CallResult result, std::string_view function) const;
    /// Logs a call that does not do here what its name promises.
    void log_out_of_place(FunctionFlags flags, std::string_view function) const;
    void bind(NetworkIdentity& identity, const BehaviourType& type, const SyncSettings& settings,
              std::uint8_t component_index);
    [[nodiscard]] static NetworkBehaviour& behaviour_of(void* variable,
                                                        const detail::SyncVarLink& link) noexcept;
    /// The object of the class that BehaviourType is of.
    [[nodiscard]] std::byte* object() noexcept;
    /// Its owner tells the server what it is, and this end is that client.
    [[nodiscard]] bool is_told_to_server() const noexcept;
    /// Of a host, which assigns what its client shows.
    [[nodiscard]] bool runs_hooks_on_assignment(std::uint32_t variable) const noexcept;
    /// With the guard set: what the hook assigns runs no hook of the same variable.
    void run_hook(std::uint32_t variable, const void* previous, const void* current);
    /// A client was sent another value of the variable, which is stored.
    void sync_var_received(std::uint32_t variable, const void* previous);
    /// The variable is null by now, because the object that it named went. `previous` is its value
    /// before, for its hook; null: no hook runs.
    void references_lost(std::uint32_t variable, const void* previous);
    [[nodiscard]] bool may_hold_references(std::uint32_t variable) const noexcept {
        return (type_->reference_variables >> variable & 1) != 0;
    }
    /// The variable may become `*next`. False, and an error in the log: a limit refuses that.
    [[nodiscard]] bool may_become(std::uint32_t variable, const void* next) const;
    void before_reference_changes(std::uint32_t variable, const void* next);
    /// Those of the end that made the object; null if the behaviour is a prefab's.
    [[nodiscard]] StoredReferences* stored_references() const noexcept;
    /// This end wrote the variable, not its driver.
    void note_references(std::uint32_t variable);
    /// Runs a hook of UNet's style. It finds `previous`, with null for objects that are just
    /// leaving.
    void run_unet_hook(std::uint32_t variable, const void* previous);
    /// `section` is of the same class, and its dirty bits say which of its variables were sent.
    /// Those of `except` stay as they are. Returns which of them changed. Hooks run. Not more bits
    /// than there are variables.
    std::uint64_t apply_section(const NetworkBehaviour& section, std::uint64_t except);
    /// A host begins to show the object: hooks of what is not as in the prefab.
    void run_initial_hooks();

    // For collections, which lie in this behaviour.

    [[nodiscard]] SyncCollection& collection(std::size_t index) const noexcept;
    /// Of a collection, for the log: "Bag.items".
    [[nodiscard]] std::string name_of(const SyncCollection& collection) const;
    /// Of a server: somebody has the items, and needs the operations.
    [[nodiscard]] bool is_sent_operations() const noexcept;
    /// A line that a peer may have caused.
    void log_line(LogLevel level, std::string_view text) const;
    /// False, and refused: the value names an object that this end does not have.
    [[nodiscard]] bool may_name(std::uint32_t variable, const void* next) const;
    /// False, and refused in the name of `function`: it was not made with an identity.
    [[nodiscard]] bool belongs_to_object(const char* function) const noexcept;
    void collection_changed(std::uint32_t index);
    /// Of a client: what arrives is told when the object is started.
    [[nodiscard]] bool must_wait() const noexcept;

    // Custom serialization.

    [[nodiscard]] detail::BehaviourSection& section() const noexcept;
    /// Written once in each flush. Its number is to be set.
    [[nodiscard]] detail::SectionParameters& initial_section();
    /// The object is about to be unspawned: its calls that are on their way mean it as it is now.
    void keep_last_section();
    void section_received(const detail::SectionParameters& section, bool initial_state);
    /// A client counts a section that it could not read, and logs the error.
    void section_misread(const std::string& text) const;

    /// Something waits to be sent.
    [[nodiscard]] bool has_changes() const noexcept {
        return dirty_bits_ != 0 || collection_dirty_bits_ != 0 || has_waiting_section_;
    }
    /// That property of the layout changed, and waits to be sent.
    [[nodiscard]] bool holds_back(ParentIndex property) const noexcept;
    /// As of an object that is spawned anew.
    void forget_changes();

    NetworkIdentity* identity_ = nullptr;
    const BehaviourType* type_ = nullptr;
    SyncSettings settings_;
    std::uint64_t dirty_bits_ = 0;
    std::uint64_t collection_dirty_bits_ = 0;
    std::uint64_t running_hooks_ = 0;  // guards, a bit for each variable
    std::uint64_t waiting_hooks_ = 0;  // likewise: the client keeps what it was
    std::int64_t last_sync_us_ = never_us;
    std::uint64_t received_bits_ = 0;    // client: as to all but the owner, since it became that
    std::uint32_t authority_epoch_ = 0;  // client: of the ownership of which it was; 0: of none
    std::uint8_t component_index_ = 0;
    bool has_waiting_section_ = false;
    bool is_state_missed_ = false;  // client: it was told all as the owner before it was that
};

}  // namespace replayout::syncvar
