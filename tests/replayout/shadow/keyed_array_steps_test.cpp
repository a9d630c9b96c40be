// SPDX-License-Identifier: MIT
//
// Who pays for what keyed arrays make their receiver do: units that cannot be cut, elements of the
// game's own, and elements that come and go by the hundred.
#include <replayout/keyed_array.h>
#include <replayout/layout_description.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test {

struct Barrel {
    std::uint16_t id = 0;
    std::uint8_t litres = 0;

    friend bool operator==(const Barrel&, const Barrel&) = default;
};

/// Right only as a whole.
struct Cellar {
    std::array<std::vector<Barrel>, 3> rows;
};

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Cellar> : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test {
namespace {

struct Inn {
    Cellar cellar;
    std::vector<Barrel> tap;
};

[[nodiscard]] Result<const Type*> build_inn(TypeRegistry& registry) {
    REQUIRE(struct_builder<Barrel>(registry, "Barrel")
                .property<&Barrel::id>()
                .property<&Barrel::litres>()
                .build());
    REQUIRE(struct_builder<Cellar>(registry, "Cellar")
                .property<&Cellar::rows>()
                .keyed_by<&Barrel::id>(ArrayOrder::Kept)
                .build());
    return class_builder<Inn>(registry, "Inn")
        .property<&Inn::cellar>()
        .property<&Inn::tap>()
        .keyed_by<&Barrel::id>(ArrayOrder::Kept)
        .build();
}

struct Thin {
    std::uint16_t id = 0;
    std::uint8_t pages = 0;

    friend bool operator==(const Thin&, const Thin&) = default;
};

struct Thick {
    std::uint16_t id = 0;
    std::uint8_t pages = 0;
    std::array<std::string, 16> chapters;

    friend bool operator==(const Thick&, const Thick&) = default;
};

template <typename Book>
struct Shelf {
    std::vector<Book> books;
};

template <typename Book>
[[nodiscard]] Result<const Type*> build_shelf(TypeRegistry& registry) {
    auto book = struct_builder<Book>(registry, "Book");
    book.template property<&Book::id>().template property<&Book::pages>();
    if constexpr (std::is_same_v<Book, Thick>) {
        book.template property<&Book::chapters>();
    }
    REQUIRE(book.build());
    return class_builder<Shelf<Book>>(registry, "Shelf")
        .template property<&Shelf<Book>::books>()
        .template keyed_by<&Book::id>(ArrayOrder::Kept)
        .build();
}

[[nodiscard]] std::vector<Barrel> barrels(std::uint16_t count) {
    std::vector<Barrel> result;
    for (std::uint16_t i = 0; i < count; ++i) {
        result.push_back({i, 1});
    }
    return result;
}

/// Reads with so much left for keyed arrays; returns what is left of that, or nothing when it is
/// refused.
[[nodiscard]] std::optional<std::size_t> read_with(BlockReceiver& receiver, const RepLayout& layout,
                                                   Inn& inn, const Bytes& block,
                                                   std::size_t array_steps) {
    DecodeBudget budget;
    budget.array_steps = array_steps;
    BitReader reader(block, &budget);
    ReceiveContext context = receiver.context();
    if (!receive_properties(layout, reader, &inn, receiver.state, context)) {
        return std::nullopt;
    }
    return budget.array_steps;
}

}  // namespace

TEST_CASE("Keyed arrays: with anything left an atomic group is taken whole, what is behind it not",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_inn);
    BlockSender sender(*layout);
    Inn server;
    for (auto& row : server.cellar.rows) {
        row = barrels(20);
    }
    REQUIRE(sender.update(&server));
    const Bytes group = sender.block(since(0));
    server.tap = barrels(20);
    REQUIRE(sender.update(&server));
    const Bytes group_and_tap = sender.block(since(0));
    BlockReceiver receiver(*layout);
    Inn client;
    CHECK(read_with(receiver, *layout, client, group, 0) == std::nullopt);
    CHECK(read_with(receiver, *layout, client, group_and_tap, 1) == std::nullopt);
    CHECK(client.cellar.rows[0].empty());
    CHECK(read_with(receiver, *layout, client, group, 1) == 0);
    CHECK(client.cellar.rows == server.cellar.rows);
    CHECK(client.tap.empty());
}

TEST_CASE("Keyed arrays: by a layout that was described a block is taken whole",
          "[replayout][keyed_array]") {
    TestLayout local(build_inn);
    const auto description = describe_layout(*local, std::pmr::get_default_resource());
    const auto described = RepLayout::create_compatible(local->registry(), &*local,
                                                        {description.data(), description.size()},
                                                        LayoutPolicy::SkipUnknown);
    REQUIRE(described);
    BlockSender sender(*local);
    Inn server;
    for (auto& row : server.cellar.rows) {
        row = barrels(20);
    }
    server.tap = barrels(20);
    REQUIRE(sender.update(&server));
    const Bytes block = sender.block(since(0));
    BlockReceiver receiver(**described);
    Inn client;
    CHECK(read_with(receiver, **described, client, block, 0) == std::nullopt);
    CHECK(read_with(receiver, **described, client, block, 1) == 0);
    CHECK(client.cellar.rows == server.cellar.rows);
    CHECK(client.tap == server.tap);
}

