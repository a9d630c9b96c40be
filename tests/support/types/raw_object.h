// SPDX-License-Identifier: MIT
//
// Objects without a C++ type: memory that is built, copied and torn down by walking its
// description, as an engine with a reflection of its own does.
//
// The operations of the library's tables are given a value and nothing else, so what they need to
// know stands in the value: an array knows its element, and a struct whose members are not all
// plain begins with a pointer to its type.
#pragma once

#include <replayout/reflection/type.h>

#include <cstddef>
#include <cstdint>

namespace replayout::test {

/// At raw memory of the property's size; of one element, if it is a C array.
void construct_value(const Property& property, void* memory);
void destroy_value(const Property& property, void* value);

/// A dynamic array of anything. As a fast array it checks what it is told at a receiver.
class RawArray {
  public:
    /// `element` must outlive the array.
    explicit RawArray(const Property& element) noexcept : element_(&element) {}
    RawArray(const RawArray& other);
    RawArray& operator=(const RawArray& other);
    ~RawArray() { resize(0); }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::byte* data() const noexcept { return elements_; }
    void resize(std::size_t count);

    /// Of a fast array: grows with each mark.
    [[nodiscard]] std::uint32_t array_key() const noexcept { return array_key_; }
    std::uint32_t mark_array_dirty() noexcept { return ++array_key_; }

    [[nodiscard]] static ArrayOps array_ops() noexcept;
    [[nodiscard]] static TypeOps type_ops() noexcept;
    /// Elements must be items, see headed_item_ops().
    [[nodiscard]] static FastArrayOps fast_array_ops() noexcept;

  private:
    struct Told;

    [[nodiscard]] std::byte* at(std::size_t index) const noexcept;
    void assign(const RawArray& other);
    void swap_elements(std::size_t left, std::size_t right);

    const Property* element_;
    std::byte* elements_ = nullptr;
    std::size_t count_ = 0;
    std::uint32_t array_key_ = 0;
    std::size_t removed_count_ = 0;  ///< of a fast array: told of, and not gone yet
    std::size_t told_count_ = 0;     ///< elements there were when it was told of those
};

/// What a struct with members that are not all plain begins with.
inline constexpr std::uint32_t struct_header_bytes = sizeof(const Type*);

/// Operations of such a struct.
[[nodiscard]] TypeOps headed_struct_ops(std::uint32_t size, std::uint32_t alignment) noexcept;

/// What an item of a fast array begins with.
struct ItemHeader {
    const Type* type = nullptr;
    std::uint32_t replication_id = static_cast<std::uint32_t>(ArrayKey::unassigned);
    std::uint32_t replication_key = 0;  ///< grows with each mark
};

/// Operations of such an item.
[[nodiscard]] TypeOps headed_item_ops(std::uint32_t size, std::uint32_t alignment) noexcept;

/// An object of a class. Bytes between its members are garbage on purpose.
class RawObject {
  public:
    explicit RawObject(const Type& type);
    RawObject(const RawObject&) = delete;
    RawObject& operator=(const RawObject&) = delete;
    ~RawObject();

    /// Makes it a copy of `other`, which is of the same type.
    void assign(const RawObject& other);

    [[nodiscard]] const Type& type() const noexcept { return *type_; }
    [[nodiscard]] std::byte* memory() const noexcept { return memory_; }

  private:
    const Type* type_;
    std::byte* memory_;
};

}  // namespace replayout::test
