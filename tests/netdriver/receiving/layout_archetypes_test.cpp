// SPDX-License-Identifier: MIT
//
// Clients of an older version that are shown archetypes, and that call functions: which of the
// layouts of its server each object is read by.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/types/test_layout.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

namespace older_garden {
struct Lamp {
    std::int32_t power = 1;
    std::int32_t tint = 1;
    void server_toggle() { ++power; }
    void client_blink() { ++power; }
    void multicast_blink() { ++power; }
};
struct Tree {
    std::string kind = "fir";
    std::int32_t height = 1;
};
}  // namespace older_garden

namespace newer_garden {
struct Lamp {
    std::int32_t tint = 1;
    std::int32_t power = 1;
    std::uint8_t added = 0;
    void server_toggle() { ++power; }
    void client_blink() { ++power; }
    void multicast_blink() { ++power; }
};
struct Tree {
    std::int32_t height = 1;
    std::uint8_t added = 0;
    std::string kind = "fir";
};
}  // namespace newer_garden

[[nodiscard]] Result<const Type*> build_older_lamp(TypeRegistry& registry) {
    return class_builder<older_garden::Lamp>(registry, "Lamp")
        .property<&older_garden::Lamp::power>()
        .property<&older_garden::Lamp::tint>()
        .function<&older_garden::Lamp::server_toggle>(FunctionFlags::Server |
                                                      FunctionFlags::Reliable)
        .function<&older_garden::Lamp::client_blink>(FunctionFlags::Client |
                                                     FunctionFlags::Reliable)
        .function<&older_garden::Lamp::multicast_blink>(FunctionFlags::Multicast |
                                                        FunctionFlags::Reliable)
        .build();
}
[[nodiscard]] Result<const Type*> build_newer_lamp(TypeRegistry& registry) {
    return class_builder<newer_garden::Lamp>(registry, "Lamp")
        .property<&newer_garden::Lamp::tint>()
        .property<&newer_garden::Lamp::power>()
        .property<&newer_garden::Lamp::added>()
        .function<&newer_garden::Lamp::server_toggle>(FunctionFlags::Server |
                                                      FunctionFlags::Reliable)
        .function<&newer_garden::Lamp::client_blink>(FunctionFlags::Client |
                                                     FunctionFlags::Reliable)
        .function<&newer_garden::Lamp::multicast_blink>(FunctionFlags::Multicast |
                                                        FunctionFlags::Reliable)
        .build();
}
[[nodiscard]] Result<const Type*> build_older_tree(TypeRegistry& registry) {
    return class_builder<older_garden::Tree>(registry, "Tree")
        .property<&older_garden::Tree::kind>()
        .property<&older_garden::Tree::height>()
        .build();
}
[[nodiscard]] Result<const Type*> build_newer_tree(TypeRegistry& registry) {
    return class_builder<newer_garden::Tree>(registry, "Tree")
        .property<&newer_garden::Tree::height>()
        .property<&newer_garden::Tree::added>()
        .property<&newer_garden::Tree::kind>()
        .build();
}

// Between those of trees there is that of lamps, whose class comes first.
constexpr ArchetypeId low_tree_id{3};
constexpr ArchetypeId lamp_id{5};
constexpr ArchetypeId high_tree_id{7};

/// The layouts of one end; what archetypes begin with is the same at both.
template <typename Lamp, typename Tree>
struct Layouts {
    Layouts(BuildType build_lamp, BuildType build_tree)
        : lamp(build_lamp),
          tree(build_tree),
          red_lamp(build_lamp, beginning_with(red)),
          low_tree(build_tree, beginning_with(low)),
          high_tree(build_tree, beginning_with(high)) {}

    void add_to(NetDriver& driver) const {
        REQUIRE(driver.add_layout(*lamp));
        REQUIRE(driver.add_layout(*tree));
        REQUIRE(driver.add_archetype(lamp_id, *red_lamp));
        REQUIRE(driver.add_archetype(low_tree_id, *low_tree));
        REQUIRE(driver.add_archetype(high_tree_id, *high_tree));
    }
    template <typename T>
    [[nodiscard]] static RepLayoutOptions beginning_with(const T& values) {
        RepLayoutOptions options;
        options.archetype = &values;
        return options;
    }
    [[nodiscard]] static Lamp make_red() {
        Lamp made;
        made.tint = 9;
        return made;
    }
    [[nodiscard]] static Tree make_tree(std::string kind, std::int32_t height) {
        Tree made;
        made.kind = std::move(kind);
        made.height = height;
        return made;
    }

    Lamp red = make_red();
    Tree low = make_tree("yew", 2);
    Tree high = make_tree("oak", 30);
    TestLayout lamp;
    TestLayout tree;
    TestLayout red_lamp;
    TestLayout low_tree;
    TestLayout high_tree;
};
using NewerLayouts = Layouts<newer_garden::Lamp, newer_garden::Tree>;
using OlderLayouts = Layouts<older_garden::Lamp, older_garden::Tree>;

