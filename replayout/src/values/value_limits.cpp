// SPDX-License-Identifier: MIT
#include <replayout/value_limits.h>

#include <replayout/reflection/type.h>
#include <replayout/utf8.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace replayout {

namespace {

/// Its properties are not what travels.
[[nodiscard]] bool serializes_itself(const Type& type) noexcept {
    return type.traits().has_net_serializer || type.traits().has_net_delta_serializer;
}

/// Calls visit(const Property&, const std::byte*) for each member of the struct and its bases.
template <typename Visit>
void visit_members(const Type& type, const std::byte* object, const Visit& visit) {
    if (type.base() != nullptr) {
        visit_members(*type.base(), object + type.base_offset(), visit);
    }
    for (const Property& member : type.properties()) {
        visit(member, object + member.offset);
    }
}

[[nodiscard]] bool has_limited_member(const Type& type) noexcept {
    const std::span<const Property> members = type.properties();
    return std::any_of(members.begin(), members.end(),
                       [](const Property& member) { return has_limits(member); }) ||
           (type.base() != nullptr && has_limited_member(*type.base()));
}

[[nodiscard]] std::optional<std::string> why_text(std::string_view text, const RepLimits& limits) {
    if (text.size() > limits.string_bytes_max) {
        return "a text of " + std::to_string(text.size()) + " bytes is beyond string_bytes_max (" +
               std::to_string(limits.string_bytes_max) + ")";
    }
    if (!is_valid_utf8(text)) {
        return "a text is not UTF-8";
    }
    return std::nullopt;
}

[[nodiscard]] std::optional<std::string> why_elements(const Property& property,
                                                      const std::byte* value,
                                                      const RepLimits& limits) {
    const std::size_t count = property.array.count(value);
    if (count > count_max_of(property, limits)) {
        return "an array of " + std::to_string(count) + " elements is beyond array_count_max (" +
               std::to_string(limits.array_count_max) + ")";
    }
    if (!has_limits(*property.element)) {
        return std::nullopt;
    }
    const auto* elements = static_cast<const std::byte*>(property.array.data(value));
    std::optional<std::string> why;
    for (std::size_t i = 0; i < count && !why; ++i) {
        why = why_over_limit(*property.element, elements + i * property.element->size, limits);
    }
    return why;
}

[[nodiscard]] std::optional<std::string> why_element(const Property& property,
                                                     const std::byte* value,
                                                     const RepLimits& limits) {
    if (property.kind == PropertyKind::String || property.kind == PropertyKind::Name) {
        return why_text(property.string.view(value, property.string.context), limits);
    }
    if (is_array(property.kind)) {
        return why_elements(property, value, limits);
    }
    std::optional<std::string> why;
    if (property.kind == PropertyKind::Struct && !serializes_itself(*property.struct_type)) {
        visit_members(*property.struct_type, value,
                      [&](const Property& member, const std::byte* at) {
                          why = why ? std::move(why) : why_over_limit(member, at, limits);
                      });
    }
    return why;
}

[[nodiscard]] std::size_t element_bytes(const Property& property, const std::byte* value) {
    // A handle, and a value that takes more packed than it does in memory.
    std::size_t bytes = 4 + property.size + property.size / 4;
    if (property.kind == PropertyKind::String || property.kind == PropertyKind::Name) {
        bytes = 8 + property.string.view(value, property.string.context).size();
    } else if (is_array(property.kind)) {
        const auto* elements = static_cast<const std::byte*>(property.array.data(value));
        const std::size_t count = property.array.count(value);
        bytes = 8;
        for (std::size_t i = 0; i < count; ++i) {
            bytes += bytes_in_message(*property.element, elements + i * property.element->size);
        }
    } else if (property.kind == PropertyKind::Struct && serializes_itself(*property.struct_type)) {
        bytes += 1'024;  // unknown: a high guess makes more parts, and none too large
    } else if (property.kind == PropertyKind::Struct) {
        bytes = 4;
        visit_members(*property.struct_type, value,
                      [&](const Property& member, const std::byte* at) {
                          bytes += bytes_in_message(member, at);
                      });
    }
    return bytes;
}

}  // namespace

bool has_limits(const Property& property) noexcept {
    switch (property.kind) {
        case PropertyKind::String:
        case PropertyKind::Name:
        case PropertyKind::DynamicArray:
            return true;
        case PropertyKind::Optional:
            return has_limits(*property.element);
        case PropertyKind::Struct:
            return !serializes_itself(*property.struct_type) &&
                   has_limited_member(*property.struct_type);
        default:
            return false;
    }
}

std::optional<std::string> why_over_limit(const Property& property, const std::byte* value,
                                          const RepLimits& limits) {
    std::optional<std::string> why;
    for (std::uint32_t i = 0; i < property.array_dim && !why; ++i) {
        why = why_element(property, value + i * property.size, limits);
    }
    return why;
}

std::size_t bytes_in_message(const Property& property, const std::byte* value) {
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < property.array_dim; ++i) {
        bytes += element_bytes(property, value + i * property.size);
    }
    return bytes;
}

}  // namespace replayout