TEST_CASE("Keyed arrays: what a client's game adds of its own is not the sender's to pay for",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_inn);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Inn server;
    Inn client;
    server.tap = barrels(1'000);
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    for (std::uint16_t i = 0; i < 5'000; ++i) {
        client.tap.push_back({static_cast<std::uint16_t>(10'000 + i), 9});
    }
    OwedVersions position = since(1);
    position.held_version = 1;
    std::swap(server.tap[5], server.tap[6]);
    REQUIRE(sender.update(&server));
    const Bytes block = sender.block(position);
    const auto left =
        read_with(receiver, *layout, client, block, DecodeBudget::array_steps_default);
    REQUIRE(left);
    CHECK(DecodeBudget::array_steps_default - *left <= sender.last.array_steps);
    CHECK(std::equal(server.tap.begin(), server.tap.end(), client.tap.begin()));
    CHECK(client.tap.size() == 6'000);
}

TEST_CASE("Keyed arrays: moving elements costs by what they are made of",
          "[replayout][keyed_array]") {
    const auto steps_of_move = [](BuildType build, auto shelf) {
        const TestLayout layout(build);
        BlockSender sender(*layout);
        BlockReceiver receiver(*layout);
        for (std::uint16_t i = 0; i < 100; ++i) {
            shelf.books.emplace_back().id = i;
        }
        REQUIRE(sender.update(&shelf));
        auto remote = decltype(shelf)();
        REQUIRE(receiver.receive(&remote, sender.block(since(0))));
        std::rotate(shelf.books.begin(), shelf.books.begin() + 1, shelf.books.end());
        REQUIRE(sender.update(&shelf));
        OwedVersions position = since(1);
        position.held_version = 1;
        REQUIRE(receiver.receive(&remote, sender.block(position)));
        CHECK(remote.books == shelf.books);
        CHECK(receiver.array_steps_spent <= sender.last.array_steps);
        return receiver.array_steps_spent;
    };
    // One key is looked for, one element moves past the others: 1 + 25, 200 + 6. Beside that leaves
    // count: a number 1, a text 16, in 64 parts of a step.
    CHECK(steps_of_move(build_shelf<Thin>, Shelf<Thin>()) == 232 + 100 * 1 / 64);
    CHECK(steps_of_move(build_shelf<Thick>, Shelf<Thick>()) == 232 + 100 * 257 / 64);
}

TEST_CASE("KeyedElements: whatever comes and goes together, each keeps its slot and its rank",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    for (int game = 0; game < 50; ++game) {
        KeyedElements known(std::pmr::get_default_resource());
        Vector<KeyedElements::Element> made{
            Allocator<KeyedElements::Element>(std::pmr::get_default_resource())};
        std::map<std::uint64_t, std::uint32_t> slots;
        for (int round = 0; round < 20; ++round) {
            for (std::uint64_t key = 0; key < 100; ++key) {
                if (random.percent(20)) {
                    const std::uint32_t slot =
                        known.at(key, static_cast<std::int64_t>(key) * 3, made).slot;
                    REQUIRE(slots.try_emplace(key, slot).first->second == slot);
                }
            }
            known.merge(made);
            REQUIRE(made.empty());
            std::vector<std::uint64_t> gone;
            for (std::uint64_t key = 0; key < 100; ++key) {
                if (random.percent(15)) {
                    gone.push_back(key);
                    slots.erase(key);
                }
            }
            known.erase(gone);
            REQUIRE(known.elements().size() == slots.size());
            auto element = known.elements().begin();
            for (const auto& [key, slot] : slots) {
                REQUIRE(element->key == key);
                REQUIRE(element->slot == slot);
                REQUIRE(element->rank == static_cast<std::int32_t>(key * 3));
                REQUIRE(known.find_slot(slot) == &*element);
                ++element;
            }
        }
    }
}

TEST_CASE("Keyed arrays: references in elements that go are forgotten, be they few or many",
          "[replayout][keyed_array]") {
    for (const std::size_t count : {1u, 16u, 17u, 90u}) {
        ReceivingRepState state(std::pmr::get_default_resource());
        Vector<KeyedElements::Element> made{
            Allocator<KeyedElements::Element>(std::pmr::get_default_resource())};
        Vector<NetGUID> dropped;
        constexpr RepHandle array{4};
        constexpr std::uint32_t handle_count = 3;
        const auto path_of = [](std::uint32_t handle, std::uint32_t slot) {
            RepPath path;
            path.handles[0] = handle;
            path.handles[1] = slot * handle_count + 2;
            return path;
        };
        for (std::uint32_t i = 0; i < 100; ++i) {
            REQUIRE(state.keyed_elements(array).at(i, 0, made).slot == i);
            for (std::uint32_t handle = 3; handle <= 5; ++handle) {
                const NetGUID guid{1'000u * handle + i};
                REQUIRE(state.set_reference(path_of(handle, i), {guid, true}, 1'000, nullptr));
            }
        }
        state.keyed_elements(array).merge(made);
        std::vector<std::uint64_t> keys;
        for (std::size_t i = 0; i < count; ++i) {
            keys.push_back(i + 5);
        }
        state.forget_keyed_elements(array, keys, handle_count, &dropped);
        CHECK(dropped.size() == count);
        CHECK(state.references().size() == 300 - count);
        for (std::uint32_t i = 0; i < 100; ++i) {
            const bool is_gone = i >= 5 && i < 5 + count;
            CHECK(state.names(NetGUID{4'000u + i}) == !is_gone);
            CHECK(state.find_reference(path_of(4, i)).is_null() == is_gone);
            CHECK(state.names(NetGUID{3'000u + i}));
            CHECK(state.names(NetGUID{5'000u + i}));
        }
    }
}

}  // namespace replayout::test
