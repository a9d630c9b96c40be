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
// and only while somebody is connected. If the queue of calls of one client is full
// (NetConfig::calls_waiting_max), operations wait for all clients until that client takes some, or
// its connection is closed (NetConfig::calls_full_timeout_ms). Waiting operations are never more
// than the items written anew, or 1,024.
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
// operation. There is room for RepLimits::array_count_max items of the prefab. One more is refused
// the same way, and so is an item that cannot be sent: text or an array in it is beyond a limit, or
// text is not UTF-8. A set holds no NaN, and no key is NaN. An item that no call can carry
// (NetConfig::call_bytes_max) arrives as a default one, and that is an error in the log. Items are
// whatever a property may be, except references, which would not know when their object goes: keep
// its net_id().
//
// Items that take more than three quarters of a message (NetConfig::bunch_bytes_max,
// call_bytes_max) are not sent at once to a client that begins to see the object or becomes its
// owner. The client asks for them, and receives them in parts, as operations
// (src/collection_parts.h).
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
#include <replayout/reflection/kind_of.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type_registry.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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

/// Operations that arrive otherwise than in a call of the object.
class CollectionReader {
  public:
    virtual ~CollectionReader() = default;
    /// False: these are no operations of this collection.
    [[nodiscard]] virtual bool read(void* params) const = 0;
};

/// Items. A server may hold all of them back where they would be sent whole.
template <typename Item>
struct CollectionItems : std::vector<Item> {
    using std::vector<Item>::vector;
    CollectionItems() = default;
    CollectionItems(std::vector<Item> items)  // NOLINT(google-explicit-constructor)
        : std::vector<Item>(std::move(items)) {}

    bool is_held_back = false;
};

/// The part of a collection that is sent whole, in the first block or by a call.
template <typename Item>
struct CollectionState {
    CollectionItems<Item> items;
    /// Operations that the items contain; wraps around.
    std::uint32_t changes_count = 0;
    /// The items are more than a message holds. A client that receives this asks for them
    /// (CollectionPlace).
    bool is_partial = false;

    friend bool operator==(const CollectionState& left, const CollectionState& right) {
        return left.changes_count == right.changes_count && left.is_partial == right.is_partial &&
               std::equal(left.items.begin(), left.items.end(), right.items.begin(),
                          right.items.end());
    }
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
    /// The same for an item that cannot be sent: it is beyond a limit of the prefab, holds text
    /// that is not UTF-8, or is a key that differs from itself (NaN).
    [[nodiscard]] bool may_hold(const void* item, bool is_like_itself = true) const;
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
    /// Client: all parts of the collection have come.
    void parts_ended();
    /// Client: the collection has no items yet, so it asks for them.
    void want_parts();
    /// Operations logged so far stay as they are.
    void stop_coalescing() noexcept { may_coalesce_ = false; }
    /// Bytes that an item takes in a message, estimated a little too high.
    [[nodiscard]] std::size_t item_bytes(const void* item) const;
    [[nodiscard]] std::size_t count_max() const noexcept;

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
    /// Clients that begin to see the object from now on are sent the items at once if they take
    /// `bytes_max` at most, else in parts.
    void update_opening(std::size_t bytes_max);
    virtual void hold_back(bool is_held_back) noexcept = 0;
    [[nodiscard]] virtual const void* item_at(std::size_t index) const noexcept = 0;
    /// Makes calls with operations that build the items from none, in parts of about `bytes_max`.
    virtual void pack(const detail::CollectionCall& call, std::size_t bytes_max) = 0;
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
    /// Bytes of the arrays and texts of calls that wait, whose parameters have the layout
    /// `changes`. `are_items_counted`: the items as well, because they are no property of the
    /// object.
    [[nodiscard]] virtual std::uint64_t kept_bytes(const RepLayout& changes,
                                                   bool are_items_counted) const = 0;
    /// It has no items yet: the server sends them in parts.
    [[nodiscard]] virtual bool is_partial() const noexcept = 0;
    void take_part(const detail::CollectionReader& reader, bool is_last);
    virtual void receive_part(const detail::CollectionReader& reader, bool is_last) = 0;
    /// The first call that waits.
    void apply_kept(bool is_telling);
    virtual void apply_first_kept() = 0;
    /// The first block had the items.
    void items_received();
    [[nodiscard]] virtual bool are_items_valid() const = 0;

    /// As in the prefab; `source` is of the same class.
    virtual void reset(const SyncCollection& source) = 0;
    /// The same. Where the first block says that the items come in parts, those of now stay until
    /// then.
    virtual void reset_and_keep(const SyncCollection& source) = 0;
    /// The first block is there.
    virtual void end_keeping() = 0;

    NetworkBehaviour* behaviour_ = nullptr;
    std::uint32_t refused_count_ = 0;
    std::uint32_t owner_epoch_ = 0;
    std::uint32_t next_owner_epoch_ = 0;  // once all parts are there
    std::uint8_t index_ = 0;
    /// Who is opened the object from now on begins with what was said last, or with what is said
    /// next, and never with a part of it: see send_waiting().
    bool may_coalesce_ = false;
    bool is_telling_ = true;
    bool is_broken_ = false;  ///< of a client: only a clear makes sense of what comes
};

}  // namespace replayout::syncvar

/// Items that are held back are not sent.
template <typename Item>
struct replayout::KindOf<replayout::syncvar::detail::CollectionItems<Item>>
    : replayout::ArrayKind<replayout::syncvar::detail::CollectionItems<Item>> {
    [[nodiscard]] static ArrayOps array_ops() noexcept {
        using Items = replayout::syncvar::detail::CollectionItems<Item>;
        ArrayOps ops = make_array_ops<Items>();
        ops.count = [](const void* array) -> std::size_t {
            const Items& items = *static_cast<const Items*>(array);
            return items.is_held_back ? 0 : items.size();
        };
        return ops;
    }
};
