// SPDX-License-Identifier: MIT
//
// Clients of another version than their server, that are shown archetypes which they do not have,
// or have of something else: what they do not know they pass over, and are shown the rest.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/log_spy.h"
#include "support/networks/peers.h"
#include "support/types/test_layout.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

struct Ring {
    std::int32_t width = 0;
};

/// The same on the wire, and much more in memory.
struct ThickRing {
    std::int32_t width = 0;
    std::int32_t cells[999] = {};
};

/// Of either class, in any version.
template <typename RingType = Ring>
struct PlantOf {
    std::int32_t height = 1;
    std::int32_t age = 1;
    std::vector<RingType> rings;
};
using Plant = PlantOf<>;

template <typename RingType>
void build_ring(TypeRegistry& registry) {
    REQUIRE(
        struct_builder<RingType>(registry, "Ring").template property<&RingType::width>().build());
}
[[nodiscard]] Result<const Type*> build_tree(TypeRegistry& registry) {
    build_ring<Ring>(registry);
    return class_builder<Plant>(registry, "Tree")
        .property<&Plant::height>()
        .property<&Plant::age>()
        .property<&Plant::rings>()
        .build();
}
template <typename RingType>
[[nodiscard]] Result<const Type*> build_older_tree(TypeRegistry& registry) {
    build_ring<RingType>(registry);
    return class_builder<PlantOf<RingType>>(registry, "Tree")
        .template property<&PlantOf<RingType>::rings>()
        .template property<&PlantOf<RingType>::height>()
        .build();
}
[[nodiscard]] Result<const Type*> build_weed(TypeRegistry& registry) {
    return class_builder<Plant>(registry, "Weed").property<&Plant::height>().build();
}

template <typename T>
[[nodiscard]] RepLayoutOptions beginning_with(const T& plant) {
    RepLayoutOptions options;
    options.archetype = &plant;
    return options;
}

constexpr ArchetypeId oak{7};

/// What a client knows.
struct Knowledge {
    std::vector<const RepLayout*> classes;
    const RepLayout* oak = nullptr;  ///< what it has as this archetype
};

