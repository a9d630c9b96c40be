// SPDX-License-Identifier: MIT
#include <replayout/netdriver/channel_close_reason.h>

#include <array>

namespace replayout {

std::string_view to_string(ChannelCloseReason reason) noexcept {
    static constexpr auto texts =
        std::to_array<std::string_view>({"destroyed", "dormancy", "level unloaded", "relevancy",
                                         "tear-off", "migrated", "disconnected"});
    static_assert(texts.size() == channel_close_reason_count);
    const auto index = static_cast<std::size_t>(reason);
    return index < texts.size() ? texts[index] : "unknown";
}

}  // namespace replayout
