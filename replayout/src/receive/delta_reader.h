// SPDX-License-Identifier: MIT
//
// Decodes deltas of structs with a NetDeltaSerializer.
#pragma once

#include <replayout/receive_properties.h>

#include <cstddef>

namespace replayout {

/// What stands before the bits of a delta.
struct DeltaHeader {
    Version from = 0;
    Version to = 0;
    std::size_t bit_count = 0;
};
/// Fails on what no sender writes; then there are no bits.
[[nodiscard]] DeltaHeader read_delta_header(BitReader& reader) noexcept;

class DeltaReader {
  public:
    DeltaReader(const RepLayout& layout, ReceiveContext& context) noexcept
        : layout_(layout), context_(context) {}

    /// Into a copy of `present`, which is thrown away; null, or where the receiver does not hold
    /// the base: passes over it. What is wrong makes the reader fail.
    void check(const RepLayoutCmd& cmd, BitReader& reader, const std::byte* present, Version held);

    /// Into the value at `memory`, if that is the base; or, of one that was carried over
    /// (ReceivingRepState::is_delta_carried_over), into a copy of `archetype`, which it then
    /// becomes. Returns whether it changed.
    [[nodiscard]] bool apply(const RepLayoutCmd& cmd, BitReader& reader, std::byte* memory,
                             const void* archetype, ReceivingRepState& state);

  private:
    [[nodiscard]] bool read(const RepLayoutCmd& cmd, BitReader reader, std::size_t bit_count,
                            void* memory);

    const RepLayout& layout_;
    ReceiveContext& context_;
};

}  // namespace replayout
