// SPDX-License-Identifier: MIT
//
// Values as they lie in memory: in the byte order of this machine, aligned or not, of a type that
// the compiler knows (load_native, store_native), or integers of a size that a layout tells
// (load_integer, store_integer). What goes on the wire is the value of the integer, not these
// bytes.
//
// All of it is inline: a load whose size is known becomes one instruction.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <cstdint>
#include <cstring>

namespace replayout {

template <typename Value>
[[nodiscard]] Value load_native(const void* memory) noexcept {
    Value value{};
    std::memcpy(&value, memory, sizeof(value));
    return value;
}

template <typename Value>
void store_native(void* memory, Value value) noexcept {
    std::memcpy(memory, &value, sizeof(value));
}

/// An unsigned integer of 1, 2, 4 or 8 bytes; of a signed one, the bits without its sign extended.
[[nodiscard]] inline std::uint64_t load_integer(const void* memory, std::uint32_t size) noexcept {
    switch (size) {
        case 1:
            return load_native<std::uint8_t>(memory);
        case 2:
            return load_native<std::uint16_t>(memory);
        case 4:
            return load_native<std::uint32_t>(memory);
        default:
            REPLAYOUT_ASSERT(size == 8);
            return load_native<std::uint64_t>(memory);
    }
}

/// The lowest 1, 2, 4 or 8 bytes of `value`.
inline void store_integer(void* memory, std::uint64_t value, std::uint32_t size) noexcept {
    switch (size) {
        case 1:
            return store_native(memory, static_cast<std::uint8_t>(value));
        case 2:
            return store_native(memory, static_cast<std::uint16_t>(value));
        case 4:
            return store_native(memory, static_cast<std::uint32_t>(value));
        default:
            REPLAYOUT_ASSERT(size == 8);
            return store_native(memory, value);
    }
}

}  // namespace replayout
