// SPDX-License-Identifier: MIT
//
// Keyed arrays bit by bit, as no sender of ours writes them: keys that cannot be, more elements
// than there may be, and what each costs its receiver (docs/wire_format.md, section 14).
#include <replayout/change_mask.h>
#include <replayout/keyed_array.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test {
namespace {

template <typename Key>
struct KeyedItem {
    Key id = 0;
    std::uint8_t what = 0;
    std::uint8_t size = 0;
};

template <typename Key>
struct KeyedShelf {
    std::vector<KeyedItem<Key>> items;
    std::uint8_t tail = 0;
    std::uint32_t told = 0;
    std::uint32_t updates = 0;

    void on_rep_items() { ++told; }
    void post_net_receive() { ++updates; }
};

template <typename Key, ArrayOrder Order>
[[nodiscard]] Result<const Type*> build_shelf(TypeRegistry& registry) {
    REQUIRE(struct_builder<KeyedItem<Key>>(registry, "Item")
                .template property<&KeyedItem<Key>::id>()
                .template property<&KeyedItem<Key>::what>()
                .template property<&KeyedItem<Key>::size>()
                .build());
    return class_builder<KeyedShelf<Key>>(registry, "Shelf")
        .template property<&KeyedShelf<Key>::items>()
        .template keyed_by<&KeyedItem<Key>::id>(Order)
        .template on_rep<&KeyedShelf<Key>::on_rep_items>()
        .template property<&KeyedShelf<Key>::tail>()
        .template post_net_receive<&KeyedShelf<Key>::post_net_receive>()
        .build();
}

using Gaps = std::initializer_list<std::uint64_t>;

/// A block with the items of a KeyedShelf, and nothing else. Keys are what is written of them: the
/// first of a row is itself, others are one less than how far they are from the one before.
class ForgedItems {
  public:
    explicit ForgedItems(ArrayOrder order = ArrayOrder::Free) : order_(order) {
        ChangeMask handles;
        handles.reset(2);
        handles.set(0);
        write_change_mask(writer_, handles, EmptySet::Impossible);
    }

    ForgedItems& changes(const std::vector<std::uint64_t>& removed = {}) {
        writer_.write_bool(false);
        writer_.write_packed_uint(removed.size());
        for (const std::uint64_t gap : removed) {
            writer_.write_packed_uint(gap);
        }
        return *this;
    }
    ForgedItems& full_set(std::optional<std::uint64_t> begin = {},
                          std::optional<std::uint64_t> end = {},
                          std::optional<std::uint32_t> restart_version = {}) {
        writer_.write_bool(true);
        for (const auto& number : {std::optional<std::uint64_t>(restart_version), begin, end}) {
            writer_.write_bool(number.has_value());
            if (number) {
                writer_.write_packed_uint(*number);
            }
        }
        return *this;
    }
    ForgedItems& number(std::uint64_t number) {
        writer_.write_packed_uint(number);
        return *this;
    }
    /// How many items follow.
    ForgedItems& count(std::uint64_t count) { return number(count); }
    ForgedItems& item(std::uint64_t gap, std::optional<std::uint8_t> what = {},
                      std::optional<std::uint8_t> size = {},
                      std::optional<std::uint32_t> rank = {}) {
        writer_.write_packed_uint(gap);
        if (order_ == ArrayOrder::Kept) {
            writer_.write_bool(rank.has_value());
            if (rank) {
                writer_.write_packed_uint(std::uint64_t{*rank} * 2);
            }
        }
        ChangeMask leaves;
        leaves.reset(2);
        for (const auto& [bit, value] : {std::pair(0u, what), std::pair(1u, size)}) {
            if (value) {
                leaves.set(bit);
            }
        }
        write_change_mask(writer_, leaves, EmptySet::Possible);
        for (const auto& value : {what, size}) {
            writer_.write_bits(value.value_or(0), value ? 8 : 0);
        }
        return *this;
    }
    [[nodiscard]] Bytes bytes() {
        writer_.finish_byte();
        REQUIRE_FALSE(writer_.overflowed());
        return to_bytes(writer_.bytes());
    }

