// SPDX-License-Identifier: MIT
//
// What a NetSerializer is handed: one object for both directions, so that a struct writes its
// serialization once.
//
//     bool Hit::net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
//         archive.serialize(point.x);
//         archive.serialize(point.y);
//         return archive.serialize_object(target, map);
//     }
//
// Reading never fails loudly: after a failure values are zero and the whole block is refused.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/package_map.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace replayout {

class NetArchive {
  public:
    explicit NetArchive(BitWriter& writer) noexcept : writer_(&writer) {}
    explicit NetArchive(BitReader& reader) noexcept : reader_(&reader) {}

    [[nodiscard]] bool is_saving() const noexcept { return writer_ != nullptr; }
    [[nodiscard]] bool is_loading() const noexcept { return reader_ != nullptr; }
    [[nodiscard]] bool failed() const noexcept {
        return is_loading() ? reader_->failed() : writer_->overflowed();
    }

    /// The low `bit_count` (0 to 64) bits of `value`.
    void serialize_bits(std::uint64_t& value, std::uint32_t bit_count) noexcept;
    void serialize_packed_uint(std::uint64_t& value) noexcept;

    /// A bool as one bit; an integer, enum or float as its full width.
    template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void serialize(T& value) noexcept;

    /// UTF-8 text of at most `bytes_max` bytes; longer text fails, on either side.
    void serialize_string(std::string& text, std::uint32_t bytes_max);

    /// A reference as its NetGUID. Reading: false when the id is not mapped; `object` is then null.
    [[nodiscard]] bool serialize_object(ObjectHandle& object, PackageMap* map);

    /// Reading: turns of a loop and bytes of memory that the value is about to take, from what one
    /// packet may cost. False, and failed, when that is spent. Writing: true.
    [[nodiscard]] bool spend(std::size_t steps, std::size_t bytes) noexcept {
        return is_saving() || (reader_->spend_steps(steps) && reader_->spend_allocation(bytes));
    }

    /// Reading: what was read is wrong, and the whole block is refused.
    void fail() noexcept {
        REPLAYOUT_ASSERT(is_loading());
        reader_->fail();
    }

  private:
    BitWriter* writer_ = nullptr;
    BitReader* reader_ = nullptr;
};

template <typename T>
requires(std::is_arithmetic_v<T> ||
         std::is_enum_v<T>) void NetArchive::serialize(T& value) noexcept {
    static_assert(sizeof(T) <= 8);
    constexpr std::uint32_t bit_count = std::is_same_v<T, bool> ? 1 : sizeof(T) * 8;
    std::uint64_t bits = 0;
    if constexpr (std::is_same_v<T, bool>) {
        bits = value ? 1 : 0;
        serialize_bits(bits, bit_count);
        value = bits != 0;
    } else if constexpr (std::is_same_v<T, float>) {
        bits = std::bit_cast<std::uint32_t>(value);
        serialize_bits(bits, bit_count);
        value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    } else if constexpr (std::is_same_v<T, double>) {
        bits = std::bit_cast<std::uint64_t>(value);
        serialize_bits(bits, bit_count);
        value = std::bit_cast<double>(bits);
    } else {
        bits = static_cast<std::uint64_t>(value);
        serialize_bits(bits, bit_count);
        value = static_cast<T>(bits);
    }
}

}  // namespace replayout
