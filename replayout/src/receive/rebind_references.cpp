// SPDX-License-Identifier: MIT
//
// Objects appeared or vanished: whatever names them in another object is set, or read again.
#include <replayout/receive_properties.h>

#include "keyed_array_finisher.h"
#include "notify_queue.h"
#include "struct_reader.h"

#include <algorithm>

namespace replayout {

namespace {

/// The memory of the leaf at `path`, and its command.
struct Leaf {
    std::byte* memory;
    const RepLayoutCmd* cmd;
};

}  // namespace

/// Binds all that names some ids in one object, leaf by leaf.
class Rebinder {
  public:
    Rebinder(const RepLayout& layout, ReceivingRepState& state, std::byte* object,
             ReceiveContext& context)
        : layout_(layout),
          state_(state),
          object_(object),
          context_(context),
          notifies_(layout, object, state, context) {
        parts_of(context.scratch).update.old_values().sort();  // any of them may be looked for
    }

    void set(const RepPath& path, ReceivingRepState::Reference& reference) {
        if (reference.guid != guid_) {
            guid_ = reference.guid;  // many in a row name the same
            target_ = context_.package_map.object_of(guid_);
        }
        const ObjectHandle target = target_;
        reference.is_mapped = !target.is_null();
        Leaf leaf = find_leaf(path);
        if (leaf.cmd == nullptr || leaf.cmd->property->reference.get(leaf.memory) == target) {
            return;
        }
        if (begin_update()) {
            leaf = find_leaf(path);
        }
        if (leaf.cmd != nullptr) {
            notifies_.before_write(leaf.cmd->parent_index);
            leaf.cmd->property->reference.set(leaf.memory, target);
            end_write(path, leaf, true);
        }
    }

    void read_again(const RepPath& path, const ReceivingRepState::SerializedValue& value) {
        (void)begin_update();
        const Leaf leaf = find_leaf(path);
        if (leaf.cmd != nullptr) {
            notifies_.before_write(leaf.cmd->parent_index);
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
        const detail::ElementsByKey& elements = parts_of(context_.scratch).elements_by_key;
        if (element == nullptr) {
            return cmd.property->array.count(array);
        }
        if (indexed_ != &cmd) {
            index_elements(cmd, array);
        }
        const detail::ElementByKey* found = elements.find(element->key);
        return found == nullptr ? elements.elements().size() : found->index;
    }

    /// Once for all that is bound in the array: many of its elements may name the object.
    void index_elements(const RepLayoutCmd& cmd, const std::byte* array) {
        parts_of(context_.scratch).elements_by_key.collect(cmd, array);
        indexed_ = &cmd;
    }

    /// Whether the hook ran that is called before the first write: that may have moved a leaf, or
    /// taken it away.
    [[nodiscard]] bool begin_update() {
        if (context_.scratch.is_update_under_way()) {
            return false;
        }
        indexed_ = nullptr;
        notifies_.begin();
        return true;
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
    ReceiveContext& context_;
    NotifyQueue notifies_;
    std::uint32_t count_ = 0;
    NetGUID guid_;                           // of the last reference that was set
    ObjectHandle target_;                    // the object of that id
    const RepLayoutCmd* indexed_ = nullptr;  // whose elements the scratch has by key
};

std::uint32_t rebind_references(const RepLayout& layout, void* object, ReceivingRepState& state,
                                std::span<const NetGUID> guids, ReceiveContext& context) {
    REPLAYOUT_EXPECT(object != nullptr, 0,
                     "rebind_references: a \"%s\" without memory: give it the object",
                     std::string(layout.name()).c_str());
    Rebinder rebinder(layout, state, static_cast<std::byte*>(object), context);
    if (!state.has_references()) {
        return rebinder.finish();
    }
    auto& references = state.edit_references();
    auto reference = references.begin();
    const bool is_one = guids.size() == 1;
    const auto set_reference = [&] {
        const NetGUID guid = reference->second.guid;
        if (is_one ? guid == guids.front() : std::binary_search(guids.begin(), guids.end(), guid)) {
            rebinder.set(reference->first, reference->second);
        }
        ++reference;
    };
    // Both tables in one ascending order, because notifies run in that of the first leaf.
    for (const auto& [path, value] : state.values()) {
        while (reference != references.end() && reference->first < path) {
            set_reference();
        }
        if (value.names_any(guids)) {
            rebinder.read_again(path, value);
        }
    }
    while (reference != references.end()) {
        set_reference();
    }
    return rebinder.finish();
}

}  // namespace replayout
