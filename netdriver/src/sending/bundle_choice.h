// SPDX-License-Identifier: MIT
//
// Which blocks of the bundles of a flush one connection takes: those of its regular pairs.
//
//     blocks cell by cell    [ 7 ][ 40 ][ 12 ][ 9 ] | [ 80 ][ 3 ] | [ 5 ][ 31 ]
//     regular, and changed     x     x           x                     x    x
//     touched                 bundle 0                              bundle 2
//
// Where blocks do not lie in the order of the objects it is found by the pairs, word by word of
// their row, and no bundle is looked at of which none is taken.
#pragma once

#include <replayout/reflection/memory.h>

#include "bit_row.h"
#include "bundle_run.h"
#include "flush_changes.h"
#include "kept_room.h"

#include <algorithm>
#include <cstdint>

namespace replayout {

class ConnectionPairs;

/// Scratch: of one connection at a time.
class BundleChoice {
  public:
    explicit BundleChoice(MemoryResource* resource) : blocks_(resource), touched_(resource) {}

    /// Those of regular pairs. Requires a run with positions, of these changes.
    void find(const BundleRun& run, const FlushChanges& changes, const ConnectionPairs& pairs);
    /// Bit i: block i of the bundle.
    [[nodiscard]] std::uint64_t blocks_of(std::uint32_t bundle) const noexcept {
        return blocks_[bundle];
    }
    /// The first bundle from `begin` on of which it takes any; `end` where there is none.
    [[nodiscard]] std::uint32_t next(std::uint32_t begin, std::uint32_t end) const noexcept {
        return std::min(touched_.next(begin), end);
    }
    /// Between flushes: gives back what was not needed lately.
    void trim() { blocks_.drop_and_trim(); }

  private:
    KeptVector<std::uint64_t> blocks_;  // by bundle; 0 of all that are not touched
    NumberBitRow touched_;
};

}  // namespace replayout
