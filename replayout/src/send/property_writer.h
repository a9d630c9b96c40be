// SPDX-License-Identifier: MIT
//
// Encodes single values out of the shadow, see docs/wire_format.md, "Values".
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/keyed_array.h>
#include <replayout/send_properties.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace replayout {

/// Elements of a top-level array that may be written; the others are left for another part.
struct ElementSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = std::numeric_limits<std::uint32_t>::max();
};

/// What is written of a keyed array, in one part of it or at once.
struct KeyedPart {
    PlaceSpan places;      ///< a full set speaks of these
    ElementSpan span;      ///< the elements there, by ascending key
    bool is_full = false;  ///< all of them are listed: the receiver drops others
    bool has_deletions = false;
};

/// What does not depend on where a keyed array is cut. Its lists lie in the scratch: `keys`, the
/// deletions to be named, and `full_spans`, where only a full set will do.
struct KeyedPlan {
    bool has_order = false;
    bool may_overflow = false;  ///< deletions that may not have arrived are named again
};

/// Counts the plain values of bits [begin, end), written out of the shadow; not by type.
inline void count_plain_values(ChangelistState& state, std::uint32_t begin, std::uint32_t end,
                               SendContext& context) {
    ReplicationCounters& counters = context.counters;
    const std::uint32_t count = end - begin;
    if (!context.shares_pieces()) {
        counters.values_encoded += count;
        return;
    }
    const std::uint32_t built =
        state.shared().use_in_place(begin, state.last_changed().subspan(begin, count));
    counters.values_encoded += built;
    counters.values_reused += count - built;
}

class PropertyWriter {
  public:
    PropertyWriter(ChangelistState& state, const OwedVersions& position, SendContext& context)
        : state_(state), layout_(state.layout()), position_(position), context_(context) {}

    /// A block: the set of handles, then their values, from the shared buffer or encoded. Returns
    /// how many.
    std::uint32_t write_block(const ChangeMask& handles, BitWriter& writer);

    /// Encodes a value that is shared, and keeps it where pieces are.
    void encode_shared(RepHandle handle);

    /// Its length in bits, as write_block() writes it.
    [[nodiscard]] std::size_t measure(RepHandle handle);

    /// The elements of a dynamic array that lie in `span`, encoded.
    void write_elements(RepHandle handle, ElementSpan span, BitWriter& writer);

    // A keyed array in parts; see KeyedArrayCutter.
    [[nodiscard]] KeyedPlan plan_keyed_parts(RepHandle handle);
    /// The first element from `span.begin` on of which anything is owed, or `span.end`.
    [[nodiscard]] std::uint32_t find_owed_element(RepHandle handle, const KeyedPlan& plan,
                                                  ElementSpan span);
    void write_keyed_part(RepHandle handle, const KeyedPlan& plan, const KeyedPart& part,
                          BitWriter& writer);

