// SPDX-License-Identifier: MIT
#include <replayout/netdriver/channel_close_reason.h>

namespace replayout {

std::string_view to_string(ChannelCloseReason reason) noexcept {
    switch (reason) {
        case ChannelCloseReason::Destroyed:
            return "destroyed";
        case ChannelCloseReason::Dormancy:
            return "dormancy";
        case ChannelCloseReason::LevelUnloaded:
            return "level unloaded";
        case ChannelCloseReason::Relevancy:
            return "relevancy";
        case ChannelCloseReason::TearOff:
            return "tear-off";
        case ChannelCloseReason::Migrated:
            return "migrated";
        case ChannelCloseReason::Disconnected:
            return "disconnected";
    }
    return "unknown";
}

}  // namespace replayout
