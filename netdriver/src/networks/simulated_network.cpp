// SPDX-License-Identifier: MIT
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/diagnostics.h>

#include <algorithm>

namespace replayout {
namespace {

constexpr std::uint64_t microseconds_per_second = 1000000;
constexpr double milliseconds_max = 3600.0 * 1000.0;
constexpr std::uint64_t bytes_max = 1000000000000;  // times 10^6 still fits in 64 bits

// A draw of 63 bits is below the threshold with the given probability, and with 1 always. Scaling
// by a power of two is exact, so the threshold is the same on every machine.
constexpr double draws = 9223372036854775808.0;  // 2^63

std::uint64_t to_threshold(double probability) noexcept {
    return static_cast<std::uint64_t>(probability * draws);
}

bool is_probability(double value) noexcept {
    return value >= 0.0 && value <= 1.0;
}

bool is_duration(double milliseconds) noexcept {
    return milliseconds >= 0.0 && milliseconds <= milliseconds_max;
}

std::uint64_t to_microseconds(double milliseconds) noexcept {
    const double microseconds = milliseconds * 1000.0;
    const auto whole = static_cast<std::uint64_t>(microseconds);
    return microseconds - static_cast<double>(whole) < 0.5 ? whole : whole + 1;
}

bool hits(std::uint64_t draw, std::uint64_t threshold) noexcept {
    return (draw >> 1) < threshold;
}

// A whole number in [0, range), range up to 2^32. Its bias, range / 2^32 at most, is tolerable.
std::uint64_t scale(std::uint64_t draw, std::uint64_t range) noexcept {
    return (draw >> 32) * range >> 32;
}

[[nodiscard]] bool are_valid(const LinkSettings& settings) noexcept {
    return is_probability(settings.loss) && is_probability(settings.duplicate) &&
           is_probability(settings.reorder) && settings.burst_packets >= 0.0 &&
           is_duration(settings.reorder_ms) && is_duration(settings.latency_ms) &&
           is_duration(settings.jitter_ms) && settings.jitter_ms * 2 < milliseconds_max &&
           settings.bandwidth_bytes_per_second <= bytes_max && settings.queue_bytes <= bytes_max;
}

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

NetTime plus_microseconds(NetTime time, std::uint64_t microseconds) noexcept {
    return {time.microseconds + static_cast<std::int64_t>(microseconds)};
}

}  // namespace

// The chain of losses. With b for entering and e for leaving the bad state, a burst lasts 1 / e
// packets on average, and a share of b / (b + e) packets is lost:
//
//                    b                   e = 1 / burst_packets
//        good  ----------->  bad         b = e * loss / (1 - loss)
//     (delivers) <--------- (loses)
//                    e                   b > 1: b = 1, e = (1 - loss) / loss
SimulatedNetwork::LinkModel SimulatedNetwork::make_model(const LinkSettings& settings) {
    REPLAYOUT_EXPECT(
        are_valid(settings), LinkModel(),
        "simulated network: settings of a link: loss, duplicate and reorder are 0 to 1, "
        "times 0 to %g ms, bytes 0 to %llu",
        milliseconds_max, static_cast<unsigned long long>(bytes_max));
    LinkModel model;
    model.loss = to_threshold(settings.loss);
    model.duplicate = to_threshold(settings.duplicate);
    model.reorder = to_threshold(settings.reorder);
    model.reorder_us = to_microseconds(settings.reorder_ms);
    model.latency_us = to_microseconds(settings.latency_ms);
    model.jitter_us = to_microseconds(settings.jitter_ms);
    model.bytes_per_second = settings.bandwidth_bytes_per_second;
    model.queue_bytes = settings.queue_bytes;
    model.bursts = settings.burst_packets > 1.0 && settings.loss < 1.0;
    if (model.bursts) {
        const double odds = settings.loss / (1.0 - settings.loss);
        const bool rate_needs_longer_bursts = odds > settings.burst_packets;
        const double burst_packets = rate_needs_longer_bursts ? odds : settings.burst_packets;
        model.burst_end = to_threshold(1.0 / burst_packets);
        model.burst_begin = to_threshold(odds / burst_packets);
    }
    return model;
}

SimulatedNetwork::Link::Link(const LinkModel& link_model, std::uint64_t link_seed)
    : model(link_model), random(link_seed) {}

bool SimulatedNetwork::Link::draw_loss() {
    const std::uint64_t draw = random();
    if (!model.bursts) {
        return hits(draw, model.loss);
    }
    in_burst = in_burst ? !hits(draw, model.burst_end) : hits(draw, model.burst_begin);
    return in_burst;
}

SimulatedNetwork::CopyFate SimulatedNetwork::Link::draw_copy() {
    const std::uint64_t jitter_draw = random();
    const std::uint64_t reorder_draw = random();
    const std::uint64_t held_back_draw = random();
    CopyFate fate;
    // latency + [0, 2 * jitter] - jitter, not below 0.
    const std::uint64_t late_us = model.latency_us + scale(jitter_draw, 2 * model.jitter_us + 1);
    fate.delay_us = late_us - std::min(late_us, model.jitter_us);
    if (hits(reorder_draw, model.reorder)) {
        fate.held_back_us = 1 + scale(held_back_draw, std::max<std::uint64_t>(model.reorder_us, 1));
    }
    return fate;
}

// Eight draws, always and in this order: see the head of the header.
SimulatedNetwork::PacketFate SimulatedNetwork::Link::draw_fate() {
    PacketFate fate;
    fate.lost = draw_loss();
    fate.duplicated = hits(random(), model.duplicate);
    fate.original = draw_copy();
    fate.duplicate = draw_copy();
    return fate;
}

// A fluid queue: it drains bytes_per_second in every microsecond, in units of 10^-6 bytes.
// `wait_us` is the time until the last byte of this datagram has left.
bool SimulatedNetwork::Link::pass_bottleneck(NetTime now, std::size_t bytes,
                                             std::uint64_t& wait_us) {
    wait_us = 0;
    if (model.bytes_per_second == 0) {
        backlog = 0;
        return true;
    }
    const auto elapsed_us = static_cast<std::uint64_t>(now.microseconds_since(backlog_time));
    const bool drained = elapsed_us > backlog / model.bytes_per_second;
    backlog = drained ? 0 : backlog - elapsed_us * model.bytes_per_second;
    backlog_time = now;
    const std::uint64_t room = model.queue_bytes * microseconds_per_second;
    const std::uint64_t work = bytes * microseconds_per_second;
    if (backlog > 0 && backlog + work > room) {
        return false;
    }
    backlog += work;
    wait_us = (backlog + model.bytes_per_second - 1) / model.bytes_per_second;
    return true;
}

SimulatedNetwork::SimulatedNetwork(const SimulatedNetworkSettings& settings, std::uint64_t seed,
                                   MemoryResource* memory)
    : settings_(settings),
      seed_(seed),
      default_model_(make_model(settings.link)),
      pool_(settings.datagram_bytes_max, memory),
      endpoints_(memory),
      links_(memory),
      arrivals_(Allocator<Arrival>(memory)) {
    REPLAYOUT_ASSERT(settings.receive_queue_datagrams_max > 0);
}

Transport& SimulatedNetwork::endpoint(PeerId peer) {
    REPLAYOUT_ASSERT(peer != PeerId{});
    Endpoint& result = endpoints_.try_emplace(peer, *this, peer).first->second;
    result.connected_ = true;
    return result;
}

void SimulatedNetwork::disconnect(PeerId peer) {
    const auto found = endpoints_.find(peer);
    if (found == endpoints_.end()) {
        return;
    }
    found->second.connected_ = false;
    found->second.arrived_.clear(pool_);
}

void SimulatedNetwork::set_settings(const LinkSettings& settings) {
    default_model_ = make_model(settings);
    for (auto& [ends, link] : links_) {
        link.model = default_model_;
    }
}

void SimulatedNetwork::set_settings(PeerId from, PeerId to, const LinkSettings& settings) {
    link_between(from, to).model = make_model(settings);
}

SimulatedNetwork::Link& SimulatedNetwork::link_between(PeerId from, PeerId to) {
    const LinkId ends{from, to};
    const auto found = links_.find(ends);
    if (found != links_.end()) {
        return found->second;
    }
    const std::uint64_t link_seed = mix(mix(mix(seed_) ^ from.value) ^ to.value);
    Link& link = links_.try_emplace(ends, default_model_, link_seed).first->second;
    link.backlog_time = now_;
    return link;
}

void SimulatedNetwork::advance(NetTime now) {
    REPLAYOUT_EXPECT(!has_begun_ || now >= now_, void(),
                     "simulated network: now went back by %lld us, so no time has passed",
                     static_cast<long long>(now_.microseconds_since(now)));
    if (now < now_) {
        // What was sent before there was a clock was sent when it begins, and not later, at 0.
        const std::int64_t earlier_us = now_.microseconds_since(now);
        for (Arrival& arrival : arrivals_) {
            arrival.due.microseconds -= earlier_us;
        }
        for (auto& [ends, link] : links_) {
            link.backlog_time = now;
            if (link.last_due.microseconds >= 0) {  // else nothing is on its way
                link.last_due.microseconds -= earlier_us;
            }
        }
    }
    has_begun_ = true;
    now_ = now;
    while (!arrivals_.empty() && arrivals_.front().due <= now) {
        std::pop_heap(arrivals_.begin(), arrivals_.end(), is_later);
        const Arrival arrival = arrivals_.back();
        arrivals_.pop_back();
        deliver(arrival);
    }
}

void SimulatedNetwork::send(PeerId from, PeerId to, std::span<const std::byte> datagram) {
    stats_.packets_sent += 1;
    stats_.bytes_sent += datagram.size();
    Link& link = link_between(from, to);
    link.packets_sent += 1;
    const PacketFate fate = link.draw_fate();
    std::uint64_t wait_us = 0;
    if (!link.pass_bottleneck(now_, datagram.size(), wait_us)) {
        stats_.packets_dropped_bandwidth += 1;
        return;
    }
    if (fate.lost) {
        stats_.packets_lost += 1;
        return;
    }
    schedule(link, {from, to}, datagram, wait_us, fate.original);
    if (fate.duplicated) {
        stats_.packets_duplicated += 1;
        schedule(link, {from, to}, datagram, wait_us, fate.duplicate);
    }
}

void SimulatedNetwork::schedule(Link& link, LinkId ends, std::span<const std::byte> datagram,
                                std::uint64_t wait_us, const CopyFate& fate) {
    Arrival arrival;
    arrival.due = std::max(plus_microseconds(now_, wait_us + fate.delay_us), link.last_due);
    if (fate.held_back_us == 0) {
        link.last_due = arrival.due;
    }
    arrival.due = plus_microseconds(arrival.due, fate.held_back_us);
    arrival.order = arrival_order_++;
    arrival.packet_number = link.packets_sent;
    arrival.link = &link;
    arrival.to = ends.to;
    arrival.slot = pool_.take(ends.from, datagram);
    arrivals_.push_back(arrival);
    std::push_heap(arrivals_.begin(), arrivals_.end(), is_later);
    stats_.packets_in_flight += 1;
}

// Total, so that a heap of any implementation yields the same order.
bool SimulatedNetwork::is_later(const Arrival& a, const Arrival& b) noexcept {
    return a.due != b.due ? a.due > b.due : a.order > b.order;
}

void SimulatedNetwork::deliver(const Arrival& arrival) {
    stats_.packets_in_flight -= 1;
    if (arrival.packet_number < arrival.link->highest_arrived) {
        stats_.packets_reordered += 1;
    }
    arrival.link->highest_arrived = std::max(arrival.link->highest_arrived, arrival.packet_number);
    const auto found = endpoints_.find(arrival.to);
    if (found == endpoints_.end() || !found->second.connected_) {
        stats_.packets_dropped_unreachable += 1;
        pool_.give_back(arrival.slot);
        return;
    }
    DatagramQueue& queue = found->second.arrived_;
    if (queue.count() >= settings_.receive_queue_datagrams_max) {
        stats_.packets_dropped_receiver += 1;
        pool_.give_back(arrival.slot);
        return;
    }
    stats_.packets_delivered += 1;
    stats_.bytes_delivered += pool_.bytes(arrival.slot).size();
    queue.push(pool_, arrival.slot);
}

SimulatedNetwork::Endpoint::Endpoint(SimulatedNetwork& network, PeerId self) noexcept
    : network_(network), self_(self) {}

std::size_t SimulatedNetwork::Endpoint::datagram_bytes_max() const noexcept {
    return network_.settings_.datagram_bytes_max;
}

void SimulatedNetwork::Endpoint::send(PeerId peer, std::span<const std::byte> datagram) {
    REPLAYOUT_EXPECT(datagram.size() <= datagram_bytes_max(), void(),
                     "send: a datagram of %zu bytes, and datagram_bytes_max is %zu: send no larger "
                     "ones (Transport::datagram_bytes_max)",
                     datagram.size(), datagram_bytes_max());
    REPLAYOUT_EXPECT(peer != PeerId{}, void(), "send: peer 0 is nobody: name another one");
    if (!connected_) {
        network_.stats_.packets_sent += 1;
        network_.stats_.bytes_sent += datagram.size();
        network_.stats_.packets_dropped_sender += 1;
        return;
    }
    network_.send(self_, peer, datagram);
}

std::size_t SimulatedNetwork::Endpoint::receive(PeerId& peer, std::span<std::byte> buffer) {
    return arrived_.receive(network_.pool_, peer, buffer);
}

}  // namespace replayout
