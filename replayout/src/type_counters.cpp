// SPDX-License-Identifier: MIT
#include <replayout/type_counters.h>

namespace replayout {

std::string_view to_string(EncodeReason reason) noexcept {
    switch (reason) {
        case EncodeReason::SharingOff:
            return "SharingOff";
        case EncodeReason::NotShared:
            return "NotShared";
        case EncodeReason::FirstUse:
            return "FirstUse";
        case EncodeReason::ValueChanged:
            return "ValueChanged";
        case EncodeReason::OtherPosition:
            return "OtherPosition";
        case EncodeReason::Cut:
            return "Cut";
        case EncodeReason::Measured:
            return "Measured";
    }
    return "?";
}

}  // namespace replayout
