// SPDX-License-Identifier: MIT
//
// How many bytes a connection may send: a bucket of tokens for all of it, and what of that belongs
// to whom.
//
//     cap       32/32 of a second's bytes
//     flow      29/32 a second: what fills the bucket, so what is used of a cap
//     depth      3/32: what it holds at most, 103 ms of the flow
//
// A packet may begin while there is anything in the bucket, and takes out all that it has, so the
// bucket may owe one packet. What goes out in any second is therefore at most depth + flow + one
// packet, which is the cap and one packet. Nothing of the flow is lost as long as there are ten
// ticks a second or more. (Rejected: a bucket that is filled with all of the cap. Whatever its
// depth, a second in which it begins full has that more.)
//
// Each share has a quarter of the flow. What it leaves it may use later, up to a quarter of the
// depth and of a packet; a share that used up its own may take what no other, of those that have
// something to send, still has. So unused shares go to the others, and each has its quarter when it
// comes back. Who has something to send and cannot, since it waits for an answer say, would keep
// others from its own for nothing: what is left when all had their turn is everybody's, and calls,
// values and objects have another one, in this order.
#pragma once

#include <replayout/netdriver/time.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace replayout {

/// What the bytes of a cap are for. Not quite PacketUse, which is of what is in flight: objects are
/// told apart by why they are opened.
enum class BudgetShare : std::uint8_t {
    State,     ///< objects: blocks, and opens of what comes into the world
    Joins,     ///< opens of what was there when the client joined
    Messages,  ///< calls with the state that they mean, closes, control
    Values,    ///< values that are too large for a packet, and parts of calls that are
};
inline constexpr std::size_t budget_share_count = 4;

class BandwidthBudget {
  public:
    /// Bytes a second; 0: no cap, and nothing is counted. Full at first.
    explicit BandwidthBudget(std::uint32_t cap) noexcept { set_cap(cap); }

    /// What is in the bucket stays, as far as it is deep enough, and what it owes; it is full again
    /// only after a flush without a cap.
    void set_cap(std::uint32_t cap) noexcept;
    /// Not full at first, but owing a packet, as if one had just gone out.
    void begin_in_debt() noexcept;
    [[nodiscard]] std::uint32_t cap() const noexcept { return cap_; }

    /// Time goes on. Does nothing when called twice for a time.
    void begin_flush(NetTime now) noexcept;
    /// Whether a share has something to send, and has not had its turn in this flush, so that
    /// others leave it what is its own. None has at first.
    void set_wanted(BudgetShare share, bool is_wanted) noexcept {
        shares_[static_cast<std::size_t>(share)].is_wanted = is_wanted;
    }

    /// Whether anything may be sent.
    [[nodiscard]] bool has_any() const noexcept { return cap_ == 0 || level_ > 0; }
    /// Whether a packet of that share may begin.
    [[nodiscard]] bool may_begin(BudgetShare share) const noexcept;
    /// How many bytes that share may spend now, all at once. Requires a cap.
    [[nodiscard]] std::uint32_t bytes_left(BudgetShare share) const noexcept;
    /// How many packets of that size may begin one after another.
    [[nodiscard]] std::uint32_t packets_left(BudgetShare share,
                                             std::size_t packet_bytes) const noexcept;
    /// A packet of so many bytes goes out.
    void spend(BudgetShare share, std::size_t bytes) noexcept;
    /// One that belongs to no share, as it is sent in any case.
    void spend(std::size_t bytes) noexcept;

  private:
    struct ShareState {
        std::int64_t credit = 0;
        bool is_wanted = false;
    };
    // A byte is a million units, so a byte a second is a unit a microsecond.
    static constexpr std::int64_t unit = 1'000'000;

    [[nodiscard]] std::int64_t credit_max() const noexcept;
    /// Of what is in the bucket, what that share may take; nothing where it is not above 0.
    [[nodiscard]] std::int64_t left(BudgetShare share) const noexcept;

    std::uint32_t cap_ = 0;
    bool is_refilled_ = true;  // by the next cap: there was none, or there has been a flush without
    bool has_begun_ = false;
    NetTime last_;
    std::int64_t flow_ = 0;
    std::int64_t depth_ = 0;
    std::int64_t level_ = 0;
    std::array<ShareState, budget_share_count> shares_{};
};

}  // namespace replayout
