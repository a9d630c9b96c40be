// SPDX-License-Identifier: MIT
//
// Maps and sets: whole, in order, once for all receivers.
#include <replayout/collection.h>
#include <replayout/reflection/type_builder.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout {
namespace {

enum class Ware : std::uint8_t { Bread, Salt, Rope };

using Stock = std::map<Ware, std::uint32_t>;
using Notes = std::map<std::string, std::string>;
using Weights = std::map<std::int16_t, double>;
using Tags = std::set<std::string>;
using Seen = std::set<std::uint64_t>;

struct Shop {
    Stock stock;
    Notes notes;
    Weights weights;
    Tags tags;
    Seen seen;
    std::vector<Seen> history;
};

[[nodiscard]] Result<const Type*> build_shop(TypeRegistry& registry) {
    (void)register_collection<Stock>(registry);
    (void)register_collection<Notes, 4, 16>(registry);
    (void)register_collection<Weights>(registry);
    (void)register_collection<Tags>(registry);
    (void)register_collection<Seen, 1'000>(registry);
    return class_builder<Shop>(registry, "Shop")
        .property<&Shop::stock>()
        .property<&Shop::notes>()
        .property<&Shop::weights>()
        .property<&Shop::tags>()
        .property<&Shop::seen>()
        .property<&Shop::history>()
        .build();
}

[[nodiscard]] Shop make_shop() {
    Shop shop;
    shop.stock = {{Ware::Rope, 7}, {Ware::Bread, 1'000'000}};
    shop.notes = {{"b", ""}, {"a", "Zo\xc3\xab"}};
    shop.weights = {{-3, 0.5}, {2, std::numeric_limits<double>::quiet_NaN()}};
    shop.tags = {"open", "cheap"};
    shop.seen = {9, 1, ~std::uint64_t{0}};
    shop.history = {{1, 2}, {}, {3}};
    return shop;
}

TEST_CASE("Collections: maps and sets arrive, change and empty", "[replayout][collection]") {
    const TestLayout layout(build_shop);
    CHECK(layout->is_fully_shared());
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Shop server = make_shop();
    Shop client;
    client.stock = {{Ware::Salt, 1}};
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.stock == server.stock);
    CHECK(client.notes == server.notes);
    CHECK(client.weights.size() == 2);
    CHECK(client.tags == server.tags);
    CHECK(client.seen == server.seen);
    CHECK(client.history == server.history);
    CHECK_FALSE(sender.update(&server));  // a NaN is what it was
    server.stock[Ware::Salt] = 3;
    server.stock.erase(Ware::Rope);
    server.tags.clear();
    server.history[1].insert(5);
    REQUIRE(sender.update(&server));
    CHECK(handles_of(sender.collect(since(1))) == std::vector<std::uint32_t>{1, 4, 6});
    REQUIRE(receiver.receive(&client, sender.block(since(1))));
    CHECK(client.stock == server.stock);
    CHECK(client.tags.empty());
    CHECK(client.history == server.history);
}

TEST_CASE("Collections: are written once for all receivers, and sharing changes no byte",
          "[replayout][collection]") {
    const TestLayout layout(build_shop);
    BlockSender on(*layout);
    BlockSender off(*layout);
    off.is_sharing = false;
    Shop server = make_shop();
    REQUIRE(on.update(&server));
    REQUIRE(off.update(&server));
    const Bytes block = off.block(since(0));
    for (int receiver = 0; receiver < 10; ++receiver) {
        CHECK(on.block(since(0)) == block);
    }
    CHECK(on.counters.values_encoded == layout->handle_count());
}

