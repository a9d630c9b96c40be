// SPDX-License-Identifier: MIT
#include "keyed_array_plan.h"

#include "key_writer.h"

#include <array>
#include <cstddef>

namespace replayout {

namespace {

/// A list of deletions cannot be cut. In parts of an array a longer one gives way to full sets, so
/// that each part has room for elements, however small packets are (NetConfig: 256 bytes).
constexpr std::size_t deletion_bytes_in_part_max = 96;

[[nodiscard]] bool fit_in_part(const Vector<std::uint64_t>& deletions) {
    std::array<std::byte, deletion_bytes_in_part_max> room;
    BitWriter trial(room);
    write_deletions(deletions, trial);
    return !trial.overflowed();
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

KeyedArrayPlan::KeyedArrayPlan(WriteContext& context, CmdIndex index, const ShadowKeyedArray& array,
                               const OwedVersions& position) noexcept
    : context_(context),
      array_(array),
      elements_(context, index, array.elements, position, 0, &array),
      has_order_(context.layout().cmd(index).property->array_key.order == ArrayOrder::Kept) {}

void KeyedArrayPlan::plan_whole() {
    const bool is_whole = needs_whole_set();
    collect_full_spans(is_whole ? FullSets::All : FullSets::Forgotten);
    collect_deletions();
}

void KeyedArrayPlan::plan_parts() {
    for (const FullSets full_sets :
         {FullSets::Forgotten, FullSets::New, FullSets::Lost, FullSets::All}) {
        collect_full_spans(full_sets);
        collect_deletions();
        if (fit_in_part(deletions())) {
            break;
        }
    }
}

bool KeyedArrayPlan::is_too_much_without_removals() const noexcept {
    return array_.receiver_count_max(position()) > context_.layout().limits().array_count_max;
}

void KeyedArrayPlan::collect_full_spans(FullSets full_sets) {
    Vector<PlaceSpan>& spans = context_.scratch().full_spans;
    spans.clear();
    bool is_all =
        full_sets == FullSets::All || array_.is_forgotten(position(), position().sent_version);
    position().for_each_lost(elements_.handle(), [&](const LostPart& part) {
        if (array_.is_forgotten(position(), part) ||
            (full_sets == FullSets::Lost && !array_.is_void(position(), part))) {
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
    const bool is_covering = full_sets != FullSets::Forgotten ||
                             array_.is_forgotten(position(), position().held_version);
    if (array_.restart_version(position()) != 0 ||
        (is_covering && is_too_much_without_removals())) {
        // What was removed may be there still. What is new could then be too much for the
        // receiver, but in a full set.
        add_new_elements();
    }
    put_in_order(spans);
}

inline bool KeyedArrayPlan::is_added(std::uint32_t index) const {
    const ShadowKeyedArray::Item& item = array_.items[index];
    ChangeMask& leaves = context_.scratch().elements[0];
    return may_lack(item) && !contain(full_spans(), place_of_key(item.key)) &&
           collect_element(index, false, leaves).is_listed;
}

bool KeyedArrayPlan::adds_elements() const {
    for (std::uint32_t i = 0; i < array_.count(); ++i) {
        if (is_added(i)) {
            return true;
        }
    }
    return false;
}

/// From the first new element to the last, of those that are in no full set yet. A receiver takes
/// more elements than an array may have from a set that is cut, until all of it is there.
void KeyedArrayPlan::add_new_elements() {
    PlaceSpan added{RepRange::no_element_end, 0};
    for (std::uint32_t i = 0; i < array_.count(); ++i) {
        if (is_added(i)) {
            const std::uint64_t place = place_of_key(array_.items[i].key);
            added.begin = std::min(added.begin, place);
            added.end = std::max(added.end, place_after(place));
        }
    }
    if (added.end != 0) {
        context_.scratch().full_spans.push_back(added);
    }
}

/// What is not cut needs no receiver that takes more than an array may have. Nor may a part of it
/// alone be full, where what it adds could be too much, or all is to begin anew.
bool KeyedArrayPlan::needs_whole_set() {
    if (array_.restart_version(position()) != 0) {
        return true;
    }
    if (!array_.is_forgotten(position(), position().held_version)) {
        return false;
    }
    context_.scratch().full_spans.clear();
    return must_restart(array_, position(), context_.layout().limits().array_count_max) ||
           (is_too_much_without_removals() && adds_elements());
}

void KeyedArrayPlan::collect_deletions() {
    may_overflow_ = is_too_much_without_removals() && adds_elements();
    const Version known = array_.known_version(position());
    Vector<std::uint64_t>& keys = context_.scratch().keys;
    keys.clear();
    for (const ShadowKeyedArray::Deletion& deletion : array_.deletions) {
        const bool is_told = array_.owes_deletion(position(), elements_.handle(), deletion) &&
                             !contain(full_spans(), place_of_key(deletion.key));
        if (is_told || (may_overflow_ && deletion.version > known)) {
            keys.push_back(deletion.key);
        }
    }
    std::sort(keys.begin(), keys.end());
}

std::uint32_t KeyedArrayPlan::find_owed_element(ElementSpan span) const {
    ChangeMask& leaves = context_.scratch().elements[0];
    std::uint32_t i = span.begin;
    while (i < span.end && !collect_element(array_.by_key[i], false, leaves).is_listed) {
        ++i;
    }
    return i;
}

KeyedArrayPlan::Element KeyedArrayPlan::collect_element(std::uint32_t index, bool is_full,
                                                        ChangeMask& leaves) const {
    const ShadowKeyedArray::Item& item = array_.items[index];
    const std::uint32_t handle_count = elements_.scope().handle_count;
    const OwedAt owed = elements_.owed_at(index);
    leaves.reset(handle_count);
    elements_.collect_owed(index, owed, 0, leaves);
    const bool owes_rank = has_order_ && owed.owes(item.rank_version);
    if (!leaves.any() && !owes_rank && !is_full) {
        return {};
    }
    if (may_lack(item)) {
        // The receiver may not have it yet, and would make up what it is not told.
        leaves.set_range(0, handle_count);
        return {.is_listed = true, .has_rank = has_order_, .is_whole = true};
    }
    elements_.complete_groups(index, 0, leaves);
    return {.is_listed = true, .has_rank = owes_rank};
}

}  // namespace replayout
