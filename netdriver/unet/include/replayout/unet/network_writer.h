// SPDX-License-Identifier: MIT
//
// UNet's NetworkWriter, byte for byte (facts of Unity HLAPI 1.1.1; docs/unity.md has the table). A
// method that is called by hand writes the plain form of its type, little-endian; which form the
// variables of a behaviour take stands in unet_woven.h.
//
// A packed integer says in its first byte how many follow, as a varint of SQLite 4. Two forms are
// counted from a bias and have their high byte first, the longer ones are plain and little-endian:
//
//     F0 and below       the value
//     F1 .. F8  b        240 + 256 * (first - F1) + b
//     F9        b c      2288 + 256 * b + c
//     FA .. FF  ...      3 to 8 bytes, lowest first
//
// The writer keeps the first error (UNetError): what does not fit, or cannot be said, is not
// written, and nothing after it until rewind(). One check at the end is enough. It allocates
// nothing.
#pragma once

#include <replayout/unet/unet_error.h>
#include <replayout/unet/unet_values.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace replayout {

/// Text of this many bytes is too long, on both sides (Unity HLAPI 1.1.1).
inline constexpr std::size_t unet_text_bytes_end = 32768;
/// Bytes that a byte array may have: what its count can tell.
inline constexpr std::size_t unet_bytes_max = 65535;

namespace detail {

inline constexpr std::uint64_t unet_packed_1_max = 240;
inline constexpr std::uint64_t unet_packed_2_max = 2287;
inline constexpr std::uint64_t unet_packed_3_max = 67823;
/// The first byte of the form with n bytes behind it (3 to 8) is this + n.
inline constexpr std::uint8_t unet_packed_plain_prefix = 0xF7;

}  // namespace detail

/// Bytes that the packed form of `value` takes: 1 to 9.
[[nodiscard]] constexpr std::size_t unet_packed_bytes(std::uint64_t value) noexcept {
    if (value <= detail::unet_packed_1_max) {
        return 1;
    }
    if (value <= detail::unet_packed_2_max) {
        return 2;
    }
    if (value <= detail::unet_packed_3_max) {
        return 3;
    }
    return 1 + (static_cast<std::size_t>(std::bit_width(value)) + 7) / 8;
}

class NetworkWriter {
  public:
    /// Where a writer stood; see rewind().
    struct Mark {
        std::size_t position;
    };

    /// Writes into `buffer`, which must outlive the writer.
    explicit NetworkWriter(std::span<std::byte> buffer) noexcept : buffer_(buffer) {}

    void write_bool(bool value) noexcept { write_uint8(value ? 1 : 0); }
    /// One byte, as the original's Write(char), which loses the high one: here a character above
    /// 0xFF is an error.
    void write_char(char16_t value) noexcept;
    void write_int8(std::int8_t value) noexcept { write_plain(value); }
    void write_int16(std::int16_t value) noexcept { write_plain(value); }
    void write_int32(std::int32_t value) noexcept { write_plain(value); }
    void write_int64(std::int64_t value) noexcept { write_plain(value); }
    void write_uint8(std::uint8_t value) noexcept { write_plain(value); }
    void write_uint16(std::uint16_t value) noexcept { write_plain(value); }
    void write_uint32(std::uint32_t value) noexcept { write_plain(value); }
    void write_uint64(std::uint64_t value) noexcept { write_plain(value); }
    void write_float(float value) noexcept { write_uint32(std::bit_cast<std::uint32_t>(value)); }
    void write_double(double value) noexcept { write_uint64(std::bit_cast<std::uint64_t>(value)); }

    /// The shortest form.
    void write_packed_uint32(std::uint32_t value) noexcept { write_packed_uint64(value); }
    void write_packed_uint64(std::uint64_t value) noexcept;

    /// Count of bytes (16 bits), then UTF-8. The original's null is "" here, and on its wire.
    void write_string(std::string_view text) noexcept;
    /// Count of bytes (16 bits), then they.
    void write_bytes_and_size(std::span<const std::byte> bytes) noexcept;
    /// How many elements follow, 16 bits: the beginning of a list's initial state. More than that
    /// can tell are an error.
    void write_count(std::size_t count) noexcept;
    /// The bytes alone.
    void write_bytes(std::span<const std::byte> bytes) noexcept;

    template <UNetFloats T>
    void write(const T& value) noexcept {
        write_floats(std::bit_cast<std::array<float, sizeof(T) / sizeof(float)>>(value));
    }
    void write(const Color32& value) noexcept;
    void write(const Ray& value) noexcept;
    void write(const Decimal& value) noexcept;
    void write(const NetworkHash128& value) noexcept { write_bytes(value.bytes); }
    void write(NetworkInstanceId value) noexcept { write_packed_uint32(value.value); }
    void write(NetworkSceneId value) noexcept { write_packed_uint32(value.value); }

    /// Puts `value` where two bytes were written before, at `position`: a size that is now known.
    void overwrite_uint16(std::size_t position, std::uint16_t value) noexcept;

    /// The caller cannot say what it has to. Keeps an error that is there already.
    void fail(UNetError error) noexcept;

    [[nodiscard]] bool failed() const noexcept { return error_ != UNetError::None; }
    [[nodiscard]] UNetError error() const noexcept { return error_; }
    [[nodiscard]] std::size_t byte_count() const noexcept { return position_; }
    [[nodiscard]] std::size_t bytes_left() const noexcept { return buffer_.size() - position_; }

    [[nodiscard]] Mark mark() const noexcept { return {position_}; }
    /// Forgets what was written since `mark`, and an error with it.
    void rewind(Mark mark) noexcept;

    /// What was written.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return buffer_.first(position_);
    }

  private:
    /// Room for `count` bytes, behind which the writer then stands; or null, and failed.
    [[nodiscard]] std::byte* take(std::size_t count) noexcept;
    void write_bits(std::uint64_t value, std::size_t byte_count) noexcept;
    template <typename T>
    void write_plain(T value) noexcept {
        write_bits(static_cast<std::uint64_t>(value), sizeof(T));
    }
    void write_floats(std::span<const float> values) noexcept;
    void write_counted(std::span<const std::byte> bytes) noexcept;

    std::span<std::byte> buffer_;
    std::size_t position_ = 0;
    UNetError error_ = UNetError::None;
};

}  // namespace replayout
