// SPDX-License-Identifier: MIT
//
// Objects that come or go with one packet, and what names them: references are set for all of them
// together, so a struct that names many is read again once, and before any of them is gone.
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/types/test_layout.h"
#include "support/worlds/joined_client.h"
#include "support/worlds/typed_world.h"

namespace replayout {
namespace {

struct Crowd {
    std::array<ObjectHandle, 8> members{};

    bool net_serialize(NetArchive& archive, PackageMap* map, bool&) {
        read_count += archive.is_saving() ? 0u : 1u;
        bool is_mapped = true;
        for (ObjectHandle& member : members) {
            is_mapped = archive.serialize_object(member, map) && is_mapped;
        }
        return is_mapped;
    }
    friend bool operator==(const Crowd&, const Crowd&) = default;

    static inline std::uint32_t read_count = 0;
};

struct Watcher {
    Crowd crowd;
    ObjectHandle target;
    // Not replicated.
    std::uint32_t target_changes = 0;
    std::function<void(const Watcher&)> on_target;

    void on_rep_target() {
        ++target_changes;
        if (on_target) {
            on_target(*this);
        }
    }
    [[nodiscard]] bool names(ObjectHandle object) const {
        return target == object ||
               std::find(crowd.members.begin(), crowd.members.end(), object) != crowd.members.end();
    }
};

}  // namespace

template <>
struct StructTraitsOf<Crowd> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace test {
namespace {

[[nodiscard]] Result<const Type*> build_watcher(TypeRegistry& registry) {
    REQUIRE(struct_builder<Crowd>(registry, "Crowd").build());
    return class_builder<Watcher>(registry, "Watcher")
        .property<&Watcher::crowd>()
        .property<&Watcher::target>()
        .on_rep<&Watcher::on_rep_target>()
        .build();
}

/// Knows which object has which id, and that nothing names an object that goes, but what went.
class WatcherWorld : public TypedWorld<Watcher> {
  public:
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo& info) override {
        const ObjectHandle object = TypedWorld::spawn(info);
        shown[info.guid] = object;
        return object;
    }
    void despawn(ObjectHandle object, ChannelCloseReason reason) override {
        for (const auto& [handle, watcher] : objects()) {
            REQUIRE((handle == object || !watcher->names(object)));
        }
        std::erase_if(shown, [object](const auto& entry) { return entry.second == object; });
        gone.push_back(at(object));
        TypedWorld::despawn(object, reason);
    }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) const {
        const auto found = shown.find(guid);
        return found == shown.end() ? ObjectHandle() : found->second;
    }

    std::map<NetGUID, ObjectHandle> shown;
    std::vector<Watcher> gone;  ///< as they were when they went
};

using CrowdIds = std::array<std::uint64_t, 8>;

[[nodiscard]] Bytes naming_block(const CrowdIds& crowd, std::uint64_t target) {
    return make_block(2, {1, 2}, [&](BitWriter& writer) {
        for (const std::uint64_t guid : crowd) {
            writer.write_packed_uint(guid);
        }
        writer.write_packed_uint(target);
    });
}

struct WatchingClient {
    WatchingClient() : layout(build_watcher), client(world, {&*layout}) {}

    void deliver(const std::vector<Bunch>& bunches, const Bytes& blocks = {}) {
        client.deliver(bunches, blocks);
    }
    [[nodiscard]] Watcher& watcher(std::uint64_t guid) {
        return world.at(world.object_of(NetGUID{guid}));
    }

    WatcherWorld world;
    TestLayout layout;
    JoinedClient client;
};

[[nodiscard]] Bunch open_of(std::uint32_t channel, std::uint64_t guid) {
    return open_bunch(channel, NetGUID{guid}, 0);
}

[[nodiscard]] std::vector<Bunch> opens_of_crowd(const CrowdIds& crowd) {
    std::vector<Bunch> bunches;
    for (std::uint32_t i = 0; i < crowd.size(); ++i) {
        bunches.push_back(open_of(10 + i, crowd[i]));
    }
    return bunches;
}

[[nodiscard]] std::vector<Bunch> closes_of_crowd() {
    std::vector<Bunch> bunches;
    for (std::uint32_t i = 0; i < CrowdIds().size(); ++i) {
        bunches.push_back(close_bunch(10 + i, 2));
    }
    return bunches;
}

constexpr CrowdIds crowd_names{110, 111, 112, 113, 114, 115, 116, 117};

}  // namespace

