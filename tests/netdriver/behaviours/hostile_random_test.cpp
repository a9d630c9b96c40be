// SPDX-License-Identifier: MIT
//
// Games of behaviours in which one side says anything: its datagrams with bytes that are others,
// cut, repeated in part. Whatever it is, connections end with a reason or go on, and nothing grows.
#include <replayout/behaviours/sync_dictionary.h>
#include <replayout/behaviours/sync_list.h>
#include <replayout/behaviours/sync_set.h>
#include <replayout/netdriver/loopback_transport.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "support/networks/passing_transport.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t items_max = 32;

struct Wish {
    NetworkIdentity* object = nullptr;
    std::string text;
    std::vector<std::int32_t> numbers;

    friend bool operator==(const Wish&, const Wish&) = default;
};

/// Of everything something.
class Liar : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> health = 100;
    SyncVar<std::string> name;
    SyncVar<NetworkIdentity*> friend_of;
    SyncList<std::string> words;
    SyncDictionary<std::string, std::int32_t> prices;
    SyncSet<std::uint32_t> keys;
    std::uint32_t hook_count = 0;

    void on_name(const std::string&, const std::string&) { ++hook_count; }
    void cmd_wish(const Wish& wish) {
        name = wish.text;
        friend_of = wish.object;
    }
    void rpc_wish(const Wish&) {}
};

void add_liars(NetworkTypes& types) {
    REQUIRE(struct_builder<Wish>(types.registry(), "Wish")
                .property<&Wish::object>()
                .property<&Wish::text>()
                .property<&Wish::numbers>()
                .build()
                .has_value());
    const auto liar = BehaviourBuilder<Liar>(types, "Liar")
                          .sync_var<&Liar::health>()
                          .sync_var<&Liar::name, &Liar::on_name>()
                          .sync_var<&Liar::friend_of>()
                          .sync_list<&Liar::words>()
                          .sync_dictionary<&Liar::prices>()
                          .sync_set<&Liar::keys>()
                          .command<&Liar::cmd_wish>()
                          .client_rpc<&Liar::rpc_wish>()
                          .build();
    REQUIRE(liar.has_value());
    SyncSettings owned;
    owned.sync_direction = SyncDirection::ClientToServer;
    PrefabOptions options;
    options.limits.array_count_max = items_max;
    REQUIRE(types.add_prefab("Liar", {{*liar}, {*liar, owned}}, options).has_value());
}

/// What is received of it is other than what was sent, now and then.
class LyingTransport final : public PassingTransport {
  public:
    LyingTransport(Transport& beneath, std::uint64_t seed)
        : PassingTransport(beneath), random_(seed) {}

    bool is_lying = false;

    void send(PeerId peer, std::span<const std::byte> datagram) override {
        std::vector<std::byte> said(datagram.begin(), datagram.end());
        if (is_lying && random_.percent(20) && said.size() > 16) {
            lie(said);
        }
        PassingTransport::send(peer, said);
    }

  private:
    void lie(std::vector<std::byte>& said) {
        const auto place = [&] {  // seldom in the header, which would end all at once
            const std::uint32_t first = random_.percent(5) ? 0 : 11;
            return random_.between(first, static_cast<std::uint32_t>(said.size()) - 1);
        };
        switch (random_.below(4)) {
            case 0:
                said.resize(place());
                break;
            case 1:
                said[place()] = static_cast<std::byte>(random_.below(256));
                break;
            case 2: {
                const std::size_t first = place();
                const std::size_t count = said.size() - first;
                said.insert(said.end(), said.begin() + static_cast<std::ptrdiff_t>(first),
                            said.begin() + static_cast<std::ptrdiff_t>(first + count / 2));
                said.resize(std::min(said.size(), datagram_bytes_max()));
                break;
            }
            default:
                said[place()] ^= static_cast<std::byte>(1u << random_.below(8));
        }
    }

