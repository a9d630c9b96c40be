// SPDX-License-Identifier: MIT
//
// Blocks of a Pawn (test_world.h) put together by hand: its handles, and how text travels.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "support/hostile/packet_forge.h"
#include "support/worlds/test_world.h"

namespace replayout::test {

inline constexpr std::uint32_t pawn_handles = 6;
inline constexpr std::uint32_t health_handle = 1;
inline constexpr std::uint32_t name_handle = 2;
inline constexpr std::uint32_t target_handle = 4;
inline constexpr std::uint32_t hits_handle = 5;
inline constexpr std::uint32_t friends_handle = 6;

inline void write_text(BitWriter& writer, const std::string& text) {
    writer.write_packed_uint(text.size());
    for (const char character : text) {
        writer.write_bits(static_cast<unsigned char>(character), 8);
    }
}

[[nodiscard]] inline Bytes pawn_block(std::initializer_list<std::uint32_t> handles,
                                      const std::function<void(BitWriter&)>& write_values) {
    return make_block(pawn_handles, handles, write_values);
}

[[nodiscard]] inline Bytes health_block(std::uint32_t value) {
    return pawn_block({health_handle}, [=](BitWriter& writer) { writer.write_bits(value, 32); });
}

// Facts of an open (docs/wire_format.md).
inline constexpr std::uint64_t open_is_named = 16;
inline constexpr std::uint64_t open_has_outer = 512;

[[nodiscard]] inline Bunch open_part(std::uint32_t channel, std::uint64_t guid,
                                     std::uint64_t outer) {
    return open_bunch(channel, NetGUID{guid}, TestSchema::pawn_number, open_has_outer,
                      [outer](BitWriter& writer) { writer.write_packed_uint(outer); });
}

}  // namespace replayout::test
