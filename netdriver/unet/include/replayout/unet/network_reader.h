// SPDX-License-Identifier: MIT
//
// The mirror of NetworkWriter. It reads the bytes that it was given and no others, and allocates
// nothing: text and byte arrays are handed out where they lie.
//
// The first error stays (UNetError); the read that met it, and all after it, give zero or nothing
// and move nothing. It never asserts on what it reads. What UNet's writer never writes is an error
// as well, unless the reader is lenient; see UNetStrictness.
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

class NetworkReader {
  public:
    /// Reads `bytes`, which must outlive the reader and what it hands out.
    explicit NetworkReader(std::span<const std::byte> bytes,
                           UNetStrictness strictness = UNetStrictness::Strict) noexcept
        : bytes_(bytes), strictness_(strictness) {}

    [[nodiscard]] bool read_bool() noexcept;
    /// One byte; see NetworkWriter::write_char.
    [[nodiscard]] char16_t read_char() noexcept { return char16_t{read_uint8()}; }
    [[nodiscard]] std::int8_t read_int8() noexcept { return read_plain<std::int8_t>(); }
    [[nodiscard]] std::int16_t read_int16() noexcept { return read_plain<std::int16_t>(); }
    [[nodiscard]] std::int32_t read_int32() noexcept { return read_plain<std::int32_t>(); }
    [[nodiscard]] std::int64_t read_int64() noexcept { return read_plain<std::int64_t>(); }
    [[nodiscard]] std::uint8_t read_uint8() noexcept { return read_plain<std::uint8_t>(); }
    [[nodiscard]] std::uint16_t read_uint16() noexcept { return read_plain<std::uint16_t>(); }
    [[nodiscard]] std::uint32_t read_uint32() noexcept { return read_plain<std::uint32_t>(); }
    [[nodiscard]] std::uint64_t read_uint64() noexcept { return read_plain<std::uint64_t>(); }
    [[nodiscard]] float read_float() noexcept { return std::bit_cast<float>(read_uint32()); }
    [[nodiscard]] double read_double() noexcept { return std::bit_cast<double>(read_uint64()); }

    [[nodiscard]] std::uint32_t read_packed_uint32() noexcept;
    [[nodiscard]] std::uint64_t read_packed_uint64() noexcept;

    /// UTF-8 where it lies.
    [[nodiscard]] std::string_view read_string() noexcept;
    /// A count of bytes, then they where they lie.
    [[nodiscard]] std::span<const std::byte> read_bytes_and_size() noexcept;
    /// The next `count` bytes where they lie.
    [[nodiscard]] std::span<const std::byte> take_bytes(std::size_t count) noexcept;
    /// All that is left.
    [[nodiscard]] std::span<const std::byte> take_rest() noexcept;

    /// How many elements follow, 16 bits. An error unless the bytes left can hold so many of
    /// `element_bytes_min` (above 0): whoever reserves memory for them reserves what the bytes
    /// justify.
    [[nodiscard]] std::uint32_t read_count(std::size_t element_bytes_min) noexcept;

    /// The value; as it was, after an error.
    template <UNetFloats T>
    void read(T& value) noexcept {
        std::array<float, sizeof(T) / sizeof(float)> floats{};
        if (read_floats(floats)) {
            value = std::bit_cast<T>(floats);
        }
    }
    void read(Color32& value) noexcept;
    void read(Ray& value) noexcept;
    void read(Decimal& value) noexcept;
    void read(NetworkHash128& value) noexcept;
    void read(NetworkInstanceId& value) noexcept;
    void read(NetworkSceneId& value) noexcept;

    /// Nothing is expected to follow: in strict mode an error if something does.
    void finish() noexcept;

    /// The caller found what it read to be wrong. Keeps an error that is there already.
    void fail(UNetError error) noexcept;

    [[nodiscard]] bool failed() const noexcept { return error_ != UNetError::None; }
    [[nodiscard]] UNetError error() const noexcept { return error_; }
    [[nodiscard]] bool is_strict() const noexcept { return strictness_ == UNetStrictness::Strict; }
    [[nodiscard]] UNetStrictness strictness() const noexcept { return strictness_; }
    [[nodiscard]] std::size_t position() const noexcept { return position_; }
    [[nodiscard]] std::size_t bytes_left() const noexcept { return bytes_.size() - position_; }

  private:
    /// The next `count` bytes, behind which the reader then stands; or null, and failed.
    [[nodiscard]] const std::byte* take(std::size_t count) noexcept;
    /// The same bytes, and the reader stays; or null, and failed.
    [[nodiscard]] const std::byte* peek(std::size_t count) noexcept;
    [[nodiscard]] std::uint64_t read_bits(std::size_t byte_count) noexcept;
    template <typename T>
    [[nodiscard]] T read_plain() noexcept {
        return static_cast<T>(read_bits(sizeof(T)));
    }
    /// False, and nothing in `values`, after an error.
    [[nodiscard]] bool read_floats(std::span<float> values) noexcept;

    std::span<const std::byte> bytes_;
    std::size_t position_ = 0;
    UNetError error_ = UNetError::None;
    UNetStrictness strictness_;
};

}  // namespace replayout
