// SPDX-License-Identifier: MIT
//
// The debug mode of a connection's sending side: checks each pair that something happened to.
// PairValidator has copies of the values that the client holds. This class hands it the claims that
// the tables of the connection make of the pair, and the values that are excused from them.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include <cstdint>

#include "connection_pairs.h"
#include "object_store.h"
#include "pair_validator.h"
#include "waiting_values.h"

namespace replayout {

class PairClaims {
  public:
    PairClaims(const ObjectStore& objects, ConnectionPairs& pairs, const WaitingValues& values,
               SendContext& context, MemoryResource* resource);

    /// Checks the pairs that something happened to since the last call. Requires that the
    /// connection is validated.
    void check_touched();

  private:
    void check(ObjectIndex index, PairValidator& validator);

    const ObjectStore& objects_;
    ConnectionPairs& pairs_;
    const WaitingValues& values_;
    SendContext& context_;
    ChangeMask hidden_;  // scratch
};

}  // namespace replayout
