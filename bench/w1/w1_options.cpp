// SPDX-License-Identifier: MIT
#include "w1/w1_options.h"

#include "support/report/command_line.h"
#include "support/report/report_text.h"
#include "support/workloads/pawn.h"
#include "w1/w1_limits.h"

#include <replayout/netdriver/net_config.h>

#include <algorithm>
#include <cstdio>

namespace replayout::bench {

int parse_w1_options(int argc, char** argv, W1Options& options) {
    CLI::App app{
        "Plays workload W1 through a server and, in turn, through what is written by hand for it: "
        "a fifth of the objects moves, a fiftieth changes health, and every connection is sent all "
        "of it. Prints and writes medians of ticks, and their ratios, in two columns. Warm: each "
        "subject plays --turn ticks before it is the next one's turn, and finds its memory in the "
        "caches, as where it is measured alone. Cold: then as many ticks again, one at a time, and "
        "each subject finds the caches full of what the others went through.\n"
        "Exit status: 0 good, 1 what was sent is not exactly what changed, 2 bad arguments or more "
        "than the workload is defined for.",
        "replayout_w1"};
    add_number(app, "--objects", options.objects, PawnScene::period_ticks, NetConfig().channels_max,
               "a multiple of 50");
    add_number(app, "--connections", options.connections, 1, NetConfig().connections_max,
               "that are sent everything");
    add_number(app, "--ticks", options.ticks, 1, w1_ticks_max,
               "to time warm, and as many again cold, after everybody has everything");
    add_number(app, "--turn", options.turn, 1, w1_turn_max,
               "warm ticks that a subject plays before it is the next one's turn, no more than "
               "--ticks; where these are fewer and nothing is said they are one turn. With 1 "
               "they are as cold as the cold ones, and called so");
    add_number(app, "--workers", options.workers, 1, w1_workers_max,
               "threads that our flush is split over; the yardsticks have one");
    add_sharing(app, options.sharing);
    add_switch(app, "--push", options.is_push_based,
               "the properties are push based, and the game marks each that it sets, which is not "
               "in the times; shared-once is then told what changed, else it looks at all objects");
    app.add_option("--json", options.json_path, "write the figures to this file; - is stdout");
    if (const int status = parse_command_line(app, argc, argv); status != go_on) {
        return status;
    }
    if (const std::string refusal = refusal_of(options); !refusal.empty()) {
        std::fprintf(stderr, "%s\n", refusal.c_str());
        return exit_unusable;
    }
    if (app.count("--turn") > 0 && options.turn > options.ticks) {
        std::fprintf(stderr, "--turn %s is more than --ticks %s: a turn is of warm ticks\n",
                     grouped(options.turn).c_str(), grouped(options.ticks).c_str());
        return exit_unusable;
    }
    options.turn = std::min(options.turn, options.ticks);
    return go_on;
}

}  // namespace replayout::bench
