// SPDX-License-Identifier: MIT
#include "property_checks.h"

#include <replayout/reflection/type_registry.h>

#include <algorithm>
#include <bit>
#include <string>

namespace replayout::detail {
namespace {

std::uint32_t alignment_of(const Property& property) {
    std::uint32_t alignment = property.ops.size != 0 ? property.ops.alignment : 1;
    if (property.kind == PropertyKind::Struct) {
        alignment = std::max(alignment, property.struct_type->alignment());
    }
    return alignment;
}

/// A value that lives and dies as bytes as far as the engine touches it: a plain kind, or a struct
/// whose described members are all plain. Bounded by the nesting depth, which registered types
/// keep.
bool is_plain_value(const Property& property);

bool is_plain_struct(const Type& type) {
    if (type.traits().has_net_serializer || type.traits().has_net_delta_serializer) {
        return false;
    }
    if (type.base() != nullptr && !is_plain_struct(*type.base())) {
        return false;
    }
    const auto properties = type.properties();
    return std::all_of(properties.begin(), properties.end(), is_plain_value);
}

bool is_plain_value(const Property& property) {
    if (property.kind == PropertyKind::Struct) {
        return is_plain_struct(*property.struct_type);
    }
    return is_plain(property.kind) || property.kind == PropertyKind::BitBool;
}

}  // namespace

Status check_size(const Culprit& culprit, std::uint32_t size, std::uint32_t alignment) {
    if (!std::has_single_bit(alignment)) {
        return culprit.refuse(
            ErrorCode::InvalidAlignment,
            {"has an alignment that is not a power of two (", number(alignment), ")"});
    }
    if (size == 0) {
        return culprit.refuse(ErrorCode::InvalidSize, {"has no size"});
    }
    if (size % alignment != 0) {
        return culprit.refuse(ErrorCode::InvalidSize,
                              {"has a size that is not a multiple of its alignment (", number(size),
                               " bytes, alignment ", number(alignment), ")"});
    }
    return {};
}

Status check_ops(const Culprit& culprit, const TypeOps& ops, std::uint32_t size) {
    if (is_absent(ops)) {
        return {};
    }
    if (ops.size != size) {
        return culprit.refuse(
            ErrorCode::InvalidSize,
            {"has ", number(size), " bytes, but operations for ", number(ops.size), " bytes"});
    }
    return check_size(culprit, ops.size, ops.alignment);
}

namespace {

Status check_struct(const TypeRegistry& registry, const Property& property,
                    const Culprit& culprit) {
    if (property.struct_type == nullptr) {
        return culprit.refuse(ErrorCode::UnknownType, {"has no struct type"});
    }
    const Type& struct_type = *property.struct_type;
    if (!registry.owns(struct_type)) {
        return culprit.refuse(ErrorCode::UnknownType, {"its struct type \"", struct_type.name(),
                                                       "\" is not of this registry"});
    }
    if (struct_type.kind() != TypeKind::Struct) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"its struct type \"", struct_type.name(), "\" is a class"});
    }
    if (property.size != struct_type.size()) {
        return culprit.refuse(ErrorCode::InvalidSize,
                              {"has ", number(property.size), " bytes, but its struct type \"",
                               struct_type.name(), "\" has ", number(struct_type.size())});
    }
    return {};
}

Status check_operations(const Property& property, const Culprit& culprit) {
    const auto missing = [&culprit](std::string_view operations) {
        return culprit.refuse(ErrorCode::MissingOperation, {"has no ", operations});
    };
    switch (property.kind) {
        case PropertyKind::String:
        case PropertyKind::Name:
            if (property.string.view == nullptr || property.string.assign == nullptr) {
                return missing("string operations");
            }
            break;
        case PropertyKind::ObjectReference:
            if (property.reference.get == nullptr || property.reference.set == nullptr) {
                return missing("reference operations");
            }
            break;
        case PropertyKind::DynamicArray:
        case PropertyKind::Optional:
            if (property.array.count == nullptr || property.array.data == nullptr ||
                property.array.mutable_data == nullptr || property.array.resize == nullptr) {
                return missing("array operations");
            }
            if (property.element == nullptr) {
                return missing("element");
            }
            break;
        default:
            break;
    }
    return {};
}

