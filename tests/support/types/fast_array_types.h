// SPDX-License-Identifier: MIT
//
// An inventory as a fast array that writes down what it is told.
#pragma once

#include <replayout/fast_array.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"

namespace replayout::test {

struct Inventory;

struct Stack : FastArraySerializerItem {
    std::uint32_t kind = 0;
    std::int32_t count = 0;
    std::string label;
    ObjectHandle owner;

    void pre_replicated_remove(Inventory& inventory);
    void post_replicated_add(Inventory& inventory);
    void post_replicated_change(Inventory& inventory);
};

struct Inventory : FastArraySerializer<Stack> {
    std::vector<std::string> told;

    void post_replicated_receive() { told.push_back("receive"); }

    Stack& add(std::uint32_t kind, std::int32_t count) {
        Stack stack;
        stack.kind = kind;
        stack.count = count;
        stack.label = "stack of " + std::to_string(kind);
        items.push_back(std::move(stack));
        mark_item_dirty(items.back());
        return items.back();
    }
    void remove(std::size_t index) {
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(index));
        mark_array_dirty();
    }
    void change(std::size_t index, std::int32_t count) {
        items[index].count = count;
        mark_item_dirty(items[index]);
    }

    /// What it holds, whatever the order.
    [[nodiscard]] std::vector<std::string> content() const {
        std::vector<std::string> result;
        for (const Stack& stack : items) {
            result.push_back(std::to_string(stack.replication_id) + ": " +
                             std::to_string(stack.count) + " of " + std::to_string(stack.kind) +
                             ", " + stack.label);
        }
        std::sort(result.begin(), result.end());
        return result;
    }
};

inline void Stack::pre_replicated_remove(Inventory& inventory) {
    inventory.told.push_back("remove " + std::to_string(kind));
}
inline void Stack::post_replicated_add(Inventory& inventory) {
    inventory.told.push_back("add " + std::to_string(kind));
}
inline void Stack::post_replicated_change(Inventory& inventory) {
    inventory.told.push_back("change " + std::to_string(kind) + " to " + std::to_string(count));
}

struct Trader {
    std::uint32_t gold = 0;
    Inventory stock;
};

inline void register_inventory(TypeRegistry& registry) {
    REQUIRE(struct_builder<Stack>(registry, "Stack")
                .property<&Stack::kind>()
                .property<&Stack::count>()
                .property<&Stack::label>()
                .property<&Stack::owner>()
                .build());
    REQUIRE(register_fast_array<Inventory>(registry, "Inventory"));
}

[[nodiscard]] inline Result<const Type*> build_trader(TypeRegistry& registry) {
    register_inventory(registry);
    return class_builder<Trader>(registry, "Trader")
        .property<&Trader::gold>()
        .property<&Trader::stock>()
        .build();
}

}  // namespace replayout::test
