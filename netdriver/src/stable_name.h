// SPDX-License-Identifier: MIT
//
// Stable names in messages: packed count of bytes, then UTF-8. Never empty.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/netdriver/spawn_parameters.h>

#include <cstddef>
#include <string_view>

namespace replayout {

/// Bytes that the longest takes.
inline constexpr std::size_t stable_name_encoded_bytes_max = 1 + stable_name_bytes_max;
static_assert(stable_name_bytes_max < 128, "its count takes one byte");

void write_stable_name(BitWriter& writer, std::string_view name) noexcept;
/// Lies in the message. The reader fails on what is no such name.
[[nodiscard]] std::string_view read_stable_name(BitReader& reader) noexcept;

}  // namespace replayout
