// SPDX-License-Identifier: MIT
#include <replayout/behaviours/sync_collection.h>

namespace replayout::detail {

std::string item_name(const Property& item) {
    if (item.struct_type != nullptr) {
        return std::string(item.struct_type->name());
    }
    std::string name(to_string(item.kind));
    return item.element == nullptr ? name : name + " of " + item_name(*item.element);
}

std::string free_name(const TypeRegistry& registry, std::string name) {
    std::string free = name;
    for (std::uint32_t i = 2; registry.find(free) != nullptr; ++i) {
        free = name + " " + std::to_string(i);
    }
    return free;
}

}  // namespace replayout::detail
