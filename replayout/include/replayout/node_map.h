// SPDX-License-Identifier: MIT
//
// An ordered map that reuses nodes: it keeps the nodes of erased entries for new ones, so a map
// whose entries come and go steadily takes no memory. An insertion moves no other entry, nor does
// an erasure, so a peer may decide how many entries there are and which of them change. The map
// keeps a quarter as many nodes as it has entries, and eight, and gives the others back.
#pragma once

#include <replayout/reflection/memory.h>

#include <map>
#include <memory>
#include <type_traits>
#include <utility>

namespace replayout {

/// `Value` can be constructed from a MemoryResource*, or by default.
template <typename Key, typename Value>
class NodeMap {
  public:
    using Entries = std::pmr::map<Key, Value>;
    using iterator = typename Entries::iterator;
    using const_iterator = typename Entries::const_iterator;

    explicit NodeMap(MemoryResource* resource)
        : entries_(resource), spare_(Allocator<Spare>(resource)) {}

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] iterator begin() noexcept { return entries_.begin(); }
    [[nodiscard]] iterator end() noexcept { return entries_.end(); }
    [[nodiscard]] const_iterator begin() const noexcept { return entries_.begin(); }
    [[nodiscard]] const_iterator end() const noexcept { return entries_.end(); }
    [[nodiscard]] iterator find(const Key& key) { return entries_.find(key); }
    [[nodiscard]] const_iterator find(const Key& key) const { return entries_.find(key); }
    [[nodiscard]] iterator lower_bound(const Key& key) { return entries_.lower_bound(key); }
    [[nodiscard]] iterator upper_bound(const Key& key) { return entries_.upper_bound(key); }

    /// The value of that key. Makes the entry if it is missing. O(log size).
    [[nodiscard]] Value& operator[](const Key& key) {
        const iterator position = entries_.lower_bound(key);
        if (position != entries_.end() && !(key < position->first)) {
            return position->second;
        }
        if (spare_.empty()) {
            return entries_.emplace_hint(position, key, make_value())->second;
        }
        Node& node = spare_.back().node;
        node.key() = key;
        Value& value = entries_.insert(position, std::move(node))->second;
        spare_.pop_back();
        return value;
    }

    /// Erases the entry and returns the next one. O(1), amortised.
    iterator erase(iterator entry) {
        const std::size_t most = (entries_.size() - 1) / 4 + spare_min;
        if (spare_.size() >= most) {
            give_back(most);
            return entries_.erase(entry);
        }
        const iterator next = std::next(entry);
        spare_.push_back(Spare{entries_.extract(entry)});
        Value& value = spare_.back().node.mapped();
        std::destroy_at(&value);  // frees what it held, which an assignment may keep
        std::construct_at(&value, make_value());
        return next;
    }

  private:
    static constexpr std::size_t spare_min = 8;

    void give_back(std::size_t most) {
        while (spare_.size() > most) {
            spare_.pop_back();
        }
        if (spare_.capacity() > 4 * most) {
            spare_.shrink_to_fit();
        }
    }

    using Node = typename Entries::node_type;
    /// Wraps the node, to which a vector would hand its own allocator.
    struct Spare {
        Node node;
    };

    [[nodiscard]] Value make_value() const {
        if constexpr (std::is_constructible_v<Value, MemoryResource*>) {
            return Value(entries_.get_allocator().resource());
        } else {
            return Value();
        }
    }

    Entries entries_;
    Vector<Spare> spare_;
};

}  // namespace replayout
