// SPDX-License-Identifier: MIT
#include <replayout/keyed_array.h>
#include <replayout/quantise.h>
#include <replayout/reflection/math.h>
#include <replayout/reflection/type.h>
#include <replayout/shadow_state.h>

#include "rep_layout_builder.h"
#include "spare_room.h"
#include "struct_value.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace replayout {

namespace {

template <typename Visitor>
void for_each_leaf(const RepLayout& layout, const RepScope& scope, Visitor visit) {
    CmdIndex index = scope.cmd_start;
    while (layout.cmd(index).type != RepLayoutCmdType::Return) {
        visit(layout.cmd(index), index);
        index = layout.cmd(index).end_cmd;
    }
}

[[nodiscard]] const TypeOps& struct_ops(const RepLayoutCmd& cmd) noexcept {
    return cmd.property->struct_type->ops();
}

}  // namespace

ShadowFootprint shadow_footprint(RepLayoutCmdType type, const Property& property) {
    switch (type) {
        case RepLayoutCmdType::String:
            return {sizeof(PmrString), alignof(PmrString)};
        case RepLayoutCmdType::Object:
            return {sizeof(ShadowReference), alignof(ShadowReference)};
        case RepLayoutCmdType::NetSerializeStruct:
        case RepLayoutCmdType::NetDeltaStruct:
            return {property.struct_type->size(), property.struct_type->alignment()};
        case RepLayoutCmdType::DynamicArray:
            return {sizeof(ShadowArray), alignof(ShadowArray)};
        case RepLayoutCmdType::KeyedArray:
            return {sizeof(ShadowKeyedArray), alignof(ShadowKeyedArray)};
        case RepLayoutCmdType::Quantised:
            return {quantised_size(property.quantisation), 1};
        default:
            return {property.size, 1};
    }
}

void ShadowMemory::construct(const RepScope& scope, ShadowBuffer memory) const {
    constexpr std::array<std::byte, sizeof(Quat)> zeros{};  // no quantised value is larger
    std::memset(memory.data(), 0, scope.shadow_size);
    for_each_leaf(*layout_, scope, [&](const RepLayoutCmd& cmd, CmdIndex) {
        void* leaf = (memory + cmd.shadow_offset).data();
        switch (cmd.type) {
            case RepLayoutCmdType::String:
                ::new (leaf) PmrString(resource_);
                break;
            case RepLayoutCmdType::Object:
                ::new (leaf) ShadowReference();
                break;
            case RepLayoutCmdType::NetSerializeStruct:
            case RepLayoutCmdType::NetDeltaStruct:
                struct_ops(cmd).construct(leaf);
                break;
            case RepLayoutCmdType::DynamicArray:
                ::new (leaf) ShadowArray();
                break;
            case RepLayoutCmdType::KeyedArray:
                ::new (leaf) ShadowKeyedArray(resource_);
                break;
            case RepLayoutCmdType::Quantised:
                // Of zero bytes, as they stand beside it now.
                store_quantised(quantise(*cmd.property, zeros.data()),
                                static_cast<std::byte*>(leaf),
                                quantised_size(cmd.property->quantisation));
                break;
            default:
                break;
        }
    });
}

void ShadowMemory::destroy(const RepScope& scope, ShadowBuffer memory) const noexcept {
    for_each_leaf(*layout_, scope, [&](const RepLayoutCmd& cmd, CmdIndex index) {
        const ShadowBuffer leaf = memory + cmd.shadow_offset;
        switch (cmd.type) {
            case RepLayoutCmdType::String:
                std::destroy_at(&shadow_value<PmrString>(leaf));
                break;
            case RepLayoutCmdType::NetSerializeStruct:
            case RepLayoutCmdType::NetDeltaStruct:
                struct_ops(cmd).destroy(leaf.data());
                break;
            case RepLayoutCmdType::DynamicArray:
                free_array(layout_->element_scope(index), shadow_value<ShadowArray>(leaf));
                break;
            case RepLayoutCmdType::KeyedArray: {
                auto& array = shadow_value<ShadowKeyedArray>(leaf);
                free_array(layout_->element_scope(index), array.elements);
                free_array(layout_->element_scope(index), array.scratch.elements);
                std::destroy_at(&array);
                break;
            }
            default:
                break;
        }
    });
}

