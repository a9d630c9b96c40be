// SPDX-License-Identifier: MIT
//
// What an update changed, and who is told of it when it ends.
#include "notify_queue.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace replayout {

namespace {

/// A C array is one value to its notify: that of its first element's parent.
[[nodiscard]] std::uint32_t first_parent(const RepLayout& layout, ParentIndex parent) noexcept {
    return parent.value - layout.parents()[parent.value].array_index;
}

}  // namespace

ReceiveScratch::PreviousValue* ReceiveScratch::find_previous_value(
    std::uint32_t parent_index) noexcept {
    // Handles ascend within an update, and the leaves of a parent lie in one row: of what blocks
    // brought, only the last entry can be this parent's. Others are looked for when references are
    // bound, which sorts before.
    if (!previous_values_.empty() && previous_values_.back().parent_index == parent_index) {
        return &previous_values_.back();
    }
    const auto end = previous_values_.begin() + static_cast<std::ptrdiff_t>(sorted_value_count_);
    const auto found = std::lower_bound(previous_values_.begin(), end, parent_index,
                                        [](const PreviousValue& entry, std::uint32_t wanted) {
                                            return entry.parent_index < wanted;
                                        });
    return found != end && found->parent_index == parent_index ? &*found : nullptr;
}

void ReceiveScratch::mark_changed(const RepLayout& layout, ParentIndex parent) noexcept {
    if (PreviousValue* entry = find_previous_value(first_parent(layout, parent))) {
        entry->is_changed = true;
    }
}

NotifyQueue::NotifyQueue(const RepLayout& layout, std::byte* object, const ReceivingRepState& state,
                         ReceiveScratch& scratch)
    : layout_(layout), object_(object), state_(state), scratch_(scratch) {
    // Not by the object itself, which may lie elsewhere at each call.
    REPLAYOUT_ASSERT(!scratch.is_update_under_way() ||
                     (scratch.updated_layout_ == &layout && scratch.updated_state_ == &state));
}

NotifyQueue::~NotifyQueue() {
    if (!is_held_) {
        scratch_.drop_update();
    }
}

namespace {

/// Calls one hook of a class and of its bases, the base's first.
void call_hooks(const Type& type, std::byte* object, ReceiveHook ReceiveHooks::*hook) {
    if (type.base() != nullptr) {
        call_hooks(*type.base(), object + type.base_offset(), hook);
    }
    const ReceiveHook& declared = type.hooks().*hook;
    if (declared) {
        declared.call(object, declared.context);
    }
}

}  // namespace

void NotifyQueue::begin() {
    if (!scratch_.is_update_under_way()) {
        scratch_.updated_layout_ = &layout_;
        scratch_.updated_state_ = &state_;
        call_hooks(layout_.type(), object_, &ReceiveHooks::pre_net_receive);
    }
}

void NotifyQueue::hold(const ReceiveScratch::LeafSpan& last_span, std::size_t held_steps) {
    scratch_.end_part();
    scratch_.last_span_ = last_span;
    scratch_.held_steps_ += held_steps;
    is_held_ = true;
}

void NotifyQueue::before_write(ParentIndex parent) {
    const RepParentCmd& cmd = layout_.parents()[parent.value];
    const Property& property = *cmd.property;
    const std::uint32_t first = first_parent(layout_, parent);
    if (!property.notify || scratch_.find_previous_value(first) != nullptr) {
        return;
    }
    const TypeOps& ops = property.ops;
    const std::byte* value = declaring_object(cmd) + property.offset;
    auto* copy = static_cast<std::byte*>(
        scratch_.values_.allocate(std::size_t{property.array_dim} * property.size, ops.alignment));
    for (std::uint32_t i = 0; i < property.array_dim; ++i) {
        const std::size_t offset = std::size_t{i} * property.size;
        ops.copy_construct(copy + offset, value + offset);
    }
    if (property.kind == PropertyKind::BitBool) {
        // Of the byte only one bit is the property.
        ::new (copy) bool((std::to_integer<std::uint8_t>(*value) & property.bit_mask) != 0);
    }
    auto& values = scratch_.previous_values_;
    if (scratch_.sorted_value_count_ == values.size() &&
        (values.empty() || values.back().parent_index < first)) {
        ++scratch_.sorted_value_count_;
    }
    values.push_back(
        {first, false, copy, ops.destroy, property.size, property.array_dim, ops.alignment});
}

void NotifyQueue::mark_changed(ParentIndex parent) noexcept {
    scratch_.mark_changed(layout_, parent);
}

void NotifyQueue::mark_element_changed(CmdIndex array, std::uint64_t key) {
    scratch_.keyed_changes_.push_back({array, ReceiveScratch::ElementChange::Changed, key});
}

std::byte* NotifyQueue::declaring_object(const RepParentCmd& parent) const noexcept {
    const Property& property = *parent.property;
    return object_ + parent.object_offset.value - property.offset -
           std::size_t{parent.array_index} * property.size;
}

bool NotifyQueue::is_back(const RepParentCmd& parent, const std::byte* previous) const {
    const Property& property = *parent.property;
    const TypeOps& ops = property.ops;
    const std::byte* present = declaring_object(parent) + property.offset;
    if (property.kind == PropertyKind::BitBool) {
        const bool bit = (std::to_integer<std::uint8_t>(*present) & property.bit_mask) != 0;
        return bit == *reinterpret_cast<const bool*>(previous);
    }
    const std::size_t bytes = std::size_t{property.array_dim} * property.size;
    if (ops.is_trivial) {
        return std::memcmp(present, previous, bytes) == 0;
    }
    if (ops.equal == nullptr) {
        return false;
    }
    for (std::size_t offset = 0; offset < bytes; offset += property.size) {
        if (!ops.equal(present + offset, previous + offset)) {
            return false;
        }
    }
    return true;
}

void NotifyQueue::run() {
    if (!scratch_.is_update_under_way()) {
        return;
    }
    call_hooks(layout_.type(), object_, &ReceiveHooks::post_net_receive);
    const bool has_parts = scratch_.earlier_value_count_ > 0;
    // Handles of a layout that only receives are the sender's, in its order of declaration;
    // notifies run in our order.
    scratch_.sort_previous_values();
    for (const auto& entry : scratch_.previous_values_) {
        const RepParentCmd& parent = layout_.parents()[entry.parent_index];
        const NotifyFunction& notify = parent.property->notify;
        const bool is_changed = entry.is_changed && !(has_parts && is_back(parent, entry.value));
        if (is_changed || notify.when == RepNotify::Always) {
            notify.call(declaring_object(parent), entry.value, notify.context);
        }
    }
    scratch_.drop_update();
    call_hooks(layout_.type(), object_, &ReceiveHooks::post_rep_notifies);
}

}  // namespace replayout
