// SPDX-License-Identifier: MIT
// What of a prefab travels by calls: functions of its components, operations of collections, and
// sections of who serializes himself.
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_prefab.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

#include "behaviour_section.h"

#include <string>

namespace replayout::syncvar {

namespace {

// Names of functions, behind that of the component and the collection. No C++ name has a dot.
constexpr std::string_view changes_suffix = ".changes";
constexpr std::string_view items_suffix = ".items";
constexpr std::string_view to_server_suffix = ".to_server";
constexpr std::string_view to_owner_suffix = ".to_owner";
constexpr std::string_view to_last_owner_suffix = ".to_last_owner";
constexpr std::string_view section_name = "section";

[[nodiscard]] std::string with_suffix(std::string_view name, std::string_view suffix) {
    return std::string(name) + std::string(suffix);
}

[[nodiscard]] FunctionFlags flags_of(SyncMode mode) noexcept {
    return (mode == SyncMode::Owner ? FunctionFlags::Client : FunctionFlags::Multicast) |
           FunctionFlags::Reliable;
}

/// What travels by calls goes to all who see the object, or to its owner.
[[nodiscard]] Status check_settings(const SyncSettings& settings, const std::string& prefab,
                                    const std::string& member) {
    if (settings.sync_mode == SyncMode::ExcludeOwner) {
        return Error{ErrorCode::Unsupported,
                     "prefab \"" + prefab + "\": " + member + " cannot be for all but its owner"};
    }
    return {};
}

/// What the owner decides.
[[nodiscard]] Status check_direction(const SyncSettings& settings, bool is_section,
                                     const std::string& prefab, const std::string& member) {
    if (settings.sync_direction != SyncDirection::ClientToServer) {
        return {};
    }
    if (is_section) {
        return Error{ErrorCode::Unsupported,
                     "prefab \"" + prefab + "\": " + member + " is the server's to write"};
    }
    if (settings.sync_mode == SyncMode::Owner) {
        return Error{ErrorCode::Unsupported, "prefab \"" + prefab + "\": " + member +
                                                 " is for its owner alone, who decides it"};
    }
    return {};
}

}  // namespace

void NetworkPrefab::add_function(DynamicTypeBuilder& builder, const Place& place,
                                 std::string_view name, FunctionFlags flags, const Type& parameters,
                                 decltype(FunctionThunk::call) call) {
    FunctionThunk thunk;
    thunk.call = call;
    thunk.context = &places_.emplace_back(place);
    builder.function(member_name(place.component, name), flags, &parameters, thunk);
}

Status NetworkPrefab::describe_collections(std::uint32_t component, std::uint32_t& parent,
                                           DynamicTypeBuilder& builder) {
    Component& placed = components_[component];
    const bool is_for_owner = placed.settings.sync_mode == SyncMode::Owner;
    for (std::uint32_t index = 0; index < placed.type->collections.size(); ++index) {
        const SyncCollectionInfo& info = placed.type->collections[index];
        const std::string& name = info.property.name;
        if (Status checked = check_settings(placed.settings, name_,
                                            "collection \"" + member_name(component, name) + "\"");
            !checked) {
            return checked;
        }
        if (Status checked = check_direction(placed.settings, false, name_,
                                             "collection \"" + member_name(component, name) + "\"");
            !checked) {
            return checked;
        }
        const Place place{this, component, index};
        Collection& collection = placed.collections.emplace_back();
        if (is_for_owner) {
            add_function(builder, place, with_suffix(name, items_suffix), flags_of(SyncMode::Owner),
                         *info.property.struct_type, receive_items);
            has_calls_for_owner_ = true;
        } else {
            Property property = info.property;
            property.name = member_name(component, name);
            property.offset += placed.offset;
            property.notify = {tell_items, &places_.emplace_back(place), RepNotify::Always};
            collection.items = ParentIndex{static_cast<std::uint16_t>(parent++)};
            builder.property(std::move(property));
        }
        add_function(builder, place, with_suffix(name, changes_suffix),
                     flags_of(placed.settings.sync_mode), *info.changes, receive_changes);
        if (placed.settings.sync_direction == SyncDirection::ClientToServer) {
            describe_owner_calls(place, info, builder);
        }
    }
    return {};
}

void NetworkPrefab::describe_owner_calls(const Place& place, const SyncCollectionInfo& info,
                                         DynamicTypeBuilder& builder) {
    const std::string& name = info.property.name;
    const FunctionFlags to_owner = FunctionFlags::Client | FunctionFlags::Reliable;
    add_function(builder, place, with_suffix(name, to_server_suffix),
                 FunctionFlags::Server | FunctionFlags::Reliable | FunctionFlags::Update,
                 *info.changes, receive_from_owner);
    add_function(builder, place, with_suffix(name, to_owner_suffix), to_owner,
                 *info.property.struct_type, receive_as_owner);
    add_function(builder, place, with_suffix(name, to_last_owner_suffix), to_owner,
                 *info.property.struct_type, receive_as_last_owner);
}

Status NetworkPrefab::describe_section(std::uint32_t component, const TypeRegistry& registry,
                                       std::uint32_t& parent, DynamicTypeBuilder& builder) {
    Component& placed = components_[component];
    if (!placed.type->has_custom_serialization) {
        return {};
    }
    if (Status checked =
            check_settings(placed.settings, name_, "behaviour \"" + placed.type->name + "\"");
        !checked) {
        return checked;
    }
    if (Status checked = check_direction(placed.settings, true, name_,
                                         "behaviour \"" + placed.type->name + "\"");
        !checked) {
        return checked;
    }
    const Place place{this, component, 0};
    const Type& call = *registry.find(type_key_of<detail::SectionCall>());
    if (placed.settings.sync_mode == SyncMode::Owner) {
        add_function(builder, place, with_suffix(section_name, items_suffix),
                     flags_of(SyncMode::Owner), call, receive_initial_section);
        has_calls_for_owner_ = true;
    } else {
        Property property = struct_property(member_name(component, section_name),
                                            *registry.find(type_key_of<detail::SectionState>()),
                                            placed.section.offset);
        property.is_push_based = true;
        property.condition = LifetimeCondition::InitialOnly;
        property.notify = {tell_initial_section, &places_.emplace_back(place), RepNotify::Always};
        placed.section.initial = ParentIndex{static_cast<std::uint16_t>(parent++)};
        builder.property(std::move(property));
    }
    add_function(builder, place, with_suffix(section_name, changes_suffix),
                 flags_of(placed.settings.sync_mode), call, receive_section);
    return {};
}

void NetworkPrefab::find_functions() {
    const auto find = [&](std::size_t component, std::string_view name, std::string_view suffix) {
        return layout_->find_function(member_name(component, with_suffix(name, suffix)))
            .value_or(FunctionIndex{});
    };
    for (std::size_t i = 0; i < components_.size(); ++i) {
        Component& placed = components_[i];
        for (const BehaviourFunction& called : placed.type->functions) {
            placed.functions.push_back(find(i, called.function.name, ""));
        }
        for (std::size_t index = 0; index < placed.collections.size(); ++index) {
            const std::string& name = placed.type->collections[index].property.name;
            placed.collections[index].items_function = find(i, name, items_suffix);
            placed.collections[index].changes = find(i, name, changes_suffix);
            placed.collections[index].to_server = find(i, name, to_server_suffix);
            placed.collections[index].to_owner = find(i, name, to_owner_suffix);
            placed.collections[index].to_last_owner = find(i, name, to_last_owner_suffix);
        }
        placed.section.initial_function = find(i, section_name, items_suffix);
        placed.section.changes = find(i, section_name, changes_suffix);
    }
}

NetworkBehaviour& NetworkPrefab::behaviour_at(void* block, const void* place) noexcept {
    const auto& [prefab, component, index] = *static_cast<const Place*>(place);
    const Component& placed = prefab->components_[component];
    return *reinterpret_cast<NetworkBehaviour*>(static_cast<std::byte*>(block) + placed.offset +
                                                placed.type->behaviour_offset);
}

// A multicast runs on the server, too, which has it all.

void NetworkPrefab::receive_changes(void* block, const void* params, void* place) {
    const NetworkBehaviour& behaviour = behaviour_at(block, place);
    if (!behaviour.is_server()) {
        behaviour.collection(static_cast<const Place*>(place)->index).receive_changes(params);
    }
}

void NetworkPrefab::receive_from_owner(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = behaviour_at(block, place);
    if (behaviour.is_server()) {
        behaviour.server().take_operations(
            behaviour, behaviour.collection(static_cast<const Place*>(place)->index), params);
    }
}

void NetworkPrefab::receive_as_owner(void* block, const void* params, void* place) {
    const NetworkBehaviour& behaviour = behaviour_at(block, place);
    if (!behaviour.is_server()) {
        behaviour.collection(static_cast<const Place*>(place)->index).receive_as_owner(params);
    }
}

void NetworkPrefab::receive_as_last_owner(void* block, const void* params, void* place) {
    const NetworkBehaviour& behaviour = behaviour_at(block, place);
    if (!behaviour.is_server()) {
        behaviour.collection(static_cast<const Place*>(place)->index).receive_as_last_owner(params);
    }
}

void NetworkPrefab::receive_items(void* block, const void* params, void* place) {
    const NetworkBehaviour& behaviour = behaviour_at(block, place);
    if (!behaviour.is_server()) {
        behaviour.collection(static_cast<const Place*>(place)->index).receive_state(params);
    }
}

void NetworkPrefab::tell_items(void* block, const void* /*previous*/, void* place) {
    NetworkBehaviour& behaviour = behaviour_at(block, place);
    behaviour.collection(static_cast<const Place*>(place)->index).items_received();
}

void NetworkPrefab::receive_section(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = behaviour_at(block, place);
    if (behaviour.is_server()) {
        return;
    }
    const detail::SectionParameters& received =
        static_cast<const detail::SectionCall*>(params)->section;
    std::uint32_t& number = behaviour.section().state.section.number;
    // Those before it the initial section contains, and one behind a gap is for who has that.
    if (received.number == number) {
        ++number;
        behaviour.section_received(received, false);
    }
}

void NetworkPrefab::receive_initial_section(void* block, const void* params, void* place) {
    NetworkBehaviour& behaviour = behaviour_at(block, place);
    if (behaviour.is_server()) {
        return;
    }
    const detail::SectionParameters& received =
        static_cast<const detail::SectionCall*>(params)->section;
    behaviour.section().state.section.number = received.number;
    behaviour.section_received(received, true);
}

void NetworkPrefab::tell_initial_section(void* block, const void* /*previous*/, void* place) {
    NetworkBehaviour& behaviour = behaviour_at(block, place);
    detail::SectionParameters& section = behaviour.section().state.section;
    behaviour.section_received(section, true);
    section.bytes = {};
}

}  // namespace replayout::syncvar
