// SPDX-License-Identifier: MIT
//
// Which parts of a large object were lost for one receiver, beside the SendingRepState: that knows
// only the versions, as one interval.
//
//     elements       1 ... 40   41 ... 80   81 ... 120   121 ... 160
//     update (0, 7]  arrived    lost        arrived      lost           {(0, 7], 41 ... 80}
//     update (7, 8]  lost                                               {(7, 8],  1 ... 40}
//                                                                       {(0, 7], 121 ... }
//
// So what is owed again is what was lost. (Rejected: the hull of all of it. Of an array of many
// packets some at either end are lost each time, so nothing in between is ever settled.)
//
//     lost_parts.add(pair, versions, range);          // then pair.lose() or return_unsent()
//     OwedVersions position(pair);
//     lost_parts.describe(position);                  // what is owed
//     collect_carried(position, version, range, carried);  // of a block that goes out now
//
// Nothing is kept for an object of which no part alone was ever lost. Where the whole object was
// lost, versions are kept apart only if a keyed array changed since the first of them. Such arrays
// are large and change in many elements, so the hull would be much more.
#pragma once

#include <replayout/owed_versions.h>
#include <replayout/reflection/memory.h>

#include <cstdint>

namespace replayout {

class LostParts {
  public:
    /// Where there would be more, the newest two become their hull: more is owed then than was
    /// lost. A loss that continues another, in versions or in elements, is joined with it.
    static constexpr std::uint32_t count_max = 64;

    explicit LostParts(MemoryResource* resource) : parts_(Allocator<LostPart>(resource)) {}

    /// Versions of `range` are lost, or were not sent after all. To be called before the same is
    /// noted in `pair`. Of an object that goes whole they are kept apart from those lost before, if
    /// `keeps_versions_apart` (ChangelistState::keeps_versions_apart()). O(1) where they are apart
    /// from all that is lost, as those of losses in the order of sending are.
    void add(const SendingRepState& pair, VersionInterval versions, const RepRange& range,
             bool keeps_versions_apart = false);

    /// Everything is lost.
    void clear() noexcept { parts_.clear(); }
    /// What is lost is lost of all of the object, or nothing is.
    [[nodiscard]] bool is_empty() const noexcept { return parts_.empty(); }

    /// Says in the position of that pair where it lost what it lost. A loan, until the next call.
    void describe(OwedVersions& position) const noexcept;

  private:
    Vector<LostPart> parts_;  // of what the pair lost; none: of all the object
};

/// What is lost with a block that was written for `position`, of an object at `version`, and holds
/// what is owed within `range`. Appended to `carried`. `keeps_versions_apart` as in
/// LostParts::add().
void collect_carried(const OwedVersions& position, Version version, const RepRange& range,
                     Vector<LostPart>& carried, bool keeps_versions_apart = false);

/// What is owed within `range` of an object at `version` to a pair at `position`, none where
/// nothing is. Appended to `owed`.
void collect_owed_within(const OwedVersions& position, Version version, const RepRange& range,
                         Vector<LostPart>& owed);

/// What is owed again where a block in parts for `position`, of an object at `version`, ends before
/// the value at `handle`, or before that place in it. Appended to `unsent`.
void collect_unsent(const OwedVersions& position, Version version, RepHandle handle,
                    std::uint64_t element, Vector<LostPart>& unsent);

}  // namespace replayout
