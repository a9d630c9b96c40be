// SPDX-License-Identifier: MIT
//
// The oracle: replication as one would explain it, without any of what makes it fast. For each
// client it keeps the full state that the client ought to hold, copied whole whenever an object
// changes; no changelists, no shadow, no sharing, no packets. It shares the type descriptors with
// the engine and nothing else.
//
// While the network misbehaves a client lags behind, so it is held to less: every value it shows
// was the server's at some time, no property goes back to an earlier one, what is gone stays gone.
// When all is delivered it must be equal, value by value.
//
// One value is nobody's: an element of an array may show what a new element holds, because the
// count can arrive before the element does (a large array goes in parts, and a part can be lost; or
// the array grew in a packet that was lost, and its count changed again in the next). An element of
// a keyed array never does, and is there or not as it was at the server; nor does any that an array
// in it had from the beginning. An atomic struct is a value like any other: all of it was the
// server's at one time.
#pragma once

#include "support/types/value_tree.h"

#include <replayout/reflection/type.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace replayout::test {

/// The server's name of an object, never used twice.
struct ObjectId {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(ObjectId, ObjectId) noexcept = default;
};

/// A client's connection, from its join to its end; never used twice.
struct ClientId {
    std::uint32_t value = 0;

    friend constexpr auto operator<=>(ClientId, ClientId) noexcept = default;
};

/// What a client shows, in the server's names.
class ClientView {
  public:
    struct Object {
        ObjectId id;
        std::string type_name;
        Value state;
    };

    virtual ~ClientView() = default;

    /// All objects there are. Appends to `problems` what contradicts itself.
    [[nodiscard]] virtual std::vector<Object> objects(std::vector<std::string>& problems) const = 0;
};

class ReferenceReplicator {
  public:
    // Server.

    /// `archetype` is the state that a fresh one has everywhere.
    void add_object(ObjectId id, const Type& type, const Value& archetype);
    void remove_object(ObjectId id);
    /// The state of an object as a tick sends it.
    void set_state(ObjectId id, const Value& state);

    // Clients.

    /// The client is owed everything. Objects of a type named `refused_type` it does not make.
    void add_client(ClientId client, const std::string& refused_type);
    void remove_client(ClientId client);

    /// Takes in what a client shows now. What is wrong with it, or nothing.
    [[nodiscard]] std::string observe(ClientId client, const ClientView& view);
    /// The first difference from what the client ought to hold, or nothing.
    [[nodiscard]] std::string compare(ClientId client, const ClientView& view) const;

  private:
    /// All values of one leaf, in order.
    struct LeafHistory {
        std::vector<std::uint64_t> values;
        std::uint64_t new_element_value = 0;
        std::uint64_t first_round = 0;  ///< of the first state that has it
        std::uint64_t last_round = 0;
        bool may_be_unsent = false;  ///< it may be shown as a new element holds it
    };
    using Paths = std::set<std::uint64_t>;
    struct ObjectRecord {
        const Type* type = nullptr;
        bool is_alive = true;
        bool is_new = true;  ///< and as the archetype
        Value state;
        std::uint64_t round = 0;                                ///< of states
        std::unordered_map<std::uint64_t, LeafHistory> leaves;  // by path
        Paths elements;                                         ///< of keyed arrays, ever
        Paths present;                                          ///< of these, now
    };
    struct ShownObject {
        bool is_gone = false;
        std::uint64_t round = 0;                                     ///< of observing
        std::unordered_map<std::uint64_t, std::uint32_t> positions;  // in the history, by path
    };
    struct Client {
        std::string refused_type;
        std::map<ObjectId, Value> owed;
        std::map<ObjectId, ShownObject> shown;
        std::uint64_t round = 0;
    };

    void note_values(ObjectRecord& record, const Value& state);
    /// May a client show of this leaf, which is not in the state before, what a new element holds?
    [[nodiscard]] static bool may_be_unsent(const ObjectRecord& record, const Leaf& leaf);
    [[nodiscard]] std::string observe_object(Client& client, const ClientView::Object& object);
    /// The elements of keyed arrays that a client shows, and those that it does not.
    [[nodiscard]] static std::string observe_elements(const ObjectRecord& record,
                                                      const std::vector<std::uint64_t>& present,
                                                      ShownObject& shown);
    [[nodiscard]] static bool advance(const LeafHistory& history, std::uint64_t value,
                                      std::uint32_t& position);

    std::map<ObjectId, ObjectRecord> objects_;
    std::map<ClientId, Client> clients_;
};

}  // namespace replayout::test
