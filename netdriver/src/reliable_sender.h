// SPDX-License-Identifier: MIT
//
// Bunches on their way out: kept until the packet that carried them is delivered, and sent again, as
// they are, when it is lost. They go out in the order in which they were queued.
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
    bool was_sent = false;
};

class ReliableSender {
  public:
    ReliableSender(std::size_t fragment_bytes, MemoryResource* resource);

    /// Queues a payload as one bunch, or as fragments that all carry `tag`. The sequence of the first
    /// is `sequence`; returns how many sequences were used.
    std::uint32_t queue(BunchHeader header, std::uint16_t sequence,
                        std::span<const std::byte> payload, BunchTag tag);

    [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
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

    std::size_t fragment_bytes_;
    std::uint64_t next_order_ = 1;
    BunchMap unsent_;
    BunchMap in_flight_;
};

}  // namespace replayout