/// A server with a weed, a tree, and an oak, which is a tree; and one client.
class SpareGame {
  public:
    explicit SpareGame(const Knowledge& known, const NetConfig& client_config = {})
        : weed_(build_weed),
          tree_(build_tree),
          oak_(build_tree, beginning_with(Plant{30, 1, {}})),
          network_({2'048, 1u << 16}, std::pmr::get_default_resource()),
          server_(skipping({}), network_.endpoint(server_peer), server_world_),
          client(skipping(client_config), network_.endpoint(client_peer), client_world) {
        REQUIRE(server_.add_layout(*weed_));
        REQUIRE(server_.add_layout(*tree_));
        REQUIRE(server_.add_archetype(oak, *oak_));
        for (const RepLayout* layout : known.classes) {
            REQUIRE(client.add_layout(*layout));
        }
        if (known.oak != nullptr) {
            REQUIRE(client.add_archetype(oak, *known.oak));
        }
        REQUIRE(server_.listen());
        REQUIRE(client.connect(server_peer, now_));
        for (const RepLayout* layout : {&*weed_, &*tree_, &*oak_}) {
            const ObjectHandle object = server_world_.add();
            server_world_.at(object).height = layout == &*oak_ ? 30 : 1;
            (void)server_.add_object(*layout, object);
        }
        tick();
        for (const auto& [object, plant] : server_world_.objects()) {
            ++plant->height;
            plant->rings = {{1}, {2}, {3}};
        }
        tick();
    }

    /// Of what the client has, in the order of spawns.
    [[nodiscard]] std::vector<std::int32_t> heights() const {
        std::vector<std::int32_t> all;
        for (const auto& [object, plant] : client_world.objects()) {
            all.push_back(plant->height);
        }
        return all;
    }

  private:
    [[nodiscard]] static NetDriverSettings skipping(const NetConfig& config) {
        NetDriverSettings settings;
        settings.config = config;
        settings.layout_policy = LayoutPolicy::SkipUnknown;
        return settings;
    }
    void tick() {
        for (int i = 0; i < 10; ++i) {
            now_ = now_.plus_milliseconds(20);
            server_.tick_dispatch(now_);
            server_.tick_flush(now_);
            client.tick_dispatch(now_);
            client.tick_flush(now_);
        }
    }

    TestLayout weed_;
    TestLayout tree_;
    TestLayout oak_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    LoopbackNetwork network_;
    TypedWorld<Plant> server_world_;
    NetDriver server_;

  public:
    TypedWorld<Plant> client_world;
    NetDriver client;
};

using Spawned = std::vector<std::pair<std::string_view, std::uint32_t>>;
using Heights = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("Layout versions: what is an archetype of another class here, or none, is passed over",
          "[netdriver][layout_versions]") {
    const TestLayout weed(build_weed);
    const TestLayout tree(build_tree);
    const TestLayout older_tree(build_older_tree<Ring>);
    const Plant grown{31, 1, {}};
    const TestLayout older_oak(build_older_tree<Ring>, beginning_with(grown));
    const TestLayout tall_weed(build_weed, beginning_with(grown));
    const struct {
        const char* name;
        Knowledge known;
        Spawned spawned;
        Heights heights;
    } cases[] = {
        {"all of it, in another version",
         {{&*weed, &*older_tree}, &*older_oak},
         {{"Weed", 0}, {"Tree", 0}, {"Tree", oak.value}},
         {2, 2, 31}},
        {"no archetype", {{&*weed, &*older_tree}, nullptr}, {{"Weed", 0}, {"Tree", 0}}, {2, 2}},
        {"no archetype, but the class",
         {{&*weed, &*tree}, nullptr},
         {{"Weed", 0}, {"Tree", 0}},
         {2, 2}},
        {"a weed as that archetype",
         {{&*weed, &*older_tree}, &*tall_weed},
         {{"Weed", 0}, {"Tree", 0}},
         {2, 2}},
        {"a weed as that archetype, and no tree", {{&*weed}, &*tall_weed}, {{"Weed", 0}}, {2}},
        {"no tree", {{&*weed}, nullptr}, {{"Weed", 0}}, {2}},
        {"no weed", {{&*tree}, nullptr}, {{"Tree", 0}}, {2}},
        {"nothing at all", {{}, nullptr}, {}, {}},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        SpareGame game(test.known);
        CHECK(game.client.state() == ConnectionState::Joined);
        CHECK(game.client_world.spawned == test.spawned);
        CHECK(game.heights() == test.heights);
    }
}

TEST_CASE(
    "Layout versions: a client reads by no layout of an archetype that may grow too much here",
    "[netdriver][layout_versions]") {
    NetConfig config;
    config.decode_allocation_bytes_max = 1'000'000;
    const TestLayout older_tree(build_older_tree<Ring>);
    const TestLayout thin(build_older_tree<Ring>, beginning_with(Plant()));
    const TestLayout thick(build_older_tree<ThickRing>, beginning_with(PlantOf<ThickRing>()));
    for (const bool is_thick : {false, true}) {
        INFO("thick " << is_thick);
        const LogSpy log;
        SpareGame game({{&*older_tree}, is_thick ? &*thick : &*thin}, config);
        CHECK(game.client.close_reason() ==
              (is_thick ? CloseReason::LayoutMismatch : CloseReason::None));
        CHECK(game.client_world.spawned.size() == (is_thick ? 0 : 2));
        const bool is_told = !LogSpy::messages().empty() &&
                             contains(LogSpy::messages().front(), "decode_allocation_bytes_max");
        CHECK(is_told == is_thick);
    }
}

}  // namespace replayout::test
