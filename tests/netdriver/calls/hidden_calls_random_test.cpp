// SPDX-License-Identifier: MIT
//
// Random games in which objects are called, hidden, shown again, and change their values and their
// owners all at once, under loss and caps. Each reliable call that was accepted runs before its
// object goes, with the state that was set before it. No client ever sees a value that is newer
// than the hide.
#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
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

[[nodiscard]] CallFixtureOptions options_of(std::uint64_t seed) {
    CallFixtureOptions options = rough_line(seed);
    options.is_sharing = seed % 3 != 0;
    options.is_counting_types = seed % 2 == 0;
    options.tick_ms = seed % 2 == 0 ? 20 : 7;
    return options;
}

/// Each only grows.
struct Values {
    std::uint32_t power = 0;
    std::uint32_t secret = 0;  // of the owner
    std::uint32_t page = 0;
};

[[nodiscard]] std::string page_of(std::uint32_t number, std::size_t bytes) {
    std::string text = std::to_string(number) + ' ';
    text.resize(std::max(text.size(), bytes), 'p');
    return text;
}

[[nodiscard]] Values values_of(const Turret& turret) {
    const std::string& page = turret.pages[3];
    return {turret.power, turret.secret,
            page.empty() ? 0 : static_cast<std::uint32_t>(std::strtoul(page.c_str(), nullptr, 10))};
}

[[nodiscard]] bool is_within(const Values& values, const Values& bound) {
    return values.power <= bound.power && values.secret <= bound.secret &&
           values.page <= bound.page;
}

/// What one client may see of one object, and is to hear of it.
struct View {
    bool is_hidden = false;
    Values seen;                   ///< the newest that it may see
    std::optional<Values> frozen;  ///< the same when it was hidden, as long as the client has it
    ObjectHandle frozen_object;    ///< of the client
    std::set<std::uint32_t> expected;
    std::set<std::uint32_t> before_close;
    std::set<std::uint32_t> heard;
    std::uint32_t last = 0;
};

struct Member {
    ObjectHandle object;
    std::optional<std::size_t> owner;
    std::vector<Values> at_call{Values()};  ///< by number of the call
    std::array<View, client_count> views;
};

