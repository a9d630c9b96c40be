// SPDX-License-Identifier: MIT
//
// What one receiver was not sent of one object though it was owed, because it could not be written
// (BlockFindings::left_out), beside the SendingRepState. The pair counts it as sent. Of an array or
// an atomic group that is more than the value that failed: elements and members that changed in
// the same tick, and whose own versions nobody would ask for again.
//
//     versions      1    2    3    4    5
//     sent               ^ the group is left out: (1, 2] is kept here
//     owed again                        ^ a member changed: (1, 2] is owed besides
//
// It is never tried again by itself, so an idle world stays idle: the next attempt is made when
// something of the same value is owed anyway.
//
//     block = send_properties(state, position, owed, writer, context);     // not DoesNotFit:
//     left_out.note(state.layout(), block.findings->left_out, position, state.version());
//     ...
//     left_out.owe_with(owed,                                      // before the next send
//         [&] { state.collect_owed(position, owed); },
//         [&](const LeftOutValues::Entry& value) {
//             lost_parts.add(pair, value.versions, value.handles);     // where objects go in parts
//             pair.return_unsent({value.versions, {}});
//         });
//
// lost_parts is the LostParts beside the pair. ObjectReplicator does all of this.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/object_conditions.h>
#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <optional>
#include <span>

namespace replayout {

/// One entry for each value that is left out. Takes memory when the first one is.
class LeftOutValues {
  public:
    struct Entry {
        RepRange handles;          ///< one, or those of an atomic group
        VersionInterval versions;  ///< not empty
    };

    explicit LeftOutValues(MemoryResource* resource) : entries_(Allocator<Entry>(resource)) {}

    [[nodiscard]] bool is_empty() const noexcept { return entries_.empty(); }
    /// Whether a receiver that meets `passing` lacks anything by it. What it may not see any more
    /// it does not lack; should it see that again, all of it is owed anyway.
    [[nodiscard]] bool is_any_seen(const ObjectConditions& conditions,
                                   LifetimeConditionSet passing) const noexcept;

    /// A receiver at `position` was sent what it was owed up to `version`, without these handles of
    /// the object. Deltas are passed over: DeltaStates knows what a receiver lacks of them.
    void note(const RepLayout& layout, std::span<const RepHandle> left_out,
              const OwedVersions& position, Version version);

    /// Takes out a value of which anything is in `owed` (a bit for each handle of the object): what
    /// was left out of it is owed with it. Nothing: there is no such value.
    [[nodiscard]] std::optional<Entry> take(const ChangeMask& owed);

    /// Before the next send: takes out, and has owed again by `owe(entry)`, every value of which
    /// anything is owed. `collect()` must fill the very mask passed as `owed` with what the
    /// receiver is owed.
    template <typename Collect, typename Owe>
    void owe_with(const ChangeMask& owed, Collect collect, Owe owe) {
        bool is_any = !is_empty();
        while (is_any) {
            is_any = false;
            collect();
            while (const auto entry = take(owed)) {
                owe(*entry);
                is_any = true;  // what is lost is a hull, so more may be owed by now
            }
        }
    }

  private:
    Vector<Entry> entries_;  // few, and mostly none
};

}  // namespace replayout
