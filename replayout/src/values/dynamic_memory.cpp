// SPDX-License-Identifier: MIT
#include <replayout/dynamic_memory.h>

namespace replayout {

namespace {

[[nodiscard]] bool is_text(const RepLayoutCmd& cmd) noexcept {
    return cmd.property->kind == PropertyKind::String || cmd.property->kind == PropertyKind::Name;
}

[[nodiscard]] std::uint64_t bytes_of_scope(const RepLayout& layout, const RepScope& scope,
                                           const std::byte* memory);

[[nodiscard]] std::uint64_t bytes_of_array(const RepLayout& layout, CmdIndex index,
                                           const std::byte* array) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    const RepScope& element = layout.element_scope(index);
    const ArrayOps& ops = cmd.property->array;
    const std::size_t count = ops.count(array);
    std::uint64_t bytes = std::uint64_t{count} * cmd.element_size;
    if (count == 0 || element.is_contiguous) {
        return bytes;
    }
    const auto* const elements = static_cast<const std::byte*>(ops.data(array));
    for (std::size_t i = 0; i < count; ++i) {
        bytes += bytes_of_scope(layout, element, elements + i * cmd.element_size);
    }
    return bytes;
}

std::uint64_t bytes_of_scope(const RepLayout& layout, const RepScope& scope,
                             const std::byte* memory) {
    std::uint64_t bytes = 0;
    for (std::uint32_t handle = 1; handle <= scope.handle_count; ++handle) {
        const CmdIndex index = layout.cmd_of(scope, RepHandle{handle});
        const RepLayoutCmd& cmd = layout.cmd(index);
        if (has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped)) {
            continue;
        }
        const std::byte* const value = memory + cmd.object_offset.value;
        if (is_array(cmd.type)) {
            bytes += bytes_of_array(layout, index, value);
        } else if (is_text(cmd)) {
            const StringOps& ops = cmd.property->string;
            bytes += ops.view(value, ops.context).size();
        }
    }
    return bytes;
}

}  // namespace

std::uint64_t dynamic_bytes(const RepLayout& layout, const void* object) {
    return bytes_of_scope(layout, layout.root(), static_cast<const std::byte*>(object));
}

}  // namespace replayout
