// SPDX-License-Identifier: MIT
#include "support/types/raw_object.h"

#include "support/checks/catch.h"
#include "support/types/value_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace replayout::test {

namespace {

constexpr int garbage = 0xA5;
// No description here asks for more.
constexpr std::align_val_t alignment_max{16};

[[nodiscard]] bool is_headed(const Type& type) noexcept;
[[nodiscard]] bool is_item(const Type& type) noexcept;

void copy_value(const Property& property, void* memory, const void* source) {
    if (property.ops.copy_construct != nullptr) {
        property.ops.copy_construct(memory, source);
    } else {
        std::memcpy(memory, source, property.size);  // a struct of plain members
    }
}

void construct_members(const Type& type, void* memory) {
    for_each_slot(type, 0, [&](const Property& property, std::uint32_t offset) {
        construct_value(property, static_cast<std::byte*>(memory) + offset);
    });
}

[[nodiscard]] const Type& header_of(const void* value) noexcept {
    const Type* type = nullptr;
    std::memcpy(&type, value, sizeof(type));
    return *type;
}

void write_header(void* memory, const Type& type) noexcept {
    const Type* pointer = &type;
    std::memcpy(memory, &pointer, sizeof(pointer));
}

void copy_headed(void* memory, const void* source) {
    const Type& type = header_of(source);
    std::memset(memory, garbage, type.size());
    std::memcpy(memory, source, is_item(type) ? sizeof(ItemHeader) : struct_header_bytes);
    for_each_slot(type, 0, [&](const Property& property, std::uint32_t offset) {
        copy_value(property, static_cast<std::byte*>(memory) + offset,
                   static_cast<const std::byte*>(source) + offset);
    });
}

void destroy_headed(void* value) {
    for_each_slot(header_of(value), 0, [&](const Property& property, std::uint32_t offset) {
        destroy_value(property, static_cast<std::byte*>(value) + offset);
    });
}

// Another address, by which items are told apart.
void destroy_item(void* value) {
    destroy_headed(value);
}

bool is_headed(const Type& type) noexcept {
    return type.ops().destroy == destroy_headed;
}

bool is_item(const Type& type) noexcept {
    return type.ops().destroy == destroy_item;
}

[[nodiscard]] RawArray& array_at(void* memory) noexcept {
    return *std::launder(static_cast<RawArray*>(memory));
}
[[nodiscard]] const RawArray& array_at(const void* memory) noexcept {
    return *std::launder(static_cast<const RawArray*>(memory));
}

}  // namespace

void construct_value(const Property& property, void* memory) {
    if (property.ops.construct != nullptr) {
        property.ops.construct(memory);
    } else if (is_array(property.kind)) {
        ::new (memory) RawArray(*property.element);
    } else {
        const Type& type = *property.struct_type;
        std::memset(memory, garbage, type.size());
        if (is_item(type)) {
            const ItemHeader header{&type};
            std::memcpy(memory, &header, sizeof(header));
        } else if (is_headed(type)) {
            write_header(memory, type);
        }
        construct_members(type, memory);
    }
}

void destroy_value(const Property& property, void* value) {
    if (property.ops.destroy != nullptr) {
        property.ops.destroy(value);
    }
}

RawArray::RawArray(const RawArray& other) : element_(other.element_) {
    assign(other);
}

RawArray& RawArray::operator=(const RawArray& other) {
    if (this != &other) {
        resize(0);
        element_ = other.element_;
        assign(other);
    }
    return *this;
}

std::byte* RawArray::at(std::size_t index) const noexcept {
    return elements_ + index * element_->size;
}

void RawArray::assign(const RawArray& other) {
    array_key_ = other.array_key_;
    if (other.count_ == 0) {
        return;
    }
    elements_ =
        static_cast<std::byte*>(::operator new(other.count_ * element_->size, alignment_max));
    for (; count_ < other.count_; ++count_) {
        copy_value(*element_, at(count_), other.at(count_));
    }
}

// Every change of the count moves the elements, so that whoever kept an address is found out.
void RawArray::resize(std::size_t count) {
    if (count == count_) {
        return;
    }
    const std::size_t old_count = count_;
    const std::size_t kept_count = std::min(count, old_count);
    std::byte* old_elements = elements_;
    elements_ =
        count == 0 ? nullptr
                   : static_cast<std::byte*>(::operator new(count * element_->size, alignment_max));
    count_ = count;
    for (std::size_t i = 0; i < kept_count; ++i) {
        copy_value(*element_, at(i), old_elements + i * element_->size);
    }
    for (std::size_t i = kept_count; i < count; ++i) {
        construct_value(*element_, at(i));
    }
    for (std::size_t i = 0; i < old_count; ++i) {
        destroy_value(*element_, old_elements + i * element_->size);
    }
    ::operator delete(old_elements, alignment_max);
}

