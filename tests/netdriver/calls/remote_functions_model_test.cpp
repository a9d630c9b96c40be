// SPDX-License-Identifier: MIT
//
// Remote calls against a model of what they promise, over a network that loses, repeats and
// reorders: a reliable call arrives once, in order within its object, and never before its object
// or the state that it means, however large it is.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/random_rates.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] CallFixtureOptions bad_network(std::uint64_t seed, std::uint32_t packet_bytes_max,
                                             bool is_validating) {
    CallFixtureOptions options;
    options.seed = seed;
    options.link.loss = 0.2;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.1;
    options.link.reorder_ms = 60;
    options.link.latency_ms = 30;
    options.link.jitter_ms = 10;
    options.is_validating = is_validating;
    for (NetConfig* config : {&options.server, &options.client}) {
        config->packet_bytes_max = packet_bytes_max;
        config->calls_per_second_max = 1'000'000;
        config->calls_burst_max = 1'000'000;
        config->function_calls_per_second_max = 1'000'000;
        config->function_calls_burst_max = 1'000'000;
    }
    return options;
}

/// Objects that come and go, and of each direction the number of the next call.
class Game {
  public:
    Game(std::uint64_t seed, std::uint32_t packet_bytes_max, bool is_validating)
        : Game(seed, bad_network(seed, packet_bytes_max, is_validating), 0) {}

    /// One call in eight is larger than others, by so many bytes at most; 0: none. With `rates`
    /// every second object sleeps now and then.
    Game(std::uint64_t seed, const CallFixtureOptions& options, std::uint32_t cargo_bytes_max,
         std::optional<RandomRates> rates = std::nullopt)
        : net_(options), random_(seed), rates_(rates), cargo_bytes_max_(cargo_bytes_max) {
        net_.join();
        for (int i = 0; i < 4; ++i) {
            add();
        }
        REQUIRE(net_.settle());
        const auto check_server = [this](const char* function, const Order& order) {
            const std::string name = function;
            in_order_ = in_order_ && name != "broken";
            if (name == "fire" || name == "deliver") {
                ++server_count_;
                in_order_ = in_order_ && order.number == ++fired_[order.text];
            }
        };
        net_.server().world.on_call = check_server;
        net_.client(0).world.on_call = [this](const char* function, const Order& order) {
            check_client(function, order);
        };
        net_.client(0).world.on_callee = [this](const Machine& callee, const Order& order) {
            is_state_there_ = is_state_there_ && callee.power >= order.number;
        };
        net_.server().world.is_listening = false;
        net_.client(0).world.is_listening = false;
    }

    void play(std::uint32_t calls) {
        while (server_count_ < calls || client_count_ < calls) {
            for (Member& member : members_) {
                call_some(member);
            }
            if (random_.percent(3)) {
                replace(members_[random_.below(4)]);
            }
            if (rates_) {
                change_rates();
            }
            net_.tick();
            INFO("client closed: " << to_string(net_.client(0).driver.close_reason()));
            REQUIRE(in_order_);
            REQUIRE(is_state_there_);
            REQUIRE(net_.server().driver.connection_count() == 1);
        }
    }

