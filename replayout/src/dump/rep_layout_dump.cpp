// SPDX-License-Identifier: MIT
#include <replayout/dump.h>
#include <replayout/reflection/property.h>
#include <replayout/rep_layout.h>

#include <array>
#include <string>
#include <string_view>

namespace replayout {

namespace {

[[nodiscard]] std::string_view type_name(RepLayoutCmdType type) noexcept {
    static constexpr auto names = std::to_array<std::string_view>(
        {"Bool", "Bits8", "Bits16", "Bits32", "Bits64", "Vector", "Quat", "String", "Object",
         "NetSerializeStruct", "DynamicArray", "Return", "BitBool", "Quantised", "KeyedArray",
         "NetDeltaStruct"});
    static_assert(names.size() == static_cast<std::size_t>(RepLayoutCmdType::NetDeltaStruct) + 1);
    const auto index = static_cast<std::size_t>(type);
    return index < names.size() ? names[index] : "?";
}

void append_left(std::string& line, std::string_view text, std::size_t width) {
    line += text;
    line.append(text.size() < width ? width - text.size() : 1, ' ');
}

void append_number(std::string& line, std::uint32_t number, std::size_t width) {
    const std::string text = std::to_string(number);
    line.append(text.size() < width ? width - text.size() : 0, ' ');
    line += text;
}

[[nodiscard]] std::string flag_names(RepLayoutCmdFlags flags) {
    std::string names;
    if (has_flag(flags, RepLayoutCmdFlags::IsSharedSerialization)) {
        names += " shared";
    }
    if (has_flag(flags, RepLayoutCmdFlags::HasObjectReferences)) {
        names += " references";
    }
    if (has_flag(flags, RepLayoutCmdFlags::IsSkipped)) {
        names += " skipped";
    }
    return names;
}

/// By what the elements of a keyed array are told apart.
[[nodiscard]] std::string key_text(const ArrayKey& key) {
    std::string text = key.fast.has_marks() ? " fast array," : "";
    text += " key of " + std::to_string(key.size) + (key.size == 1 ? " byte" : " bytes");
    return text + (key.order == ArrayOrder::Kept ? ", order kept" : ", order free");
}

/// Of a leaf of an array's elements.
[[nodiscard]] std::string member_name(const RepLayout& layout, CmdIndex index) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    const std::string name(has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped)
                               ? layout.skipped_name(index)
                               : std::string_view(cmd.property->name));
    return name.empty() ? "(element)" : name;
}

/// Whether blocks that hold the leaf at `handle` of the object, an array's elements included, may
/// be shared whole.
[[nodiscard]] bool is_leaf_shared_whole(const RepLayout& layout, RepHandle handle) {
    const CmdIndex begin = layout.cmd_of(layout.root(), handle);
    for (std::size_t i = begin.value; i < layout.cmd(begin).end_cmd.value; ++i) {
        const RepLayoutCmd& cmd = layout.cmds()[i];
        if (cmd.type != RepLayoutCmdType::Return && !is_shared_whole(cmd)) {
            return false;
        }
    }
    return true;
}

/// Why no receiver is ever given the block of another one.
[[nodiscard]] std::string sharing_note(const RepLayout& layout) {
    if (layout.is_receive_only() || layout.is_fully_shared()) {
        return "";
    }
    ChangeMask alone;
    alone.reset(layout.handle_count());
    for (std::uint32_t handle = 1; handle <= layout.handle_count(); ++handle) {
        if (!is_leaf_shared_whole(layout, RepHandle{handle})) {
            alone.set(handle - 1);
        }
    }
    REPLAYOUT_ASSERT(alone.any());
    return "whole blocks are not shared, because of " + dump(alone, layout) + "\n";
}

/// `scope` is that of the command, at depth `depth`.
[[nodiscard]] std::string cmd_line(const RepLayout& layout, std::uint16_t index,
                                   const RepScope& scope, std::uint32_t depth) {
    const RepLayoutCmd& cmd = layout.cmds()[index];
    std::string line;
    append_number(line, index, 5);
    line += "  ";
    const bool is_optional =
        cmd.property != nullptr && cmd.property->kind == PropertyKind::Optional;
    append_left(line,
                std::string(2 * std::size_t{depth}, ' ') +
                    std::string(is_optional ? "Optional" : type_name(cmd.type)),
                24);
    if (cmd.type == RepLayoutCmdType::Return) {
        append_left(line, "     -        -       -", 26);
    } else {
        append_number(line, cmd.relative_handle, 6);
        append_number(line, cmd.object_offset.value, 9);
        append_number(line, cmd.shadow_offset.value, 8);
        line += "   ";
    }
    append_number(line, cmd.end_cmd.value, 4);
    if (cmd.property != nullptr) {
        line += "   ";
        line += depth == 0 ? property_path(layout, RepHandle{cmd.relative_handle})
                           : member_name(layout, CmdIndex{index});
        line += flag_names(cmd.flags);
        if (depth == 0 && !has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped) &&
            layout.parents()[cmd.parent_index.value].condition != LifetimeCondition::None) {
            line += " condition ";
            line += to_string(layout.parents()[cmd.parent_index.value].condition);
        }
        if (depth == 0 && !has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped) &&
            layout.parents()[cmd.parent_index.value].is_push_based) {
            line += " push based";
        }
        if (cmd.type == RepLayoutCmdType::Quantised) {
            line += " (" + to_string(cmd.property->quantisation) + ")";
        }
        if (cmd.type == RepLayoutCmdType::KeyedArray) {
            line += key_text(cmd.property->array_key);
        }
    }
    const RepGroup* group = cmd.type == RepLayoutCmdType::Return
                                ? nullptr
                                : layout.find_group(scope, RepHandle{cmd.relative_handle});
    if (group != nullptr) {
        line += " atomic " + std::to_string(group->handle_begin) + " to " +
                std::to_string(group->handle_end - 1);
    }
    return line;
}

}  // namespace

std::string dump(const RepLayout& layout) {
    std::string text = "layout of " + std::string(layout.name()) + ", " +
                       std::to_string(layout.handle_count()) + " handles, " +
                       (layout.is_receive_only()
                            ? std::string("receive-only")
                            : std::to_string(layout.root().shadow_size) +
                                  " shadow bytes, fingerprint " + to_string(layout.fingerprint())) +
                       "\n";
    text += "  cmd  type                    handle   object  shadow   end   property\n";
    std::array<const RepScope*, nesting_depth_max + 2> scopes = {&layout.root()};
    std::uint32_t depth = 0;
    for (std::size_t i = 0; i < layout.cmds().size(); ++i) {
        const RepLayoutCmdType type = layout.cmds()[i].type;
        const auto index = static_cast<std::uint16_t>(i);
        text += cmd_line(layout, index, *scopes[depth], depth) + "\n";
        if (is_array(type)) {
            scopes[++depth] = &layout.element_scope(CmdIndex{index});
        } else if (type == RepLayoutCmdType::Return && depth > 0) {
            --depth;
        }
    }
    text += sharing_note(layout);
    for (const std::string& diagnostic : layout.diagnostics()) {
        text += "note: " + diagnostic + "\n";
    }
    return text;
}

}  // namespace replayout
