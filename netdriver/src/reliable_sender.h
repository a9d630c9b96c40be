// SPDX-License-Identifier: MIT
//
// Bunches on their way out: kept until the packet that carried them is delivered, and sent again,
// as they are, when it is lost. They go out in the order in which they were queued.
//
// What the other end keeps waiting is bounded, so a sender stays within a window that begins with
// the first message that is not delivered whole. All that can wait there lies in it:
//
//     queued   [ value 1: 1 2 3 4 5 ][ open ][ value 2: 1 2 3 4 ][ value 3 ...
//     delivered          x x   x x       x               x
//     window   |----------------------------------------------| the rest is held back
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <map>
#include <span>

namespace replayout {

/// What a bunch was for, told to its sender when it is delivered.
struct BunchTag {
    enum class Kind : std::uint8_t { Control, Open, Close, Value };

    Kind kind = Kind::Control;
    std::uint32_t object_index = 0;
    std::uint32_t handle = 0;  ///< Value: the property
};

/// Place of a bunch in the order of queueing; names it within its connection.
struct BunchOrder {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(BunchOrder, BunchOrder) noexcept = default;
};

struct OutBunch {
    BunchHeader header;
    BunchTag tag;
    Vector<std::byte> payload;
    std::uint64_t message_begin = 0;  ///< bytes queued before the message that this is a part of
    std::uint64_t end = 0;            ///< bytes queued up to the end of this one
    bool was_sent = false;
};

/// What the other end lets wait, over all channels.
struct ReliableWindow {
    std::uint64_t bunches = 0;
    std::uint64_t bytes = 0;  ///< at least those of the largest message
};

class ReliableSender {
  public:
    ReliableSender(std::size_t fragment_bytes, const ReliableWindow& window,
                   MemoryResource* resource);

    /// Queues a payload as one bunch, or as fragments that all carry `tag`. The sequence of the
    /// first is `sequence`; returns how many sequences were used.
    std::uint32_t queue(BunchHeader header, std::uint16_t sequence,
                        std::span<const std::byte> payload, BunchTag tag);

    /// How many sequences a payload uses.
    [[nodiscard]] std::uint32_t fragment_count(std::size_t payload_bytes) const noexcept;

    /// The first unsent bunch is there and within the window.
    [[nodiscard]] bool may_send() const noexcept;
    /// A bunch queued now may be sent at once.
    [[nodiscard]] bool has_room_for(std::size_t payload_bytes) const noexcept;
    [[nodiscard]] bool is_idle() const noexcept { return unsent_.empty() && in_flight_.empty(); }
    [[nodiscard]] BunchOrder first_unsent() const noexcept { return unsent_.begin()->first; }
    [[nodiscard]] const OutBunch& unsent(BunchOrder order) const { return unsent_.at(order); }

    void sent(BunchOrder order);
    /// True when the bunch goes out again because of it; `tag` is its then.
    [[nodiscard]] bool lost(BunchOrder order, BunchTag& tag);
    /// True the first time a bunch is delivered; `tag` is its then.
    [[nodiscard]] bool delivered(BunchOrder order, BunchTag& tag);

    /// Forgets what is queued for other channels.
    void keep_control_only();

    /// Everything in flight goes out once more, in case no answer can tell that it was lost.
    void resend_all();

  private:
    using BunchMap = std::pmr::map<BunchOrder, OutBunch>;

    void move(BunchMap& from, BunchMap& to, BunchOrder order);
    /// Whether the window reaches to a bunch.
    [[nodiscard]] bool reaches(BunchOrder order, std::uint64_t end) const noexcept;

    std::size_t fragment_bytes_;
    ReliableWindow window_;
    std::uint64_t next_order_ = 1;
    std::uint64_t queued_bytes_ = 0;
    BunchMap unsent_;
    BunchMap in_flight_;
};

}  // namespace replayout