  private:
    /// The values of the handles of bits `begin` to `end`.
    void write_run(std::uint32_t begin, std::uint32_t end, BitWriter& writer);
    void write_value(RepHandle handle, BitWriter& writer);
    /// Leaves of the scope at `memory` from `begin` to `end`, which lie in one plain row.
    void write_row(const RepScope& scope, ConstShadowBuffer memory, RepHandle begin, RepHandle end,
                   BitWriter& writer) const noexcept;
    /// Plain values were written: counts them.
    void count_plain(std::uint32_t begin, std::uint32_t end);
    // For SendContext::type_counters, which is not null.
    void count_plain_by_handle(std::uint32_t begin, std::uint32_t end);
    [[nodiscard]] EncodeReason reason_of_miss(RepHandle handle) const noexcept;
    [[nodiscard]] EncodeReason reason_of_array_miss(RepHandle handle) const noexcept;
    /// The serializer of the value at `handle` is called.
    void count_encoded(RepHandle handle, EncodeReason reason);
    void count_serializer_call();
    void note_bits(RepHandle handle, std::size_t bit_count, bool is_copied = false);
    [[nodiscard]] bool is_array(CmdIndex index) const noexcept {
        return replayout::is_array(layout_.cmd(index).type);
    }
    [[nodiscard]] bool is_delta(CmdIndex index) const noexcept {
        return replayout::is_delta(layout_.cmd(index).type);
    }
    /// Of what is written depends on what the receiver holds: the question that a piece answers.
    [[nodiscard]] OwedVersions question_of(RepHandle handle, CmdIndex index) const noexcept {
        return is_delta(index) ? delta_question(handle) : array_position(layout_.root(), handle);
    }
    /// Nobody else lost the same in several places, and what says where is only lent.
    [[nodiscard]] bool is_shared_question(RepHandle handle, CmdIndex index) const noexcept {
        return !is_array(index) || array_position(layout_.root(), handle).lost_parts.empty();
    }
    /// What decides which elements of the array at `handle` are written: in an atomic group all
    /// that the receiver may not hold.
    [[nodiscard]] const OwedVersions& array_position(const RepScope& scope,
                                                     RepHandle handle) const noexcept {
        return layout_.find_group(scope, handle) == nullptr ? position_ : group_position();
    }
    /// What the receiver may not hold. Made when it is first asked for, as few objects have groups.
    [[nodiscard]] const OwedVersions& group_position() const noexcept {
        if (!group_position_) {
            group_position_ = position_.since_held();
        }
        return *group_position_;
    }
    /// Whether there is no piece because the value could not be written for another receiver.
    [[nodiscard]] bool has_failed_before(RepHandle handle, CmdIndex index) const noexcept;
    /// Null when there is none, and when sharing is off.
    [[nodiscard]] const SharedPiece* find_piece(RepHandle handle, CmdIndex index) const noexcept;
    /// Null: it failed.
    [[nodiscard]] const SharedPiece* build_shared_serialization(RepHandle handle, CmdIndex index);
    [[nodiscard]] BitWriter encode_to_scratch(CmdIndex index);
    void encode(CmdIndex index, ConstShadowBuffer scope_memory, BitWriter& writer);
    void encode_leaf(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitWriter& writer);

    // A struct with a NetSerializer; struct_writer.cpp.
    void encode_struct(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitWriter& writer);
    /// net_serialize failed: the property of the handle being written is left out.
    void note_failure(const RepLayoutCmd& cmd, ConstShadowBuffer leaf);
    /// Remembers the failure for all receivers. False: it was known from another receiver.
    [[nodiscard]] bool note_shared_failure();
    /// net_serialize answered that the value is not fully mapped.
    void note_unmapped(const RepLayoutCmd& cmd);
    /// Logs once for each property.
    void log_put_off(const RepLayoutCmd& cmd, bool is_shared);
    /// Writes the value again, see SendContext::is_validating. `bits` are those of the first time.
    void check_purity(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitReader bits);

    // A struct with a NetDeltaSerializer; delta_writer.cpp.
    void encode_delta(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitWriter& writer);
    /// What it is written from for this receiver.
    [[nodiscard]] DeltaBase delta_base(RepHandle handle) const noexcept;
    /// The same as what a piece is kept under.
    [[nodiscard]] OwedVersions delta_question(RepHandle handle) const noexcept;
    /// The delta of that handle stands in the block.
    void note_delta(RepHandle handle);
    /// There is nothing to send: it is left out.
    void note_unchanged(RepHandle handle, Version from, Version to);
    void keep_delta_state(const RepLayoutCmd& cmd, const NetDeltaStatePtr& made);

    // Arrays; dynamic_array_writer.cpp, and keyed_array_writer.cpp.
    /// One array that is being written.
    struct ArrayFrame {
        const ShadowArray& array;
        const RepScope& element;
        const OwedVersions& position;
        std::uint32_t depth;
        RepHandle handle;                         ///< at the top
        const ShadowKeyedArray* keyed = nullptr;  ///< null: it has no keys
    };
    [[nodiscard]] static OwedAt owed_at(const ArrayFrame& frame, std::uint32_t index) noexcept;

