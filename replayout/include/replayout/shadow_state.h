// SPDX-License-Identifier: MIT
//
// Shadow memory: a copy of an object's replicated values, packed in the layout's own order. It
// decides what changed, and it is what is sent: the value of a version stays the same until the
// next compare, whatever the game does to the object in between.
//
// How a leaf is kept:
//
//     plain               its bytes, packed without alignment
//     BitBool             a byte, 0 or 1
//     Quantised           its bytes, packed likewise, of which no command knows, but the run that
//                         they are compared in; and behind all other leaves, where the command
//                         points, the integers that travel (<replayout/quantise.h>), always those
//                         of these bytes. So a value that stays is not quantised again
//     String              PmrString
//     Object              ShadowReference: the handle as compared, the id as sent
//     NetSerializeStruct  the struct itself, through its type's operations
//     DynamicArray        ShadowArray: elements in shadow form, and a version per element leaf
//     KeyedArray          ShadowKeyedArray (keyed_array.h)
#pragma once

#include <replayout/data_buffer.h>
#include <replayout/net_guid.h>
#include <replayout/package_map.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/value_ops.h>
#include <replayout/rep_layout.h>
#include <replayout/sending_rep_state.h>

#include <cstddef>
#include <new>

namespace replayout {

struct ShadowReference {
    ObjectHandle object;
    NetGUID guid;
};

/// Elements of a dynamic array. Owned by the ShadowState that holds it, which also frees it.
struct ShadowArray {
    std::byte* elements = nullptr;
    Version* versions = nullptr;  ///< last change of each leaf: count x handles per element
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;
    Version count_version = 0;  ///< last change of the count
};

/// Values of one scope at raw memory: construction, destruction, and growth of arrays.
class ShadowMemory {
  public:
    ShadowMemory(const RepLayout& layout, MemoryResource* resource) noexcept
        : layout_(&layout), resource_(resource) {}

    /// Zero, empty, null; a struct is default-constructed.
    void construct(const RepScope& scope, ShadowBuffer memory) const;
    void destroy(const RepScope& scope, ShadowBuffer memory) const noexcept;
    /// Copies values, with versions of arrays set to 0.
    void copy(const RepScope& scope, ShadowBuffer target, ConstShadowBuffer source) const;

    /// References to `placeholder` get the id of their handle, in the order of commands and of
    /// elements. Not those in keyed arrays.
    void name_references(const RepScope& scope, ShadowBuffer memory, NetGUID placeholder,
                         PackageMap& package_map) const;

    /// Elements added are constructed, with version 0.
    void resize_array(const RepLayoutCmd& cmd, const RepScope& element, ShadowArray& array,
                      std::uint32_t count) const;

    /// `to` has room for `capacity` elements and holds none.
    void make_room(const RepScope& element, ShadowArray& to, std::uint32_t capacity) const;
    /// The element `index` of `from` moves, with its versions, to the end of `to`, which has room;
    /// where it was is raw memory then.
    void move_element(const RepScope& element, ShadowArray& from, std::uint32_t index,
                      ShadowArray& to) const;
    /// A new element at the end of `to`, which has room.
    void append_element(const RepScope& element, ShadowArray& to) const;
    /// Elements that were moved away must not be in `array.count`.
    void destroy_element(const RepScope& element, ShadowArray& array,
                         std::uint32_t index) const noexcept;

    /// Destroys the elements, and gives back the memory.
    void free_array(const RepScope& element, ShadowArray& array) const noexcept;

  private:
    /// Moves the values of `source` to raw memory at `target`; `source` is raw memory afterwards.
    void relocate(const RepScope& scope, ShadowBuffer target, ShadowBuffer source) const;
    void copy_array(const RepLayoutCmd& cmd, const RepScope& element, ShadowArray& target,
                    const ShadowArray& source) const;
    /// Room for `capacity` elements, which is not less than there are.
    void reserve_array(const RepScope& element, ShadowArray& array, std::uint32_t capacity) const;
    /// Far more room than `count` elements need is given back.
    void give_back_room(const RepScope& element, ShadowArray& array, std::uint32_t count) const;

    const RepLayout* layout_;
    MemoryResource* resource_;
};

/// The shadow of one object. Not copyable; lives where its owner does.
class ShadowState {
  public:
    ShadowState(const RepLayout& layout, MemoryResource* resource);
    ~ShadowState();
    ShadowState(const ShadowState&) = delete;
    ShadowState& operator=(const ShadowState&) = delete;

    [[nodiscard]] ShadowBuffer buffer() noexcept { return ShadowBuffer(bytes_); }
    [[nodiscard]] ConstShadowBuffer buffer() const noexcept { return ConstShadowBuffer(bytes_); }
    [[nodiscard]] const ShadowMemory& memory() const noexcept { return memory_; }

  private:
    const RepLayout* layout_;
    MemoryResource* resource_;
    ShadowMemory memory_;
    std::byte* bytes_;
};

template <typename T>
[[nodiscard]] T& shadow_value(ShadowBuffer memory) noexcept {
    return *std::launder(reinterpret_cast<T*>(memory.data()));
}

template <typename T>
[[nodiscard]] const T& shadow_value(ConstShadowBuffer memory) noexcept {
    return *std::launder(reinterpret_cast<const T*>(memory.data()));
}

}  // namespace replayout
