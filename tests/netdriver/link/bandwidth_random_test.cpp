// SPDX-License-Identifier: MIT
//
// Caps under work of all kinds at random: no second has more than the cap and one packet, and while
// something waits for room nine tenths are used.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/byte_meter.h"
#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/random_rates.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

/// Objects that change, grow too large for packets, are called, sleep, come and go.
class BusyGame {
  public:
    static constexpr std::size_t client_count = 3;

    explicit BusyGame(std::uint64_t seed)
        : random_(seed), rates_(seed), options_(options(seed, random_)), net_(options_) {
        for (std::size_t client = 0; client < client_count; ++client) {
            net_.join();
        }
        for (std::uint32_t i = random_.between(10, 150); i > 0; --i) {
            add();
        }
        REQUIRE(net_.settle());
        for (Line& line : lines_) {
            set_cap(line);
        }
    }

    void play(std::uint32_t ticks) {
        for (std::uint32_t tick = 0; tick < ticks; ++tick) {
            if (random_.percent(2)) {
                moves_max_ = random_.percent(30) ? 0 : random_.below(200);
            }
            for (std::uint32_t i = random_.below(1 + moves_max_); i > 0; --i) {
                act(turrets_[random_.below(static_cast<std::uint32_t>(turrets_.size()))]);
            }
            if (random_.percent(1)) {
                set_cap(lines_[random_.below(client_count)]);
            }
            metered_tick();
        }
    }

    void check_end() {
        net_.network().heal();
        for (std::size_t client = 0; client < client_count; ++client) {
            driver().rates().set_bytes_per_second_max(CallFixture::client_peer(client), 0);
        }
        for (const ObjectHandle turret : turrets_) {
            driver().set_dormancy(net_.id_of(turret), NetDormancy::Awake);
        }
        net_.tick(RandomRates::ticks_until_looked);
        REQUIRE(net_.settle());
        for (std::size_t client = 0; client < client_count; ++client) {
            CHECK(net_.client(client).driver.close_reason() == CloseReason::None);
            for (const ObjectHandle turret : turrets_) {
                const Turret& shown = net_.turret_on(client, turret);
                CHECK(shown.power == net_.turret(turret).power);
                CHECK((shown.pages == net_.turret(turret).pages));
            }
        }
    }

    std::uint64_t waiting_ticks = 0;  ///< of a client, in which something waited for room

  private:
    /// What goes to one client, since its cap was set.
    struct Line {
        PeerId peer;
        std::uint32_t cap = 0;
        ByteMeter meter;
        // Since something waits for room.
        bool is_waiting = false;
        std::uint64_t ticks = 0;
        std::uint64_t bytes = 0;
    };

