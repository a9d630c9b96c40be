// SPDX-License-Identifier: MIT
//
// A receiver of one object of a random class, and what two senders that run in lock step keep of
// it: what a connection of the driver keeps of a pair, without packets.
#pragma once

#include "support/block_receiver.h"
#include "support/random_types.h"
#include "support/reference_replicator.h"
#include "support/update_judge.h"

#include <replayout/changelist_state.h>
#include <replayout/delta_states.h>
#include <replayout/in_flight_versions.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace replayout::test {

/// Objects that references name.
inline constexpr std::uint32_t target_count = 6;

/// A block in flight, as its sender knows it; the test knows its fate.
struct SentBlock {
    SentVersions versions;
    RepRange range;
    bool is_initial = false;
    bool is_lost = false;
};

class RandomClassReceiver {
  public:
    RandomClassReceiver(RandomTypes& types, std::uint32_t class_index, ClientId id)
        : judge(types, types.layout(class_index)),
          object(types.make_object(class_index)),
          client_id(id),
          end(std::make_unique<BlockReceiver>(types.layout(class_index))),
          in_flight(std::pmr::get_default_resource()),
          deltas{DeltaStates(std::pmr::get_default_resource()),
                 DeltaStates(std::pmr::get_default_resource())} {}

    void widen_lost_range(const RepRange& range) {
        lost_range = pair.lost().is_empty() ? range : hull(lost_range, range);
    }
    [[nodiscard]] ObjectConditions::Receiver conditions() const {
        ReplicationFlags flags;
        flags.is_initial = is_initial;
        flags.is_owner = is_owner;
        ObjectConditions::Receiver receiver = ObjectConditions::make_receiver(flags);
        receiver.turned_on = turned_on;
        return receiver;
    }
    [[nodiscard]] bool is_exact() const { return pair.is_exact() && turned_on.is_empty(); }
    [[nodiscard]] OwedVersions position(const ChangelistState& state) const {
        OwedVersions position(pair, pair.lost().is_empty() ? RepRange() : lost_range);
        position.is_exact = state.is_any_back(pair.sent_version) && is_exact();
        if (state.layout().needs_held_version()) {
            position.held_version = in_flight.held_version(pair);
        }
        return position;
    }
    /// What goes out now is everything that is owed.
    [[nodiscard]] SentBlock take_owed(Version version) {
        SentBlock flight{pair.take_owed(version), RepRange(), is_initial, false};
        is_initial = false;
        if (!turned_on.is_empty()) {
            flight.versions.lost = {0, pair.sent_version};
            turned_on = {};
        }
        return flight;
    }
    void skip(Version version) {
        pair.skip(version);
        is_initial = false;
        turned_on = {};
    }

    UpdateJudge judge;
    std::unique_ptr<RawObject> object;
    ClientId client_id;
    std::unique_ptr<BlockReceiver> end;
    SendingRepState pair;
    InFlightVersions in_flight;
    DeltaStates deltas[2];  // by side
    RepRange lost_range;
    std::deque<SentBlock> flights;
    bool is_initial = true;
    bool is_owner = false;
    bool is_present[target_count + 1] = {};
    LifetimeConditionSet turned_on;
    std::size_t capacity_min = 0;  ///< of the next block; a value was too large before
};

}  // namespace replayout::test
