// SPDX-License-Identifier: MIT
//
// The value of a property, all elements of a C array included: compared, assigned, and kept.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/reflection/property.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace replayout {

[[nodiscard]] inline bool equal_values(const Property& property, const std::byte* left,
                                       const std::byte* right) {
    for (std::uint32_t i = 0; i < property.array_dim; ++i) {
        if (!property.ops.equal(left + i * property.size, right + i * property.size)) {
            return false;
        }
    }
    return true;
}

inline void copy_values(const Property& property, std::byte* target, const std::byte* source) {
    for (std::uint32_t i = 0; i < property.array_dim; ++i) {
        property.ops.copy_assign(target + i * property.size, source + i * property.size);
    }
}

/// A copy of one value. It can be moved, and not copied.
class ValueCopy {
  public:
    ValueCopy(const Property& property, const std::byte* value, MemoryResource* resource)
        : property_(&property), resource_(resource) {
        memory_ = static_cast<std::byte*>(resource->allocate(bytes(), property.ops.alignment));
        for (std::uint32_t i = 0; i < property.array_dim; ++i) {
            property.ops.copy_construct(memory_ + i * property.size, value + i * property.size);
        }
    }
    ~ValueCopy() {
        if (memory_ == nullptr) {
            return;
        }
        for (std::uint32_t i = 0; i < property_->array_dim; ++i) {
            property_->ops.destroy(memory_ + i * property_->size);
        }
        resource_->deallocate(memory_, bytes(), property_->ops.alignment);
    }
    ValueCopy(ValueCopy&& other) noexcept
        : property_(other.property_),
          resource_(other.resource_),
          memory_(std::exchange(other.memory_, nullptr)) {}
    ValueCopy& operator=(ValueCopy&& other) noexcept {
        std::swap(property_, other.property_);
        std::swap(resource_, other.resource_);
        std::swap(memory_, other.memory_);
        return *this;
    }

    [[nodiscard]] const std::byte* get() const noexcept { return memory_; }
    [[nodiscard]] std::byte* get() noexcept { return memory_; }

  private:
    [[nodiscard]] std::size_t bytes() const noexcept {
        return std::size_t{property_->array_dim} * property_->size;
    }

    const Property* property_;
    MemoryResource* resource_;
    std::byte* memory_ = nullptr;
};

}  // namespace replayout