TEST_CASE("Departing objects: a struct that names all that comes or goes is read again once",
          "[netdriver][rebind_cost]") {
    WatchingClient on;
    on.deliver({open_of(1, 1)});
    on.deliver({}, block_with_length_of(1, naming_block(crowd_names, 110)));
    REQUIRE(on.world.objects().size() == 1);
    Watcher& watcher = on.watcher(1);
    const std::uint32_t changes = watcher.target_changes;

    std::uint32_t reads = Crowd::read_count;
    on.deliver(opens_of_crowd(crowd_names));
    CHECK(Crowd::read_count - reads == 1);
    for (std::size_t i = 0; i < crowd_names.size(); ++i) {
        CHECK(watcher.crowd.members[i] == on.world.object_of(NetGUID{crowd_names[i]}));
    }
    CHECK(watcher.target == on.world.object_of(NetGUID{110}));
    CHECK(watcher.target_changes - changes == 1);

    reads = Crowd::read_count;
    on.deliver(closes_of_crowd());
    CHECK(Crowd::read_count - reads == 1);
    CHECK(watcher.crowd == Crowd());
    CHECK(watcher.target.is_null());
    CHECK(watcher.target_changes - changes == 2);
    CHECK(on.client.is_joined());
}

TEST_CASE("Departing objects: at the end of a connection a struct is read again once, at most",
          "[netdriver][rebind_cost]") {
    WatchingClient on;
    on.deliver(opens_of_crowd(crowd_names));
    for (std::uint32_t channel = 10; channel < 18; ++channel) {
        on.deliver({}, block_with_length_of(channel, naming_block(crowd_names, 117)));
    }
    const std::uint32_t reads = Crowd::read_count;
    on.deliver({control_bunch(2, goodbye_bytes(0))});
    REQUIRE(on.world.objects().empty());
    // The first to go names only what goes with or after it.
    CHECK(Crowd::read_count - reads == crowd_names.size() - 1);
}

TEST_CASE("Departing objects: one that goes keeps references to itself and to what goes after it",
          "[netdriver][spawn]") {
    WatchingClient on;
    on.deliver({open_of(1, 1), open_of(2, 2), open_of(3, 3)});
    on.deliver({}, block_with_length_of(1, naming_block({}, 2)));
    on.deliver({}, block_with_length_of(2, naming_block({}, 1)));
    on.deliver({}, block_with_length_of(3, naming_block({}, 3)));
    const ObjectHandle second = on.world.object_of(NetGUID{2});
    const ObjectHandle third = on.world.object_of(NetGUID{3});
    on.deliver({close_bunch(1, 2), close_bunch(2, 2), close_bunch(3, 2)});
    REQUIRE(on.world.gone.size() == 3);
    CHECK(on.world.gone[0].target == second);
    CHECK(on.world.gone[1].target.is_null());
    CHECK(on.world.gone[2].target == third);
}

TEST_CASE(
    "Departing objects: a struct of one that goes keeps what goes after it, and parts go first",
    "[netdriver][spawn]") {
    const auto open_part = [](std::uint32_t channel, std::uint64_t outer) {
        return open_bunch(channel, NetGUID{channel}, 0, 512,
                          [outer](BitWriter& writer) { writer.write_packed_uint(outer); });
    };
    WatchingClient on;
    on.deliver({open_of(1, 1), open_part(2, 1), open_part(3, 2), open_of(4, 4)});
    REQUIRE(on.world.objects().size() == 4);
    // Each names all of them.
    for (std::uint32_t channel = 1; channel < 5; ++channel) {
        on.deliver({}, block_with_length_of(channel, naming_block({1, 2, 3, 4}, 1)));
    }
    const ObjectHandle outer = on.world.object_of(NetGUID{1});
    const ObjectHandle fourth = on.world.object_of(NetGUID{4});
    on.deliver({close_bunch(1, 2), close_bunch(4, 2)});
    REQUIRE(on.client.is_joined());
    REQUIRE(on.world.gone.size() == 4);
    // 3 is in 2, and that in 1.
    CHECK(on.world.gone[0].target == outer);
    CHECK(on.world.gone[1].crowd.members[2].is_null());
    CHECK(on.world.gone[1].crowd.members[0] == outer);
    CHECK(on.world.gone[2].target == outer);
    CHECK(on.world.gone[2].crowd.members[1].is_null());
    CHECK(on.world.gone[2].crowd.members[3] == fourth);
    CHECK(on.world.gone[3].target.is_null());
    CHECK(on.world.gone[3].crowd.members[3] == fourth);
}

