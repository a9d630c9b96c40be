// SPDX-License-Identifier: MIT
//
// Everything that decides who has what, at random and all at once, against rules that are applied
// to all pairs; and packets, which are searched for what their receiver may not see.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/random_rates.h"
#include "support/worlds/crate_game.h"
#include "support/worlds/net_fixture.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] LinkSettings losing_link() {
    LinkSettings link;
    link.loss = 0.2;
    link.duplicate = 0.05;
    link.reorder = 0.1;
    link.latency_ms = 40;
    link.jitter_ms = 10;
    return link;
}

/// Places are so far apart that only what is in the same one is seen.
[[nodiscard]] Vector3 location_of(std::uint32_t place) {
    return {1'000.0f * static_cast<float>(place), 0, 0};
}

class RandomInterest {
  public:
    static constexpr std::size_t client_count = 3;

    explicit RandomInterest(std::uint64_t seed)
        : random_(seed),
          rates_(seed),
          game_(losing_link(), rates_.with_caps({}), seed),
          driver_(game_.server().driver) {
        game_.server().world.on_relevancy_asked = [this](ObjectHandle object, PeerId peer) {
            return answers_.contains({object, peer});
        };
        game_.server().world.on_peer_joined = [this](PeerId peer) { viewers_[peer] = Client(); };
        for (std::size_t client = 0; client < client_count; ++client) {
            (void)game_.join();
        }
        REQUIRE(game_.settle());
    }

    void play(int ticks) {
        for (int i = 0; i < ticks; ++i) {
            game_.tick([this] {
                for (std::uint32_t n = random_.below(8); n > 0; --n) {
                    act();
                }
                change_rates();
            });
            check_decisions();
        }
        game_.tick(RandomRates::ticks_until_looked);
        REQUIRE(game_.settle());
        check_clients();
    }

    /// A client in the middle of it all: nothing of the one before is left.
    void replace_client() {
        const std::size_t leaver = first_client_++;
        const PeerId peer = SpawnGame::peer_of(leaver);
        driver_.disconnect(peer);
        game_.tick(50);
        viewers_.erase(peer);
        const PeerId comer = SpawnGame::peer_of(game_.join());
        while (!viewers_.contains(comer)) {
            game_.tick();
        }
        play(5);
    }

  private:
    struct Client {
        std::map<std::uint32_t, std::uint32_t> views;  // place by view
        std::set<std::uint32_t> groups;
    };
    struct Rule {
        NetRelevancy relevancy = NetRelevancy::Always;
        std::optional<std::uint32_t> place;
        bool is_grouped = false;
        std::set<std::uint32_t> groups;
        std::optional<PeerId> owner;
        std::optional<ObjectHandle> owner_object;
        std::map<PeerId, bool> said;
        std::vector<ObjectHandle> parts;
    };

    [[nodiscard]] PeerId any_peer() {
        return SpawnGame::peer_of(first_client_ + random_.below(client_count));
    }
    [[nodiscard]] bool is_relevant(PeerId peer, ObjectHandle object) const {
        const Rule& rule = rules_.at(object);
        if (const auto said = rule.said.find(peer); said != rule.said.end()) {
            return said->second;
        }
        if (rule.owner == peer) {
            return true;
        }
        const Client& client = viewers_.at(peer);
        const auto is_clients = [&](std::uint32_t group) { return client.groups.contains(group); };
        if (rule.is_grouped && std::none_of(rule.groups.begin(), rule.groups.end(), is_clients)) {
            return false;
        }
        switch (rule.relevancy) {
            case NetRelevancy::Always:
                return true;
            case NetRelevancy::OnlyToOwner:
                return false;
            case NetRelevancy::UseOwner:
                return rule.owner_object && is_relevant(peer, *rule.owner_object);
            case NetRelevancy::Distance:
            case NetRelevancy::Grid:
                return std::any_of(client.views.begin(), client.views.end(),
                                   [&](const auto& view) { return view.second == rule.place; });
            case NetRelevancy::Custom:
                return answers_.contains({object, peer});
        }
        return false;
    }
    void act() {
        if (rules_.size() < 10 || (rules_.size() < 40 && random_.percent(10))) {
            add();
            return;
        }
        const std::uint32_t what = random_.below(20);
        if (what < 5) {
            move_viewer();
        } else {
            change(
                std::next(rules_.begin(), random_.below(static_cast<std::uint32_t>(rules_.size())))
                    ->first,
                what);
        }
    }
    void add() {
        SpawnParameters parameters;
        Rule rule;
        if (random_.percent(70)) {
            rule.place = random_.below(4);
            parameters.location = location_of(*rule.place);
        }
        const ObjectHandle object = game_.add(game_.layouts().prop(), parameters);
        rates_.set_object(driver_.rates(), game_.id_of(object));
        if (random_.percent(30)) {
            rule.parts.push_back(game_.add_part(object));
        }
        rules_[object] = rule;
        if (random_.percent(80)) {
            set_relevancy(object);
        }
        game_.prop(object).hp = static_cast<std::int32_t>(random_.below(1'000));
    }
    void change_rates() {
        if (!rules_.empty()) {
            const auto place = random_.below(static_cast<std::uint32_t>(rules_.size()));
            const ObjectHandle object = std::next(rules_.begin(), place)->first;
            rates_.maybe_change(driver_.rates(), any_peer(), game_.id_of(object));
        }
    }
    void set_relevancy(ObjectHandle object) {
        rules_[object].relevancy = NetRelevancy(random_.below(6));
        interest().set_relevancy(game_.id_of(object), rules_[object].relevancy);
    }
    void move_viewer() {
        const PeerId peer = any_peer();
        Client& client = viewers_.at(peer);
        const std::uint32_t view = random_.below(2);
        switch (random_.below(4)) {
            case 0:
                client.views.erase(view);
                interest().remove_viewer(peer, view);
                break;
            case 1: {
                const std::uint32_t group = random_.below(4);
                const bool is_in = random_.percent(50);
                is_in ? void(client.groups.insert(group)) : void(client.groups.erase(group));
                interest().set_in_group(peer, NetGroup{group}, is_in);
                break;
            }
            default:
                client.views[view] = random_.below(4);
                interest().set_viewer(peer, location_of(client.views[view]), view);
                break;
        }
    }
    void change(ObjectHandle object, std::uint32_t what) {
        Rule& rule = rules_.at(object);
        const NetObjectId id = game_.id_of(object);
        const PeerId peer = any_peer();
        const std::uint32_t group = random_.below(4);
        switch (what) {
            case 5:
                set_relevancy(object);
                break;
            case 6:
                rule.is_grouped = true;
                rule.groups.insert(group);
                interest().add_to_group(id, NetGroup{group});
                break;
            case 7:
                rule.groups.erase(group);
                interest().remove_from_group(id, NetGroup{group});
                break;
            case 8:
                rule.is_grouped = false;
                rule.groups.clear();
                interest().clear_groups(id);
                break;
            case 9:
                rule.owner = peer;
                driver_.set_owner(id, peer);
                break;
            case 10:
                rule.owner.reset();
                driver_.clear_owner(id);
                break;
            case 11:
                rule.said[peer] = random_.percent(50);
                interest().set_relevant_for(peer, id, rule.said[peer]);
                break;
            case 12:
                rule.said.erase(peer);
                interest().clear_relevant_for(peer, id);
                break;
            case 13:
                answer(object, peer);
                break;
            case 14:
                set_owner_object(object);
                break;
            case 15:
                if (random_.percent(50)) {
                    remove(object);
                }
                break;
            case 16:
                interest().set_cull_distance(id, random_.percent(50) ? 20.0f : 400.0f);
                break;
            case 17:
                game_.prop(object).hp = static_cast<std::int32_t>(random_.below(1'000));
                break;
            default:
                rule.place = random_.below(4);
                interest().set_location(id, location_of(*rule.place));
                break;
        }
    }
    void answer(ObjectHandle object, PeerId peer) {
        if (!answers_.erase({object, peer})) {
            answers_.insert({object, peer});
        }
        if (random_.percent(50)) {
            interest().reconsider(game_.id_of(object));
        } else {
            interest().reconsider(peer, game_.id_of(object));
        }
    }
    void set_owner_object(ObjectHandle object) {
        // Only to what came before it, so there is no circle.
        const auto place = rules_.find(object);
        if (place == rules_.begin()) {
            return;
        }
        const auto owner = std::next(
            rules_.begin(),
            random_.below(static_cast<std::uint32_t>(std::distance(rules_.begin(), place))));
        place->second.owner_object = owner->first;
        interest().set_owner_object(game_.id_of(object), game_.id_of(owner->first));
    }
    void remove(ObjectHandle object) {
        rules_.erase(object);
        for (auto& [other, rule] : rules_) {
            if (rule.owner_object == object) {
                rule.owner_object.reset();
            }
        }
        game_.remove(object);
    }
    void check_decisions() {
        for (const auto& [peer, client] : viewers_) {
            for (const auto& [object, rule] : rules_) {
                const bool is_decided = driver_.is_relevant_for(peer, game_.id_of(object));
                if (is_decided != is_relevant(peer, object)) {
                    FAIL("object " << object.value << " of relevancy "
                                   << static_cast<int>(rule.relevancy) << " for peer " << peer.value
                                   << ": " << is_decided);
                }
            }
        }
    }
    void check_clients() {
        for (std::size_t i = 0; i < client_count; ++i) {
            const std::size_t client = first_client_ + i;
            std::size_t count = std::size(SpawnGame::map_names);
            for (const auto& [object, rule] : rules_) {
                const bool is_here = is_relevant(SpawnGame::peer_of(client), object);
                CHECK(game_.find_on(client, object).is_null() != is_here);
                if (is_here) {
                    CHECK(game_.prop_on(client, object).hp == game_.prop(object).hp);
                    count += 1 + rule.parts.size();
                }
                for (const ObjectHandle part : rule.parts) {
                    CHECK(game_.find_on(client, part).is_null() != is_here);
                }
            }
            CHECK(game_.client(client).world.objects().size() == count);
        }
    }
    [[nodiscard]] Interest interest() { return driver_.interest(); }

    SeededRandom random_;
    RandomRates rates_;
    SpawnGame game_;
    NetDriver& driver_;
    std::map<ObjectHandle, Rule> rules_;
    std::map<PeerId, Client> viewers_;
    std::set<std::pair<ObjectHandle, PeerId>> answers_;
    std::size_t first_client_ = 0;
};

/// Whether the 32 bits stand anywhere in it, aligned or not.
[[nodiscard]] bool contains_bits(const Bytes& bytes, std::uint32_t wanted) {
    std::uint64_t window = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        window = (window >> 8) | (std::uint64_t{std::to_integer<std::uint8_t>(bytes[i])} << 56);
        for (std::uint32_t shift = 0; shift < 8; ++shift) {
            // The last five bytes are the upper ones.
            if (i >= 3 && static_cast<std::uint32_t>(window >> (32 - shift)) == wanted) {
                return true;
            }
        }
    }
    return false;
}

/// The bytes that whoever may not see an object would know it by.
[[nodiscard]] std::int32_t marker_of(std::size_t object) {
    return static_cast<std::int32_t>(0x5EC2'E700u + static_cast<std::uint32_t>(object));
}

/// Wholes with parts, which come and go for each client in each tick.
class FlickeringGame {
  public:
    explicit FlickeringGame(std::uint64_t seed) : random_(seed), game_(build_crate, options(seed)) {
        game_.join();
        game_.join();
        for (int i = 0; i < 30; ++i) {
            const ObjectHandle whole = game_.add();
            families_.push_back({whole, game_.add_part(whole), {true, true}});
        }
        REQUIRE(game_.settle());
        LinkSettings link;
        link.loss = seed % 3 == 0 ? 0.0 : 0.3;
        link.latency_ms = static_cast<std::uint32_t>(seed % 4) * 30;
        link.jitter_ms = seed % 4 == 3 ? 40 : 0;
        game_.network().set_settings(link);
        if (seed % 5 == 0) {
            set_cap(game_, 6'000);
            set_cap(game_, 2'000, 1);
        }
    }

    void play(std::uint32_t ticks) {
        for (std::uint32_t tick = 1; tick <= ticks; ++tick) {
            game_.tick([&] {
                for (Family& family : families_) {
                    flicker(family);
                    game_.object(family.whole).tick = tick;
                }
            });
        }
    }
    void end() {
        game_.network().heal();
        for (const Family& family : families_) {
            game_.driver().set_dormancy(game_.id_of(family.whole), NetDormancy::Awake);
        }
        set_cap(game_, 0);
        set_cap(game_, 0, 1);
        REQUIRE(game_.settle());
        for (std::size_t client = 0; client < 2; ++client) {
            std::size_t shown = 0;
            for (const Family& family : families_) {
                shown += family.is_shown[client] ? 2u : 0u;
                check(client, family.whole, family.is_shown[client]);
                check(client, family.part, family.is_shown[client]);
            }
            CHECK(game_.object_count_on(client) == shown);
        }
    }

  private:
    struct Family {
        ObjectHandle whole;
        ObjectHandle part;
        std::array<bool, 2> is_shown;
    };

    [[nodiscard]] static ClassGameOptions options(std::uint64_t seed) {
        ClassGameOptions options;
        options.seed = seed;
        options.layout.limits.string_bytes_max = 10'000;
        options.config.timeout_ms = 60'000;
        options.sharing = sharing_level(seed % 2 == 0);
        return options;
    }
    void flicker(Family& family) {
        const NetObjectId id = game_.id_of(family.whole);
        for (std::size_t client = 0; client < 2; ++client) {
            family.is_shown[client] = !family.is_shown[client];
            game_.driver().interest().set_relevant_for(CrateGame::peer_of(client), id,
                                                       family.is_shown[client]);
        }
        if (random_.percent(5)) {  // larger than a packet, mostly
            game_.object(family.part).content.assign(random_.below(6'000), 'p');
        }
        if (random_.percent(10)) {
            game_.driver().set_dormancy(
                id, random_.percent(50) ? NetDormancy::DormantAll : NetDormancy::Awake);
        }
        if (random_.percent(10)) {
            game_.driver().flush_dormancy(id);
        }
    }
    void check(std::size_t client, ObjectHandle object, bool is_shown) {
        const Crate* there = game_.find_on(client, object);
        REQUIRE((there != nullptr) == is_shown);
        if (is_shown) {
            CHECK(there->tick == game_.object(object).tick);
            CHECK((there->content == game_.object(object).content));
        }
    }

    SeededRandom random_;
    CrateGame game_;
    std::vector<Family> families_;
};

}  // namespace

TEST_CASE("Interest: families that come and go in each tick, asleep or large, are right in the end",
          "[netdriver][interest][random]") {
    for (const std::uint64_t seed : seed_range(1, 12)) {
        INFO("REPLAYOUT_SEED=" << seed);
        FlickeringGame game(seed);
        game.play(150 + static_cast<std::uint32_t>(seed % 2));  // shown in the end, or not
        game.end();
    }
}

TEST_CASE("Interest: at random over a network that loses, each client has what the rules say",
          "[netdriver][interest][random]") {
    for (const std::uint64_t seed : seed_range(1, 25)) {
        INFO("REPLAYOUT_SEED=" << seed);
        RandomInterest game(seed);
        for (int round = 0; round < 4; ++round) {
            game.play(60);
            game.replace_client();
        }
    }
}

TEST_CASE("Interest: nothing of an object goes to a client that may not see it",
          "[netdriver][interest]") {
    const std::uint64_t seed = run_seed();
    SeededRandom random(seed);
    NetFixtureOptions options;
    options.link = losing_link();
    options.seed = seed;
    NetFixture net(options);
    for (std::size_t i = 0; i < RandomInterest::client_count; ++i) {
        (void)net.join();
    }
    REQUIRE(net.settle());
    Interest interest = net.server_driver().interest();
    std::vector<ObjectHandle> pawns;
    for (std::size_t i = 0; i < 24; ++i) {
        pawns.push_back(net.add_pawn());
        net.pawn(pawns.back()).health = marker_of(i);
        const NetObjectId id = net.id_of(pawns.back());
        interest.set_relevancy(id, i % 3 == 0 ? NetRelevancy::Distance : NetRelevancy::Grid);
        if (i % 4 == 0) {
            interest.set_relevancy(id, NetRelevancy::Always);
            interest.add_to_group(id, NetGroup{static_cast<std::uint32_t>(i / 4 % 2)});
        }
        interest.set_location(id, location_of(random.below(4)));
    }
    net.server().transport.is_recording = true;
    std::size_t found = 0;
    for (int tick = 0; tick < 600; ++tick) {
        net.server().transport.sent.clear();
        net.tick([&] {
            for (std::size_t i = 0; i < pawns.size(); ++i) {
                if (random.percent(20)) {
                    interest.set_location(net.id_of(pawns[i]), location_of(random.below(4)));
                }
                // To another value and back, so that there is something to send in each tick.
                net.pawn(pawns[i]).health = tick % 2 == 0 ? marker_of(i) : 0;
            }
            for (std::size_t i = 0; i < RandomInterest::client_count; ++i) {
                if (random.percent(30)) {
                    interest.set_viewer(NetFixture::client_peer(i), location_of(random.below(4)));
                }
                interest.set_in_group(NetFixture::client_peer(i), NetGroup{random.below(2)},
                                      random.percent(50));
            }
        });
        for (const Datagram& datagram : net.server().transport.sent) {
            for (std::size_t i = 0; i < pawns.size(); ++i) {
                if (contains_bits(datagram.bytes, static_cast<std::uint32_t>(marker_of(i)))) {
                    ++found;
                    if (!net.server_driver().is_relevant_for(datagram.peer, net.id_of(pawns[i]))) {
                        FAIL("pawn " << i << " in a packet to peer " << datagram.peer.value);
                    }
                }
            }
        }
    }
    CHECK(found > 1'000);  // the search does find what is there
}

}  // namespace replayout::test