    /// Nothing that was called of objects that live is missing.
    void finish() {
        net_.network().heal();
        REQUIRE(net_.settle(20'000));
        // A server knows nothing of what its client still has to send, which may have a cap.
        for (int i = 0; i < 20'000 && !has_all_run(); ++i) {
            net_.tick();
        }
        net_.tick(50);
        for (const Member& member : members_) {
            CHECK(told_[member.name] == member.told);
            CHECK(fired_[member.name] == member.fired);
        }
        CHECK(in_order_);
        CHECK(is_state_there_);
    }

    [[nodiscard]] CallFixture& net() noexcept { return net_; }

  private:
    /// An object, and the numbers of the last calls each way.
    struct Member {
        ObjectHandle object;
        std::string name;
        std::uint32_t told = 0;
        std::uint32_t fired = 0;
        bool is_sleeper = false;  ///< its client calls nothing of it: it could not know when
    };

    void add() { members_.push_back(make()); }

    [[nodiscard]] Member make() {
        Member member;
        member.object = net_.add_owned(0);
        member.name = std::to_string(++name_count_);
        if (rates_) {
            member.is_sleeper = name_count_ % 2 == 0;
            rates_->set_object(driver().rates(), net_.id_of(member.object));
        }
        return member;
    }

    void change_rates() {
        const Member& member = members_[random_.below(4)];
        const NetObjectId id = net_.id_of(member.object);
        rates_->maybe_change(driver().rates(), CallFixture::client_peer(0), id);
        if (member.is_sleeper && random_.percent(20)) {
            constexpr NetDormancy states[] = {NetDormancy::Awake, NetDormancy::DormantAll,
                                              NetDormancy::DormantAll, NetDormancy::Initial};
            const NetDormancy state = random_.pick(states);
            // What is kept from the client is null where it is named.
            const bool has_it = !net_.find_on(0, member.object).is_null();
            driver().set_dormancy(
                id, state == NetDormancy::Initial && !has_it ? NetDormancy::DormantAll : state);
        }
    }

    void replace(Member& member) {
        net_.remove(member.object);
        member = make();
    }

    void call_some(Member& member) {
        Turret& turret = net_.turret(member.object);
        const Member& other = members_[random_.below(4)];
        for (std::uint32_t i = random_.below(4); i > 0; --i) {
            // The callee must see at least this, of itself and of the other.
            turret.power = member.told + 1;
            if (member.is_sleeper) {
                driver().flush_dormancy(net_.id_of(member.object));
            }
            const Order order{member.told + 1, other.object,
                              member.name + " " + other.name + " " +
                                  std::to_string(net_.turret(other.object).power)};
            const bool is_sent =
                is_next_large()
                    ? net_.call_with(member.object, "client_deliver", cargo_of(order)) ==
                          CallResult::Sent
                    : net_.call(member.object, "client_tell", order) == CallResult::Sent;
            member.told += is_sent ? 1 : 0;
            (void)net_.call(member.object, "client_hint", order);
        }
        if (random_.percent(5)) {
            // Sometimes the state is too large to go with a call.
            for (std::string& page : turret.pages) {
                page.assign(random_.below(500), 'p');
            }
        }
        if (member.is_sleeper || net_.find_on(0, member.object).is_null()) {
            return;
        }
        for (std::uint32_t i = random_.below(4); i > 0; --i) {
            const Order order{member.fired + 1, {}, member.name};
            const bool is_sent =
                is_next_large()
                    ? net_.call_with_from(0, member.object, "server_deliver", cargo_of(order)) ==
                          CallResult::Sent
                    : net_.call_from(0, member.object, "server_fire", order) == CallResult::Sent;
            member.fired += is_sent ? 1 : 0;
        }
    }

    [[nodiscard]] bool is_next_large() { return cargo_bytes_max_ > 0 && random_.below(8) == 0; }
    [[nodiscard]] Cargo cargo_of(const Order& order) {
        Cargo cargo = make_cargo(order.number, random_.below(cargo_bytes_max_));
        cargo.target = order.target;
        cargo.text = order.text;
        return cargo;
    }

    void check_client(const std::string& function, const Order& order) {
        const std::string name = order.text.substr(0, order.text.find(' '));
        const auto target_power =
            static_cast<std::uint32_t>(std::stoul(order.text.substr(order.text.rfind(' ') + 1)));
        in_order_ = in_order_ && function != "broken";
        if (function == "tell" || function == "deliver") {
            ++client_count_;
            in_order_ = in_order_ && order.number == ++told_[name];
        }
        // What went meanwhile is null, or not closed here yet and stays as it is.
        const std::size_t begin = name.size() + 1;
        const std::string other = order.text.substr(begin, order.text.find(' ', begin) - begin);
        const bool is_alive =
            std::any_of(members_.begin(), members_.end(),
                        [&](const Member& member) { return member.name == other; });
        is_state_there_ = is_state_there_ && (!is_alive || !order.target.is_null());
        if (is_alive && !order.target.is_null()) {
            const Turret& target = net_.client(0).world.turret(order.target);
            is_state_there_ = is_state_there_ && target.power >= target_power;
        }
    }

    [[nodiscard]] bool has_all_run() {
        return std::all_of(members_.begin(), members_.end(), [&](const Member& member) {
            return fired_[member.name] == member.fired;
        });
    }
    [[nodiscard]] NetDriver& driver() { return net_.server().driver; }

    CallFixture net_;
    SeededRandom random_;
    std::optional<RandomRates> rates_;
    std::uint32_t cargo_bytes_max_;
    std::vector<Member> members_;
    std::map<std::string, std::uint32_t> told_;   // last number that ran, by name
    std::map<std::string, std::uint32_t> fired_;  // likewise
    std::uint64_t server_count_ = 0;
    std::uint64_t client_count_ = 0;
    std::uint32_t name_count_ = 0;
    bool in_order_ = true;
    bool is_state_there_ = true;
};

}  // namespace

TEST_CASE("Remote functions: of 1,000,000 reliable calls both ways none is lost, doubled, or early",
          "[netdriver][rpc]") {
    const std::uint64_t seed = run_seed();
    CAPTURE(seed);
    Game game(seed, 1'200, false);
    game.play(500'000);
    game.finish();
    CHECK(game.net().server().driver.stats().calls_resent > 10'000);
}

// A page fills more than a packet, and travels reliably.
TEST_CASE("Remote functions: in small packets, beside large values, no call comes early",
          "[netdriver][rpc]") {
    const std::uint64_t seed = run_seed();
    CAPTURE(seed);
    Game game(seed, 256, true);
    game.play(3'000);
    game.finish();
}

TEST_CASE("Remote functions: larger than a packet, none is lost, doubled, or early",
          "[netdriver][rpc]") {
    const std::uint64_t seed = run_seed();
    CAPTURE(seed);
    CallFixtureOptions options = bad_network(seed, 1'200, true);
    std::uint32_t bytes_max = 20'000;
    std::uint32_t calls = 3'000;
    SECTION("many parts") {}
    SECTION("small packets") {
        options.server.packet_bytes_max = options.client.packet_bytes_max = 256;
        bytes_max = 6'000;
        calls = 1'500;
    }
    SECTION("little that may wait") {
        for (NetConfig* config : {&options.server, &options.client}) {
            config->bunch_bytes_max = 8'000;
            config->reliable_waiting_bytes_max = config->client_waiting_bytes_max = 8'000;
            config->reliable_waiting_max = config->client_waiting_max = 12;
        }
        bytes_max = 7'000;
        calls = 1'500;
    }
    Game game(seed, options, bytes_max);
    game.play(calls);
    game.finish();
    for (NetDriver* driver : {&game.net().server().driver, &game.net().client(0).driver}) {
        CHECK(driver->stats().call_parts_sent > calls / 8);
        CHECK(driver->stats().call_parts_resent > calls / 80);
    }
}

TEST_CASE("Remote functions: with caps, frequencies and dormancy none is lost, doubled, or early",
          "[netdriver][rpc][rates][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 20)) {
        INFO("REPLAYOUT_SEED=" << seed);
        CallFixtureOptions options = bad_network(seed, seed % 2 == 0 ? 1'200 : 256, true);
        RandomRates rates(seed);
        options.server = rates.with_caps(options.server);
        options.client = rates.with_caps(options.client);
        Game game(seed, options, 2'500, rates);
        game.play(150);
        game.finish();
    }
}

}  // namespace replayout::test
