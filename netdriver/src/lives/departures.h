// SPDX-License-Identifier: MIT
//
// Objects that the game removed while reliable calls of them were on their way. The game is done
// with such an object. The server keeps its shadow and its slot until each client that has it has
// those calls, too, or the wait is over.
#pragma once

#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/reflection/memory.h>

#include "call_waits.h"
#include "relevancy.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class Departures {
  public:
    Departures(const ServerEnvironment& environment, ServerObjects& objects, ServerClients& clients,
               Relevancy& relevancy, CallWaits& waits);
    Departures(const Departures&) = delete;
    Departures& operator=(const Departures&) = delete;

    /// Some clients do not have all reliable calls of the object yet, or of a part that was removed
    /// before. Then it is to depart, instead of being removed at once.
    [[nodiscard]] bool must_depart(ObjectIndex index) const;
    void depart(NetObjectId id, ChannelCloseReason reason);
    /// A client joined: it does not get the removed objects.
    void introduce(ServerClient& client);
    /// Before a flush: closes the channels of removed or hidden objects whose calls have arrived.
    void close_left();
    /// To make room for a new object.
    void end_oldest();
    [[nodiscard]] std::size_t count() const noexcept { return departures_.size(); }

  private:
    struct Departure {
        ObjectIndex index{};
        ChannelCloseReason reason = ChannelCloseReason::Destroyed;
    };

    void begin(ObjectIndex index, ChannelCloseReason reason);
    /// The object was hidden, and shown again before it had left.
    void show_returned(ServerClient& client, ObjectIndex index);
    /// Removes the objects that no client waits for any longer.
    void remove_departed();

    ServerObjects& all_;
    ObjectStore& objects_;
    ServerClients& clients_;
    Relevancy& relevancy_;
    CallWaits& waits_;
    Vector<Departure> departures_;  // in the order in which they were removed, parts first
    Vector<ObjectIndex> family_;    // scratch
};

}  // namespace replayout
