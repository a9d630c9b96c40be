// SPDX-License-Identifier: MIT
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include "compatible_layout_builder.h"
#include "rep_function_builder.h"
#include "rep_layout_builder.h"

#include <algorithm>

namespace replayout {

RepLayout::RepLayout(MemoryResource* resource)
    : parents_(resource),
      cmds_(resource),
      scopes_(resource),
      element_scopes_(resource),
      handle_cmds_(resource),
      plain_leaves_(resource),
      runs_(resource),
      scan_plan_(resource),
      groups_(resource),
      keyed_handles_(resource),
      shared_serializer_handles_(resource),
      diagnostics_(resource),
      functions_(resource),
      skipped_properties_(resource),
      skipped_names_(resource),
      polled_parents_(resource),
      word_runs_(resource) {}

RepLayout::~RepLayout() = default;

void RepLayout::index_handles(RepScope& scope) {
    scope.first_handle_cmd = static_cast<std::uint32_t>(handle_cmds_.size());
    CmdIndex index = scope.cmd_start;
    while (cmds_[index.value].type != RepLayoutCmdType::Return) {
        handle_cmds_.push_back(index);
        index = cmds_[index.value].end_cmd;
    }
}

const RepGroup* RepLayout::find_group(const RepScope& scope, RepHandle handle) const noexcept {
    const std::span<const RepGroup> all = groups(scope);
    const auto found = std::partition_point(all.begin(), all.end(), [&](const RepGroup& group) {
        return group.handle_end <= handle.value;
    });
    return found != all.end() && handle.value >= found->handle_begin ? &*found : nullptr;
}

Result<std::unique_ptr<RepLayout>> RepLayout::create(const TypeRegistry& registry, const Type& type,
                                                     const RepLayoutOptions& options,
                                                     MemoryResource* resource) {
    if (!registry.is_frozen()) {
        return Error{ErrorCode::RegistryNotFrozen,
                     "layout of \"" + std::string(type.name()) + "\": its registry is not frozen"};
    }
    Result<std::unique_ptr<RepLayout>> layout = build_layout(type, options, resource);
    if (layout) {
        (*layout)->registry_ = &registry;
        RepFunctionBuilder functions(**layout, options, resource);
        if (Status built = functions.build(); !built) {
            return built.error();
        }
        (*layout)->fingerprint_ = functions.fingerprint();
        (*layout)->functions_ = functions.take();
    }
    return layout;
}

Result<std::unique_ptr<RepLayout>> RepLayout::create_compatible(
    const TypeRegistry& registry, const RepLayout* local, std::span<const std::byte> description,
    LayoutPolicy policy, MemoryResource* resource) {
    return create_compatible_layout(registry, local, description, policy, resource);
}

std::optional<ParentIndex> RepLayout::find_parent(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < parents_.size(); ++i) {
        if (parents_[i].property->name == name) {
            return ParentIndex{static_cast<std::uint16_t>(i)};
        }
    }
    return std::nullopt;
}

std::optional<FunctionIndex> RepLayout::find_function(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < functions_.size(); ++i) {
        if (functions_[i].function->name == name) {
            return FunctionIndex{static_cast<std::uint16_t>(i)};
        }
    }
    return std::nullopt;
}

std::optional<FunctionIndex> RepLayout::find_function(TypeKey function) const noexcept {
    for (std::size_t i = 0; i < functions_.size() && !function.is_null(); ++i) {
        if (functions_[i].function->key == function) {
            return FunctionIndex{static_cast<std::uint16_t>(i)};
        }
    }
    return std::nullopt;
}

}  // namespace replayout
