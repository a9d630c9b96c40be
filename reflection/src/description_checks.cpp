// SPDX-License-Identifier: MIT
#include "description_checks.h"

#include <replayout/reflection/type_registry.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace replayout::detail {
namespace {

std::string join(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) {
        text += part;
    }
    return text;
}

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

/// Whom an error names: the type, and in it a property, a function, or nothing more.
class Culprit {
  public:
    explicit Culprit(std::string_view type) : text_(join({"type \"", type, "\": "})) {}

    [[nodiscard]] Culprit member(std::string_view what, std::string_view name) const {
        Culprit culprit(*this);
        culprit.text_ += join({what, " \"", name, "\": "});
        return culprit;
    }

    [[nodiscard]] Culprit element() const {
        Culprit culprit(*this);
        culprit.text_ += "element: ";
        return culprit;
    }

    [[nodiscard]] Error refuse(ErrorCode code, std::initializer_list<std::string_view> why) const {
        return {code, text_ + join(why)};
    }

  private:
    std::string text_;
};

bool is_power_of_two(std::uint32_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

bool has_functions(const TypeOps& ops) {
    return ops.construct != nullptr || ops.copy_construct != nullptr ||
           ops.copy_assign != nullptr || ops.destroy != nullptr || ops.equal != nullptr;
}

/// Where a property ends, one past its last byte. Exact: 32 bits times 32 bits plus 32 bits fit.
std::uint64_t end_of(const Property& property) {
    return property.offset + std::uint64_t{property.size} * property.array_dim;
}

/// What the property's memory must be aligned to, as far as it is known; else 1.
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

Status check_size(const Culprit& culprit, std::uint32_t size, std::uint32_t alignment) {
    if (!is_power_of_two(alignment)) {
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

/// Operations say which size and alignment they are made for; when there are any, both must fit.
Status check_ops(const Culprit& culprit, const TypeOps& ops, std::uint32_t size) {
    if (!has_functions(ops) && ops.size == 0) {
        return {};
    }
    if (ops.size != size) {
        return culprit.refuse(
            ErrorCode::InvalidSize,
            {"has ", number(size), " bytes, but operations for ", number(ops.size), " bytes"});
    }
    return check_size(culprit, ops.size, ops.alignment);
}

Status check_head(const TypeRegistry& registry, const TypeDescription& type,
                  const Culprit& culprit) {
    if (type.name.empty()) {
        return culprit.refuse(ErrorCode::EmptyName, {"has an empty name"});
    }
    if (registry.find(type.name) != nullptr) {
        return culprit.refuse(ErrorCode::DuplicateName, {"is already registered"});
    }
    if (Status checked = check_size(culprit, type.size, type.alignment); !checked) {
        return checked;
    }
    return check_ops(culprit, type.ops, type.size);
}

Status check_base(const TypeRegistry& registry, const TypeDescription& type,
                  const Culprit& culprit) {
    if (type.base == nullptr) {
        return {};
    }
    const Type& base = *type.base;
    if (!registry.owns(base)) {
        return culprit.refuse(ErrorCode::BaseMismatch,
                              {"its base \"", base.name(), "\" is not of this registry"});
    }
    if (base.kind() != type.kind) {
        return culprit.refuse(ErrorCode::BaseMismatch,
                              {"its base \"", base.name(), "\" is a ",
                               base.kind() == TypeKind::Class ? "class, and it is a struct"
                                                              : "struct, and it is a class"});
    }
    if (std::uint64_t{type.base_offset} + base.size() > type.size) {
        return culprit.refuse(
            ErrorCode::BaseMismatch,
            {"its base \"", base.name(), "\" lies outside it (offset ", number(type.base_offset),
             ", ", number(base.size()), " bytes, type has ", number(type.size), " bytes)"});
    }
    if (type.base_offset % base.alignment() != 0 || base.alignment() > type.alignment) {
        return culprit.refuse(
            ErrorCode::BaseMismatch,
            {"its base \"", base.name(), "\" is misaligned (offset ", number(type.base_offset),
             ", needs alignment ", number(base.alignment()), ", type has ", number(type.alignment),
             ")"});
    }
    return {};
}

Status check_traits(const TypeDescription& type, const Culprit& culprit) {
    const StructTraits& traits = type.traits;
    const struct {
        bool is_promised;
        bool is_there;
        std::string_view name;
    } promises[] = {
        {traits.has_net_serializer, traits.net_serialize != nullptr, "NetSerializer"},
        {traits.has_net_delta_serializer, traits.net_delta_serialize != nullptr,
         "NetDeltaSerializer"},
        {traits.has_identical, traits.identical != nullptr, "Identical"},
        {traits.has_copy, traits.copy != nullptr, "Copy"},
    };
    for (const auto& promise : promises) {
        if (promise.is_promised && type.kind == TypeKind::Class) {
            return culprit.refuse(ErrorCode::Unsupported,
                                  {"promises ", promise.name, ", which only a struct can"});
        }
        if (promise.is_promised && !promise.is_there) {
            return culprit.refuse(ErrorCode::MissingTraitFunction,
                                  {"promises ", promise.name, " and has no such function"});
        }
    }
    if (type.hooks.any() && type.kind == TypeKind::Struct) {
        return culprit.refuse(ErrorCode::Unsupported,
                              {"has receive hooks, which only a class can"});
    }
    if (traits.has_net_serializer && traits.has_net_delta_serializer) {
        return culprit.refuse(ErrorCode::ConflictingTraits,
                              {"promises both NetSerializer and NetDeltaSerializer"});
    }
    if (!traits.has_net_serializer && !traits.has_net_delta_serializer) {
        return {};
    }
    // Such a struct is one value to the engine: its shadow is a copy of it, compared as a whole.
    const TypeOps& ops = type.ops;
    const std::string_view name =
        traits.has_net_serializer ? "NetSerializer" : "NetDeltaSerializer";
    const auto missing = [&culprit, name](std::string_view operation) {
        return culprit.refuse(ErrorCode::MissingOperation,
                              {"promises ", name, " and cannot be ", operation});
    };
    if (ops.copy_construct == nullptr) {
        return missing("copy-constructed");
    }
    if (ops.copy_assign == nullptr) {
        return missing("copy-assigned");
    }
    if (ops.destroy == nullptr) {
        return missing("destroyed");
    }
    if (!traits.has_identical && ops.equal == nullptr) {
        return missing("compared (neither Identical nor operator==)");
    }
    return {};
}

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
        (property.size > 8 || !is_power_of_two(property.size))) {
        return culprit.refuse(ErrorCode::InvalidSize, {"is an enum of ", number(property.size),
                                                       " bytes; 1, 2, 4 and 8 are possible"});
    }
    if (property.kind == PropertyKind::BitBool && !is_power_of_two(property.bit_mask)) {
        return culprit.refuse(ErrorCode::InvalidArgument, {"is not one bit of its byte (mask ",
                                                           number(property.bit_mask), ")"});
    }
    const std::string problem =
        quantisation_problem(property.quantisation, property.kind, property.size);
    if (!problem.empty()) {
        return culprit.refuse(ErrorCode::InvalidArgument, {problem});
    }
    if (property.kind == PropertyKind::Struct) {
        if (Status checked = check_struct(registry, property, culprit); !checked) {
            return checked;
        }
    }
    if (Status checked = check_operations(property, culprit); !checked) {
        return checked;
    }
    return check_ops(culprit, property.ops, property.size);
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
    if (key.size > 8 || !is_power_of_two(key.size)) {
        return culprit.refuse(ErrorCode::InvalidSize, {"has a key of ", number(key.size),
                                                       " bytes; 1, 2, 4 and 8 are possible"});
    }
    if (std::uint64_t{key.offset} + key.size > property.element->size) {
        return culprit.refuse(ErrorCode::OffsetOutsideType,
                              {"has a key that lies outside of its elements (offset ",
                               number(key.offset), ", ", number(key.size), " bytes)"});
    }
    if (property.array.swap_elements == nullptr) {
        return culprit.refuse(ErrorCode::MissingOperation,
                              {"has a key, and elements that cannot be swapped"});
    }
    return {};
}

Status check_place(const TypeDescription& type, const Property& property, const Culprit& culprit) {
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

Status check_property(const TypeRegistry& registry, const TypeDescription& type,
                      const Property& property, const Culprit& culprit) {
    // Depth first: it bounds every walk that follows.
    if (const std::uint32_t depth = nesting_depth(property); depth > nesting_depth_max) {
        return culprit.refuse(ErrorCode::NestingTooDeep,
                              {"nests ", number(depth), " structs and arrays; at most ",
                               number(nesting_depth_max), " are possible"});
    }
    if (Status checked = check_value(registry, property, culprit); !checked) {
        return checked;
    }
    if (is_array(property.kind)) {
        if (Status checked = check_elements(registry, property, culprit); !checked) {
            return checked;
        }
        if (Status checked = check_key(property, culprit); !checked) {
            return checked;
        }
    }
    if (Status checked = check_place(type, property, culprit); !checked) {
        return checked;
    }
    if (Status checked = check_condition(type, property, culprit); !checked) {
        return checked;
    }
    const TypeOps& ops = property.ops;
    if (property.notify && (ops.copy_construct == nullptr || ops.destroy == nullptr)) {
        return culprit.refuse(
            ErrorCode::MissingOperation,
            {"has a notify, and its previous value cannot be copy-constructed and destroyed"});
    }
    return {};
}

Status check_names(const TypeDescription& type, const Culprit& culprit) {
    std::set<std::string_view> names;
    for (std::size_t index = 0; index < type.properties.size(); ++index) {
        const std::string& name = type.properties[index].name;
        if (name.empty()) {
            return culprit.refuse(ErrorCode::EmptyName,
                                  {"property number ", number(index + 1), " has an empty name"});
        }
        if (!names.insert(name).second) {
            return culprit.member("property", name)
                .refuse(ErrorCode::DuplicateName, {"is already a property of its type"});
        }
        if (type.base != nullptr && type.base->find_property(name) != nullptr) {
            return culprit.member("property", name)
                .refuse(ErrorCode::DuplicateName, {"is already a property of its base"});
        }
    }
    return {};
}

struct Extent {
    std::uint64_t begin = 0;  // bytes from the start of the type that is checked
    std::uint64_t end = 0;
    const Property* property = nullptr;
    bool is_own = false;
};

/// Own properties and those of the bases, by where they begin; bits of one byte by their place in
/// it.
std::vector<Extent> sorted_extents(const TypeDescription& type) {
    std::vector<Extent> extents;
    for (const Property& property : type.properties) {
        extents.push_back({property.offset, end_of(property), &property, true});
    }
    std::uint64_t base_offset = type.base_offset;
    for (const Type* base = type.base; base != nullptr; base = base->base()) {
        for (const Property& property : base->properties()) {
            extents.push_back(
                {base_offset + property.offset, base_offset + end_of(property), &property, false});
        }
        base_offset += base->base_offset();
    }
    std::stable_sort(extents.begin(), extents.end(), [](const Extent& left, const Extent& right) {
        return std::tuple(left.begin, left.property->bit_mask) <
               std::tuple(right.begin, right.property->bit_mask);
    });
    return extents;
}

/// Two bits of one byte; neither is the other.
bool are_distinct_bits(const Extent& first, const Extent& second) {
    return first.begin == second.begin && first.property->kind == PropertyKind::BitBool &&
           second.property->kind == PropertyKind::BitBool &&
           first.property->bit_mask != second.property->bit_mask;
}

// A property may lie between the bytes of the base's: compilers put members of a derived class into
// the padding at the end of its base. So it is compared with the base's properties, not with the
// base whole.
//
// Sorted by begin, the first of two that overlap also overlaps whatever begins between them;
// comparing neighbours is enough.
Status check_overlap(const TypeDescription& type, const Culprit& culprit) {
    const std::vector<Extent> extents = sorted_extents(type);
    for (std::size_t index = 1; index < extents.size(); ++index) {
        const Extent* first = &extents[index - 1];
        const Extent* second = &extents[index];
        if (second->begin >= first->end || are_distinct_bits(*first, *second)) {
            continue;
        }
        if (!second->is_own) {
            std::swap(first, second);
        }
        return culprit.member("property", second->property->name)
            .refuse(ErrorCode::OverlappingProperties,
                    {"overlaps property \"", first->property->name, "\"",
                     first->is_own ? "" : " of its base", " (offset ", number(second->begin),
                     ", other at ", number(first->begin), " to ", number(first->end), ")"});
    }
    return {};
}

Status check_function(const TypeRegistry& registry, const Function& function,
                      const Culprit& culprit) {
    const int directions = int{has_flag(function.flags, FunctionFlags::Server)} +
                           int{has_flag(function.flags, FunctionFlags::Client)} +
                           int{has_flag(function.flags, FunctionFlags::Multicast)};
    if (directions > 1) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"is more than one of Server, Client and Multicast"});
    }
    if (function.parameters == nullptr) {
        return {};
    }
    const Type& parameters = *function.parameters;
    if (!registry.owns(parameters)) {
        return culprit.refuse(ErrorCode::UnknownType, {"its parameters \"", parameters.name(),
                                                       "\" are not of this registry"});
    }
    if (parameters.kind() != TypeKind::Struct) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"its parameters \"", parameters.name(), "\" are a class"});
    }
    return {};
}