    [[nodiscard]] static CallFixtureOptions options(std::uint64_t seed, SeededRandom& random) {
        CallFixtureOptions options;
        options.seed = seed;
        options.link.loss = random.below(4) * 0.1;
        options.link.latency_ms = random.below(60);
        options.server.calls_waiting_max = 64;
        // Caps are far below what is called, so no slow client is closed here.
        options.server.calls_full_timeout_ms = 0;
        // So much is lost that ten seconds may be too few.
        options.server.timeout_ms = options.client.timeout_ms = 60'000;
        constexpr std::uint32_t packet_sizes[] = {256, 700,
                                                  1'200};  // a page takes four of the first
        options.server.packet_bytes_max = options.client.packet_bytes_max =
            random.pick(packet_sizes);
        return options;
    }

    void set_cap(Line& line) {
        constexpr std::uint32_t highest[] = {2'000, 5'000, 20'000, 100'000, 300'000};
        const std::size_t client = static_cast<std::size_t>(&line - lines_);
        line = Line{CallFixture::client_peer(client),
                    random_.between(1'800, random_.pick(highest)),
                    ByteMeter(),
                    false,
                    0,
                    0};
        driver().rates().set_bytes_per_second_max(line.peer, line.cap);
    }
    void add() {
        turrets_.push_back(random_.percent(50) ? net_.add()
                                               : net_.add_owned(random_.below(client_count)));
        rates_.set_object(driver().rates(), net_.id_of(turrets_.back()));
    }
    void act(ObjectHandle object) {
        Turret& turret = net_.turret(object);
        const NetObjectId id = net_.id_of(object);
        const Order order{turret.power, turrets_.front(), std::string(random_.below(40), 'o')};
        switch (random_.below(100)) {
            case 0:
                turret.pages[random_.below(4)].assign(random_.below(1'000), 'p');
                break;
            case 1:
                (void)net_.call_with(object, "client_deliver", make_cargo(1, random_.below(4'000)));
                break;
            case 2:
                (void)net_.call_with(object, "multicast_toss", make_cargo(1, random_.below(2'000)));
                break;
            case 3:
                driver().set_dormancy(
                    id, random_.percent(50) ? NetDormancy::DormantAll : NetDormancy::Awake);
                break;
            case 4:
                driver().set_owner(id, CallFixture::client_peer(random_.below(client_count)));
                break;
            case 5:
                if (turrets_.size() > 5) {
                    std::erase(turrets_, object);
                    net_.remove(object);
                }
                add();
                break;
            case 6:
            case 7:
                (void)net_.call(object, "client_tell", order);
                break;
            case 8:
            case 9:
                (void)net_.call(object, "multicast_boom", order);
                break;
            case 10:
                turret.label.assign(random_.below(300), 'l');
                break;
            default:
                ++turret.power;
                break;
        }
    }
    void metered_tick() {
        ScriptedTransport& transport = net_.server().transport;
        transport.is_recording = true;
        transport.sent.clear();
        net_.tick();
        transport.is_recording = false;
        transport.received.clear();
        for (Line& line : lines_) {
            std::size_t bytes = 0;
            for (const Datagram& datagram : transport.sent) {
                bytes += datagram.peer == line.peer ? datagram.bytes.size() : 0;
            }
            line.meter.tick(bytes);
            INFO("cap " << line.cap << " of peer " << line.peer.value);
            REQUIRE(line.meter.most <= line.cap + options_.server.packet_bytes_max);
            check_use(line, bytes);
        }
    }
    void check_use(Line& line, std::size_t bytes) {
        const bool was_waiting = line.is_waiting;
        line.is_waiting = is_anything_waiting(line.peer);
        if (!was_waiting || !line.is_waiting) {
            line.ticks = 0;
            line.bytes = 0;
            return;
        }
        ++waiting_ticks;
        ++line.ticks;
        line.bytes += bytes;
        INFO("bytes " << line.bytes << " in ticks " << line.ticks);
        REQUIRE(line.bytes + options_.server.packet_bytes_max >=
                line.ticks * line.cap / ByteMeter::ticks_per_second * 9 / 10);
    }
    /// For the cap, and not for the window, which ended the flush before that was used.
    [[nodiscard]] bool is_anything_waiting(PeerId peer) {
        bool is_waiting = false;
        for (const ObjectHandle turret : turrets_) {
            const OwedReason reason = driver().rates().owed_to(peer, net_.id_of(turret)).reason;
            if (reason == OwedReason::WindowFull) {
                return false;
            }
            is_waiting =
                is_waiting || reason == OwedReason::NoBudget || reason == OwedReason::SteppedDown;
        }
        return is_waiting;
    }
    [[nodiscard]] NetDriver& driver() { return net_.server().driver; }

    SeededRandom random_;
    RandomRates rates_;
    CallFixtureOptions options_;
    CallFixture net_;
    std::vector<ObjectHandle> turrets_;
    Line lines_[client_count];
    std::uint32_t moves_max_ = 100;
};

}  // namespace

TEST_CASE("Bandwidth: whatever is to be sent, a cap is kept, and used while anything waits",
          "[netdriver][bandwidth][random]") {
    const SeedRange seeds = seed_range(run_seed() % 1'000'000 + 1, 10);
    std::uint64_t waiting_ticks = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        BusyGame game(seed);
        game.play(1'000);
        game.check_end();
        waiting_ticks += game.waiting_ticks;
    }
    CHECK((waiting_ticks > 5'000 || !seeds.is_default));
}

}  // namespace replayout::test
