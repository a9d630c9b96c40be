// SPDX-License-Identifier: MIT
#include <replayout/netdriver/close_reason.h>

#include <array>

namespace replayout {

std::string_view to_string(CloseReason reason) noexcept {
    static constexpr auto texts = std::to_array<std::string_view>({"none",
                                                                   "requested",
                                                                   "timeout",
                                                                   "replaced",
                                                                   "server full",
                                                                   "wire version",
                                                                   "layout mismatch",
                                                                   "malformed packet",
                                                                   "malformed bunch",
                                                                   "malformed block",
                                                                   "not allowed",
                                                                   "invalid ack",
                                                                   "unknown channel",
                                                                   "reliable overflow",
                                                                   "too many channels",
                                                                   "too many references",
                                                                   "too many layouts",
                                                                   "unknown function",
                                                                   "call refused",
                                                                   "too many calls",
                                                                   "calls stalled",
                                                                   "too much memory"});
    static_assert(texts.size() == close_reason_count);
    const auto index = static_cast<std::size_t>(reason);
    return index < texts.size() ? texts[index] : "unknown";
}

}  // namespace replayout
