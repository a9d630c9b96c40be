// SPDX-License-Identifier: MIT
#include <replayout/receive_properties.h>

#include <replayout/keyed_array.h>

#include "keyed_array_reader.h"
#include "property_reader.h"
#include "struct_reader.h"

#include <algorithm>
#include <cstring>
#include <tuple>

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
      named_keys_(Allocator<std::uint64_t>(resource)),
      gone_keys_(Allocator<std::uint64_t>(resource)),
      made_elements_(Allocator<KeyedElements::Element>(resource)),
      element_indices_(Allocator<std::uint32_t>(resource)),
      ranks_(Allocator<ElementRank>(resource)),
      moved_ranks_(Allocator<ElementRank>(resource)) {
    elements_.reserve(nesting_depth_max + 1);
    for (std::uint32_t depth = 0; depth <= nesting_depth_max; ++depth) {
        elements_.emplace_back(resource);
    }
}

ReceiveScratch::~ReceiveScratch() {
    drop_update();
}

void ReceiveScratch::drop_update() noexcept {
    for (const PreviousValue& entry : previous_values_) {
        for (std::uint32_t i = 0; i < entry.count; ++i) {
            entry.destroy(entry.value + std::size_t{i} * entry.size);
        }
        values_.deallocate(entry.value, std::size_t{entry.count} * entry.size, entry.alignment);
    }
    previous_values_.clear();
    keyed_changes_.clear();
    earlier_value_count_ = 0;
    sorted_value_count_ = 0;
    earlier_change_count_ = 0;
    held_steps_ = 0;
    updated_layout_ = nullptr;
    updated_state_ = nullptr;
}

bool ReceiveScratch::LeafSpan::follows(const LeafSpan& before) const noexcept {
    if (handle != before.handle) {
        return handle > before.handle;
    }
    return may_go_on && has_elements && array_count == before.array_count &&
           (!before.has_elements || first > before.last);
}

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

const ReceiveScratch::KeyedChange* ReceiveScratch::find_earlier_change(
    CmdIndex array, std::uint64_t key) const noexcept {
    const auto end = keyed_changes_.begin() + static_cast<std::ptrdiff_t>(earlier_change_count_);
    const auto found = std::lower_bound(keyed_changes_.begin(), end, std::pair(array, key),
                                        [](const KeyedChange& entry, const auto& wanted) {
                                            return std::pair(entry.array, entry.key) < wanted;
                                        });
    return found != end && found->array == array && found->key == key ? &*found : nullptr;
}

bool ReceiveScratch::has_earlier_change(CmdIndex array) const noexcept {
    const auto end = keyed_changes_.begin() + static_cast<std::ptrdiff_t>(earlier_change_count_);
    return std::binary_search(
        keyed_changes_.begin(), end, KeyedChange{array, ElementChange::Removed, 0},
        [](const KeyedChange& left, const KeyedChange& right) { return left.array < right.array; });
}

void ReceiveScratch::collect_places(const RepLayoutCmd& cmd, const std::byte* array) {
    places_.clear();
    const std::size_t count = cmd.property->array.count(array);
    const auto* elements = static_cast<const std::byte*>(cmd.property->array.data(array));
    for (std::size_t i = 0; i < count; ++i) {
        places_.push_back({key_of_element(cmd.property->array_key, elements + i * cmd.element_size),
                           static_cast<std::uint32_t>(i)});
    }
    // By index where the game has given two elements one key: the first is it.
    std::sort(places_.begin(), places_.end(), [](const auto& left, const auto& right) {
        return std::pair(left.key, left.index) < std::pair(right.key, right.index);
    });
}

