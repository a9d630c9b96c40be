// SPDX-License-Identifier: MIT
//
// replayout_match: the main job. See --help.
#include "match/session/match_program.h"

int main(int argc, char** argv) {
    return replayout::match::run_program(argc, argv);
}
