// SPDX-License-Identifier: MIT
//
// Stable names in messages: packed count of bytes, then UTF-8. Never empty.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/net_guid.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/reflection/hash.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replayout {

/// Bytes that the longest takes.
inline constexpr std::size_t stable_name_encoded_bytes_max = 1 + stable_name_bytes_max;
static_assert(stable_name_bytes_max < 128, "its count takes one byte");

/// Of a name and the object within which it is one; null: that of the map. Never 0. Equal keys are
/// equal names but for one chance in 2^63.
[[nodiscard]] inline std::uint64_t stable_name_key(NetGUID outer, std::string_view name) noexcept {
    return (hash64(name) + outer.value * 0x9E37'79B9'7F4A'7C15u) | 1u;
}

void write_stable_name(BitWriter& writer, std::string_view name) noexcept;
/// Lies in the message. The reader fails on what is no such name.
[[nodiscard]] std::string_view read_stable_name(BitReader& reader) noexcept;

}  // namespace replayout
