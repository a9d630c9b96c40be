// SPDX-License-Identifier: MIT
//
// Values of one connection that were sent as "not fully mapped": their net_serialize asked for an
// object that the client did not have. Each is owed again when it has.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace replayout {

class UnmappedValues {
  public:
    struct Entry {
        NetGUID guid;         ///< that it waits for
        std::uint32_t index;  ///< of the object that it belongs to
        RepHandle handle;

        friend bool operator==(const Entry&, const Entry&) noexcept = default;
    };

    explicit UnmappedValues(MemoryResource* resource) : entries_(Allocator<Entry>(resource)) {}

    /// No effect when it is there already: an array reports each of its elements.
    void add(const Entry& entry) {
        if (std::find(entries_.begin(), entries_.end(), entry) == entries_.end()) {
            entries_.push_back(entry);
        }
    }

    /// Takes out one entry for which `is_meant` holds, if there is any.
    template <typename Predicate>
    [[nodiscard]] std::optional<Entry> take(Predicate is_meant) {
        const auto found = std::find_if(entries_.begin(), entries_.end(), is_meant);
        if (found == entries_.end()) {
            return std::nullopt;
        }
        const Entry entry = *found;
        entries_.erase(found);
        return entry;
    }

    /// Whether any value of one object waits.
    [[nodiscard]] bool is_waiting(std::uint32_t index) const noexcept {
        return std::any_of(entries_.begin(), entries_.end(),
                           [&](const Entry& entry) { return entry.index == index; });
    }

    /// Sets the handles of the values of one object that wait. Whether there are any.
    bool mark(std::uint32_t index, ChangeMask& handles) const noexcept {
        bool is_any = false;
        for (const Entry& entry : entries_) {
            if (entry.index == index) {
                handles.set(entry.handle.value - 1);
                is_any = true;
            }
        }
        return is_any;
    }

  private:
    Vector<Entry> entries_;  // few, and mostly none
};

}  // namespace replayout
