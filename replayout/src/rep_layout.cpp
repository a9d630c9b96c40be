// SPDX-License-Identifier: MIT
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include "rep_layout_builder.h"

namespace replayout {

RepLayout::~RepLayout() = default;

Result<std::unique_ptr<RepLayout>> RepLayout::create(const TypeRegistry& registry,
                                                     const Type& type,
                                                     const RepLayoutOptions& options,
                                                     MemoryResource* resource) {
    if (!registry.is_frozen()) {
        return Error{ErrorCode::RegistryNotFrozen, "layout of \"" + std::string(type.name()) +
                                                       "\": its registry is not frozen"};
    }
    return RepLayoutBuilder(type, options).build(resource);
}

}  // namespace replayout
