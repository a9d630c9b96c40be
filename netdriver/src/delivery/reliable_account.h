// SPDX-License-Identifier: MIT
//
// What the other end of a connection may make this end keep: bunches that came ahead of a missing
// one, and messages of which parts are missing. Each connection has an account of it, with limits
// by who is at the other end, and all clients of a server draw on one pool besides.
//
//     account of a client   [ own share ][ out of the pool ...  | limit ]
//     pool of the server    [ of one ][ of another ]... free    | limit ]
//
// So who stays within his share is never refused for what others do.
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/diagnostics.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

/// What this end takes of the other, by NetConfig.
struct ReceiveLimits {
    std::uint32_t bunches_max = 0;      ///< that wait for a missing one
    std::size_t bytes_max = 0;          ///< of these, and of messages not yet whole
    std::size_t message_bytes_max = 0;  ///< of one message
    std::size_t call_bytes_max = 0;     ///< of one call
    std::size_t part_bytes = 0;         ///< of a part, but for the last
    std::uint16_t first_sequence = 1;   ///< with which a channel begins

    /// What a client takes, on its channels; the same once more of calls.
    [[nodiscard]] static ReceiveLimits of_server(const NetConfig& config) noexcept;
    /// What a server takes of calls.
    [[nodiscard]] static ReceiveLimits of_client(const NetConfig& config) noexcept;
    /// What a server takes on the control channel, where a client says no more than hello and
    /// goodbye, each smaller than a packet.
    [[nodiscard]] static ReceiveLimits of_client_control(const NetConfig& config) noexcept;
};

/// What all clients of a server keep waiting together, beyond the share of each.
class WaitingPool {
  public:
    explicit WaitingPool(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

    /// False, and nothing taken: there is not so much.
    [[nodiscard]] bool take(std::size_t bytes) noexcept {
        if (bytes > bytes_max_ - bytes_) {
            return false;
        }
        bytes_ += bytes;
        return true;
    }
    void give_back(std::size_t bytes) noexcept {
        REPLAYOUT_ASSERT(bytes <= bytes_);
        bytes_ -= bytes;
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    std::size_t bytes_max_;
    std::size_t bytes_ = 0;
};

class ReliableAccount {
  public:
    /// `now` is the connection's, of what it receives; `pool` is null of one that draws on none.
    /// Both outlive the account.
    ReliableAccount(const ReceiveLimits& limits, const NetTime& now,
                    WaitingPool* pool = nullptr) noexcept
        : limits_(limits), now_(now), pool_(pool) {}
    ~ReliableAccount() { REPLAYOUT_ASSERT(bunches_ == 0 && bytes_ == 0 && pooled_bytes_ == 0); }
    ReliableAccount(const ReliableAccount&) = delete;
    ReliableAccount& operator=(const ReliableAccount&) = delete;

    [[nodiscard]] const ReceiveLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }
    [[nodiscard]] std::uint32_t bunches() const noexcept { return bunches_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool is_empty() const noexcept { return bunches_ == 0 && bytes_ == 0; }

    /// A bunch that is to wait. False, and nothing taken: it may not.
    [[nodiscard]] bool take_bunch(std::size_t payload_bytes) noexcept {
        return bunches_ < limits_.bunches_max && take(1, payload_bytes);
    }
    /// A part of a message.
    [[nodiscard]] bool take_part(std::size_t payload_bytes) noexcept {
        return take(0, payload_bytes);
    }
    void give_back(std::uint32_t bunches, std::size_t payload_bytes) noexcept;

    /// What each client may keep waiting, whatever others do: fourteen parts of large calls, or a
    /// hundred small ones.
    static constexpr std::size_t share_bytes = 16 * 1024;
    /// What a bunch takes beside its payload, roughly: the node that it lies in.
    static constexpr std::size_t bunch_bytes = 128;

  private:
    [[nodiscard]] bool take(std::uint32_t bunches, std::size_t payload_bytes) noexcept;
    /// Out of the pool, when so much is kept.
    [[nodiscard]] static std::size_t pooled(std::uint32_t bunches, std::size_t bytes) noexcept {
        const std::size_t kept = bytes + bunches * bunch_bytes;
        return kept > share_bytes ? kept - share_bytes : 0;
    }

    ReceiveLimits limits_;
    const NetTime& now_;
    WaitingPool* pool_;
    std::uint32_t bunches_ = 0;
    std::size_t bytes_ = 0;
    std::size_t pooled_bytes_ = 0;  // always 0 without a pool
};

}  // namespace replayout