void RawArray::swap_elements(std::size_t left, std::size_t right) {
    void* between = ::operator new(element_->size, alignment_max);
    copy_value(*element_, between, at(left));
    destroy_value(*element_, at(left));
    copy_value(*element_, at(left), at(right));
    destroy_value(*element_, at(right));
    copy_value(*element_, at(right), between);
    destroy_value(*element_, between);
    ::operator delete(between, alignment_max);
}

/// What a fast array is told, held against what it must be.
struct RawArray::Told {
    static void check(const RawArray& array, std::span<const std::uint32_t> indices) {
        REQUIRE_FALSE(indices.empty());
        for (std::size_t i = 0; i < indices.size(); ++i) {
            REQUIRE(indices[i] < array.count_);
            REQUIRE((i == 0 || indices[i - 1] < indices[i]));
        }
    }
    static void pre_remove(void* items, std::span<const std::uint32_t> indices) {
        RawArray& array = array_at(items);
        check(array, indices);
        REQUIRE(array.removed_count_ == 0);
        array.removed_count_ = indices.size();
        array.told_count_ = array.count_;
    }
    static void post_add_or_change(void* items, std::span<const std::uint32_t> indices) {
        check(array_at(items), indices);
    }
    static void post_receive(void* items) {
        RawArray& array = array_at(items);
        REQUIRE((array.removed_count_ == 0 ||
                 array.count_ == array.told_count_ - array.removed_count_));
        array.removed_count_ = 0;
    }
};

FastArrayOps RawArray::fast_array_ops() noexcept {
    FastArrayOps ops;
    ops.array_key = [](const void* items) { return array_at(items).array_key(); };
    ops.item_key = [](const void* item) {
        ItemHeader header;
        std::memcpy(&header, item, sizeof(header));
        return header.replication_key;
    };
    ops.pre_replicated_remove = Told::pre_remove;
    ops.post_replicated_add = Told::post_add_or_change;
    ops.post_replicated_change = Told::post_add_or_change;
    ops.post_replicated_receive = Told::post_receive;
    return ops;
}

ArrayOps RawArray::array_ops() noexcept {
    ArrayOps ops;
    ops.count = [](const void* array) { return array_at(array).count(); };
    ops.data = [](const void* array) -> const void* { return array_at(array).data(); };
    ops.mutable_data = [](void* array) -> void* { return array_at(array).data(); };
    ops.resize = [](void* array, std::size_t count) { array_at(array).resize(count); };
    ops.swap_elements = [](void* array, std::size_t left, std::size_t right) {
        array_at(array).swap_elements(left, right);
    };
    return ops;
}

TypeOps RawArray::type_ops() noexcept {
    TypeOps ops;
    ops.copy_construct = [](void* memory, const void* source) {
        ::new (memory) RawArray(array_at(source));
    };
    ops.copy_assign = [](void* target, const void* source) { array_at(target) = array_at(source); };
    ops.destroy = [](void* value) { std::destroy_at(&array_at(value)); };
    ops.size = sizeof(RawArray);
    ops.alignment = alignof(RawArray);
    return ops;
}

TypeOps headed_struct_ops(std::uint32_t size, std::uint32_t alignment) noexcept {
    TypeOps ops;
    ops.copy_construct = copy_headed;
    ops.destroy = destroy_headed;
    ops.size = size;
    ops.alignment = alignment;
    return ops;
}

TypeOps headed_item_ops(std::uint32_t size, std::uint32_t alignment) noexcept {
    TypeOps ops = headed_struct_ops(size, alignment);
    ops.destroy = destroy_item;
    return ops;
}

RawObject::RawObject(const Type& type)
    : type_(&type), memory_(static_cast<std::byte*>(::operator new(type.size(), alignment_max))) {
    std::memset(memory_, garbage, type.size());
    construct_members(type, memory_);
}

RawObject::~RawObject() {
    for_each_slot(*type_, 0, [&](const Property& property, std::uint32_t offset) {
        destroy_value(property, memory_ + offset);
    });
    ::operator delete(memory_, alignment_max);
}

void RawObject::assign(const RawObject& other) {
    for_each_slot(*type_, 0, [&](const Property& property, std::uint32_t offset) {
        destroy_value(property, memory_ + offset);
        copy_value(property, memory_ + offset, other.memory_ + offset);
    });
}

}  // namespace replayout::test
