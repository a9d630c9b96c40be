// SPDX-License-Identifier: MIT
#include "simulation/faulty_network.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

constexpr PeerId server{1};
constexpr PeerId client{2};

/// Two ends, and a tick that is 10 ms.
class TwoEnds {
  public:
    explicit TwoEnds(const LinkFaults& faults, std::uint64_t seed = 1)
        : network(faults, faults, server), seed_(seed) {
        (void)network.endpoint(client);
        (void)network.endpoint(server);
    }

    void tick() {
        ++tick_;
        network.advance(NetTime::from_milliseconds(10 * tick_),
                        Choices::from_seed(seed_, static_cast<std::uint64_t>(tick_), 256));
    }
    void send(PeerId from, PeerId to, std::uint8_t text) {
        network.endpoint(from).send(to, make_bytes(text, text, text, text));
    }
    /// What has arrived, by its sender; 0: nothing.
    std::uint64_t receive(PeerId at, Bytes& bytes) {
        std::array<std::byte, 64> buffer{};
        PeerId from;
        const std::size_t size = network.endpoint(at).receive(from, buffer);
        if (size == Transport::nothing_received) {
            return 0;
        }
        bytes.assign(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
        return from.value;
    }
    std::uint64_t receive(PeerId at) {
        Bytes bytes;
        return receive(at, bytes);
    }

    FaultyNetwork network;

  private:
    std::uint64_t seed_;
    std::int64_t tick_ = 0;
};

}  // namespace

TEST_CASE("Faulty network: without faults all arrives, in order, from whom it is", "[simulation]") {
    TwoEnds ends({});
    ends.tick();
    ends.send(client, server, 1);
    ends.send(client, server, 2);
    CHECK(ends.receive(server) == 0);
    ends.tick();
    Bytes bytes;
    CHECK(ends.receive(server, bytes) == client.value);
    CHECK(bytes == make_bytes(1, 1, 1, 1));
    CHECK(ends.receive(server, bytes) == client.value);
    CHECK(bytes == make_bytes(2, 2, 2, 2));
    CHECK(ends.receive(server) == 0);
}

TEST_CASE(
    "Faulty network: what is damaged on the way is dropped, what a hostile peer damages is not",
    "[simulation]") {
    LinkFaults faults;
    faults.corrupt = 1'000;
    TwoEnds ends(faults);
    TwoEnds hostile({});
    hostile.network.set_hostile(client, 1'000);
    std::uint32_t changed = 0;
    for (int i = 0; i < 100; ++i) {
        ends.tick();
        ends.send(client, server, 7);
        Bytes bytes;
        while (ends.receive(server, bytes) != 0) {
            CHECK(bytes == make_bytes(7, 7, 7, 7));
        }
        hostile.tick();
        while (hostile.receive(server, bytes) != 0) {
            changed += bytes != make_bytes(7, 7, 7, 7) ? 1u : 0u;
        }
        hostile.send(client, server, 7);
    }
    // Spliced with nothing, or with what is the same, it is what it was.
    CHECK(ends.network.counts().corrupt + ends.network.counts().delivered >= 99);
    CHECK(ends.network.counts().corrupt > 60);
    CHECK(changed > 20);
}

TEST_CASE("Faulty network: each datagram has a fate", "[simulation]") {
    LinkFaults faults;
    faults.loss = 200;
    faults.burst = 20;
    faults.burst_length_max = 10;
    faults.duplicate = 300;
    faults.copies_max = 4;
    faults.jitter_ms = 100;
    faults.corrupt = 50;
    faults.bytes_per_second = 4'000;
    faults.queue_datagrams = 1;
    TwoEnds ends(faults);
    for (int i = 0; i < 2'000; ++i) {
        ends.tick();
        for (int n = 0; n < 12; ++n) {
            ends.send(server, client, static_cast<std::uint8_t>(i));
        }
        while (ends.receive(client) != 0) {
        }
    }
    ends.network.heal();
    for (int i = 0; i < 500; ++i) {
        ends.tick();
        while (ends.receive(client) != 0) {
        }
    }
    const FaultCounts& counts = ends.network.counts();
    CHECK(counts.sent + counts.duplicated ==
          counts.delivered + counts.lost + counts.corrupt + counts.tail_dropped);
    CHECK((counts.lost > 100 && counts.corrupt > 100 && counts.tail_dropped > 100 &&
           counts.duplicated > 100));
}

TEST_CASE("Faulty network: a partition is of one direction, and ends with healing",
          "[simulation]") {
    TwoEnds ends({});
    ends.network.set_parted(client, true, false);
    ends.send(server, client, 1);
    ends.send(client, server, 1);
    ends.tick();
    CHECK(ends.receive(client) == 0);
    CHECK(ends.receive(server) == client.value);
    ends.network.heal();
    ends.send(server, client, 1);
    ends.tick();
    CHECK(ends.receive(client) == server.value);
}

TEST_CASE("Faulty network: who moved is heard from elsewhere, and is not found where he was",
          "[simulation]") {
    TwoEnds ends({});
    ends.network.rebind(client, PeerId{50});
    ends.send(client, server, 1);
    ends.send(server, client, 1);
    ends.tick();
    CHECK(ends.receive(server) == 50);
    CHECK(ends.receive(client) == 0);
    ends.send(server, PeerId{50}, 1);
    ends.tick();
    CHECK(ends.receive(client) == server.value);
}

TEST_CASE("Faulty network: the past arrives once more", "[simulation]") {
    TwoEnds ends({});
    ends.send(client, server, 9);
    ends.tick();
    CHECK(ends.receive(server) != 0);
    CHECK(ends.receive(server) == 0);
    ends.network.replay();
    Bytes bytes;
    CHECK(ends.receive(server, bytes) != 0);
    CHECK(bytes == make_bytes(9, 9, 9, 9));
}

}  // namespace replayout::test
