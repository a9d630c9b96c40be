// SPDX-License-Identifier: MIT
//
// Checks what the rows of one connection claim of its pairs, in the debug mode of its sending side.
// PairValidator has the copies of what the client holds. This class tells it what each pair that
// something happened to says of itself, and which values are excused.
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
    void check(std::uint32_t index, PairValidator& validator);

    const ObjectStore& objects_;
    ConnectionPairs& pairs_;
    const WaitingValues& values_;
    SendContext& context_;
    ChangeMask hidden_;  // scratch
};

}  // namespace replayout
