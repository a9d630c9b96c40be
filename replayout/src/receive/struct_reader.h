// SPDX-License-Identifier: MIT
//
// Decodes values of structs with a NetSerializer, and keeps the bits of those that name objects;
// and deltas of structs with a NetDeltaSerializer.
#pragma once

#include <replayout/receive_properties.h>
#include <replayout/shadow_state.h>

#include <cstddef>
#include <utility>

namespace replayout {

class StructReader {
  public:
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

    /// Reads the delta into a copy of `present`, which is thrown away; where that is null, or the
    /// receiver does not hold the base, passes over it. What is wrong makes the reader fail.
    void check_delta(const RepLayoutCmd& cmd, BitReader& reader, const std::byte* present,
                     const ReceivingRepState* state);

    /// Reads the delta into the value at `memory`, if that is the base; or, of one that was carried
    /// over (ReceivingRepState::is_delta_carried_over), into a copy of the archetype's, which it
    /// then becomes. Returns whether it changed.
    [[nodiscard]] bool apply_delta(const RepLayoutCmd& cmd, BitReader& reader, std::byte* memory,
                                   ReceivingRepState& state);

  private:
    template <class Write>
    bool change(const RepLayoutCmd& cmd, std::byte* memory, MemoryResource* resource,
                const Write& write);
    /// Whether net_delta_serialize took the value and all its bits; else it was counted.
    [[nodiscard]] bool read_delta(const RepLayoutCmd& cmd, BitReader reader, std::size_t bit_count,
                                  void* memory);
    [[nodiscard]] const std::byte* archetype_of(const RepLayoutCmd& cmd) const noexcept {
        return (std::as_const(layout_.archetype()).buffer() + cmd.shadow_offset).data();
    }
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
