// SPDX-License-Identifier: MIT
#include "compare_properties.h"

#include <replayout/quantise.h>
#include <replayout/reflection/property.h>

#include "equal_bytes.h"
#include "group_limits.h"
#include "struct_value.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace replayout {

namespace {

/// `leaf` is about to be overwritten.
void before_change(const CompareContext& context, const RepLayoutCmd& cmd, ConstShadowBuffer leaf) {
    if (context.previous != nullptr) {
        context.previous->keep(cmd, leaf, context.last_changed[cmd.relative_handle - 1u]);
    }
}

/// The value of a command is left out.
void note_over_limit(CompareContext& context, const OverLimit& value) {
    ++context.over_limit_count;
    context.over_limit = context.over_limit.cmd != nullptr ? context.over_limit : value;
}

[[nodiscard]] bool update_string(CompareContext& context, const RepLayoutCmd& cmd,
                                 ConstObjectBuffer object, ShadowBuffer shadow) {
    const StringOps& ops = cmd.property->string;
    const std::string_view text = ops.view(object.data(), ops.context);
    auto& kept = shadow_value<PmrString>(shadow);
    if (text == kept) {
        return false;
    }
    // Checked here, once for all receivers, because each would refuse the whole block.
    if (!text_can_be_sent(context.layout, text)) {
        const std::size_t size_max = context.layout.limits().string_bytes_max;
        const bool is_long = text.size() > size_max;
        note_over_limit(context,
                        {&cmd, is_long ? OverLimit::Reason::Size : OverLimit::Reason::NotUtf8,
                         text.size(), size_max});
        return false;
    }
    before_change(context, cmd, shadow);
    kept.assign(text);
    return true;
}

[[nodiscard]] bool update_object(CompareContext& context, const RepLayoutCmd& cmd,
                                 ConstObjectBuffer object, ShadowBuffer shadow) {
    const ObjectHandle handle = cmd.property->reference.get(object.data());
    auto& kept = shadow_value<ShadowReference>(shadow);
    if (handle == kept.object &&
        (!context.are_handles_new || context.package_map->is_current(kept.guid, handle))) {
        return false;
    }
    before_change(context, cmd, shadow);
    kept.object = handle;
    kept.guid = context.package_map != nullptr ? context.package_map->guid_of(handle) : NetGUID{};
    return true;
}

[[nodiscard]] bool update_struct(CompareContext& context, const RepLayoutCmd& cmd,
                                 ConstObjectBuffer object, ShadowBuffer shadow) {
    const Type& type = *cmd.property->struct_type;
    if (structs_identical(type, object.data(), shadow.data())) {
        return false;
    }
    if (!struct_can_be_sent(type, object.data())) {
        note_over_limit(context, {&cmd});
        return false;
    }
    if (has_previous_values(cmd.type)) {
        before_change(context, cmd, shadow);
    }
    copy_struct(type, shadow.data(), object.data());
    return true;
}

[[nodiscard]] bool update_bit(const CompareContext& context, const RepLayoutCmd& cmd,
                              ConstObjectBuffer object, ShadowBuffer shadow) {
    const auto byte = std::to_integer<std::uint8_t>(*object.data());
    const std::byte bit{(byte & cmd.property->bit_mask) != 0 ? std::uint8_t{1} : std::uint8_t{0}};
    if (*shadow.data() == bit) {
        return false;
    }
    before_change(context, cmd, shadow);
    *shadow.data() = bit;
    return true;
}

// By the integers: what stays below the next step is no change.
[[nodiscard]] bool update_quantised(const CompareContext& context, const RepLayoutCmd& cmd,
                                    ConstObjectBuffer object, ShadowBuffer shadow) {
    const std::uint32_t size = quantised_size(cmd.property->quantisation);
    const QuantisedValue value = quantise(*cmd.property, object.data());
    if (value == load_quantised(shadow.data(), size)) {
        return false;
    }
    before_change(context, cmd, shadow);
    store_quantised(value, shadow.data(), size);
    return true;
}

[[nodiscard]] bool update_array(CompareContext& context, CmdIndex index, ConstObjectBuffer object,
                                ShadowBuffer shadow) {
    const RepLayoutCmd& cmd = context.layout.cmd(index);
    const ArrayOps& ops = cmd.property->array;
    const RepScope& element = context.layout.element_scope(index);
    auto& kept = shadow_value<ShadowArray>(shadow);
    const std::size_t count = ops.count(object.data());
    const std::size_t count_max = count_max_of(*cmd.property, context.layout.limits());
    if (count > count_max) {
        note_over_limit(context, {&cmd, OverLimit::Reason::Size, count, count_max});
        return false;
    }
    const auto* elements = static_cast<const std::byte*>(ops.data(object.data()));
    const std::uint32_t known_count = std::min(kept.count, static_cast<std::uint32_t>(count));
    bool is_changed = kept.count != count;
    if (is_changed) {
        context.memory.resize_array(cmd, element, kept, static_cast<std::uint32_t>(count));
        kept.count_version = context.version;
    } else if (count == 0 || (element.is_contiguous && element.shadow_size == cmd.element_size &&
                              equal_bytes(elements, kept.elements, count * cmd.element_size))) {
        return false;
    }
    // What elements were is not kept.
    PreviousValues* const previous = std::exchange(context.previous, nullptr);
    for (std::uint32_t i = 0; i < count; ++i) {
        const ConstObjectBuffer from(elements + std::size_t{i} * cmd.element_size);
        const ShadowBuffer to(kept.elements + std::size_t{i} * element.shadow_size);
        Version* versions = kept.versions + std::size_t{i} * element.handle_count;
        const ElementAge age = i < known_count ? ElementAge::Known : ElementAge::New;
        is_changed = update_element(context, element, from, to, versions, age) || is_changed;
    }
    context.previous = previous;
    return is_changed;
}

[[nodiscard]] bool update_leaf(CompareContext& context, CmdIndex index, ConstObjectBuffer object,
                               ShadowBuffer shadow) {
    const RepLayoutCmd& cmd = context.layout.cmd(index);
    const ConstObjectBuffer from = object + cmd.object_offset;
    const ShadowBuffer to = shadow + cmd.shadow_offset;
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return update_string(context, cmd, from, to);
        case RepLayoutCmdType::Object:
            return update_object(context, cmd, from, to);
        case RepLayoutCmdType::NetSerializeStruct:
        case RepLayoutCmdType::NetDeltaStruct:
            return update_struct(context, cmd, from, to);
        case RepLayoutCmdType::DynamicArray:
            return update_array(context, index, from, to);
        case RepLayoutCmdType::KeyedArray: {
            PreviousValues* const previous = std::exchange(context.previous, nullptr);
            const bool is_changed = update_keyed_array(context, index, from, to);
            context.previous = previous;
            const std::size_t count = cmd.property->array.count(from.data());
            const std::size_t count_max = context.layout.limits().array_count_max;
            if (count > count_max && context.over_limit.cmd == nullptr) {
                context.over_limit = {&cmd, OverLimit::Reason::Size, count, count_max};
            }
            return is_changed;
        }
        case RepLayoutCmdType::BitBool:
            return update_bit(context, cmd, from, to);
        default:
            REPLAYOUT_ASSERT(false);  // plain and quantised leaves lie in runs
            return false;
    }
}

