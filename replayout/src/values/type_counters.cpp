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

std::string_view to_string(BlockMiss miss) noexcept {
    switch (miss) {
        case BlockMiss::SharingOff:
            return "SharingOff";
        case BlockMiss::WithCall:
            return "WithCall";
        case BlockMiss::TooLarge:
            return "TooLarge";
        case BlockMiss::NotShared:
            return "NotShared";
        case BlockMiss::Lost:
            return "Lost";
        case BlockMiss::FirstUse:
            return "FirstUse";
        case BlockMiss::NewReceiver:
            return "NewReceiver";
        case BlockMiss::OtherPosition:
            return "OtherPosition";
    }
    return "?";
}

void TypeCounters::count_payload_reuse(std::span<const std::byte> block, ChangeMask& handles) {
    ++payloads_reused;
    payload_bytes_reused += block.size();
    BitReader reader(block);
    read_change_mask(reader, handles, layout->handle_count(), EmptySet::Impossible);
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        PropertyCounters& property = of(RepHandle{bit + 1});
        ++property.payload_reuses;
        ++property.values_sent;
    }
}

}  // namespace replayout
