// SPDX-License-Identifier: MIT
#include "support/worlds/bag_game.h"

#include <replayout/reflection/type_builder.h>

#include "support/checks/heap_count.h"

namespace replayout::test {

void Bag::listen() {
    numbers.on_change = [this](SyncListOperation operation, std::uint32_t index,
                               std::int32_t item) {
        static constexpr const char* names[] = {"add", "set", "insert", "remove", "clear"};
        told.push_back(std::string(names[static_cast<std::size_t>(operation)]) + " " +
                       std::to_string(index) + " " + std::to_string(item) + " of " +
                       std::to_string(numbers.size()));
    };
    prices.on_change = [this](SyncDictionaryOperation operation, const std::string& key,
                              std::int32_t value) {
        static constexpr const char* names[] = {"add", "set", "remove", "clear"};
        told.push_back(std::string(names[static_cast<std::size_t>(operation)]) + " " + key + " " +
                       std::to_string(value));
    };
    keys.on_change = [this](SyncSetOperation operation, std::uint32_t item) {
        static constexpr const char* names[] = {"add", "remove", "clear"};
        told.push_back(std::string(names[static_cast<std::size_t>(operation)]) + " " +
                       std::to_string(item));
    };
}

bool Scroll::on_serialize(NetworkWriter& writer, bool initial_state) {
    ++(initial_state ? initial_write_count : write_count);
    if (!initial_state && during_write) {
        during_write();
    }
    const std::uint64_t mask = initial_state ? 3 : sync_var_dirty_bits();
    writer.write_packed_uint64(mask);
    if ((mask & 1) != 0) {
        writer.write_packed_uint32(static_cast<std::uint32_t>(page));
    }
    if ((mask & 2) != 0) {
        writer.write_string(text);
    }
    return !is_accumulating;
}

bool Scroll::on_deserialize(NetworkReader& reader, bool initial_state) {
    ++(initial_state ? initial_read_count : read_count);
    for (std::int32_t i = 0; i < misread_by; ++i) {
        (void)reader.read_uint8();
    }
    const std::uint64_t mask = reader.read_packed_uint64();
    if ((mask & 1) != 0) {
        page = static_cast<std::int32_t>(reader.read_packed_uint32());
    }
    if ((mask & 2) != 0 && misread_by >= 0) {
        text = reader.read_string();
    }
    first_page = initial_state ? page : first_page;
    return !is_refusing;
}

BagTypes::BagTypes(const BagOptions& options) {
    REQUIRE(struct_builder<Thing>(types_.registry(), "Thing")
                .property<&Thing::name>()
                .property<&Thing::count>()
                .build()
                .has_value());
    const auto bag = BehaviourBuilder<Bag>(types_, "Bag")
                         .sync_list<&Bag::numbers>()
                         .sync_list<&Bag::things>()
                         .sync_dictionary<&Bag::prices>()
                         .sync_set<&Bag::keys>()
                         .sync_dictionary<&Bag::wishes>()
                         .build();
    const auto pouch =
        BehaviourBuilder<Pouch>(types_, "Pouch").sync_list<&Pouch::secrets>().build();
    const auto scroll = BehaviourBuilder<Scroll>(types_, "Scroll").custom_serialization().build();
    REQUIRE(bag.has_value());
    REQUIRE(pouch.has_value());
    REQUIRE(scroll.has_value());
    const auto sealed =
        BehaviourBuilder<SealedScroll>(types_, "SealedScroll").base<Scroll>().build();
    REQUIRE(sealed.has_value());
    SyncSettings for_owner;
    for_owner.sync_mode = SyncMode::Owner;
    PrefabOptions prefab;
    prefab.limits = options.limits;
    const auto chest = types_.add_prefab(
        "Chest", {{*bag, options.bag}, {*pouch, for_owner}, {*bag, options.bag}}, prefab);
    const auto shelf = types_.add_prefab(
        "Shelf", {{*scroll, options.bag}, {*bag, options.bag}, {*sealed}, {*scroll, for_owner}},
        prefab);
    REQUIRE(chest.has_value());
    REQUIRE(shelf.has_value());
    const Status frozen = types_.freeze();
    INFO((frozen ? "" : frozen.error().message));
    REQUIRE(frozen.has_value());
}

BagGame::BagGame(const BagOptions& options)
    : options_(options),
      types_(options),
      network_(wide_network(options.link), options.seed, std::pmr::get_default_resource()),
      transport_(network_.endpoint(PeerId{1}), options.is_keeping_datagrams) {
    client_manager_.auto_create_player = false;
    server_ =
        std::make_unique<NetworkServer>(settings(1), transport_, types_.get(), server_manager_);
    REQUIRE(server_->listen().has_value());
}

NetworkSpawnHandler BagGame::handler(const NetworkPrefab& prefab) {
    NetworkSpawnHandler handler;
    handler.spawn = [this, &prefab](NetworkClient& client, const SpawnInfo&) {
        NetworkIdentity& made = client.instantiate(prefab);
        if (on_made) {
            on_made(made);
        }
        return &made;
    };
    handler.unspawn = [](NetworkClient& client, NetworkIdentity& object, ChannelCloseReason) {
        client.destroy(object);
    };
    return handler;
}

std::size_t BagGame::join() {
    const PeerId peer = peer_of(clients_.size());
    Client added;
    added.client = std::make_unique<NetworkClient>(
        settings(peer.value + 100), network_.endpoint(peer), types_.get(), client_manager_);
    for (const NetworkPrefab* prefab : {&chest(), &shelf()}) {
        added.client->register_spawn_handler(prefab->asset_id(), handler(*prefab));
    }
    REQUIRE(added.client->connect(PeerId{1}, now_).has_value());
    clients_.push_back(std::move(added));
    return clients_.size() - 1;
}

void BagGame::leave(std::size_t client) {
    clients_[client].client->disconnect();
    clients_[client].has_left = true;
}

void BagGame::tick() {
    now_ = now_.plus_milliseconds(20);
    network_.advance(now_);
    const std::uint64_t before = heap_allocation_count();
    server_->early_update(now_);
    server_->late_update(now_);
    allocations_ += heap_allocation_count() - before;
    for (const Client& client : clients_) {
        client.client->early_update(now_);
        client.client->late_update(now_);
    }
}

void BagGame::settle(std::uint32_t ticks_max) {
    tick(3);
    for (std::uint32_t i = 0; i < ticks_max; ++i) {
        if (server_->driver().is_settled() && are_clients_there()) {
            tick(2);
            return;
        }
        tick();
    }
    FAIL("the game does not settle");
}

bool BagGame::are_clients_there() const {
    std::uint32_t count = 0;
    for (const Client& client : clients_) {
        if (!client.has_left && !client.client->is_spawn_finished()) {
            return false;
        }
        count += client.has_left ? 0 : 1;
    }
    return server_->driver().connection_count() == count;
}

void BagGame::check_equal(const NetworkIdentity& chest) {
    for (std::size_t client = 0; client < client_count(); ++client) {
        if (!is_there(client)) {
            continue;
        }
        INFO("client " << client);
        for (const std::size_t component : {0u, 2u}) {
            const Bag& bag = chest.component<Bag>(component);
            const Bag& shown = bag_on(client, chest, component);
            CHECK(shown.numbers.items() == bag.numbers.items());
            CHECK(shown.things.items() == bag.things.items());
            CHECK(shown.prices.items() == bag.prices.items());
            CHECK(shown.keys.items() == bag.keys.items());
            CHECK(shown.wishes.items() == bag.wishes.items());
            CHECK(shown.numbers.refused_count() == 0);
            CHECK(shown.things.refused_count() == 0);
            CHECK(shown.prices.refused_count() == 0);
            CHECK(shown.keys.refused_count() == 0);
        }
    }
}

}  // namespace replayout::test
