// SPDX-License-Identifier: MIT
//
// Keyed arrays on the wire, see docs/wire_format.md, "Keyed arrays".
#include "property_writer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace replayout {

namespace {

/// Ascending keys: the first as it is, each other as the gap behind the one before.
class KeyWriter {
  public:
    explicit KeyWriter(BitWriter& writer) noexcept : writer_(writer) {}

    void write(std::uint64_t key) noexcept {
        REPLAYOUT_ASSERT(is_first_ || key > last_);
        writer_.write_packed_uint(is_first_ ? key : key - last_ - 1);
        last_ = key;
        is_first_ = false;
    }

  private:
    BitWriter& writer_;
    std::uint64_t last_ = 0;
    bool is_first_ = true;
};

/// Small numbers of either sign in few bits.
[[nodiscard]] std::uint64_t zigzag(std::int32_t value) noexcept {
    const auto bits = static_cast<std::uint32_t>(value);
    return (bits << 1) ^ (value < 0 ? 0xFFFF'FFFFu : 0u);
}

void write_deletions(const Vector<std::uint64_t>& keys, BitWriter& writer) {
    writer.write_packed_uint(keys.size());
    KeyWriter key_writer(writer);
    for (const std::uint64_t key : keys) {
        key_writer.write(key);
    }
}

/// A list of deletions cannot be cut. In parts of an array a longer one gives way to full sets, so
/// that each part has room for elements, however small packets are (NetConfig: 256 bytes).
constexpr std::size_t deletion_bytes_in_part_max = 96;

[[nodiscard]] bool fit_in_part(const Vector<std::uint64_t>& deletions) {
    std::array<std::byte, deletion_bytes_in_part_max> room;
    BitWriter trial(room);
    write_deletions(deletions, trial);
    return !trial.overflowed();
}

/// Which keys a full set speaks of: those behind one, up to another.
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

/// Ascending, and apart from each other.
void put_in_order(Vector<PlaceSpan>& spans) {
    std::sort(spans.begin(), spans.end(), [](const PlaceSpan& left, const PlaceSpan& right) {
        return left.begin < right.begin;
    });
    std::size_t count = 0;
    for (const PlaceSpan& span : spans) {
        if (count > 0 && span.begin <= spans[count - 1].end) {
            spans[count - 1].end = std::max(spans[count - 1].end, span.end);
        } else {
            spans[count++] = span;
        }
    }
    spans.resize(count);
}

[[nodiscard]] bool contain(const Vector<PlaceSpan>& spans, std::uint64_t place) noexcept {
    return std::any_of(spans.begin(), spans.end(),
                       [&](const PlaceSpan& span) { return span.contains(place); });
}

}  // namespace

PropertyWriter::ArrayFrame PropertyWriter::keyed_frame(
    CmdIndex index, const ShadowKeyedArray& array, const OwedVersions& position) const noexcept {
    return {array.elements,
            layout_.element_scope(index),
            position,
            0,
            RepHandle{layout_.cmd(index).relative_handle},
            &array};
}

PropertyWriter::ArrayFrame PropertyWriter::keyed_frame(RepHandle handle) const noexcept {
    const CmdIndex index = layout_.cmd_of(layout_.root(), handle);
    const ConstShadowBuffer leaf =
        std::as_const(state_).shadow() + layout_.cmd(index).shadow_offset;
    return keyed_frame(index, shadow_value<ShadowKeyedArray>(leaf), position_);
}

KeyedPlan PropertyWriter::begin_keyed_plan(const ArrayFrame& frame) const noexcept {
    const RepLayoutCmd& cmd = layout_.cmd(layout_.cmd_of(layout_.root(), frame.handle));
    KeyedPlan plan;
    plan.has_order = cmd.property->array_key.order == ArrayOrder::Kept;
    return plan;
}

bool PropertyWriter::may_overflow(const ArrayFrame& frame) const noexcept {
    return frame.keyed->receiver_count_max(frame.position) > layout_.limits().array_count_max;
}

void PropertyWriter::collect_full_spans(const ArrayFrame& frame, const KeyedPlan& plan,
                                        FullSets full_sets) {
    const ShadowKeyedArray& array = *frame.keyed;
    const OwedVersions& position = frame.position;
    Vector<PlaceSpan>& spans = context_.scratch.full_spans;
    spans.clear();
    bool is_all = full_sets == FullSets::All || array.is_forgotten(position, position.sent_version);
    position.for_each_lost(frame.handle, [&](const LostPart& part) {
        if (array.is_forgotten(position, part) ||
            (full_sets == FullSets::Lost && !array.is_void(position, part))) {
            const bool is_cut = part.range.is_single() && part.range.element_begin > 0;
            is_all = is_all || !is_cut;  // deletions were lost, and may have any key
            spans.push_back({part.range.element_begin, part.range.element_end});
        }
    });
    if (is_all) {
        spans.clear();
        spans.push_back(PlaceSpan());
        return;
    }
    const bool is_covering =
        full_sets != FullSets::Forgotten || array.is_forgotten(position, position.held_version);
    if (array.restart_version(position) != 0 || (is_covering && may_overflow(frame))) {
        // What was removed may be there still. What is new could then be too much for the
        // receiver, but in a full set.
        add_new_elements(frame, plan);
    }
    put_in_order(spans);
}

bool PropertyWriter::adds_elements(const ArrayFrame& frame, const KeyedPlan& plan) {
    const ShadowKeyedArray& array = *frame.keyed;
    ChangeMask& leaves = context_.scratch.elements[0];
    for (std::uint32_t i = 0; i < array.count(); ++i) {
        const ShadowKeyedArray::Item& item = array.items[i];
        if (may_lack(frame, item) &&
            !contain(context_.scratch.full_spans, place_of_key(item.key)) &&
            collect_keyed_element(frame, i, plan, false, leaves).is_listed) {
            return true;
        }
    }
    return false;
}

/// From the first new element to the last, of those that are in no full set yet. Of a set that is
/// cut, a receiver lets itself be given more than an array may have until all of it is there.
void PropertyWriter::add_new_elements(const ArrayFrame& frame, const KeyedPlan& plan) {
    const ShadowKeyedArray& array = *frame.keyed;
    ChangeMask& leaves = context_.scratch.elements[0];
    Vector<PlaceSpan>& spans = context_.scratch.full_spans;
    PlaceSpan added{RepRange::no_element_end, 0};
    for (std::uint32_t i = 0; i < array.count(); ++i) {
        const ShadowKeyedArray::Item& item = array.items[i];
        const std::uint64_t place = place_of_key(item.key);
        if (may_lack(frame, item) && !contain(spans, place) &&
            collect_keyed_element(frame, i, plan, false, leaves).is_listed) {
            added.begin = std::min(added.begin, place);
            added.end = std::max(added.end, place_after(place));
        }
    }
    if (added.end != 0) {
        spans.push_back(added);
    }
}

/// What is not cut needs no receiver that takes more than an array may have. Nor may a part of it
/// alone be full, where what it adds could be too much, or all is to begin anew.
bool PropertyWriter::needs_whole_set(const ArrayFrame& frame, const KeyedPlan& plan) {
    const ShadowKeyedArray& array = *frame.keyed;
    if (array.restart_version(frame.position) != 0) {
        return true;
    }
    if (!array.is_forgotten(frame.position, frame.position.held_version)) {
        return false;
    }
    context_.scratch.full_spans.clear();
    return must_restart(array, frame.position, layout_.limits().array_count_max) ||
           (may_overflow(frame) && adds_elements(frame, plan));
}

void PropertyWriter::collect_deletions(const ArrayFrame& frame, KeyedPlan& plan) {
    const ShadowKeyedArray& array = *frame.keyed;
    plan.may_overflow = may_overflow(frame) && adds_elements(frame, plan);
    const Version known = array.known_version(frame.position);
    Vector<std::uint64_t>& keys = context_.scratch.keys;
    keys.clear();
    for (const ShadowKeyedArray::Deletion& deletion : array.deletions) {
        const bool is_told = array.owes_deletion(frame.position, frame.handle, deletion) &&
                             !contain(context_.scratch.full_spans, place_of_key(deletion.key));
        if (is_told || (plan.may_overflow && deletion.version > known)) {
            keys.push_back(deletion.key);
        }
    }
    std::sort(keys.begin(), keys.end());
}

KeyedPlan PropertyWriter::plan_keyed_parts(RepHandle handle) {
    const ArrayFrame frame = keyed_frame(handle);
    KeyedPlan plan = begin_keyed_plan(frame);
    for (const FullSets full_sets :
         {FullSets::Forgotten, FullSets::New, FullSets::Lost, FullSets::All}) {
        collect_full_spans(frame, plan, full_sets);
        collect_deletions(frame, plan);
        if (fit_in_part(context_.scratch.keys)) {
            break;
        }
    }
    return plan;
}

std::uint32_t PropertyWriter::find_owed_element(RepHandle handle, const KeyedPlan& plan,
                                                ElementSpan span) {
    const ArrayFrame frame = keyed_frame(handle);
    ChangeMask& leaves = context_.scratch.elements[0];
    std::uint32_t i = span.begin;
    while (i < span.end &&
           !collect_keyed_element(frame, frame.keyed->by_key[i], plan, false, leaves).is_listed) {
        ++i;
    }
    return i;
}

PropertyWriter::KeyedElement PropertyWriter::collect_keyed_element(const ArrayFrame& frame,
                                                                   std::uint32_t index,
                                                                   const KeyedPlan& plan,
                                                                   bool is_full,
                                                                   ChangeMask& leaves) const {
    const ShadowKeyedArray::Item& item = frame.keyed->items[index];
    const std::uint32_t handle_count = frame.element.handle_count;
    const OwedAt owed = owed_at(frame, index);
    leaves.reset(handle_count);
    for (RepHandle leaf{1}; leaf.value <= handle_count; ++leaf.value) {
        if (owes_leaf(frame, leaf, index, owed)) {
            leaves.set(leaf.value - 1);
        }
    }
    const bool owes_rank = plan.has_order && owed.owes(item.rank_version);
    if (!leaves.any() && !owes_rank && !is_full) {
        return {};
    }
    if (may_lack(frame, item)) {
        // The receiver may not have it yet, and would make up what it is not told.
        leaves.set_range(0, handle_count);
        return {.is_listed = true, .has_rank = plan.has_order, .is_whole = true};
    }
    complete_groups(frame, index, index, leaves);
    return {.is_listed = true, .has_rank = owes_rank};
}

/// Deletions and what changed, or the full set of the keys from the first to the last that there is
/// anything to say of.
void PropertyWriter::encode_whole_keyed_array(CmdIndex index, const ShadowKeyedArray& array,
                                              const OwedVersions& position, BitWriter& writer) {
    const ArrayFrame frame = keyed_frame(index, array, position);
    KeyedPlan plan = begin_keyed_plan(frame);
    const bool is_whole = needs_whole_set(frame, plan);
    collect_full_spans(frame, plan, is_whole ? FullSets::All : FullSets::Forgotten);
    collect_deletions(frame, plan);
    const Vector<PlaceSpan>& full_spans = context_.scratch.full_spans;
    KeyedPart part{{}, {0, array.count()}, !full_spans.empty(), true};
    if (part.is_full) {
        PlaceSpan places{full_spans.front().begin, full_spans.back().end};
        const auto add = [&](std::uint64_t place) {
            places.begin = std::min(places.begin, place);
            places.end = std::max(places.end, place_after(place));
        };
        for (const std::uint64_t key : context_.scratch.keys) {
            add(place_of_key(key));
        }
        ChangeMask& leaves = context_.scratch.elements[0];
        for (std::uint32_t i = 0; i < array.count(); ++i) {
            const std::uint64_t place = place_of_key(array.items[i].key);
            if (!places.contains(place) &&
                collect_keyed_element(frame, i, plan, false, leaves).is_listed) {
                add(place);
            }
        }
        part.places = places;
        part.span = {array.first_from(places.begin), places.end == RepRange::no_element_end
                                                         ? array.count()
                                                         : array.first_from(places.end)};
    }
    encode_keyed_part(frame, plan, part, writer);
}

void PropertyWriter::write_keyed_part(RepHandle handle, const KeyedPlan& plan,
                                      const KeyedPart& part, BitWriter& writer) {
    handle_ = handle;
    count_encoded(handle, EncodeReason::Cut);
    const std::size_t begin = writer.bit_count();
    encode_keyed_part(keyed_frame(handle), plan, part, writer);
    note_bits(handle, writer.bit_count() - begin);
}

void PropertyWriter::encode_keyed_part(const ArrayFrame& frame, const KeyedPlan& plan,
                                       const KeyedPart& part, BitWriter& writer) {
    const ShadowKeyedArray& array = *frame.keyed;
    // What began anew may be lacked however old it is.
    const Version restart_version = array.restart_version(frame.position);
    const OwedVersions since_held =
        restart_version != 0 ? OwedVersions() : frame.position.since_held();
    const ArrayFrame whole_frame{frame.array, frame.element, since_held,
                                 0,           frame.handle,  frame.keyed};
    ChangeMask& leaves = context_.scratch.elements[0];
    std::uint32_t count = 0;
    for (std::uint32_t i = part.span.begin; i < part.span.end; ++i) {
        const std::uint32_t item = array.by_key[i];
        if (collect_keyed_element(frame, item, plan, part.is_full, leaves).is_listed) {
            ++count;
        }
    }
    writer.write_bool(part.is_full);
    if (part.is_full) {
        writer.write_bool(restart_version != 0);
        if (restart_version != 0) {
            writer.write_packed_uint(restart_version);
        }
        write_key_range(part.places, writer);
    } else if (part.has_deletions) {
        write_deletions(context_.scratch.keys, writer);
    } else {
        writer.write_packed_uint(0);  // they went with the first elements
    }
    writer.write_packed_uint(count);
    KeyWriter keys(writer);
    for (std::uint32_t i = part.span.begin; i < part.span.end && !writer.overflowed(); ++i) {
        const std::uint32_t item = array.by_key[i];
        const KeyedElement listed = collect_keyed_element(frame, item, plan, part.is_full, leaves);
        if (!listed.is_listed) {
            continue;
        }
        keys.write(array.items[item].key);
        if (plan.has_order) {
            writer.write_bool(listed.has_rank);
        }
        if (listed.has_rank) {
            writer.write_packed_uint(zigzag(array.items[item].rank));
        }
        encode_keyed_element(listed.is_whole ? whole_frame : frame, item, leaves, writer);
    }
}

void PropertyWriter::encode_keyed_element(const ArrayFrame& frame, std::uint32_t index,
                                          const ChangeMask& leaves, BitWriter& writer) {
    write_change_mask(writer, leaves, EmptySet::Possible);
    const std::uint32_t first = index * frame.element.handle_count;
    std::uint32_t run_end = 0;
    for (std::uint32_t bit = leaves.next(0); bit < leaves.bit_count(); bit = leaves.next(run_end)) {
        run_end = leaves.next_clear(bit);
        encode_elements(frame, first + bit, first + run_end, writer);
    }
}

}  // namespace replayout
