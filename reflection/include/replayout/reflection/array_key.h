// SPDX-License-Identifier: MIT
//
// What makes a dynamic array a keyed one: its elements are told apart by a key that each carries,
// and not by where they stand. Inserting at the front, removing from the middle or sorting then
// sends what was added, removed and moved, and not every element behind it.
//
//     struct Player { std::uint32_t id; std::int32_t score; };
//     .property<&Board::players>().keyed_by<&Player::id>(ArrayOrder::Kept)
//
// A fast array is a keyed array that says itself what changed in it (<replayout/fast_array.h>).
#pragma once

#include <cstdint>
#include <span>

namespace replayout {

/// The order of the elements at a receiver.
enum class ArrayOrder : std::uint8_t {
    Free,  ///< any: only what the elements are counts
    Kept,  ///< that of the sender
};

/// What a fast array tells its sender, and is told at a receiver. `items` is the array itself, the
/// indices are into it. Null entries: nothing is asked, nobody is told.
struct FastArrayOps {
    /// Grows with each mark. While it stays the same nothing in the array is looked at.
    std::uint32_t (*array_key)(const void* items) = nullptr;
    /// The same of one element; while it stays the same the element is not compared.
    std::uint32_t (*item_key)(const void* item) = nullptr;

    // In this order, after all values of a block; `items` must not be resized by them.
    void (*pre_replicated_remove)(void* items, std::span<const std::uint32_t> indices) = nullptr;
    void (*post_replicated_add)(void* items, std::span<const std::uint32_t> indices) = nullptr;
    void (*post_replicated_change)(void* items, std::span<const std::uint32_t> indices) = nullptr;
    /// Once, when the removed are gone.
    void (*post_replicated_receive)(void* items) = nullptr;

    [[nodiscard]] bool has_marks() const noexcept { return array_key != nullptr; }
};

/// Part of a Property of kind DynamicArray.
struct ArrayKey {
    /// A key of a fast array that has none yet; such an element is not sent.
    static constexpr std::uint64_t unassigned = 0xFFFF'FFFFu;

    std::uint32_t offset = 0;  ///< of the key in an element, bytes
    std::uint32_t size = 0;    ///< 1, 2, 4 or 8 bytes, of an integer or enum; 0: not keyed
    ArrayOrder order = ArrayOrder::Free;
    FastArrayOps fast;

    explicit operator bool() const noexcept { return size != 0; }
};

}  // namespace replayout
