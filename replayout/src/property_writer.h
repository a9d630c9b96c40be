// SPDX-License-Identifier: MIT
//
// Encodes single values out of the shadow, see docs/wire_format.md, "Values".
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/keyed_array.h>
#include <replayout/send_properties.h>

namespace replayout {

/// Elements of a top-level array that may be written; the others are left for another part.
struct ElementSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = RepRange::no_end;

    [[nodiscard]] bool is_cut() const noexcept { return end != RepRange::no_end; }
};

class PropertyWriter {
  public:
    PropertyWriter(ChangelistState& state, const OwedVersions& position, SendContext& context)
        : state_(state),
          layout_(state.layout()),
          position_(position),
          group_position_(position.since_held()),
          context_(context) {}

    /// A block: the set of handles, then their values, from the shared buffer or encoded. Returns
    /// how many.
    std::uint32_t write_block(const ChangeMask& handles, BitWriter& writer);

    /// Its length in bits, as write() would write it.
    [[nodiscard]] std::size_t measure(RepHandle handle);

    /// The elements of an array that lie in `span`, encoded; those of a keyed array are counted by
    /// ascending key.
    void write_elements(RepHandle handle, ElementSpan span, BitWriter& writer);

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
    void count_call(RepHandle handle, EncodeReason reason);
    void note_bits(RepHandle handle, std::size_t bit_count);
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
    /// What decides which elements of the array at `handle` are written: in an atomic group all
    /// that the receiver may not hold.
    [[nodiscard]] const OwedVersions& array_position(const RepScope& scope,
                                                     RepHandle handle) const noexcept {
        return layout_.find_group(scope, handle) == nullptr ? position_ : group_position_;
    }
    /// Null when there is none, and when sharing is off.
    [[nodiscard]] const SharedPiece* find_piece(RepHandle handle, CmdIndex index) const noexcept;
    /// Null: it failed.
    [[nodiscard]] const SharedPiece* build_shared_serialization(RepHandle handle, CmdIndex index);
    [[nodiscard]] BitWriter encode_to_scratch(CmdIndex index);
    void encode(CmdIndex index, ConstShadowBuffer scope_memory, BitWriter& writer);
    void encode_leaf(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitWriter& writer);
    void encode_struct(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitWriter& writer);

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

    /// net_serialize failed: the property of the handle being written is left out.
    void note_failure(const RepLayoutCmd& cmd);
    /// net_serialize answered that the value is not fully mapped.
    void note_unmapped(const RepLayoutCmd& cmd);
    /// Writes the value again, see SendContext::is_validating. `bits` are those of the first time.
    void check_purity(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitReader bits);
    /// One array that is being written.
    struct ArrayFrame {
        const ShadowArray& array;
        const RepScope& element;
        const OwedVersions& position;
        std::uint32_t depth;
    };

    /// A keyed array, see docs/wire_format.md, "Keyed arrays".
    void encode_keyed_array(CmdIndex index, const ShadowKeyedArray& array, ElementSpan span,
                            const OwedVersions& position, BitWriter& writer);
    struct KeyedSet {
        bool has_order = false;
        bool is_full = false;  ///< all elements of `span` are listed: the receiver drops others
        bool may_overflow = false;  ///< deletions that may not have arrived are named again
    };
    [[nodiscard]] KeyedSet choose_keyed_set(CmdIndex index, const ShadowKeyedArray& array,
                                            ElementSpan span, const OwedVersions& position);
    struct KeyedElement {
        bool is_listed = false;
        bool has_rank = false;
        /// The receiver may lack it: of arrays inside of it, too, all that it may not hold.
        bool is_whole = false;
    };
    /// What is written of the element `index`, the leaves of it in `leaves`.
    [[nodiscard]] KeyedElement collect_keyed_element(const ArrayFrame& frame,
                                                     const ShadowKeyedArray& array,
                                                     std::uint32_t index, KeyedSet set,
                                                     ChangeMask& leaves) const;
    /// The set of its leaves, and these.
    void encode_keyed_element(const ArrayFrame& frame, std::uint32_t index,
                              const ChangeMask& leaves, BitWriter& writer);
    void encode_array(CmdIndex index, const ShadowArray& array, ElementSpan span,
                      const OwedVersions& position, std::uint32_t depth, BitWriter& writer);
    /// The leaves of bits `begin` to `end` of the set of changed leaves.
    void encode_elements(const ArrayFrame& frame, std::uint32_t begin, std::uint32_t end,
                         BitWriter& writer);
    void encode_element_leaf(const ArrayFrame& frame, RepHandle handle, ConstShadowBuffer element,
                             BitWriter& writer);
    void collect_elements(const ArrayFrame& frame, ElementSpan span, ChangeMask& changed) const;
    /// Adds to the groups of element `index` what the receiver may not hold of them. `changed`
    /// begins with the leaves of element `first`.
    void complete_groups(const ArrayFrame& frame, std::uint32_t index, std::uint32_t first,
                         ChangeMask& changed) const;
    [[nodiscard]] bool owes_leaf(const ArrayFrame& frame, RepHandle leaf,
                                 std::uint32_t index) const;

    ChangelistState& state_;
    const RepLayout& layout_;
    const OwedVersions& position_;
    OwedVersions group_position_;
    SendContext& context_;
    RepHandle handle_;  // being written or measured
    bool is_measuring_ = false;
    bool has_failed_ = false;  // a value is left out, since somebody cleared it
};

}  // namespace replayout