TEST_CASE("Collections: one that is too large or not text keeps the value before in force",
          "[replayout][collection]") {
    const TestLayout layout(build_shop);
    BlockSender sender(*layout);
    Shop server;
    server.notes = {{"a", "1"}};
    REQUIRE(sender.update(&server));
    CHECK(sender.counters.values_over_limit == 0);
    server.notes = {{"1", ""}, {"2", ""}, {"3", ""}, {"4", ""}, {"5", ""}};
    CHECK_FALSE(sender.update(&server));
    CHECK(sender.counters.values_over_limit == 1);
    server.notes = {{"a", "seventeen letters"}};
    CHECK_FALSE(sender.update(&server));
    CHECK(sender.counters.values_over_limit == 2);
    server.notes = {{"\xff", ""}};
    CHECK_FALSE(sender.update(&server));
    CHECK(sender.counters.values_over_limit == 3);
    server.notes = {{"a", "sixteen letters."}};
    CHECK(sender.update(&server));
    CHECK(sender.counters.values_over_limit == 3);
}

/// A block with the set `seen` alone, as a stranger may write it.
[[nodiscard]] Bytes block_of_seen(const RepLayout& layout, std::uint64_t count,
                                  const std::vector<std::uint64_t>& keys) {
    Bytes memory(256);
    BitWriter writer(memory);
    ChangeMask mask;
    mask.reset(layout.handle_count());
    mask.set(4);
    write_change_mask(writer, mask, EmptySet::Impossible);
    writer.write_packed_uint(count);
    for (const std::uint64_t key : keys) {
        writer.write_bits(key, 64);
    }
    writer.finish_byte();
    return to_bytes(writer.bytes());
}

TEST_CASE("Collections: keys out of order, twice, too many or cut short are refused",
          "[replayout][collection]") {
    const TestLayout layout(build_shop);
    BlockReceiver receiver(*layout);
    Shop client;
    client.seen = {77};
    CHECK_FALSE(receiver.receive(&client, block_of_seen(*layout, 2, {2, 1})));
    CHECK_FALSE(receiver.receive(&client, block_of_seen(*layout, 2, {2, 2})));
    CHECK_FALSE(receiver.receive(&client, block_of_seen(*layout, 1'001, {1, 2, 3})));
    CHECK_FALSE(receiver.receive(&client, block_of_seen(*layout, 3, {1, 2})));
    CHECK_FALSE(receiver.receive(&client, block_of_seen(*layout, ~std::uint64_t{0}, {})));
    CHECK(client.seen == Seen{77});
    CHECK(receiver.receive(&client, block_of_seen(*layout, 3, {1, 2, 9})));
    CHECK(client.seen == Seen{1, 2, 9});
}

TEST_CASE("Collections: decoding is charged to the budget", "[replayout][collection]") {
    const TestLayout layout(build_shop);
    BlockReceiver receiver(*layout);
    Shop client;
    const Bytes block = block_of_seen(*layout, 3, {1, 2, 9});
    DecodeBudget budget;
    budget.allocation_bytes = 2 * (sizeof(std::uint64_t) + 48);
    BitReader reader(block, &budget);
    ReceiveContext context = receiver.context();
    CHECK_FALSE(receive_properties(*layout, reader, &client, receiver.state, context));
    CHECK(client.seen.empty());
}

struct Box {
    Seen seen;
};

template <std::uint32_t CountMax>
[[nodiscard]] Result<const Type*> build_box(TypeRegistry& registry) {
    (void)register_collection<Seen, CountMax>(registry);
    return class_builder<Box>(registry, "Box").property<&Box::seen>().build();
}

TEST_CASE("Collections: kinds and limits are part of the agreement", "[replayout][collection]") {
    TestLayout few(build_box<10>);
    const TestLayout many(build_box<11>);
    CHECK(few->fingerprint() != many->fingerprint());
    CHECK(few.registry().find("set of uint64, at most 10") != nullptr);
}

TEST_CASE("Collections: only those with texts tell a limit of texts", "[replayout][collection]") {
    TypeRegistry registry;
    CHECK((register_collection<Seen, 10, 20>(registry)));
    CHECK((register_collection<Tags, 10, 20>(registry)));
    CHECK((register_collection<std::map<std::uint8_t, std::string>, 10, 20>(registry)));
    CHECK(registry.find("set of uint64, at most 10") != nullptr);
    CHECK(registry.find("set of string, at most 10, texts of 20") != nullptr);
    CHECK(registry.find("map of uint8 to string, at most 10, texts of 20") != nullptr);
}

}  // namespace
}  // namespace replayout
