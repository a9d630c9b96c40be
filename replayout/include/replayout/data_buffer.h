// SPDX-License-Identifier: MIT
//
// Pointers into object memory and into shadow memory, each with offsets of its own. They do not
// convert into each other, so an offset cannot be added to the wrong memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace replayout {

struct ObjectOffset {
    std::uint32_t value = 0;
};

struct ShadowOffset {
    std::uint32_t value = 0;
};

/// A loan of memory that holds values in the layout that `Offset` belongs to.
template <typename Byte, typename Offset>
class DataBuffer {
  public:
    constexpr DataBuffer() noexcept = default;
    explicit constexpr DataBuffer(Byte* data) noexcept : data_(data) {}

    /// The same memory, to be read only.
    template <typename Other>
    requires(std::is_const_v<Byte>&& std::is_same_v<const Other, Byte>) constexpr DataBuffer(
        DataBuffer<Other, Offset> other) noexcept
        : data_(other.data()) {}

    [[nodiscard]] constexpr Byte* data() const noexcept { return data_; }
    [[nodiscard]] constexpr bool is_null() const noexcept { return data_ == nullptr; }

    friend constexpr DataBuffer operator+(DataBuffer buffer, Offset offset) noexcept {
        return DataBuffer(buffer.data_ + offset.value);
    }

  private:
    Byte* data_ = nullptr;
};

using ObjectBuffer = DataBuffer<std::byte, ObjectOffset>;
using ConstObjectBuffer = DataBuffer<const std::byte, ObjectOffset>;
using ShadowBuffer = DataBuffer<std::byte, ShadowOffset>;
using ConstShadowBuffer = DataBuffer<const std::byte, ShadowOffset>;

}  // namespace replayout
