// SPDX-License-Identifier: MIT
//
// A small recording for tests that damage it, with what is to be seen at each time.
#pragma once

#include <replayout/netdriver/replay_recorder.h>

#include <cstdint>
#include <map>
#include <string>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {

/// Small, of three checkpoints, with what is to be seen at each time.
struct Tape {
    explicit Tape(std::int32_t variant, std::int32_t ticks = 9) {
        const ObjectHandle pawn = net.add_pawn();
        ReplayRecorderSettings settings;
        settings.checkpoint_ms = 60;
        ReplayRecorder recorder(sink, settings);
        REQUIRE(net.server_driver().start_recording(recorder));
        for (std::int32_t i = 0; i < ticks; ++i) {
            net.tick([&] {
                net.pawn(pawn).health = i + variant;
                if (i == 4) {
                    net.pawn(net.add_pawn()).name = "Bo";
                }
            });
            texts[net.now()] = net.server_text();
        }
        net.server_driver().stop_recording();
    }
    [[nodiscard]] Bytes bytes() const { return {sink.bytes().begin(), sink.bytes().end()}; }

    NetFixture net;
    ReplayMemory sink;
    std::map<NetTime, std::string> texts;
};

}  // namespace replayout::test
