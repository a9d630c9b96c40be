// SPDX-License-Identifier: MIT
#pragma once

namespace replayout::match {

/// What main() does: it reads the command line, plays what that says, and prints the report. The
/// exit status: 0 all clients ended equal, 1 not, 2 the match could not be played, or --help's.
int run_program(int argc, char** argv);

}  // namespace replayout::match
