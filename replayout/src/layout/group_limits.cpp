// SPDX-License-Identifier: MIT
#include "group_limits.h"

#include <replayout/reflection/property.h>
#include <replayout/shadow_state.h>
#include <replayout/utf8.h>

#include "struct_value.h"

#include <cstddef>

namespace replayout {

namespace {

[[nodiscard]] bool leaf_is_within_limits(const RepLayout& layout, CmdIndex index,
                                         ConstObjectBuffer object, const std::byte* shadow);

[[nodiscard]] bool text_is_within_limits(const RepLayout& layout, const RepLayoutCmd& cmd,
                                         ConstObjectBuffer object, const std::byte* shadow) {
    const StringOps& ops = cmd.property->string;
    const std::string_view text = ops.view(object.data(), ops.context);
    if (shadow != nullptr && text == shadow_value<PmrString>(ConstShadowBuffer(shadow))) {
        return true;
    }
    return text_can_be_sent(layout, text);
}

[[nodiscard]] bool has_limits(const RepLayout& layout, const RepScope& scope) noexcept {
    for (std::uint32_t handle = 1; handle <= scope.handle_count; ++handle) {
        const RepLayoutCmdType type = layout.cmd(layout.cmd_of(scope, RepHandle{handle})).type;
        if (!is_written_in_place(type) && type != RepLayoutCmdType::Object) {
            return true;
        }
    }
    return false;
}

[[nodiscard]] bool array_is_within_limits(const RepLayout& layout, CmdIndex index,
                                          ConstObjectBuffer object, const std::byte* shadow) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    const RepScope& element = layout.element_scope(index);
    const std::size_t count = cmd.property->array.count(object.data());
    if (count > count_max_of(*cmd.property, layout.limits())) {
        return false;
    }
    if (!has_limits(layout, element)) {
        return true;
    }
    // The offset of a keyed element in the shadow is not known without a search.
    const ShadowArray* kept = nullptr;
    if (shadow != nullptr && cmd.type == RepLayoutCmdType::DynamicArray) {
        kept = &shadow_value<ShadowArray>(ConstShadowBuffer(shadow));
    }
    const auto* elements = static_cast<const std::byte*>(cmd.property->array.data(object.data()));
    for (std::size_t i = 0; i < count; ++i) {
        const ConstObjectBuffer from(elements + i * cmd.element_size);
        const bool is_known = kept != nullptr && i < kept->count;
        const std::byte* to = is_known ? kept->elements + i * element.shadow_size : nullptr;
        for (std::uint32_t handle = 1; handle <= element.handle_count; ++handle) {
            const CmdIndex leaf = layout.cmd_of(element, RepHandle{handle});
            const RepLayoutCmd& leaf_cmd = layout.cmd(leaf);
            if (!leaf_is_within_limits(
                    layout, leaf, from + leaf_cmd.object_offset,
                    to == nullptr ? nullptr
                                  : (ConstShadowBuffer(to) + leaf_cmd.shadow_offset).data())) {
                return false;
            }
        }
    }
    return true;
}

bool leaf_is_within_limits(const RepLayout& layout, CmdIndex index, ConstObjectBuffer object,
                           const std::byte* shadow) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return text_is_within_limits(layout, cmd, object, shadow);
        case RepLayoutCmdType::NetSerializeStruct: {
            const Type& type = *cmd.property->struct_type;
            return type.traits().can_be_sent == nullptr ||
                   (shadow != nullptr && structs_identical(type, object.data(), shadow)) ||
                   struct_can_be_sent(type, object.data());
        }
        case RepLayoutCmdType::DynamicArray:
        case RepLayoutCmdType::KeyedArray:
            return array_is_within_limits(layout, index, object, shadow);
        default:
            return true;
    }
}

}  // namespace

bool text_can_be_sent(const RepLayout& layout, std::string_view text) noexcept {
    return text.size() <= layout.limits().string_bytes_max && is_valid_utf8(text);
}

bool has_limit(const RepLayoutCmd& cmd) noexcept {
    switch (cmd.type) {
        case RepLayoutCmdType::String:
        case RepLayoutCmdType::KeyedArray:
            return true;
        case RepLayoutCmdType::DynamicArray:
            return cmd.property->kind != PropertyKind::Optional;
        case RepLayoutCmdType::NetSerializeStruct:
            return cmd.property->struct_type->traits().can_be_sent != nullptr;
        default:
            return false;
    }
}

const RepGroup* guarded_group(const RepLayout& layout, const RepScope& scope,
                              const CompareRun& run) noexcept {
    return run.cmd_start < run.cmd_end
               ? nullptr
               : layout.find_group(scope, RepHandle{layout.cmd(run.cmd_start).relative_handle});
}

CmdIndex group_cmd_end(const RepLayout& layout, const RepScope& scope,
                       const RepGroup& group) noexcept {
    return layout.cmd(layout.cmd_of(scope, RepHandle{group.handle_end - 1u})).end_cmd;
}

bool is_within_limits(const RepLayout& layout, const RepScope& scope, const RepGroup& group,
                      ConstObjectBuffer object, ConstShadowBuffer shadow) {
    for (std::uint32_t handle = group.handle_begin; handle < group.handle_end; ++handle) {
        const CmdIndex index = layout.cmd_of(scope, RepHandle{handle});
        const RepLayoutCmd& cmd = layout.cmd(index);
        if (!leaf_is_within_limits(layout, index, object + cmd.object_offset,
                                   (shadow + cmd.shadow_offset).data())) {
            return false;
        }
    }
    return true;
}

}  // namespace replayout
