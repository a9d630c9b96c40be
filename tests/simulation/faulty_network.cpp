// SPDX-License-Identifier: MIT
#include "simulation/faulty_network.h"

#include <replayout/reflection/hash.h>

#include <algorithm>

namespace replayout::test {

namespace {

constexpr std::size_t past_max = 512;

[[nodiscard]] bool happens(Choices& row, std::uint32_t per_mille) {
    // As Choices::percent(): never at the end of the row.
    return row.below(1'000) + per_mille >= 1'000;
}

}  // namespace

void FaultCounts::add(const FaultCounts& other) {
    sent += other.sent;
    bytes += other.bytes;
    delivered += other.delivered;
    lost += other.lost;
    duplicated += other.duplicated;
    delayed += other.delayed;
    corrupt += other.corrupt;
    parted += other.parted;
    tail_dropped += other.tail_dropped;
    replayed += other.replayed;
    unreachable += other.unreachable;
    overrun += other.overrun;
    hostile += other.hostile;
}

std::size_t FaultyNetwork::Endpoint::receive(PeerId& peer, std::span<std::byte> buffer) {
    if (arrived.empty()) {
        return nothing_received;
    }
    const auto [from, bytes] = std::move(arrived.front());
    arrived.pop_front();
    peer = from;
    ++received;
    const std::size_t size = std::min(bytes.size(), buffer.size());
    std::copy_n(bytes.begin(), size, buffer.begin());
    return size;
}

FaultyNetwork::Endpoint& FaultyNetwork::endpoint_of(PeerId peer) {
    const auto found = endpoints_.find(peer);
    if (found != endpoints_.end()) {
        return found->second;
    }
    Endpoint& made = endpoints_.try_emplace(peer, *this, peer).first->second;
    made.address = peer;
    owners_of_addresses_[peer] = peer;
    senders_[peer] = peer;
    return made;
}

Transport& FaultyNetwork::endpoint(PeerId peer) {
    Endpoint& found = endpoint_of(peer);
    found.is_connected = true;
    return found;
}

void FaultyNetwork::disconnect(PeerId peer) {
    Endpoint& gone = endpoint_of(peer);
    gone.is_connected = false;
    gone.arrived.clear();
}

void FaultyNetwork::rebind(PeerId peer, PeerId address) {
    Endpoint& bound = endpoint_of(peer);
    owners_of_addresses_.erase(bound.address);
    bound.address = address;
    owners_of_addresses_[address] = peer;
    senders_[address] = peer;
}

PeerId FaultyNetwork::address_of(PeerId peer) const {
    const auto found = endpoints_.find(peer);
    return found == endpoints_.end() ? peer : found->second.address;
}

void FaultyNetwork::advance(NetTime now, Choices row) {
    now_ = now;
    row_ = std::move(row);
    while (!flights_.empty() && flights_.begin()->first.first <= now) {
        const Flight flight = std::move(flights_.begin()->second);
        flights_.erase(flights_.begin());
        deliver(flight);
    }
}

void FaultyNetwork::replay() {
    if (past_.empty()) {
        return;
    }
    Flight flight = past_[row_.below(static_cast<std::uint32_t>(past_.size()))];
    if (row_.percent(40)) {
        const auto any = std::next(endpoints_.begin(),
                                   row_.below(static_cast<std::uint32_t>(endpoints_.size())));
        // Not from the server's own, nor from where who sent it is now: docs/simulation.md.
        const bool may_be = any->first != server_ && any->first != senders_.at(flight.from);
        flight.from = may_be ? any->second.address : flight.from;
    }
    ++counts_.replayed;
    deliver(flight);
}

void FaultyNetwork::set_parted(PeerId client, bool is_to_client, bool is_to_server) {
    links_[{server_, client}].is_parted = is_to_client;
    links_[{client, server_}].is_parted = is_to_server;
}

void FaultyNetwork::set_faults(const LinkFaults& to_client, const LinkFaults& to_server) {
    to_client_ = to_client;
    to_server_ = to_server;
}

void FaultyNetwork::set_hostile(PeerId peer, std::uint32_t per_mille) {
    endpoint_of(peer).hostile_per_mille = per_mille;
}

void FaultyNetwork::heal() {
    const auto healed = [](const LinkFaults& faults) {
        LinkFaults perfect;
        perfect.latency_ms = faults.latency_ms;
        return perfect;
    };
    set_faults(healed(to_client_), healed(to_server_));
    for (auto& [ends, link] : links_) {
        link.is_parted = false;
        link.burst_left = 0;
        link.busy_until = now_;
    }
    for (auto& [peer, endpoint] : endpoints_) {
        endpoint.hostile_per_mille = 0;
        endpoint.queue_max = 2'048;
    }
}

NetTime FaultyNetwork::last_due() const {
    return flights_.empty() ? now_ : flights_.rbegin()->first.first;
}

void FaultyNetwork::send(PeerId from, PeerId to, std::span<const std::byte> datagram) {
    if (on_sent) {
        on_sent(from, to, datagram);
    }
    ++counts_.sent;
    counts_.bytes += datagram.size();
    Endpoint& source = endpoint_of(from);
    if (!source.is_connected) {
        ++counts_.unreachable;
        return;
    }
    const auto target = owners_of_addresses_.find(to);
    if (target == owners_of_addresses_.end()) {
        ++counts_.unreachable;  // nobody has this address any more
        return;
    }
    Link& link = links_[{from, target->second}];
    const LinkFaults& faults = from == server_ ? to_client_ : to_server_;
    Flight flight{source.address, to, to_bytes(datagram), 0};
    if (happens(row_, source.hostile_per_mille)) {
        ++counts_.hostile;
        // Mostly behind the header, which is sorted out before anything else is read.
        damage(flight.bytes, row_.percent(70) ? 11 : 0);
    }
    flight.checksum = hash64(flight.bytes);
    std::int64_t wait_us = 0;
    if (!passes(link, faults, datagram.size(), wait_us)) {
        return;
    }
    // What a hostile peer says is his alone: a transport that is worth attacking tells peers apart.
    if (source.hostile_per_mille == 0) {
        remember(flight);
    }
    fly(flight, faults, wait_us);
    if (happens(row_, faults.duplicate)) {
        for (std::uint32_t i = row_.below(faults.copies_max) + 1; i > 0; --i) {
            ++counts_.duplicated;
            fly(flight, faults, wait_us);
        }
    }
}

bool FaultyNetwork::passes(Link& link, const LinkFaults& faults, std::size_t bytes,
                           std::int64_t& wait_us) {
    if (faults.bytes_per_second != 0) {
        const std::int64_t us = static_cast<std::int64_t>(bytes) * 1'000'000 /
                                static_cast<std::int64_t>(faults.bytes_per_second);
        const std::int64_t busy = std::max(link.busy_until, now_).microseconds;
        wait_us = busy - now_.microseconds + us;
        const std::int64_t full_us = static_cast<std::int64_t>(faults.queue_datagrams) * 1'200 *
                                     1'000'000 / faults.bytes_per_second;
        if (wait_us > full_us + us) {
            ++counts_.tail_dropped;
            return false;
        }
        link.busy_until = {busy + us};
    }
    if (link.is_parted) {
        ++counts_.parted;
        return false;
    }
    if (link.burst_left == 0 && happens(row_, faults.burst)) {
        link.burst_left = row_.below(faults.burst_length_max) + 1;
    }
    const bool is_in_burst = link.burst_left > 0;
    link.burst_left -= is_in_burst ? 1 : 0;
    if (is_in_burst || happens(row_, faults.loss)) {
        ++counts_.lost;
        return false;
    }
    return true;
}

void FaultyNetwork::fly(const Flight& flight, const LinkFaults& faults, std::int64_t wait_us) {
    std::int64_t delay_ms = faults.latency_ms;
    if (faults.jitter_ms != 0) {
        // The smaller of two draws: mostly little, seldom much.
        delay_ms += std::min(row_.below(faults.jitter_ms), row_.below(faults.jitter_ms));
    }
    if (happens(row_, faults.spike)) {
        ++counts_.delayed;
        delay_ms += faults.spike_ms;
    }
    Flight copy = flight;
    if (happens(row_, faults.corrupt)) {
        damage(copy.bytes, 0);
    }
    const NetTime due{now_.microseconds + wait_us + delay_ms * 1'000};
    flights_.emplace(Due{due, order_++}, std::move(copy));
}

void FaultyNetwork::damage(Bytes& bytes, std::size_t first) {
    first = std::min(first, bytes.size());
    const auto place = [&] {
        return first + row_.below(static_cast<std::uint32_t>(bytes.size() - first));
    };
    switch (row_.below(4)) {
        case 0:
            for (std::uint32_t i = row_.between(1, row_.percent(50) ? 64 : 3);
                 i > 0 && first < bytes.size(); --i) {
                const std::size_t damaged = place();
                flip_bit(bytes, damaged * 8 + row_.below(8));
            }
            break;
        case 1:
            bytes.resize(place());
            break;
        case 2:
            for (std::uint32_t i = row_.between(1, 40); i > 0 && bytes.size() < datagram_bytes_max;
                 --i) {
                bytes.push_back(static_cast<std::byte>(row_.below(256)));
            }
            break;
        default:
            if (!past_.empty()) {  // the end of another one behind the beginning
                const Bytes& other =
                    past_[row_.below(static_cast<std::uint32_t>(past_.size()))].bytes;
                bytes.resize(place());
                for (std::size_t i = bytes.size(); i < other.size(); ++i) {
                    bytes.push_back(other[i]);
                }
            }
            break;
    }
}

void FaultyNetwork::remember(const Flight& flight) {
    if (past_.size() < past_max) {
        past_.push_back(flight);
    } else {
        past_[order_ % past_max] = flight;
    }
}

void FaultyNetwork::deliver(const Flight& flight) {
    if (hash64(flight.bytes) != flight.checksum) {
        ++counts_.corrupt;
        return;
    }
    const auto owner = owners_of_addresses_.find(flight.to);
    Endpoint* target = owner == owners_of_addresses_.end() ? nullptr : &endpoint_of(owner->second);
    if (target == nullptr || !target->is_connected) {
        ++counts_.unreachable;
        return;
    }
    if (target->arrived.size() >= target->queue_max) {
        ++counts_.overrun;
        return;
    }
    ++counts_.delivered;
    target->arrived.emplace_back(flight.from, flight.bytes);
}

}  // namespace replayout::test