Status check_functions(const TypeRegistry& registry, const TypeDescription& type,
                       const Culprit& culprit) {
    std::set<std::string_view> names;
    for (std::size_t index = 0; index < type.functions.size(); ++index) {
        const Function& function = type.functions[index];
        if (function.name.empty()) {
            return culprit.refuse(ErrorCode::EmptyName,
                                  {"function number ", number(index + 1), " has an empty name"});
        }
        const Culprit function_culprit = culprit.member("function", function.name);
        if (!names.insert(function.name).second) {
            return function_culprit.refuse(ErrorCode::DuplicateName,
                                           {"is already a function of its type"});
        }
        if (type.base != nullptr && type.base->find_function(function.name) != nullptr) {
            return function_culprit.refuse(ErrorCode::DuplicateName,
                                           {"is already a function of its base"});
        }
        if (Status checked = check_function(registry, function, function_culprit); !checked) {
            return checked;
        }
    }
    return {};
}

}  // namespace

Status check_description(const TypeRegistry& registry, const TypeDescription& description) {
    const Culprit culprit(description.name);
    if (Status checked = check_head(registry, description, culprit); !checked) {
        return checked;
    }
    if (Status checked = check_base(registry, description, culprit); !checked) {
        return checked;
    }
    if (Status checked = check_traits(description, culprit); !checked) {
        return checked;
    }
    if (Status checked = check_names(description, culprit); !checked) {
        return checked;
    }
    for (const Property& property : description.properties) {
        const Culprit property_culprit = culprit.member("property", property.name);
        Status checked = check_property(registry, description, property, property_culprit);
        if (!checked) {
            return checked;
        }
    }
    if (Status checked = check_overlap(description, culprit); !checked) {
        return checked;
    }
    return check_functions(registry, description, culprit);
}

}  // namespace replayout::detail
