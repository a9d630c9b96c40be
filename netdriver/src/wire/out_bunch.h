// SPDX-License-Identifier: MIT
//
// A bunch on its way out, as ReliableSender keeps it.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/memory.h>

#include <compare>
#include <cstddef>
#include <cstdint>

#include "object_index.h"

namespace replayout {

/// What a packet or a bunch is for. The packets in flight and the window of bunches are divided
/// among these; a cap is divided among those of BudgetShare.
enum class PacketUse : std::uint8_t {
    Objects,   ///< opens, and blocks of properties
    Messages,  ///< all other bunches, small ones, and calls with the state that they mean
    Values,    ///< those that are too large for a packet
};
inline constexpr std::size_t share_count = 3;

/// What a bunch was for, told to its sender when it is delivered.
struct BunchTag {
    enum class Kind : std::uint8_t {
        Control,
        Open,
        Close,
        Value,
        HiddenState,
        Role,
        PartsDestroyed
    };

    Kind kind = Kind::Control;
    ObjectIndex object_index{};
    /// Value: the property. A message of the object's channel: its sequence.
    std::uint32_t handle = 0;
    /// Value, HiddenState: it was taken back, and the other end throws it away.
    bool is_taken_back = false;
};

/// Position of a bunch in its queue: numbered as it was queued, and from the time it is sent, as it
/// was sent.
struct BunchOrder {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(BunchOrder, BunchOrder) noexcept = default;
};

/// Counts of bunches and of message bytes.
struct ReliableAmount {
    std::uint64_t bunches = 0;
    std::uint64_t bytes = 0;

    friend constexpr bool operator==(const ReliableAmount&,
                                     const ReliableAmount&) noexcept = default;
};

/// How much has been sent: values, and all others.
struct WindowPosition {
    ReliableAmount values;
    ReliableAmount others;

    [[nodiscard]] ReliableAmount& of(PacketUse use) noexcept {
        return use == PacketUse::Values ? values : others;
    }
};

struct OutBunch {
    BunchHeader header;
    BunchTag tag;
    Vector<std::byte> payload;
    std::uint64_t message_bytes = 0;  ///< of the message that this is a part of
    WindowPosition begin;             ///< bunches sent before it, bytes before its message
    bool was_sent = false;
    bool is_lost = false;  ///< it is to go out again

    [[nodiscard]] bool begins_message() const noexcept {
        return !header.is_partial || header.is_partial_initial;
    }
};

}  // namespace replayout
