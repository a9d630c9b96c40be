// SPDX-License-Identifier: MIT
//
// What goes out to one receiver of one object: everything that it was owed, taken from its pair at
// once and then written, in one block or in parts. Whoever keeps pairs needs these rules;
// ObjectReplicator does all of this.
//
//     TakenOwed taken = TakenOwed::take(pair, state.version(), position, is_initial);
//     send_part(state, position, owed, cursor, range, writer, context);
//     ... its packet's record says what it carries: findings->carried
#pragma once

#include <replayout/owed_versions.h>
#include <replayout/sending_rep_state.h>

namespace replayout {

struct TakenOwed {
    SentVersions versions;
    /// What the receiver was owed by. Its `lost_parts` are lent, and must stay meanwhile.
    OwedVersions position;
    bool is_initial = false;  ///< with what is sent only at first

    /// The pair was sent everything up to `version`.
    [[nodiscard]] static TakenOwed take(SendingRepState& pair, Version version,
                                        const OwedVersions& position, bool is_initial) noexcept {
        return {pair.take_owed(version), position, is_initial};
    }

    /// All versions that went out with it.
    [[nodiscard]] VersionInterval all_versions() const noexcept {
        return hull(versions.sent, versions.lost);
    }
};

}  // namespace replayout
