// SPDX-License-Identifier: MIT
#include "differs_from_shadow.h"

#include <replayout/keyed_array.h>
#include <replayout/quantise.h>
#include <replayout/reflection/property.h>
#include <replayout/shadow_state.h>

#include "equal_bytes.h"
#include "group_limits.h"
#include "struct_value.h"

#include <cstring>
#include <string_view>

namespace replayout {

namespace {

/// A layout, and whether a value that cannot be sent counts as different. A compare ignores it.
struct LeafCompare {
    const RepLayout& layout;
    bool counts_unsendable = false;
};

[[nodiscard]] bool leaves_differ(const LeafCompare& compare, const RepScope& scope, CmdIndex from,
                                 CmdIndex to, ConstObjectBuffer object, ConstShadowBuffer shadow);

[[nodiscard]] bool string_differs(const LeafCompare& compare, const RepLayoutCmd& cmd,
                                  ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const StringOps& ops = cmd.property->string;
    const std::string_view text = ops.view(object.data(), ops.context);
    return text != shadow_value<PmrString>(shadow) &&
           (compare.counts_unsendable || text_can_be_sent(compare.layout, text));
}

[[nodiscard]] bool bit_differs(const RepLayoutCmd& cmd, ConstObjectBuffer object,
                               ConstShadowBuffer shadow) {
    const auto byte = std::to_integer<std::uint8_t>(*object.data());
    const bool is_set = (byte & cmd.property->bit_mask) != 0;
    return is_set != (*shadow.data() != std::byte{0});
}

[[nodiscard]] bool quantised_differs(const RepLayoutCmd& cmd, ConstObjectBuffer object,
                                     ConstShadowBuffer shadow) {
    const QuantisedValue value = quantise(*cmd.property, object.data());
    return value != load_quantised(shadow.data(), quantised_size(cmd.property->quantisation));
}

[[nodiscard]] bool array_differs(const LeafCompare& compare, CmdIndex index,
                                 ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const RepLayout& layout = compare.layout;
    const RepLayoutCmd& cmd = layout.cmd(index);
    const ArrayOps& ops = cmd.property->array;
    const RepScope& element = layout.element_scope(index);
    const auto& kept = shadow_value<ShadowArray>(shadow);
    const std::size_t count = ops.count(object.data());
    if (count != kept.count) {
        return compare.counts_unsendable || count <= count_max_of(*cmd.property, layout.limits());
    }
    const auto* elements = static_cast<const std::byte*>(ops.data(object.data()));
    if (count == 0 || (element.is_contiguous && element.shadow_size == cmd.element_size &&
                       equal_bytes(elements, kept.elements, count * cmd.element_size))) {
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const ConstObjectBuffer from(elements + i * cmd.element_size);
        const ConstShadowBuffer to(kept.elements + i * element.shadow_size);
        if (leaves_differ(compare, element, element.cmd_start, element.cmd_end, from, to)) {
            return true;
        }
    }
    return false;
}

/// What a receiver would see of it, whether or not a fast array has marked it.
[[nodiscard]] bool keyed_array_differs(const LeafCompare& compare, CmdIndex index,
                                       ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const RepLayout& layout = compare.layout;
    const RepLayoutCmd& cmd = layout.cmd(index);
    const ArrayKey& key = cmd.property->array_key;
    const RepScope& element = layout.element_scope(index);
    const auto& kept = shadow_value<ShadowKeyedArray>(shadow);
    const std::size_t count = cmd.property->array.count(object.data());
    if (count > layout.limits().array_count_max) {
        return false;
    }
    const auto* elements = static_cast<const std::byte*>(cmd.property->array.data(object.data()));
    std::uint32_t kept_index = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* from = elements + i * cmd.element_size;
        const std::uint64_t element_key = key_of_element(key, from);
        if (key.fast.has_marks() && element_key == ArrayKey::unassigned) {
            continue;
        }
        const std::uint32_t known = kept.find(element_key);
        if (known == kept.count() || (key.order == ArrayOrder::Kept && known != kept_index)) {
            return true;
        }
        const ConstShadowBuffer to(kept.elements.elements +
                                   std::size_t{known} * element.shadow_size);
        if (leaves_differ(compare, element, element.cmd_start, element.cmd_end,
                          ConstObjectBuffer(from), to)) {
            return true;
        }
        ++kept_index;
    }
    return kept_index != kept.count();
}

[[nodiscard]] bool leaf_differs(const LeafCompare& compare, CmdIndex index,
                                ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const RepLayout& layout = compare.layout;
    const RepLayoutCmd& cmd = layout.cmd(index);
    const ConstObjectBuffer from = object + cmd.object_offset;
    const ConstShadowBuffer to = shadow + cmd.shadow_offset;
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return string_differs(compare, cmd, from, to);
        case RepLayoutCmdType::Object:
            return cmd.property->reference.get(from.data()) !=
                   shadow_value<ShadowReference>(to).object;
        case RepLayoutCmdType::NetSerializeStruct:
        case RepLayoutCmdType::NetDeltaStruct:
            return !structs_identical(*cmd.property->struct_type, from.data(), to.data()) &&
                   (compare.counts_unsendable ||
                    struct_can_be_sent(*cmd.property->struct_type, from.data()));
        case RepLayoutCmdType::DynamicArray:
            return array_differs(compare, index, from, to);
        case RepLayoutCmdType::KeyedArray:
            return keyed_array_differs(compare, index, from, to);
        case RepLayoutCmdType::BitBool:
            return bit_differs(cmd, from, to);
        case RepLayoutCmdType::Quantised:
            return quantised_differs(cmd, from, to);
        case RepLayoutCmdType::Return:
            return false;
        default:
            return std::memcmp(from.data(), to.data(), cmd.element_size) != 0;
    }
}