template <typename Lamp, typename Tree>
class Garden final : public TypedWorld<Lamp, Tree> {
  public:
    Garden(const Layouts<Lamp, Tree>& layouts, std::uint64_t first_handle)
        : TypedWorld<Lamp, Tree>(first_handle) {
        this->begin_with(*layouts.tree, Tree());
        this->begin_with(*layouts.red_lamp, layouts.red);
        this->begin_with(*layouts.low_tree, layouts.low);
        this->begin_with(*layouts.high_tree, layouts.high);
    }
    [[nodiscard]] Lamp& lamp(ObjectHandle handle) { return this->template get<Lamp>(handle); }
    [[nodiscard]] Tree& tree(ObjectHandle handle) { return this->template get<Tree>(handle); }
};

[[nodiscard]] NetDriverSettings skipping() {
    NetDriverSettings settings;
    settings.layout_policy = LayoutPolicy::SkipUnknown;
    return settings;
}

struct ArchetypeGame {
    ArchetypeGame() {
        server_layouts.add_to(server);
        client_layouts.add_to(client);
        REQUIRE(server.listen());
        REQUIRE(client.connect(PeerId{1}, now));
    }

    NetObjectId add(const RepLayout& layout, ObjectHandle& object) {
        object = server_world.add(layout);
        return server.add_object(layout, object);
    }
    [[nodiscard]] ObjectHandle shown(NetObjectId id) {
        const ObjectHandle found = client.guids().find_object(server.guid_of(id));
        REQUIRE(!found.is_null());
        return found;
    }
    void tick(int count) {
        for (; count > 0; --count) {
            now = now.plus_milliseconds(20);
            server.tick_dispatch(now);
            server.tick_flush(now);
            client.tick_dispatch(now);
            client.tick_flush(now);
        }
    }

    NetTime now = NetTime::from_milliseconds(1'000);
    NewerLayouts server_layouts{build_newer_lamp, build_newer_tree};
    OlderLayouts client_layouts{build_older_lamp, build_older_tree};
    LoopbackNetwork network{{2'048, 1u << 16}, std::pmr::get_default_resource()};
    Garden<newer_garden::Lamp, newer_garden::Tree> server_world{server_layouts, 1};
    Garden<older_garden::Lamp, older_garden::Tree> client_world{client_layouts, 1'000};
    NetDriver server{skipping(), network.endpoint(PeerId{1}), server_world};
    NetDriver client{skipping(), network.endpoint(PeerId{2}), client_world};
};

}  // namespace

TEST_CASE("Layout versions: each archetype is read by the layout of its own",
          "[netdriver][layout_versions]") {
    ArchetypeGame game;
    ObjectHandle lamp;
    ObjectHandle low;
    ObjectHandle high;
    const NetObjectId lamp_object = game.add(*game.server_layouts.red_lamp, lamp);
    const NetObjectId low_object = game.add(*game.server_layouts.low_tree, low);
    const NetObjectId high_object = game.add(*game.server_layouts.high_tree, high);
    game.server_world.lamp(lamp).power = 60;
    game.server_world.tree(low).height = 3;
    game.server_world.tree(high).kind = "ash";
    game.tick(20);
    REQUIRE(game.client.state() == ConnectionState::Joined);
    const older_garden::Lamp& shown_lamp = game.client_world.lamp(game.shown(lamp_object));
    CHECK(shown_lamp.power == 60);
    CHECK(shown_lamp.tint == 9);
    const older_garden::Tree& shown_low = game.client_world.tree(game.shown(low_object));
    CHECK(shown_low.height == 3);
    CHECK(shown_low.kind == "yew");
    const older_garden::Tree& shown_high = game.client_world.tree(game.shown(high_object));
    CHECK(shown_high.height == 30);
    CHECK(shown_high.kind == "ash");
}

TEST_CASE("Layout versions: of a class that is another here a client calls no function",
          "[netdriver][layout_versions][rpc]") {
    ArchetypeGame game;
    ObjectHandle lamp;
    const NetObjectId id = game.add(*game.server_layouts.lamp, lamp);
    game.tick(20);
    game.server.set_owner(id, PeerId{2});
    game.tick(5);
    CHECK(game.client.call_function(game.shown(id), "server_toggle") == CallResult::NoSuchVersion);
    game.tick(5);
    CHECK(game.client.stats().calls_sent == 0);
    CHECK(game.server.connection_count() == 1);
}

TEST_CASE("Layout versions: a server's call that no client can run says so, and is not sent",
          "[netdriver][layout_versions][rpc]") {
    ArchetypeGame game;
    ObjectHandle lamp;
    const NetObjectId id = game.add(*game.server_layouts.lamp, lamp);
    game.tick(20);
    CHECK(game.server.call_function(id, "client_blink") == CallResult::NotOwned);
    game.server.set_owner(id, PeerId{2});
    CHECK(game.server.call_function(id, "client_blink") == CallResult::NoSuchVersion);
    // It runs here, and nobody else could.
    CHECK(game.server.call_function(id, "multicast_blink") == CallResult::Ran);
    game.tick(5);
    CHECK(game.server.stats().calls_sent == 0);
    CHECK(game.server.stats().calls_dropped == 0);
    CHECK(game.client.stats().calls_unknown == 0);
}

}  // namespace replayout::test
