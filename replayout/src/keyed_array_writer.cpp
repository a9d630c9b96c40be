// SPDX-License-Identifier: MIT
//
// Keyed arrays on the wire, see docs/wire_format.md, "Keyed arrays".
#include "property_writer.h"

#include <algorithm>
#include <array>

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

/// Those owed; or all that may not have arrived, too.
enum class Deletions : std::uint8_t { Owed, NotHeld };

void write_deletions(const ShadowKeyedArray& array, const OwedVersions& position, Deletions which,
                     Vector<std::uint64_t>& keys, BitWriter& writer) {
    keys.clear();
    const Version joined = array.joined_version(position);
    for (const ShadowKeyedArray::Deletion& deletion : array.deletions) {
        if (deletion.version > joined &&
            (position.owes(deletion.version) ||
             (which == Deletions::NotHeld && deletion.version > position.held_version))) {
            keys.push_back(deletion.key);
        }
    }
    std::sort(keys.begin(), keys.end());
    writer.write_packed_uint(keys.size());
    KeyWriter key_writer(writer);
    for (const std::uint64_t key : keys) {
        key_writer.write(key);
    }
}

/// A list of deletions cannot be cut. In parts of an array a longer one gives way to the full set,
/// so that each part has room for elements, however small packets are (NetConfig: 256 bytes).
constexpr std::size_t deletion_bytes_in_part_max = 96;

/// Which keys a full set speaks of: all, or in a part those behind the part before up to its last.
void write_key_range(const ShadowKeyedArray& array, ElementSpan span, BitWriter& writer) {
    KeyWriter keys(writer);
    const bool has_begin = span.begin > 0;
    writer.write_bool(has_begin);
    if (has_begin) {
        keys.write(array.items[array.by_key[span.begin - 1]].key);
    }
    const bool has_end = span.end < array.count();
    writer.write_bool(has_end);
    if (has_end) {
        keys.write(array.items[array.by_key[span.end - 1]].key);
    }
}

}  // namespace

PropertyWriter::KeyedSet PropertyWriter::choose_keyed_set(CmdIndex index,
                                                          const ShadowKeyedArray& array,
                                                          ElementSpan span,
                                                          const OwedVersions& position) {
    KeyedSet set;
    set.has_order = layout_.cmd(index).property->array_key.order == ArrayOrder::Kept;
    set.may_overflow = array.may_overflow(position, layout_.limits().array_count_max);
    set.is_full = array.needs_full_set(position);
    if (!set.is_full && span.is_cut()) {
        std::array<std::byte, deletion_bytes_in_part_max> room;
        BitWriter trial(room);
        write_deletions(array, position, set.may_overflow ? Deletions::NotHeld : Deletions::Owed,
                        context_.scratch.keys, trial);
        set.is_full = trial.overflowed();
    }
    return set;
}

PropertyWriter::KeyedElement PropertyWriter::collect_keyed_element(const ArrayFrame& frame,
                                                                   const ShadowKeyedArray& array,
                                                                   std::uint32_t index,
                                                                   KeyedSet set,
                                                                   ChangeMask& leaves) const {
    const ShadowKeyedArray::Item& item = array.items[index];
    const std::uint32_t handle_count = frame.element.handle_count;
    leaves.reset(handle_count);
    for (RepHandle leaf{1}; leaf.value <= handle_count; ++leaf.value) {
        if (owes_leaf(frame, leaf, index)) {
            leaves.set(leaf.value - 1);
        }
    }
    const bool owes_rank = set.has_order && frame.position.owes(item.rank_version);
    if (!leaves.any() && !owes_rank && !set.is_full) {
        return {};
    }
    if (item.created > frame.position.held_version) {
        // The receiver may not have it yet, and would make up what it is not told.
        leaves.set_range(0, handle_count);
        return {.is_listed = true, .has_rank = set.has_order, .is_whole = true};
    }
    complete_groups(frame, index, index, leaves);
    return {.is_listed = true, .has_rank = owes_rank};
}

void PropertyWriter::encode_keyed_array(CmdIndex index, const ShadowKeyedArray& array,
                                        ElementSpan span, const OwedVersions& position,
                                        BitWriter& writer) {
    const KeyedSet set = choose_keyed_set(index, array, span, position);
    const ArrayFrame frame{array.elements, layout_.element_scope(index), position, 0};
    const OwedVersions since_held = position.since_held();
    const ArrayFrame whole_frame{array.elements, frame.element, since_held, 0};
    ChangeMask& leaves = context_.scratch.elements[0];
    const std::uint32_t end = std::min(span.end, array.count());
    std::uint32_t count = 0;
    for (std::uint32_t i = span.begin; i < end; ++i) {
        if (collect_keyed_element(frame, array, array.by_key[i], set, leaves).is_listed) {
            ++count;
        }
    }
    writer.write_bool(set.is_full);
    if (set.is_full) {
        write_key_range(array, span, writer);
    } else if (span.begin == 0 || set.may_overflow) {
        write_deletions(array, position, set.may_overflow ? Deletions::NotHeld : Deletions::Owed,
                        context_.scratch.keys, writer);
    } else {
        writer.write_packed_uint(0);  // they went with the first elements
    }
    writer.write_packed_uint(count);
    KeyWriter keys(writer);
    for (std::uint32_t i = span.begin; i < end && !writer.overflowed(); ++i) {
        const std::uint32_t item = array.by_key[i];
        const KeyedElement listed = collect_keyed_element(frame, array, item, set, leaves);
        if (!listed.is_listed) {
            continue;
        }
        keys.write(array.items[item].key);
        if (set.has_order) {
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
