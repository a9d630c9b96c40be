// SPDX-License-Identifier: MIT
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include "rep_layout_builder.h"

namespace replayout {

RepLayout::RepLayout(MemoryResource* resource)
    : parents_(resource),
      cmds_(resource),
      scopes_(resource),
      element_scopes_(resource),
      handle_cmds_(resource),
      plain_row_ends_(resource),
      runs_(resource),
      diagnostics_(resource),
      skipped_properties_(resource) {}

RepLayout::~RepLayout() = default;

Result<std::unique_ptr<RepLayout>> RepLayout::create(const TypeRegistry& registry, const Type& type,
                                                     const RepLayoutOptions& options,
                                                     MemoryResource* resource) {
    if (!registry.is_frozen()) {
        return Error{ErrorCode::RegistryNotFrozen,
                     "layout of \"" + std::string(type.name()) + "\": its registry is not frozen"};
    }
    Result<std::unique_ptr<RepLayout>> layout = RepLayoutBuilder(type, options, resource).build();
    if (layout) {
        (*layout)->registry_ = &registry;
    }
    return layout;
}

}  // namespace replayout
