// SPDX-License-Identifier: MIT
//
// Which bunches of a channel a value that travels reliably waits for at the client, which takes the
// bunches of a channel in order:
//
//     sequence    2 message   3, 4 value   5 message
//     delivered                    x           x         the value waits for the message before it
//
// So a value that was delivered has not arrived before all messages before it have. (The open and
// values before it hold it up as well, which their senders know by themselves.)
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstdint>

namespace replayout {

/// Sequences are those of the channel's bunches. Takes memory when the first message or value goes.
class ChannelOrder {
  public:
    explicit ChannelOrder(MemoryResource* resource)
        : messages_(Allocator<std::uint16_t>(resource)),
          values_(Allocator<std::uint16_t>(resource)) {}

    void message_queued(std::uint16_t sequence) { messages_.push_back(sequence); }
    void message_delivered(std::uint16_t sequence) noexcept {
        const auto found = std::find(messages_.begin(), messages_.end(), sequence);
        REPLAYOUT_ASSERT(found != messages_.end());
        messages_.erase(found);
    }
    /// `sequence`: of its first fragment.
    void value_queued(std::uint16_t sequence) { values_.push_back(sequence); }
    /// No message before the oldest value is missing.
    [[nodiscard]] bool may_resume_value() const noexcept {
        // Both in order, so the first ones tell; fewer than half of the sequences are under way.
        return messages_.empty() || values_.empty() ||
               static_cast<std::uint16_t>(messages_.front() - values_.front()) < 0x8000;
    }
    /// The oldest value has arrived.
    void value_resumed() noexcept {
        REPLAYOUT_ASSERT(may_resume_value() && !values_.empty());
        values_.erase(values_.begin());
    }

  private:
    Vector<std::uint16_t> messages_;  // under way, oldest first; few
    Vector<std::uint16_t> values_;    // paused, likewise
};

}  // namespace replayout