    // A keyed array, see docs/wire_format.md, "Keyed arrays".
    void encode_whole_keyed_array(CmdIndex index, const ShadowKeyedArray& array,
                                  const OwedVersions& position, BitWriter& writer);
    void encode_keyed_part(const ArrayFrame& frame, const KeyedPlan& plan, const KeyedPart& part,
                           BitWriter& writer);
    /// How much of an array goes as full sets: what the log says nothing of; what is new, too,
    /// where it might be too much otherwise; all that was lost; all.
    enum class FullSets : std::uint8_t { Forgotten, New, Lost, All };
    void collect_full_spans(const ArrayFrame& frame, const KeyedPlan& plan, FullSets full_sets);
    void add_new_elements(const ArrayFrame& frame, const KeyedPlan& plan);
    [[nodiscard]] bool needs_whole_set(const ArrayFrame& frame, const KeyedPlan& plan);
    /// A receiver that does not hear of removals might end with more elements than an array may
    /// have.
    [[nodiscard]] bool may_overflow(const ArrayFrame& frame) const noexcept;
    /// Elements are owed that the receiver may lack, and that are in no full set.
    [[nodiscard]] bool adds_elements(const ArrayFrame& frame, const KeyedPlan& plan);
    /// Also whether the plan has to name removals again.
    void collect_deletions(const ArrayFrame& frame, KeyedPlan& plan);
    /// The receiver may not have that element.
    [[nodiscard]] static bool may_lack(const ArrayFrame& frame,
                                       const ShadowKeyedArray::Item& item) noexcept {
        return std::max(item.created, frame.keyed->restart_version(frame.position)) >
               frame.position.held_version;
    }
    [[nodiscard]] KeyedPlan begin_keyed_plan(const ArrayFrame& frame) const noexcept;
    [[nodiscard]] ArrayFrame keyed_frame(CmdIndex index, const ShadowKeyedArray& array,
                                         const OwedVersions& position) const noexcept;
    [[nodiscard]] ArrayFrame keyed_frame(RepHandle handle) const noexcept;
    struct KeyedElement {
        bool is_listed = false;
        bool has_rank = false;
        /// The receiver may lack it: of arrays inside of it, too, all that it may not hold.
        bool is_whole = false;
    };
    /// What is written of the element `index`, the leaves of it in `leaves`.
    [[nodiscard]] KeyedElement collect_keyed_element(const ArrayFrame& frame, std::uint32_t index,
                                                     const KeyedPlan& plan, bool is_full,
                                                     ChangeMask& leaves) const;
    /// The set of its leaves, and these.
    void encode_keyed_element(const ArrayFrame& frame, std::uint32_t index,
                              const ChangeMask& leaves, BitWriter& writer);
    void encode_array(CmdIndex index, const ShadowArray& array, ElementSpan span,
                      const OwedVersions& position, std::uint32_t depth, BitWriter& writer);
    /// The leaves of bits `begin` to `end` of the set of changed leaves.
    void encode_elements(const ArrayFrame& frame, std::uint32_t begin, std::uint32_t end,
                         BitWriter& writer);
    void encode_element_leaf(const ArrayFrame& frame, std::uint32_t index, RepHandle handle,
                             BitWriter& writer);
    void collect_elements(const ArrayFrame& frame, ElementSpan span, ChangeMask& changed) const;
    /// Adds to the groups of element `index` what the receiver may not hold of them. `changed`
    /// begins with the leaves of element `first`.
    void complete_groups(const ArrayFrame& frame, std::uint32_t index, std::uint32_t first,
                         ChangeMask& changed) const;
    [[nodiscard]] bool owes_leaf(const ArrayFrame& frame, RepHandle leaf, std::uint32_t index,
                                 const OwedAt& owed) const;

    ChangelistState& state_;
    const RepLayout& layout_;
    const OwedVersions& position_;
    mutable std::optional<OwedVersions> group_position_;  // see group_position()
    SendContext& context_;
    RepHandle handle_;  // being written or measured
    bool is_measuring_ = false;
    bool has_failed_ = false;  // a value is left out, since somebody cleared it
};

inline void PropertyWriter::write_row(const RepScope& scope, ConstShadowBuffer memory,
                                      RepHandle begin, RepHandle end,
                                      BitWriter& writer) const noexcept {
    const ShadowOffset first = layout_.plain_leaf(scope, begin).shadow_begin;
    const ShadowOffset last = layout_.plain_leaf(scope, RepHandle{end.value - 1}).shadow_end;
    writer.write_bytes({(memory + first).data(), last.value - first.value});
}

}  // namespace replayout