/// A run of which all leaves are plain and lie in the shadow without a gap: each row of leaves that
/// differ changes as one.
template <typename OnChange>
void update_plain_run(const CompareContext& context, const CompareRun& run, std::uint32_t handle,
                      const PlainLeaf* leaf, const std::byte* from, std::byte* to,
                      OnChange on_change) {
    const std::uint32_t base = run.shadow_offset.value;
    auto offset = static_cast<std::uint32_t>(next_difference(from, to, 0, run.size));
    while (offset < run.size) {
        while (leaf->shadow_end.value - base <= offset) {
            ++leaf;
            ++handle;
        }
        const std::uint32_t first = handle;
        const std::uint32_t begin = leaf->shadow_begin.value - base;
        std::uint32_t end = 0;
        do {
            end = leaf->shadow_end.value - base;
            ++leaf;
            ++handle;
        } while (end < run.size &&
                 !equal_plain_leaves(from + end, to + end, leaf->shadow_end.value - base - end));
        if (context.previous != nullptr) {
            context.previous->change_row(RepHandle{first}, RepHandle{handle},
                                         ConstShadowBuffer(to + begin), from + begin,
                                         &context.last_changed[first - 1]);
        }
        std::memcpy(to + begin, from + begin, end - begin);
        on_change(first - 1, handle - 1);
        offset = static_cast<std::uint32_t>(next_difference(from, to, end, run.size));
    }
}

/// Leaves of a run lie one after another, in memory as in the list of commands.
template <typename OnChange>
void update_run(const CompareContext& context, const RepScope& scope, const CompareRun& run,
                ConstObjectBuffer object, ShadowBuffer shadow, OnChange on_change) {
    const std::byte* from = (object + run.object_offset).data();
    std::byte* to = (shadow + run.shadow_offset).data();
    if (equal_bytes(from, to, run.size)) {
        return;
    }
    const std::uint32_t handle = context.layout.cmd(run.cmd_start).relative_handle;
    const PlainLeaf* const leaf = &context.layout.plain_leaf(scope, RepHandle{handle});
    if (std::uint32_t{leaf->row_end} >= handle + (run.cmd_end.value - run.cmd_start.value)) {
        update_plain_run(context, run, handle, leaf, from, to, on_change);
        return;
    }
    std::size_t offset = next_difference(from, to, 0, run.size);
    for (CmdIndex index = run.cmd_start; offset < run.size; ++index.value) {
        const RepLayoutCmd& cmd = context.layout.cmd(index);
        // By the place in the object: where the shadow has the bytes of a quantised leaf, only the
        // run knows.
        const std::size_t begin = cmd.object_offset.value - run.object_offset.value;
        const std::size_t end = begin + cmd.element_size;
        if (end <= offset) {
            continue;
        }
        const ShadowBuffer shadow_leaf = shadow + cmd.shadow_offset;
        bool is_changed = true;
        if (cmd.type == RepLayoutCmdType::Quantised) {
            is_changed = update_quantised(context, cmd, object + cmd.object_offset, shadow_leaf);
        } else {
            before_change(context, cmd, shadow_leaf);
        }
        std::memcpy(to + begin, from + begin, cmd.element_size);
        if (is_changed) {
            on_change(cmd.relative_handle - 1u, cmd.relative_handle);
        }
        offset = next_difference(from, to, end, run.size);
    }
}