  private:
    ArrayOrder order_;
    Bytes memory_ = Bytes(64 * 1024);
    BitWriter writer_{memory_};
};

/// A receiver of one shelf, which its sender has told of items 0, 10, 20, ...
template <typename Key, ArrayOrder Order = ArrayOrder::Free>
struct Receiver {
    explicit Receiver(std::uint32_t count = 0, const RepLayoutOptions& options = {})
        : layout(build_shelf<Key, Order>, options), receiver(*layout) {
        BlockSender sender(*layout);
        KeyedShelf<Key> server;
        for (std::uint32_t i = 0; i < count; ++i) {
            server.items.push_back({static_cast<Key>(i * 10), 1, 1});
        }
        if (sender.update(&server)) {
            REQUIRE(receiver.receive(&shelf, sender.block(exact_at(0))));
        }
        shelf.told = 0;
        shelf.updates = 0;
    }

    /// With more of the update to come.
    void receive_part(ForgedItems&& items) {
        REQUIRE(receiver.receive(&shelf, items.bytes(), true));
    }
    bool receive(ForgedItems&& items) { return receiver.receive(&shelf, items.bytes()); }
    [[nodiscard]] static ForgedItems forge() { return ForgedItems(Order); }
    [[nodiscard]] std::vector<std::uint64_t> keys() const {
        std::vector<std::uint64_t> result;
        for (const KeyedItem<Key>& item : shelf.items) {
            result.push_back(item.id);
        }
        return result;
    }

