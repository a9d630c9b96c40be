// SPDX-License-Identifier: MIT
//
// How far a client that joins has come.
#pragma once

#include <cstdint>

namespace replayout {

/// Of the objects that were there when the client joined, and that it is to have: the initial
/// batch. Their parts are not counted.
struct InitialBatchProgress {
    /// What the server said; 0 before. Of these, some may end before they are sent.
    std::uint32_t object_count = 0;
    /// Objects that came so far, of the batch or new ones, made or not; at most object_count once
    /// that is known.
    std::uint32_t spawned_count = 0;
    bool is_started = false;
    bool is_finished = false;  ///< all of them are there, with all that they were when sent
};

}  // namespace replayout
