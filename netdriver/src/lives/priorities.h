// SPDX-License-Identifier: MIT
//
// How urgent objects are when not all fit: their priorities, and the answer to "what is this client
// still owed".
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include "compare_stage.h"
#include "interest_manager.h"
#include "server_clients.h"
#include "server_objects.h"

#include <cstdint>

namespace replayout {

class Priorities {
  public:
    Priorities(const ServerEnvironment& environment, ServerObjects& objects,
               const ServerClients& clients, const CompareStage& compare,
               const InterestManager& interest)
        : layouts_(environment.layouts),
          objects_(objects.store),
          clients_(clients),
          compare_(compare),
          interest_(interest),
          class_bands_(Allocator<std::uint8_t>(&environment.memory.layout_table)) {}

    /// A new object, no part, has the priority of its class.
    void begin(ObjectIndex index) {
        if (!class_bands_.empty()) {
            objects_.set_band(index, class_bands_[objects_.at(index)->layout_number()]);
        }
    }
    /// What the order of this client's flush goes by.
    [[nodiscard]] PriorityInputs inputs(const ServerClient& client) const noexcept {
        return {compare_.calendar(), interest_, client.interest, distance_};
    }

    // See NetRates.
    void set_class(const RepLayout& layout, float priority);
    void set(NetObjectId id, float priority);
    void set_distance(float distance) noexcept { distance_ = distance; }
    [[nodiscard]] OwedUpdate owed_to(PeerId peer, NetObjectId id) const;

  private:
    const LayoutTable& layouts_;
    ObjectStore& objects_;
    const ServerClients& clients_;
    const CompareStage& compare_;
    const InterestManager& interest_;
    Vector<std::uint8_t> class_bands_;  // by layout number; empty while none is set
    float distance_ = 0;
};

}  // namespace replayout
