// SPDX-License-Identifier: MIT
//
// Values that arrive for a client's objects, the notifies of these, and references: an id names an
// object, and each reference to that is set when the object appears, and null before it goes. For
// that each id knows the channels that mention it.
//
// Notifies of all that a packet brings wait until run_notifies().
#pragma once

#include <replayout/receive_properties.h>

#include "channel_lists.h"
#include "client_channels.h"
#include "client_environment.h"
#include "client_world.h"
#include "received_amounts.h"

#include <cstdint>
#include <string>

namespace replayout {

class ObjectUpdates {
  public:
    enum class Frame : std::uint8_t {
        Open,    ///< the block ends where its last value does
        Filled,  ///< it is refused, untouched, unless it ends where the reader does
        Part,    ///< as Filled, and more parts follow
    };

    ObjectUpdates(const ClientEnvironment& environment, ClientChannels& channels,
                  ClientWorld& world, ReceivedAmounts& amounts);

    /// A block of the object of that channel, which is open.
    [[nodiscard]] CloseReason receive(ChannelIndex index, BitReader& reader, Frame frame);
    /// Ends the update of an object whose last part has not arrived: something else came. Not if
    /// it is of channel `index`.
    void finish_unless_of(ChannelIndex index);
    void finish();
    /// Hooks and notifies of all that arrived so far: before calls of the packet, and before
    /// anything goes.
    void run_notifies();

    /// Takes from the budget what rebind() is going to cost. False: it is spent.
    [[nodiscard]] bool spend_rebind(NetGUID guid, DecodeBudget& budget) const;
    /// Sets all references to that id.
    void rebind(NetGUID guid, ObjectHandle target);
    /// The object of that channel goes: it names nothing any more.
    void forget_mentions(ChannelIndex index);

  private:
    /// For what arrives for that object. Its notifies wait.
    [[nodiscard]] ReceiveContext context_of(const ActorChannel& channel);
    [[nodiscard]] CloseReason skip(const ActorChannel& channel, BitReader& reader,
                                   ReceiveContext& context);
    /// Notifies of what that channel's object just received may wait.
    void note_waiting(ChannelIndex index);
    [[nodiscard]] bool is_waiting_to_notify(ChannelIndex index) const noexcept;
    void update_mentions(ChannelIndex index);
    /// And logs the last one that failed.
    void count_values(const ReceiveContext& context);

    const ClientEnvironment& environment_;
    ClientChannels& channels_;
    ClientWorld& world_;
    ReceivedAmounts& amounts_;
    ChannelLists mentions_;  // that have a reference to the object
    ReceiveScratch scratch_;
    Vector<ChannelIndex> waiting_channels_;  // of the updates whose notifies wait, in their order
    Vector<NetGUID> named_;                  // by the block being read
    Vector<NetGUID> dropped_;                // by the block being read
    // Parts of its block have arrived, but not the last; 0: there is no such channel. Anything else
    // that arrives ends its update, so there is one in a connection at most.
    ChannelIndex updating_channel_;
    std::string failure_;  // of the value that failed last, until it is logged
};

}  // namespace replayout
