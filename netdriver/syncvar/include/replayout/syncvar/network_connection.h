// SPDX-License-Identifier: MIT
//
// A client, as its server knows it (Mirror: NetworkConnectionToClient).
#pragma once

#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>

#include <cstdint>

namespace replayout::syncvar {

class NetworkIdentity;

class NetworkConnection {
  public:
    explicit NetworkConnection(PeerId peer) : peer_(peer) {}
    NetworkConnection(const NetworkConnection&) = delete;
    NetworkConnection& operator=(const NetworkConnection&) = delete;

    [[nodiscard]] PeerId peer() const noexcept { return peer_; }
    /// It is sent objects.
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
    /// Its player; null: it has none.
    [[nodiscard]] NetworkIdentity* identity() const noexcept { return identity_; }
    /// This process plays, too (host mode).
    [[nodiscard]] bool is_host() const noexcept { return is_host_; }

  private:
    friend class NetworkServer;

    PeerId peer_;
    NetworkIdentity* identity_ = nullptr;
    NetworkIdentity* channel_ = nullptr;
    std::uint64_t batch_next_ = 0;  // net id, in send_batch()
    bool is_ready_ = false;
    bool is_batch_due_ = false;
    bool is_host_ = false;
};

}  // namespace replayout::syncvar
