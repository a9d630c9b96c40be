// SPDX-License-Identifier: MIT
//
// Writes a block of an object out of the shadow: the set of handles, then their values, each copied
// from the shared buffer or encoded. It decides which of the two, and counts; the bits of a value
// come from write_leaf(), write_dynamic_array() and KeyedArrayWriter.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/change_mask.h>
#include <replayout/send_properties.h>

#include "array_elements.h"
#include "keyed_array_writer.h"
#include "shared_pieces.h"
#include "write_context.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

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
    PropertyWriter(ChangelistState& state, const OwedVersions& position, SendContext& sending)
        : context_(state, position, sending) {}

    /// A block: the set of handles, then their values, from the shared buffer or encoded. Returns
    /// how many.
    std::uint32_t write_block(const ChangeMask& handles, BitWriter& writer);

    /// Encodes a value that is shared, and keeps it where pieces are.
    void encode_shared(RepHandle handle);

    /// Its length in bits, as write_block() writes it.
    [[nodiscard]] std::size_t measure(RepHandle handle);

    /// The elements of a dynamic array that lie in `span`, encoded.
    void write_elements(RepHandle handle, ElementSpan span, BitWriter& writer);

    /// Writes a keyed array in parts; see KeyedArrayCutter.
    [[nodiscard]] KeyedArrayWriter keyed_array(RepHandle handle);

  private:
    /// The values of the handles of bits `begin` to `end`.
    void write_run(std::uint32_t begin, std::uint32_t end, BitWriter& writer);
    void write_value(RepHandle handle, BitWriter& writer);
    /// A value that is not written in place, for this receiver alone.
    void write_unshared(RepHandle handle, const RepLayoutCmd& cmd, CmdIndex index, bool may_be_kept,
                        BitWriter& writer);
    /// Counts plain values that were written.
    void count_plain(std::uint32_t begin, std::uint32_t end);
    /// The same for SendContext::type_counters, which is not null.
    void count_plain_by_handle(std::uint32_t begin, std::uint32_t end);
    /// Null: the value cannot be written.
    [[nodiscard]] const SharedPiece* build_shared_serialization(RepHandle handle, CmdIndex index);
    [[nodiscard]] BitWriter encode_to_scratch(CmdIndex index);
    void encode(CmdIndex index, BitWriter& writer);
    [[nodiscard]] SharedPieces pieces() const noexcept { return SharedPieces(context_); }

    WriteContext context_;
};

}  // namespace replayout
