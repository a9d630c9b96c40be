// SPDX-License-Identifier: MIT
//
// Where the files lie that tests read.
#pragma once

namespace replayout::test {

/// The folder tests/ of this checkout. Only main.cpp is compiled with it: all else compiles to the
/// same objects in every checkout, and a compiler cache finds them.
[[nodiscard]] const char* tests_dir();

}  // namespace replayout::test
