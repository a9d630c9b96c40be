// SPDX-License-Identifier: MIT
//
// The server's end of its objects. Spawned objects, their components and the channels of
// connections ask it, and it passes each question on to the part of the server that answers it. It
// owns the number of the flush. NetworkServer has the functions for a game.
//
// Its source lies in the room of the server, whose parts it knows.
#pragma once

#include <replayout/netdriver/transport.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/function.h>

#include <cstdint>
#include <string_view>

namespace replayout::syncvar {

class NetworkIdentity;
class NetworkServer;

namespace detail {

class CollectionEnd;
struct CollectionsWanted;
class ObjectComponent;
class ReceivedSection;
struct ServerParts;

class ServerEnd {
  public:
    ServerEnd(NetworkServer& server, ServerParts& parts) noexcept
        : server_(server), parts_(parts) {}
    ServerEnd(const ServerEnd&) = delete;
    ServerEnd& operator=(const ServerEnd&) = delete;

    [[nodiscard]] NetworkServer& server() const noexcept { return server_; }
    /// Counts the flushes, from 1 on. A value that is made once in each flush notes the number of
    /// its flush.
    [[nodiscard]] std::uint64_t flush_number() const noexcept { return flush_number_; }
    void begin_flush() noexcept { ++flush_number_; }

    // Objects and their components.

    /// A component of the object has something to send.
    void component_changed(NetworkIdentity& object);
    /// Sends what the object holds back, whatever its sync intervals are, before the call made
    /// next. False: a part of it found no room.
    [[nodiscard]] bool send_state_of(NetworkIdentity& object);
    [[nodiscard]] bool has_connections() const noexcept;
    void apply_visibility(NetworkIdentity& object);
    void interest_group_changed(NetworkIdentity& object, std::uint32_t previous);
    void position_changed(NetworkIdentity& object);
    /// A call for clients reaches the host. Returns whether it runs now. A call that must wait
    /// until the object is started there is kept.
    [[nodiscard]] bool host_hears(NetworkIdentity& object, const Function& function,
                                  const void* values, void* place);
    /// The owner of the component's object sent SyncVars, or operations of a collection.
    void take_section(ObjectComponent& component, const ReceivedSection& section);
    void take_operations(ObjectComponent& component, CollectionEnd& collection, const void* params);
    /// `peer` is the client that the line is about, 0 where it is about none.
    void write_log(LogLevel level, PeerId peer, std::string_view text) const;

    // Requests of a client on the channel of its connection.

    void ready(PeerId peer);
    void add_player(PeerId peer);
    void not_ready_heard(PeerId peer);
    void collections_wanted(PeerId peer, const CollectionsWanted& wanted);

  private:
    NetworkServer& server_;
    ServerParts& parts_;
    std::uint64_t flush_number_ = 0;
};

/// The end of the server that spawned the object. Requires that one did; if not, the process ends.
[[nodiscard]] ServerEnd& server_end_of(const NetworkIdentity& object) noexcept;

}  // namespace detail

}  // namespace replayout::syncvar
