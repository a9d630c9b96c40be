// SPDX-License-Identifier: MIT
//
// What one call of each property's serializer takes, measured behind a match with its values, as no
// clock can run for single calls while it is played.
//
// Of each class sixteen objects hold values of the recording, those of each property from all its
// length. Their blocks are encoded for one receiver that shares with nobody, again and again, and
// the median counts:
//
//     t(h)      a block of the property h alone
//     t(all)    a block of all properties that were sent in the match
//
// A block takes some time whatever is in it, which is no property's. As t(h) is that time and the
// call's, and t(all) that time, once, and those of all calls, it is
//
//     (sum of t(h) - t(all)) / (properties - 1)
//
// and what t(h) is beyond that is the call's time. So a value in a row that is written at once
// costs a share of the row. Where a single property was sent the block's time is in its.
#pragma once

#include "match/battle/match_world.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace replayout::match {

class CallCosts {
  public:
    /// The schema is made of the recordings; both must outlive this.
    CallCosts(std::span<const Recording> recordings, const MatchSchema& schema);
    ~CallCosts();

    /// Nanoseconds of one call each, beside `handles`, which ascend, are of the class with that
    /// index in the schema, and are all that was sent of it. 0 is less than can be told from the
    /// block's time.
    [[nodiscard]] std::vector<double> measure(std::size_t class_index,
                                              std::span<const RepHandle> handles) const;

  private:
    using Samples = std::vector<std::unique_ptr<MatchObject>>;

    const MatchSchema& schema_;
    std::vector<Samples> samples_;  // by class
};

}  // namespace replayout::match
