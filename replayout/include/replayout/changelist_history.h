// SPDX-License-Identifier: MIT
//
// Which handles changed at which version: a ring of at most 64 entries per object, shared by all
// connections. When it is full the oldest entry folds into the next, so that the first entry always
// means "everything that ever changed up to here", and a receiver that joins late or lags far
// behind needs no path of its own. (The length is Unreal's.)
//
//     entry      0          1      2      3
//     version    17         18     19     20
//     handles    {1,2,5,9}  {2}    {2,7}  {9}
//                ^ folded: all changes of versions 1 to 17
//
// What it answers is a superset of what is owed: a handle may have changed again since. The exact
// answer takes the last change of each candidate (ChangelistState::collect_owed).
#pragma once

#include <replayout/change_mask.h>
#include <replayout/handle.h>
#include <replayout/prefetch.h>
#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include <cstdint>

namespace replayout {

class ChangelistHistory {
  public:
    static constexpr std::uint32_t count_max = 64;

    ChangelistHistory(std::uint32_t handle_count, MemoryResource* resource);

    /// `version` is greater than any before; `changed` is over this object's handles.
    void add(Version version, const ChangeMask& changed);
    /// The same of an object with at most 64 handles, as one word.
    void add(Version version, std::uint64_t changed) {
        REPLAYOUT_ASSERT(entry_words_ == 2 || entry_words_ == 3);
        newest_ = changed;
        std::uint32_t* const added = add_entry(version);
        added[1] = static_cast<std::uint32_t>(changed);
        if (entry_words_ == 3) {
            added[2] = static_cast<std::uint32_t>(changed >> word_bits);
        }
    }

    /// An entry is added soon.
    [[gnu::always_inline]] void prefetch() const noexcept {
        // Where it is full, the next slot is that of the oldest.
        replayout::prefetch(entry(count_), entry_words_ * sizeof(std::uint32_t));
    }

    /// Adds to `candidates` every handle that may be owed to a receiver that was sent everything up
    /// to `sent_version` and lost `lost`. Returns how many entries it looked at (for tests): from
    /// the newest back to the first that is newer neither than `sent_version` nor than
    /// `lost.after`.
    std::uint32_t collect(Version sent_version, VersionInterval lost,
                          ChangeMask& candidates) const noexcept;

    /// Adds what changed in the newest version. Requires one.
    void collect_newest(ChangeMask& candidates) const noexcept;
    /// The same of an object with at most 64 handles, as one word.
    [[nodiscard]] std::uint64_t newest() const noexcept {
        REPLAYOUT_ASSERT(count_ > 0 && entry_words_ <= 1 + 64 / word_bits);
        return newest_;
    }

    /// Whether some handle changed in that version that is not in `whole`, or in no version after
    /// it. True where that is forgotten, or the version is older than the last few.
    /// Requires at most 64 handles. O(1).
    [[nodiscard]] bool is_any_last_changed_at(Version version, std::uint64_t whole) const noexcept;

    /// From this version on entries are what changed in one version; the oldest one may stand for
    /// many.
    [[nodiscard]] Version exact_from() const noexcept { return count_ == 0 ? 0 : *entry(0); }

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    /// Version of entry `index`, 0 being the oldest.
    [[nodiscard]] Version version_at(std::uint32_t index) const noexcept;
    [[nodiscard]] bool test(std::uint32_t index, RepHandle handle) const noexcept;

  private:
    /// Handles of one word.
    static constexpr std::uint32_t word_bits = 32;

    /// Entry `index`: its version, and behind it its handles. The ring turns only when it is as
    /// large as it gets.
    [[nodiscard]] const std::uint32_t* entry(std::uint32_t index) const noexcept {
        return entries_.data() + std::size_t{(start_ + index) % count_max} * entry_words_;
    }
    /// The slot of an entry of that version, to be filled.
    [[nodiscard]] std::uint32_t* add_entry(Version version) {
        REPLAYOUT_ASSERT(count_ == 0 || version > version_at(count_ - 1));
        std::uint32_t* added = nullptr;
        if (count_ == count_max) {
            added = fold_oldest();
        } else {
            if (count_ == capacity_) {
                grow();
            }
            REPLAYOUT_ASSERT(start_ == 0);
            added = entries_.data() + std::size_t{count_} * entry_words_;
            ++count_;
        }
        added[0] = version;
        return added;
    }
    void add_handles(const std::uint32_t* entry, ChangeMask& candidates) const noexcept;
    void grow();
    /// Of a full ring. Returns the slot of the oldest, which is that of the newest then.
    [[nodiscard]] std::uint32_t* fold_oldest() noexcept {
        std::uint32_t* const oldest = entries_.data() + std::size_t{start_} * entry_words_;
        start_ = static_cast<std::uint8_t>((start_ + 1) % count_max);
        std::uint32_t* const next = entries_.data() + std::size_t{start_} * entry_words_;
        if (entry_words_ == 2) {
            next[1] |= oldest[1];  // most classes
            return oldest;
        }
        for (std::uint32_t i = 1; i < entry_words_; ++i) {
            next[i] |= oldest[i];
        }
        return oldest;
    }

    Vector<std::uint32_t> entries_;  // a ring of entries, one behind the other
    // The first 64 handles of the newest once more: asked for when the entry is far away again.
    std::uint64_t newest_ = 0;
    std::uint32_t entry_words_;
    std::uint8_t capacity_ = 0;  // of entries: a power of two
    std::uint8_t start_ = 0;
    std::uint8_t count_ = 0;
};

}  // namespace replayout
