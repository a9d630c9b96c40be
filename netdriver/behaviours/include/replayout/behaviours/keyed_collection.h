// SPDX-License-Identifier: MIT
//
// What SyncDictionary and SyncSet have in common: items in ascending order of their keys, none
// twice. What a server sends is held to that, before any of it is done.
#pragma once

#include <replayout/behaviours/logged_collection.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace replayout {

/// `Operation` has, besides, is_known(), is_adding(), key_of(), and key_of(item) of its class.
template <typename Item, typename Operation>
class KeyedCollection : public LoggedCollection<Item, Operation> {
  public:
    static constexpr bool has_invalid_items = true;

  protected:
    using Key = std::remove_cvref_t<decltype(Operation::key_of(std::declval<const Item&>()))>;

    /// Where it is, or would be.
    [[nodiscard]] std::size_t index_of(const Key& key) const {
        const auto found = std::lower_bound(
            this->begin(), this->end(), key,
            [](const Item& item, const Key& wanted) { return Operation::key_of(item) < wanted; });
        return static_cast<std::size_t>(found - this->begin());
    }
    [[nodiscard]] bool is_at(std::size_t index, const Key& key) const {
        return index < this->size() && Operation::key_of(this->items()[index]) == key;
    }
    [[nodiscard]] auto iterator_to(std::size_t index) const {
        return this->begin() + static_cast<std::ptrdiff_t>(index);
    }
    /// False for NaN, which stands nowhere in an order: each add would make another entry of it.
    [[nodiscard]] static bool is_like_itself(const Key& key) {
        const Key& same = key;
        return key == same;
    }

  private:
    [[nodiscard]] bool are_valid(const std::vector<Item>& items) const override {
        const auto is_behind = [](const Item& left, const Item& right) {
            return !(Operation::key_of(left) < Operation::key_of(right));
        };
        const auto has_key = [](const Item& item) {
            return is_like_itself(Operation::key_of(item));
        };
        return LoggedCollection<Item, Operation>::are_valid(items) &&
               std::all_of(items.begin(), items.end(), has_key) &&
               std::adjacent_find(items.begin(), items.end(), is_behind) == items.end();
    }
    [[nodiscard]] bool may_apply(std::span<const Operation> operations) const override {
        const auto is_known = [](const Operation& next) {
            return next.is_known() && is_like_itself(next.key_of());
        };
        // Mostly there is room even if each of them is of another key.
        return std::all_of(operations.begin(), operations.end(), is_known) &&
               (this->has_room(this->size() + operations.size()) || fits(operations));
    }
    [[nodiscard]] bool fits(std::span<const Operation> operations) const {
        std::vector<Key> keys;
        for (const Item& item : this->items()) {
            keys.push_back(Operation::key_of(item));
        }
        for (const Operation& next : operations) {
            const auto at = std::lower_bound(keys.begin(), keys.end(), next.key_of());
            const bool is_there = at != keys.end() && *at == next.key_of();
            if (next.is_clear()) {
                keys.clear();
            } else if (next.is_adding() && !is_there) {
                if (!this->has_room(keys.size())) {
                    return false;
                }
                keys.insert(at, next.key_of());
            } else if (!next.is_adding() && is_there) {
                keys.erase(at);
            }
        }
        return true;
    }
};

}  // namespace replayout
