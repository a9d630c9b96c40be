// SPDX-License-Identifier: MIT
#include "description_checks.h"

#include <replayout/reflection/type_registry.h>

#include "property_checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace replayout::detail {
namespace {

Status check_head(const TypeRegistry& registry, const TypeDescription& type,
                  const Culprit& culprit) {
    if (type.name.empty()) {
        return culprit.refuse(ErrorCode::EmptyName, {"has an empty name"});
    }
    if (registry.find(type.name) != nullptr) {
        return culprit.refuse(ErrorCode::DuplicateName, {"is already registered"});
    }
    return check_in_turn([&] { return check_size(culprit, type.size, type.alignment); },
                         [&] { return check_ops(culprit, type.ops, type.size); });
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
        return traits.can_be_sent == nullptr
                   ? Status()
                   : culprit.refuse(ErrorCode::ConflictingTraits,
                                    {"says which values can be sent, and is sent by its members"});
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

Status check_properties(const TypeRegistry& registry, const TypeDescription& type,
                        const Culprit& culprit) {
    for (const Property& property : type.properties) {
        const Culprit named = culprit.member("property", property.name);
        if (Status checked = check_property(registry, type, property, named); !checked) {
            return checked;
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

/// Own properties and those of the bases, by where they begin; bits of one byte by their position
/// in it.
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
                           int{has_flag(function.flags, FunctionFlags::Multicast)} +
                           int{has_flag(function.flags, FunctionFlags::Remote)};
    if (directions > 1) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"is more than one of Server, Client, Multicast and Remote"});
    }
    if (directions == 0 && has_flag(function.flags, FunctionFlags::Reliable)) {
        return culprit.refuse(
            ErrorCode::InvalidArgument,
            {"is Reliable and none of Server, Client, Multicast and Remote, so nobody calls it"});
    }
    const bool is_validated = has_flag(function.flags, FunctionFlags::WithValidation);
    if (is_validated && function.thunk && function.thunk.validate == nullptr) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"promises WithValidation and has no validate"});
    }
    if (!is_validated && function.thunk.validate != nullptr) {
        return culprit.refuse(ErrorCode::InvalidArgument,
                              {"has a validate and does not promise WithValidation"});
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
    return check_in_turn([&] { return check_head(registry, description, culprit); },
                         [&] { return check_base(registry, description, culprit); },
                         [&] { return check_traits(description, culprit); },
                         [&] { return check_names(description, culprit); },
                         [&] { return check_properties(registry, description, culprit); },
                         [&] { return check_overlap(description, culprit); },
                         [&] { return check_functions(registry, description, culprit); });
}

}  // namespace replayout::detail
