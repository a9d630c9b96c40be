// SPDX-License-Identifier: MIT
//
// One end of ours, and the other end, which writes its packets by hand. What a packet costs is that
// of tick_dispatch() with this one datagram:
//
//     bytes    of the datagram
//     asked    bytes that the driver asked of its memory resource meanwhile
//     kept     of these, what it had not given back at the end of the dispatch
//     allocs   calls of operator new, those of values of objects too
#pragma once

#include "support/measurement.h"
#include "support/report/percentile.h"
#include "support/scripted_clients.h"
#include "support/workloads/hostile_classes.h"

#include <replayout/netdriver/loopback_transport.h>

#include <cstdint>
#include <vector>

namespace replayout::bench::hostile {

class MeteredResource final : public std::pmr::memory_resource {
  public:
    std::uint64_t asked = 0;
    std::int64_t in_use = 0;

  private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        asked += bytes;
        in_use += static_cast<std::int64_t>(bytes);
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        in_use -= static_cast<std::int64_t>(bytes);
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }
};

constexpr PeerId server_peer{1};
constexpr PeerId client_peer{2};

/// One driver of ours, and at the other end of its line who writes packets by hand.
class Victim {
  public:
    struct Cost {
        double seconds = 0;
        std::uint64_t asked = 0;
        std::int64_t kept = 0;
        std::uint64_t allocations = 0;
    };

    Victim(PeerId self, PeerId other)
        : self_(self), other_(other), driver_(settings(&memory_), network_.endpoint(self), world_) {
        (void)network_.endpoint(other);  // it is there before anything is sent to it
        for (const HostileClass& of : hostile_classes()) {
            are_layouts_added_ = are_layouts_added_ && of.layout.error().empty() &&
                                 driver_.add_layout(of.layout.layout());
        }
    }

    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] const NetDriver& driver() const noexcept { return driver_; }
    [[nodiscard]] World& world() noexcept { return world_; }
    /// Of the other end.
    [[nodiscard]] PacketWriter& writer() noexcept { return writer_; }

    [[nodiscard]] Cost take(const Bytes& datagram) { return take_from(other_, datagram); }
    /// In the name of another peer.
    [[nodiscard]] Cost take_from(PeerId peer, const Bytes& datagram) {
        network_.endpoint(peer).send(self_, datagram);
        now_ = now_.plus_milliseconds(2'100);  // all that is counted by rate is granted again
        const std::uint64_t asked = memory_.asked;
        const std::int64_t in_use = memory_.in_use;
        const AllocationWatch allocations;
        const StopWatch watch;
        driver_.tick_dispatch(now_);
        Cost cost;
        cost.seconds = watch.seconds();
        cost.allocations = allocations.count();
        cost.asked = memory_.asked - asked;
        cost.kept = memory_.in_use - in_use;
        return cost;
    }
    /// It sends what it has to; all of it is acknowledged by the next packet.
    void answer() {
        driver_.tick_flush(now_);
        for (const Bytes& datagram : sent()) {
            PacketHeader header;
            if (read_packet_header(datagram, header) > 0) {
                writer_.acknowledge(header.sequence);
            }
        }
    }
    void give(const Bytes& datagram) {
        (void)take(datagram);
        answer();
    }

  protected:
    [[nodiscard]] bool are_layouts_added() const noexcept { return are_layouts_added_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }
    /// A millisecond later it sends what it has to, of which nothing is acknowledged.
    void flush() {
        now_ = now_.plus_milliseconds(1);
        driver_.tick_flush(now_);
    }
    [[nodiscard]] std::vector<Bytes> sent() {
        std::vector<Bytes> datagrams;
        Bytes buffer(datagram_bytes);
        PeerId peer;
        Transport& line = network_.endpoint(other_);
        for (std::size_t size = line.receive(peer, buffer); size != Transport::nothing_received;
             size = line.receive(peer, buffer)) {
            datagrams.emplace_back(buffer.begin(),
                                   buffer.begin() + static_cast<std::ptrdiff_t>(size));
        }
        return datagrams;
    }

  private:
    [[nodiscard]] static NetDriverSettings settings(MemoryResource* resource) {
        NetDriverSettings settings;
        settings.resource = resource;
        return settings;
    }

    MeteredResource memory_;
    LoopbackNetwork network_{{datagram_bytes, 1u << 14}, std::pmr::new_delete_resource()};
    PeerId self_;
    PeerId other_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    bool are_layouts_added_ = true;
    World world_;
    NetDriver driver_;
    PacketWriter writer_{0};
};

