// SPDX-License-Identifier: MIT
//
// Encodes single values out of the shadow, see docs/wire_format.md, "Values".
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/send_properties.h>

namespace replayout {

/// Elements of a top-level array that may be written; the others are left for another part.
struct ElementSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = RepRange::no_end;
};

class PropertyWriter {
  public:
    PropertyWriter(ChangelistState& state, const OwedVersions& position, SendContext& context)
        : state_(state), layout_(state.layout()), position_(position), context_(context) {}

    /// The values of the handles of bits `begin` to `end`: from the shared buffer, or encoded.
    void write_values(std::uint32_t begin, std::uint32_t end, BitWriter& writer);

    /// Its length in bits, as write() would write it.
    [[nodiscard]] std::size_t measure(RepHandle handle);

    /// The elements of an array that lie in `span`, encoded.
    void write_elements(RepHandle handle, ElementSpan span, BitWriter& writer);

  private:
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
        return layout_.cmd(index).type == RepLayoutCmdType::DynamicArray;
    }
    /// Null when there is none, and when sharing is off.
    [[nodiscard]] const SharedPiece* find_piece(RepHandle handle, CmdIndex index) const noexcept;
    /// Null: it failed.
    [[nodiscard]] const SharedPiece* build_shared_serialization(RepHandle handle, CmdIndex index);
    [[nodiscard]] BitWriter encode_to_scratch(CmdIndex index);
    void encode(CmdIndex index, ConstShadowBuffer scope_memory, BitWriter& writer);
    void encode_leaf(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitWriter& writer);
    void encode_struct(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitWriter& writer);
    /// net_serialize failed: the property of the handle being written is left out.
    void note_failure(const RepLayoutCmd& cmd);
    /// net_serialize answered that the value is not fully mapped.
    void note_unmapped(const RepLayoutCmd& cmd);
    /// Writes the value again, see SendContext::is_validating. `bits` are those of the first time.
    void check_purity(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitReader bits);
    void encode_array(CmdIndex index, const ShadowArray& array, ElementSpan span,
                      std::uint32_t depth, BitWriter& writer);
    /// The leaves of bits `begin` to `end` of the set of changed leaves.
    void encode_elements(const ShadowArray& array, const RepScope& element, std::uint32_t begin,
                         std::uint32_t end, std::uint32_t depth, BitWriter& writer);
    void encode_element_leaf(CmdIndex index, ConstShadowBuffer element, std::uint32_t depth,
                             BitWriter& writer);
    void collect_elements(CmdIndex index, const ShadowArray& array, ElementSpan span,
                          std::uint32_t depth, ChangeMask& changed) const;
    [[nodiscard]] bool owes_leaf(CmdIndex leaf, Version last_changed, std::uint32_t element,
                                 std::uint32_t depth, ConstShadowBuffer memory) const;

    ChangelistState& state_;
    const RepLayout& layout_;
    const OwedVersions& position_;
    SendContext& context_;
    RepHandle handle_;  // being written or measured
    bool is_measuring_ = false;
    bool has_failed_ = false;  // a net_serialize, since somebody cleared it
};

}  // namespace replayout
