// SPDX-License-Identifier: MIT
//
// Values of one connection that were sent as "not fully mapped": their net_serialize asked for an
// object that the client did not have. Each is owed again when it has.
//
// An entry is in two lists: of the object that it belongs to, which is asked for with each block of
// that, and of the id that it waits for. Lists begin in a table by hash, so that a value that waits
// in each tick takes no memory, and share their head there with others.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include <cstdint>

#include "object_index.h"

namespace replayout {

class UnmappedValues {
  public:
    struct Entry {
        NetGUID guid;         ///< that it waits for
        ObjectIndex index{};  ///< of the object that it belongs to
        RepHandle handle;

        friend bool operator==(const Entry&, const Entry&) noexcept = default;
    };

    explicit UnmappedValues(MemoryResource* resource)
        : nodes_(Allocator<Node>(resource)),
          by_object_(Allocator<std::uint32_t>(resource)),
          by_guid_(Allocator<std::uint32_t>(resource)) {}

    /// No effect when it is there already: an array reports each of its elements. O(entries of the
    /// object).
    void add(const Entry& entry);

    /// Takes out the entries of an object for which `is_meant` holds, and calls `taken` for each.
    /// It may not add any. O(entries of the object).
    template <typename Predicate, typename Taken>
    void take_of(ObjectIndex index, Predicate is_meant, Taken taken) {
        take(by_object_, hash(value_of(index)), &Node::of_object, taken,
             [&](const Entry& entry) { return entry.index == index && is_meant(entry); });
    }
    /// The same of those that wait for an id.
    template <typename Predicate, typename Taken>
    void take_waiting_for(NetGUID guid, Predicate is_meant, Taken taken) {
        take(by_guid_, hash(guid.value), &Node::of_guid, taken,
             [&](const Entry& entry) { return entry.guid == guid && is_meant(entry); });
    }

    [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
    /// Whether any value of one object waits.
    [[nodiscard]] bool is_waiting(ObjectIndex index) const noexcept;
    /// Sets the handles of the values of one object that wait. Whether there are any.
    bool mark(ObjectIndex index, ChangeMask& handles) const noexcept;

  private:
    static constexpr std::uint32_t none = 0xFFFF'FFFF;

    struct Links {
        std::uint32_t next = none;
        std::uint32_t previous = none;
    };
    struct Node {
        Entry entry;
        Links of_object;  // of a free one: next is the next that is free
        Links of_guid;
    };
    using Heads = Vector<std::uint32_t>;

    [[nodiscard]] static std::size_t hash(std::uint64_t key) noexcept {
        return static_cast<std::size_t>((key * std::uint64_t{0x9E37'79B9'7F4A'7C15}) >> 32);
    }
    [[nodiscard]] static std::uint32_t first(const Heads& heads, std::size_t hash) noexcept {
        return heads.empty() ? none : heads[hash & (heads.size() - 1)];
    }
    template <typename Taken, typename Predicate>
    void take(const Heads& heads, std::size_t hash, Links Node::*links, Taken taken,
              Predicate is_meant) {
        for (std::uint32_t at = first(heads, hash); at != none;) {
            const Entry entry = nodes_[at].entry;
            const std::uint32_t next = (nodes_[at].*links).next;
            if (is_meant(entry)) {
                release(at);
                taken(entry);
            }
            at = next;
        }
    }
    [[nodiscard]] std::uint32_t take_slot();
    void release(std::uint32_t at) noexcept;
    void link(std::uint32_t at, Heads& heads, std::size_t hash, Links Node::*links) noexcept;
    void unlink(std::uint32_t at, Heads& heads, std::size_t hash, Links Node::*links) noexcept;
    /// Twice as many heads, for all that there are.
    void grow_heads();

    Vector<Node> nodes_;
    std::uint32_t count_ = 0;
    std::uint32_t first_free_ = none;
    Heads by_object_;  // a power of two of them, and as many as there are by_guid_
    Heads by_guid_;
};

}  // namespace replayout