/// Whether the group can be taken as the object holds it.
[[nodiscard]] bool can_take_group(CompareContext& context, const RepScope& scope,
                                  const RepGroup& group, ConstObjectBuffer object,
                                  ShadowBuffer shadow) {
    if (!is_within_limits(context.layout, scope, group, object, shadow)) {
        return false;
    }
    for (std::uint32_t handle = group.handle_begin; handle < group.handle_end; ++handle) {
        const CmdIndex index = context.layout.cmd_of(scope, RepHandle{handle});
        const RepLayoutCmd& cmd = context.layout.cmd(index);
        if (cmd.type == RepLayoutCmdType::KeyedArray &&
            !has_unique_keys(context, index, object + cmd.object_offset,
                             shadow + cmd.shadow_offset)) {
            return false;
        }
    }
    return true;
}

/// Calls `on_change(begin, end)` for each row of leaves of these runs that differ, by handle index,
/// and updates the shadow.
template <typename OnChange>
void update_differing(CompareContext& context, const RepScope& scope, std::uint32_t run_start,
                      std::uint32_t run_end, ConstObjectBuffer object, ShadowBuffer shadow,
                      OnChange on_change) {
    CmdIndex kept_end{0};  // of a group that stays as it was
    for (const CompareRun& run : context.layout.runs().subspan(run_start, run_end - run_start)) {
        if (run.cmd_start < kept_end) {
            continue;
        }
        if (run.size != 0) {
            update_run(context, scope, run, object, shadow, on_change);
            continue;
        }
        const RepGroup* group = guarded_group(context.layout, scope, run);
        if (group != nullptr && !can_take_group(context, scope, *group, object, shadow)) {
            note_over_limit(context, {&context.layout.cmd(run.cmd_start)});
            kept_end = group_cmd_end(context.layout, scope, *group);
        }
        CmdIndex index = run.cmd_start;
        while (index < run.cmd_end) {
            if (update_leaf(context, index, object, shadow)) {
                const std::uint32_t handle = context.layout.cmd(index).relative_handle;
                on_change(handle - 1, handle);
            }
            index = context.layout.cmd(index).end_cmd;
        }
    }
}

}  // namespace

bool update_element(CompareContext& context, const RepScope& element, ConstObjectBuffer object,
                    ShadowBuffer shadow, Version* leaf_versions, ElementAge age) {
    bool is_changed = age == ElementAge::New;
    update_differing(context, element, element.run_start, element.run_end, object, shadow,
                     [&](std::uint32_t begin, std::uint32_t end) {
                         std::fill(leaf_versions + begin, leaf_versions + end, context.version);
                         is_changed = true;
                     });
    if (age == ElementAge::New) {
        std::fill_n(leaf_versions, element.handle_count, context.version);
    }
    return is_changed;
}

// Whatever is left out, the rest is compared in the order of the commands: references are given
// their ids on the way, so the order must not depend on who marks what.
bool compare_properties(CompareContext& context, ConstObjectBuffer object, ShadowBuffer shadow,
                        ChangeMask& changed) {
    bool is_changed = false;
    const auto on_change = [&](std::uint32_t begin, std::uint32_t end) {
        changed.set_range(begin, end - begin);
        is_changed = true;
    };
    const RepLayout& layout = context.layout;
    if (context.due == nullptr) {
        update_differing(context, layout.root(), context.run_start, layout.root().run_end, object,
                         shadow, on_change);
        return is_changed;
    }
    const ChangeMask& due = *context.due;
    std::uint32_t i = due.next(0);
    while (i < due.bit_count()) {
        const RepParentCmd& parent = layout.parents()[i];
        const bool is_inactive = context.inactive != nullptr && parent.handle_count > 0 &&
                                 context.inactive->test(parent.first_handle - 1);
        std::uint32_t end = i + 1;
        if (parent.row_end > end && context.inactive == nullptr) {
            end = std::min(due.next_clear(i), parent.row_end);
            const CompareRun& first = layout.runs()[parent.run_start];
            const CompareRun& last = layout.runs()[layout.parents()[end - 1].run_start];
            update_run(context, layout.root(),
                       {first.object_offset, first.shadow_offset,
                        last.object_offset.value + last.size - first.object_offset.value,
                        first.cmd_start, last.cmd_end},
                       object, shadow, on_change);
        } else if (!is_inactive) {
            update_differing(context, layout.root(), parent.run_start, parent.run_end, object,
                             shadow, on_change);
        }
        i = due.next(end);
    }
    return is_changed;
}

}  // namespace replayout
