// SPDX-License-Identifier: MIT
#include <replayout/reflection/math.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type.h>

#include <algorithm>

namespace replayout {

std::string_view to_string(PropertyKind kind) noexcept {
    switch (kind) {
        case PropertyKind::Bool:
            return "bool";
        case PropertyKind::Int8:
            return "int8";
        case PropertyKind::Int16:
            return "int16";
        case PropertyKind::Int32:
            return "int32";
        case PropertyKind::Int64:
            return "int64";
        case PropertyKind::UInt8:
            return "uint8";
        case PropertyKind::UInt16:
            return "uint16";
        case PropertyKind::UInt32:
            return "uint32";
        case PropertyKind::UInt64:
            return "uint64";
        case PropertyKind::Float:
            return "float";
        case PropertyKind::Double:
            return "double";
        case PropertyKind::Enum:
            return "enum";
        case PropertyKind::String:
            return "string";
        case PropertyKind::Name:
            return "name";
        case PropertyKind::ObjectReference:
            return "object reference";
        case PropertyKind::Vector:
            return "vector";
        case PropertyKind::Quat:
            return "quat";
        case PropertyKind::Struct:
            return "struct";
        case PropertyKind::DynamicArray:
            return "dynamic array";
        case PropertyKind::Rotator:
            return "rotator";
        case PropertyKind::BitBool:
            return "bit";
        case PropertyKind::Optional:
            return "optional";
    }
    return "unknown kind";
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
