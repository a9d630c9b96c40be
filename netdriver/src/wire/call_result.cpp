// SPDX-License-Identifier: MIT
#include <replayout/netdriver/calls.h>

#include <array>

namespace replayout {

std::string_view to_string(CallResult result) noexcept {
    static constexpr auto texts = std::to_array<std::string_view>(
        {"ran", "sent", "queued", "not owned", "no channel", "unknown function", "no such version",
         "value over limit", "serialize failed", "too large", "full", "misused"});
    static_assert(texts.size() == static_cast<std::size_t>(CallResult::Misused) + 1);
    const auto index = static_cast<std::size_t>(result);
    return index < texts.size() ? texts[index] : "unknown";
}

}  // namespace replayout
