// SPDX-License-Identifier: MIT
#include "unsent_channels.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "kept_room.h"

namespace replayout {

std::size_t UnsentChannels::find(ChannelIndex channel) const noexcept {
    std::size_t place = own_place_of(channel);
    while (places_[place].bunch_count != 0 && places_[place].channel != channel) {
        place = (place + 1) & mask();
    }
    return place;
}

Share UnsentChannels::add(ChannelIndex channel, Share share, std::uint32_t count) {
    if (2 * (count_ + 1) > places_.size()) {
        move_to(std::max(places_min, 2 * places_.size()));
    }
    Place& place = places_[find(channel)];
    if (place.bunch_count == 0) {
        place = {channel, 0, share};
        most_ = std::max(most_, ++count_);
    }
    place.bunch_count += count;
    return place.share;
}

void UnsentChannels::remove_one(ChannelIndex channel) noexcept {
    const std::size_t place = find(channel);
    REPLAYOUT_ASSERT(places_[place].bunch_count > 0);
    if (--places_[place].bunch_count == 0) {
        free_place(place);
    }
}

std::uint32_t UnsentChannels::remove_all(ChannelIndex channel, Share& share) noexcept {
    if (count_ == 0) {
        return 0;
    }
    const std::size_t place = find(channel);
    const std::uint32_t bunch_count = std::exchange(places_[place].bunch_count, 0);
    if (bunch_count > 0) {
        share = places_[place].share;
        free_place(place);
    }
    return bunch_count;
}

// What stands behind it, up to the next free place, and not at its own place may have been kept
// from that by the one that went, so it goes nearer.
void UnsentChannels::free_place(std::size_t place) noexcept {
    --count_;
    places_[place].bunch_count = 0;
    for (std::size_t next = (place + 1) & mask(); places_[next].bunch_count != 0;
         next = (next + 1) & mask()) {
        const std::size_t own = own_place_of(places_[next].channel);
        if (((next - own) & mask()) >= ((next - place) & mask())) {
            places_[place] = places_[next];
            places_[next].bunch_count = 0;
            place = next;
        }
    }
}

void UnsentChannels::move_to(std::size_t place_count) {
    Vector<Place> before(places_.get_stored_allocator());
    before.swap(places_);
    places_.resize(place_count);
    for (const Place& place : before) {
        if (place.bunch_count != 0) {
            places_[find(place.channel)] = place;
        }
    }
}

void UnsentChannels::keep_control_only() {
    Vector<Place> before(places_.get_stored_allocator());
    before.swap(places_);
    count_ = 0;
    for (const Place& place : before) {
        if (place.bunch_count != 0 && place.channel.is_control()) {
            (void)add(place.channel, place.share, place.bunch_count);
        }
    }
}

void UnsentChannels::trim() {
    const std::size_t most = std::exchange(most_, count_);
    if (KeptRoom::is_too_large(2 * most, places_.size(), sizeof(Place))) {
        move_to(std::max(places_min, std::bit_ceil(4 * most)));
    }
}

}  // namespace replayout
