// SPDX-License-Identifier: MIT
//
// Values of one object that one receiver was sent as "not fully mapped", because it lacks objects
// that they name. They are owed again once it has these. Part of ObjectReplicator.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>
#include <replayout/send_properties.h>

#include <algorithm>
#include <span>

namespace replayout::detail {

/// One entry for each value and object that it waits for. Takes memory when the first one waits.
class MissingReferences {
  public:
    explicit MissingReferences(MemoryResource* resource) : waiting_(Allocator<Entry>(resource)) {}

    /// The values of `owed` within `handles` were sent. From now on they wait for the objects in
    /// `unmapped` and no others. An array also goes on waiting for earlier objects, because not all
    /// of it was sent.
    void note_sent(const RepLayout& layout, const ChangeMask& owed, const RepRange& handles,
                   std::span<const UnmappedValue> unmapped);

    /// The receiver has the object now. Calls `owe(handle)` for each value that waited for it; a
    /// value for which `is_paused(handle)` waits on, until note_resumed().
    template <typename IsPaused, typename Owe>
    void note_mapped(NetGUID guid, IsPaused is_paused, Owe owe) {
        for (Entry& entry : waiting_) {
            entry.is_mapped = entry.is_mapped || entry.value.guid == guid;
        }
        take(
            [&](const Entry& entry) {
                return entry.value.guid == guid && !is_paused(entry.value.handle);
            },
            owe);
    }
    /// Values within `handles` are no longer paused. Calls `owe(handle)` for each of which an
    /// object came meanwhile.
    template <typename Owe>
    void note_resumed(const RepRange& handles, Owe owe) {
        take(
            [&](const Entry& entry) {
                return entry.is_mapped && handles.contains(entry.value.handle);
            },
            owe);
    }
    /// The receiver never has the object: nothing waits for it any longer.
    void note_removed(NetGUID guid);

  private:
    struct Entry {
        UnmappedValue value;
        bool is_mapped = false;  ///< and owed again as soon as it is no longer paused
    };

    template <typename IsReady, typename Owe>
    void take(IsReady is_ready, Owe owe) {
        for (const Entry& entry : waiting_) {
            if (is_ready(entry)) {
                owe(entry.value.handle);
            }
        }
        waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_ready), waiting_.end());
    }

    Vector<Entry> waiting_;
};

}  // namespace replayout::detail
