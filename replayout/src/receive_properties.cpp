// SPDX-License-Identifier: MIT
#include <replayout/receive_properties.h>

#include <replayout/keyed_array.h>

#include "keyed_array_reader.h"
#include "property_reader.h"
#include "struct_reader.h"

#include <algorithm>

namespace replayout {

ReceiveScratch::ReceiveScratch(MemoryResource* resource)
    : values_(resource),
      handles_(resource),
      elements_(Allocator<ChangeMask>(resource)),
      text_(Allocator<std::byte>(resource)),
      guids_(Allocator<NetGUID>(resource)),
      struct_bits_(Allocator<std::uint32_t>(resource)),
      previous_values_(Allocator<PreviousValue>(resource)),
      keyed_changes_(Allocator<KeyedChange>(resource)),
      places_(Allocator<KeyPlace>(resource)),
      removed_keys_(Allocator<std::uint64_t>(resource)),
      element_indices_(Allocator<std::uint32_t>(resource)),
      ranks_(Allocator<std::pair<std::int64_t, std::uint32_t>>(resource)) {
    elements_.reserve(nesting_depth_max + 1);
    for (std::uint32_t depth = 0; depth <= nesting_depth_max; ++depth) {
        elements_.emplace_back(resource);
    }
}

ReceiveScratch::~ReceiveScratch() = default;

NotifyQueue::NotifyQueue(const RepLayout& layout, std::byte* object, ReceiveScratch& scratch)
    : layout_(layout), object_(object), scratch_(scratch) {
    REPLAYOUT_ASSERT(scratch.previous_values_.empty());
}

NotifyQueue::~NotifyQueue() {
    destroy_values();
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
    if (!has_begun_) {
        has_begun_ = true;
        call_hooks(layout_.type(), object_, &ReceiveHooks::pre_net_receive);
    }
}

void NotifyQueue::before_write(ParentIndex parent) {
    const RepParentCmd& cmd = layout_.parents()[parent.value];
    auto& values = scratch_.previous_values_;
    // Handles ascend, and with them parents: the last entry is the only one that can be this
    // parent's.
    if (!cmd.property->notify || (!values.empty() && values.back().parent_index == parent.value)) {
        return;
    }
    const TypeOps& ops = cmd.property->ops;
    void* copy = scratch_.values_.allocate(ops.size, ops.alignment);
    ops.copy_construct(copy, object_ + cmd.object_offset.value);
    if (cmd.property->kind == PropertyKind::BitBool) {
        // Of the byte only one bit is the property.
        const auto byte = std::to_integer<std::uint8_t>(object_[cmd.object_offset.value]);
        ::new (copy) bool((byte & cmd.property->bit_mask) != 0);
    }
    values.push_back({parent.value, copy, false});
}

void NotifyQueue::mark_changed(ParentIndex parent) noexcept {
    auto& values = scratch_.previous_values_;
    if (!values.empty() && values.back().parent_index == parent.value) {
        values.back().is_changed = true;
    }
}

std::byte* NotifyQueue::declaring_object(const RepParentCmd& parent) const noexcept {
    const Property& property = *parent.property;
    return object_ + parent.object_offset.value - property.offset -
           std::size_t{parent.array_index} * property.size;
}

void NotifyQueue::run() {
    if (!has_begun_) {
        return;
    }
    call_hooks(layout_.type(), object_, &ReceiveHooks::post_net_receive);
    if (layout_.is_receive_only()) {
        // Handles are the sender's, in its order of declaration; notifies run in ours.
        std::sort(scratch_.previous_values_.begin(), scratch_.previous_values_.end(),
                  [](const auto& left, const auto& right) {
                      return left.parent_index < right.parent_index;
                  });
    }
    for (const auto& entry : scratch_.previous_values_) {
        const RepParentCmd& parent = layout_.parents()[entry.parent_index];
        const NotifyFunction& notify = parent.property->notify;
        if (entry.is_changed || notify.when == RepNotify::Always) {
            notify.call(declaring_object(parent), entry.value, notify.context);
        }
    }
    destroy_values();
    call_hooks(layout_.type(), object_, &ReceiveHooks::post_rep_notifies);
}

void NotifyQueue::destroy_values() noexcept {
    for (const auto& entry : scratch_.previous_values_) {
        const TypeOps& ops = layout_.parents()[entry.parent_index].property->ops;
        ops.destroy(entry.value);
        scratch_.values_.deallocate(entry.value, ops.size, ops.alignment);
    }
    scratch_.previous_values_.clear();
}

bool receive_properties(const RepLayout& layout, BitReader& reader, void* object,
                        ReceivingRepState& state, ReceiveContext& context) {
    REPLAYOUT_ASSERT(object != nullptr);
    auto* bytes = static_cast<std::byte*>(object);
    BitReader check = reader;
    if (!PropertyReader(layout, check, context, bytes, &state).check_block()) {
        reader.fail();
        return false;
    }
    NotifyQueue notifies(layout, bytes, context.scratch);
    notifies.begin();
    BitReader apply = reader.without_budget();
    const bool is_applied =
        PropertyReader(layout, apply, context, bytes, state, notifies).apply_block();
    REPLAYOUT_ASSERT(is_applied);
    reader.skip_bits(check.position_bits() - reader.position_bits());
    finish_keyed_arrays(layout, bytes, state, context);
    notifies.run();
    return is_applied;
}

bool skip_properties(const RepLayout& layout, BitReader& reader, ReceiveContext& context) {
    return PropertyReader(layout, reader, context, nullptr, nullptr).check_block();
}

namespace {

/// The memory of the leaf at `path`, and its command.
struct Leaf {
    std::byte* memory;
    const RepLayoutCmd* cmd;
};

/// The element of a keyed array that has a slot; the count of elements when it is gone.
[[nodiscard]] std::size_t find_element(const RepLayoutCmd& cmd, const ReceivingRepState& state,
                                       const std::byte* array, std::uint32_t slot) {
    const ArrayOps& ops = cmd.property->array;
    const std::size_t count = ops.count(array);
    const KeyedElements* known = state.find_keyed_elements(RepHandle{cmd.relative_handle});
    const KeyedElements::Element* element = known == nullptr ? nullptr : known->find_slot(slot);
    const auto* elements = static_cast<const std::byte*>(ops.data(array));
    for (std::size_t i = 0; element != nullptr && i < count; ++i) {
        if (key_of_element(cmd.property->array_key, elements + i * cmd.element_size) ==
            element->key) {
            return i;
        }
    }
    return count;
}

[[nodiscard]] Leaf find_leaf(const RepLayout& layout, const ReceivingRepState& state,
                             std::byte* object, const RepPath& path) {
    const RepScope* scope = &layout.root();
    std::byte* memory = object;
    for (std::uint32_t depth = 0;; ++depth) {
        const std::uint32_t bit = path.handles[depth] - 1;
        const RepHandle handle{bit % scope->handle_count + 1};
        const CmdIndex index = layout.cmd_of(*scope, handle);
        const RepLayoutCmd& cmd = layout.cmd(index);
        std::byte* leaf = memory + cmd.object_offset.value;
        if (!is_array(cmd.type)) {
            return {leaf, &cmd};
        }
        const ArrayOps& ops = cmd.property->array;
        scope = &layout.element_scope(index);
        std::size_t element = (path.handles[depth + 1] - 1) / scope->handle_count;
        if (cmd.type == RepLayoutCmdType::KeyedArray) {
            element = find_element(cmd, state, leaf, static_cast<std::uint32_t>(element));
        }
        if (element >= ops.count(leaf)) {
            return {nullptr, nullptr};  // the game shortened the array on its own
        }
        memory = static_cast<std::byte*>(ops.mutable_data(leaf)) + element * cmd.element_size;
    }
}

/// Binds what one id concerns in one object, leaf by leaf.
class Rebinder {
  public:
    Rebinder(const RepLayout& layout, const ReceivingRepState& state, std::byte* object,
             ObjectHandle target, ReceiveContext& context)
        : layout_(layout),
          state_(state),
          object_(object),
          target_(target),
          context_(context),
          notifies_(layout, object, context.scratch) {}

