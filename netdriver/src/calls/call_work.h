// SPDX-License-Identifier: MIT
//
// What one packet of a peer has cost, in instructions, about, and whether another call may run. A
// gap that closes lets 512 calls run at once, and a parameter whose default is a long keyed array
// costs what that costs, whatever the call's bytes. So what a packet completes may be more than one
// packet may cost. The rest waits for the next packet or dispatch. What the functions themselves do
// is the game's.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/rep_function.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

class CallWork {
  public:
    /// What a packet costs besides brings this to three million.
    static constexpr std::uint64_t instructions_max = 2'500'000;
    /// After acks and blocks that cost more than this, the first call needs room, too.
    static constexpr std::uint64_t before_first_call_max = 500'000;

    /// Returns whether a call of this function, of so many bytes, may run. The first one may run
    /// whatever it costs, unless the packet was expensive before.
    [[nodiscard]] bool has_room_for(const RepFunction& function,
                                    std::size_t payload_bytes) const noexcept {
        return (!has_run_any_ && spent_ <= before_first_call_max) ||
               spent_ + work_before(function, payload_bytes) <= instructions_max;
    }
    /// The packet resolved what was under way, at this cost, see FateCost.
    void spend_fates(std::uint32_t units) noexcept;
    /// Blocks of the packet took so many steps of keyed arrays, before any call.
    void spend_blocks(std::uint64_t array_steps) noexcept;
    /// It ran: `granted` is the budget that it was given, `left` what is left of that.
    void spend(const RepFunction& function, std::size_t payload_bytes, const DecodeBudget& granted,
               const DecodeBudget& left) noexcept;

  private:
    /// What is known before it is read.
    [[nodiscard]] static std::uint64_t work_before(const RepFunction& function,
                                                   std::size_t payload_bytes) noexcept;

    std::uint64_t spent_ = 0;
    bool has_run_any_ = false;
};

}  // namespace replayout
