// SPDX-License-Identifier: MIT
#include <replayout/type_counters.h>

namespace replayout {

std::string_view to_string(EncodeReason reason) noexcept {
    static constexpr auto texts =
        std::to_array<std::string_view>({"SharingOff", "NotShared", "FirstUse", "ValueChanged",
                                         "OtherPosition", "Cut", "Measured"});
    static_assert(texts.size() == encode_reason_count);
    const auto index = static_cast<std::size_t>(reason);
    return index < texts.size() ? texts[index] : "?";
}

std::string_view to_string(BlockMiss miss) noexcept {
    static constexpr auto texts =
        std::to_array<std::string_view>({"SharingOff", "WithCall", "TooLarge", "NotShared", "Lost",
                                         "FirstUse", "NewReceiver", "OtherPosition"});
    static_assert(texts.size() == block_miss_count);
    const auto index = static_cast<std::size_t>(miss);
    return index < texts.size() ? texts[index] : "?";
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