    void set(const RepPath& path, ReceivingRepState::Reference& reference) {
        reference.is_mapped = !target_.is_null();
        const Leaf found = find_leaf(layout_, state_, object_, path);
        if (found.cmd == nullptr || found.cmd->property->reference.get(found.memory) == target_) {
            return;
        }
        const Leaf leaf = begin_write(path);
        if (leaf.cmd != nullptr) {
            leaf.cmd->property->reference.set(leaf.memory, target_);
            end_write(leaf, true);
        }
    }

    void read_again(const RepPath& path, const ReceivingRepState::SerializedValue& value) {
        const Leaf leaf = begin_write(path);
        if (leaf.cmd != nullptr) {
            end_write(leaf, StructReader(context_).apply_again(*leaf.cmd, leaf.memory, value));
        }
    }

    [[nodiscard]] std::uint32_t finish() {
        notifies_.run();
        return count_;
    }

  private:
    /// The leaf, found after the hook ran: that may have moved it, or taken it away.
    [[nodiscard]] Leaf begin_write(const RepPath& path) {
        notifies_.begin();
        const Leaf leaf = find_leaf(layout_, state_, object_, path);
        if (leaf.cmd != nullptr) {
            notifies_.before_write(leaf.cmd->parent_index);
        }
        return leaf;
    }
    void end_write(const Leaf& leaf, bool is_changed) {
        if (is_changed) {
            notifies_.mark_changed(leaf.cmd->parent_index);
            ++count_;
        }
    }

    const RepLayout& layout_;
    const ReceivingRepState& state_;
    std::byte* object_;
    ObjectHandle target_;
    ReceiveContext& context_;
    NotifyQueue notifies_;
    std::uint32_t count_ = 0;
};

}  // namespace

std::uint32_t rebind_references(const RepLayout& layout, void* object, ReceivingRepState& state,
                                NetGUID guid, ObjectHandle target, ReceiveContext& context) {
    Rebinder rebinder(layout, state, static_cast<std::byte*>(object), target, context);
    auto& references = state.references();
    auto reference = references.begin();
    // Both tables in one ascending order, because notifies run in that of the first leaf.
    for (const auto& [path, value] : state.values()) {
        for (; reference != references.end() && reference->first < path; ++reference) {
            if (reference->second.guid == guid) {
                rebinder.set(reference->first, reference->second);
            }
        }
        if (std::binary_search(value.guids.begin(), value.guids.end(), guid)) {
            rebinder.read_again(path, value);
        }
    }
    for (; reference != references.end(); ++reference) {
        if (reference->second.guid == guid) {
            rebinder.set(reference->first, reference->second);
        }
    }
    return rebinder.finish();
}

}  // namespace replayout
