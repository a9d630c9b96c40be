// SPDX-License-Identifier: MIT
//
// Random games of calls, removals, hiding and showing, over networks that lose, repeat and reorder,
// and under caps: every reliable call that was accepted runs exactly once at each client that had
// its object open, in order, before the object goes there.
#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

constexpr std::size_t client_count = 3;

/// What one client is to hear of one object. Numbers of calls ascend in each object.
struct Hearing {
    std::set<std::uint32_t> expected;  ///< that must run
    std::set<std::uint32_t> before_close;
    std::uint32_t last = 0;  ///< that ran
    std::set<std::uint32_t> heard;
    bool is_hidden = false;
};

struct Member {
    std::string name;
    std::uint32_t number = 0;
    std::array<Hearing, client_count> clients;
};

class Game {
  public:
    explicit Game(std::uint64_t seed) : net_(rough_line(seed)), random_(seed) {
        net_.join(
            client_count,
            [this](std::size_t client, const Turret& callee, const Order& order) {
                hear(client, callee, order);
            },
            [this](std::size_t client, ObjectHandle object) { close(client, object); });
        // One is slow, as long as the game lasts.
        const std::uint32_t cap = 4'000 + random_.below(40'000);
        net_.server().driver.rates().set_bytes_per_second_max(CallFixture::client_peer(2), cap);
    }

    void play(int ticks) {
        for (int tick = 0; tick < ticks; ++tick) {
            if (live_.size() < 12 && random_.percent(30)) {
                add();
            }
            for (const ObjectHandle object : std::vector<ObjectHandle>(live_)) {
                act(object);
            }
            net_.tick();
        }
    }

    void finish() {
        net_.network().heal();
        while (!live_.empty()) {
            remove(live_.back());
        }
        REQUIRE(net_.settle(4'000));
        for (const auto& [name, member] : members_) {
            for (std::size_t client = 0; client < client_count; ++client) {
                INFO("object " << name << ", client " << client);
                for (const std::uint32_t number : member.clients[client].expected) {
                    CHECK(member.clients[client].heard.contains(number));
                }
            }
        }
        CHECK(is_in_order_);
        CHECK(is_before_close_);
        CHECK(net_.server().driver.object_count() == 0);
        for (std::size_t client = 0; client < client_count; ++client) {
            CHECK(net_.client(client).world.object_count() == 0);
        }
        CHECK(net_.server().driver.connection_count() == client_count);
        CHECK(heard_count_ > 100);
    }

  private:
    void add() {
        const ObjectHandle object = net_.add();
        const std::string name = std::to_string(members_.size() + 1);
        net_.turret(object).label = name;
        names_[object] = name;
        members_[name].name = name;
        live_.push_back(object);
    }

    void act(ObjectHandle object) {
        Member& member = members_[names_[object]];
        net_.turret(object).power += random_.percent(50) ? 1u : 0u;
        for (std::uint32_t i = random_.percent(30) ? 1 + random_.below(3) : 0u; i > 0; --i) {
            call(object, member);
        }
        if (random_.percent(4)) {
            const std::size_t client = random_.below(client_count);
            set_hidden(object, member, client, !member.clients[client].is_hidden);
        }
        if (random_.percent(3)) {
            remove(object);
        }
    }

    void call(ObjectHandle object, Member& member) {
        const Order order{member.number + 1, {}, member.name};
        if (net_.call(object, "multicast_boom", order) != CallResult::Sent) {
            return;
        }
        ++member.number;
        for (Hearing& client : member.clients) {
            if (!client.is_hidden) {
                client.expected.insert(member.number);
            }
        }
    }

    /// Where it is not open by now, as far as the server knows, it may never be.
    void leave(ObjectHandle object, Hearing& hearing, std::size_t client) {
        if (hearing.is_hidden) {
            return;
        }
        if (!net_.server().driver.connection_shadow(CallFixture::client_peer(client),
                                                    net_.id_of(object))) {
            hearing.expected = hearing.heard;
        }
        hearing.before_close = hearing.expected;
    }

    void set_hidden(ObjectHandle object, Member& member, std::size_t client, bool is_hidden) {
        if (is_hidden) {
            leave(object, member.clients[client], client);
        }
        member.clients[client].is_hidden = is_hidden;
        net_.server().driver.interest().set_relevant_for(CallFixture::client_peer(client),
                                                         net_.id_of(object), !is_hidden);
    }

    void remove(ObjectHandle object) {
        Member& member = members_[names_[object]];
        for (std::size_t client = 0; client < client_count; ++client) {
            leave(object, member.clients[client], client);
        }
        net_.remove(object);
        live_.erase(std::find(live_.begin(), live_.end(), object));
    }

    void hear(std::size_t client, const Turret& callee, const Order& order) {
        Hearing& hearing = members_[order.text].clients[client];
        is_in_order_ = is_in_order_ && callee.label == order.text && order.number > hearing.last;
        hearing.last = order.number;
        hearing.heard.insert(order.number);
        ++heard_count_;
    }

    void close(std::size_t client, ObjectHandle object) {
        Turret& turret = net_.client(client).world.turret(object);
        Hearing& hearing = members_[turret.label].clients[client];
        for (const std::uint32_t number : hearing.before_close) {
            INFO("object " << turret.label << ", client " << client << ", call " << number);
            CHECK(hearing.heard.contains(number));
            is_before_close_ = is_before_close_ && hearing.heard.contains(number);
        }
    }

    CallFixture net_;
    SeededRandom random_;
    std::map<std::string, Member> members_;
    std::map<ObjectHandle, std::string> names_;  // of the last one that had the handle
    std::vector<ObjectHandle> live_;
    std::uint64_t heard_count_ = 0;
    bool is_in_order_ = true;
    bool is_before_close_ = true;
};

TEST_CASE("Calls before a close: random games in which objects come, are called, hidden and go",
          "[netdriver][rpc][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 4)) {
        INFO("REPLAYOUT_SEED=" << seed);
        Game game(seed);
        game.play(250);
        game.finish();
    }
}

}  // namespace
}  // namespace replayout::test
