// SPDX-License-Identifier: MIT
//
// One client of a server: its connection, what it is sent, what it sees. What every tick touches of
// each is at the front of its parts: with many connections, the memory takes longer than the work.
#pragma once

#include "call_limiter.h"
#include "client_interest.h"
#include "net_connection.h"
#include "replication_sender.h"
#include "server_environment.h"
#include "server_lane.h"
#include "server_log.h"
#include "server_objects.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

struct alignas(64) ServerClient {
    /// What all clients of a server have in common.
    struct Shared {
        const ServerEnvironment& environment;
        ServerObjects& objects;
        std::span<TypeCounters> type_counters;
        WaitingPool& waiting_pool;
        ServerLog& log;
    };

    /// Calls that came from the client, see ClientCalls.
    struct DueCalls {
        bool may_exist = false;          ///< calls came since somebody looked for them, or wait
        bool were_put_off = false;       ///< there was no room for the one in front
        std::uint32_t fates_before = 0;  ///< units of FateCost before the packet that is read
        std::uint64_t tried_in = 0;      ///< the dispatch in which some were put off last
        std::uint64_t waits_since = 0;   ///< the dispatch in which the one in front was put off
    };

    /// `recording`: a connection that is recorded sends by it. Null: the client is a peer.
    ServerClient(const Shared& shared, const PacketStream::Settings& settings,
                 ServerLane& client_lane, NetTime now, Transport* recording = nullptr);

    [[nodiscard]] bool is_joined() const noexcept {
        return connection.state() == ConnectionState::Joined;
    }

    const bool is_replay;       ///< of a recording: the world does not hear of it, no peer has it
    bool is_addressed = false;  ///< it is the newest client of its peer
    /// The server sends its layouts first. Until the client has them all it cannot read an object.
    bool awaits_layouts = false;
    bool may_tell_difference = false;       ///< of its layout, once
    bool is_told_of = false;                ///< the world knows that it joined
    bool is_alone = false;                  ///< in this flush: it is served after the lanes
    std::uint8_t looks_without_viewer = 0;  ///< see ReplicationServer
    std::uint32_t kept_count = 0;           ///< datagrams of this flush that its lane keeps
    std::uint32_t number = 0;               ///< among the server's clients
    std::size_t next_notice = 0;            ///< see DestructionNotices
    std::uint64_t begun_in = 0;             ///< the dispatch in which its session began
    DueCalls due_calls;
    ServerLane& lane;
    NetConnection connection;
    ReplicationSender sender;
    ClientInterest interest;
    NumberBitRow other_versions;  ///< layouts, by number, that it lacks or has in another version
    CallLimiter call_limiter;
    TokenBucket strikes;
};

}  // namespace replayout
