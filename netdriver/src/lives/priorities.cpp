// SPDX-License-Identifier: MIT
#include "priorities.h"

namespace replayout {

namespace {

/// Each is half of the one before, down to an eighth and below.
[[nodiscard]] std::uint8_t band_of_priority(float priority) noexcept {
    float least = 8;
    std::uint8_t band = 0;
    while (priority < least && band + 1u < SendOrder::band_count) {
        ++band;
        least /= 2;
    }
    return band;
}

}  // namespace

void Priorities::set_class(const RepLayout& layout, float priority) {
    if (class_bands_.empty()) {
        class_bands_.resize(layouts_.count(), SendOrder::ordinary_band);
    }
    class_bands_[layouts_.number_of_added(layout)] = band_of_priority(priority);
}

void Priorities::set(NetObjectId id, float priority) {
    REPLAYOUT_ASSERT(objects_.contains(id) && !objects_.at(slot_of(id))->is_subobject());
    objects_.set_band(slot_of(id), band_of_priority(priority));
}

OwedUpdate Priorities::owed_to(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(objects_.contains(id));
    const ServerClient* const client = clients_.find_joined(peer);
    if (client == nullptr) {
        return {OwedReason::NotJoined, 0};
    }
    const PriorityInputs order = inputs(*client);
    return {client->sender.owed_reason(slot_of(id), order),
            client->sender.step_down(slot_of(id), order)};
}

}  // namespace replayout
