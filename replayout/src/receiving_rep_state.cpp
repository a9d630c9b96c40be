// SPDX-License-Identifier: MIT
#include <replayout/receiving_rep_state.h>

#include <algorithm>

namespace replayout {

bool ReceivingRepState::set_reference(const RepPath& path, Reference reference,
                                      std::uint32_t count_max, Vector<NetGUID>* dropped) {
    const auto found = references_.find(path);
    if (found != references_.end()) {
        if (dropped != nullptr && found->second.guid != reference.guid) {
            dropped->push_back(found->second.guid);
        }
        if (reference.guid.is_null()) {
            references_.erase(found);
        } else {
            found->second = reference;
        }
        return true;
    }
    if (reference.guid.is_null()) {
        return true;
    }
    if (references_.size() >= count_max) {
        return false;
    }
    references_.emplace(path, reference);
    return true;
}

void ReceivingRepState::truncate(const RepPath& path, std::uint32_t depth,
                                 Vector<NetGUID>* dropped) {
    if (references_.empty()) {
        return;
    }
    RepPath end = path;
    std::fill(end.handles.begin() + depth, end.handles.end(), 0xFFFF'FFFFu);
    const auto first = references_.lower_bound(path);
    const auto last = references_.upper_bound(end);
    if (dropped != nullptr) {
        std::for_each(first, last,
                      [&](const auto& entry) { dropped->push_back(entry.second.guid); });
    }
    references_.erase(first, last);
}

bool ReceivingRepState::names(NetGUID guid) const noexcept {
    return std::any_of(references_.begin(), references_.end(),
                       [&](const auto& entry) { return entry.second.guid == guid; });
}

NetGUID ReceivingRepState::find_reference(const RepPath& path) const noexcept {
    const auto found = references_.find(path);
    return found == references_.end() ? NetGUID{} : found->second.guid;
}

}  // namespace replayout
