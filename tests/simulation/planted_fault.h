// SPDX-License-Identifier: MIT
//
// The switch of a fault in the library's text. Only the program replayout_simulate_planted has such
// a text: CMake writes its send_order.cpp from the library's, with one more condition.
#pragma once

namespace replayout::test {

/// Set before the first run, not while one plays.
inline bool is_starvation_planted = false;

}  // namespace replayout::test
