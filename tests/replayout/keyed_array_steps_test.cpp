// SPDX-License-Identifier: MIT
//
// Who pays for what keyed arrays make their receiver do: units that cannot be cut.
#include <replayout/keyed_array.h>
#include <replayout/layout_description.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/block_receiver.h"
#include "support/block_sender.h"
#include "support/catch.h"
#include "support/test_layout.h"

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

}  // namespace replayout::test
