// SPDX-License-Identifier: MIT
//
// Blocks of a Pawn (test_world.h) put together by hand: its handles, and how text travels.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "support/hostile/packet_forge.h"

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

}  // namespace replayout::test
