// SPDX-License-Identifier: MIT
#include <replayout/shadow_state.h>

#include "compare_properties.h"
#include "rep_layout_builder.h"

#include <memory>
#include <string>

namespace replayout {

namespace {

[[nodiscard]] Status copy_into_shadow(const RepLayout& layout, const void* object,
                                      ShadowState& shadow) {
    ChangeMask changed;
    changed.reset(layout.handle_count());
    CompareContext context{layout, shadow.memory(), nullptr, 0};
    (void)compare_properties(context, ConstObjectBuffer(static_cast<const std::byte*>(object)),
                             shadow.buffer(), changed);
    // Both ends hold such a value, the shadow does not: a change to what the shadow holds instead
    // would never be sent.
    if (context.over_limit_count > 0) {
        return Error{ErrorCode::LimitExceeded,
                     "layout of \"" + std::string(layout.type().name()) +
                         "\": its archetype holds a value that cannot be sent: "
                         "too large, or not UTF-8"};
    }
    return {};
}

}  // namespace

Status make_archetype(const RepLayout& layout, const void* archetype, MemoryResource* resource,
                      std::unique_ptr<ShadowState>& result) {
    const Type& type = layout.type();
    auto shadow = std::make_unique<ShadowState>(layout, resource);
    if (archetype != nullptr) {
        const Status status = copy_into_shadow(layout, archetype, *shadow);
        result = std::move(shadow);
        return status;
    }
    const TypeOps& ops = type.ops();
    if (ops.construct == nullptr || ops.destroy == nullptr) {
        return Error{ErrorCode::MissingOperation,
                     "layout of \"" + std::string(type.name()) +
                         "\": no archetype was given, and the type cannot be default-constructed"};
    }
    void* object = resource->allocate(type.size(), type.alignment());
    ops.construct(object);
    const Status status = copy_into_shadow(layout, object, *shadow);
    ops.destroy(object);
    resource->deallocate(object, type.size(), type.alignment());
    result = std::move(shadow);
    return status;
}

}  // namespace replayout