/// Kind, size and operations of a value: a property, or an element of an array.
Status check_value(const TypeRegistry& registry, const Property& property, const Culprit& culprit) {
    if (property.kind > PropertyKind::Optional) {
        return culprit.refuse(ErrorCode::InvalidArgument, {"has an unknown kind"});
    }
    if (property.size == 0) {
        return culprit.refuse(ErrorCode::InvalidSize, {"has no size"});
    }
    const std::uint32_t fixed_size = fixed_size_of(property.kind);
    if (fixed_size != 0 && property.size != fixed_size) {
        return culprit.refuse(ErrorCode::InvalidSize,
                              {"has ", number(property.size), " bytes, but its kind ",
                               to_string(property.kind), " has ", number(fixed_size)});
    }
    if (property.kind == PropertyKind::Enum &&
        (property.size > 8 || !std::has_single_bit(property.size))) {
        return culprit.refuse(ErrorCode::InvalidSize, {"is an enum of ", number(property.size),
                                                       " bytes; 1, 2, 4 and 8 are possible"});
    }
    if (property.kind == PropertyKind::BitBool && !std::has_single_bit(property.bit_mask)) {
        return culprit.refuse(ErrorCode::InvalidArgument, {"is not one bit of its byte (mask ",
                                                           number(property.bit_mask), ")"});
    }
    const std::string problem =
        quantisation_problem(property.quantisation, property.kind, property.size);
    if (!problem.empty()) {
        return culprit.refuse(ErrorCode::InvalidArgument, {problem});
    }
    const bool is_struct = property.kind == PropertyKind::Struct;
    return check_in_turn(
        [&] { return is_struct ? check_struct(registry, property, culprit) : Status(); },
        [&] { return check_operations(property, culprit); },
        [&] { return check_ops(culprit, property.ops, property.size); });
}

/// Elements of an array, down to the innermost. They live in memory of the engine too, so those
/// that are not plain bytes must be copied and destroyed by their own operations.
Status check_elements(const TypeRegistry& registry, const Property& property,
                      const Culprit& array_culprit) {
    Culprit culprit = array_culprit;
    for (const Property* element = property.element.get(); element != nullptr;
         element = element->element.get()) {
        culprit = culprit.element();
        if (Status checked = check_value(registry, *element, culprit); !checked) {
            return checked;
        }
        if (element->array_dim != 1) {
            return culprit.refuse(ErrorCode::InvalidArrayDim, {"is a C array itself"});
        }
        if (element->kind == PropertyKind::BitBool) {
            return culprit.refuse(ErrorCode::InvalidArgument, {"is a bit of a byte"});
        }
        if (element->offset != 0 || element->notify || element->is_push_based ||
            element->condition != LifetimeCondition::None) {
            return culprit.refuse(ErrorCode::InvalidArgument,
                                  {"has an offset, a notify, a condition or marks of its own"});
        }
        if (element->sent_within_us != 0) {
            return culprit.refuse(ErrorCode::InvalidArgument, {"has sent_within of its own"});
        }
        const TypeOps& ops = element->ops;
        if (!is_plain_value(*element) &&
            (ops.copy_construct == nullptr || ops.destroy == nullptr)) {
            return culprit.refuse(ErrorCode::MissingOperation,
                                  {"cannot be copy-constructed and destroyed"});
        }
        if (!is_array(element->kind)) {
            break;
        }
    }
    return {};
}

/// A receiver writes the key of a new element as an integer, so what is described there
/// must be one, and it alone. `type` lies `type_offset` bytes into the element.
bool has_room_for_key(const Type& type, std::uint64_t type_offset, const ArrayKey& key) {
    if (type.base() != nullptr &&
        !has_room_for_key(*type.base(), type_offset + type.base_offset(), key)) {
        return false;
    }
    const auto properties = type.properties();
    return std::all_of(properties.begin(), properties.end(), [&](const Property& property) {
        const std::uint64_t begin = type_offset + property.offset;
        if (std::uint64_t{key.offset} + key.size <= begin ||
            key.offset >= type_offset + end_of(property)) {
            return true;
        }
        const bool is_integer =
            (property.kind >= PropertyKind::Int8 && property.kind <= PropertyKind::UInt64) ||
            property.kind == PropertyKind::Enum;
        return is_integer && begin == key.offset && property.size == key.size &&
               property.array_dim == 1;
    });
}

