// SPDX-License-Identifier: MIT
#include "layout_messages.h"

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "control_message.h"

namespace replayout {

namespace {

constexpr std::size_t difference_text_count = 4;

/// At most `bytes_max` bytes, in whole characters of UTF-8.
[[nodiscard]] std::string_view whole_front(std::string_view text, std::size_t bytes_max) noexcept {
    std::size_t size = std::min(text.size(), bytes_max);
    const auto is_inside = [&](std::size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    };
    while (size > 0 && is_inside(size)) {
        --size;
    }
    return text.substr(0, size);
}

[[nodiscard]] std::string read_difference_text(BitReader& reader) {
    const std::uint64_t size = reader.read_packed_uint();
    if (size > difference_text_bytes_max || size > reader.bits_left() / 8) {
        reader.fail();
        return {};
    }
    const std::span<const std::byte> bytes = reader.take_bytes(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Vector<std::byte> refused_layout_message(const RefusedLayout& refused, MemoryResource* resource) {
    Vector<std::byte> bytes(1 + 4 + refused.explanation.size(), std::byte{0},
                            Allocator<std::byte>(resource));
    BitWriter writer({bytes.data(), bytes.size()});
    writer.write_bits(static_cast<std::uint64_t>(ControlMessageKind::RefusedLayout), 8);
    writer.write_bits(refused.name_hash, 32);
    writer.write_bytes(refused.explanation);
    REPLAYOUT_ASSERT(!writer.overflowed());
    return bytes;
}

bool read_refused_layout(std::span<const std::byte> message, RefusedLayout& refused) noexcept {
    BitReader reader(message);
    const bool is_refused =
        reader.read_bits(8) == static_cast<std::uint64_t>(ControlMessageKind::RefusedLayout);
    const auto name_hash = static_cast<std::uint32_t>(reader.read_bits(32));
    if (!is_refused || reader.failed()) {
        return false;
    }
    refused = {name_hash, message.last(reader.bits_left() / 8)};
    return true;
}

Vector<std::byte> layout_difference_message(const ClassDifference& difference,
                                            std::size_t bytes_max, MemoryResource* resource) {
    constexpr std::size_t bytes_beside_texts = 2 + difference_text_count * 2;
    const std::size_t text_bytes_max = std::min(
        (bytes_max - bytes_beside_texts) / difference_text_count, difference_text_bytes_max);
    Vector<std::byte> bytes(bytes_beside_texts + difference_text_count * text_bytes_max,
                            std::byte{0}, Allocator<std::byte>(resource));
    BitWriter writer({bytes.data(), bytes.size()});
    writer.write_bits(static_cast<std::uint64_t>(ControlMessageKind::LayoutDifference), 8);
    writer.write_bits(static_cast<std::uint64_t>(difference.difference.aspect), 8);
    for (const std::string* text : {&difference.class_name, &difference.difference.name,
                                    &difference.difference.here, &difference.difference.there}) {
        const std::string_view front = whole_front(*text, text_bytes_max);
        writer.write_packed_uint(front.size());
        writer.write_bytes(std::as_bytes(std::span(front.data(), front.size())));
    }
    REPLAYOUT_ASSERT(!writer.overflowed());
    bytes.resize(writer.byte_count());
    return bytes;
}

bool read_layout_difference(std::span<const std::byte> message, ClassDifference& difference) {
    BitReader reader(message);
    const bool is_difference =
        reader.read_bits(8) == static_cast<std::uint64_t>(ControlMessageKind::LayoutDifference);
    const std::uint64_t aspect = reader.read_bits(8);
    if (!is_difference || aspect == 0 || aspect > layout_aspect_count) {
        return false;
    }
    ClassDifference read;
    read.difference.aspect = static_cast<LayoutAspect>(aspect);
    read.class_name = read_difference_text(reader);
    read.difference.name = read_difference_text(reader);
    read.difference.there = read_difference_text(reader);
    read.difference.here = read_difference_text(reader);
    if (reader.failed() || reader.bits_left() != 0) {
        return false;
    }
    difference = std::move(read);
    return true;
}

}  // namespace replayout
