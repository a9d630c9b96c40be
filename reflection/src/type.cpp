// SPDX-License-Identifier: MIT
#include <replayout/reflection/type.h>

#include <algorithm>
#include <utility>

namespace replayout {

Type::Type(TypeDescription description, TypeKey key)
    : description_(std::move(description)), key_(key) {
    if (description_.base != nullptr) {
        nesting_depth_ = description_.base->nesting_depth();
    }
    for (const Property& property : description_.properties) {
        nesting_depth_ = std::max(nesting_depth_, replayout::nesting_depth(property));
    }
}

const Property* Type::find_property(std::string_view name) const noexcept {
    for (const Type* type = this; type != nullptr; type = type->base()) {
        for (const Property& property : type->properties()) {
            if (property.name == name) {
                return &property;
            }
        }
    }
    return nullptr;
}

const Function* Type::find_function(std::string_view name) const noexcept {
    for (const Type* type = this; type != nullptr; type = type->base()) {
        for (const Function& function : type->functions()) {
            if (function.name == name) {
                return &function;
            }
        }
    }
    return nullptr;
}

bool Type::is_child_of(const Type& base) const noexcept {
    for (const Type* type = this; type != nullptr; type = type->base()) {
        if (type == &base) {
            return true;
        }
    }
    return false;
}

std::uint32_t nesting_depth(const Property& property) noexcept {
    std::uint32_t depth = 0;
    const Property* value = &property;
    while (value != nullptr && is_array(value->kind)) {
        ++depth;
        value = value->element.get();
    }
    if (value == nullptr || value->kind != PropertyKind::Struct || value->struct_type == nullptr) {
        return depth;
    }
    // A struct that serializes itself is one value for the engine, whatever it holds.
    const Type& struct_type = *value->struct_type;
    const bool is_one_value =
        struct_type.traits().has_net_serializer || struct_type.traits().has_net_delta_serializer;
    return depth + 1 + (is_one_value ? 0 : struct_type.nesting_depth());
}

}  // namespace replayout