class Game {
  public:
    explicit Game(std::uint64_t seed) : net_(options_of(seed)), random_(seed) {
        net_.join(
            client_count,
            [this](std::size_t client, const Turret& callee, const Order& order) {
                hear(client, callee, order);
            },
            [this](std::size_t client, ObjectHandle object) { close(client, object); });
        if (random_.percent(70)) {
            const std::uint32_t cap = 6'000 + random_.below(60'000);
            net_.server().driver.rates().set_bytes_per_second_max(CallFixture::client_peer(2), cap);
        }
        for (std::uint32_t i = 0; i < 6; ++i) {
            const ObjectHandle object = net_.add();
            members_.emplace_back().object = object;
            net_.turret(object).label = std::to_string(i);
        }
    }

    void play(int ticks) {
        for (int tick = 0; tick < ticks; ++tick) {
            net_.tick([this] {
                for (Member& member : members_) {
                    for (std::uint32_t n = random_.below(4); n > 0; --n) {
                        act(member);
                    }
                }
            });
            look();
        }
    }

    void finish() {
        net_.network().heal();
        REQUIRE(net_.settle(4'000));
        look();
        for (std::size_t i = 0; i < members_.size(); ++i) {
            for (std::size_t client = 0; client < client_count; ++client) {
                INFO("object " << i << ", client " << client);
                const View& view = members_[i].views[client];
                const bool has_object = !net_.find_on(client, members_[i].object).is_null();
                CHECK(has_object == !view.is_hidden);
                CHECK(std::includes(view.heard.begin(), view.heard.end(), view.expected.begin(),
                                    view.expected.end()));
            }
        }
        CHECK(net_.server().driver.connection_count() == client_count);
        CHECK(net_.find_type_difference() == "");
        CHECK(heard_count_ > 50);
    }
    /// How often an object was hidden while calls of it were on their way.
    [[nodiscard]] std::uint64_t hides_with_calls() const { return hides_with_calls_; }

  private:
    [[nodiscard]] Values now_of(const Member& member) {
        return values_of(net_.turret(member.object));
    }
    void note_seen(Member& member) {
        const Values now = now_of(member);
        for (std::size_t client = 0; client < client_count; ++client) {
            View& view = member.views[client];
            if (!view.is_hidden) {
                view.seen.power = now.power;
                view.seen.page = now.page;
                view.seen.secret = member.owner == client ? now.secret : view.seen.secret;
            }
        }
    }

    void act(Member& member) {
        Turret& turret = net_.turret(member.object);
        switch (random_.below(12)) {
            case 0:
            case 1:
                call(member);
                break;
            case 2:
                set_owner(member);
                break;
            case 3:
            case 4: {
                const std::size_t client = random_.below(client_count);
                set_hidden(member, client, !member.views[client].is_hidden);
                break;
            }
            case 5:
                // Sometimes all of it is more than a packet holds.
                turret.pages.fill(page_of(++number_, random_.percent(10) ? 1'000 : 30));
                break;
            default:
                turret.power = ++number_;
                turret.secret = ++number_;
                break;
        }
        note_seen(member);
    }

    void set_owner(Member& member) {
        const NetObjectId id = net_.id_of(member.object);
        member.owner.reset();
        if (random_.percent(70)) {
            member.owner = random_.below(client_count);
            net_.server().driver.set_owner(id, CallFixture::client_peer(*member.owner));
        } else {
            net_.server().driver.clear_owner(id);
        }
    }

    void call(Member& member) {
        const auto number = static_cast<std::uint32_t>(member.at_call.size());
        const std::string name = net_.turret(member.object).label;
        if (net_.call(member.object, "multicast_boom", {number, {}, name}) != CallResult::Sent) {
            return;
        }
        member.at_call.push_back(now_of(member));
        for (View& view : member.views) {
            if (!view.is_hidden) {
                view.expected.insert(number);
            }
        }
    }

    void set_hidden(Member& member, std::size_t client, bool is_hidden) {
        View& view = member.views[client];
        const PeerId peer = CallFixture::client_peer(client);
        const NetObjectId id = net_.id_of(member.object);
        if (is_hidden) {
            // Where it is not open by now, as far as the server knows, it may never be; or it is
            // to come again, and what was called for that is dropped.
            if (!net_.server().driver.connection_shadow(peer, id)) {
                view.expected = view.frozen ? view.before_close : view.heard;
            } else {
                hides_with_calls_ += view.expected.size() > view.heard.size() ? 1u : 0u;
                view.frozen = view.seen;
                view.frozen_object = net_.find_on(client, member.object);
            }
            view.before_close = view.expected;
        }
        view.is_hidden = is_hidden;
        net_.server().driver.interest().set_relevant_for(peer, id, !is_hidden);
    }

    void hear(std::size_t client, const Turret& callee, const Order& order) {
        Member& member = members_.at(std::stoul(order.text));
        View& view = member.views[client];
        INFO("object " << order.text << ", client " << client << ", call " << order.number);
        CHECK(order.number > view.last);
        const Values seen = values_of(callee);
        CHECK(seen.power >= member.at_call[order.number].power);
        CHECK(seen.page >= member.at_call[order.number].page);
        CHECK((!view.frozen || is_within(seen, *view.frozen)));
        view.last = order.number;
        view.heard.insert(order.number);
        ++heard_count_;
    }

    void close(std::size_t client, ObjectHandle object) {
        const auto member =
            std::find_if(members_.begin(), members_.end(), [&](const Member& other) {
                return other.views[client].frozen && other.views[client].frozen_object == object;
            });
        if (member == members_.end()) {
            return;  // it was not open, as far as the server knew
        }
        INFO("object " << member - members_.begin() << ", client " << client);
        const Turret& turret = net_.client(client).world.turret(object);
        View& view = member->views[client];
        CHECK(std::includes(view.heard.begin(), view.heard.end(), view.before_close.begin(),
                            view.before_close.end()));
        CHECK(is_within(values_of(turret), *view.frozen));
        view.frozen.reset();
    }

    /// What clients have of what is hidden is not newer than the hide.
    void look() {
        for (Member& member : members_) {
            for (std::size_t client = 0; client < client_count; ++client) {
                const ObjectHandle found = net_.find_on(client, member.object);
                const View& view = member.views[client];
                if (!found.is_null() && view.frozen) {
                    INFO("object " << net_.turret(member.object).label << ", client " << client);
                    CHECK(is_within(values_of(net_.client(client).world.turret(found)),
                                    *view.frozen));
                }
            }
        }
    }

    CallFixture net_;
    SeededRandom random_;
    std::vector<Member> members_;
    std::uint32_t number_ = 0;
    std::uint64_t heard_count_ = 0;
    std::uint64_t hides_with_calls_ = 0;
};

TEST_CASE("Calls before a hide: random games in which values and owners change meanwhile",
          "[netdriver][rpc][interest][random]") {
    const SeedRange seeds = seed_range(run_seed() % 1'000'000 + 1, 6);
    std::uint64_t hides_with_calls = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        Game game(seed);
        game.play(300);
        game.finish();
        hides_with_calls += game.hides_with_calls();
    }
    CHECK(hides_with_calls >= 2 * seeds.count);
}

}  // namespace
}  // namespace replayout::test
