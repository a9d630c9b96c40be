// SPDX-License-Identifier: MIT
//
// Opens that many clients get alike. The open of an object is laid down once (OpenBunch), and so is
// its first block (SharedPayload), so both are copied:
//
//     packet   [ open A ][ open B ] ... [ block A ][ block B ] ...
//                 ^ OpenBunch of A           ^ payload of A from version 0 on
//
// That concerns plain objects that the client has never seen, with all of what they are owed in the
// open packet. All else goes the way of its own open (ObjectChannels) and block (PropertySender),
// which write the same bytes.
#pragma once

#include <replayout/send_properties.h>
#include <replayout/shared_serialization.h>

#include "connection_pairs.h"
#include "object_channels.h"
#include "object_store.h"
#include "packet_stream.h"
#include "property_sender.h"

namespace replayout {

class SharedOpens {
  public:
    /// All of them outlive this.
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        ObjectChannels& channels;
        PropertySender& properties;
        PacketStream& packets;
        SendContext& context;
    };

    explicit SharedOpens(const Parts& parts) : parts_(parts) {}

    /// Opens the channel of an object, which is closed, and writes the first block of the object.
    /// False, and nothing done: it is to go the other way.
    [[nodiscard]] bool open(ObjectIndex index);

  private:
    /// The client gets the open as most do.
    [[nodiscard]] bool is_usual(PairRef ref) const;
    /// The open packet has room for the open and for a block of so many bytes, and may have both.
    [[nodiscard]] bool has_room(ObjectIndex index, const OpenBunch& bunch,
                                const SharedPayload* block) const noexcept;

    Parts parts_;
};

}  // namespace replayout
