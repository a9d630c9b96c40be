// SPDX-License-Identifier: MIT
//
// Keyed arrays between drivers: large ones whose log of deletions no longer reaches back, and what
// binding the references in them may cost.
#include <replayout/fast_array.h>
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/class_game.h"

namespace replayout::test {

struct Pile {
    std::uint16_t id = 0;
    std::uint8_t count = 0;

    friend bool operator==(const Pile&, const Pile&) = default;
};

/// Right only as a whole, and full from the beginning.
struct Wharf {
    Wharf() {
        for (std::vector<Pile>& row : rows) {
            for (std::uint16_t i = 0; i < 2'048; ++i) {
                row.push_back({i, 1});
            }
        }
    }

    std::array<std::vector<Pile>, 80> rows;
};

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Wharf> : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test {
namespace {

struct Line {
    std::uint32_t id = 0;
    std::string text;

    friend bool operator==(const Line&, const Line&) = default;
};

struct Chronicle {
    std::vector<Line> lines;
};

struct Item : FastArraySerializerItem {
    std::string text;
};

struct Heap : FastArraySerializer<Item> {};

/// Both ends begin with full arrays, so that nothing needs to be sent first.
struct Yard {
    static constexpr std::size_t array_count = 8;

    Yard() {
        for (std::vector<Pile>& row : rows) {
            for (std::uint16_t i = 0; i < 2'048; ++i) {
                row.push_back({i, 1});
            }
        }
    }

    /// How many rows have had two piles change places, as far as this end shows.
    void multicast_look() {
        rearranged_seen = 0;
        for (const std::vector<Pile>& row : rows) {
            if (row[5].id == 6) {
                ++rearranged_seen;
            }
        }
    }

    std::array<std::vector<Pile>, array_count> rows;
    std::size_t rearranged_seen = 0;  ///< not replicated
};

/// An array larger than many packets, a value with a condition, and one behind both.
struct Register {
    std::vector<Line> before;
    std::uint32_t born = 0;
    std::vector<std::uint32_t> behind;
};

template <LifetimeCondition condition>
[[nodiscard]] Result<const Type*> build_register(TypeRegistry& registry) {
    (void)struct_builder<Line>(registry, "Line")
        .property<&Line::id>("id")
        .property<&Line::text>("text")
        .build();
    return class_builder<Register>(registry, "Register")
        .property<&Register::before>("before")
        .keyed_by<&Line::id>(ArrayOrder::Kept)
        .property<&Register::born>("born")
        .condition(condition)
        .property<&Register::behind>("behind")
        .build();
}

struct Store {
    Heap heap;
};

struct Port {
    Wharf wharf;
};

template <ArrayOrder order>
[[nodiscard]] Result<const Type*> build_chronicle(TypeRegistry& registry) {
    REQUIRE(struct_builder<Line>(registry, "Line")
                .property<&Line::id>()
                .property<&Line::text>()
                .build());
    return class_builder<Chronicle>(registry, "Chronicle")
        .property<&Chronicle::lines>()
        .keyed_by<&Line::id>(order)
        .build();
}

[[nodiscard]] Result<const Type*> build_yard(TypeRegistry& registry) {
    REQUIRE(struct_builder<Pile>(registry, "Pile")
                .property<&Pile::id>()
                .property<&Pile::count>()
                .build());
    return class_builder<Yard>(registry, "Yard")
        .property<&Yard::rows>()
        .keyed_by<&Pile::id>(ArrayOrder::Kept)
        .function<&Yard::multicast_look>(FunctionFlags::Multicast | FunctionFlags::Reliable)
        .build();
}

[[nodiscard]] Result<const Type*> build_port(TypeRegistry& registry) {
    REQUIRE(struct_builder<Pile>(registry, "Pile")
                .property<&Pile::id>()
                .property<&Pile::count>()
                .build());
    REQUIRE(struct_builder<Wharf>(registry, "Wharf")
                .property<&Wharf::rows>()
                .keyed_by<&Pile::id>(ArrayOrder::Kept)
                .build());
    return class_builder<Port>(registry, "Port").property<&Port::wharf>().build();
}

[[nodiscard]] Result<const Type*> build_store(TypeRegistry& registry) {
    REQUIRE(struct_builder<Item>(registry, "Item").property<&Item::text>().build());
    REQUIRE(register_fast_array<Heap>(registry, "Heap"));
    return class_builder<Store>(registry, "Store").property<&Store::heap>().build();
}

[[nodiscard]] ClassGameOptions lossy_options(bool is_sharing) {
    ClassGameOptions options;
    options.link.loss = 0.3;
    options.link.latency_ms = 40;
    options.sharing = sharing_level(is_sharing);
    return options;
}

/// Elements of an array of so many packets.
[[nodiscard]] constexpr std::uint32_t line_count(std::uint32_t packet_count) {
    return packet_count * 17;
}

/// Ticks until nothing is owed or under way; a round trip takes five, and to hear of a loss more.
template <typename Game>
[[nodiscard]] std::uint32_t ticks_to_settle(Game& game) {
    for (std::uint32_t tick = 1; tick < 2'000; ++tick) {
        game.tick();
        if (game.driver().is_settled()) {
            return tick;
        }
    }
    return 2'000;
}

constexpr std::uint32_t settling_ticks_max = 300;

template <typename Game>
void join(Game& game) {
    game.join();
    for (std::uint32_t i = 0; i < 500 && game.client_driver(0).state() != ConnectionState::Joined;
         ++i) {
        game.tick();
    }
}

[[nodiscard]] std::vector<Line> by_id(std::vector<Line> lines) {
    std::sort(lines.begin(), lines.end(),
              [](const Line& left, const Line& right) { return left.id < right.id; });
    return lines;
}

/// Changes each tick, at a loss of 30 %, and then none.
void check_settles(ArrayOrder order, std::uint32_t packet_count, bool is_sharing) {
    INFO(packet_count << " packets");
    const bool is_ordered = order == ArrayOrder::Kept;
    ClassGame<Chronicle> game(is_ordered ? BuildType(build_chronicle<ArrayOrder::Kept>)
                                         : BuildType(build_chronicle<ArrayOrder::Free>),
                              lossy_options(is_sharing));
    const ObjectHandle handle = game.add();
    std::vector<Line>& lines = game.object(handle).lines;
    std::uint32_t next = 1;
    while (lines.size() < line_count(packet_count)) {
        lines.push_back({next++, std::string(60, 'x')});
    }
    join(game);
    for (std::uint32_t tick = 0; tick < 40; ++tick) {
        for (std::size_t i = tick % 5; i < lines.size(); i += 5) {
            lines[i].text[tick] = 'y';
        }
        lines.erase(lines.begin() + tick * 3, lines.begin() + tick * 3 + 8);
        for (int i = 0; i < 8; ++i) {
            lines.insert(lines.begin() + tick * 2, {next++, std::string(60, 'z')});
        }
        game.tick();
    }
    CHECK(ticks_to_settle(game) <= settling_ticks_max);
    CHECK(by_id(game.object_on(0, handle).lines) == by_id(lines));
    if (is_ordered) {
        CHECK(game.object_on(0, handle).lines == lines);
    }
}

/// A server's chronicle, larger than any message.
class ChronicleGame {
  public:
    ChronicleGame() : game(build_chronicle<ArrayOrder::Kept>), handle(game.add()) {
        while (lines().size() < 1'500) {
            lines().push_back({next_++, std::string(60, 'x')});
        }
    }

    /// So many lines go, ten a tick, and as many come.
    void turn_over(std::uint32_t count) {
        game.tick();
        for (std::uint32_t i = 0; i < count; i += 10) {
            lines().erase(lines().begin(), lines().begin() + 10);
            for (int j = 0; j < 10; ++j) {
                lines().push_back({next_++, std::string(60, 'y')});
            }
            game.tick();
        }
    }

    void check_settled() {
        REQUIRE(game.settle());
        CHECK(game.object_on(0, handle).lines == lines());
        CHECK(game.driver().stats().replication.values_over_limit == 0);
    }

    [[nodiscard]] std::vector<Line>& lines() { return game.object(handle).lines; }

    ClassGame<Chronicle> game;
    ObjectHandle handle;

  private:
    std::uint32_t next_ = 1;
};

}  // namespace

TEST_CASE("Keyed arrays: who joins late has a large one, however much was removed before",
          "[netdriver][keyed_arrays]") {
    for (const std::uint32_t deletions : {250u, 260u}) {
        INFO(deletions << " deletions");
        ChronicleGame chronicle;
        chronicle.turn_over(deletions);
        chronicle.game.join();
        chronicle.check_settled();
    }
}

TEST_CASE("Keyed arrays: who was cut off while more was removed than is remembered has a large one",
          "[netdriver][keyed_arrays]") {
    ChronicleGame chronicle;
    chronicle.game.join();
    chronicle.check_settled();
    LinkSettings dead;
    dead.loss = 1.0;
    chronicle.game.network().set_settings(dead);
    chronicle.turn_over(260);
    chronicle.game.network().set_settings(LinkSettings());
    chronicle.check_settled();
}

TEST_CASE("Keyed arrays: a full set in parts ends right whatever is lost",
          "[netdriver][keyed_arrays]") {
    ClassGameOptions options;
    options.link.loss = 0.05;
    ClassGame<Chronicle> game(build_chronicle<ArrayOrder::Kept>, options);
    const ObjectHandle handle = game.add();
    std::vector<Line>& lines = game.object(handle).lines;
    std::uint32_t next = 1;
    while (lines.size() < 300) {
        lines.push_back({next++, std::string(60, 'x')});
    }
    game.join();
    for (int i = 0; i < 60; ++i) {
        lines.erase(lines.begin(), lines.begin() + 20);
        while (lines.size() < 300) {
            lines.push_back({next++, std::string(60, 'y')});
        }
        game.tick();
    }
    REQUIRE(game.settle());
    CHECK(game.object_on(0, handle).lines == lines);
}

TEST_CASE("Keyed arrays: at their limit, and replaced wholly in each tick, they close no client",
          "[netdriver][keyed_arrays]") {
    for (const bool is_sharing : {true, false}) {
        for (const double loss : {0.0, 0.3, 0.6}) {
            INFO("loss " << loss << ", sharing " << is_sharing);
            ClassGameOptions options;
            options.link.loss = loss;
            options.link.latency_ms = 100;
            options.sharing = sharing_level(is_sharing);
            options.layout.limits.array_count_max = 60;
            ClassGame<Chronicle> game(build_chronicle<ArrayOrder::Kept>, options);
            const ObjectHandle handle = game.add();
            std::vector<Line>& lines = game.object(handle).lines;
            game.join();
            std::uint32_t next = 1;
            for (int tick = 0; tick < 150; ++tick) {
                lines.clear();
                while (lines.size() < 60) {
                    lines.push_back({next++, std::string(50, 'x')});
                }
                game.tick();
                if (const Chronicle* remote = game.find_on(0, handle)) {
                    CHECK(remote->lines.size() <= 240);
                }
            }
            REQUIRE(game.settle());
            CHECK(game.client_driver(0).state() == ConnectionState::Joined);
            CHECK(game.object_on(0, handle).lines == lines);
        }
    }
}

TEST_CASE("Keyed arrays: larger than many packets they settle in few round trips, at any loss",
          "[netdriver][keyed_arrays]") {
    for (const std::uint32_t packet_count : {18u, 60u}) {
        check_settles(ArrayOrder::Kept, packet_count, true);
        check_settles(ArrayOrder::Free, packet_count, false);
    }
}

TEST_CASE("Conditions: a class that has them costs no more, and settles as soon, in parts",
          "[netdriver][keyed_arrays][conditions]") {
    const auto blocks_of = [](BuildType build) {
        ClassGameOptions options;
        options.link.loss = 0.4;
        ClassGame<Register> game(build, options);
        const ObjectHandle handle = game.add();
        Register& lines = game.object(handle);
        lines.born = 1;
        for (std::uint32_t id = 1; id <= 1'000; ++id) {
            lines.before.push_back({id, std::string(20, 'x')});
            lines.behind.push_back(id);
        }
        game.driver().set_owner(game.id_of(handle), ClassGame<Register>::peer_of(0));
        game.join_settled();
        CHECK(game.object_on(0, handle).before == lines.before);
        CHECK(game.object_on(0, handle).behind == lines.behind);
        CHECK(game.object_on(0, handle).born == 1);
        return game.driver().stats().replication.blocks_sent;
    };
    const std::uint64_t without = blocks_of(build_register<LifetimeCondition::None>);
    CHECK(blocks_of(build_register<LifetimeCondition::InitialOnly>) == without);
    CHECK(blocks_of(build_register<LifetimeCondition::Dynamic>) == without);
    CHECK(blocks_of(build_register<LifetimeCondition::InitialOrOwner>) == without);
}

TEST_CASE("Conditions: who begins to meet one is sent that alone, beside an array in parts",
          "[netdriver][keyed_arrays][conditions]") {
    ClassGame<Register> game(build_register<LifetimeCondition::OwnerOnly>);
    const ObjectHandle handle = game.add();
    Register& lines = game.object(handle);
    for (std::uint32_t id = 1; id <= 1'000; ++id) {
        lines.before.push_back({id, std::string(20, 'x')});
    }
    lines.born = 1;
    game.join_settled();
    CHECK(game.object_on(0, handle).born == 0);
    const std::uint64_t bytes = game.driver().stats().replication.block_bytes_sent;
    game.driver().set_owner(game.id_of(handle), ClassGame<Register>::peer_of(0));
    REQUIRE(game.settle());
    CHECK(game.object_on(0, handle).born == 1);
    CHECK(game.driver().stats().replication.block_bytes_sent - bytes < 10);
}

TEST_CASE("Keyed arrays: a packet that rearranges many large ones costs no more than is granted",
          "[netdriver][keyed_arrays]") {
    for (const bool is_sharing : {true, false}) {
        ClassGameOptions options;
        options.sharing = sharing_level(is_sharing);
        options.is_validating = false;
        ClassGame<Yard> game(build_yard, options);
        const ObjectHandle yard = game.add();
        game.join_settled();
        auto& rows = game.object(yard).rows;
        for (auto& row : rows) {
            std::swap(row[5], row[6]);
        }
        const std::uint64_t blocks = game.driver().stats().replication.blocks_sent;
        REQUIRE(game.settle());
        // All of them would fit into one packet, but for what it would make its receiver do.
        CHECK(game.driver().stats().replication.blocks_sent - blocks == 2);
        CHECK(game.client_driver(0).state() == ConnectionState::Joined);
        CHECK(game.object_on(0, yard).rows == rows);
    }
}

TEST_CASE("Keyed arrays: a call waits until what large ones cost has been sent before it",
          "[netdriver][keyed_arrays]") {
    ClassGameOptions options;
    options.is_validating = false;
    ClassGame<Yard> game(build_yard, options);
    const ObjectHandle yard = game.add();
    game.join_settled();
    for (auto& row : game.object(yard).rows) {
        std::swap(row[5], row[6]);
    }
    const std::uint64_t blocks = game.driver().stats().replication.blocks_sent;
    REQUIRE(game.driver().call_function(game.id_of(yard), "multicast_look") == CallResult::Sent);
    REQUIRE(game.settle());
    // In two packets; the call takes none of it along, as that would be more than is granted.
    CHECK(game.driver().stats().replication.blocks_sent - blocks == 2);
    CHECK(game.client_driver(0).state() == ConnectionState::Joined);
    CHECK(game.object_on(0, yard).rearranged_seen == Yard::array_count);
}

TEST_CASE("Keyed arrays: an atomic group of many large ones is taken, in a block and in a message",
          "[netdriver][keyed_arrays]") {
    // With five times the changes no packet holds it.
    for (const std::size_t swap_count : {1u, 5u}) {
        ClassGameOptions options;
        options.is_validating = false;
        ClassGame<Port> game(build_port, options);
        const ObjectHandle port = game.add();
        game.join_settled();
        auto& rows = game.object(port).wharf.rows;
        for (std::size_t i = 0; i < swap_count; ++i) {
            for (auto& row : rows) {
                std::swap(row[5 + i * 4], row[6 + i * 4]);
            }
        }
        REQUIRE(game.settle());
        CHECK(game.client_driver(0).state() == ConnectionState::Joined);
        CHECK(game.object_on(0, port).wharf.rows == rows);
    }
}

TEST_CASE("Fast arrays: larger than many packets they settle in few round trips, at any loss",
          "[netdriver][keyed_arrays]") {
    for (const std::uint32_t packet_count : {18u, 60u}) {
        ClassGame<Store> game(build_store, lossy_options(true));
        const ObjectHandle handle = game.add();
        Heap& heap = game.object(handle).heap;
        for (std::uint32_t i = 0; i < line_count(packet_count); ++i) {
            heap.items.emplace_back().text = std::string(60, 'x');
            heap.mark_item_dirty(heap.items.back());
        }
        join(game);
        for (std::uint32_t tick = 0; tick < 40; ++tick) {
            for (std::size_t i = tick % 5; i < heap.items.size(); i += 5) {
                heap.items[i].text[tick] = 'y';
                heap.mark_item_dirty(heap.items[i]);
            }
            heap.items.erase(heap.items.begin() + tick, heap.items.begin() + tick + 2);
            heap.mark_array_dirty();
            game.tick();
        }
        CHECK(ticks_to_settle(game) <= settling_ticks_max);
        std::vector<std::string> ours;
        std::vector<std::string> theirs;
        for (const Item& item : heap.items) {
            ours.push_back(std::to_string(item.replication_id) + item.text);
        }
        for (const Item& item : game.object_on(0, handle).heap.items) {
            theirs.push_back(std::to_string(item.replication_id) + item.text);
        }
        std::sort(ours.begin(), ours.end());
        std::sort(theirs.begin(), theirs.end());
        CHECK(ours == theirs);
    }
}

}  // namespace replayout::test
