// SPDX-License-Identifier: MIT
//
// Fast arrays, in Unreal's words: an array that says itself what changed in it. Its items have ids
// that stay, so nothing is compared that was not marked, what is removed from the middle costs one
// id, and the receiver is told item by item what happened.
//
//     struct Stack : FastArraySerializerItem {
//         std::int32_t count = 0;
//         void post_replicated_add(Inventory& inventory);              // as many of the three
//         void post_replicated_change(Inventory& inventory);           // as are wanted
//         void pre_replicated_remove(Inventory& inventory);
//     };
//     struct Inventory : FastArraySerializer<Stack> {
//         void post_replicated_receive();                              // likewise
//     };
//
//     (void)struct_builder<Stack>(registry, "Stack").property<&Stack::count>().build();
//     (void)register_fast_array<Inventory>(registry, "Inventory");
//     class_builder<Shop>(registry, "Shop").property<&Shop::inventory>().build();
//
//     inventory.items[0].count = 7;
//     inventory.mark_item_dirty(inventory.items[0]);    // after an item was added or changed
//     inventory.items.erase(inventory.items.begin());
//     inventory.mark_array_dirty();                     // after items were removed
//
// A mark that is forgotten sends nothing; NetDriverSettings::mark_validation_ticks finds it, also
// where the property is not push based, and also an item that never had a mark. Of a marked item
// those members travel that changed. Items may stand in another order at a receiver than at the
// sender. Where the property is push based besides, it needs its own mark too, behind those of the
// array: nobody looks at it before. Mark the items of an archetype: one without an id is in every
// copy, and cannot be taken away.
//
// The calls at a receiver come after all values of a block, in this order: pre_replicated_remove
// for each item that is about to go, post_replicated_add, post_replicated_change, then the items
// go, and post_replicated_receive. They must not add or remove items. A notify of the property runs
// later; in its previous value items have no ids, as in any copy: use these calls to tell which.
#pragma once

#include <replayout/reflection/type_builder.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace replayout {

/// Base of the items of a fast array. A copy is another item: it has no id until it is marked.
/// Moving keeps the id, so that items may change places within one array. To bring one into another
/// array, copy it: moved, it may meet another item of its id there, and then nothing of that array
/// is sent until one of them is gone; that is logged, and counted as over a limit.
struct FastArraySerializerItem {
    /// Tells the item apart, given by the first mark, and not again before 4,294,967,294 others;
    /// -1: none yet. At a receiver that of the sender.
    std::int32_t replication_id = -1;
    /// Another one with each mark. The sender's alone.
    std::int32_t replication_key = -1;

    FastArraySerializerItem() noexcept = default;
    ~FastArraySerializerItem() = default;
    FastArraySerializerItem(const FastArraySerializerItem&) noexcept {}
    FastArraySerializerItem(FastArraySerializerItem&&) noexcept = default;
    FastArraySerializerItem& operator=(const FastArraySerializerItem& other) noexcept {
        if (this != &other) {
            replication_id = -1;
            replication_key = -1;
        }
        return *this;
    }
    FastArraySerializerItem& operator=(FastArraySerializerItem&&) noexcept = default;
};

/// Base of a fast array of `ItemType`. The sender changes `items` and marks what it changed; a
/// receiver may read them. Assigning another array marks this one, and ids that it gave before are
/// not given again: `inventory = Inventory()` begins anew. Of items that were moved in, and have
/// the id and key of one that was there, nobody can tell that they changed: mark them.
template <typename ItemType>
struct FastArraySerializer {
    using Item = ItemType;

    std::vector<Item> items;
    /// Another one with each mark. The sender's alone, as the next.
    std::uint32_t array_replication_key = 0;
    std::int32_t id_counter = 0;

    FastArraySerializer() = default;
    ~FastArraySerializer() = default;
    FastArraySerializer(const FastArraySerializer&) = default;
    FastArraySerializer(FastArraySerializer&&) noexcept = default;
    FastArraySerializer& operator=(const FastArraySerializer& other) {
        if (this != &other) {
            items = other.items;
            follow(other);
        }
        return *this;
    }
    FastArraySerializer& operator=(FastArraySerializer&& other) noexcept {
        if (this != &other) {
            items = std::move(other.items);
            follow(other);
        }
        return *this;
    }

    /// To be called after `item`, one of `items`, was added or changed.
    void mark_item_dirty(Item& item) noexcept {
        if (item.replication_id == -1) {
            item.replication_id = id_counter;
            id_counter = next(id_counter);
        }
        item.replication_key = next(item.replication_key);
        mark_array_dirty();
    }
    /// To be called after items were removed.
    void mark_array_dirty() noexcept { ++array_replication_key; }

