// SPDX-License-Identifier: MIT
#include <replayout/paused_values.h>

namespace replayout {

bool PausedValues::contains(RepHandle handle) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.handles.contains(handle); });
}

bool PausedValues::is_any_as_old_as(Version version) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.since <= version; });
}

bool PausedValues::is_any_missing_of(Version version) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.held_version() < version; });
}

Version PausedValues::complete_with(Version complete, Version sent_version) const noexcept {
    for (const Entry& entry : entries_) {
        const VersionInterval missed = entry.missed(sent_version);
        complete = missed.is_empty() ? complete : std::min(complete, missed.after);
    }
    return complete;
}

void PausedValues::add_to(ChangeMask& handles) const noexcept {
    for (const Entry& entry : entries_) {
        handles.set_range(entry.handles.handle_begin - 1,
                          entry.handles.handle_end - entry.handles.handle_begin);
    }
}

void PausedValues::remove_paused(ChangeMask& owed) const noexcept {
    for (const Entry& entry : entries_) {
        for (std::uint32_t handle = entry.handles.handle_begin; handle < entry.handles.handle_end;
             ++handle) {
            owed.clear(handle - 1);
        }
    }
}

void PausedValues::note_lost(const RepLayout& layout, const RepRange& range,
                             VersionInterval lost) noexcept {
    for (Entry& entry : entries_) {
        const RepHandle handle{entry.handles.handle_begin};
        if (!range.contains(handle)) {
            continue;
        }
        entry.held = std::min(entry.held, lost.after);
        // An atomic group went out with all that was not certain to have arrived.
        const bool is_array_alone =
            is_array(layout.cmd(layout.cmd_of(layout.root(), handle)).type) &&
            layout.find_group(layout.root(), handle) == nullptr;
        if (is_array_alone || entry.is_waiting()) {
            entry.lost = hull(entry.lost, lost);
        }
    }
}

void PausedValues::fragment_delivered(RepHandle handle, bool is_taken_back) noexcept {
    const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& paused) {
        return paused.handles.handle_begin == handle.value;
    });
    if (entry != entries_.end()) {
        REPLAYOUT_ASSERT(entry->fragments_left > 0);
        --entry->fragments_left;
        entry->is_taken_back = entry->is_taken_back || is_taken_back;
    }
}

std::optional<PausedValues::Entry> PausedValues::take_delivered() {
    const auto oldest = std::find_if(entries_.begin(), entries_.end(),
                                     [](const Entry& entry) { return !entry.is_waiting(); });
    if (oldest == entries_.end() || oldest->fragments_left > 0) {
        return std::nullopt;
    }
    const Entry taken = *oldest;
    entries_.erase(oldest);
    return taken;
}

std::optional<PausedValues::Entry> PausedValues::take_waiting() {
    const auto first = std::find_if(entries_.begin(), entries_.end(),
                                    [](const Entry& entry) { return entry.is_waiting(); });
    if (first == entries_.end()) {
        return std::nullopt;
    }
    const Entry taken = *first;
    entries_.erase(first);
    return taken;
}

}  // namespace replayout