TEST_CASE("Departing objects: a notify sees all values of its packet, whatever that opens too",
          "[netdriver][notify]") {
    WatchingClient on;
    on.deliver({open_of(1, 1), open_of(2, 2)});
    bool has_seen = false;
    on.watcher(1).on_target = [&](const Watcher& watcher) {
        has_seen = true;
        CHECK(&watcher == &on.watcher(1));
        CHECK(on.watcher(2).target == on.world.object_of(NetGUID{1}));
    };
    on.deliver({open_of(3, 3), value_bunch(1, 2, naming_block({3}, 3))},
               block_with_length_of(2, naming_block({}, 1)));
    CHECK(has_seen);
    CHECK(on.watcher(1).target == on.world.object_of(NetGUID{3}));
    CHECK(on.watcher(1).target_changes == 1);
}

TEST_CASE("Departing objects: a channel opens again in the packet in which it closes",
          "[netdriver][spawn]") {
    WatchingClient on;
    on.deliver({open_of(1, 1), open_of(2, 2)});
    on.deliver({}, block_with_length_of(1, naming_block({2, 3}, 3)));
    const ObjectHandle second = on.world.object_of(NetGUID{2});
    on.deliver({close_bunch(2, 2), open_of(2, 3), close_bunch(2, 2), open_of(2, 2)});
    CHECK(on.world.gone.size() == 2);
    CHECK(on.watcher(1).target.is_null());
    CHECK(on.watcher(1).crowd.members[0] == on.world.object_of(NetGUID{2}));
    CHECK(on.watcher(1).crowd.members[0] != second);
    CHECK(on.client.is_joined());
    // Closed twice in one packet, it is no channel the second time.
    on.deliver({close_bunch(2, 2), close_bunch(2, 1)});
    CHECK(!on.client.is_joined());
    CHECK(on.client.driver.close_reason() == CloseReason::MalformedBunch);
    CHECK(on.world.objects().empty());
}

TEST_CASE("Departing objects: whatever comes and goes at random, references name what is there",
          "[netdriver][random]") {
    constexpr std::uint32_t channel_count = 8;
    for (const std::uint64_t seed : seed_range(run_seed(), 40)) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        WatchingClient on;
        // By channel: the id that is open, 0 if none is, and what its object names.
        struct Shown {
            std::uint64_t guid = 0;
            CrowdIds crowd{};
            std::uint64_t target = 0;
        };
        std::array<Shown, channel_count + 1> shown;
        for (std::uint32_t packet = 0; packet < 60; ++packet) {
            std::vector<Bunch> bunches;
            for (std::uint32_t i = random.between(1, 8); i > 0; --i) {
                const std::uint32_t channel = random.between(1, channel_count);
                const std::uint64_t guid = channel + channel_count * random.below(2);
                Shown& object = shown[channel];
                bunches.push_back(object.guid == 0 ? open_of(channel, guid)
                                                   : close_bunch(channel, 2));
                object = {object.guid == 0 ? guid : 0, {}, 0};
            }
            Bytes blocks;
            for (std::uint32_t channel = 1; channel <= channel_count; ++channel) {
                Shown& object = shown[channel];
                if (object.guid == 0 || random.percent(50)) {
                    continue;
                }
                for (std::uint64_t& guid : object.crowd) {
                    guid = random.below(2 * channel_count + 1);
                }
                object.target = random.below(2 * channel_count + 1);
                const Bytes block =
                    block_with_length_of(channel, naming_block(object.crowd, object.target));
                blocks.insert(blocks.end(), block.begin(), block.end());
            }
            on.deliver(bunches, blocks);
            REQUIRE(on.client.is_joined());
            for (std::uint32_t channel = 1; channel <= channel_count; ++channel) {
                if (shown[channel].guid == 0) {
                    continue;
                }
                const Watcher& watcher = on.watcher(shown[channel].guid);
                REQUIRE(watcher.target == on.world.object_of(NetGUID{shown[channel].target}));
                for (std::size_t i = 0; i < watcher.crowd.members.size(); ++i) {
                    REQUIRE(watcher.crowd.members[i] ==
                            on.world.object_of(NetGUID{shown[channel].crowd[i]}));
                }
            }
        }
        on.deliver({control_bunch(2, goodbye_bytes(0))});
        CHECK(on.world.objects().empty());
    }
}

}  // namespace test
}  // namespace replayout
