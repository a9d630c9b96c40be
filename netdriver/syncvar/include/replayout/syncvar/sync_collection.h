// SPDX-License-Identifier: MIT
//
// What SyncList, SyncDictionary and SyncSet have in common: members of a NetworkBehaviour that are
// kept the same on all clients, and travel as operations.
//
//     server                    has the items, and a number: how many operations there ever were
//     who is opened the object  is sent both, in its first block (a property of the layout)
//     who has it                is sent the operations since, with the number of the first: one
//                               call of a function of the object, encoded once for all
//
// A client drops the operations that the items it began with contain, by their numbers; the driver
// lets no call overtake the first block. So nothing is applied twice, whoever joins when, and what
// is sent does not depend on who is there. Operations are kept from one late_update() to the next,
// and only while somebody is connected. A client for whose calls there is no room any more
// (NetConfig::calls_waiting_max) holds them up for all, until it takes some or is given up; they
// are never more than the items said anew, or 1,024.
//
// Of a component of SyncMode::Owner there is no property, as nobody else may see it: its owner is
// sent the items by a call, when it becomes the owner or is shown the object, and so may be given
// them behind on_start_client().
//
// Of a component of SyncDirection::ClientToServer the client that owns the object writes, from when
// it was told all: the server sends it the items by a call, with the epoch of its ownership
// (sync_section.h), which is_read_only() tells of. It calls the server with its operations and that
// epoch; the server does them, with callbacks, and they go to all others as its own do. To the
// owner they come back, and are dropped there. While a client owns the object, the server may not
// write. With another epoch, or one operation that cannot be, nothing of a call is done, and it is
// counted (NetworkServerCounters); behind the latter the owner is told all again. Who owns the
// object no more is told all once more, and hears operations as everybody does.
//
// Rules. The server writes, or the owner, and any end what is not spawned there; any other write is
// refused: false, a warning in the log, and nothing changed. What would be as before is no
// operation. There is room for RepLimits::array_count_max items of the prefab; one more is refused
// likewise. All items together must fit into NetConfig::bunch_bytes_max, or who joins later is not
// sent them. An item that no call can carry arrives as a default one, and that is an error in the
// log. Items are whatever a property may be, except references, which would not know when their
// object goes: keep its net_id().
//
// On a client operations are done in the order in which the server did them, over all collections
// of the object, and each callback runs right behind its operation (on_clear before it); on a host
// when it writes. Until the initial batch is there and the object is started, operations wait, and
// come behind the hooks of SyncVars, just before on_start_client(). The items that a client begins
// with run no callback: it finds them in on_start_client(). Of one object no more operations wait
// than a collection may have items: then they are done at once, without callbacks where the object
// was not started, as a part of what it begins with.
//
// A call with an operation that cannot be, or items that cannot be, such as a key twice, no server
// of ours sends: it is counted (NetworkClientCounters::collections_refused) and logged, nothing of
// it is done, and the collection stays as it is, or as in the prefab, until it is cleared or shown
// anew.
#pragma once

#include <replayout/netdriver/remote_function.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type_registry.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace replayout::syncvar {

class NetworkBehaviour;
class NetworkIdentity;
class NetworkPrefab;
class NetworkServer;

namespace detail {

/// A function of an object, to be called of the server.
class CollectionCall {
  public:
    virtual ~CollectionCall() = default;
    [[nodiscard]] virtual CallResult run(const void* params) const = 0;
};

/// The part of a collection that is sent whole, in the first block or by a call.
template <typename Item>
struct CollectionState {
    std::vector<Item> items;
    /// Operations that the items contain; wraps around.
    std::uint32_t changes_count = 0;

    friend bool operator==(const CollectionState&, const CollectionState&) = default;
};

/// Parameters of the call that brings operations.
template <typename Operation>
struct CollectionChanges {
    std::uint32_t first = 0;  ///< number of the first; the others follow
    std::vector<Operation> operations;

    friend bool operator==(const CollectionChanges&, const CollectionChanges&) = default;
};

/// Structs of the registry for one class of collections.
struct CollectionTypes {
    const Type* state = nullptr;
    const Type* changes = nullptr;
};

/// What an operation that comes later does to one that was not sent yet.
enum class OperationMerge : std::uint8_t {
    Done,    ///< it is part of that now
    Passes,  ///< the order of the two does not matter
    Stops,   ///< it does
};

/// Whether there is a reference in values of this property.
[[nodiscard]] bool has_references(const Property& property) noexcept;
/// "int32", "Hit", "array of Hit".
[[nodiscard]] std::string item_name(const Property& item);
/// That name, or with a number behind it where another type has it already.
[[nodiscard]] std::string free_name(const TypeRegistry& registry, std::string name);

}  // namespace detail

/// See the head of this file. Refuses what is wrong about arguments, such as an index.
class SyncCollection {
  public:
    SyncCollection(const SyncCollection&) = delete;
    SyncCollection& operator=(const SyncCollection&) = delete;

    /// This end may not write: the object is spawned, and another end decides what this is.
    [[nodiscard]] bool is_read_only() const noexcept;
    /// Of a client: calls of the server that could not be, and items.
    [[nodiscard]] std::uint32_t refused_count() const noexcept { return refused_count_; }
    /// Operations that wait to be sent.
    [[nodiscard]] virtual std::size_t waiting_count() const noexcept = 0;

