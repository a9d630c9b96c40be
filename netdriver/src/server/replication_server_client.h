// SPDX-License-Identifier: MIT
//
// One client of a server: its connection, what it is sent, what it sees. What every tick touches of
// each is at the front of its parts, as of many connections the memory takes longer than the work.
#pragma once

#include "call_limiter.h"
#include "client_interest.h"
#include "net_connection.h"
#include "replication_sender.h"
#include "replication_server.h"
#include "server_lane.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class alignas(64) ReplicationServer::Client final : public PayloadHandler {
    ReplicationServer& server_;

  public:
    /// `recording`: what it sends by, of a connection that is recorded.
    Client(ReplicationServer& server, const PacketSender::Settings& settings,
           ServerLane& client_lane, NetTime now, Transport* recording = nullptr);

    const bool is_replay;  ///< nobody's: the world is not told of it, and no peer has it
    /// Its peer has it in clients_by_peer_, and no newer one.
    bool is_addressed = false;
    bool may_have_due_calls = false;  ///< a bunch of them came, and nobody looked since
    /// It is told our layouts, and cannot read anything of an object before it has them all.
    bool awaits_layouts = false;
    bool may_tell_difference = false;       ///< of its layout, once
    bool is_told_of = false;                ///< the world knows that it joined
    bool is_alone = false;                  ///< in this flush: it is served after the lanes
    std::uint8_t looks_without_viewer = 0;  ///< see look_for_viewer()
    std::uint32_t kept_count = 0;           ///< datagrams of this flush that its lane keeps
    std::uint32_t place = 0;                ///< in clients_
    std::size_t next_notice = 0;            ///< of those in destroyed_names_
    std::uint64_t begun_in = 0;             ///< the dispatch in which its session began
    ServerLane& lane;
    NetConnection connection;
    ReplicationSender sender;
    ClientInterest interest;
    BitRow
        other_versions;  ///< layouts, by number, that it is known to have otherwise or not at all
    CallLimiter call_limiter;
    TokenBucket strikes;

  private:
    CloseReason handle_bunch(const BunchHeader& header, std::span<const std::byte> payload,
                             DecodeBudget& budget) override;
    CloseReason handle_control(std::span<const std::byte> message) override;
    CloseReason handle_blocks(BitReader& reader) override {
        if (reader.bits_left() != 0) {
            return CloseReason::NotAllowed;
        }
        return may_have_due_calls ? server_.run_calls(*this) : CloseReason::None;
    }
};

inline bool ReplicationServer::is_joined(const Client& client) noexcept {
    return client.connection.state() == ConnectionState::Joined;
}

}  // namespace replayout
