// SPDX-License-Identifier: MIT
//
// The receiving end of one object: what the server opened, updates and closes.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/rep_layout.h>

#include "reliable_receiver.h"

namespace replayout {

class ActorChannel {
  public:
    enum class State : std::uint8_t {
        Closed,   ///< nothing, or bunches that wait for the open
        Open,     ///< the object is there
        Refused,  ///< the world could not make it; what comes is checked and thrown away
    };

    ActorChannel(const NetConfig& config, ReliableAccount& account, MemoryResource* resource)
        : receiver(config, account, resource), references(resource) {}

    State state = State::Closed;
    NetGUID guid;
    const RepLayout* layout = nullptr;  ///< null while closed
    const RepLayout* local = nullptr;   ///< ours of its class; null while closed, or unknown here
    ObjectHandle object;                ///< null unless open
    ReliableReceiver receiver;
    ReceivingRepState references;
};

}  // namespace replayout