  protected:
    SyncCollection() = default;
    virtual ~SyncCollection() = default;

    /// False, and a warning in the log: this end may not write, or there is no room for more than
    /// `count` items.
    [[nodiscard]] bool may_write() const;
    [[nodiscard]] bool may_grow(std::size_t count) const;
    [[nodiscard]] bool has_room(std::size_t count) const noexcept;
    /// Somebody is to be sent what is written now.
    [[nodiscard]] bool is_recording() const noexcept;
    [[nodiscard]] bool may_coalesce() const noexcept { return may_coalesce_; }
    void written();
    /// A host, which is told what it writes.
    [[nodiscard]] bool tells_what_is_written() const noexcept;
    /// Callbacks of what the server did are to run.
    [[nodiscard]] bool tells_what_arrives() const noexcept { return is_telling_; }
    /// Of a client: what the server did waits until the object is started.
    [[nodiscard]] bool must_wait() const noexcept;
    /// A call of so many operations does.
    void note_kept(std::size_t operation_count);
    /// Of a client: no callback ended the object meanwhile.
    [[nodiscard]] bool is_spawned() const noexcept;
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
    void set_broken(bool is_broken) noexcept { is_broken_ = is_broken; }
    template <typename Callback, typename... Arguments>
    static void run(const Callback& callback, const Arguments&... arguments) {
        if (callback) {
            callback(arguments...);
        }
    }
    /// Of a client: of the ownership under which it was told all; 0: of none.
    [[nodiscard]] std::uint32_t owner_epoch() const noexcept { return owner_epoch_; }
    /// Of a server: who tells with that epoch is the owner still.
    [[nodiscard]] bool is_owner_epoch(std::uint32_t epoch) const noexcept;
    void refuse_received();
    /// An operation before it is missing.
    void refuse_gap();
    void begin_anew() noexcept;

  private:
    friend class NetworkBehaviour;
    friend class NetworkClient;
    friend class NetworkIdentity;
    friend class NetworkPrefab;
    friend class NetworkServer;

    void bind(NetworkBehaviour& behaviour, std::uint8_t index) noexcept;
    // Of a server.

    /// True: nothing waits any more. `count_max` operations in a call at most.
    [[nodiscard]] bool send_waiting(const detail::CollectionCall& call, std::size_t count_max,
                                    std::size_t calls_max = ~std::size_t{0});
    [[nodiscard]] virtual CallResult send(std::size_t first, std::size_t count,
                                          const detail::CollectionCall& call) = 0;
    [[nodiscard]] virtual CallResult send_state(const detail::CollectionCall& call) const = 0;
    /// The same with that number.
    [[nodiscard]] virtual CallResult send_items(std::uint32_t number,
                                                const detail::CollectionCall& call) const = 0;
    /// To who owns the object from now on; with epoch 0, to who does no more.
    [[nodiscard]] CallResult send_to_owner(std::uint32_t epoch, const detail::CollectionCall& call);
    /// Does what the owner did. False: nothing was done, as it cannot be.
    [[nodiscard]] virtual bool receive_from_owner(const void* params) = 0;
    [[nodiscard]] virtual std::uint32_t epoch_of(const void* params) const noexcept = 0;
    /// The first `count` operations wait no more.
    virtual void forget(std::size_t count) noexcept = 0;
    /// The operation becomes one with a default item; of a dictionary, with a default key, too.
    virtual void make_blank(std::size_t operation, bool is_key_too) = 0;
    [[nodiscard]] virtual std::size_t item_count() const noexcept = 0;
    /// What waits becomes: clear, and all items anew.
    virtual void restate() = 0;

    // Of a client. `params` are of the types of CollectionTypes.

    virtual void receive(const void* params) = 0;
    virtual void receive_state(const void* params) = 0;
    /// The items alone, over all that waits. False: they cannot be.
    [[nodiscard]] virtual bool take_items(const void* params) = 0;
    [[nodiscard]] virtual std::uint32_t number_of(const void* params) const noexcept = 0;
    /// Of others, or of its own.
    void receive_changes(const void* params);
    void receive_as_owner(const void* params);
    void receive_as_last_owner(const void* params);
    /// It may tell the server what it does.
    [[nodiscard]] bool is_told() const noexcept;
    /// The first call that waits.
    void apply_kept(bool is_telling);
    virtual void apply_first_kept() = 0;
    /// The first block had the items.
    void items_received();
    [[nodiscard]] virtual bool are_items_valid() const = 0;

    /// As in the prefab; `source` is of the same class.
    virtual void reset(const SyncCollection& source) = 0;

    NetworkBehaviour* behaviour_ = nullptr;
    std::uint32_t refused_count_ = 0;
    std::uint32_t owner_epoch_ = 0;
    std::uint8_t index_ = 0;
    /// Who is opened the object from now on begins with what was said last, or with what is said
    /// next, and never with a part of it: see send_waiting().
    bool may_coalesce_ = false;
    bool is_telling_ = true;
    bool is_broken_ = false;  ///< of a client: only a clear makes sense of what comes
};

}  // namespace replayout::syncvar
