// SPDX-License-Identifier: MIT
#include "value_path.h"

#include <replayout/dump.h>
#include <replayout/keyed_array.h>
#include <replayout/reflection/property.h>

#include <string_view>

namespace replayout {

namespace {

[[nodiscard]] std::string element_text(const RepLayoutCmd& array, std::uint32_t index) {
    if (array.property->kind == PropertyKind::Optional) {
        return "";
    }
    return array.type == RepLayoutCmdType::KeyedArray ? "[]" : "[" + std::to_string(index) + "]";
}

[[nodiscard]] std::string member_text(const RepLayout& layout, CmdIndex index) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    const std::string_view name = has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped)
                                      ? layout.skipped_name(index)
                                      : std::string_view(cmd.property->name);
    return name.empty() ? "" : "." + std::string(name);
}

/// The way from the leaf of command `index`, which lies at `leaf`, to `value`: of handles, from
/// `depth` on. False: there is none.
[[nodiscard]] bool find_value(const RepLayout& layout, CmdIndex index, ConstShadowBuffer leaf,
                              const std::byte* value, std::size_t depth, RepPath& path) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    if (!is_array(cmd.type)) {
        return leaf.data() == value;
    }
    const ShadowArray& array = cmd.type == RepLayoutCmdType::KeyedArray
                                   ? shadow_value<ShadowKeyedArray>(leaf).elements
                                   : shadow_value<ShadowArray>(leaf);
    const RepScope& element = layout.element_scope(index);
    for (std::uint32_t i = 0; i < array.count; ++i) {
        const ConstShadowBuffer memory(array.elements + std::size_t{i} * element.shadow_size);
        for (std::uint32_t handle = 1; handle <= element.handle_count; ++handle) {
            const CmdIndex inner = layout.cmd_of(element, RepHandle{handle});
            path.handles[depth] = i * element.handle_count + handle;
            if (find_value(layout, inner, memory + layout.cmd(inner).shadow_offset, value,
                           depth + 1, path)) {
                return true;
            }
        }
    }
    path.handles[depth] = 0;
    return false;
}

}  // namespace

std::string value_path(const RepLayout& layout, const RepPath& path) {
    std::string text = property_path(layout, RepHandle{path.handles[0]});
    CmdIndex index = layout.cmd_of(layout.root(), RepHandle{path.handles[0]});
    for (std::size_t i = 1; i < path.handles.size() && path.handles[i] != 0; ++i) {
        if (!is_array(layout.cmd(index).type)) {
            break;
        }
        const RepScope& element = layout.element_scope(index);
        const std::uint32_t bit = path.handles[i] - 1;
        text += element_text(layout.cmd(index), bit / element.handle_count);
        index = layout.cmd_of(element, RepHandle{bit % element.handle_count + 1});
        text += member_text(layout, index);
    }
    return text;
}

std::string value_path(const RepLayout& layout, RepHandle handle, ConstShadowBuffer shadow,
                       const std::byte* value) {
    RepPath path;
    path.handles[0] = handle.value;
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    (void)find_value(layout, index, shadow + layout.cmd(index).shadow_offset, value, 1, path);
    return value_path(layout, path);
}

}  // namespace replayout
