// SPDX-License-Identifier: MIT
#include "simulation/judges/packet_judge.h"

#include <replayout/netdriver/net_stats.h>

#include <algorithm>
#include <string>

namespace replayout::test {

void PacketJudge::sent(PeerId to, std::span<const std::byte> datagram, bool may_have_secrets) {
    ++packets_;
    bytes_ += datagram.size();
    if (!may_have_secrets) {
        return;
    }
    for_each_marked(datagram, [&](const MarkedValue& mark) {
        const CraftState* craft = server_.find_number(mark.object);
        if (craft == nullptr) {
            return;  // it is gone: nobody knows any more whose it was
        }
        ++secrets_seen_;
        const std::set<PeerId>& owners = craft->owners_of_tick;
        const bool is_owner = owners.contains(to);
        const bool is_other = owners.size() > 1 || !is_owner;
        const bool is_for_it = mark.kind == orders_mark ? is_owner : is_other;
        verdict_.require(Invariant::Secrecy, is_for_it || is_as_hidden(to, *craft, mark), [&] {
            return "a packet for " + std::to_string(to.value) + " tells a secret of craft " +
                   std::to_string(mark.object);
        });
    });
}

// With the calls of a craft that was hidden goes what it was then, and the client saw that.
bool PacketJudge::is_as_hidden(PeerId to, const CraftState& craft, const MarkedValue& mark) {
    if (server_.driver().connection_shadow(to, craft.id).has_value()) {
        return false;  // it is shown
    }
    if (mark.kind == orders_mark) {
        const auto owned = craft.owned_last.find(to);
        return owned != craft.owned_last.end() && mark.tick <= owned->second;
    }
    if (craft.only_owner == to) {
        return mark.tick <= craft.only_owner_since;
    }
    // In the last tick the peer was no owner, or not the only one.
    std::uint32_t last_tick = 0;
    for (const auto& [owner, tick] : craft.owned_last) {
        last_tick = std::max(last_tick, tick);
    }
    return mark.tick <= last_tick;
}

void PacketJudge::check_counters(const NetStats& stats, std::uint64_t received, bool is_recorded) {
    const auto equal = [this](const char* name, std::uint64_t counted, std::uint64_t seen) {
        verdict_.require(Invariant::Counters, counted == seen, [&] {
            return std::string(name) + ": " + std::to_string(counted) + " counted, " +
                   std::to_string(seen) + " seen";
        });
    };
    // Those of a recording are sent to nobody.
    if (!is_recorded) {
        equal("packets sent", stats.packets_sent, packets_);
        equal("bytes sent", stats.bytes_sent, bytes_);
    }
    // What comes from nobody is none of ours.
    verdict_.require(Invariant::Counters, stats.packets_received <= received,
                     [] { return "more packets are counted than arrived"; });
    verdict_.require(Invariant::Fates,
                     stats.packets_delivered + stats.packets_lost <= stats.packets_sent,
                     [] { return "more packets have a fate than were sent"; });
    verdict_.require(Invariant::Fates, stats.records_lost <= stats.records_sent,
                     [] { return "more records were lost than were sent"; });
}

void PacketJudge::check_memory() {
    verdict_.require(Invariant::Counters,
                     server_.driver().memory_report().total_bytes() ==
                         static_cast<std::uint64_t>(server_.memory().bytes_in_use()),
                     [] { return "the memory report is not what the resource gave"; });
}

}  // namespace replayout::test
