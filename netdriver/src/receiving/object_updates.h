// SPDX-License-Identifier: MIT
//
// Values that arrive for a client's objects, the notifies of these, and references: an id names an
// object, and each reference to that is set when the object appears, and null before it goes. For
// that each id knows the channels that mention it.
//
// The notifies of a packet wait until run_notifies(). References to all objects that a packet opens
// are set together, before its blocks or before an object despawns, so a struct that names many of
// these objects is read again once.
#pragma once

#include <replayout/receive_properties.h>

#include "channel_lists.h"
#include "client_channels.h"
#include "client_environment.h"
#include "client_world.h"
#include "received_amounts.h"

#include <cstdint>
#include <span>
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

    /// An object with that id came: set_new_references() sets the references to it.
    void object_came(NetGUID guid) { came_.push_back(guid); }
    /// Once the budget is spent, the references wait for the next packet.
    void set_new_references(DecodeBudget& budget);

    /// Takes from the budget what it costs to set all references to these ids (ascending, each
    /// once), or all that is left, if that is less: no sender can divide this work, and half of it
    /// would leave references to an object that is gone. False: nothing was left.
    [[nodiscard]] bool spend_rebind(std::span<const NetGUID> guids, DecodeBudget& budget);
    /// The objects of these ids despawn (ActorChannel::departure_number): sets references to them
    /// to null and runs the notifies. An object that despawns too keeps its references to itself
    /// and to objects that despawn after it.
    void objects_go(std::span<const NetGUID> guids);
    /// References to objects that came, and were not set yet, stay null.
    void forget_new_objects() noexcept { came_.clear(); }
    /// The object of that channel goes: it names nothing any more.
    void forget_mentions(ChannelIndex index);

  private:
    /// For what arrives for that object. Its notifies wait.
    [[nodiscard]] ReceiveContext context_of(const ActorChannel& channel, PackageMap& ids);
    [[nodiscard]] CloseReason skip(const ActorChannel& channel, BitReader& reader,
                                   ReceiveContext& context);
    /// Notifies of what that channel's object just received may wait.
    void note_waiting(ChannelIndex index);
    [[nodiscard]] bool is_waiting_to_notify(ChannelIndex index) const noexcept;
    void update_mentions(ChannelIndex index);
    /// Collects into mentioning_, ascending, the channels of objects that name any of these ids.
    void collect_mentioning(std::span<const NetGUID> guids);
    /// Sets references to these ids in the object of that channel, to what `ids` answers.
    void rebind(ChannelIndex index, std::span<const NetGUID> guids, PackageMap& ids,
                bool waits_to_notify);
    /// Runs the waiting notifies if an object of mentioning_ has any: they belong to an update
    /// before the one that begins now.
    void run_notifies_of_mentioning();
    /// Those of `guids` whose objects despawn before the object of that channel. Valid until the
    /// next call.
    [[nodiscard]] std::span<const NetGUID> gone_before(const ActorChannel& channel,
                                                       std::span<const NetGUID> guids);
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
    Vector<NetGUID> came_;                   // objects to which references are not set yet
    Vector<ChannelIndex> mentioning_;        // scratch
    Vector<NetGUID> gone_;                   // scratch
    // Parts of its block have arrived, but not the last; 0: there is no such channel. Anything else
    // that arrives ends its update, so there is one in a connection at most.
    ChannelIndex updating_channel_;
    std::string failure_;  // of the value that failed last, until it is logged
};

}  // namespace replayout
