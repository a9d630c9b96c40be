// SPDX-License-Identifier: MIT
//
// Sessions that ended a short while ago, by peer. A datagram can arrive late, or twice: without
// this memory an old hello would begin again what has ended, or end what the peer has begun since.
//
// It holds as many peers as there can be connections, and no peer gets in without having been one.
// The peer whose last session ended first makes room, so under a flood of joins it forgets sooner.
// However many sessions one peer ends, it makes room for them itself.
#pragma once

#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "arrival_credit.h"

namespace replayout {

class EndedSessions {
  public:
    /// The sessions of one peer that are kept. A peer with so many ends within timeout_ms begins no
    /// other session. So a peer that begins one after the other is sent the world a bounded number
    /// of times, whatever it acknowledges.
    static constexpr std::size_t sessions_max = 8;

    EndedSessions(std::size_t peers_max, MemoryResource* resource)
        : peers_max_(peers_max), peers_(Allocator<Peer>(resource)) {}

    /// `credit`: what is left to the peer's next session. Ends do not go back in time.
    void add(PeerId peer, std::uint16_t session, NetTime end, const ArrivalCredit& credit) {
        if (contains(peer, session)) {
            return;
        }
        Peer& entry = room_for(peer);
        entry.peer = peer;
        entry.credit = credit;
        entry.add({session, end});
        entry.last = ++ended_count_;
    }

    [[nodiscard]] bool contains(PeerId peer, std::uint16_t session) const noexcept {
        const auto known = find(peer);
        return known != peers_.end() &&
               std::any_of(known->begin(), known->end(),
                           [session](const Session& entry) { return entry.session == session; });
    }

    /// Any session of the peer.
    [[nodiscard]] bool contains(PeerId peer) const noexcept { return find(peer) != peers_.end(); }

    /// How many of the peer there are.
    [[nodiscard]] std::size_t count(PeerId peer) const noexcept {
        const auto known = find(peer);
        return known != peers_.end() ? known->count : 0;
    }

    /// That of the latest of the peer. Null: there is none.
    [[nodiscard]] const ArrivalCredit* credit(PeerId peer) const noexcept {
        const auto known = find(peer);
        return known != peers_.end() ? &known->credit : nullptr;
    }

    void forget_before(NetTime time) {
        for (std::size_t i = peers_.size(); i-- > 0;) {
            peers_[i].forget_before(time);
            if (peers_[i].count == 0) {
                peers_[i] = peers_.back();
                peers_.pop_back();
            }
        }
    }

  private:
    struct Session {
        std::uint16_t session = 0;
        NetTime end;
    };
    struct Peer {
        PeerId peer;
        ArrivalCredit credit{0};
        std::array<Session, sessions_max> sessions;  // the latest last
        std::uint32_t count = 0;
        std::uint64_t last = 0;  // the greatest is that of the peer whose session ended last

        [[nodiscard]] const Session* begin() const noexcept { return sessions.data(); }
        [[nodiscard]] const Session* end() const noexcept { return sessions.data() + count; }
        void drop_first(std::uint32_t dropped) noexcept {
            std::copy(sessions.data() + dropped, sessions.data() + count, sessions.data());
            count -= dropped;
        }
        void add(const Session& session) noexcept {
            if (count == sessions_max) {
                drop_first(1);
            }
            sessions[count++] = session;
        }
        void forget_before(NetTime time) noexcept {
            drop_first(static_cast<std::uint32_t>(std::count_if(
                begin(), end(), [time](const Session& entry) { return entry.end < time; })));
        }
    };

    [[nodiscard]] Vector<Peer>::const_iterator find(PeerId peer) const noexcept {
        return std::find_if(peers_.begin(), peers_.end(),
                            [peer](const Peer& entry) { return entry.peer == peer; });
    }

    /// The entry of the peer. A peer without one gets a new one, for which the oldest may go.
    [[nodiscard]] Peer& room_for(PeerId peer) {
        if (const auto known = find(peer); known != peers_.end()) {
            return peers_[static_cast<std::size_t>(known - peers_.begin())];
        }
        if (peers_.size() < peers_max_) {
            return peers_.emplace_back();
        }
        Peer& oldest = *std::min_element(
            peers_.begin(), peers_.end(),
            [](const Peer& left, const Peer& right) { return left.last < right.last; });
        oldest = Peer();
        return oldest;
    }

    std::size_t peers_max_;
    Vector<Peer> peers_;
    std::uint64_t ended_count_ = 0;
};

}  // namespace replayout
