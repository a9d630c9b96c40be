// SPDX-License-Identifier: MIT
//
// Which channels of a ReliableSender have bunches that never went out, how many, and in which row
// they wait: a table of places in which a channel lies at its own or behind it. An open is in it
// only from its queueing to its sending, so nothing here may cost as much as there are others.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>

#include "out_bunches.h"

namespace replayout {

class UnsentChannels {
  public:
    explicit UnsentChannels(MemoryResource* resource) : places_(Allocator<Place>(resource)) {}

    /// `count` more. Returns the row in which they wait: that of `share`, or the one in which
    /// others of the channel do.
    [[nodiscard]] Share add(ChannelIndex channel, Share share, std::uint32_t count);
    /// One less. Requires one.
    void remove_one(ChannelIndex channel) noexcept;
    /// All of them. Returns how many there were; sets `share`, if there were any.
    [[nodiscard]] std::uint32_t remove_all(ChannelIndex channel, Share& share) noexcept;
    void keep_control_only();

    /// Once in KeptRoom::period: gives back what was not needed since.
    void trim();

  private:
    struct Place {
        ChannelIndex channel;
        std::uint32_t bunch_count = 0;  // 0: it is free
        Share share = Share::Objects;
    };
    static constexpr std::size_t places_min = 16;  // a power of two, as every size after it

    [[nodiscard]] std::size_t mask() const noexcept { return places_.size() - 1; }
    [[nodiscard]] std::size_t own_place_of(ChannelIndex channel) const noexcept {
        // Scrambled (multiplicative hashing, by the golden ratio).
        return (channel.value * 0x9E37'79B1u >> 12) & mask();
    }
    /// Where it is, or would be. Requires a free place.
    [[nodiscard]] std::size_t find(ChannelIndex channel) const noexcept;
    void free_place(std::size_t place) noexcept;
    void move_to(std::size_t place_count);

    Vector<Place> places_;  // half of them free, at least
    std::size_t count_ = 0;
    std::size_t most_ = 0;  // since trim()
};

}  // namespace replayout
