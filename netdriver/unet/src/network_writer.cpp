// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>
#include <replayout/unet/network_writer.h>
#include <replayout/utf8.h>

#include <cstring>

namespace replayout {

namespace {

void store(std::byte* to, std::uint64_t value, std::size_t byte_count) noexcept {
    for (std::size_t i = 0; i < byte_count; ++i) {
        to[i] = static_cast<std::byte>(value >> (8 * i));
    }
}

/// memcpy() from nothing is not allowed, not even of nothing.
void copy(std::byte* to, std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) {
        std::memcpy(to, bytes.data(), bytes.size());
    }
}

}  // namespace

std::byte* NetworkWriter::take(std::size_t count) noexcept {
    if (failed()) {
        return nullptr;
    }
    if (count > bytes_left()) {
        fail(UNetError::BufferFull);
        return nullptr;
    }
    std::byte* to = buffer_.data() + position_;
    position_ += count;
    return to;
}

void NetworkWriter::write_bits(std::uint64_t value, std::size_t byte_count) noexcept {
    if (std::byte* to = take(byte_count)) {
        store(to, value, byte_count);
    }
}

void NetworkWriter::write_char(char16_t value) noexcept {
    if (value > 0xFF) {
        fail(UNetError::ValueOutOfRange);
        return;
    }
    write_uint8(static_cast<std::uint8_t>(value));
}

void NetworkWriter::write_packed_uint64(std::uint64_t value) noexcept {
    const std::size_t byte_count = unet_packed_bytes(value);
    std::byte* to = take(byte_count);
    if (to == nullptr) {
        return;
    }
    if (byte_count == 1) {
        to[0] = static_cast<std::byte>(value);
    } else if (byte_count == 2) {
        const std::uint64_t biased = value - detail::unet_packed_1_max;
        to[0] = static_cast<std::byte>(0xF1 + (biased >> 8));
        to[1] = static_cast<std::byte>(biased);
    } else if (byte_count == 3) {
        const std::uint64_t biased = value - (detail::unet_packed_2_max + 1);
        to[0] = std::byte{0xF9};
        to[1] = static_cast<std::byte>(biased >> 8);
        to[2] = static_cast<std::byte>(biased);
    } else {
        to[0] = static_cast<std::byte>(detail::unet_packed_plain_prefix + byte_count - 1);
        store(to + 1, value, byte_count - 1);
    }
}

void NetworkWriter::write_counted(std::span<const std::byte> bytes) noexcept {
    if (std::byte* to = take(2 + bytes.size())) {
        store(to, bytes.size(), 2);
        copy(to + 2, bytes);
    }
}

void NetworkWriter::write_string(std::string_view text) noexcept {
    if (text.size() >= unet_text_bytes_end) {
        fail(UNetError::TextTooLong);
        return;
    }
    if (!is_valid_utf8(text)) {
        fail(UNetError::TextNotUtf8);
        return;
    }
    write_counted(std::as_bytes(std::span(text)));
}

void NetworkWriter::write_bytes_and_size(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() > unet_bytes_max) {
        fail(UNetError::BytesTooLong);
        return;
    }
    write_counted(bytes);
}

void NetworkWriter::write_count(std::size_t count) noexcept {
    if (count > 0xFFFF) {
        fail(UNetError::CountOverLimit);
        return;
    }
    write_uint16(static_cast<std::uint16_t>(count));
}

void NetworkWriter::write_bytes(std::span<const std::byte> bytes) noexcept {
    if (std::byte* to = take(bytes.size())) {
        copy(to, bytes);
    }
}

void NetworkWriter::write_floats(std::span<const float> values) noexcept {
    if (std::byte* to = take(4 * values.size())) {
        for (const float value : values) {
            store(to, std::bit_cast<std::uint32_t>(value), 4);
            to += 4;
        }
    }
}

void NetworkWriter::write(const Color32& value) noexcept {
    if (std::byte* to = take(4)) {
        to[0] = std::byte{value.r};
        to[1] = std::byte{value.g};
        to[2] = std::byte{value.b};
        to[3] = std::byte{value.a};
    }
}

void NetworkWriter::write(const Ray& value) noexcept {
    write_floats(std::array{value.direction.x, value.direction.y, value.direction.z, value.origin.x,
                            value.origin.y, value.origin.z});
}

void NetworkWriter::write(const Decimal& value) noexcept {
    if (!value.is_valid()) {
        fail(UNetError::InvalidDecimal);
        return;
    }
    if (std::byte* to = take(16)) {
        for (const std::int32_t word : {value.low, value.middle, value.high, value.flags}) {
            store(to, static_cast<std::uint32_t>(word), 4);
            to += 4;
        }
    }
}

void NetworkWriter::overwrite_uint16(std::size_t position, std::uint16_t value) noexcept {
    REPLAYOUT_EXPECT(position_ >= 2 && position <= position_ - 2, void(),
                     "overwrite_uint16: byte %zu of a text of %zu: write there before", position,
                     position_);
    store(buffer_.data() + position, value, 2);
}

void NetworkWriter::fail(UNetError error) noexcept {
    REPLAYOUT_EXPECT(error != UNetError::None, void(), "fail: None is no error: name one");
    if (!failed()) {
        error_ = error;
    }
}

void NetworkWriter::rewind(Mark mark) noexcept {
    REPLAYOUT_EXPECT(mark.position <= position_, void(),
                     "rewind: byte %zu of a text of %zu: use a mark of this writer", mark.position,
                     position_);
    position_ = mark.position;
    error_ = UNetError::None;
}

}  // namespace replayout
