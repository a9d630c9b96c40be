// SPDX-License-Identifier: MIT
//
// What stands between a socket and ENet: ENet keeps something of an address from the first packet
// on that asks to connect, so it sees none before the address is proved (address_handshake.h).
//
//     a server's   answers requests, remembers addresses that were proved, lets these alone through
//     a client's   asks until it is welcome, and then ENet may begin to connect
#pragma once

#include "address_cookie.h"
#include "address_handshake.h"
#include "address_places.h"

#include <replayout/transports/enet_transport.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include <enet/enet.h>

namespace replayout {

class EnetGate {
  public:
    /// `stats` outlives the gate.
    EnetGate(const EnetSettings& settings, SocketStats& stats);

    /// Of the host that is behind the gate. `server`: null of a server's gate.
    void open(ENetHost* host, const ENetAddress* server);

    /// A client asks where it must, a server forgets what was not used.
    void tick(NetTime now);
    /// A datagram that has just arrived; false: ENet is not to see it.
    [[nodiscard]] bool admits(std::span<const std::byte> bytes, const ENetAddress& from);

    // Of a server: what became of a peer of ENet's at an address.
    void peer_connected(const ENetAddress& address);
    void peer_left(const ENetAddress& address);

    // Of a client.

    /// Once for each time that the server's welcome has arrived.
    [[nodiscard]] bool take_welcome() noexcept { return std::exchange(has_new_welcome_, false); }
    /// It is welcome no more, and asks again if it is to.
    void forget_welcome(bool is_to_ask) noexcept;
    /// Somebody wants to send.
    void want() noexcept { is_wanted_ = true; }
    [[nodiscard]] const ENetAddress& server_address() const noexcept { return server_address_; }

  private:
    /// An address that proved itself.
    struct Proved {
        std::int64_t used_us = 0;
        std::uint32_t peers = 0;  ///< of ENet, at this address
        std::uint32_t connects = 0;
        bool was_peer = false;
    };
    struct AddressLess {
        bool operator()(const ENetAddress& left, const ENetAddress& right) const noexcept {
            return std::pair(left.host, left.port) < std::pair(right.host, right.port);
        }
    };

    [[nodiscard]] bool is_server() const noexcept { return !is_client_; }
    void answer(const AddressHandshake& request, const ENetAddress& from);
    /// True: it was an answer of the server.
    bool take_answer(const AddressHandshake& handshake);
    void say(const AddressHandshake& handshake, const ENetAddress& to);
    void forget_unused();
    /// What ENet began with this address and did not finish.
    void reset_connecting(const ENetAddress& address);

    EnetSettings settings_;
    SocketStats& stats_;
    AddressCookie::Secret secret_;
    AddressCookie cookies_;
    AddressPlaces places_;
    std::pmr::map<ENetAddress, Proved, AddressLess> proved_;
    ENetHost* host_ = nullptr;
    NetTime now_;
    std::int64_t next_sweep_us_ = 0;

    bool is_client_ = false;
    ENetAddress server_address_{};
    std::uint64_t client_ = 0;
    std::uint64_t cookie_ = 0;
    std::int64_t next_request_us_ = 0;
    bool is_wanted_ = true;
    bool is_welcome_ = false;
    bool has_new_welcome_ = false;
};

}  // namespace replayout
