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

#include <replayout/prefetch.h>
#include <replayout/rep_layout.h>
#include <replayout/sending_rep_state.h>
#include <replayout/shadow_state.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

namespace detail {
struct WordArrays;
}

class PreviousValues {
  public:
    /// Takes no memory before the first change. Layout and resource must outlive it.
    PreviousValues(const RepLayout& layout, MemoryResource* resource) noexcept;
    ~PreviousValues();
    PreviousValues(const PreviousValues&) = delete;
    PreviousValues& operator=(const PreviousValues&) = delete;

    /// A change follows soon.
    [[gnu::always_inline]] void prefetch() const noexcept {
        if (memory_ != nullptr) {
            // But for some of the last bits, where there are many.
            replayout::prefetch(memory_,
                                2 * (value_bytes_ + sizeof(Version) * (handle_count_ + 1u)));
        }
    }
    /// The leaf at `cmd`, one of the object itself, is about to change from what `leaf` holds and
    /// has been since version `last_changed`.
    void keep(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, Version last_changed);
    /// It was changed to what `leaf` holds now.
    void finish_change(const RepLayoutCmd& cmd, ConstShadowBuffer leaf);
    /// keep() was called since finished() was: a change is to be finished.
    [[nodiscard]] bool is_unfinished() const noexcept { return is_unfinished_; }
    void finished() noexcept { is_unfinished_ = false; }

    /// keep() and the change of a run of plain leaves, handles `begin` to `end` - 1, that lie side
    /// by side in the shadow: each becomes in `shadow` what it is in `object`, since `version`, in
    /// `last_changed` too. All of them differ.
    void change_run(RepHandle begin, RepHandle end, std::byte* shadow, const std::byte* object,
                    Version* last_changed, Version version);
    /// The same of `count` leaves of four bytes each, at most 64, from `offset` on in the shadow,
    /// of which those that differ change. Returns which: bit i is handle `begin` + i.
    [[nodiscard]] std::uint64_t change_words(RepHandle begin, std::uint32_t count,
                                             ShadowOffset offset, std::byte* shadow,
                                             const std::byte* object, Version* last_changed,
                                             Version version);
    /// Stands where no such value is known yet.
    static constexpr Version unknown_version = 0xFFFF'FFFFu;

    /// Whether a leaf that changed since is again what it was at `version`, as far as is known.
    [[nodiscard]] bool is_back(RepHandle handle, Version version) const noexcept {
        const std::uint32_t bit = handle.value - 1;
        return memory_ != nullptr && (returned()[bit >> 6] >> (bit & 63) & 1) != 0 &&
               version >= starts(1)[bit] && version < starts(0)[bit];
    }
    /// Whether any leaf is.
    [[nodiscard]] bool is_any_back(Version version) const noexcept;

    /// The value at a version before the last change, in shadow form; null when it is not known.
    [[nodiscard]] ConstShadowBuffer value_at(const RepLayoutCmd& cmd,
                                             Version version) const noexcept;

  private:
    friend class ChangelistState;  // these two lie where it is compiled

    /// change_words() where it is known that some differ.
    [[nodiscard]] inline std::uint64_t change_differing_words(
        RepHandle begin, std::uint32_t count, ShadowOffset offset, std::byte* shadow,
        const std::byte* object, Version* last_changed, Version version);
    /// The same of four to eight leaves of an object with at most 64 handles, if all of them differ
    /// and something changed before. False: it is not so, and nothing was done.
    [[nodiscard]] inline bool change_few_words(RepHandle begin, std::uint32_t count,
                                               ShadowOffset offset, std::byte* shadow,
                                               const std::byte* object, Version* last_changed,
                                               Version version) noexcept;

    // One piece of memory, as an object that changes needs all of it:
    //
    //     [ values 0 ][ values 1 ][ starts 0 ][ starts 1 ][ returned ]
    //
    // The values before the present ones, and those before them, as they lie in the shadow; by
    // handle, the versions at which they began; a bit for each leaf that is again what it was two
    // values ago.

    [[nodiscard]] ShadowBuffer values(std::size_t age) const noexcept {
        return ShadowBuffer(memory_ + age * value_bytes_);
    }
    [[nodiscard]] Version* starts(std::size_t age) const noexcept {
        return reinterpret_cast<Version*>(memory_ + 2 * std::size_t{value_bytes_}) +
               age * handle_count_;
    }
    /// Behind an even count of versions, so it is aligned.
    [[nodiscard]] std::uint64_t* returned() const noexcept {
        return reinterpret_cast<std::uint64_t*>(starts(2));
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept;
    [[nodiscard]] std::size_t alignment() const noexcept;
    void allocate();
    [[nodiscard]] inline detail::WordArrays word_arrays(RepHandle begin, ShadowOffset offset,
                                                        std::byte* shadow, const std::byte* object,
                                                        Version* last_changed,
                                                        Version version) const noexcept;
    inline void set_returned(std::uint32_t bit, std::uint64_t among, std::uint64_t back) noexcept;

    const RepLayout* layout_;
    MemoryResource* resource_;
    std::byte* memory_ = nullptr;
    std::uint32_t value_bytes_;  // of one of both
    std::uint16_t handle_count_;
    bool is_unfinished_ = false;
};

}  // namespace replayout
