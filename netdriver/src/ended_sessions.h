// SPDX-License-Identifier: MIT
//
// Sessions that ended a short while ago, by peer. A datagram can arrive late, or twice: without
// this memory an old hello would begin again what has ended, or end what the peer has begun since.
//
// It holds as many as there can be connections, and no peer gets in without having been one. The
// oldest makes room, so under a flood of joins it forgets sooner.
#pragma once

#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "arrival_credit.h"

namespace replayout {

class EndedSessions {
  public:
    EndedSessions(std::size_t count_max, MemoryResource* resource)
        : count_max_(count_max), sessions_(Allocator<Session>(resource)) {
        sessions_.reserve(count_max);
    }

    /// `credit`: what is left to the peer's next session.
    void add(PeerId peer, std::uint16_t session, NetTime end, const ArrivalCredit& credit) {
        if (contains(peer, session)) {
            return;
        }
        if (sessions_.size() == count_max_) {
            sessions_.erase(sessions_.begin());
        }
        sessions_.push_back({peer, session, end, credit});
    }

    [[nodiscard]] bool contains(PeerId peer, std::uint16_t session) const noexcept {
        return std::any_of(sessions_.begin(), sessions_.end(), [&](const Session& entry) {
            return entry.peer == peer && entry.session == session;
        });
    }

    /// Any session of the peer.
    [[nodiscard]] bool contains(PeerId peer) const noexcept {
        return std::any_of(sessions_.begin(), sessions_.end(),
                           [peer](const Session& entry) { return entry.peer == peer; });
    }

    /// How many of the peer there are.
    [[nodiscard]] std::size_t count(PeerId peer) const noexcept {
        return static_cast<std::size_t>(
            std::count_if(sessions_.begin(), sessions_.end(),
                          [peer](const Session& entry) { return entry.peer == peer; }));
    }

    /// That of the latest of the peer. Null: there is none.
    [[nodiscard]] const ArrivalCredit* credit(PeerId peer) const noexcept {
        const auto found =
            std::find_if(sessions_.rbegin(), sessions_.rend(),
                         [peer](const Session& entry) { return entry.peer == peer; });
        return found != sessions_.rend() ? &found->credit : nullptr;
    }

    void forget_before(NetTime time) {
        const auto first_kept =
            std::find_if(sessions_.begin(), sessions_.end(),
                         [time](const Session& entry) { return entry.end >= time; });
        sessions_.erase(sessions_.begin(), first_kept);
    }

  private:
    struct Session {
        PeerId peer;
        std::uint16_t session = 0;
        NetTime end;
        ArrivalCredit credit;
    };

    std::size_t count_max_;
    Vector<Session> sessions_;  // oldest first
};

}  // namespace replayout