/// A key must lie in the elements, and elements must be able to change places.
Status check_key(const Property& property, const Culprit& culprit) {
    const ArrayKey& key = property.array_key;
    if (!key) {
        return {};
    }
    if (property.kind != PropertyKind::DynamicArray ||
        property.element->kind != PropertyKind::Struct) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"has a key and is no dynamic array of structs"});
    }
    if (key.size > 8 || !std::has_single_bit(key.size)) {
        return culprit.refuse(ErrorCode::InvalidSize, {"has a key of ", number(key.size),
                                                       " bytes; 1, 2, 4 and 8 are possible"});
    }
    if (std::uint64_t{key.offset} + key.size > property.element->size) {
        return culprit.refuse(ErrorCode::OffsetOutsideType,
                              {"has a key that lies outside of its elements (offset ",
                               number(key.offset), ", ", number(key.size), " bytes)"});
    }
    if (!has_room_for_key(*property.element->struct_type, 0, key)) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"has a key in a place where its elements have something else than "
                               "an integer of that size (offset ",
                               number(key.offset), ", ", number(key.size), " bytes)"});
    }
    if (property.array.swap_elements == nullptr) {
        return culprit.refuse(ErrorCode::MissingOperation,
                              {"has a key, and elements that cannot be swapped"});
    }
    return {};
}

Status check_location(const TypeDescription& type, const Property& property,
                      const Culprit& culprit) {
    if (property.array_dim == 0) {
        return culprit.refuse(ErrorCode::InvalidArrayDim, {"is a C array of no elements"});
    }
    if (property.array_dim != 1 && property.kind == PropertyKind::BitBool) {
        return culprit.refuse(ErrorCode::InvalidArrayDim, {"is a C array of bits"});
    }
    const std::uint64_t bytes = end_of(property) - property.offset;
    if (end_of(property) > type.size) {
        return culprit.refuse(ErrorCode::OffsetOutsideType,
                              {"lies outside its type (offset ", number(property.offset), ", ",
                               number(bytes), " bytes, type has ", number(type.size), " bytes)"});
    }
    const std::uint32_t alignment = alignment_of(property);
    if (property.offset % alignment != 0) {
        return culprit.refuse(ErrorCode::MisalignedProperty,
                              {"is misaligned (offset ", number(property.offset),
                               ", needs alignment ", number(alignment), ")"});
    }
    if (alignment > type.alignment) {
        return culprit.refuse(ErrorCode::MisalignedProperty,
                              {"is misaligned (needs alignment ", number(alignment), ", type has ",
                               number(type.alignment), ")"});
    }
    return {};
}

Status check_condition(const TypeDescription& type, const Property& property,
                       const Culprit& culprit) {
    if (property.is_push_based && type.kind != TypeKind::Class) {
        return culprit.refuse(ErrorCode::InvalidArgument, {"is a push based member of a struct"});
    }
    if (property.sent_within_us > sent_within_us_max) {
        return culprit.refuse(
            ErrorCode::InvalidArgument,
            {"is sent within more than an hour (", number(property.sent_within_us), " us, at most ",
             number(sent_within_us_max), ")"});
    }
    if (property.sent_within_us != 0 && type.kind != TypeKind::Class) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"is a member of a struct with sent_within; only a property of a "
                               "class can have it"});
    }
    if (property.condition == LifetimeCondition::None) {
        return {};
    }
    if (type.kind != TypeKind::Class) {
        return culprit.refuse(
            ErrorCode::InvalidArgument,
            {"is a member of a struct and has a condition (", to_string(property.condition),
             "); only a property of a class can have one"});
    }
    if (property.condition >= LifetimeCondition::NetGroup) {
        return culprit.refuse(
            ErrorCode::InvalidArgument,
            {"has the condition ", to_string(property.condition), ", which no property can have"});
    }
    return {};
}

}  // namespace

Status check_property(const TypeRegistry& registry, const TypeDescription& type,
                      const Property& property, const Culprit& culprit) {
    // Depth first: it bounds every walk that follows.
    if (const std::uint32_t depth = nesting_depth(property); depth > nesting_depth_max) {
        return culprit.refuse(ErrorCode::NestingTooDeep,
                              {"nests ", number(depth), " structs and arrays; at most ",
                               number(nesting_depth_max), " are possible"});
    }
    const bool is_of_elements = is_array(property.kind);
    Status checked = check_in_turn(
        [&] { return check_value(registry, property, culprit); },
        [&] { return is_of_elements ? check_elements(registry, property, culprit) : Status(); },
        [&] { return is_of_elements ? check_key(property, culprit) : Status(); },
        [&] { return check_location(type, property, culprit); },
        [&] { return check_condition(type, property, culprit); });
    if (!checked || !property.notify) {
        return checked;
    }
    if (type.kind != TypeKind::Class) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"is a member of a struct and has a notify; only a property of a "
                               "class is told of"});
    }
    const TypeOps& ops = property.ops;
    if (ops.copy_construct == nullptr || ops.destroy == nullptr) {
        return culprit.refuse(
            ErrorCode::MissingOperation,
            {"has a notify, and its previous value cannot be copy-constructed and destroyed"});
    }
    return {};
}

}  // namespace replayout::detail
