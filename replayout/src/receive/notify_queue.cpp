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
                         const ReceiveContext& context)
    : layout_(layout),
      object_(object),
      state_(state),
      scratch_(context.scratch),
      waits_(context.waits_to_notify) {
    // Not by the object itself, which may lie elsewhere at each call.
    REPLAYOUT_ASSERT(scratch_.is_free_for(layout, state));
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

/// Whether the class or a base has a hook that runs after the values.
[[nodiscard]] bool has_late_hooks(const Type& type) noexcept {
    return type.hooks().post_net_receive || type.hooks().post_rep_notifies ||
           (type.base() != nullptr && has_late_hooks(*type.base()));
}

/// The part of the object whose type declares the property: itself, or a base within it.
[[nodiscard]] std::byte* declaring_object(const RepParentCmd& parent, std::byte* object) noexcept {
    const Property& property = *parent.property;
    return object + parent.object_offset.value - property.offset -
           std::size_t{parent.array_index} * property.size;
}

/// One part changed it, and another changed it back, as far as that can be told.
[[nodiscard]] bool is_back(const RepParentCmd& parent, const std::byte* object,
                           const std::byte* previous) {
    const Property& property = *parent.property;
    const TypeOps& ops = property.ops;
    const std::byte* present = object + property.offset;
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

}  // namespace

/// Tells an object of one update of it.
class UpdateNotifier {
  public:
    UpdateNotifier(const RepLayout& layout, std::byte* object, bool has_parts) noexcept
        : layout_(layout), object_(object), has_parts_(has_parts) {}

    void begin() { call_hooks(layout_.type(), object_, &ReceiveHooks::post_net_receive); }
    void tell(std::uint32_t parent_index, bool is_changed, const std::byte* previous) {
        const RepParentCmd& parent = layout_.parents()[parent_index];
        const NotifyFunction& notify = parent.property->notify;
        std::byte* const object = declaring_object(parent, object_);
        const bool is_new = is_changed && !(has_parts_ && is_back(parent, object, previous));
        if (is_new || notify.when == RepNotify::Always) {
            notify.call(object, previous, notify.context);
        }
    }
    void end() { call_hooks(layout_.type(), object_, &ReceiveHooks::post_rep_notifies); }

  private:
    const RepLayout& layout_;
    std::byte* object_;
    bool has_parts_;
};

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
    const std::byte* value = declaring_object(cmd, object_) + property.offset;
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

void ReceiveScratch::put_off(const RepLayout& layout) {
    const std::size_t begin = waiting_values_.size();
    if (previous_values_.empty() && !has_late_hooks(layout.type())) {
        return;
    }
    waiting_values_.insert(waiting_values_.end(), previous_values_.begin(), previous_values_.end());
    previous_values_.clear();
    waiting_updates_.push_back({&layout, begin, waiting_values_.size(), earlier_value_count_ > 0});
}

void NotifyQueue::run() {
    if (!scratch_.is_update_under_way()) {
        return;
    }
    // Handles of a layout that only receives are the sender's, in its order of declaration;
    // notifies run in our order.
    scratch_.sort_previous_values();
    if (waits_) {
        scratch_.put_off(layout_);
        scratch_.drop_update();
        return;
    }
    UpdateNotifier notifier(layout_, object_, scratch_.earlier_value_count_ > 0);
    notifier.begin();
    for (const auto& entry : scratch_.previous_values_) {
        notifier.tell(entry.parent_index, entry.is_changed, entry.value);
    }
    scratch_.drop_update();
    notifier.end();
}

void run_waiting_notifies(ReceiveScratch& scratch, std::size_t place, const RepLayout& layout,
                          void* object) {
    const ReceiveScratch::WaitingUpdate update = scratch.waiting_updates_[place];
    REPLAYOUT_ASSERT(update.layout == &layout);
    UpdateNotifier notifier(layout, static_cast<std::byte*>(object), update.has_parts);
    notifier.begin();
    for (std::size_t i = update.value_begin; i < update.value_end; ++i) {
        const ReceiveScratch::PreviousValue& entry = scratch.waiting_values_[i];
        notifier.tell(entry.parent_index, entry.is_changed, entry.value);
    }
    notifier.end();
}

}  // namespace replayout