  private:
    /// All numbers but -1, which says that there is none yet: behind the largest the smallest.
    [[nodiscard]] static constexpr std::int32_t next(std::int32_t counter) noexcept {
        using Limits = std::numeric_limits<std::int32_t>;
        if (counter == Limits::max()) {
            return Limits::min();
        }
        return counter == -2 ? 0 : counter + 1;
    }

    /// By less than half of all numbers, the largest passed or not.
    [[nodiscard]] static constexpr bool is_ahead(std::uint32_t counter,
                                                 std::uint32_t other) noexcept {
        return static_cast<std::int32_t>(counter - other) > 0;
    }

    /// Its items are here now: no mark of either array looks like an old one.
    void follow(const FastArraySerializer& other) noexcept {
        if (is_ahead(other.array_replication_key, array_replication_key)) {
            array_replication_key = other.array_replication_key;
        }
        mark_array_dirty();
        if (is_ahead(static_cast<std::uint32_t>(other.id_counter),
                     static_cast<std::uint32_t>(id_counter))) {
            id_counter = other.id_counter;
        }
    }
};

namespace detail {

// What items and arrays offer is called, and nothing is asked for.

template <typename Array>
struct FastArrayCalls {
    using Item = typename Array::Item;

    [[nodiscard]] static Array& owner(void* items) noexcept {
        // `items` is the first member of the base, so their addresses are the same.
        return static_cast<Array&>(*static_cast<FastArraySerializer<Item>*>(items));
    }

    /// Calls the items at these indices, then the array.
    template <typename Call>
    static void run(void* items, std::span<const std::uint32_t> indices, const Call& call) {
        Array& array = owner(items);
        for (const std::uint32_t index : indices) {
            call(array.items[index], array);
        }
        call(array, indices);
    }

    static void pre_replicated_remove(void* items, std::span<const std::uint32_t> indices) {
        run(items, indices, [](auto& called, auto& argument) {
            if constexpr (requires { called.pre_replicated_remove(argument); }) {
                called.pre_replicated_remove(argument);
            }
        });
    }
    static void post_replicated_add(void* items, std::span<const std::uint32_t> indices) {
        run(items, indices, [](auto& called, auto& argument) {
            if constexpr (requires { called.post_replicated_add(argument); }) {
                called.post_replicated_add(argument);
            }
        });
    }
    static void post_replicated_change(void* items, std::span<const std::uint32_t> indices) {
        run(items, indices, [](auto& called, auto& argument) {
            if constexpr (requires { called.post_replicated_change(argument); }) {
                called.post_replicated_change(argument);
            }
        });
    }
    static void post_replicated_receive(void* items) {
        Array& array = owner(items);
        if constexpr (requires { array.post_replicated_receive(); }) {
            array.post_replicated_receive();
        }
    }
};

}  // namespace detail

/// Makes the struct type of the fast array `Array`, whose items are registered before. Refused:
/// what TypeRegistry refuses.
template <typename Array>
[[nodiscard]] Result<const Type*> register_fast_array(TypeRegistry& registry,
                                                      std::string_view name) {
    using Item = typename Array::Item;
    static_assert(std::is_base_of_v<FastArraySerializer<Item>, Array>,
                  "a fast array derives from FastArraySerializer");
    static_assert(std::is_base_of_v<FastArraySerializerItem, Item>,
                  "items of a fast array derive from FastArraySerializerItem");
    static_assert(std::is_move_constructible_v<Item> && std::is_move_assignable_v<Item>,
                  "items change places, and keep their ids when they are moved");
    using Calls = detail::FastArrayCalls<Array>;
    FastArrayOps fast;
    fast.array_key = [](const void* items) {
        return Calls::owner(const_cast<void*>(items)).array_replication_key;
    };
    fast.item_key = [](const void* item) {
        return static_cast<std::uint32_t>(static_cast<const Item*>(item)->replication_key);
    };
    fast.pre_replicated_remove = Calls::pre_replicated_remove;
    fast.post_replicated_add = Calls::post_replicated_add;
    fast.post_replicated_change = Calls::post_replicated_change;
    fast.post_replicated_receive = Calls::post_replicated_receive;
    return struct_builder<Array>(registry, name)
        .template property<&Array::items>()
        .template keyed_by<&Item::replication_id>()
        .fast_array(fast)
        .build();
}

}  // namespace replayout
