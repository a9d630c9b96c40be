// SPDX-License-Identifier: MIT
#include <replayout/dump.h>
#include <replayout/keyed_array.h>
#include <replayout/quantise.h>

#include "native_value.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace replayout {

namespace {

constexpr std::size_t text_shown_max = 40;
constexpr std::uint32_t elements_shown_max = 4;

[[nodiscard]] std::string text_of(std::string_view text) {
    const std::string shown = '"' + std::string(text.substr(0, text_shown_max)) + '"';
    return text.size() <= text_shown_max
               ? shown
               : shown + " ... (" + std::to_string(text.size()) + " bytes)";
}

[[nodiscard]] std::string text_of(double value) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.9g", value);
    return text.data();
}

[[nodiscard]] std::string text_of_floats(const std::byte* memory, std::size_t count) {
    std::string text = "(";
    for (std::size_t i = 0; i < count; ++i) {
        text += (i == 0 ? "" : ", ") +
                text_of(static_cast<double>(load_native<float>(memory + i * sizeof(float))));
    }
    return text + ")";
}

[[nodiscard]] std::string text_of_unsigned(const std::byte* memory, std::uint32_t size) {
    return std::to_string(load_integer(memory, size));
}

/// A plain value, as it lies in the object.
[[nodiscard]] std::string text_of_plain(const Property& property, const std::byte* memory) {
    switch (property.kind) {
        case PropertyKind::Bool:
        case PropertyKind::BitBool:
            return *memory == std::byte{0} ? "false" : "true";
        case PropertyKind::Int8:
            return std::to_string(load_native<std::int8_t>(memory));
        case PropertyKind::Int16:
            return std::to_string(load_native<std::int16_t>(memory));
        case PropertyKind::Int32:
            return std::to_string(load_native<std::int32_t>(memory));
        case PropertyKind::Int64:
            return std::to_string(load_native<std::int64_t>(memory));
        case PropertyKind::Float:
            return text_of(static_cast<double>(load_native<float>(memory)));
        case PropertyKind::Double:
            return text_of(load_native<double>(memory));
        case PropertyKind::Vector:
        case PropertyKind::Rotator:
            return text_of_floats(memory, 3);
        case PropertyKind::Quat:
            return text_of_floats(memory, 4);
        default:
            return text_of_unsigned(memory, property.size);
    }
}

[[nodiscard]] std::string text_of_quantised(const Property& property, ConstShadowBuffer leaf) {
    // No plain kind is larger than a quaternion.
    alignas(8) std::array<std::byte, 4 * sizeof(double)> memory{};
    REPLAYOUT_ASSERT(property.size <= memory.size());
    dequantise(property, load_quantised(leaf.data(), quantised_size(property.quantisation)),
               memory.data());
    return text_of_plain(property, memory.data());
}

[[nodiscard]] std::string text_of_leaf(const RepLayout& layout, CmdIndex index,
                                       ConstShadowBuffer leaf);

[[nodiscard]] std::string text_of_element(const RepLayout& layout, const RepScope& element,
                                          ConstShadowBuffer memory) {
    std::string text;
    for (std::uint32_t handle = 1; handle <= element.handle_count; ++handle) {
        const CmdIndex index = layout.cmd_of(element, RepHandle{handle});
        text += (handle == 1 ? "" : ", ") +
                text_of_leaf(layout, index, memory + layout.cmd(index).shadow_offset);
    }
    return element.handle_count == 1 ? text : "{" + text + "}";
}

[[nodiscard]] std::string text_of_array(const RepLayout& layout, CmdIndex index,
                                        ConstShadowBuffer leaf) {
    const auto& array = shadow_value<ShadowArray>(leaf);
    const RepScope& element = layout.element_scope(index);
    std::string text;
    for (std::uint32_t i = 0; i < std::min(array.count, elements_shown_max); ++i) {
        const ConstShadowBuffer memory(array.elements + std::size_t{i} * element.shadow_size);
        text += (i == 0 ? "" : ", ") + text_of_element(layout, element, memory);
    }
    if (layout.cmd(index).property->kind == PropertyKind::Optional) {
        return array.count == 0 ? "none" : text;
    }
    return array.count <= elements_shown_max
               ? "[" + text + "]"
               : "[" + text + ", ...] (" + std::to_string(array.count) + " elements)";
}

/// Each element behind its key.
[[nodiscard]] std::string text_of_keyed_array(const RepLayout& layout, CmdIndex index,
                                              ConstShadowBuffer leaf) {
    const auto& array = shadow_value<ShadowKeyedArray>(leaf);
    const RepScope& element = layout.element_scope(index);
    std::string text;
    for (std::uint32_t i = 0; i < std::min(array.count(), elements_shown_max); ++i) {
        const ConstShadowBuffer memory(array.elements.elements +
                                       std::size_t{i} * element.shadow_size);
        text += (i == 0 ? "" : ", ") + std::to_string(array.items[i].key) + ": " +
                text_of_element(layout, element, memory);
    }
    return array.count() <= elements_shown_max
               ? "[" + text + "]"
               : "[" + text + ", ...] (" + std::to_string(array.count()) + " elements)";
}

std::string text_of_leaf(const RepLayout& layout, CmdIndex index, ConstShadowBuffer leaf) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return text_of(std::string_view(shadow_value<PmrString>(leaf)));
        case RepLayoutCmdType::Object:
            return "id " + std::to_string(shadow_value<ShadowReference>(leaf).guid.value);
        case RepLayoutCmdType::NetSerializeStruct:
        case RepLayoutCmdType::NetDeltaStruct:
            return "a struct " + std::string(cmd.property->struct_type->name());
        case RepLayoutCmdType::DynamicArray:
            return text_of_array(layout, index, leaf);
        case RepLayoutCmdType::KeyedArray:
            return text_of_keyed_array(layout, index, leaf);
        case RepLayoutCmdType::Quantised:
            return text_of_quantised(*cmd.property, leaf);
        default:
            return text_of_plain(*cmd.property, leaf.data());
    }
}

}  // namespace

std::string value_text(const RepLayout& layout, RepHandle handle, ConstShadowBuffer shadow) {
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    return text_of_leaf(layout, index, shadow + layout.cmd(index).shadow_offset);
}

}  // namespace replayout
