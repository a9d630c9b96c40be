// SPDX-License-Identifier: MIT
//
// Which handles of one object a receiver at one position is owed: a question, with state and
// position on loan while it is asked. A handle is owed when its last change, or that of an element
// leaf, is; or when it is in an atomic group with one that is, and the receiver may not hold it.
// Nobody asks for conditions here.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/changelist_state.h>
#include <replayout/owed_versions.h>

#include <cstdint>

namespace replayout {

class OwedHandles {
  public:
    OwedHandles(const ChangelistState& state, const OwedVersions& position) noexcept
        : state_(state), position_(position) {}

    [[nodiscard]] bool contains(RepHandle handle) const noexcept {
        if (contains_alone(handle)) {
            return true;
        }
        const RepLayout& layout = state_.layout();
        const RepGroup* group = layout.find_group(layout.root(), handle);
        if (group == nullptr || state_.last_changed(handle) <= position_.held_version) {
            return false;
        }
        for (std::uint32_t other = group->handle_begin; other < group->handle_end; ++other) {
            if (contains_alone(RepHandle{other})) {
                return true;
            }
        }
        return false;
    }

    /// Makes `owed` the set of them (bit i: handle i + 1).
    [[gnu::always_inline]] void collect(ChangeMask& owed) const {
        const ChangelistHistory& history = state_.history();
        owed.reset(state_.layout().handle_count());
        history.collect(position_.sent_version, position_.lost, owed);
        const bool is_exact_history =
            position_.lost.is_empty() && position_.sent_version >= history.exact_from();
        // Else every entry collected holds only what changed after sent_version.
        if (!is_exact_history || position_.is_exact) {
            for (std::uint32_t bit = owed.next(0); bit < owed.bit_count();
                 bit = owed.next(bit + 1)) {
                if (!contains_alone(RepHandle{bit + 1})) {
                    owed.clear(bit);
                }
            }
        }
        complete_groups(owed);
    }

  private:
    /// contains(), with no look at atomic groups.
    [[nodiscard]] [[gnu::always_inline]] bool contains_alone(RepHandle handle) const noexcept {
        const Version last_changed = state_.last_changed(handle);
        if (last_changed > position_.sent_version) {
            return !position_.is_exact ||
                   !state_.previous().is_back(handle, position_.sent_version);
        }
        const OwedAt anywhere = position_.at(handle);
        return !anywhere.lost.is_empty() && is_lost(state_, position_, handle, anywhere);
    }
    /// Whether something of the value was lost, if what is owed `anywhere` in it is that.
    [[nodiscard]] static bool is_lost(const ChangelistState& state, const OwedVersions& position,
                                      RepHandle handle, const OwedAt& anywhere) noexcept;
    /// Adds to each atomic group of which something is owed what the receiver may not hold of it.
    void complete_groups(ChangeMask& owed) const noexcept {
        const RepLayout& layout = state_.layout();
        for (const RepGroup& group : layout.groups(layout.root())) {
            const std::uint32_t end = group.handle_end - 1u;
            if (owed.next(group.handle_begin - 1u) >= end) {
                continue;
            }
            for (std::uint32_t bit = group.handle_begin - 1u; bit < end; ++bit) {
                if (state_.last_changed()[bit] > position_.held_version) {
                    owed.set(bit);
                }
            }
        }
    }

    const ChangelistState& state_;
    const OwedVersions& position_;
};

}  // namespace replayout
