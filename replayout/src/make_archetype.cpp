// SPDX-License-Identifier: MIT
#include <replayout/shadow_state.h>

#include "compare_properties.h"
#include "rep_layout_builder.h"

#include <memory>
#include <string>

namespace replayout {

namespace {

void copy_into_shadow(const RepLayout& layout, const void* object, ShadowState& shadow) {
    ChangeMask changed;
    changed.reset(layout.handle_count());
    CompareContext context{layout, shadow.memory(), nullptr, 0};
    (void)compare_properties(context, ConstObjectBuffer(static_cast<const std::byte*>(object)),
                             shadow.buffer(), changed);
}

}  // namespace

Status make_archetype(const RepLayout& layout, const void* archetype, MemoryResource* resource,
                      std::unique_ptr<ShadowState>& result) {
    const Type& type = layout.type();
    auto shadow = std::make_unique<ShadowState>(layout, resource);
    if (archetype != nullptr) {
        copy_into_shadow(layout, archetype, *shadow);
        result = std::move(shadow);
        return {};
    }
    const TypeOps& ops = type.ops();
    if (ops.construct == nullptr || ops.destroy == nullptr) {
        return Error{ErrorCode::MissingOperation,
                     "layout of \"" + std::string(type.name()) +
                         "\": no archetype was given, and the type cannot be default-constructed"};
    }
    void* object = resource->allocate(type.size(), type.alignment());
    ops.construct(object);
    copy_into_shadow(layout, object, *shadow);
    ops.destroy(object);
    resource->deallocate(object, type.size(), type.alignment());
    result = std::move(shadow);
    return {};
}

}  // namespace replayout
