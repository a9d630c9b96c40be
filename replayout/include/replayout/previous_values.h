// SPDX-License-Identifier: MIT
//
// What the properties of one object were before: of each the two values before the present one, and
// the versions at which they began. Kept once, with the object, for all receivers. With it the
// value at a version is known without a copy for each receiver:
//
//     versions   1   2   3   4   5   6   7
//     health     A.......B...............A         present: A since 7, before B since 3, A since 1
//
//     A receiver that holds the values of version 2 owes nothing of health. One that holds those of
//     version 4 does.
//
// Only leaves of the object itself are kept, no dynamic arrays: an array that is back at what it
// was counts as changed.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/rep_layout.h>
#include <replayout/sending_rep_state.h>
#include <replayout/shadow_state.h>

#include <array>
#include <memory>
#include <optional>

namespace replayout {

class PreviousValues {
  public:
    /// Takes no memory before the first change. Layout and resource must outlive it.
    PreviousValues(const RepLayout& layout, MemoryResource* resource);

    /// A change follows soon.
    void prefetch() const noexcept;
    /// The leaf at `cmd`, one of the object itself, is about to change from what `leaf` holds and
    /// has been since version `last_changed`.
    void keep(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, Version last_changed);
    /// It was changed to what `leaf` holds now.
    void finish_change(const RepLayoutCmd& cmd, ConstShadowBuffer leaf);
    /// keep() was called since finished() was: a change is to be finished.
    [[nodiscard]] bool is_unfinished() const noexcept { return is_unfinished_; }
    void finished() noexcept { is_unfinished_ = false; }

    /// The same of a row of plain leaves, handles `begin` to `end` - 1, that lie side by side in
    /// the shadow, and all of which change: from what `row` holds to what `object` does.
    void change_row(RepHandle begin, RepHandle end, ConstShadowBuffer row, const std::byte* object,
                    const Version* last_changed);

    /// Whether a leaf that changed since is again what it was at `version`, as far as is known.
    [[nodiscard]] bool is_back(RepHandle handle, Version version) const noexcept {
        const std::uint32_t bit = handle.value - 1;
        return returned_.bit_count() != 0 && returned_.test(bit) && version >= starts_[bit][1] &&
               version < starts_[bit][0];
    }
    /// Whether any leaf is.
    [[nodiscard]] bool is_any_back(Version version) const noexcept;

    /// The value at a version before the last change, in shadow form; null when it is not known.
    [[nodiscard]] ConstShadowBuffer value_at(const RepLayoutCmd& cmd,
                                             Version version) const noexcept;

  private:
    static constexpr Version unknown = 0xFFFF'FFFFu;

    void allocate();

    const RepLayout* layout_;
    MemoryResource* resource_;
    /// The value before, and the one before that.
    std::array<std::optional<ShadowState>, 2> values_;
    Vector<std::array<Version, 2>> starts_;  // by handle, of these values
    ChangeMask returned_;                    // leaves that are again what they were two values ago
    bool is_unfinished_ = false;
};

}  // namespace replayout
