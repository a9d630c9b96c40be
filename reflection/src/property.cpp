// SPDX-License-Identifier: MIT
#include <replayout/reflection/math.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type.h>

#include <algorithm>
#include <array>

namespace replayout {

std::string_view to_string(PropertyKind kind) noexcept {
    static constexpr auto texts = std::to_array<std::string_view>(
        {"bool",   "int8",    "int16",  "int32",         "int64",
         "uint8",  "uint16",  "uint32", "uint64",        "float",
         "double", "enum",    "string", "name",          "object reference",
         "vector", "quat",    "struct", "dynamic array", "rotator",
         "bit",    "optional"});
    static_assert(texts.size() == static_cast<std::size_t>(PropertyKind::Optional) + 1);
    const auto index = static_cast<std::size_t>(kind);
    return index < texts.size() ? texts[index] : "unknown kind";
}

std::uint32_t fixed_size_of(PropertyKind kind) noexcept {
    switch (kind) {
        case PropertyKind::Bool:
        case PropertyKind::Int8:
        case PropertyKind::UInt8:
        case PropertyKind::BitBool:
            return 1;
        case PropertyKind::Int16:
        case PropertyKind::UInt16:
            return 2;
        case PropertyKind::Int32:
        case PropertyKind::UInt32:
        case PropertyKind::Float:
            return 4;
        case PropertyKind::Int64:
        case PropertyKind::UInt64:
        case PropertyKind::Double:
            return 8;
        case PropertyKind::Vector:
            return sizeof(Vector3);
        case PropertyKind::Quat:
            return sizeof(Quat);
        case PropertyKind::Rotator:
            return sizeof(Rotator);
        case PropertyKind::Enum:
        case PropertyKind::String:
        case PropertyKind::Name:
        case PropertyKind::ObjectReference:
        case PropertyKind::Struct:
        case PropertyKind::DynamicArray:
        case PropertyKind::Optional:
            return 0;
    }
    return 0;
}

namespace {

[[nodiscard]] bool may_tolerate(const Type& type) noexcept {
    const StructTraits& traits = type.traits();
    if (traits.has_net_serializer || traits.has_net_delta_serializer) {
        return traits.identical != nullptr;
    }
    const std::span<const Property> members = type.properties();
    return (type.base() != nullptr && may_tolerate(*type.base())) ||
           std::any_of(members.begin(), members.end(), [](const Property& member) {
               return member.is_replicated && may_tolerate(member);
           });
}

}  // namespace

bool may_tolerate(const Property& property) noexcept {
    if (property.struct_type != nullptr) {
        return may_tolerate(*property.struct_type);
    }
    return property.element != nullptr && may_tolerate(*property.element);
}

}  // namespace replayout
