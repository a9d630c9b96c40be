// SPDX-License-Identifier: MIT
#include <replayout/changelist_state.h>
#include <replayout/delta_states.h>

namespace replayout {

DeltaStates::DeltaStates(MemoryResource* resource)
    : entries_(Allocator<std::pair<std::uint32_t, Entry>>(resource)),
      in_flight_(Allocator<InFlight>(resource)),
      blocks_(Allocator<std::uint32_t>(resource)) {}

DeltaBase DeltaStates::base(RepHandle handle) const noexcept {
    const auto entry = entries_.find(handle.value);
    return entry == entries_.end() ? DeltaBase() : entry->second.base;
}

void DeltaStates::remove_held(const ChangelistState& state, ChangeMask& owed) const {
    for (const auto& [handle, entry] : entries_) {
        const Version version = state.last_changed(RepHandle{handle});
        const bool is_unchanged =
            entry.unchanged.from == entry.base.version && entry.unchanged.to == version;
        if (entry.base.version == version || is_unchanged) {
            owed.clear(handle - 1);
        }
    }
}

void DeltaStates::add(std::span<const SentDelta> deltas, bool is_reliable) {
    for (const SentDelta& delta : deltas) {
        Entry& entry = entries_[delta.handle.value];
        REPLAYOUT_ASSERT(delta.from == entry.base.version && delta.to.version > delta.from);
        entry.base = delta.to;
        in_flight_.push_back({delta, is_reliable, false});
    }
}

void DeltaStates::block_sent(std::span<const SentDelta> deltas) {
    add(deltas, false);
    blocks_.push_back(static_cast<std::uint32_t>(deltas.size()));
}

void DeltaStates::resolve(std::size_t index, bool is_delivered, Vector<RepHandle>& missed) {
    const InFlight resolved = in_flight_[index];
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(index));
    const RepHandle handle = resolved.delta.handle;
    Entry& entry = entries_.at(handle.value);
    // As the receiver does.
    if (is_delivered && !resolved.is_void && resolved.delta.from == entry.held.version) {
        entry.held = resolved.delta.to;
    }
    entry.base = entry.held;
    for (const InFlight& later : in_flight_) {
        if (later.delta.handle == handle && !later.is_void &&
            later.delta.from == entry.base.version) {
            entry.base = later.delta.to;
        }
    }
    if (entry.base.version < resolved.delta.to.version) {
        missed.push_back(handle);
    }
}

void DeltaStates::block_resolved(bool is_delivered, Vector<RepHandle>& missed) {
    REPLAYOUT_ASSERT(!blocks_.empty());
    std::uint32_t left = blocks_.front();
    blocks_.erase(blocks_.begin());
    for (std::size_t i = 0; left > 0;) {
        REPLAYOUT_ASSERT(i < in_flight_.size());
        if (in_flight_[i].is_reliable) {
            ++i;
            continue;
        }
        resolve(i, is_delivered, missed);
        --left;
    }
}

void DeltaStates::value_delivered(RepHandle handle, Vector<RepHandle>& missed) {
    resolve_value(handle, true, missed);
}

void DeltaStates::value_taken_back(RepHandle handle, Vector<RepHandle>& missed) {
    resolve_value(handle, false, missed);
}

void DeltaStates::resolve_value(RepHandle handle, bool is_delivered, Vector<RepHandle>& missed) {
    for (std::size_t i = 0; i < in_flight_.size(); ++i) {
        if (in_flight_[i].is_reliable && in_flight_[i].delta.handle == handle) {
            resolve(i, is_delivered, missed);
            return;
        }
    }
}

void DeltaStates::note_unchanged(std::span<const UnchangedDelta> values) {
    for (const UnchangedDelta& value : values) {
        entries_[value.handle.value].unchanged = value;
    }
}

void DeltaStates::restart() noexcept {
    for (auto& [handle, entry] : entries_) {
        entry.base = entry.held;
    }
    for (InFlight& delta : in_flight_) {
        delta.is_void = delta.is_void || !delta.is_reliable;
    }
    // A value that travels reliably waits for the open with all others of its channel.
    for (const InFlight& delta : in_flight_) {
        Entry& entry = entries_[delta.delta.handle.value];
        if (!delta.is_void && delta.delta.from == entry.base.version) {
            entry.base = delta.delta.to;
        }
    }
}

void DeltaStates::forget() noexcept {
    for (auto& [handle, entry] : entries_) {
        entry = Entry();
    }
    restart();
}

}  // namespace replayout
