// SPDX-License-Identifier: MIT
//
// Which form a value takes as a variable of a behaviour, or as an argument of a remote call: what
// UNet's weaver chose (facts of Unity HLAPI 1.1.1).
//
//     bool                                   one byte
//     integers of 8 to 32 bits, char, enum   packed, 32 bits, as a cast to uint32 makes them
//     integers of 64 bits                    packed, 64 bits
//     float, double                          4 and 8 bytes
//     text                                   NetworkWriter::write_string
//     all else                               NetworkWriter::write
//
// Signs are not folded: -1 takes five bytes.
#pragma once

#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace replayout {

template <typename T>
concept UNetInteger = (std::is_integral_v<T> || std::is_enum_v<T>)&&!std::is_same_v<T, bool> &&
                      sizeof(T) <= 8;

/// An integer as the weaver packs it.
template <UNetInteger T>
void write_woven(NetworkWriter& writer, T value) noexcept {
    if constexpr (sizeof(T) == 8) {
        writer.write_packed_uint64(static_cast<std::uint64_t>(value));
    } else {
        writer.write_packed_uint32(static_cast<std::uint32_t>(value));
    }
}

/// A bool and nothing that becomes one, as a pointer to characters would.
template <std::same_as<bool> T>
void write_woven(NetworkWriter& writer, T value) noexcept {
    writer.write_bool(value);
}
inline void write_woven(NetworkWriter& writer, float value) noexcept {
    writer.write_float(value);
}
inline void write_woven(NetworkWriter& writer, double value) noexcept {
    writer.write_double(value);
}
inline void write_woven(NetworkWriter& writer, std::string_view value) noexcept {
    writer.write_string(value);
}
template <typename T>
requires requires(NetworkWriter& writer, const T& value) {
    writer.write(value);
}
void write_woven(NetworkWriter& writer, const T& value) noexcept {
    writer.write(value);
}

/// The value; as it was, after an error. An integer that T cannot hold is an error unless the
/// reader is lenient, which drops its high bits as the original's cast does.
template <UNetInteger T>
void read_woven(NetworkReader& reader, T& value) noexcept {
    if constexpr (sizeof(T) == 8) {
        const std::uint64_t bits = reader.read_packed_uint64();
        value = reader.failed() ? value : static_cast<T>(bits);
    } else {
        const std::uint32_t bits = reader.read_packed_uint32();
        const T read = static_cast<T>(bits);
        if (reader.is_strict() && static_cast<std::uint32_t>(read) != bits) {
            reader.fail(UNetError::ValueOutOfRange);
        }
        value = reader.failed() ? value : read;
    }
}

inline void read_woven(NetworkReader& reader, bool& value) noexcept {
    const bool read = reader.read_bool();
    value = reader.failed() ? value : read;
}
inline void read_woven(NetworkReader& reader, float& value) noexcept {
    const float read = reader.read_float();
    value = reader.failed() ? value : read;
}
inline void read_woven(NetworkReader& reader, double& value) noexcept {
    const double read = reader.read_double();
    value = reader.failed() ? value : read;
}
/// Allocates what the text takes, whose bytes are there.
inline void read_woven(NetworkReader& reader, std::string& value) {
    const std::string_view read = reader.read_string();
    if (!reader.failed()) {
        value.assign(read);
    }
}
template <typename T>
requires requires(NetworkReader& reader, T& value) {
    reader.read(value);
}
void read_woven(NetworkReader& reader, T& value) noexcept {
    reader.read(value);
}

}  // namespace replayout