void ShadowMemory::copy(const RepScope& scope, ShadowBuffer target,
                        ConstShadowBuffer source) const {
    for (const CompareRun& run :
         layout_->runs().subspan(scope.run_start, scope.run_end - scope.run_start)) {
        std::memcpy((target + run.shadow_offset).data(), (source + run.shadow_offset).data(),
                    run.size);
    }
    for_each_leaf(*layout_, scope, [&](const RepLayoutCmd& cmd, CmdIndex index) {
        const ShadowBuffer to = target + cmd.shadow_offset;
        const ConstShadowBuffer from = source + cmd.shadow_offset;
        switch (cmd.type) {
            case RepLayoutCmdType::String:
                assign_text(shadow_value<PmrString>(to), shadow_value<PmrString>(from));
                break;
            case RepLayoutCmdType::Object:
                shadow_value<ShadowReference>(to) = shadow_value<ShadowReference>(from);
                break;
            case RepLayoutCmdType::NetSerializeStruct:
            case RepLayoutCmdType::NetDeltaStruct:
                copy_struct(*cmd.property->struct_type, to.data(), from.data());
                break;
            case RepLayoutCmdType::DynamicArray:
                copy_array(cmd, layout_->element_scope(index), shadow_value<ShadowArray>(to),
                           shadow_value<ShadowArray>(from));
                break;
            case RepLayoutCmdType::KeyedArray: {
                const auto& from_array = shadow_value<ShadowKeyedArray>(from);
                auto& to_array = shadow_value<ShadowKeyedArray>(to);
                copy_array(cmd, layout_->element_scope(index), to_array.elements,
                           from_array.elements);
                to_array.items = from_array.items;
                for (ShadowKeyedArray::Item& item : to_array.items) {
                    item.created = 0;
                    item.rank_version = 0;
                }
                to_array.by_key = from_array.by_key;
                to_array.deletions.clear();
                to_array.removal_counts.clear();
                to_array.removed_count = 0;
                to_array.first_changed = 0;
                to_array.forgotten_through = 0;
                to_array.begins_empty = from_array.items.empty();
                to_array.mark = from_array.mark;
                to_array.is_unseen = true;
                break;
            }
            default:
                if (!is_plain(cmd.type)) {  // these lie in runs
                    std::memcpy(to.data(), from.data(),
                                shadow_footprint(cmd.type, *cmd.property).size);
                }
                break;
        }
    });
}

void ShadowMemory::name_references(const RepScope& scope, ShadowBuffer memory, NetGUID placeholder,
                                   PackageMap& package_map) const {
    for_each_leaf(*layout_, scope, [&](const RepLayoutCmd& cmd, CmdIndex index) {
        const ShadowBuffer leaf = memory + cmd.shadow_offset;
        if (cmd.type == RepLayoutCmdType::Object) {
            auto& reference = shadow_value<ShadowReference>(leaf);
            if (reference.guid == placeholder) {
                reference.guid = package_map.guid_of(reference.object);
            }
        } else if (cmd.type == RepLayoutCmdType::DynamicArray) {
            const auto& array = shadow_value<ShadowArray>(leaf);
            const RepScope& element = layout_->element_scope(index);
            for (std::uint32_t i = 0; i < array.count; ++i) {
                name_references(element, ShadowBuffer(array.elements + i * element.shadow_size),
                                placeholder, package_map);
            }
        }
    });
}

void ShadowMemory::copy_array(const RepLayoutCmd& cmd, const RepScope& element, ShadowArray& target,
                              const ShadowArray& source) const {
    resize_array(cmd, element, target, source.count);
    target.count_version = 0;
    std::fill_n(target.versions, std::size_t{target.count} * element.handle_count, Version{0});
    for (std::uint32_t i = 0; i < source.count; ++i) {
        copy(element, ShadowBuffer(target.elements + i * element.shadow_size),
             ConstShadowBuffer(source.elements + i * element.shadow_size));
    }
}

void ShadowMemory::make_room(const RepScope& element, ShadowArray& to,
                             std::uint32_t capacity) const {
    REPLAYOUT_ASSERT(to.count == 0);
    if (capacity > to.capacity) {
        reserve_array(element, to, std::max(capacity, to.capacity * 2));
    } else {
        give_back_room(element, to, capacity);
    }
}

void ShadowMemory::move_element(const RepScope& element, ShadowArray& from, std::uint32_t index,
                                ShadowArray& to) const {
    REPLAYOUT_ASSERT(to.count < to.capacity);
    relocate(element, ShadowBuffer(to.elements + to.count * element.shadow_size),
             ShadowBuffer(from.elements + index * element.shadow_size));
    std::copy_n(from.versions + std::size_t{index} * element.handle_count, element.handle_count,
                to.versions + std::size_t{to.count} * element.handle_count);
    ++to.count;
}

void ShadowMemory::append_element(const RepScope& element, ShadowArray& to) const {
    REPLAYOUT_ASSERT(to.count < to.capacity);
    construct(element, ShadowBuffer(to.elements + to.count * element.shadow_size));
    std::fill_n(to.versions + std::size_t{to.count} * element.handle_count, element.handle_count,
                Version{0});
    ++to.count;
}

