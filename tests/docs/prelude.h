// SPDX-License-Identifier: MIT
//
// What the blocks of C++ in the documents may speak of without saying so: the library, and one name
// for each thing that a reader has in mind by then. A block is compiled as the body of a function
// behind this header, and never run; tests/docs/CMakeLists.txt says how.
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/fast_array.h>
#include <replayout/layout_description.h>
#include <replayout/net_archive.h>
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/replay_player.h>
#include <replayout/netdriver/replay_recorder.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/object_replicator.h>
#include <replayout/receive_properties.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>
#include <replayout/send_properties.h>

#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace replayout;

struct Pawn {
    std::int32_t health = 100;
    Vector3 position;
    ObjectHandle target;

    void on_rep_health(std::int32_t previous);
};

extern TypeRegistry registry;
extern const RepLayout& layout;
extern const RepLayout& red_pawn_layout;
extern Transport& transport;
extern NetWorld& world;
extern NetDriver& server;
extern NetDriver& client;
extern NetTime now;
extern MemoryResource* memory;
extern PackageMap& ids;
