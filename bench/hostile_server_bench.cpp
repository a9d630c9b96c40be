// SPDX-License-Identifier: MIT
//
// What the most expensive packets of a server cost a client, beside a full packet of an honest one.
// Each is checked to have done what it says.
#include "support/hostile_victim.h"

namespace replayout::bench::hostile {

namespace {

[[nodiscard]] Bytes body_block(std::uint32_t value) {
    return written([&](BitWriter& writer) {
        write_set(writer, 6, 0, 6, EmptySet::Impossible);
        for (int i = 0; i < 6; ++i) {
            writer.write_bits(value, 32);
        }
    });
}
[[nodiscard]] Bytes look_block() {
    return written([&](BitWriter& writer) {
        write_set(writer, 1, 0, 1, EmptySet::Impossible);
        write_look(writer);
    });
}
[[nodiscard]] Bytes cells_block(std::uint32_t count) {
    return written([&](BitWriter& writer) {
        write_set(writer, 1, 0, 1, EmptySet::Impossible);
        writer.write_packed_uint(count);
        if (count > 0) {
            write_set(writer, count * 8, 0, 0, EmptySet::Possible);
        }
    });
}
[[nodiscard]] Bytes text_block(std::size_t length) {
    return written([&](BitWriter& writer) {
        write_set(writer, 1, 0, 1, EmptySet::Impossible);
        write_text(writer, length);
    });
}
/// Elements from `begin` on, `length` of them, of an array of 2,048; all name one object.
[[nodiscard]] Bytes links_block(std::uint32_t array, std::uint32_t begin, std::uint32_t length,
                                std::uint32_t guid) {
    return written([&](BitWriter& writer) {
        write_set(writer, 2, array, 1, EmptySet::Impossible);
        writer.write_packed_uint(2'048);
        write_set(writer, 2'048, begin, length, EmptySet::Possible);
        for (std::uint32_t i = 0; i < length; ++i) {
            writer.write_packed_uint(guid);
        }
    });
}

template <typename MakeBlock>
[[nodiscard]] Bytes blocks(std::uint32_t count, const MakeBlock& make) {
    Bytes bytes;
    for (std::uint32_t channel = 1; channel <= count; ++channel) {
        append(bytes, packet_block(channel, make(channel)));
    }
    return bytes;
}

/// Blocks of so many objects of a class, all of which are taken; one more is refused, where there
/// is a budget that they spend.
template <typename MakeBlock, typename Before>
void run_blocks(benchmark::State& state, ClassNumber number, std::uint32_t count, bool is_at_limit,
                const MakeBlock& make, const Before& before) {
    if (is_at_limit) {
        VictimClient refusing;
        refusing.open(1, count + 1, number);
        const bool was_open = refusing.is_open();
        (void)refusing.take(refusing.writer().packet({}, blocks(count + 1, make)));
        if (!was_open || refusing.is_open()) {
            state.SkipWithError("what is beyond the budget must be refused");
            return;
        }
    }
    VictimClient client;
    client.open(1, count, number);
    std::uint64_t received = 0;
    time_packets(
        state, client,
        [&] {
            before(client);
            received = client.driver().stats().blocks_received;
            return client.writer().packet({}, blocks(count, make));
        },
        [&] {
            return client.is_open() && client.driver().stats().blocks_received - received == count;
        },
        "all blocks must be taken");
}
constexpr auto no_preparation = [](VictimClient&) {};

void BM_ClientFullPacket(benchmark::State& state) {
    std::uint32_t value = 0;
    run_blocks(
        state, OfBody, 42, false, [&](std::uint32_t) { return body_block(++value); },
        no_preparation);
}

/// Each takes 10,000 of the 40,000 steps that a packet grants to keyed arrays.
constexpr std::uint32_t looks = 4;

void BM_ClientArraySteps(benchmark::State& state) {
    run_blocks(
        state, OfQuarry, looks, true, [](std::uint32_t) { return look_block(); }, no_preparation);
}

/// The same, and small messages of the same, which have a budget of their own.
void BM_ClientArrayStepsAndMessages(benchmark::State& state) {
    VictimClient client;
    client.open(1, looks, OfQuarry);
    const Bytes all_blocks = blocks(looks, [](std::uint32_t) { return look_block(); });
    std::uint16_t sequence = 1;
    std::uint64_t received = 0;
    std::size_t messages = 0;
    time_packets(
        state, client,
        [&] {
            ++sequence;
            received = client.driver().stats().blocks_received;
            const std::vector<Bytes> bunches = as_many_as_fit(
                datagram_bytes - all_blocks.size(), looks,
                [&](std::uint32_t i) { return message_bunch(i + 1, sequence, look_block()); });
            messages = bunches.size();
            return client.writer().packet(bunches, all_blocks);
        },
        [&] {
            return client.is_open() && messages == looks &&
                   client.driver().stats().blocks_received - received == 2 * looks;
        },
        "all blocks and messages must be taken");
    state.counters["messages"] = static_cast<double>(messages);
}

/// 32 new arrays of 2,048 elements of 64 bytes, which is 4 MiB.
void BM_ClientArrays(benchmark::State& state) {
    run_blocks(
        state, OfCrate, 32, true, [](std::uint32_t) { return cells_block(2'048); },
        [](VictimClient& client) {
            client.give(client.writer().packet(
                {}, blocks(32, [](std::uint32_t) { return cells_block(0); })));
            for (std::uint32_t guid = 1; guid <= 32; ++guid) {
                client.world().at<Crate>(client.object(guid)).of.cells = std::vector<Cell>();
            }
        });
}

void BM_ClientTexts(benchmark::State& state) {
    run_blocks(
        state, OfSign, 2, false,
        [](std::uint32_t channel) { return text_block(channel == 1 ? 1'024 : 145); },
        no_preparation);
}

/// References to what is not there: all in one array.
void BM_ClientReferences(benchmark::State& state) {
    std::uint32_t turn = 0;
    run_blocks(
        state, OfLinks, 1, false,
        [&](std::uint32_t) { return links_block(0, 0, 1'150, 100 + ++turn % 2); }, no_preparation);
}

/// Opens (0), or closes (1), of as many objects as a packet holds.
void BM_ClientOpens(benchmark::State& state) {
    VictimClient client;
    std::uint32_t first = 1;
    constexpr std::uint32_t count = 110;
    const auto opens = [&] {
        return client.writer().packet(as_many_as_fit(packet_bytes, count, [&](std::uint32_t i) {
            return open_bunch(1 + i, first + i, OfBody);
        }));
    };
    const auto closes = [&] {
        first += count;
        return client.writer().packet(as_many_as_fit(
            packet_bytes, count, [&](std::uint32_t i) { return close_bunch(1 + i, 2); }));
    };
    const bool are_closes_timed = state.range(0) == 1;
    time_packets(
        state, client,
        [&] {
            if (are_closes_timed) {
                client.give(opens());
                return closes();
            }
            if (client.world().object_count() > 0) {
                client.give(closes());
            }
            return opens();
        },
        [&] {
            return client.is_open() &&
                   client.world().object_count() == (are_closes_timed ? 0 : count);
        },
        "all objects must be made, and go");
}

/// An object comes that 4,096 references of each of so many objects wait for.
void open_awaited(VictimClient& client, std::uint32_t count) {
    constexpr std::uint32_t awaited = 100;
    client.open(1, count, OfLinks);
    for (std::uint32_t channel = 1; channel <= count; ++channel) {
        for (std::uint32_t part = 0; part < 4; ++part) {
            client.give(client.writer().packet(
                {},
                packet_block(channel, links_block(part / 2, part % 2 * 1'024, 1'024, awaited))));
        }
    }
}
void BM_ClientAwaited(benchmark::State& state) {
    constexpr std::uint32_t awaited = 100;
    constexpr std::uint32_t count = 14;
    VictimClient client;
    open_awaited(client, count);
    bool is_there = false;
    time_packets(
        state, client,
        [&] {
            if (is_there) {
                client.give(client.writer().packet({close_bunch(awaited, 2)}));
            }
            is_there = true;
            return client.writer().packet({open_bunch(awaited, awaited, OfBody)});
        },
        [&] {
            const ObjectHandle object = client.object(awaited);
            return client.is_open() && object.value != 0 &&
                   client.world().at<Links>(client.object(count)).second.back() == object;
        },
        "all references must become the object");
    state.counters["references"] = count * 4'096;
}

void configure(benchmark::internal::Benchmark* benchmark) {
    benchmark->Iterations(100)->Apply(clock_by_hand);
}

BENCHMARK(BM_ClientFullPacket)->Apply(configure);
BENCHMARK(BM_ClientArraySteps)->Apply(configure);
BENCHMARK(BM_ClientArrayStepsAndMessages)->Apply(configure);
BENCHMARK(BM_ClientArrays)->Apply(configure);
BENCHMARK(BM_ClientTexts)->Apply(configure);
BENCHMARK(BM_ClientReferences)->Apply(configure);
BENCHMARK(BM_ClientOpens)->ArgName("closes")->Arg(0)->Arg(1)->Apply(configure);
BENCHMARK(BM_ClientAwaited)->Apply(configure);

}  // namespace

}  // namespace replayout::bench::hostile
