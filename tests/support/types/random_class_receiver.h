// SPDX-License-Identifier: MIT
//
// A receiver of one object of a random class, and what two senders that run in lock step keep of
// it, each in an ObjectReplicator.
#pragma once

#include "support/replication/block_receiver.h"
#include "support/replication/reference_replicator.h"
#include "support/replication/update_judge.h"
#include "support/types/random_types.h"

#include <replayout/object_replicator.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace replayout::test {

/// Objects that references name.
inline constexpr std::uint32_t target_count = 6;

/// What is under way to a receiver, or a packet of which the fate is not told yet.
struct Flight {
    std::uint64_t packet = 0;
    bool is_lost = false;
    RepHandle large_value{0};  ///< other than 0: it travels reliably, and arrives when it is told
    Bytes block;               ///< of that value
};

class RandomClassReceiver {
  public:
    RandomClassReceiver(RandomTypes& types, std::uint32_t class_index, ClientId id,
                        ChangelistState& on, ChangelistState& off)
        : judge(types, types.layout(class_index)),
          object(types.make_object(class_index)),
          client_id(id),
          end(std::make_unique<BlockReceiver>(types.layout(class_index))),
          replicators{ObjectReplicator(on, std::pmr::get_default_resource()),
                      ObjectReplicator(off, std::pmr::get_default_resource())} {}

    [[nodiscard]] bool owes_any() const {
        REQUIRE(replicators[0].owes_any() == replicators[1].owes_any());
        return replicators[0].owes_any();
    }
    [[nodiscard]] bool is_at_rest() const {
        REQUIRE(replicators[0].is_settled() == replicators[1].is_settled());
        return replicators[0].is_settled();
    }

    UpdateJudge judge;
    std::unique_ptr<RawObject> object;
    ClientId client_id;
    std::unique_ptr<BlockReceiver> end;
    ObjectReplicator replicators[2];  // by side
    std::deque<Flight> flights;
    std::uint64_t last_packet = 0;
    bool is_owner = false;
    bool is_present[target_count + 1] = {};
};

}  // namespace replayout::test