/// A client of ours; the server is forged.
class VictimClient : public Victim {
  public:
    VictimClient() : Victim(client_peer, server_peer) {
        if (!are_layouts_added() || !driver().connect(server_peer, now())) {
            return;
        }
        flush();
        const std::vector<Bytes> hello = sent();
        PacketHeader header;
        if (hello.empty() || read_packet_header(hello[0], header) == 0) {
            return;
        }
        writer() = PacketWriter(header.session);
        writer().acknowledge(header.sequence);
        give(writer().packet({message_bunch(0, 1, Bytes{std::byte{2}})}));
    }
    [[nodiscard]] bool is_open() const { return driver().state() == ConnectionState::Joined; }

    /// So many objects, whose channels and ids are from `first` on.
    void open(std::uint32_t first, std::uint32_t count, ClassNumber number) {
        for (std::uint32_t i = first; i < first + count; ++i) {
            give(writer().packet({open_bunch(i, i, number)}));
        }
    }
    [[nodiscard]] ObjectHandle object(std::uint32_t guid) const {
        return driver().guids().find_object(NetGUID{guid});
    }
};

/// A server of ours with an object of a client; the client is forged.
class VictimServer : public Victim {
  public:
    explicit VictimServer(std::uint32_t object_count = 1) : Victim(server_peer, client_peer) {
        if (!are_layouts_added() || !driver().listen()) {
            return;
        }
        for (std::uint32_t i = 1; i <= object_count; ++i) {
            const HostileClass& body = hostile_classes()[OfBody];
            world().add(ObjectHandle{i}, body);
            ids_.push_back(driver().add_object(body.layout.layout(), ObjectHandle{i}));
            driver().set_owner(ids_.back(), client_peer);
        }
        std::vector<const RepLayout*> layouts;
        for (const HostileClass& of : hostile_classes()) {
            layouts.push_back(&of.layout.layout());
        }
        const Bytes hello = make_hello(layouts, {});
        PacketHeader header;
        (void)read_packet_header(hello, header);
        writer() = PacketWriter(header.session);
        writer().header.sequence = header.sequence;
        give(hello);
        for (int i = 0; i < 20; ++i) {
            give(writer().packet({}));
        }
    }
    [[nodiscard]] bool is_open() const {
        return driver().connection_state(client_peer) == ConnectionState::Joined;
    }
    [[nodiscard]] std::uint32_t runs() { return world().at<Body>(ObjectHandle{1}).runs; }

    /// Packets go out, none of which is acknowledged, until it sends no more. How many there were.
    std::uint32_t fill_window() {
        std::uint32_t count = 0;
        for (int tick = 0; tick < 400; ++tick) {
            for (std::size_t i = 1; i <= ids_.size(); ++i) {
                ++world().at<Body>(ObjectHandle{i}).values[tick % 6];
            }
            flush();
            for (const Bytes& datagram : sent()) {
                PacketHeader header;
                (void)read_packet_header(datagram, header);
                writer().header.ack = header.sequence;
                ++count;
            }
        }
        return count;
    }

  private:
    std::vector<NetObjectId> ids_;
};

/// The time of each packet that `make` makes; `has_worked` looks at it when it was taken.
template <typename Make, typename HasWorked>
void time_packets(benchmark::State& state, Victim& victim, const Make& make,
                  const HasWorked& has_worked, const char* promise) {
    std::vector<double> times;
    std::uint64_t asked = 0;
    std::int64_t kept = 0;
    std::uint64_t allocations = 0;
    std::size_t bytes = 0;
    for (auto _ : state) {
        const Bytes packet = make();
        const Victim::Cost cost = victim.take(packet);
        state.SetIterationTime(cost.seconds);
        times.push_back(cost.seconds);
        asked += cost.asked;
        kept += cost.kept;
        allocations += cost.allocations;
        bytes = packet.size();
        if (!has_worked() || bytes > datagram_bytes) {
            state.SkipWithError(promise);
            return;
        }
        victim.answer();
    }
    state.counters["median_us"] = percentile(times, 50) * 1e6;
    state.counters["least_us"] = percentile(times, 0) * 1e6;
    state.counters["bytes"] = static_cast<double>(bytes);
    state.counters["asked"] = per_iteration(asked);
    state.counters["kept"] = per_iteration(kept);
    state.counters["allocs"] = per_iteration(allocations);
}

/// As many as a packet of so many bytes holds, made by `make` from their number.
template <typename Make>
[[nodiscard]] std::vector<Bytes> as_many_as_fit(std::size_t bytes_max, std::size_t count_max,
                                                const Make& make) {
    std::vector<Bytes> all;
    std::size_t bytes = packet_header_bytes_min + 2;
    while (all.size() < count_max) {
        Bytes next = make(static_cast<std::uint32_t>(all.size()));
        bytes += next.size();
        if (bytes > bytes_max) {
            break;
        }
        all.push_back(std::move(next));
    }
    return all;
}

}  // namespace replayout::bench::hostile