std::size_t ReceiveScratch::sort_keyed_changes() {
    const auto is_before = [](const KeyedChange& left, const KeyedChange& right) {
        return std::tuple(left.array.value, left.key, left.change) <
               std::tuple(right.array.value, right.key, right.change);
    };
    const auto fresh = keyed_changes_.begin() + static_cast<std::ptrdiff_t>(earlier_change_count_);
    const auto end = keyed_changes_.end();
    if (fresh == end) {
        return keyed_changes_.size();
    }
    std::sort(fresh, end, is_before);
    // Parts ascend, so mostly they stand behind the others. Where a part took elements away, or the
    // game doubled some, the next one of the array may begin before those.
    const KeyedChange first{fresh->array, ElementChange::Removed, fresh->key};
    const auto begin = std::lower_bound(keyed_changes_.begin(), fresh, first, is_before);
    if (begin != fresh) {
        std::sort(begin, end, is_before);
    }
    const auto begin_index = static_cast<std::size_t>(begin - keyed_changes_.begin());
    keyed_changes_.erase(std::unique(begin, end,
                                     [](const auto& left, const auto& right) {
                                         return left.array == right.array && left.key == right.key;
                                     }),
                         end);
    return begin_index;
}

void ReceiveScratch::sort_previous_values() {
    if (sorted_value_count_ != previous_values_.size()) {
        std::sort(previous_values_.begin(), previous_values_.end(),
                  [](const auto& left, const auto& right) {
                      return left.parent_index < right.parent_index;
                  });
        sorted_value_count_ = previous_values_.size();
    }
}

