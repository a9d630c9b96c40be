// SPDX-License-Identifier: MIT
#include "keyed_array_writer.h"

#include "key_writer.h"

#include <algorithm>

namespace replayout {

namespace {

/// Small numbers of either sign in few bits.
[[nodiscard]] std::uint64_t zigzag(std::int32_t value) noexcept {
    const auto bits = static_cast<std::uint32_t>(value);
    return (bits << 1) ^ (value < 0 ? 0xFFFF'FFFFu : 0u);
}

/// Which keys a full set speaks of: those after one, up to another.
void write_key_range(const PlaceSpan& places, BitWriter& writer) {
    // The key of a place is one less, and that in front of it one less than that.
    KeyWriter keys(writer);
    const bool has_begin = places.begin >= 2;
    writer.write_bool(has_begin);
    if (has_begin) {
        keys.write(places.begin - 2);
    }
    const bool has_end = places.end != RepRange::no_element_end;
    writer.write_bool(has_end);
    if (has_end) {
        keys.write(places.end - 2);
    }
}

}  // namespace

void KeyedArrayWriter::write_whole(BitWriter& writer) {
    plan_.plan_whole();
    encode(whole_part(), writer);
}

KeyedPart KeyedArrayWriter::whole_part() const {
    const ShadowKeyedArray& array = plan_.array();
    const Vector<PlaceSpan>& full_spans = plan_.full_spans();
    KeyedPart part{{}, {0, array.count()}, !full_spans.empty(), true};
    if (!part.is_full) {
        return part;
    }
    PlaceSpan places{full_spans.front().begin, full_spans.back().end};
    const auto add = [&](std::uint64_t place) {
        places.begin = std::min(places.begin, place);
        places.end = std::max(places.end, place_after(place));
    };
    for (const std::uint64_t key : plan_.deletions()) {
        add(place_of_key(key));
    }
    ChangeMask& leaves = context_.scratch().elements[0];
    for (std::uint32_t i = 0; i < array.count(); ++i) {
        const std::uint64_t place = place_of_key(array.items[i].key);
        if (!places.contains(place) && plan_.collect_element(i, false, leaves).is_listed) {
            add(place);
        }
    }
    part.places = places;
    part.span = plan_.span_of(places);
    return part;
}

void KeyedArrayWriter::write_part(const KeyedPart& part, BitWriter& writer) {
    const RepHandle handle = plan_.elements().handle();
    context_.begin_value(handle);
    context_.count_encoded(handle, EncodeReason::Cut);
    const std::size_t begin = writer.bit_count();
    encode(part, writer);
    context_.findings().values.clear();  // where more was tried before, it did not fit
    context_.note_bits(handle, writer.bit_count() - begin);
}

inline std::uint32_t KeyedArrayWriter::count_listed(const KeyedPart& part) const {
    ChangeMask& leaves = context_.scratch().elements[0];
    const std::uint32_t* const by_key = plan_.array().by_key.data();
    return static_cast<std::uint32_t>(
        std::count_if(by_key + part.span.begin, by_key + part.span.end, [&](std::uint32_t item) {
            return plan_.collect_element(item, part.is_full, leaves).is_listed;
        }));
}

inline void KeyedArrayWriter::encode_head(const KeyedPart& part, std::uint32_t count,
                                          BitWriter& writer) const {
    writer.write_bool(part.is_full);
    if (part.is_full) {
        const Version restart_version = plan_.array().restart_version(plan_.position());
        writer.write_bool(restart_version != 0);
        if (restart_version != 0) {
            writer.write_packed_uint(restart_version);
        }
        write_key_range(part.places, writer);
    } else if (part.has_deletions) {
        write_deletions(plan_.deletions(), writer);
    } else {
        writer.write_packed_uint(0);  // they went with the first elements
    }
    writer.write_packed_uint(count);
}

void KeyedArrayWriter::encode(const KeyedPart& part, BitWriter& writer) const {
    const ShadowKeyedArray& array = plan_.array();
    const ArrayElements& elements = plan_.elements();
    encode_head(part, count_listed(part), writer);
    // What began anew may be lacked however old it is.
    const OwedVersions since_held = array.restart_version(plan_.position()) != 0
                                        ? OwedVersions()
                                        : plan_.position().since_held();
    const ArrayElements whole_elements = elements.at(since_held);
    ChangeMask& leaves = context_.scratch().elements[0];
    KeyWriter keys(writer);
    for (std::uint32_t i = part.span.begin; i < part.span.end && !writer.overflowed(); ++i) {
        const std::uint32_t item = array.by_key[i];
        const KeyedArrayPlan::Element listed = plan_.collect_element(item, part.is_full, leaves);
        if (!listed.is_listed) {
            continue;
        }
        keys.write(array.items[item].key);
        if (plan_.has_order()) {
            writer.write_bool(listed.has_rank);
        }
        if (listed.has_rank) {
            writer.write_packed_uint(zigzag(array.items[item].rank));
        }
        write_change_mask(writer, leaves, EmptySet::Possible);
        (listed.is_whole ? whole_elements : elements)
            .write_leaves(item * elements.scope().handle_count, leaves, writer);
    }
}

}  // namespace replayout
