// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>
#include <replayout/utf8.h>

#include <algorithm>

namespace replayout {

namespace {

[[nodiscard]] std::uint64_t load(const std::byte* bytes, std::size_t byte_count) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < byte_count; ++i) {
        value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return value;
}

/// Bytes of the packed form that begins with `first`.
[[nodiscard]] std::size_t packed_form_bytes(std::uint8_t first) noexcept {
    if (first <= 0xF0) {
        return 1;
    }
    if (first <= 0xF8) {
        return 2;
    }
    return first == 0xF9 ? 3 : std::size_t{first} - detail::unet_packed_plain_prefix + 1;
}

[[nodiscard]] std::uint64_t decode_packed(const std::byte* bytes, std::size_t byte_count) noexcept {
    const std::uint64_t first = load(bytes, 1);
    if (byte_count == 1) {
        return first;
    }
    if (byte_count == 2) {
        return detail::unet_packed_1_max + 256 * (first - 0xF1) + load(bytes + 1, 1);
    }
    if (byte_count == 3) {
        return detail::unet_packed_2_max + 1 + 256 * load(bytes + 1, 1) + load(bytes + 2, 1);
    }
    return load(bytes + 1, byte_count - 1);
}

}  // namespace

const std::byte* NetworkReader::peek(std::size_t count) noexcept {
    if (failed()) {
        return nullptr;
    }
    if (count > bytes_left()) {
        fail(UNetError::EndOfBytes);
        return nullptr;
    }
    return bytes_.data() + position_;
}

const std::byte* NetworkReader::take(std::size_t count) noexcept {
    const std::byte* from = peek(count);
    position_ += from != nullptr ? count : 0;
    return from;
}

std::uint64_t NetworkReader::read_bits(std::size_t byte_count) noexcept {
    const std::byte* from = take(byte_count);
    return from != nullptr ? load(from, byte_count) : 0;
}

bool NetworkReader::read_bool() noexcept {
    const std::byte* from = peek(1);
    if (from == nullptr) {
        return false;
    }
    if (is_strict() && *from > std::byte{1}) {
        fail(UNetError::InvalidBool);
        return false;
    }
    ++position_;
    return *from == std::byte{1};
}

std::uint64_t NetworkReader::read_packed_uint64() noexcept {
    const std::byte* from = peek(1);
    if (from == nullptr) {
        return 0;
    }
    const std::size_t byte_count = packed_form_bytes(std::to_integer<std::uint8_t>(*from));
    if (peek(byte_count) == nullptr) {
        return 0;
    }
    const std::uint64_t value = decode_packed(from, byte_count);
    if (is_strict() && unet_packed_bytes(value) != byte_count) {
        fail(UNetError::NonCanonicalPacked);
        return 0;
    }
    position_ += byte_count;
    return value;
}

std::uint32_t NetworkReader::read_packed_uint32() noexcept {
    constexpr std::byte four_bytes{0xFB};
    const std::byte* first = peek(1);
    if (first == nullptr) {
        return 0;
    }
    if (*first <= four_bytes) {
        return static_cast<std::uint32_t>(read_packed_uint64());
    }
    if (is_strict()) {
        fail(UNetError::PackedTooWide);
        return 0;
    }
    const std::byte* from = take(5);
    return from != nullptr ? static_cast<std::uint32_t>(load(from + 1, 4)) : 0;
}

std::string_view NetworkReader::read_string() noexcept {
    const std::byte* head = peek(2);
    if (head == nullptr) {
        return {};
    }
    const auto count = static_cast<std::size_t>(load(head, 2));
    if (count >= unet_text_bytes_end) {
        fail(UNetError::TextTooLong);
        return {};
    }
    if (peek(2 + count) == nullptr) {
        return {};
    }
    const std::string_view text(reinterpret_cast<const char*>(head + 2), count);
    if (!is_valid_utf8(text)) {
        fail(UNetError::TextNotUtf8);
        return {};
    }
    position_ += 2 + count;
    return text;
}

std::span<const std::byte> NetworkReader::read_bytes_and_size() noexcept {
    const std::byte* head = peek(2);
    if (head == nullptr) {
        return {};
    }
    const auto count = static_cast<std::size_t>(load(head, 2));
    if (take(2 + count) == nullptr) {
        return {};
    }
    return {head + 2, count};
}

std::span<const std::byte> NetworkReader::take_bytes(std::size_t count) noexcept {
    const std::byte* from = take(count);
    return from != nullptr ? std::span(from, count) : std::span<const std::byte>();
}

std::span<const std::byte> NetworkReader::take_rest() noexcept {
    return take_bytes(bytes_left());
}

std::uint32_t NetworkReader::read_count(std::size_t element_bytes_min) noexcept {
    REPLAYOUT_ASSERT(element_bytes_min > 0);
    const std::byte* head = peek(2);
    if (head == nullptr) {
        return 0;
    }
    const auto count = static_cast<std::uint32_t>(load(head, 2));
    if (count > (bytes_left() - 2) / element_bytes_min) {
        fail(UNetError::CountOverLimit);
        return 0;
    }
    position_ += 2;
    return count;
}

bool NetworkReader::read_floats(std::span<float> values) noexcept {
    const std::byte* from = take(4 * values.size());
    if (from == nullptr) {
        return false;
    }
    for (float& value : values) {
        value = std::bit_cast<float>(static_cast<std::uint32_t>(load(from, 4)));
        from += 4;
    }
    return true;
}

void NetworkReader::read(Color32& value) noexcept {
    if (const std::byte* from = take(4)) {
        value = {std::to_integer<std::uint8_t>(from[0]), std::to_integer<std::uint8_t>(from[1]),
                 std::to_integer<std::uint8_t>(from[2]), std::to_integer<std::uint8_t>(from[3])};
    }
}

void NetworkReader::read(Ray& value) noexcept {
    std::array<float, 6> f{};
    if (read_floats(f)) {
        value.direction = {f[0], f[1], f[2]};
        value.origin = {f[3], f[4], f[5]};
    }
}

void NetworkReader::read(Decimal& value) noexcept {
    const std::byte* from = peek(16);
    if (from == nullptr) {
        return;
    }
    const auto word = [from](std::size_t index) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(load(from + 4 * index, 4)));
    };
    const Decimal read{word(0), word(1), word(2), word(3)};
    // .NET refuses to make such a decimal, so lenient readers do as well.
    if (!read.is_valid()) {
        fail(UNetError::InvalidDecimal);
        return;
    }
    position_ += 16;
    value = read;
}

void NetworkReader::read(NetworkHash128& value) noexcept {
    if (const std::byte* from = take(value.bytes.size())) {
        std::copy_n(from, value.bytes.size(), value.bytes.begin());
    }
}

void NetworkReader::read(NetworkInstanceId& value) noexcept {
    const std::uint32_t read = read_packed_uint32();
    value.value = failed() ? value.value : read;
}

void NetworkReader::read(NetworkSceneId& value) noexcept {
    const std::uint32_t read = read_packed_uint32();
    value.value = failed() ? value.value : read;
}

void NetworkReader::finish() noexcept {
    if (is_strict() && bytes_left() > 0) {
        fail(UNetError::BytesLeftOver);
    }
}

void NetworkReader::fail(UNetError error) noexcept {
    REPLAYOUT_EXPECT(error != UNetError::None, void(), "fail: None is no error: name one");
    if (!failed()) {
        error_ = error;
    }
}

}  // namespace replayout