void ShadowMemory::destroy_element(const RepScope& element, ShadowArray& array,
                                   std::uint32_t index) const noexcept {
    destroy(element, ShadowBuffer(array.elements + index * element.shadow_size));
}

void ShadowMemory::relocate(const RepScope& scope, ShadowBuffer target, ShadowBuffer source) const {
    // Right as bytes for all but two kinds; a nested array changes hands with its pointers.
    std::memcpy(target.data(), source.data(), scope.shadow_size);
    for_each_leaf(*layout_, scope, [&](const RepLayoutCmd& cmd, CmdIndex) {
        void* to = (target + cmd.shadow_offset).data();
        void* from = (source + cmd.shadow_offset).data();
        if (cmd.type == RepLayoutCmdType::String) {
            auto& text = *static_cast<PmrString*>(from);
            ::new (to) PmrString(std::move(text));
            std::destroy_at(&text);
        } else if (cmd.type == RepLayoutCmdType::NetSerializeStruct ||
                   cmd.type == RepLayoutCmdType::NetDeltaStruct) {
            struct_ops(cmd).copy_construct(to, from);
            struct_ops(cmd).destroy(from);
        }
    });
}

void ShadowMemory::resize_array(const RepLayoutCmd& cmd, const RepScope& element,
                                ShadowArray& array, std::uint32_t count) const {
    REPLAYOUT_ASSERT(is_array(cmd.type));
    if (count > array.capacity) {
        reserve_array(element, array, std::max(count, array.capacity * 2));
    }
    for (std::uint32_t i = count; i < array.count; ++i) {
        destroy(element, ShadowBuffer(array.elements + i * element.shadow_size));
    }
    for (std::uint32_t i = array.count; i < count; ++i) {
        construct(element, ShadowBuffer(array.elements + i * element.shadow_size));
        std::fill_n(array.versions + i * element.handle_count, element.handle_count, Version{0});
    }
    array.count = count;
    give_back_room(element, array, count);
}

void ShadowMemory::give_back_room(const RepScope& element, ShadowArray& array,
                                  std::uint32_t count) const {
    const std::size_t element_bytes = element.shadow_size + element.handle_count * sizeof(Version);
    if (has_spare_room(count * element_bytes, array.capacity * element_bytes)) {
        reserve_array(element, array, count * 2);
    }
}

void ShadowMemory::reserve_array(const RepScope& element, ShadowArray& array,
                                 std::uint32_t capacity) const {
    if (capacity == 0) {
        const Version count_version = array.count_version;
        free_array(element, array);
        array.count_version = count_version;
        return;
    }
    auto* elements = static_cast<std::byte*>(
        resource_->allocate(std::size_t{capacity} * element.shadow_size, element.shadow_alignment));
    auto* versions = static_cast<Version*>(resource_->allocate(
        std::size_t{capacity} * element.handle_count * sizeof(Version), alignof(Version)));
    for (std::uint32_t i = 0; i < array.count; ++i) {
        relocate(element, ShadowBuffer(elements + i * element.shadow_size),
                 ShadowBuffer(array.elements + i * element.shadow_size));
    }
    std::copy_n(array.versions, std::size_t{array.count} * element.handle_count, versions);
    const std::uint32_t count = array.count;
    const Version count_version = array.count_version;
    array.count = 0;
    free_array(element, array);
    array = {elements, versions, count, capacity, count_version};
}

void ShadowMemory::free_array(const RepScope& element, ShadowArray& array) const noexcept {
    for (std::uint32_t i = 0; i < array.count; ++i) {
        destroy(element, ShadowBuffer(array.elements + i * element.shadow_size));
    }
    if (array.capacity > 0) {
        resource_->deallocate(array.elements, std::size_t{array.capacity} * element.shadow_size,
                              element.shadow_alignment);
        resource_->deallocate(array.versions,
                              std::size_t{array.capacity} * element.handle_count * sizeof(Version),
                              alignof(Version));
    }
    array = ShadowArray();
}

ShadowState::ShadowState(const RepLayout& layout, MemoryResource* resource)
    : layout_(&layout),
      resource_(resource),
      memory_(layout, resource),
      bytes_(static_cast<std::byte*>(resource->allocate(std::max(layout.root().shadow_size, 1u),
                                                        layout.root().shadow_alignment))) {
    REPLAYOUT_ASSERT(!layout.is_receive_only());
    memory_.construct(layout.root(), buffer());
}

ShadowState::~ShadowState() {
    memory_.destroy(layout_->root(), buffer());
    resource_->deallocate(bytes_, std::max(layout_->root().shadow_size, 1u),
                          layout_->root().shadow_alignment);
}

}  // namespace replayout
