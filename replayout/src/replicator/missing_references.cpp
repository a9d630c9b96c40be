// SPDX-License-Identifier: MIT
#include <replayout/missing_references.h>

namespace replayout::detail {

namespace {

[[nodiscard]] bool is_array_at(const RepLayout& layout, RepHandle handle) noexcept {
    return is_array(layout.cmd(layout.cmd_of(layout.root(), handle)).type);
}

}  // namespace

void MissingReferences::note_sent(const RepLayout& layout, const ChangeMask& owed,
                                  const RepRange& handles,
                                  std::span<const UnmappedValue> unmapped) {
    const auto is_outdated = [&](const Entry& entry) {
        const RepHandle handle = entry.value.handle;
        return handles.contains(handle) && owed.test(handle.value - 1) &&
               !is_array_at(layout, handle);
    };
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_outdated), waiting_.end());
    for (const UnmappedValue& value : unmapped) {
        const bool is_known =
            std::any_of(waiting_.begin(), waiting_.end(), [&](const Entry& entry) {
                return entry.value.handle == value.handle && entry.value.guid == value.guid;
            });
        if (!is_known) {
            waiting_.push_back({value, false});
        }
    }
}

void MissingReferences::note_removed(NetGUID guid) {
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                  [&](const Entry& entry) { return entry.value.guid == guid; }),
                   waiting_.end());
}

}  // namespace replayout::detail
