// SPDX-License-Identifier: MIT
//
// A guard on a server, and one receiver who has him as he is: what tests of one object and one
// receiver begin with.
#pragma once

#include "support/checks/catch.h"
#include "support/replication/block_sender.h"
#include "support/replication/object_peer.h"
#include "support/types/guard_types.h"
#include "support/types/test_layout.h"

#include <cstdint>
#include <string_view>

namespace replayout::test {

struct GuardPost {
    GuardPost() {
        sender.update(&guard);
        bob.send_all();
        bob.deliver_all();
        REQUIRE(bob.replicator.is_settled());
    }

    void update() { sender.update(&guard); }

    TestLayout layout{build_guard};
    BlockSender sender{*layout};
    Guard guard;
    ObjectPeer<Guard> bob{sender};
};

/// Counts lines of the log while it lives.
struct LogCount {
    LogCount() {
        set_log_handler(
            [](LogLevel, std::string_view, void* user) { ++static_cast<LogCount*>(user)->lines; },
            this);
    }
    ~LogCount() { set_log_handler(nullptr, nullptr); }
    LogCount(const LogCount&) = delete;
    LogCount& operator=(const LogCount&) = delete;

    std::uint32_t lines = 0;
};

}  // namespace replayout::test