    TestLayout layout;
    KeyedShelf<Key> shelf;
    BlockReceiver receiver;
};

using Keys = std::vector<std::uint64_t>;

// Keys.

template <typename Key>
void check_greatest_key() {
    constexpr std::uint64_t greatest = std::numeric_limits<Key>::max();
    const auto takes_items = [](Gaps gaps) {
        Receiver<Key> receiver;
        ForgedItems items;
        items.changes().count(gaps.size());
        for (const std::uint64_t gap : gaps) {
            items.item(gap);
        }
        return receiver.receive(std::move(items));
    };
    const auto takes_removed = [](Gaps gaps) {
        Receiver<Key> receiver;
        return receiver.receive(std::move(ForgedItems().changes(gaps).count(0)));
    };
    const auto takes_range = [](Gaps gaps) {
        Receiver<Key> receiver;
        const std::uint64_t end = *(gaps.begin() + gaps.size() - 1);
        const std::optional<std::uint64_t> begin =
            gaps.size() == 2 ? std::optional(*gaps.begin()) : std::nullopt;
        return receiver.receive(std::move(ForgedItems().full_set(begin, end).count(0)));
    };
    const auto check = [](const auto& takes) {
        CHECK(takes({greatest}));
        CHECK(takes({greatest - 1, 0}));
        CHECK(takes({5, greatest - 6}));
        CHECK(takes({0, greatest - 1}));
        if (greatest != ~std::uint64_t{0}) {
            CHECK_FALSE(takes({greatest + 1}));
            CHECK_FALSE(takes({~std::uint64_t{0}}));
        }
        CHECK_FALSE(takes({greatest, 0}));
        CHECK_FALSE(takes({greatest - 1, 1}));
        CHECK_FALSE(takes({5, greatest - 5}));
        CHECK_FALSE(takes({5, greatest - 4}));
        CHECK_FALSE(takes({5, ~std::uint64_t{0}}));
        CHECK_FALSE(takes({0, greatest}));
    };
    check(takes_items);
    check(takes_removed);
    check(takes_range);
}

TEST_CASE("Keyed arrays: keys ascend up to the greatest of their width, and no further",
          "[replayout][keyed_array]") {
    check_greatest_key<std::uint8_t>();
    check_greatest_key<std::uint16_t>();
    check_greatest_key<std::uint32_t>();
    check_greatest_key<std::uint64_t>();
}

TEST_CASE("Keyed arrays: each key that is read takes a step", "[replayout][keyed_array]") {
    constexpr std::size_t count = 1'000;
    const Bytes block = ForgedItems().changes(Keys(count, 0)).count(0).bytes();
    for (const std::size_t steps : {count - 1, count + 2}) {
        Receiver<std::uint32_t> receiver;
        DecodeBudget budget;
        budget.steps = steps;
        BitReader reader(block, &budget);
        ReceiveContext context = receiver.receiver.context();
        CHECK(receive_properties(*receiver.layout, reader, &receiver.shelf, receiver.receiver.state,
                                 context) == (steps > count));
    }
}

// How many.

[[nodiscard]] RepLayoutOptions with_limit(std::uint32_t count_max) {
    RepLayoutOptions options;
    options.limits.array_count_max = count_max;
    return options;
}

TEST_CASE("Keyed arrays: a block lists no more elements than the limit, even where there are more",
          "[replayout][keyed_array]") {
    constexpr std::uint32_t limit = 4;
    for (const std::uint32_t listed : {limit, limit + 1, limit + 2}) {
        Receiver<std::uint32_t> receiver(limit, with_limit(limit));
        receiver.shelf.items.push_back({100, 0, 0});  // the game's own
        receiver.shelf.items.push_back({110, 0, 0});
        ForgedItems items;
        items.changes().count(listed).item(0, 7);
        for (std::uint32_t i = 1; i < listed; ++i) {
            items.item(i < limit ? 9 : i == limit ? 69 : 9, 7);
        }
        CHECK(receiver.receive(std::move(items)) == (listed == limit));
        CHECK(receiver.shelf.items[0].what == (listed == limit ? 7 : 1));
        CHECK(receiver.shelf.items.size() == limit + 2);
    }
}

TEST_CASE("Keyed arrays: a count that no bytes follow is refused and costs nothing",
          "[replayout][keyed_array]") {
    for (const std::uint64_t count :
         {std::uint64_t{1}, std::uint64_t{2'048}, std::uint64_t{2'049}, ~std::uint64_t{0}}) {
        Receiver<std::uint32_t> receiver(3);
        CHECK_FALSE(receiver.receive(std::move(ForgedItems().changes().count(count))));
        CHECK_FALSE(receiver.receive(std::move(ForgedItems().full_set().count(count))));
        CHECK(receiver.keys() == Keys{0, 10, 20});
    }
}

TEST_CASE(
    "Keyed arrays: each element that is new is charged to the budget, save where it is skipped",
    "[replayout][keyed_array]") {
    constexpr std::uint32_t count = 100;
    constexpr std::size_t needed = count * sizeof(KeyedItem<std::uint32_t>);
    ForgedItems items;
    items.changes().count(count + 1);
    for (std::uint32_t i = 0; i <= count; ++i) {
        items.item(0);  // the first of them is there
    }
    const Bytes block = items.bytes();
    for (const std::size_t bytes : {needed - 1, needed}) {
        Receiver<std::uint32_t> receiver(1);
        DecodeBudget budget;
        budget.allocation_bytes = bytes;
        BitReader reader(block, &budget);
        ReceiveContext context = receiver.receiver.context();
        CHECK(receive_properties(*receiver.layout, reader, &receiver.shelf, receiver.receiver.state,
                                 context) == (bytes == needed));
        CHECK(receiver.shelf.items.size() == (bytes == needed ? count + 1 : 1));
        BitReader skipped(block, &budget);
        CHECK(skip_properties(*receiver.layout, skipped, context));
    }
}

// What it costs.

/// s(x) of docs/wire_format.md.
[[nodiscard]] std::size_t sorting(std::size_t count) {
    return count * static_cast<std::size_t>(std::bit_width(count)) / 2;
}

/// What comes or goes.
[[nodiscard]] constexpr std::size_t changing(std::size_t count) {
    return 8 * count;
}

/// Items 0, 10, ... 990 are listed, or as many as that, without values.
void list_items(ForgedItems& items, std::uint32_t count) {
    items.count(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        items.item(i == 0 ? 0 : 9);
    }
}

TEST_CASE("Keyed arrays: without order a block costs what the format says",
          "[replayout][keyed_array]") {
    constexpr std::size_t n = 200;
    const auto cost_of_left = [](std::size_t left_count, ForgedItems&& items) {
        Receiver<std::uint32_t> receiver(n);
        receiver.shelf.items.resize(left_count);
        REQUIRE(receiver.receive(std::move(items)));
        return receiver.receiver.array_steps_spent;
    };
    const auto cost = [&](ForgedItems&& items) { return cost_of_left(n, std::move(items)); };
    const auto changes = [](const Keys& removed = {}) {
        return std::move(ForgedItems().changes(removed));
    };
    CHECK(cost(std::move(changes().count(0))) == 1);
    CHECK(cost(std::move(changes().count(1).item(10, 5))) == 1 + n / 4 + n / 2);
    CHECK(cost(std::move(changes().count(1).item(11, 5))) == 1 + n / 4 + (n + 1) / 2 + changing(1));
    CHECK(cost(std::move(changes({10}).count(0))) == 1 + n / 4 + n / 2 + changing(1));
    CHECK(cost(std::move(changes({11}).count(0))) == 1 + n / 4);  // there is none
    CHECK(cost(std::move(changes({10}).count(1).item(20, 5))) ==
          1 + n * 2 / 4 + n / 2 + changing(1));
    CHECK(cost(std::move(changes({10}).count(1).item(21, 5))) ==
          1 + n * 2 / 4 + (n + 1) / 2 + changing(2));
    for (const std::uint32_t listed : {8u, 9u}) {
        ForgedItems items = changes();
        list_items(items, listed);
        CHECK(cost(std::move(items)) == 1 + (listed == 8 ? n * 8 / 4 : sorting(n)) + n / 2);
    }
    for (const std::uint32_t listed : {0u, 100u, 200u}) {
        ForgedItems items;
        items.full_set();
        list_items(items, listed);
        CHECK(cost(std::move(items)) == 1 + sorting(2 * n) + n / 2 + changing(n - listed));
    }
    // What the game took away is not paid for.
    CHECK(cost_of_left(10, std::move(changes().count(1).item(10, 5))) == 1 + 10 / 4 + 10 / 2);
}

TEST_CASE("Keyed arrays: with order a block costs what the format says",
          "[replayout][keyed_array]") {
    constexpr std::size_t n = 200;
    constexpr std::size_t weight = 2;  // handles of an element
    using Ordered = Receiver<std::uint32_t, ArrayOrder::Kept>;
    const auto cost = [](ForgedItems&& items) {
        Ordered receiver(n);
        REQUIRE(receiver.receive(std::move(items)));
        return receiver.receiver.array_steps_spent;
    };
    const auto order = [](std::size_t m, std::size_t k) {
        return 2 * m + sorting(4 * std::min(m, k)) + m * weight / 64;
    };
    const auto changes = [](const Keys& removed = {}) {
        return std::move(Ordered::forge().changes(removed));
    };
    CHECK(cost(std::move(changes().count(0))) == 1);
    CHECK(cost(std::move(changes().count(1).item(10, 5))) == 1 + n / 4 + n / 2);
    CHECK(cost(std::move(changes().count(1).item(10, {}, {}, 5))) == 1 + n / 4 + order(n, 1));
    CHECK(cost(std::move(changes().count(1).item(11, 5))) ==
          1 + n / 4 + order(n + 1, 1) + changing(1));
    CHECK(cost(std::move(changes({10}).count(0))) == 1 + n / 4 + order(n, 1) + changing(1));
    CHECK(cost(std::move(changes({11}).count(0))) == 1 + n / 4);
    CHECK(cost(std::move(changes({10}).count(1).item(20, 5))) ==
          1 + n * 2 / 4 + order(n, 2) + changing(1));
    for (const std::uint32_t listed : {50u, 150u}) {
        ForgedItems items = Ordered::forge();
        items.full_set();
        list_items(items, listed);
        CHECK(cost(std::move(items)) == 1 + sorting(2 * n) + order(n, n) + changing(n - listed));
    }
}

// Who is told.

TEST_CASE("Keyed arrays: the array is told of whatever changed in it, and of nothing else",
          "[replayout][keyed_array]") {
    using Ordered = Receiver<std::uint32_t, ArrayOrder::Kept>;
    constexpr std::uint32_t far = 1u << 29;  // behind all that there is
    const auto told = [](ForgedItems&& items) {
        Ordered receiver(3);
        REQUIRE(receiver.receive(std::move(items)));
        return receiver.shelf.told;
    };
    const auto changes = [](const Keys& removed = {}) {
        return std::move(Ordered::forge().changes(removed));
    };
    CHECK(told(std::move(changes().count(0))) == 0);
    CHECK(told(std::move(changes().count(1).item(10, 1, 1))) == 0);
    CHECK(told(std::move(changes().count(1).item(10, 2))) == 1);
    CHECK(told(std::move(changes().count(1).item(10, 2, 1))) == 1);
    CHECK(told(std::move(changes().count(1).item(10, 1, 2))) == 1);
    CHECK(told(std::move(changes().count(2).item(10, 2).item(9, 1))) == 1);
    CHECK(told(std::move(changes().count(2).item(10, 1).item(9, 2))) == 1);
    CHECK(told(std::move(changes({10}).count(0))) == 1);
    CHECK(told(std::move(changes({11}).count(0))) == 0);
    CHECK(told(std::move(changes().count(1).item(40, {}, {}, far))) == 1);
    CHECK(told(std::move(changes().count(2).item(10, 1).item(29, {}, {}, far))) == 1);
    // The last one goes further back, and stays the last.
    CHECK(told(std::move(changes().count(1).item(20, {}, {}, far))) == 0);
    CHECK(told(std::move(changes().count(1).item(10, {}, {}, far))) == 1);
    CHECK(told(std::move(changes().count(1).item(20, 2, {}, far))) == 1);
    // One comes behind all, and the last before it goes further back.
    CHECK(told(std::move(changes().count(2).item(15, {}, {}, far + 1).item(4, {}, {}, far))) == 1);
}

// Parts of an update.

TEST_CASE("Keyed arrays: a part that takes away of an array that changed before ends the update",
          "[replayout][keyed_array]") {
    for (const bool takes_away : {false, true}) {
        Receiver<std::uint32_t> receiver(5);
        const Bytes first = ForgedItems().full_set({}, 15).count(1).item(0).bytes();
        REQUIRE(receiver.receiver.receive(&receiver.shelf, first, true));
        CHECK(receiver.shelf.told == 0);
        ForgedItems items;
        items.full_set(15);
        if (takes_away) {
            items.count(1).item(30, 2);
        } else {
            items.count(3).item(20).item(9, 2).item(9);
        }
        REQUIRE(receiver.receiver.receive(&receiver.shelf, items.bytes(), true));
        CHECK(receiver.shelf.told == (takes_away ? 1 : 0));
        ReceiveContext context = receiver.receiver.context();
        finish_update(*receiver.layout, &receiver.shelf, receiver.receiver.state, context);
        CHECK(receiver.shelf.told == (takes_away ? 2 : 1));
        Keys keys = receiver.keys();
        std::sort(keys.begin(), keys.end());
        CHECK(keys == (takes_away ? Keys{0, 30} : Keys{0, 20, 30, 40}));
    }
}

TEST_CASE("Keyed arrays: one goes on without deletions, behind the last key, and not with nothing",
          "[replayout][keyed_array]") {
    const auto update_count = [](ForgedItems&& first, ForgedItems&& second) {
        Receiver<std::uint32_t> receiver(5);
        receiver.receive_part(std::move(first));
        receiver.receive_part(std::move(second));
        ReceiveContext context = receiver.receiver.context();
        finish_update(*receiver.layout, &receiver.shelf, receiver.receiver.state, context);
        return receiver.shelf.updates;
    };
    const auto changes = [](const Keys& removed = {}) {
        return std::move(ForgedItems().changes(removed));
    };
    const auto item = [&](std::uint64_t key) { return std::move(changes().count(1).item(key, 5)); };
    CHECK(update_count(item(10), item(20)) == 1);
    CHECK(update_count(item(10), item(10)) == 2);
    CHECK(update_count(item(20), item(10)) == 2);
    CHECK(update_count(item(10), std::move(changes({15}).count(1).item(20, 5))) == 2);
    CHECK(update_count(item(10), std::move(changes().count(0))) == 2);
    CHECK(update_count(std::move(changes().count(0)), item(0)) == 1);
    CHECK(update_count(std::move(changes().count(0)), std::move(changes().count(0))) == 2);
    // What went is not what is changed now.
    CHECK(update_count(std::move(changes({30}).count(0)), item(20)) == 1);
    CHECK(update_count(std::move(changes({20}).count(0)), item(30)) == 1);
    CHECK(update_count(std::move(changes({20}).count(0)), item(20)) == 2);
}

TEST_CASE("Keyed arrays: what went in an update before is not what goes in this one",
          "[replayout][keyed_array]") {
    Receiver<std::uint32_t> receiver(3);
    REQUIRE(receiver.receive(std::move(ForgedItems().changes({10}).count(1).item(0, 5))));
    REQUIRE(receiver.receive(std::move(ForgedItems().changes().count(1).item(10, 5))));
    receiver.shelf.updates = 0;
    receiver.receive_part(std::move(ForgedItems().changes().count(1).item(0, 6)));
    REQUIRE(receiver.receive(std::move(ForgedItems().changes().count(1).item(10, 6))));
    CHECK(receiver.shelf.updates == 1);
}

TEST_CASE("Keyed arrays: an update that would cost too much in its end, ends before the next part",
          "[replayout][keyed_array]") {
    using Ordered = Receiver<std::uint32_t, ArrayOrder::Kept>;
    for (const std::uint32_t count : {1'000u, 30'000u}) {
        Ordered receiver(0, with_limit(50'000));
        ForgedItems items = Ordered::forge();
        items.changes().count(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            items.item(0);
        }
        REQUIRE(receiver.receiver.receive(&receiver.shelf, items.bytes(), true));
        CHECK(receiver.shelf.told == 0);
        const Bytes next = Ordered::forge().changes().count(1).item(100'000).bytes();
        REQUIRE(receiver.receiver.receive(&receiver.shelf, next, true));
        CHECK(receiver.shelf.told == (count == 1'000 ? 0 : 1));
    }
}

TEST_CASE("Keyed arrays: an element that cannot be here is refused, whatever is behind it",
          "[replayout][keyed_array]") {
    const auto takes = [](ForgedItems&& items) {
        return Receiver<std::uint32_t>(3).receive(std::move(items));
    };
    for (const std::uint64_t key : {4u, 5u, 8u, 9u}) {
        ForgedItems items;
        items.full_set(4, 8 - 4 - 1).count(1).item(key);
        CHECK(takes(std::move(items)) == (key > 4 && key <= 8));
        ForgedItems changed;
        changed.changes({key}).count(1).item(8);
        CHECK(takes(std::move(changed)) == (key != 8));
        // Its key alone.
        ForgedItems cut;
        cut.full_set(4, 8 - 4 - 1).count(1).number(key);
        CHECK_FALSE(takes(std::move(cut)));
        ForgedItems changed_cut;
        changed_cut.changes({key}).count(1).number(8);
        CHECK(takes(std::move(changed_cut)) == (key != 8));  // with an empty set of leaves
    }
}

// What begins anew.

TEST_CASE("Keyed arrays: any other version than the last begins anew, be it before or behind",
          "[replayout][keyed_array]") {
    Receiver<std::uint32_t> receiver(3);
    const auto restart = [&](std::uint32_t version) {
        REQUIRE(receiver.receive(std::move(ForgedItems().full_set(500, {}, version).count(0))));
        const Keys left = receiver.keys();
        REQUIRE(receiver.receive(std::move(ForgedItems().changes().count(1).item(7))));
        return left;
    };
    CHECK(restart(5).empty());
    CHECK(restart(5) == Keys{7});
    CHECK(restart(3).empty());
    CHECK(restart(3) == Keys{7});
    CHECK(restart(6).empty());
}

}  // namespace
}  // namespace replayout::test
