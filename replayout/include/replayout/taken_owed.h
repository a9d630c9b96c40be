// SPDX-License-Identifier: MIT
//
// What goes out to one receiver of one object: everything that it was owed, taken from its pair at
// once and then written, in one block or in parts. Whoever keeps pairs needs these rules;
// ObjectReplicator does all of this.
//
//     TakenOwed taken =
//         TakenOwed::take(pair, state.version(), position, is_initial, has_turned_on);
//     taken.begin_parts(block_position);  // where it goes in parts
//     send_part(state, block_position, owed, cursor, range, writer, context);
//     taken.collect_carried_part(range, scratch.carried, carried);  // what its record says
#pragma once

#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include <span>

namespace replayout {

struct TakenOwed {
    SentVersions versions;
    /// What the receiver was owed by. Its `lost_parts` are lent, and must stay meanwhile.
    OwedVersions position;
    bool is_initial = false;  ///< with what is sent only at first
    /// Parts are written from another position than `position`, so what a part carries is all
    /// versions of its range.
    bool is_rebased = false;

    /// The pair was sent everything up to `version`. `has_turned_on`: with what the receiver has
    /// begun to see, as it meets conditions that it did not; the caller then forgets which.
    [[nodiscard]] static TakenOwed take(SendingRepState& pair, Version version,
                                        const OwedVersions& position, bool is_initial,
                                        bool has_turned_on) noexcept;

    /// All versions that went out with it.
    [[nodiscard]] VersionInterval all_versions() const noexcept {
        return hull(versions.sent, versions.lost);
    }

    /// Parts are written from `block_position` (ObjectConditions::block_position).
    void begin_parts(const OwedVersions& block_position) noexcept {
        is_rebased = block_position != position;
    }
    /// What is lost if a part is that has `range` of the object; `of_part` is what it carries of
    /// what was owed by its position (SendScratch::carried).
    void collect_carried_part(const RepRange& range, std::span<const LostPart> of_part,
                              Vector<LostPart>& carried) const;
};

}  // namespace replayout
