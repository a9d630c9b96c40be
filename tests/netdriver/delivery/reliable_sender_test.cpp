// SPDX-License-Identifier: MIT
//
// Bunches on their way out, beside a list of them that is kept in the plainest way.
#include "reliable_sender.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "object_index.h"
#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {
namespace {

constexpr std::size_t fragment = 100;
constexpr ReliableWindow wide{1u << 30, 1u << 30};

/// What a bunch is told by: its number is the handle of its tag.
struct Sent {
    SentBunch name;
    std::uint32_t number = 0;
};

/// The opens and closes of one queue, in the order of their numbers.
class OneQueue {
  public:
    explicit OneQueue(MemoryResource* resource) : reliable(fragment, wide, stats_, resource) {}

    void queue(std::uint32_t channel) {
        const std::uint32_t number = next_number_++;
        BunchHeader header;
        header.channel = ChannelIndex{channel};
        header.is_open = true;
        const std::array<std::byte, 8> payload{static_cast<std::byte>(number)};
        REQUIRE(reliable.queue(header, 1, payload,
                               {BunchTag::Kind::Open, ObjectIndex{channel}, number}) == 1);
        unsent.push_back(number);
        channel_of_.emplace(number, channel);
    }
    /// What of that channel never went out never will.
    void abandon(std::uint32_t channel) {
        const auto is_of_channel = [&](std::uint32_t number) {
            return channel_of_.at(number) == channel;
        };
        const std::size_t dropped_count = std::erase_if(unsent, is_of_channel);
        CHECK(reliable.abandon_unsent(ChannelIndex{channel}) == dropped_count);
    }
    /// The next one goes out: what was lost goes before what never went, in the order of sending.
    void send() {
        REQUIRE(reliable.may_send(PacketUse::Objects));
        const OutBunch& bunch = reliable.next(PacketUse::Objects);
        std::uint32_t number = 0;
        if (!lost.empty()) {
            number = lost.begin()->second;
            CHECK(bunch.was_sent);
            lost.erase(lost.begin());
        } else {
            number = unsent.front();
            CHECK_FALSE(bunch.was_sent);
            unsent.pop_front();
            order_of_.emplace(number, ++order_);
        }
        REQUIRE(bunch.tag.handle == number);
        REQUIRE(bunch.payload.front() == static_cast<std::byte>(number));
        in_flight.push_back({reliable.sent(PacketUse::Objects), number});
    }
    void lose(std::size_t position) {
        const Sent sent = take(position);
        BunchTag tag;
        REQUIRE(reliable.lost(sent.name, tag));
        CHECK(tag.handle == sent.number);
        lost.emplace(order_of_.at(sent.number), sent.number);
    }
    void deliver(std::size_t position) {
        const Sent sent = take(position);
        BunchTag tag;
        REQUIRE(reliable.delivered(sent.name, tag));
        CHECK(tag.handle == sent.number);
        CHECK_FALSE(reliable.delivered(sent.name, tag));
        CHECK_FALSE(reliable.lost(sent.name, tag));
    }

    /// Everything goes out, and arrives.
    void drain() {
        while (!(unsent.empty() && lost.empty())) {
            send();
        }
        while (!in_flight.empty()) {
            deliver(0);
        }
    }

    std::deque<std::uint32_t> unsent;
    std::vector<Sent> in_flight;
    std::map<std::uint64_t, std::uint32_t> lost;  // numbers, by order of sending

  private:
    [[nodiscard]] Sent take(std::size_t position) {
        const auto at = in_flight.begin() + static_cast<std::ptrdiff_t>(position);
        const Sent sent = *at;
        in_flight.erase(at);
        return sent;
    }

    std::uint32_t next_number_ = 1;
    std::uint64_t order_ = 0;
    std::map<std::uint32_t, std::uint64_t> order_of_;
    std::map<std::uint32_t, std::uint32_t> channel_of_;
    NetStats stats_;

  public:
    ReliableSender reliable;
};

}  // namespace

