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
#include <replayout/lost_parts.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace replayout::test {

/// Objects that references name.
inline constexpr std::uint32_t target_count = 6;

/// A block in flight, as its sender knows it; the test knows its fate.
struct SentBlock {
    SentVersions versions;
    std::vector<LostPart> carried;
    bool is_initial = false;
    bool is_lost = false;
};

/// What a pair at `position` is sent with all that it is owed within `range`.
[[nodiscard]] inline std::vector<LostPart> carried_in(const OwedVersions& position, Version version,
                                                      const RepRange& range) {
    Vector<LostPart> carried;
    collect_carried(position, version, range, carried);
    return {carried.begin(), carried.end()};
}

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

    void owe(const LostPart& part) {
        lost.add(pair, part.versions, part.range);
        pair.return_unsent({part.versions, {}});
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
    /// Lends what was lost, until the next loss.
    [[nodiscard]] OwedVersions position(const ChangelistState& state) const {
        OwedVersions position(pair);
        lost.describe(position);
        position.is_exact = state.is_any_back(pair.sent_version) && is_exact();
        if (state.layout().needs_held_version()) {
            position.held_version = in_flight.held_version(pair);
        }
        return position;
    }
    /// What goes out now is everything that is owed at `position`.
    [[nodiscard]] SentBlock take_owed(Version version, OwedVersions& position) {
        SentBlock flight{pair.take_owed(version), {}, is_initial, false};
        is_initial = false;
        if (!turned_on.is_empty()) {
            flight.versions.lost = {0, pair.sent_version};
            position = position.with_lost(flight.versions.lost);
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
    LostParts lost{std::pmr::get_default_resource()};
    std::deque<SentBlock> flights;
    bool is_initial = true;
    bool is_owner = false;
    bool is_present[target_count + 1] = {};
    LifetimeConditionSet turned_on;
    std::size_t capacity_min = 0;  ///< of the next block; a value was too large before
};

}  // namespace replayout::test
