// SPDX-License-Identifier: MIT
//
// A flush that is split over an executor's threads sends what one thread sends, to the byte and in
// the same order.
#include <replayout/netdriver/executor.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/executors.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/networks/passing_transport.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

struct Played {
    std::vector<Datagram> sent;
    NetStats stats;
};

/// Pawns, archives and references to what was never met come, change and go; clients come, too.
class Bustle {
  public:
    static constexpr std::size_t client_count = 5;

    Bustle(const NetFixtureOptions& options, std::uint64_t seed) : net_(options), random_(seed) {
        net_.server().transport.is_recording = true;
        for (std::uint32_t i = 0; i < 150; ++i) {
            pawns_.push_back(net_.add_pawn());
        }
        archives_.push_back(net_.add_archive());
    }

    void play(std::uint32_t tick_count) {
        for (std::uint32_t i = 0; i < tick_count; ++i) {
            if (i % 12 == 0 && i / 12 < client_count) {
                net_.join();
            }
            come_and_go();
            for (std::uint32_t change = 0; change < 40; ++change) {
                change_pawn(net_.pawn(random_.pick(pawns_)), i);
            }
            net_.archive(archives_.front()).counter = i;
            if (random_.percent(20)) {
                net_.archive(archives_.front())
                    .pages[random_.below(8)]
                    .assign(random_.below(4'000), static_cast<char>('a' + i % 26));
            }
            net_.tick();
        }
    }

    [[nodiscard]] Played finish() {
        net_.network().heal();
        REQUIRE(net_.settle(5'000));
        for (std::size_t i = 0; i < client_count; ++i) {
            CHECK(net_.client_text(i) == net_.server_text());
        }
        return {net_.server().transport.sent, net_.server_driver().stats()};
    }

  private:
    void come_and_go() {
        if (random_.percent(15)) {
            pawns_.push_back(net_.add_pawn());
        }
        if (random_.percent(10)) {
            const std::uint32_t place = random_.below(static_cast<std::uint32_t>(pawns_.size()));
            net_.remove(pawns_[place]);
            pawns_.erase(pawns_.begin() + place);
        }
    }

    void change_pawn(Pawn& pawn, std::uint32_t tick) {
        switch (random_.below(6)) {
            case 0:
                pawn.name.assign(random_.below(20), static_cast<char>('a' + tick % 26));
                break;
            case 1:
                // Handles that nobody ever adds get their ids from whoever names them first.
                pawn.target = random_.percent(50) ? random_.pick(pawns_)
                                                  : ObjectHandle{50'000 + random_.below(200)};
                break;
            case 2:
                pawn.friends.assign(random_.below(3), ObjectHandle{60'000 + random_.below(200)});
                break;
            case 3:
                pawn.hits.resize(random_.below(3));
                break;
            default:
                ++pawn.health;
                pawn.position.x += 0.5f;
                break;
        }
    }

    NetFixture net_;
    SeededRandom random_;
    std::vector<ObjectHandle> pawns_;
    std::vector<ObjectHandle> archives_;
};

[[nodiscard]] Played play_bustle(NetFixtureOptions options, Executor* executor,
                                 std::uint64_t seed) {
    options.seed = seed;
    options.executor = executor;
    Bustle game(options, seed);
    game.play(90);
    return game.finish();
}

/// Which of several built a payload, and what it did to others that are kept, is told by time.
[[nodiscard]] NetStats without_sharing(NetStats stats) {
    stats.replication.values_encoded = 0;
    stats.replication.pieces_built = 0;
    stats.replication.values_reused = 0;
    stats.replication.payloads_built = 0;
    stats.replication.payloads_reused = 0;
    stats.replication.block_misses = {};
    return stats;
}

[[nodiscard]] bool are_equal(const NetStats& left, const NetStats& right) {
    return std::memcmp(&left, &right, sizeof(NetStats)) == 0;  // counters, and nothing else
}

void check_same(const NetFixtureOptions& options, std::uint64_t seed) {
    INFO("REPLAYOUT_SEED=" << seed);
    const Played alone = play_bustle(options, nullptr, seed);
    REQUIRE(alone.sent.size() > 100);
    OrderedExecutor one(1, JobOrder::Forward);
    CHECK(play_bustle(options, &one, seed).sent == alone.sent);
    CHECK(one.run_count() == 0);
    OrderedExecutor forward(2, JobOrder::Forward);
    OrderedExecutor reverse(2, JobOrder::Reverse);
    OrderedExecutor shuffled(4, JobOrder::Shuffled, seed);
    for (OrderedExecutor* executor : {&forward, &reverse, &shuffled}) {
        const Played split = play_bustle(options, executor, seed);
        CHECK(split.sent == alone.sent);
        CHECK(are_equal(without_sharing(split.stats), without_sharing(alone.stats)));
        CHECK(executor->run_count() > 200);
    }
    ThreadExecutor threads(4);
    const Played split = play_bustle(options, &threads, seed);
    CHECK(split.sent == alone.sent);
    CHECK(are_equal(without_sharing(split.stats), without_sharing(alone.stats)));
}

[[nodiscard]] NetFixtureOptions lossy_options() {
    NetFixtureOptions options;
    options.is_validating = false;
    options.link.loss = 0.1;
    options.link.latency_ms = 30;
    return options;
}

}  // namespace

TEST_CASE("Executor: any number of workers and any order of jobs give the same packets",
          "[netdriver][executor]") {
    check_same(lossy_options(), run_seed());
}

TEST_CASE("Executor: with a cap any number of workers gives the same packets",
          "[netdriver][executor]") {
    NetFixtureOptions options = lossy_options();
    options.server.bytes_per_second_max = 12'000;
    check_same(options, run_seed());
}

TEST_CASE("Executor: whatever is shared any number of workers gives the same packets",
          "[netdriver][executor]") {
    for (const SharingLevel sharing :
         {SharingLevel::Off, SharingLevel::Pieces, SharingLevel::Payloads}) {
        NetFixtureOptions options = lossy_options();
        options.sharing = sharing;
        check_same(options, run_seed());
    }
}

TEST_CASE("Executor: pairs are validated on its threads, too", "[netdriver][executor]") {
    NetFixtureOptions options = lossy_options();
    options.is_validating = true;
    check_same(options, run_seed());
}

TEST_CASE("Executor: on its threads what is computed once is computed once",
          "[netdriver][executor]") {
    NetFixtureOptions options;
    options.is_validating = false;
    const Played alone = play_bustle(options, nullptr, 3);
    OrderedExecutor reverse(4, JobOrder::Reverse);
    const Played split = play_bustle(options, &reverse, 3);
    // A block that finds no room is written once more, of pieces that are there by then; one that
    // is copied as a payload is not. Who comes first is told by time.
    const auto without_retries = [](NetStats stats) {
        stats.replication.values_reused = 0;
        return stats;
    };
    CHECK(are_equal(without_retries(split.stats), without_retries(alone.stats)));
}

TEST_CASE("Executor: a flush with little to do stays on the driver's thread",
          "[netdriver][executor]") {
    SimulatedNetwork network(SimulatedNetworkSettings(), 1, std::pmr::get_default_resource());
    OrderedExecutor executor(4, JobOrder::Forward);
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.mark_validation_ticks = 0;
    settings.executor = &executor;
    settings.executor_work_min = 100;
    NetHost host(settings, network.endpoint(PeerId{1}), 1'000);
    TestSchema::get().add_to(*host.driver);
    REQUIRE(host.driver->listen());
    const auto add = [&] {
        const ObjectHandle pawn = host.world.add(TestSchema::get().pawn());
        (void)host.driver->add_object(TestSchema::get().pawn(), pawn);
    };
    for (std::uint32_t i = 0; i < 99; ++i) {
        add();
    }
    host.driver->tick_flush(NetTime::from_milliseconds(1'000));
    CHECK(executor.run_count() == 0);
    add();
    host.driver->tick_flush(NetTime::from_milliseconds(1'020));
    CHECK(executor.run_count() == 1);  // nobody is there to be sent anything
}

namespace {

/// Notices two that come at the same time.
class OneAtATimeResource final : public std::pmr::memory_resource {
  public:
    [[nodiscard]] bool was_shared() const noexcept { return was_shared_; }
    [[nodiscard]] std::size_t thread_count() const { return threads_.size(); }

  private:
    class Turn {
      public:
        explicit Turn(OneAtATimeResource& resource) : resource_(resource) {
            resource_.was_shared_ = resource_.was_shared_ || resource_.inside_.exchange(true);
            resource_.threads_.insert(std::this_thread::get_id());
        }
        ~Turn() { resource_.inside_ = false; }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

      private:
        OneAtATimeResource& resource_;
    };

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        const Turn turn(*this);
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        const Turn turn(*this);
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::atomic<bool> inside_{false};
    bool was_shared_ = false;
    std::set<std::thread::id> threads_;
};

}  // namespace

TEST_CASE("Executor: the memory resource is called by many threads, and never by two at once",
          "[netdriver][executor]") {
    OneAtATimeResource resource;
    ThreadExecutor threads(4);
    SimulatedNetwork network(SimulatedNetworkSettings(), 1, std::pmr::get_default_resource());
    TestWorld world(1'000);
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.mark_validation_ticks = 0;
    settings.executor = &threads;
    settings.executor_work_min = 0;
    settings.resource = &resource;
    {
        NetDriver driver(settings, network.endpoint(PeerId{1}), world);
        TestSchema::get().add_to(driver);
        REQUIRE(driver.listen());
        std::vector<ObjectHandle> pawns;
        for (std::uint32_t i = 0; i < 400; ++i) {
            pawns.push_back(world.add(TestSchema::get().pawn()));
            (void)driver.add_object(TestSchema::get().pawn(), pawns.back());
        }
        for (std::uint32_t tick = 1; tick < 30; ++tick) {
            for (const ObjectHandle pawn : pawns) {
                world.pawn(pawn).name.assign(tick * 5, 'n');  // the shadow's grows
            }
            driver.tick_flush(NetTime::from_milliseconds(tick * 20));
        }
    }
    CHECK_FALSE(resource.was_shared());
    CHECK(resource.thread_count() > 1);
}

namespace {

/// What each peer was sent, in order.
using SentByPeer = std::map<std::uint64_t, std::vector<std::vector<std::byte>>>;

/// Notes which threads send what.
class ThreadNotingTransport final : public PassingTransport {
  public:
    ThreadNotingTransport(Transport& beneath, bool is_concurrent)
        : PassingTransport(beneath), is_concurrent_(is_concurrent) {}

    [[nodiscard]] bool is_concurrent() const noexcept override { return is_concurrent_; }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        const std::lock_guard lock(mutex_);
        ++(std::this_thread::get_id() == driver_ ? by_driver_ : by_others_);
        by_peer_[peer.value].emplace_back(datagram.begin(), datagram.end());
        PassingTransport::send(peer, datagram);
    }

    [[nodiscard]] std::uint32_t by_driver() const noexcept { return by_driver_; }
    [[nodiscard]] std::uint32_t by_others() const noexcept { return by_others_; }
    [[nodiscard]] const SentByPeer& by_peer() const noexcept { return by_peer_; }

  private:
    bool is_concurrent_;
    std::mutex mutex_;
    std::thread::id driver_ = std::this_thread::get_id();
    std::uint32_t by_driver_ = 0;
    std::uint32_t by_others_ = 0;
    SentByPeer by_peer_;
};

/// Runs no job on the thread that asks.
class OtherThreadExecutor final : public Executor {
  public:
    [[nodiscard]] std::uint32_t worker_count() const noexcept override { return 2; }
    void run(std::uint32_t count, ExecutorJob job) override {
        std::thread([&] {
            for (std::uint32_t i = 0; i < count; ++i) {
                job(i);
            }
        }).join();
    }
};

struct SentBy {
    std::uint32_t driver = 0;
    std::uint32_t others = 0;
    SentByPeer by_peer;
    /// Calls of the server's memory resource, once all clients have all and the same goes on.
    std::uint64_t steady_allocations = 0;
};

/// Which of 200 pawns change in a tick.
enum class Changing : std::uint8_t { All, InTurn };

[[nodiscard]] SentBy send_many(Executor* executor, bool is_concurrent,
                               Changing changing = Changing::All) {
    constexpr std::uint32_t tick_count = 120;
    CountingResource resource;
    SimulatedNetworkSettings links;
    links.datagram_bytes_max = 1'400;
    SimulatedNetwork network(links, 1, std::pmr::get_default_resource());
    ThreadNotingTransport transport(network.endpoint(PeerId{1}), is_concurrent);
    TestWorld world(1'000);
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.mark_validation_ticks = 0;
    settings.executor = executor;
    settings.executor_work_min = 0;
    settings.resource = &resource;
    settings.is_validating = false;
    NetDriver server(settings, transport, world);
    TestSchema::get().add_to(server);
    REQUIRE(server.listen());
    std::vector<std::unique_ptr<NetHost>> clients;
    for (std::uint64_t i = 0; i < 8; ++i) {
        NetDriverSettings client;
        client.may_leave_out_texts = true;
        clients.push_back(
            std::make_unique<NetHost>(client, network.endpoint(PeerId{i + 2}), 1'000'000));
        TestSchema::get().add_to(*clients.back()->driver);
        REQUIRE(clients.back()->driver->connect(PeerId{1}, NetTime()));
    }
    std::vector<ObjectHandle> pawns;
    for (std::uint32_t i = 0; i < 200; ++i) {
        pawns.push_back(world.add(TestSchema::get().pawn()));
        (void)server.add_object(TestSchema::get().pawn(), pawns.back());
    }
    SentBy result;
    for (std::uint32_t tick = 1; tick <= tick_count; ++tick) {
        const NetTime now = NetTime::from_milliseconds(tick * 20);
        network.advance(now);
        const std::uint64_t allocations_before = resource.allocation_count();
        server.tick_dispatch(now);
        for (std::uint32_t i = 0; i < pawns.size(); ++i) {
            if (changing == Changing::All || (i / 3 + tick) % 4 == 0) {
                ++world.pawn(pawns[i]).health;
            }
        }
        server.tick_flush(now);
        if (tick > tick_count - 20) {
            result.steady_allocations += resource.allocation_count() - allocations_before;
        }
        for (const auto& client : clients) {
            client->driver->tick_dispatch(now);
            client->driver->tick_flush(now);
        }
    }
    REQUIRE(server.connection_count() == 8);
    result.driver = transport.by_driver();
    result.others = transport.by_others();
    result.by_peer = transport.by_peer();
    return result;
}

}  // namespace

TEST_CASE("Executor: only a transport that says so is called by its threads",
          "[netdriver][executor]") {
    OtherThreadExecutor executor;
    const SentBy plain = send_many(&executor, false);
    CHECK(plain.driver > 50);
    CHECK(plain.others == 0);
    CHECK(send_many(&executor, true).others > 10);
}

TEST_CASE("Executor: threads that send side by side send each peer what one thread sends",
          "[netdriver][executor]") {
    for (const Changing changing : {Changing::All, Changing::InTurn}) {
        const SentBy alone = send_many(nullptr, true, changing);
        REQUIRE(alone.by_peer.size() == 8);
        for (const std::uint32_t worker_count : {2u, 3u, 4u}) {
            ThreadExecutor threads(worker_count);
            CHECK(send_many(&threads, true, changing).by_peer == alone.by_peer);
            OrderedExecutor shuffled(worker_count, JobOrder::Shuffled, worker_count);
            CHECK(send_many(&shuffled, true, changing).by_peer == alone.by_peer);
        }
    }
}

TEST_CASE("Executor: a steady flush takes no memory, whichever of its threads is how fast",
          "[netdriver][executor]") {
    CHECK(send_many(nullptr, true).steady_allocations == 0);
    for (const std::uint32_t worker_count : {2u, 4u}) {
        ThreadExecutor threads(worker_count);
        CHECK(send_many(&threads, true).steady_allocations == 0);
        OrderedExecutor in_order(worker_count, JobOrder::Forward);
        CHECK(send_many(&in_order, true).steady_allocations == 0);
    }
}

}  // namespace replayout::test