/// A group of which a value cannot be sent stays as it was, and so does not differ.
[[nodiscard]] bool is_kept(const RepLayout& layout, const RepScope& scope, CmdIndex index,
                           ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const RepHandle handle{layout.cmd(index).relative_handle};
    const RepGroup* group = handle.value == 0 ? nullptr : layout.find_group(scope, handle);
    return group != nullptr && group->may_exceed_limits &&
           !is_within_limits(layout, scope, *group, object, shadow);
}

[[nodiscard]] bool leaves_differ(const LeafCompare& compare, const RepScope& scope, CmdIndex from,
                                 CmdIndex to, ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const RepLayout& layout = compare.layout;
    for (CmdIndex index = from; index < to; index = layout.cmd(index).end_cmd) {
        if (leaf_differs(compare, index, object, shadow) &&
            (compare.counts_unsendable || !is_kept(layout, scope, index, object, shadow))) {
            return true;
        }
    }
    return false;
}

/// `object` and `shadow` are those of the array.
[[nodiscard]] bool items_miss_marks(const RepLayout& layout, CmdIndex index,
                                    ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    const ArrayKey& key = cmd.property->array_key;
    const RepScope& element = layout.element_scope(index);
    const auto& kept = shadow_value<ShadowKeyedArray>(shadow);
    const std::size_t count = cmd.property->array.count(object.data());
    // Unseen: all of it will be compared. Doubled: that was told, and marks do not mend it.
    if (kept.is_unseen || kept.is_doubled || count > layout.limits().array_count_max) {
        return false;
    }
    const bool is_array_marked = key.fast.array_key(object.data()) != kept.mark;
    const auto* elements = static_cast<const std::byte*>(cmd.property->array.data(object.data()));
    std::uint32_t known_count = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* from = elements + i * cmd.element_size;
        const std::uint64_t element_key = key_of_element(key, from);
        if (element_key == ArrayKey::unassigned) {
            return true;
        }
        const std::uint32_t known = kept.find(element_key);
        if (known == kept.count()) {
            if (!is_array_marked) {
                return true;
            }
            continue;
        }
        ++known_count;
        const ConstShadowBuffer to(kept.elements.elements +
                                   std::size_t{known} * element.shadow_size);
        const bool is_marked = is_array_marked && key.fast.item_key(from) != kept.items[known].mark;
        if (!is_marked && leaves_differ({layout}, element, element.cmd_start, element.cmd_end,
                                        ConstObjectBuffer(from), to)) {
            return true;
        }
    }
    return !is_array_marked && known_count != kept.count();
}

}  // namespace

bool misses_item_marks(const RepLayout& layout, const RepParentCmd& parent,
                       ConstObjectBuffer object, ConstShadowBuffer shadow) {
    for (CmdIndex index = parent.cmd_start; index < parent.cmd_end;
         index = layout.cmd(index).end_cmd) {
        const RepLayoutCmd& cmd = layout.cmd(index);
        if (cmd.type == RepLayoutCmdType::KeyedArray && cmd.property->array_key.fast.has_marks() &&
            items_miss_marks(layout, index, object + cmd.object_offset,
                             shadow + cmd.shadow_offset) &&
            !is_kept(layout, layout.root(), index, object, shadow)) {
            return true;
        }
    }
    return false;
}

bool differs_from_shadow(const RepLayout& layout, const RepParentCmd& parent,
                         ConstObjectBuffer object, ConstShadowBuffer shadow) {
    return leaves_differ({layout}, layout.root(), parent.cmd_start, parent.cmd_end, object, shadow);
}

bool is_same_leaf(const RepLayout& layout, CmdIndex index, ConstObjectBuffer object,
                  ConstShadowBuffer shadow) {
    return !leaf_differs({layout, true}, index, object, shadow);
}

}  // namespace replayout
