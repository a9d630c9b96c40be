// SPDX-License-Identifier: MIT
//
// What the most expensive packets of a client cost a server, beside a full packet of an honest one,
// and a tick under a flood of junk. Each packet is checked to have done what it says.
#include "support/hostile_victim.h"

#include <algorithm>

namespace replayout::bench::hostile {

namespace {

template <typename Write>
[[nodiscard]] Bytes call(BodyFunction function, const Write& write) {
    return written([&](BitWriter& writer) {
        writer.write_packed_uint(function);
        write(writer);
    });
}

[[nodiscard]] Bytes call_with_text(std::size_t length) {
    return call(Say, [&](BitWriter& writer) {
        writer.write_bool(true);
        write_set(writer, 1, 0, 1, EmptySet::Impossible);
        write_text(writer, length);
    });
}
[[nodiscard]] Bytes call_with_cells(std::uint32_t count) {
    return call(Fill, [&](BitWriter& writer) {
        writer.write_bool(true);
        write_set(writer, 1, 0, 1, EmptySet::Impossible);
        writer.write_packed_uint(count);
        write_set(writer, count * 8, 0, 0, EmptySet::Possible);
    });
}
[[nodiscard]] Bytes call_with_look(BodyFunction function) {
    return call(function, [&](BitWriter& writer) {
        writer.write_bool(true);
        write_set(writer, 1, 0, 1, EmptySet::Impossible);
        write_look(writer);
    });
}
constexpr auto nothing = [](BitWriter&) {};

/// NetConfig::function_calls_burst_max: so many calls of one function run at once.
constexpr std::uint32_t function_burst = 120;

/// Each call of the packet runs.
void run_calls(benchmark::State& state, const std::vector<Bytes>& calls) {
    VictimServer server;
    std::uint32_t runs = 0;
    time_packets(
        state, server,
        [&] {
            runs = server.runs();
            return server.writer().packet(calls);
        },
        [&] { return server.is_open() && server.runs() - runs == calls.size(); },
        "all calls must run");
    state.counters["calls"] = static_cast<double>(calls.size());
}

void BM_ServerFullPacket(benchmark::State& state) {
    run_calls(state,
              {call_bunch(1, 0, call_with_text(1'024)), call_bunch(1, 0, call_with_text(140))});
}

void BM_ServerJunk(benchmark::State& state) {
    VictimServer server;
    const std::int64_t kind = state.range(0);
    Bytes junk(packet_bytes, std::byte{0xa5});
    if (kind > 0) {
        PacketWriter other(static_cast<std::uint16_t>(server.writer().header.session + 1));
        junk = other.packet({}, Bytes(packet_bytes - packet_header_bytes_min));
    }
    const PeerId from = kind == 2 ? client_peer : PeerId{77};
    constexpr int count = 200;  // one takes too little to be looked at alone
    for (auto _ : state) {
        const std::uint64_t dropped = server.driver().stats().packets_dropped;
        double seconds = 0;
        std::uint64_t asked = 0;
        for (int i = 0; i < count; ++i) {
            const Victim::Cost cost = server.take_from(from, junk);
            seconds += cost.seconds;
            asked += cost.asked;
            if (i % 4 == 3) {
                (void)server.take(server.writer().packet({}));
                server.answer();
            }
        }
        state.SetIterationTime(seconds / count);
        if (!server.is_open() || asked != 0 ||
            server.driver().stats().packets_dropped != dropped + count) {
            state.SkipWithError("junk must be dropped, and take no memory");
            return;
        }
    }
    state.counters["bytes"] = static_cast<double>(junk.size());
}

/// As many as run at once of one function.
void BM_ServerSmallCalls(benchmark::State& state) {
    run_calls(state, as_many_as_fit(packet_bytes, function_burst, [](std::uint32_t) {
                  return call_bunch(1, 0, call(Ping, nothing));
              }));
}

/// Beyond their rate.
void BM_ServerDroppedCalls(benchmark::State& state) {
    VictimServer server;
    const std::vector<Bytes> calls =
        as_many_as_fit(static_cast<std::size_t>(state.range(0)), 600,
                       [](std::uint32_t) { return call_bunch(1, 0, call(Ping, nothing)); });
    std::uint64_t before = 0;
    time_packets(
        state, server,
        [&] {
            before = server.driver().stats().calls_over_rate;
            return server.writer().packet(calls);
        },
        [&] {
            return server.is_open() && server.driver().stats().calls_over_rate - before ==
                                           calls.size() - function_burst;
        },
        "all calls beyond the burst must be dropped");
    state.counters["calls"] = static_cast<double>(calls.size());
}

/// Of arrays of 64 KiB, which is what a call may ask for.
void BM_ServerArrayCalls(benchmark::State& state) {
    VictimServer refusing;
    (void)refusing.take(refusing.writer().packet({call_bunch(1, 0, call_with_cells(1'040))}));
    if (refusing.is_open()) {
        state.SkipWithError("beyond its memory a call must be refused");
        return;
    }
    run_calls(state, as_many_as_fit(packet_bytes, function_burst, [](std::uint32_t) {
                  return call_bunch(1, 0, call_with_cells(1'024));
              }));
}

/// Whose defaults have keyed arrays, which they put in order: the first runs whatever it costs, and
/// the others are put off.
void BM_ServerKeyedCalls(benchmark::State& state) {
    constexpr std::uint32_t count = 8;
    VictimServer server;
    const std::vector<Bytes> calls = as_many_as_fit(packet_bytes, count, [](std::uint32_t i) {
        return call_bunch(1, 0, call_with_look(i % 2 == 0 ? Sort : SortAgain));
    });
    std::uint32_t runs = 0;
    time_packets(
        state, server,
        [&] {
            while (server.runs() % count != 0) {
                server.give(server.writer().packet({}));
            }
            runs = server.runs();
            return server.writer().packet(calls);
        },
        [&] { return server.is_open() && server.runs() > runs && server.runs() - runs < count; },
        "some calls must run, and others be put off");
    state.counters["calls"] = static_cast<double>(calls.size());
}

/// 224 packets in flight, of 60 objects, and one packet that says that all but one are lost.
void BM_ServerAcks(benchmark::State& state) {
    VictimServer server(60);
    std::uint64_t lost = 0;
    std::uint32_t filled = 0;
    time_packets(
        state, server,
        [&] {
            filled = server.fill_window();
            lost = server.driver().stats().packets_lost;
            server.writer().header.ack_word_count = 8;
            server.writer().header.ack_words = {};
            return server.writer().packet({});
        },
        [&] {
            return server.is_open() && filled >= 200 &&
                   server.driver().stats().packets_lost - lost >= filled - 1;
        },
        "all packets in flight but one must be lost");
    state.counters["fates"] = filled;
}

/// Calls that wait for one that is missing (0), and the one that lets them run (1).
void BM_ServerGap(benchmark::State& state) {
    VictimServer server;
    constexpr std::uint32_t count = function_burst - 1;  // and the one that is missing
    std::uint16_t first = 1;
    bool is_released = false;
    std::uint32_t runs = 0;
    const bool is_release_timed = state.range(0) == 1;
    const auto waiting = [&] {
        return server.writer().packet(as_many_as_fit(packet_bytes, count, [&](std::uint32_t i) {
            return call_bunch(1, static_cast<std::uint16_t>(first + 1 + i), call(Confirm, nothing));
        }));
    };
    const auto missing = [&] {
        return server.writer().packet({call_bunch(1, first, call(Confirm, nothing))});
    };
    time_packets(
        state, server,
        [&] {
            if (is_release_timed) {
                server.give(waiting());
            } else if (is_released) {
                server.give(missing());
                first = static_cast<std::uint16_t>(first + count + 1);
            }
            is_released = true;
            runs = server.runs();
            return is_release_timed ? missing() : waiting();
        },
        [&] {
            if (is_release_timed) {
                first = static_cast<std::uint16_t>(first + count + 1);
            }
            return server.is_open() && server.runs() - runs == (is_release_timed ? count + 1 : 0);
        },
        "calls must wait for the one that is missing, and run behind it");
}

/// Parts of one call, of which the last never comes.
void BM_ServerParts(benchmark::State& state) {
    VictimServer server;
    std::uint16_t sequence = 0;
    std::uint32_t runs = 0;
    const auto part = [&] {
        BunchHeader header;
        header.channel = ChannelIndex{1};
        header.is_call = true;
        header.is_unreliable = true;
        header.is_partial = true;
        header.is_partial_initial = sequence == 0;
        header.sequence = ++sequence;
        const Bytes whole = call_with_text(1'024);
        Bytes payload(fragment_bytes(packet_bytes));
        std::copy(whole.begin(), whole.end(), payload.begin());
        return server.writer().packet({bunch(header, payload)});
    };
    time_packets(
        state, server,
        [&] {
            runs = server.runs();
            return part();
        },
        [&] { return server.is_open() && server.runs() == runs; }, "a part must wait for the rest");
}

// The flood.

/// A line on which junk comes before all else, of strangers or in the names of clients.
class FloodedTransport final : public Transport {
  public:
    explicit FloodedTransport(Transport& line) : line_(line) {}
    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override { return packet_bytes; }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        line_.send(peer, datagram);
    }
    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        if (junk_left == 0) {
            return line_.receive(peer, buffer);
        }
        --junk_left;
        peer = PeerId{is_of_clients ? 2 + junk_left % 16 : 1'000 + junk_left};
        std::copy(junk.begin(), junk.end(), buffer.begin());
        return junk.size();
    }

    Bytes junk;
    std::uint64_t junk_left = 0;
    bool is_of_clients = false;

  private:
    Transport& line_;
};

/// A server of 200 objects and 16 clients behind such a line.
class FloodedServer {
  public:
    static constexpr std::uint32_t client_count = 16;

    explicit FloodedServer(bool is_junk_of_clients) {
        line_.junk = PacketWriter(54'321).packet({}, Bytes(packet_bytes - packet_header_bytes_min));
        line_.is_of_clients = is_junk_of_clients;
        const RepLayout& layout = body_.layout.layout();
        has_begun_ = driver_.add_layout(layout) && driver_.listen();
        for (std::uint64_t i = 1; i <= object_count; ++i) {
            world_.add(ObjectHandle{i}, body_);
            (void)driver_.add_object(layout, ObjectHandle{i});
        }
        for (std::uint32_t i = 0; i < client_count; ++i) {
            clients_.push_back(std::make_unique<Client>(network_.endpoint(PeerId{2 + i})));
            NetDriver& client = clients_.back()->driver;
            has_begun_ =
                has_begun_ && client.add_layout(layout) && client.connect(server_peer, now_);
        }
    }

    /// Returns the seconds of the server.
    double tick(std::uint64_t junk) {
        for (std::uint64_t i = 1; i <= object_count; ++i) {
            ++world_.at<Body>(ObjectHandle{i}).values[0];
        }
        now_ = now_.plus_milliseconds(33);
        for (const auto& client : clients_) {
            client->driver.tick_dispatch(now_);
            client->driver.tick_flush(now_);
        }
        line_.junk_left = junk;
        const StopWatch watch;
        driver_.tick_dispatch(now_);
        driver_.tick_flush(now_);
        return watch.seconds();
    }
    [[nodiscard]] bool has_all_clients() const {
        return has_begun_ && driver_.connection_count() == client_count;
    }
    [[nodiscard]] std::uint64_t packets_dropped() const { return driver_.stats().packets_dropped; }

  private:
    static constexpr std::uint64_t object_count = 200;

    struct Client {
        explicit Client(Transport& transport) : driver(NetDriverSettings{}, transport, world) {}

        World world;
        NetDriver driver;
    };

    const HostileClass& body_ = hostile_classes()[OfBody];
    LoopbackNetwork network_{{packet_bytes, 1u << 12}, std::pmr::new_delete_resource()};
    FloodedTransport line_{network_.endpoint(server_peer)};
    World world_;
    NetDriver driver_{NetDriverSettings{}, line_, world_};
    std::vector<std::unique_ptr<Client>> clients_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    bool has_begun_ = false;
};

/// The server's tick, 30 of them a second, to which 200,000 datagrams a second of strangers (1), or
/// in the name of its clients (2), come; or none (0).
void BM_Flood(benchmark::State& state) {
    FloodedServer server(state.range(0) == 2);
    for (int i = 0; i < 60; ++i) {
        (void)server.tick(0);
    }
    const std::uint64_t junk = state.range(0) == 0 ? 0 : 6'667;
    const std::uint64_t before = server.packets_dropped();
    double seconds = 0;
    double longest = 0;
    for (auto _ : state) {
        const double of_tick = server.tick(junk);
        state.SetIterationTime(of_tick);
        seconds += of_tick;
        longest = std::max(longest, of_tick);
    }
    const auto ticks = static_cast<std::uint64_t>(state.iterations());
    if (!server.has_all_clients() || server.packets_dropped() - before < junk * ticks) {
        state.SkipWithError("all junk must be dropped, and all clients stay");
        return;
    }
    state.counters["share_of_33_ms"] = seconds / static_cast<double>(ticks) / 0.0333;
    state.counters["longest_ms"] = longest * 1e3;
    state.counters["junk"] = static_cast<double>(junk);
}

void configure(benchmark::internal::Benchmark* benchmark) {
    benchmark->Iterations(100)->Apply(clock_by_hand);
}

BENCHMARK(BM_ServerFullPacket)->Apply(configure);
BENCHMARK(BM_ServerJunk)->ArgName("kind")->Arg(0)->Arg(1)->Arg(2)->Apply(configure);
BENCHMARK(BM_ServerSmallCalls)->Apply(configure);
BENCHMARK(BM_ServerDroppedCalls)->ArgName("bytes")->Arg(1'200)->Arg(2'048)->Apply(configure);
BENCHMARK(BM_ServerArrayCalls)->Apply(configure);
BENCHMARK(BM_ServerKeyedCalls)->Apply(configure);
BENCHMARK(BM_ServerAcks)->Apply(configure);
BENCHMARK(BM_ServerGap)->ArgName("released")->Arg(0)->Arg(1)->Apply(configure);
BENCHMARK(BM_ServerParts)->Iterations(20)->Apply(clock_by_hand);
BENCHMARK(BM_Flood)->ArgName("of")->Arg(0)->Arg(1)->Arg(2)->Apply(configure);

}  // namespace

}  // namespace replayout::bench::hostile
