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

#include <replayout/behaviours/collection_end.h>
#include <replayout/reflection/kind_of.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type_registry.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace replayout {

namespace detail {

struct Inside;

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
    /// (CollectionPath).
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
class SyncCollection : protected detail::CollectionEnd {
  public:
    SyncCollection(const SyncCollection&) = delete;
    SyncCollection& operator=(const SyncCollection&) = delete;

    using detail::CollectionEnd::is_read_only;
    using detail::CollectionEnd::refused_count;
    using detail::CollectionEnd::waiting_count;

  protected:
    SyncCollection() = default;
    ~SyncCollection() override = default;

  private:
    friend struct detail::Inside;
};

}  // namespace replayout

/// Items that are held back are not sent.
template <typename Item>
struct replayout::KindOf<replayout::detail::CollectionItems<Item>>
    : replayout::ArrayKind<replayout::detail::CollectionItems<Item>> {
    [[nodiscard]] static ArrayOps array_ops() noexcept {
        using Items = replayout::detail::CollectionItems<Item>;
        ArrayOps ops = make_array_ops<Items>();
        ops.count = [](const void* array) -> std::size_t {
            const Items& items = *static_cast<const Items*>(array);
            return items.is_held_back ? 0 : items.size();
        };
        return ops;
    }
};
