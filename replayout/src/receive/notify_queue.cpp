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

}  // namespace

/// Tells an object of one update of it.
class UpdateNotifier {
  public:
    UpdateNotifier(const RepLayout& layout, std::byte* object, bool has_parts) noexcept
        : layout_(layout), object_(object), has_parts_(has_parts) {}

    void begin() { call_hooks(layout_.type(), object_, &ReceiveHooks::post_net_receive); }
    void tell(const detail::OldValue& previous) {
        const RepParentCmd& parent = layout_.parents()[previous.parent_index];
        const NotifyFunction& notify = parent.property->notify;
        std::byte* const object = declaring_object(parent, object_);
        const bool is_new =
            previous.is_changed && !(has_parts_ && is_back(parent, object, previous.value));
        if (is_new || notify.when == RepNotify::Always) {
            notify.call(object, previous.value, notify.context);
        }
    }
    void end() { call_hooks(layout_.type(), object_, &ReceiveHooks::post_rep_notifies); }

  private:
    const RepLayout& layout_;
    std::byte* object_;
    bool has_parts_;
};

void NotifyQueue::begin() {
    if (!update_.has_begun()) {
        update_.begin(layout_, state_);
        call_hooks(layout_.type(), object_, &ReceiveHooks::pre_net_receive);
    }
}

void NotifyQueue::hold(const detail::LeafSpan& last_span, std::size_t held_steps) {
    update_.hold(last_span, held_steps);
    is_held_ = true;
}

void NotifyQueue::before_write(ParentIndex parent) {
    update_.old_values().before_write(layout_, parent, object_);
}

void NotifyQueue::mark_changed(ParentIndex parent) noexcept {
    update_.old_values().mark_changed(layout_, parent);
}

void NotifyQueue::mark_element_changed(CmdIndex array, std::uint64_t key) {
    update_.keyed_changes().add(array, detail::ElementChange::Changed, key);
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
    UpdateNotifier notifier(layout_, object_, values.has_earlier());
    notifier.begin();
    for (const detail::OldValue& value : values.values()) {
        notifier.tell(value);
    }
    update_.drop();
    notifier.end();
}

void run_waiting_notifies(ReceiveScratch& scratch, std::size_t place, const RepLayout& layout,
                          void* object) {
    const detail::WaitingUpdates& waiting = parts_of(scratch).waiting;
    const detail::WaitingUpdates::Update update = waiting.update(place);
    REPLAYOUT_ASSERT(update.layout == &layout);
    UpdateNotifier notifier(layout, static_cast<std::byte*>(object), update.has_parts);
    notifier.begin();
    for (std::size_t i = update.value_begin; i < update.value_end; ++i) {
        notifier.tell(waiting.value(i));
    }
    notifier.end();
}

}  // namespace replayout
