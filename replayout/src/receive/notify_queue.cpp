// SPDX-License-Identifier: MIT
#include "notify_queue.h"

#include <cstring>

namespace replayout {

NotifyQueue::NotifyQueue(const RepLayout& layout, std::byte* object, const ReceivingRepState& state,
                         const ReceiveContext& context)
    : layout_(layout),
      object_(object),
      state_(state),
      update_(parts_of(context.scratch).update),
      waiting_(parts_of(context.scratch).waiting),
      waits_(context.waits_to_notify) {
    // Not by the object itself, which may lie elsewhere at each call.
    REPLAYOUT_ASSERT(update_.is_free_for(layout, state));
}

NotifyQueue::~NotifyQueue() {
    if (!is_held_) {
        update_.drop();
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

void tell(const RepLayout& layout, std::byte* root, bool has_parts,
          const detail::OldValue& previous) {
    const RepParentCmd& parent = layout.parents()[previous.parent_index];
    const NotifyFunction& notify = parent.property->notify;
    std::byte* const object = declaring_object(parent, root);
    const bool is_new =
        previous.is_changed && !(has_parts && is_back(parent, object, previous.value));
    if (is_new || notify.when == RepNotify::Always) {
        notify.call(object, previous.value, notify.context);
    }
}

}  // namespace

void NotifyQueue::begin() {
    if (!update_.has_begun()) {
        update_.begin(layout_, state_);
        call_hooks(layout_.type(), object_, &ReceiveHooks::pre_net_receive);
    }
}

void NotifyQueue::run() {
    if (!update_.has_begun()) {
        return;
    }
    // Handles of a layout that only receives are the sender's, in its order of declaration;
    // notifies run in our order.
    detail::OldValues& values = update_.old_values();
    values.sort();
    if (waits_) {
        if (!values.values().empty() || has_late_hooks(layout_.type())) {
            waiting_.add(layout_, values);
        }
        update_.drop();
        return;
    }
    const bool has_parts = values.has_earlier();
    call_hooks(layout_.type(), object_, &ReceiveHooks::post_net_receive);
    for (const detail::OldValue& value : values.values()) {
        tell(layout_, object_, has_parts, value);
    }
    update_.drop();
    call_hooks(layout_.type(), object_, &ReceiveHooks::post_rep_notifies);
}

void run_waiting_notifies(ReceiveScratch& scratch, std::size_t number, const RepLayout& layout,
                          void* object) {
    const detail::WaitingUpdates& waiting = parts_of(scratch).waiting;
    const detail::WaitingUpdates::Update update = waiting.update(number);
    REPLAYOUT_ASSERT(update.layout == &layout);
    auto* const bytes = static_cast<std::byte*>(object);
    call_hooks(layout.type(), bytes, &ReceiveHooks::post_net_receive);
    for (std::size_t i = update.value_begin; i < update.value_end; ++i) {
        tell(layout, bytes, update.has_parts, waiting.value(i));
    }
    call_hooks(layout.type(), bytes, &ReceiveHooks::post_rep_notifies);
}

}  // namespace replayout
