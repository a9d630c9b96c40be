// SPDX-License-Identifier: MIT
//
// Values of one object that are too large for a packet and travel to one receiver reliably, beside
// the SendingRepState. While one is under way nothing newer of it is sent: it could arrive first,
// and be overwritten. What became of it meanwhile is owed once it has arrived.
//
//     versions       4       5       6
//     sent reliably  ^
//     changes                ^       ^     paused
//     delivered                         ^  (4, 6] is owed of it
//
// One that is taken back under way does not arrive, and all of it is owed. One for which there is
// no room waits here as well, with what is owed of it.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>
#include <replayout/sending_rep_state.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace replayout {

/// One entry for each value under way, in order of sending, and for each that waits among them.
/// Takes memory when the first one is.
class PausedValues {
  public:
    struct Entry {
        RepRange handles;                  ///< one, or those of an atomic group
        Version version = 0;               ///< of the object when it was sent, or began to wait
        Version since = 0;                 ///< likewise when it began to wait first
        Version held = 0;                  ///< as of which the receiver has the value already
        std::uint32_t fragments_left = 0;  ///< not yet delivered
        bool is_initial = false;           ///< sent with what is sent only at first
        bool is_taken_back = false;        ///< a fragment was delivered without its bytes
        /// Of one that waits, what was owed. An array is sent as far as it is owed, so what was
        /// lost of what went before is owed besides. The pair forgets it with the next send, which
        /// leaves out what is paused.
        VersionInterval lost = {};

        [[nodiscard]] bool is_waiting() const noexcept { return fragments_left == none_sent; }
        /// What is owed of it once it has arrived, or its turn has come, by a pair that was sent
        /// `sent_version` by now.
        [[nodiscard]] VersionInterval missed(Version sent_version) const noexcept {
            return hull(lost, {is_taken_back ? 0 : version, sent_version});
        }
        /// As of which version the receiver has the value, whatever becomes of this one.
        [[nodiscard]] Version held_version() const noexcept {
            return lost.is_empty() ? held : std::min(held, lost.after);
        }
    };

    explicit PausedValues(MemoryResource* resource) : entries_(Allocator<Entry>(resource)) {}

    [[nodiscard]] bool is_empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::uint32_t count() const noexcept {
        return static_cast<std::uint32_t>(entries_.size());
    }
    /// One that was owed when the object was at that version, or before, is under way, or waits.
    [[nodiscard]] bool is_any_as_old_as(Version version) const noexcept;
    /// The receiver may lack one as it was at that version.
    [[nodiscard]] bool is_any_missing_of(Version version) const noexcept;
    [[nodiscard]] bool contains(RepHandle handle) const noexcept;
    /// Through which version the receiver has all of the object once what is under way has arrived,
    /// if it has all else through `complete`, and the pair was sent `sent_version`.
    [[nodiscard]] Version complete_with(Version complete, Version sent_version) const noexcept;
    /// Sets the handles that are paused.
    void add_to(ChangeMask& handles) const noexcept;
    /// Takes away from `owed` what is paused. To be called after ChangelistState::collect_owed.
    void remove_paused(ChangeMask& owed) const noexcept;

    /// A value of the object at `version` goes out, in so many fragments.
    /// `since`: when it began to wait for room, if it did. `held`: as of which version the receiver
    /// has the value already; 0 if nobody knows.
    void add(const RepRange& handles, Version version, std::uint32_t fragment_count,
             Version since = 0, bool is_initial = false, Version held = 0) {
        entries_.push_back({.handles = handles,
                            .version = version,
                            .since = since != 0 ? since : version,
                            .held = held,
                            .fragments_left = fragment_count,
                            .is_initial = is_initial});
    }
    /// There is no room for a value of the object at `version`, of which `owed` is owed.
    void wait(const RepRange& handles, Version version, VersionInterval owed, Version since = 0) {
        entries_.push_back({.handles = handles,
                            .version = version,
                            .since = since != 0 ? since : version,
                            .held = owed.after,
                            .fragments_left = none_sent,
                            .lost = owed});
    }
    /// Takes out one that waits.
    [[nodiscard]] std::optional<Entry> take_waiting();
    /// A block with these versions of the handles in `range` was lost.
    void note_lost(const RepLayout& layout, const RepRange& range, VersionInterval lost) noexcept;

    /// Calls `visit(entry)` for each that is under way.
    template <typename Visitor>
    void for_each_under_way(Visitor visit) const {
        for (const Entry& entry : entries_) {
            if (!entry.is_waiting()) {
                visit(entry);
            }
        }
    }

    /// Calls `visit(entry)` for each that waits for its turn.
    template <typename Visitor>
    void for_each_waiting(Visitor visit) const {
        for (const Entry& entry : entries_) {
            if (entry.is_waiting()) {
                visit(entry);
            }
        }
    }

    /// A fragment of the value that begins at `handle` was delivered. `is_taken_back`: the value
    /// was, and some of it went without its bytes, so the receiver throws it away.
    void fragment_delivered(RepHandle handle, bool is_taken_back = false) noexcept;
    /// Takes out the oldest value if it has arrived. Values arrive in order of sending, so one that
    /// is complete stays paused until those before it are: what it was must not overwrite what it
    /// became.
    [[nodiscard]] std::optional<Entry> take_delivered();

  private:
    static constexpr std::uint32_t none_sent = 0xFFFF'FFFF;

    Vector<Entry> entries_;  // few, and mostly none
};

}  // namespace replayout
