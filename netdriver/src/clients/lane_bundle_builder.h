// SPDX-License-Identifier: MIT
//
// Builds the run of a flush by lanes, to the byte the same as BundleBuilder::build() makes it:
//
//     lanes             each lays down the blocks of its objects    [3][4][9]   [70][71]
//     driver's thread   cuts: where blocks go, and how their heads are there
//     lanes             each copies its own there                   [3][4]|[9][70]|[71]
//
// A cut depends on all blocks before it, and costs little a block where these are alike
// (LaneBlocks); the lanes do what takes long. Blocks that follow each other in both are
// copied at once.
#pragma once

#include <cstdint>
#include <span>

#include "bundle_builder.h"
#include "flush_changes.h"
#include "lane_blocks.h"
#include "lane_range.h"
#include "server_lane.h"

namespace replayout {

class LaneBundleBuilder {
  public:
    /// `changes`, `bundles` and `lanes` must outlive this.
    LaneBundleBuilder(const FlushChanges& changes, BundleBuilder& bundles,
                      ServerLanes& lanes) noexcept
        : changes_(changes), bundles_(bundles), lanes_(lanes) {}

    /// Makes the run of this flush, as BundleBuilder::build() does, but counts no values by type.
    /// Requires more than one lane.
    void build(BundleBuilder::Contents contents, std::span<const ObjectIndex> order);

  private:
    /// Lays down, in one lane, the blocks of `objects` and of all that changed in these words of a
    /// row.
    void lay_down(ServerLane& lane, LaneRange words, std::span<const ObjectIndex> objects) const;
    void lay_down_one(ObjectIndex index, LaneBlocks& blocks, SendContext& context) const;
    /// Cuts what a lane laid down into bundles and packets.
    void add(LaneBlocks& blocks);
    /// Copies it where it belongs in the run.
    void copy_blocks(const LaneBlocks& blocks);
    void copy_bytes(const LaneBlocks& blocks);

    const FlushChanges& changes_;
    BundleBuilder& bundles_;
    ServerLanes& lanes_;
};

}  // namespace replayout
