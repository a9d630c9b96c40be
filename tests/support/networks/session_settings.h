// SPDX-License-Identifier: MIT
//
// What a random session is made of. Everything follows from the theme and the seed.
#pragma once

#include "support/types/random_types.h"
#include "support/types/tree_editor.h"

#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/simulated_network.h>

#include <cstdint>
#include <string>

namespace replayout::test {

/// What a session is mostly about. All of it can happen in each.
enum class SessionTheme : std::uint8_t {
    Any,
    LargeValues,     ///< objects, arrays and texts that no packet holds
    ManyProperties,  ///< classes of hundreds of properties
    Churn,           ///< objects and clients come and go all the time
    Dormancy,        ///< objects sleep and wake
};

struct SessionSettings {
    std::uint64_t seed = 0;
    std::uint32_t tick_count = 150;
    std::uint32_t client_count = 2;
    bool is_sharing = true;  ///< on the server that is heard; its twin has the opposite

    RandomTypesSettings types;
    TreeEditLimits edits;
    NetConfig net;
    LinkSettings to_client;
    LinkSettings to_server;

    std::uint32_t live_max = 8;         ///< objects at a time
    std::uint32_t spawn_percent = 10;   ///< a tick
    std::uint32_t destroy_percent = 5;  ///< a tick
    std::uint32_t brief_percent = 20;   ///< of objects, live for two ticks at most
    std::uint32_t edited_percent = 30;  ///< of objects, a tick
    std::uint32_t edits_max = 4;        ///< of an object, a tick
    std::uint32_t revert_percent = 20;  ///< of edits, undone soon after
    std::uint32_t leave_per_mille = 4;  ///< of clients, a tick
    std::uint32_t hitch_per_mille = 5;  ///< of clients, and the server, a tick
    std::uint32_t dormant_percent = 0;  ///< a tick, the dormancy of an object is changed
    std::uint32_t role_percent = 0;     ///< a tick, the owner or role of an object is changed
    std::uint32_t refuse_percent = 10;  ///< of clients, do not make objects of one class

    [[nodiscard]] static SessionSettings draw(SessionTheme theme, std::uint64_t seed);
};

/// One line for the report of a failure.
[[nodiscard]] std::string to_string(const SessionSettings& settings);

}  // namespace replayout::test
