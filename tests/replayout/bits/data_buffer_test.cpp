// SPDX-License-Identifier: MIT
#include <replayout/data_buffer.h>

#include <array>
#include <type_traits>

#include "support/checks/catch.h"

namespace replayout {
namespace {

template <typename Buffer, typename Offset>
concept Addable = requires(Buffer buffer, Offset offset) {
    buffer + offset;
};

// An offset into one memory cannot be added to another, nor can a bare number.
static_assert(Addable<ObjectBuffer, ObjectOffset>);
static_assert(Addable<ConstShadowBuffer, ShadowOffset>);
static_assert(!Addable<ObjectBuffer, ShadowOffset>);
static_assert(!Addable<ShadowBuffer, ObjectOffset>);
static_assert(!Addable<ObjectBuffer, std::uint32_t>);

// What may be written may be read; nothing else converts.
static_assert(std::is_convertible_v<ObjectBuffer, ConstObjectBuffer>);
static_assert(std::is_convertible_v<ShadowBuffer, ConstShadowBuffer>);
static_assert(!std::is_convertible_v<ConstObjectBuffer, ObjectBuffer>);
static_assert(!std::is_convertible_v<ObjectBuffer, ShadowBuffer>);
static_assert(!std::is_convertible_v<ObjectBuffer, ConstShadowBuffer>);
static_assert(!std::is_convertible_v<std::byte*, ObjectBuffer>);

TEST_CASE("DataBuffer: an offset moves it by bytes", "[replayout][data_buffer]") {
    std::array<std::byte, 8> memory{};
    const ObjectBuffer object(memory.data());
    CHECK((object + ObjectOffset{3}).data() == memory.data() + 3);
    const ConstObjectBuffer constant = object;
    CHECK((constant + ObjectOffset{8}).data() == memory.data() + 8);
    CHECK_FALSE(object.is_null());
    CHECK(ShadowBuffer().is_null());
}

}  // namespace
}  // namespace replayout
