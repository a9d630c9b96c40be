// SPDX-License-Identifier: MIT
#include <replayout/taken_owed.h>

namespace replayout {

TakenOwed TakenOwed::take(SendingRepState& pair, Version version, const OwedVersions& position,
                          bool is_initial, bool has_turned_on) noexcept {
    TakenOwed taken{pair.take_owed(version), position, is_initial};
    if (has_turned_on) {
        // Should it be lost, which conditions these were is not known any more: all is owed then.
        taken.versions.lost = {0, pair.sent_version};
        taken.position = position.with_lost(taken.versions.lost);
    }
    return taken;
}

void TakenOwed::collect_carried_part(const RepRange& range, std::span<const LostPart> of_part,
                                     Vector<LostPart>& carried) const {
    if (is_rebased) {
        carried.assign(1, {all_versions(), range});
    } else {
        carried.assign(of_part.begin(), of_part.end());
    }
}

}  // namespace replayout
