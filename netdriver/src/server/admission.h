// SPDX-License-Identifier: MIT
//
// A peer says hello. The server judges it, and has a client from then on: one that it serves, or
// one that it only tells why not.
#pragma once

#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "client_calls.h"
#include "control_message.h"
#include "ended_sessions.h"
#include "object_lives.h"
#include "server_clients.h"
#include "server_environment.h"
#include "server_log.h"

namespace replayout {

class Admission {
  public:
    Admission(const ServerEnvironment& environment, ServerClients& clients, ClientCalls& calls,
              ObjectLives& lives, ServerLog& log);
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    /// A datagram of a peer that has no connection, or starts a new session.
    void receive(PeerId peer, std::span<const std::byte> datagram, NetTime now);
    /// Refuses a hello of the client's own session, if the client has acknowledged packets before:
    /// then it is late, or of a process that began anew with the same number, and the session must
    /// not read it. False: the datagram is none.
    [[nodiscard]] bool refuse_late_hello(const ServerClient& client,
                                         std::span<const std::byte> datagram);
    /// All datagrams of a dispatch were received.
    void end_dispatch() noexcept { ++dispatch_; }
    /// The session of a client ended: its hello is refused for a while, should it come again.
    void note_ended(ServerClient& client, NetTime now);
    void forget_old_sessions(NetTime now);

  private:
    /// The server answers refused peers until they know why, so they take connections beyond those
    /// of players.
    static constexpr std::size_t refused_max = 64;

    [[nodiscard]] CloseReason judge(const Hello& hello) const noexcept;
    /// Whether a client of other layouts may be told ours.
    [[nodiscard]] bool may_describe(const Hello& hello) const noexcept;
    void describe_layouts();
    void send_layouts(ServerClient& client, const Hello& hello);
    ServerClient& accept(PeerId peer, std::uint16_t session, NetTime now);
    /// The first packet of a session, or one that says the same again.
    [[nodiscard]] bool is_hello(std::span<const std::byte> datagram, PacketHeader& header) const;
    /// Tells a peer, in a header alone, that its hello is not taken because of its session's
    /// number.
    void refuse_session(PeerId peer, const PacketHeader& hello);
    /// Refuses a hello with another digest. Explains the first layout that the hello lacks or lists
    /// with another fingerprint, if the server finds it and the explanation is not too long.
    void refuse_layout(ServerClient& client, const Hello& hello, NetTime now);
    /// Another session of the same peer takes its place: all that is kept of it goes at once.
    void replace(ServerClient& client, NetTime now);

    const ServerEnvironment& environment_;
    ServerClients& clients_;
    ClientCalls& calls_;
    ObjectLives& lives_;
    ServerLog& log_;
    Digest128 schema_;
    std::uint64_t dispatch_ = 1;  // the number of the dispatch that is going on, or comes next
    EndedSessions ended_sessions_;
    Vector<Vector<std::byte>> descriptions_;  // by number; none where nobody may be told
};

}  // namespace replayout
