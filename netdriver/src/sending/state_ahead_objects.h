// SPDX-License-Identifier: MIT
//
// The objects for whose state somebody waits at one client: a call, or the initial batch, because
// the client's copy is not complete. If it does not become complete while the object goes as usual,
// their state goes ahead, reliably (StateAhead).
#pragma once

#include <replayout/reflection/memory.h>

#include "connection_pairs.h"
#include "initial_batch.h"
#include "object_store.h"
#include "packet_stream.h"

#include <algorithm>

namespace replayout {

class StateAheadObjects {
  public:
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        PacketStream& packets;
        const InitialBatch& batch;
    };
    StateAheadObjects(const Parts& parts, MemoryResource* resource)
        : parts_(parts), held_back_(Allocator<ObjectIndex>(resource)) {}

    /// Somebody waits until more of that object is delivered, which is complete as of that version.
    void hold_back(ObjectIndex index, Version complete);
    /// What waited is over: stops the object's StateAhead, unless its state is already going or the
    /// initial batch waits for it, too.
    void stop(ObjectIndex index) noexcept {
        if (!held_back_.empty()) {
            stop_one(index);
        }
    }
    /// The same for each object that no call waits for either.
    template <typename IsCallWaitingFor>
    void stop_unneeded(IsCallWaitingFor is_call_waiting_for) noexcept {
        held_back_.erase(std::remove_if(held_back_.begin(), held_back_.end(),
                                        [&](ObjectIndex index) {
                                            if (is_on(index) && !is_call_waiting_for(index)) {
                                                stop_one(index);
                                            }
                                            return !is_on(index);
                                        }),
                         held_back_.end());
    }

  private:
    void stop_one(ObjectIndex index) noexcept;
    [[nodiscard]] bool is_on(ObjectIndex index) const noexcept {
        const PairExtra* const extra = parts_.pairs.find_extra(index);
        return extra != nullptr && extra->ahead.is_on();
    }

    Parts parts_;
    Vector<ObjectIndex> held_back_;  // objects with a StateAhead that is on; few
};

}  // namespace replayout
