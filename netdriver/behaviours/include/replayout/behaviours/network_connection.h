// SPDX-License-Identifier: MIT
//
// A client, as its server knows it (Mirror: NetworkConnectionToClient).
#pragma once

#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace replayout {

class NetworkIdentity;

/// Of the server that gave it, from NetworkManager::on_server_connect() until
/// on_server_disconnect() returns.
class NetworkConnection {
  public:
    explicit NetworkConnection(PeerId peer) : peer_(peer) {}
    NetworkConnection(const NetworkConnection&) = delete;
    NetworkConnection& operator=(const NetworkConnection&) = delete;

    [[nodiscard]] PeerId peer() const noexcept { return peer_; }
    /// It is sent objects, from the next late_update() on.
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
    /// Its player; null: it has none.
    [[nodiscard]] NetworkIdentity* identity() const noexcept { return identity_; }
    /// What it owns, its player too.
    [[nodiscard]] std::span<NetworkIdentity* const> owned() const noexcept { return owned_; }
    /// This process plays, too (host mode).
    [[nodiscard]] bool is_host() const noexcept { return is_host_; }

  private:
    friend class NetworkServer;

    /// What it was told of its being ready.
    enum class Phase : std::uint8_t {
        NotReady,
        Ready,
        Leaving,  ///< that it is not; and it has not answered
    };

    PeerId peer_;
    NetworkIdentity* identity_ = nullptr;
    NetworkIdentity* channel_ = nullptr;
    std::vector<NetworkIdentity*> owned_;
    std::map<std::uint32_t, std::uint32_t> groups_;  // of objects that it owns, how many
    /// By net id, what the game decided for it. Nothing: it was hidden, as it came while it left.
    std::map<std::uint64_t, std::optional<bool>> shown_;
    std::uint64_t batch_next_ = 0;  // net id, in send_batch()
    std::uint32_t answers_owed_ = 0;
    NetTime waiting_since_;  // for the next of them
    Phase phase_ = Phase::NotReady;
    bool is_ready_ = false;
    bool has_batch_ = false;
    bool is_batch_due_ = false;
    bool is_host_ = false;
};

}  // namespace replayout
