// SPDX-License-Identifier: MIT
#include "keyed_array_cutter.h"

#include <algorithm>

namespace replayout {

namespace {

[[nodiscard]] bool names_deletions(const RepRange& range) noexcept {
    return !range.is_single() || range.element_begin == 0;
}

}  // namespace

std::optional<KeyedPart> KeyedArrayCutter::find_stretch(std::uint64_t place) {
    for (;;) {
        const auto full = std::find_if(
            scratch_.full_spans.begin(), scratch_.full_spans.end(), [&](const PlaceSpan& span) {
                return span.end > place || span.end == RepRange::no_element_end;
            });
        const bool is_any_full = full != scratch_.full_spans.end();
        if (is_any_full && full->begin <= place) {
            // Deletions go by the places of their keys.
            const PlaceSpan places{std::max<std::uint64_t>(place, 1), full->end};
            return KeyedPart{places, keyed_.plan().span_of(places), true, false};
        }
        KeyedPart part;
        part.places = {place, is_any_full ? full->begin : RepRange::no_element_end};
        part.span = keyed_.plan().span_of(part.places);
        part.has_deletions = place == 0 || keyed_.plan().may_overflow();
        if (place == 0 && !scratch_.keys.empty()) {
            return part;
        }
        const std::uint32_t first = keyed_.plan().find_owed_element(part.span);
        if (first < part.span.end) {
            part.span.begin = first;
            part.places.begin = place_of_key(array_.items[array_.by_key[first]].key);
            return part;
        }
        if (!is_any_full) {
            return std::nullopt;
        }
        place = full->begin;
    }
}

std::optional<KeyedPart> KeyedArrayCutter::write(std::uint64_t place) {
    std::optional<KeyedPart> stretch = find_stretch(place);
    if (!stretch) {
        stretch = KeyedPart{{place, RepRange::no_element_end}, {0, 0}, false, false};
    }
    if (try_write(*stretch)) {
        write_once(*stretch);
        return stretch;
    }
    std::uint32_t fitting = stretch->span.begin;
    fitting = last_fitting(fitting, std::max(stretch->span.end, fitting + 1),
                           [&](std::uint32_t end) { return try_write(cut(*stretch, end)); });
    // Never among the greatest keys, whose places say too little.
    while (fitting > stretch->span.begin &&
           cut(*stretch, fitting).places.end == RepRange::no_element_end) {
        --fitting;
    }
    if (fitting == stretch->span.begin) {
        return std::nullopt;
    }
    const KeyedPart part = cut(*stretch, fitting);
    write_once(part);
    return part;
}

std::optional<std::uint64_t> KeyedArrayCutter::next(const KeyedPart& part) {
    if (part.places.end == RepRange::no_element_end) {
        return std::nullopt;
    }
    const std::optional<KeyedPart> stretch = find_stretch(part.places.end);
    return stretch ? std::optional(stretch->places.begin) : std::nullopt;
}

void KeyedArrayCutter::collect_carried_deletions(const KeyedPart& part,
                                                 const OwedVersions& position,
                                                 Vector<LostPart>& carried) const {
    const RepRange range{handle_.value, handle_.value + 1, part.places.begin, part.places.end};
    position.for_each_lost(handle_, [&](const LostPart& lost) {
        if (part.is_full && names_deletions(lost.range) && overlap(lost.range, range) != range) {
            carried.push_back({lost.versions, range});
            return;
        }
        if (!part.is_full && part.places.begin == 0 && !names_deletions(lost.range)) {
            collect_deletions_elsewhere(part, lost, carried);
        }
    });
}

void KeyedArrayCutter::collect_deletions_elsewhere(const KeyedPart& part, const LostPart& lost,
                                                   Vector<LostPart>& carried) const {
    std::uint64_t stretch_end = 0;
    for (const std::uint64_t key : scratch_.keys) {
        const std::uint64_t place = place_of_key(key);
        if (!lost.range.contains_element(place) || part.places.contains(place)) {
            continue;
        }
        // One stretch, as long as there are no elements in it.
        if (stretch_end != 0 && array_.first_from(stretch_end) == array_.first_from(place)) {
            carried.back().range.element_end = place_after(place);
        } else {
            carried.push_back(
                {lost.versions, {handle_.value, handle_.value + 1, place, place_after(place)}});
        }
        stretch_end = place_after(place);
    }
}

KeyedPart KeyedArrayCutter::cut(const KeyedPart& stretch, std::uint32_t end) const noexcept {
    KeyedPart part = stretch;
    part.span.end = end;
    part.places.end = place_after(place_of_key(array_.items[array_.by_key[end - 1]].key));
    return part;
}

bool KeyedArrayCutter::try_write(const KeyedPart& part) {
    write_once(part);
    const bool fits = !writer_.overflowed();
    writer_.rewind(start_);
    return fits;
}

void KeyedArrayCutter::write_once(const KeyedPart& part) {
    write_change_mask(writer_, scratch_.part, EmptySet::Impossible);
    keyed_.write_part(part, writer_);
    writer_.finish_byte();
}

}  // namespace replayout
