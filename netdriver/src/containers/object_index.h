// SPDX-License-Identifier: MIT
//
// The slot of an object, as a type: no channel, viewer, layout or count converts into it. Tables
// with a slot for each object take it, and nothing else.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>

#include "table_growth.h"

namespace replayout {

/// Names a slot of ObjectStore. NetObjectId adds the generation of the object that is in it.
enum class ObjectIndex : std::uint32_t {};
inline constexpr ObjectIndex no_object{0xFFFF'FFFF};

[[nodiscard]] constexpr std::uint32_t value_of(ObjectIndex index) noexcept {
    return static_cast<std::uint32_t>(index);
}
[[nodiscard]] constexpr ObjectIndex slot_of(NetObjectId id) noexcept {
    return ObjectIndex{id.index};
}
/// Each slot has a channel, which is the same for all connections; 0 is the control channel.
[[nodiscard]] constexpr ChannelIndex channel_of(ObjectIndex index) noexcept {
    return {value_of(index) + 1};
}
[[nodiscard]] constexpr ObjectIndex slot_of(ChannelIndex channel) noexcept {
    return ObjectIndex{channel.value - 1};
}
constexpr ObjectIndex& operator++(ObjectIndex& index) noexcept {
    return index = ObjectIndex{value_of(index) + 1};
}

/// A vector with a slot for each object.
template <typename T>
class ByObject : public Vector<T> {
    using Slots = Vector<T>;

  public:
    using Slots::Slots;

    [[nodiscard]] T& operator[](ObjectIndex index) noexcept {
        return Slots::operator[](value_of(index));
    }
    [[nodiscard]] const T& operator[](ObjectIndex index) const noexcept {
        return Slots::operator[](value_of(index));
    }
    [[nodiscard]] bool contains(ObjectIndex index) const noexcept {
        return value_of(index) < this->size();
    }
    /// Makes a slot for the object, the new slots being `value`.
    void grow_to(ObjectIndex index, const T& value) {
        grow_table(*this, std::size_t{value_of(index)} + 1, value);
    }
};

}  // namespace replayout
