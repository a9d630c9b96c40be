// SPDX-License-Identifier: MIT
#include <replayout/left_out_values.h>

#include <algorithm>

namespace replayout {

namespace {

/// What cannot be told apart from that handle: itself, or its atomic group.
[[nodiscard]] RepRange unit_of(const RepLayout& layout, RepHandle handle) noexcept {
    const RepGroup* group = layout.find_group(layout.root(), handle);
    return group == nullptr ? RepRange::of(handle)
                            : RepRange{group->handle_begin, group->handle_end};
}

}  // namespace

void LeftOutValues::note(const RepLayout& layout, std::span<const RepHandle> left_out,
                         const OwedVersions& position, Version version) {
    const VersionInterval owed = hull(position.lost, {position.sent_version, version});
    REPLAYOUT_ASSERT(left_out.empty() || !owed.is_empty());
    for (const RepHandle handle : left_out) {
        const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), handle));
        if (is_delta(cmd.type)) {
            continue;
        }
        const RepRange handles = unit_of(layout, handle);
        const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
            return entry.handles == handles;
        });
        if (known != entries_.end()) {
            known->versions = hull(known->versions, owed);
        } else {
            entries_.push_back({handles, owed});
        }
    }
}

bool LeftOutValues::is_any_seen(const ObjectConditions& conditions,
                                LifetimeConditionSet passing) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        const RepHandle first{entry.handles.handle_begin};  // all are of one property
        return conditions.passes(conditions.parent_of(first), passing);
    });
}

std::optional<LeftOutValues::Entry> LeftOutValues::take(const ChangeMask& owed) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return owed.next(entry.handles.handle_begin - 1) + 1 < entry.handles.handle_end;
    });
    if (found == entries_.end()) {
        return std::nullopt;
    }
    const Entry entry = *found;
    entries_.erase(found);
    return entry;
}

}  // namespace replayout
