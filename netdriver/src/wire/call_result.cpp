// SPDX-License-Identifier: MIT
#include <replayout/netdriver/calls.h>

namespace replayout {

std::string_view to_string(CallResult result) noexcept {
    switch (result) {
        case CallResult::Ran:
            return "ran";
        case CallResult::Sent:
            return "sent";
        case CallResult::Queued:
            return "queued";
        case CallResult::NotOwned:
            return "not owned";
        case CallResult::NoChannel:
            return "no channel";
        case CallResult::UnknownFunction:
            return "unknown function";
        case CallResult::NoSuchVersion:
            return "no such version";
        case CallResult::Misused:
            return "misused";
        case CallResult::ValueOverLimit:
            return "value over limit";
        case CallResult::SerializeFailed:
            return "serialize failed";
        case CallResult::TooLarge:
            return "too large";
        case CallResult::Full:
            return "full";
    }
    return "unknown";
}

}  // namespace replayout