    SeededRandom random_;
};

/// Notes why connections ended.
class Listener : public NetworkManager {
  public:
    std::vector<CloseReason> reasons;
    void on_client_disconnect(NetworkClient&, CloseReason reason) override {
        reasons.push_back(reason);
    }
};

void play(Liar& liar, SeededRandom& random) {
    const std::string word(random.below(20), 'w');
    const std::uint32_t number = random.below(50);
    switch (random.below(6)) {
        case 0:
            liar.words.add(word);
            break;
        case 1:
            if (liar.words.size() > 8) {
                liar.words.clear();
            }
            break;
        case 2:
            liar.prices.set(word, static_cast<std::int32_t>(number));
            break;
        case 3:
            liar.keys.add(number);
            break;
        case 4:
            liar.health = static_cast<std::int32_t>(number);
            break;
        default:
            liar.name = word;
    }
}

/// Returns how many connections ended.
std::size_t play_game(std::uint64_t seed, bool is_server_lying) {
    const ArenaTypes types({}, add_liars);
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    LyingTransport server_transport(network.endpoint({1}), seed);
    Listener listener;
    listener.player_prefab = &types.find("Liar");
    const NetDriverSettings settings = host_settings({}, seed, SharingLevel::Bundles, false);
    NetworkServer server(settings, server_transport, types.get(), listener);
    REQUIRE(server.listen().has_value());
    SeededRandom random(seed);
    NetTime now;
    std::uint64_t next_peer = 2;
    std::unique_ptr<LyingTransport> client_transport;
    std::unique_ptr<NetworkClient> client;
    for (int tick = 0; tick < 1'500; ++tick) {
        now = now.plus_milliseconds(20);
        if (client == nullptr || client->driver().state() == ConnectionState::Closed) {
            const PeerId peer{next_peer++};
            client_transport =
                std::make_unique<LyingTransport>(network.endpoint(peer), seed + peer.value);
            client =
                std::make_unique<NetworkClient>(settings, *client_transport, types.get(), listener);
            REQUIRE(client->connect({1}, now).has_value());
        }
        const bool is_there = client->local_player() != nullptr;
        server_transport.is_lying = is_there && is_server_lying;
        client_transport->is_lying = is_there && !is_server_lying;
        server.early_update(now);
        NetworkConnection* connection = server.find_connection({next_peer - 1});
        NetworkIdentity* player = connection == nullptr ? nullptr : connection->identity();
        if (player != nullptr) {
            play(player->component<Liar>(0), random);
            player->component<Liar>(0).call<&Liar::rpc_wish>({player, "wish", {1, 2, 3}});
        }
        server.late_update(now);
        client->early_update(now);
        if (NetworkIdentity* mine = client->local_player()) {
            play(mine->component<Liar>(1), random);
            mine->component<Liar>(0).call<&Liar::cmd_wish>({mine, std::string(5, 'x'), {4}});
            for (NetworkBehaviour* component : mine->components()) {
                Liar& liar = *static_cast<Liar*>(component);
                CHECK(liar.words.size() <= items_max);
                CHECK(liar.prices.size() <= items_max);
                CHECK(liar.keys.size() <= items_max);
            }
        }
        client->late_update(now);
    }
    for (const CloseReason reason : listener.reasons) {
        CHECK(reason != CloseReason::None);
        CHECK_FALSE(to_string(reason).empty());
    }
    return listener.reasons.size();
}

TEST_CASE("Hostile random: a client of behaviours that says anything harms nobody",
          "[behaviours]") {
    std::size_t ended = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        ended += play_game(seed, false);
    }
    CHECK(ended > 6);
}

TEST_CASE("Hostile random: a server of behaviours that says anything harms no client",
          "[behaviours]") {
    std::size_t ended = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        ended += play_game(seed, true);
    }
    CHECK(ended > 6);
}

}  // namespace
}  // namespace replayout::test
