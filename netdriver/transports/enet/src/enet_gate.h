// SPDX-License-Identifier: MIT
//
// What stands between a socket and ENet: ENet keeps something of an address from the first packet
// on that asks to connect, so it sees none before the address is proved (address_handshake.h).
//
//     a server's   answers requests, remembers addresses that were proved, lets these alone
//                  through; and of these nobody begins a connection who does not know the token of
//                  the welcome, of which ENet's connect brings the low half
//     a client's   asks until it is welcome, and then ENet may begin to connect
//
// And of a peer it sees nothing but what this transport says: ENet can do more, and bounds what it
// keeps of that by the bytes of payload alone. A fragment of 25 bytes makes it take 128 KiB, and of
// packets that wait for others, without payload, it keeps any number.
#pragma once

#include "address_cookie.h"
#include "address_handshake.h"
#include "answer_watch.h"
#include "peer_slots.h"

#include <replayout/transports/enet_transport.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory_resource>
#include <span>
#include <utility>

#include <enet/enet.h>

namespace replayout {

/// Whose peer of ENet's goes, as another connection begins at its address.
class EnetPeers {
  public:
    virtual void replace_peer(ENetPeer& peer) = 0;

  protected:
    ~EnetPeers() = default;
};

class EnetGate {
  public:
    /// `stats` and `peers` outlive the gate.
    EnetGate(const EnetSettings& settings, const AddressCookie::Secret& secret, SocketStats& stats,
             EnetPeers& peers);

    /// Of the host that is behind the gate. `server`: null of a server's gate.
    void open(ENetHost* host, const ENetAddress* server);

    /// A client asks where it must, a server forgets what was not used.
    void tick(NetTime now);
    /// A datagram that has just arrived; false: ENet is not to see it.
    [[nodiscard]] bool admits(std::span<const std::byte> bytes, const ENetAddress& from);

    // Of a server: what became of a peer of ENet's at an address.

    /// Who that is to the driver: `fresh`, unless the address has a peer already, whose session the
    /// driver will end when it hears of another one.
    [[nodiscard]] PeerId peer_connected(const ENetAddress& address, PeerId fresh);
    /// Its slot is free.
    void peer_left(const ENetAddress& address);

    // Of a client.

    /// Once for each time that the server's welcome has arrived.
    [[nodiscard]] bool take_welcome() noexcept { return std::exchange(has_new_welcome_, false); }
    /// What ENet's connect is to bring.
    [[nodiscard]] std::uint32_t connect_data() const noexcept {
        return static_cast<std::uint32_t>(token_);
    }
    /// For a connection that begins: a number that nobody can guess.
    [[nodiscard]] std::uint32_t connection_number() noexcept {
        return static_cast<std::uint32_t>(cookies_.client_number(++number_count_));
    }
    /// It is welcome no more, and asks again, under another number, if it is to.
    void forget_welcome(bool is_to_ask) noexcept;
    /// Somebody wants to send.
    void want() noexcept { is_wanted_ = true; }
    [[nodiscard]] const ENetAddress& server_address() const noexcept { return server_address_; }

  private:
    /// An address that proved itself.
    struct Proved {
        std::int64_t begun_us = 0;       ///< since when it has no peer
        std::uint32_t connect_data = 0;  ///< of who was welcome last
        std::uint32_t wrong_connects = 0;
        bool may_connect = true;
        bool is_begun = false;  ///< a connection, by what these were
        std::uint32_t begun_data = 0;
        std::uint32_t begun_id = 0;     ///< ENet's number of it, as it lies in packets
        bool is_peer = false;           ///< it is connected
        PeerId peer;                    ///< 0: it never was
        std::uint64_t heard_in = 0;     ///< the last tick in which it sent anything
        std::uint32_t heard_count = 0;  ///< datagrams in that tick
    };
    struct AddressLess {
        bool operator()(const ENetAddress& left, const ENetAddress& right) const noexcept {
            return std::pair(left.host, left.port) < std::pair(right.host, right.port);
        }
    };

    using ProvedMap = std::pmr::map<ENetAddress, Proved, AddressLess>;

    [[nodiscard]] bool is_server() const noexcept { return !is_client_; }
    /// Counts a datagram of the address. False: it sent more than datagrams_per_peer_max in this
    /// tick.
    [[nodiscard]] bool has_turn(Proved& address) noexcept;
    /// Bytes of a peer: of commands that this transport does not use it sees none.
    [[nodiscard]] bool admits_commands(std::span<const std::byte> bytes);
    /// Bytes to nobody, that must be a connect of who is welcome.
    [[nodiscard]] bool admits_connect(std::span<const std::byte> bytes, ProvedMap::iterator proved);
    void count_wrong_connect(ProvedMap::iterator proved);
    ProvedMap::iterator unprove(ProvedMap::iterator proved);
    void answer(const AddressHandshake& request, const ENetAddress& from);
    /// True: it was an answer of the server.
    bool take_answer(const AddressHandshake& handshake);
    void say(const AddressHandshake& handshake, const ENetAddress& to);
    void forget_unused();
    /// What ENet has with this address.
    void reset_peers(const ENetAddress& address);

    EnetSettings settings_;
    SocketStats& stats_;
    EnetPeers& peers_;
    AddressCookie cookies_;
    PeerSlots peer_slots_;
    ProvedMap proved_;
    ENetHost* host_ = nullptr;
    NetTime now_;
    std::uint64_t tick_ = 0;
    std::int64_t next_sweep_us_ = std::numeric_limits<std::int64_t>::min();

    bool is_client_ = false;
    ENetAddress server_address_{};
    AnswerWatch answers_;
    std::uint64_t number_count_ = 0;
    std::uint64_t client_;
    std::uint64_t cookie_ = 0;
    std::uint64_t token_ = 0;
    std::int64_t next_request_us_ = std::numeric_limits<std::int64_t>::min();
    bool is_wanted_ = true;
    bool is_welcome_ = false;
    bool has_new_welcome_ = false;
};

}  // namespace replayout
