// SPDX-License-Identifier: MIT
//
// Updates that are written, and whose notifies run later (ReceiveContext::waits_to_notify). Part of
// ReceiveScratch.
#pragma once

#include <replayout/old_values.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <cstddef>

namespace replayout::detail {

class WaitingUpdates {
  public:
    /// Old values lie in `values`, which must outlive this; lists in `resource`.
    WaitingUpdates(std::pmr::memory_resource& values, MemoryResource* resource)
        : memory_(values),
          values_(Allocator<OldValue>(resource)),
          updates_(Allocator<Update>(resource)) {}
    ~WaitingUpdates() { drop(); }
    WaitingUpdates(const WaitingUpdates&) = delete;
    WaitingUpdates& operator=(const WaitingUpdates&) = delete;

    /// Takes the values of an update that ended.
    void add(const RepLayout& layout, OldValues& values) {
        const bool has_parts = values.has_earlier();
        const std::size_t begin = values_.size();
        values.move_to(values_);
        updates_.push_back({&layout, begin, values_.size(), has_parts});
    }

    struct Update {
        const RepLayout* layout;
        std::size_t value_begin;
        std::size_t value_end;
        bool has_parts;
    };
    [[nodiscard]] std::size_t count() const noexcept { return updates_.size(); }
    [[nodiscard]] const Update& update(std::size_t number) const noexcept {
        return updates_[number];
    }
    /// Values of the updates, by place.
    [[nodiscard]] const OldValue& value(std::size_t number) const noexcept {
        return values_[number];
    }

    /// Forgets the updates.
    void drop() noexcept {
        for (const OldValue& value : values_) {
            release(memory_, value);
        }
        values_.clear();
        updates_.clear();
    }

  private:
    std::pmr::memory_resource& memory_;
    Vector<OldValue> values_;
    Vector<Update> updates_;
};

}  // namespace replayout::detail