TEST_CASE("ReliableSender: what was lost goes first, and all in the order in which it went out",
          "[netdriver][reliable_sender]") {
    CountingResource memory;
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    {
        OneQueue one(&memory);
        for (int step = 0; step < 20'000; ++step) {
            const std::uint32_t what = random.below(10);
            if (what < 3) {
                one.queue(random.between(1, 500));
            } else if (what < 6 && !(one.unsent.empty() && one.lost.empty())) {
                one.send();
            } else if (what < 9 && !one.in_flight.empty()) {
                // Mostly in the order in which packets go out.
                const std::size_t position = random.below(std::min(
                    static_cast<std::uint32_t>(one.in_flight.size()), random.between(1, 8)));
                if (random.below(3) == 0) {
                    one.lose(position);
                } else {
                    one.deliver(position);
                }
            } else {
                one.abandon(random.between(1, 500));
            }
            if (step % 500 == 0) {
                one.drain();
            }
            REQUIRE(one.reliable.waiting_count(PacketUse::Objects) ==
                    one.lost.size() + one.unsent.size());
            REQUIRE(one.reliable.is_idle() ==
                    (one.lost.empty() && one.unsent.empty() && one.in_flight.empty()));
        }
    }
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("ReliableSender: thousands of closes wait at 8 bytes each, and go out once and in order",
          "[netdriver][reliable_sender]") {
    constexpr std::uint32_t close_count = 10'000;
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    CountingResource memory;
    NetStats stats;
    {
        ReliableSender reliable(fragment, wide, stats, &memory);
        const std::int64_t before = memory.bytes_in_use();
        std::uint32_t queued = 0;
        const auto queue_closes = [&](std::uint32_t count) {
            for (; count > 0 && queued < close_count; --count) {
                reliable.queue_close(ChannelIndex{++queued}, 7, ChannelCloseReason::Relevancy,
                                     false);
            }
        };
        queue_closes(close_count / 2);
        // A ring of 8'192 slots.
        CHECK(memory.bytes_in_use() - before < 8'192 * 8 + 4'096);
        CHECK_FALSE(reliable.is_idle());

        std::uint32_t next_close = 1;
        std::vector<SentBunch> sent_again;
        const auto resolve = [&] {
            if (random.below(8) != 0) {
                REQUIRE(reliable.closes_delivered() == 1);
                (void)reliable.close_delivered();
                return;
            }
            const BunchTag tag = reliable.kept_lost().tag;
            const OutBunch& bunch = reliable.next(PacketUse::Messages);
            REQUIRE(bunch.was_sent);
            REQUIRE(bunch.header.is_close);
            REQUIRE(bunch.header.sequence == 7);
            REQUIRE(bunch.tag.object_index == tag.object_index);
            REQUIRE(bunch.header.channel == channel_of(tag.object_index));
            REQUIRE(bunch.payload.size() == close_payload_bytes);
            REQUIRE(bunch.payload.front() == static_cast<std::byte>(ChannelCloseReason::Relevancy));
            sent_again.push_back(reliable.sent(PacketUse::Messages));
        };
        std::uint32_t under_way = 0;
        while (reliable.sendable_closes() > 0) {
            REQUIRE(reliable.waiting_close(0).channel == ChannelIndex{next_close});
            REQUIRE(reliable.waiting_close(0).sequence == 7);
            ++next_close;
            reliable.send_closes(1);
            ++under_way;
            if (random.below(3) == 0) {
                for (; under_way > 0; --under_way) {
                    resolve();
                }
            }
            queue_closes(random.below(3));
            if (random.below(500) == 0) {
                reliable.trim();
            }
        }
        CHECK(next_close == close_count + 1);
        for (; under_way > 0; --under_way) {
            resolve();
        }
        for (const SentBunch& name : sent_again) {
            BunchTag tag;
            REQUIRE(reliable.delivered(name, tag));
        }
        CHECK(reliable.is_idle());

        queued = 0;
        queue_closes(close_count);
        reliable.keep_control_only();
        CHECK(reliable.is_idle());
        CHECK(reliable.waiting_count(PacketUse::Messages) == 0);
    }
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("ReliableSender: closes wait apart from messages, and stay when those are abandoned",
          "[netdriver][reliable_sender]") {
    CountingResource memory;
    NetStats stats;
    ReliableSender reliable(fragment, wide, stats, &memory);
    BunchHeader header;
    header.channel = ChannelIndex{900};
    header.is_message = true;
    for (std::uint16_t sequence = 1; sequence <= 64; ++sequence) {
        const std::array<std::byte, 4> payload{};
        (void)reliable.queue(header, sequence, payload,
                             {BunchTag::Kind::Role, slot_of(header.channel), 0});
    }
    for (std::uint32_t channel = 1; channel <= 10; ++channel) {
        reliable.queue_close(ChannelIndex{channel}, 1, ChannelCloseReason::Destroyed, false);
    }
    CHECK(reliable.waiting_count(PacketUse::Messages) == 64);
    CHECK(reliable.abandon_unsent(header.channel) == 64);
    CHECK(reliable.waiting_count(PacketUse::Messages) == 0);
    CHECK(reliable.sendable_closes() == 10);
    CHECK(reliable.waiting_close(0).channel == ChannelIndex{1});
    CHECK(reliable.waiting_close(9).channel == ChannelIndex{10});
}

TEST_CASE(
    "ReliableSender: an open that is the same for all is kept without a copy, and is a bunch "
    "once it was lost",
    "[netdriver][reliable_sender]") {
    CountingResource memory;
    CountingResource of_objects;
    NetStats stats;
    const std::array<std::byte, 3> payload{std::byte{4}, std::byte{5}, std::byte{6}};
    OpenBunch* const open = OpenBunch::make(ChannelIndex{31}, payload, &of_objects);
    {
        ReliableSender reliable(fragment, wide, stats, &memory);
        reliable.send_open(ObjectIndex{30}, *open, 0);
        reliable.send_open(ObjectIndex{30}, *open, 8);
        open->release();  // its object is gone
        CHECK(of_objects.bytes_in_use() > 0);
        CHECK_FALSE(reliable.is_idle());
        CHECK(reliable.has_first_block_of(ObjectIndex{30}));
        CHECK_FALSE(reliable.has_first_block_of(ObjectIndex{31}));
        CHECK(reliable.waiting_count(PacketUse::Objects) == 0);

        CHECK(reliable.open_delivered().block_version == 0);
        const ResolvedBunch lost = reliable.kept_lost();
        CHECK(lost.block_version == 8);
        CHECK(lost.tag.kind == BunchTag::Kind::Open);
        CHECK(lost.tag.object_index == ObjectIndex{30});
        CHECK(of_objects.bytes_in_use() == 0);
        REQUIRE(reliable.waiting_count(PacketUse::Objects) == 1);
        const OutBunch& again = reliable.next(PacketUse::Objects);
        CHECK(again.header.channel == ChannelIndex{31});
        CHECK(again.header.is_open);
        CHECK(again.was_sent);
        CHECK(
            std::equal(again.payload.begin(), again.payload.end(), payload.begin(), payload.end()));
        BunchTag tag;
        CHECK(reliable.delivered(reliable.sent(PacketUse::Objects), tag));
        CHECK(tag.object_index == ObjectIndex{30});
        CHECK(reliable.is_idle());
    }
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("ReliableSender: what is kept of opens and closes ends with the other objects' bunches",
          "[netdriver][reliable_sender]") {
    CountingResource memory;
    NetStats stats;
    OpenBunch* const open = OpenBunch::make(ChannelIndex{31}, {}, &memory);
    {
        ReliableSender reliable(fragment, wide, stats, &memory);
        reliable.send_open(ObjectIndex{30}, *open, 1);
        reliable.queue_close(ChannelIndex{31}, 2, ChannelCloseReason::Destroyed, false);
        reliable.send_closes(1);
        reliable.queue_close(ChannelIndex{32}, 2, ChannelCloseReason::Destroyed, false);
        reliable.keep_control_only();
        CHECK(reliable.is_idle());
        CHECK(reliable.sendable_closes() == 0);
    }
    open->release();
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("ReliableSender: opens and closes that are kept count in the window until they arrive",
          "[netdriver][reliable_sender]") {
    CountingResource memory;
    NetStats stats;
    OpenBunch* const open = OpenBunch::make(ChannelIndex{1}, {}, &memory);
    {
        // Three quarters of eight are for what is no value.
        ReliableSender reliable(fragment, {8, 1'000}, stats, &memory);
        std::uint32_t sent = 0;
        for (; reliable.has_room_for(PacketUse::Objects, 0) && sent < 20; ++sent) {
            reliable.send_open(ObjectIndex{0}, *open, 0);
        }
        // The first does not wait: it is what the others wait for.
        CHECK(sent == 7);
        reliable.queue_close(ChannelIndex{2}, 2, ChannelCloseReason::Destroyed, false);
        CHECK(reliable.sendable_closes() == 0);
        (void)reliable.open_delivered();
        CHECK(reliable.sendable_closes() == 1);
        // What was lost holds the window until it has arrived, though others did.
        (void)reliable.kept_lost();
        const SentBunch again = reliable.sent(PacketUse::Objects);
        for (int i = 0; i < 5; ++i) {
            (void)reliable.open_delivered();
        }
        CHECK(reliable.sendable_closes() == 1);
        reliable.send_closes(1);
        CHECK_FALSE(reliable.has_room_for(PacketUse::Objects, 0));
        BunchTag tag;
        CHECK(reliable.delivered(again, tag));
        CHECK(reliable.has_room_for(PacketUse::Objects, 0));
    }
    open->release();
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("ReliableSender: a close follows what its channel has not sent, however many wait",
          "[netdriver][reliable_sender]") {
    NetStats stats;
    CountingResource memory;
    ReliableSender reliable(fragment, wide, stats, &memory);
    for (std::uint32_t channel = 1; channel <= 500; ++channel) {
        reliable.queue_close(ChannelIndex{channel}, 1, ChannelCloseReason::Destroyed, false);
    }
    BunchHeader open;
    open.channel = ChannelIndex{900};
    open.is_open = true;
    const std::array<std::byte, 4> payload{};
    (void)reliable.queue(open, 1, payload, {BunchTag::Kind::Open, slot_of(open.channel), 0});
    reliable.queue_close(open.channel, 2, ChannelCloseReason::Destroyed, true);
    CHECK(reliable.waiting_count(PacketUse::Objects) == 2);
    CHECK(reliable.next(PacketUse::Objects).header.is_open);
    (void)reliable.sent(PacketUse::Objects);
    CHECK(reliable.next(PacketUse::Objects).header.is_close);
}

}  // namespace replayout::test
