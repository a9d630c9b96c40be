// SPDX-License-Identifier: MIT
#include <replayout/lost_parts.h>

#include <replayout/reflection/diagnostics.h>

namespace replayout {

namespace {

[[nodiscard]] bool contains(const RepRange& outer, const RepRange& inner) noexcept {
    return overlap(outer, inner) == inner;
}

[[nodiscard]] bool touch(const RepRange& left, const RepRange& right) noexcept {
    return left.is_single() && left.handle_begin == right.handle_begin && right.is_single() &&
           left.element_begin <= right.element_end && right.element_begin <= left.element_end;
}

/// Makes one of both where that adds nothing. False: it would.
[[nodiscard]] bool join(LostPart& part, const LostPart& added) noexcept {
    if (part.versions.after > added.versions.through ||
        added.versions.after > part.versions.through) {
        return false;  // there are versions in between
    }
    const VersionInterval versions = hull(part.versions, added.versions);
    if (part.range == added.range) {
        part.versions = versions;
        return true;
    }
    if (part.versions == added.versions && touch(part.range, added.range)) {
        part.range = hull(part.range, added.range);
        return true;
    }
    if (versions == part.versions && contains(part.range, added.range)) {
        return true;
    }
    if (versions == added.versions && contains(added.range, part.range)) {
        part = added;
        return true;
    }
    return false;
}

}  // namespace

void LostParts::add(const SendingRepState& pair, VersionInterval versions, const RepRange& range,
                    bool keeps_versions_apart) {
    REPLAYOUT_ASSERT(!range.is_empty());
    if (versions.is_empty()) {
        return;
    }
    const VersionInterval lost = pair.lost();
    if (lost.is_empty()) {
        parts_.clear();
    }
    const bool is_apart =
        !lost.is_empty() && (versions.after > lost.through || lost.after > versions.through);
    if (parts_.empty() && range.is_whole() && !(keeps_versions_apart && is_apart)) {
        return;
    }
    if (parts_.empty() && !lost.is_empty()) {
        parts_.push_back({lost, RepRange()});
    }
    const LostPart added{versions, range};
    // What lies apart from all that was lost joins no part of it.
    for (std::size_t i = 0; !is_apart && i < parts_.size(); ++i) {
        if (join(parts_[i], added)) {
            return;
        }
    }
    if (parts_.size() < count_max) {
        parts_.push_back(added);
    } else {
        parts_.back() = {hull(parts_.back().versions, versions), hull(parts_.back().range, range)};
    }
}

void LostParts::describe(OwedVersions& position) const noexcept {
    if (position.lost.is_empty() || parts_.empty()) {
        return;
    }
    RepRange range = parts_.front().range;
    for (const LostPart& part : parts_) {
        range = hull(range, part.range);
    }
    position.lost_range = range;
    if (parts_.size() > 1) {
        position.lost_parts = {parts_.data(), parts_.size()};
    }
}

void collect_carried(const OwedVersions& position, Version version, const RepRange& range,
                     Vector<LostPart>& carried, bool keeps_versions_apart) {
    const VersionInterval sent{position.sent_version, version};
    if (position.lost_parts.empty() && position.lost_range.is_whole() && !keeps_versions_apart) {
        carried.push_back({hull(sent, position.lost), range});
        return;
    }
    const std::size_t first = carried.size();
    collect_owed_within(position, version, range, carried);
    if (carried.size() == first) {
        // What completes an atomic group need not be owed by itself.
        carried.push_back({hull(sent, position.lost), range});
    }
}

void collect_owed_within(const OwedVersions& position, Version version, const RepRange& range,
                         Vector<LostPart>& owed) {
    const VersionInterval sent{position.sent_version, version};
    if (!sent.is_empty()) {
        owed.push_back({sent, range});
    }
    if (position.lost.is_empty()) {
        return;
    }
    const LostPart single{position.lost, position.lost_range};
    const std::span<const LostPart> lost =
        position.lost_parts.empty() ? std::span(&single, 1) : position.lost_parts;
    for (const LostPart& part : lost) {
        if (const RepRange both = overlap(part.range, range); !both.is_empty()) {
            owed.push_back({part.versions, both});
        }
    }
}

void collect_unsent(const OwedVersions& position, Version version, RepHandle handle,
                    std::uint64_t element, Vector<LostPart>& unsent) {
    if (element > 0) {
        RepRange rest = RepRange::of(handle);
        rest.element_begin = element;
        collect_carried(position, version, rest, unsent);
        // Removals that were lost under place 0 would have been told by the full set of what is
        // left, which names none. They are named next time.
        position.for_each_lost(handle, [&](const LostPart& part) {
            if (part.range.contains_element(0)) {
                unsent.push_back({part.versions, {handle.value, handle.value + 1, 0, 1}});
            }
        });
        ++handle.value;
    }
    collect_carried(position, version, RepRange::from(handle), unsent);
}

}  // namespace replayout
