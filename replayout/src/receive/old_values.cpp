// SPDX-License-Identifier: MIT
#include <replayout/old_values.h>

#include <algorithm>
#include <new>

namespace replayout::detail {

void release(std::pmr::memory_resource& memory, const OldValue& value) noexcept {
    for (std::uint32_t i = 0; i < value.count; ++i) {
        value.destroy(value.value + std::size_t{i} * value.size);
    }
    memory.deallocate(value.value, std::size_t{value.count} * value.size, value.alignment);
}

void OldValues::keep(const RepParentCmd& parent, std::uint32_t parent_index,
                     const std::byte* object) {
    const Property& property = *parent.property;
    const TypeOps& ops = property.ops;
    const std::byte* value =
        object + parent.object_offset.value - std::size_t{parent.array_index} * property.size;
    auto* copy = static_cast<std::byte*>(
        memory_.allocate(std::size_t{property.array_dim} * property.size, ops.alignment));
    for (std::uint32_t i = 0; i < property.array_dim; ++i) {
        const std::size_t offset = std::size_t{i} * property.size;
        ops.copy_construct(copy + offset, value + offset);
    }
    if (property.kind == PropertyKind::BitBool) {
        // Only one bit of the byte is the property.
        ::new (copy) bool((std::to_integer<std::uint8_t>(*value) & property.bit_mask) != 0);
    }
    if (sorted_count_ == values_.size() &&
        (values_.empty() || values_.back().parent_index < parent_index)) {
        ++sorted_count_;
    }
    values_.push_back(
        {parent_index, false, copy, ops.destroy, property.size, property.array_dim, ops.alignment});
}

OldValue* OldValues::find_sorted(std::uint32_t parent_index) noexcept {
    const auto end = values_.begin() + static_cast<std::ptrdiff_t>(sorted_count_);
    const auto found = std::lower_bound(
        values_.begin(), end, parent_index,
        [](const OldValue& entry, std::uint32_t wanted) { return entry.parent_index < wanted; });
    return found != end && found->parent_index == parent_index ? &*found : nullptr;
}

void OldValues::sort() {
    if (sorted_count_ != values_.size()) {
        std::sort(values_.begin(), values_.end(), [](const auto& left, const auto& right) {
            return left.parent_index < right.parent_index;
        });
        sorted_count_ = values_.size();
    }
}

void OldValues::move_to(Vector<OldValue>& others) {
    others.insert(others.end(), values_.begin(), values_.end());
    values_.clear();
    clear();
}

void OldValues::clear() noexcept {
    for (const OldValue& value : values_) {
        release(memory_, value);
    }
    values_.clear();
    earlier_count_ = 0;
    sorted_count_ = 0;
}

}  // namespace replayout::detail
