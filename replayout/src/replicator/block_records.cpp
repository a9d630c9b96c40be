// SPDX-License-Identifier: MIT
#include <replayout/block_records.h>

#include <algorithm>

namespace replayout::detail {

void BlockRecords::add(std::uint64_t packet, std::span<const LostPart> carried, bool is_initial) {
    REPLAYOUT_ASSERT(!contains(packet) || records_.back().packet == packet);
    bool is_more = false;
    for (const LostPart& part : carried) {
        records_.push_back({packet, part, is_more, is_initial});
        is_more = true;
    }
}

std::optional<BlockRecords::Record> BlockRecords::take(std::uint64_t packet) {
    if (records_.empty() || records_.front().packet != packet) {
        return std::nullopt;
    }
    const Record oldest = records_.front();
    records_.erase(records_.begin());
    return oldest;
}

bool BlockRecords::contains(std::uint64_t packet) const noexcept {
    return std::any_of(records_.begin(), records_.end(),
                       [&](const Record& record) { return record.packet == packet; });
}

}  // namespace replayout::detail
