// SPDX-License-Identifier: MIT
//
// An ordered map that keeps the nodes of entries that went for entries that come, so one whose
// entries come and go steadily takes no memory. To insert or erase moves no other entry: a peer may
// decide how many there are, and where in their order something changes. It keeps eight nodes more
// than it has entries, at most: what many entries took goes back.
#pragma once

#include <replayout/reflection/memory.h>

#include <map>
#include <type_traits>
#include <utility>

namespace replayout {

/// `Value` is made of a MemoryResource*, or of nothing.
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

    /// The value of that key, which is made if it is not there. O(log size).
    [[nodiscard]] Value& operator[](const Key& key) {
        const iterator place = entries_.lower_bound(key);
        if (place != entries_.end() && !(key < place->first)) {
            return place->second;
        }
        if (spare_.empty()) {
            return entries_.emplace_hint(place, key, make_value())->second;
        }
        Node& node = spare_.back().node;
        node.key() = key;
        Value& value = entries_.insert(place, std::move(node))->second;
        spare_.pop_back();
        return value;
    }

    /// Returns the entry after it.
    iterator erase(iterator entry) {
        if (spare_.size() >= entries_.size() + spare_min) {
            return entries_.erase(entry);
        }
        const iterator next = std::next(entry);
        spare_.push_back(Spare{entries_.extract(entry)});
        spare_.back().node.mapped() = make_value();  // what it held goes back
        return next;
    }

  private:
    static constexpr std::size_t spare_min = 8;

    using Node = typename Entries::node_type;
    /// A vector would give its own allocator to a node.
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
