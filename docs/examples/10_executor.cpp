// SPDX-License-Identifier: MIT
//
// A server whose flushes are split over threads, by an executor of std::thread and, where the build
// found oneTBB, by one of that. Each server has the same clients and objects, and a digest of all
// that it sends: the packets are the same, by however many threads.
#include "executors/thread_executor.h"
#if REPLAYOUT_EXAMPLES_HAVE_TBB  // and exceptions, which its headers need
#include "executors/tbb_executor.h"
#endif

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory_resource>
#include <vector>

using namespace replayout;

namespace {

struct Pawn {
    std::int32_t health = 100;
    float x = 0;
};

/// object_memory() is asked by several threads at once: it reads, and nothing else.
struct World final : NetWorld {
    std::deque<Pawn> pawns;
    void* object_memory(ObjectHandle object) override { return &pawns[object.value - 1]; }
    ObjectHandle spawn(const SpawnInfo&) override {
        pawns.emplace_back();
        return {pawns.size()};
    }
    void despawn(ObjectHandle, ChannelCloseReason) override {}
};

/// Hands on what is sent, and remembers it.
struct DigestTransport final : Transport {
    explicit DigestTransport(Transport& under) : beneath(under) {}
    std::size_t datagram_bytes_max() const noexcept override {
        return beneath.datagram_bytes_max();
    }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        digest = hash64(datagram) + 31 * digest;  // in order: it is called by one thread
        beneath.send(peer, datagram);
    }
    std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        return beneath.receive(peer, buffer);
    }
    Transport& beneath;
    std::uint64_t digest = 0;
};

std::uint64_t play(const RepLayout& layout, Executor* executor) {
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    NetDriverSettings settings;
    settings.executor = executor;
    settings.executor_work_min = 0;  // so few pawns would stay on this thread
    DigestTransport line(network.endpoint(PeerId{1}));
    World ours;
    World theirs[3];
    NetDriver server(settings, line, ours);
    std::deque<NetDriver> clients;
    bool is_good = server.add_layout(layout) && server.listen();
    for (std::uint64_t i = 0; i < 3; ++i) {
        NetDriver& client =
            clients.emplace_back(NetDriverSettings{}, network.endpoint(PeerId{i + 2}), theirs[i]);
        is_good = is_good && client.add_layout(layout) && client.connect(PeerId{1}, NetTime());
    }
    for (std::uint64_t i = 1; is_good && i <= 200; ++i) {
        ours.pawns.emplace_back();
        (void)server.add_object(layout, ObjectHandle{i});
    }
    for (int frame = 1; is_good && frame <= 20; ++frame) {
        const NetTime now = NetTime::from_milliseconds(frame * 33);
        server.tick_dispatch(now);
        for (Pawn& pawn : ours.pawns) {
            pawn.x += 0.5f;
        }
        server.tick_flush(now);
        for (NetDriver& client : clients) {
            client.tick_dispatch(now);
            client.tick_flush(now);
        }
    }
    return is_good && theirs[2].pawns.size() == 200 ? line.digest : 0;
}

}  // namespace

int main() {
    TypeRegistry types;
    const auto pawn =
        class_builder<Pawn>(types, "Pawn").property<&Pawn::health>().property<&Pawn::x>().build();
    if (!pawn || !types.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(types, **pawn);
    const std::uint64_t alone = play(**layout, nullptr);
    std::printf("this thread alone: %s\n", alone != 0 ? "everybody has everything" : "failed");
    ThreadExecutor threads(2);
    std::printf("std::thread: %s\n", play(**layout, &threads) == alone ? "the same" : "differs");
    bool is_same = true;
#if REPLAYOUT_EXAMPLES_HAVE_TBB
    TbbExecutor tbb;
    is_same = play(**layout, &tbb) == alone;
#endif
    std::printf("oneTBB, where it is: %s\n", is_same ? "the same" : "differs");
}