void ReceiveScratch::end_part() {
    sort_keyed_changes();
    earlier_value_count_ = previous_values_.size();
    earlier_change_count_ = keyed_changes_.size();
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

bool receive_properties(const RepLayout& layout, BitReader& reader, void* object,
                        ReceivingRepState& state, ReceiveContext& context) {
    REPLAYOUT_ASSERT(object != nullptr);
    auto* bytes = static_cast<std::byte*>(object);
    BitReader check_reader = reader;
    PropertyReader check(layout, check_reader, context, bytes, &state);
    if (!check.check_block()) {
        reader.fail();
        return false;
    }
    if (check.must_end_update()) {
        finish_update(layout, object, state, context);
    }
    NotifyQueue notifies(layout, bytes, state, context.scratch);
    notifies.begin();
    BitReader apply = reader.without_budget();
    const bool is_applied =
        PropertyReader(layout, apply, context, bytes, state, notifies).apply_block();
    REPLAYOUT_ASSERT(is_applied);
    reader.skip_bits(check_reader.position_bits() - reader.position_bits());
    if (context.more_parts_follow) {
        finish_grouped_arrays(layout, bytes, state, context);
        notifies.hold(check.last_span(), check.held_steps());
        return is_applied;
    }
    finish_keyed_arrays(layout, bytes, state, context);
    notifies.run();
    return is_applied;
}

void finish_update(const RepLayout& layout, void* object, ReceivingRepState& state,
                   ReceiveContext& context) {
    if (context.scratch.is_update_under_way()) {
        auto* bytes = static_cast<std::byte*>(object);
        NotifyQueue notifies(layout, bytes, state, context.scratch);
        finish_keyed_arrays(layout, bytes, state, context);
        notifies.run();
    }
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

}  // namespace

/// Binds what one id concerns in one object, leaf by leaf.
class Rebinder {
  public:
    Rebinder(const RepLayout& layout, ReceivingRepState& state, std::byte* object,
             ObjectHandle target, ReceiveContext& context)
        : layout_(layout),
          state_(state),
          object_(object),
          target_(target),
          context_(context),
          notifies_(layout, object, state, context.scratch) {
        context.scratch.sort_previous_values();  // any of them may be looked for
    }

    void set(const RepPath& path, ReceivingRepState::Reference& reference) {
        reference.is_mapped = !target_.is_null();
        const Leaf found = find_leaf(path);
        if (found.cmd == nullptr || found.cmd->property->reference.get(found.memory) == target_) {
            return;
        }
        const Leaf leaf = begin_write(path);
        if (leaf.cmd != nullptr) {
            leaf.cmd->property->reference.set(leaf.memory, target_);
            end_write(path, leaf, true);
        }
    }

    void read_again(const RepPath& path, const ReceivingRepState::SerializedValue& value) {
        const Leaf leaf = begin_write(path);
        if (leaf.cmd != nullptr) {
            end_write(
                path, leaf,
                StructReader(layout_, context_).apply_again(*leaf.cmd, leaf.memory, path, value));
        }
    }

    [[nodiscard]] std::uint32_t finish() {
        finish_keyed_arrays(layout_, object_, state_, context_);
        notifies_.run();
        return count_;
    }

  private:
    [[nodiscard]] Leaf find_leaf(const RepPath& path) {
        const RepScope* scope = &layout_.root();
        std::byte* memory = object_;
        for (std::uint32_t depth = 0;; ++depth) {
            const std::uint32_t bit = path.handles[depth] - 1;
            const RepHandle handle{bit % scope->handle_count + 1};
            const CmdIndex index = layout_.cmd_of(*scope, handle);
            const RepLayoutCmd& cmd = layout_.cmd(index);
            std::byte* leaf = memory + cmd.object_offset.value;
            if (!is_array(cmd.type)) {
                return {leaf, &cmd};
            }
            const ArrayOps& ops = cmd.property->array;
            scope = &layout_.element_scope(index);
            std::size_t element = (path.handles[depth + 1] - 1) / scope->handle_count;
            if (cmd.type == RepLayoutCmdType::KeyedArray) {
                element = find_element(cmd, leaf, static_cast<std::uint32_t>(element));
            }
            if (element >= ops.count(leaf)) {
                return {nullptr, nullptr};  // the game shortened the array on its own
            }
            memory = static_cast<std::byte*>(ops.mutable_data(leaf)) + element * cmd.element_size;
        }
    }

    /// The element of a keyed array that has a slot; the count of elements when it is gone.
    [[nodiscard]] std::size_t find_element(const RepLayoutCmd& cmd, const std::byte* array,
                                           std::uint32_t slot) {
        const KeyedElements* known = state_.find_keyed_elements(RepHandle{cmd.relative_handle});
        const KeyedElements::Element* element = known == nullptr ? nullptr : known->find_slot(slot);
        const auto& places = context_.scratch.places_;
        if (element == nullptr) {
            return cmd.property->array.count(array);
        }
        if (indexed_ != &cmd) {
            index_elements(cmd, array);
        }
        const auto found = std::lower_bound(
            places.begin(), places.end(), element->key,
            [](const auto& place, std::uint64_t wanted) { return place.key < wanted; });
        return found == places.end() || found->key != element->key ? places.size() : found->index;
    }

    /// Once for all that is bound in the array: many of its elements may name the object.
    void index_elements(const RepLayoutCmd& cmd, const std::byte* array) {
        context_.scratch.collect_places(cmd, array);
        indexed_ = &cmd;
    }

    /// The leaf, found after the hook ran: that may have moved it, or taken it away.
    [[nodiscard]] Leaf begin_write(const RepPath& path) {
        if (!context_.scratch.is_update_under_way()) {
            indexed_ = nullptr;
        }
        notifies_.begin();
        const Leaf leaf = find_leaf(path);
        if (leaf.cmd != nullptr) {
            notifies_.before_write(leaf.cmd->parent_index);
        }
        return leaf;
    }
    void end_write(const RepPath& path, const Leaf& leaf, bool is_changed) {
        if (is_changed) {
            notifies_.mark_changed(leaf.cmd->parent_index);
            note_element(path);
            ++count_;
        }
    }
    /// In an element of a keyed array: the array is told of it, if it wants to be.
    void note_element(const RepPath& path) {
        const CmdIndex array = layout_.cmd_of(layout_.root(), RepHandle{path.handles[0]});
        const RepLayoutCmd& cmd = layout_.cmd(array);
        if (cmd.type != RepLayoutCmdType::KeyedArray) {
            return;
        }
        const std::uint32_t slot =
            (path.handles[1] - 1) / layout_.element_scope(array).handle_count;
        const KeyedElements* known = state_.find_keyed_elements(RepHandle{cmd.relative_handle});
        const KeyedElements::Element* element = known == nullptr ? nullptr : known->find_slot(slot);
        if (element != nullptr) {
            notifies_.mark_element_changed(array, element->key);
        }
    }

    const RepLayout& layout_;
    ReceivingRepState& state_;
    std::byte* object_;
    ObjectHandle target_;
    ReceiveContext& context_;
    NotifyQueue notifies_;
    std::uint32_t count_ = 0;
    const RepLayoutCmd* indexed_ = nullptr;  // whose elements the scratch's places are
};

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
