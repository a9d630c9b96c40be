// SPDX-License-Identifier: MIT
#include "description_checks.h"

#include <replayout/reflection/type_registry.h>

#include <utility>

namespace replayout {
namespace {

std::string quoted(std::string_view name) {
    return '"' + std::string(name) + '"';
}

}  // namespace

TypeRegistry::TypeRegistry(std::uint32_t name_count_max, MemoryResource* name_resource)
    : names_(name_count_max, name_resource) {}

Result<const Type*> TypeRegistry::add(TypeDescription description, TypeKey key) {
    if (is_frozen_) {
        return Error{ErrorCode::RegistryFrozen, "type " + quoted(description.name) +
                                                    ": cannot be added, the registry is frozen"};
    }
    if (const Type* known = find(key)) {
        return Error{ErrorCode::DuplicateName, "type " + quoted(description.name) +
                                                   ": its C++ type is already registered as " +
                                                   quoted(known->name())};
    }
    detail::complete_operations(description);
    if (Status checked = detail::check_description(*this, description); !checked) {
        return checked.error();
    }
    types_.push_back(std::make_unique<Type>(std::move(description), key));
    const Type* type = types_.back().get();
    types_by_name_.emplace(type->name(), type);
    if (!key.is_null()) {
        types_by_key_.emplace(key.address, type);
    }
    return type;
}

Status TypeRegistry::freeze() {
    if (is_frozen_) {
        return Error{ErrorCode::RegistryFrozen, "the registry is already frozen"};
    }
    is_frozen_ = true;
    return {};
}

const Type* TypeRegistry::find(std::string_view name) const noexcept {
    const auto found = types_by_name_.find(name);
    return found != types_by_name_.end() ? found->second : nullptr;
}

const Type* TypeRegistry::find(TypeKey key) const noexcept {
    const auto found = types_by_key_.find(key.address);
    return found != types_by_key_.end() ? found->second : nullptr;
}

}  // namespace replayout
