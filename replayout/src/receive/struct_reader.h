// SPDX-License-Identifier: MIT
//
// Decodes values of structs with a NetSerializer, and keeps the bits of those that name objects.
#pragma once

#include <replayout/receive_properties.h>

#include <cstddef>

namespace replayout {

class StructReader {
  public:
    /// Before a block is checked, and before it is applied.
    static void begin_check(ReceiveScratch& scratch) noexcept {
        parts_of(scratch).struct_lengths.begin_check();
    }
    static void begin_apply(ReceiveScratch& scratch) noexcept {
        parts_of(scratch).struct_lengths.begin_apply();
    }

    StructReader(const RepLayout& layout, ReceiveContext& context) noexcept
        : layout_(layout), context_(context), parts_(parts_of(context.scratch)) {}

    /// Into a value of its own, which is thrown away. What is wrong makes the reader fail.
    void check(const RepLayoutCmd& cmd, const RepPath& path, BitReader& reader);

    /// Into the value at `memory`. Returns whether that changed. The reader goes on behind the bits
    /// that check() found, whatever net_serialize reads this time.
    [[nodiscard]] bool apply(const RepLayoutCmd& cmd, BitReader& reader, std::byte* memory,
                             const RepPath& path, ReceivingRepState& state);

    /// Instead of apply(), where nothing is written.
    void skip(BitReader& reader) noexcept { reader.skip_bits(parts_.struct_lengths.take_next()); }

    /// The same bits once more, because an object that they name appeared or went.
    [[nodiscard]] bool apply_again(const RepLayoutCmd& cmd, std::byte* memory, const RepPath& path,
                                   const ReceivingRepState::SerializedValue& value);

  private:
    /// Whether net_serialize took the value; else it was logged and counted.
    [[nodiscard]] bool read(const RepLayoutCmd& cmd, const RepPath& path, BitReader& reader,
                            void* memory);
    /// Sorts the ids of the last value, and enters it into the table. False: no room.
    [[nodiscard]] bool keep(const RepPath& path, const BitReader& begin, std::uint32_t bit_count,
                            ReceivingRepState& state);

    const RepLayout& layout_;
    ReceiveContext& context_;
    detail::ReceiveParts& parts_;
};

}  // namespace replayout
