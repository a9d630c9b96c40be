// SPDX-License-Identifier: MIT
//
// Describes the class of a prefab's objects, from which its layout is made: for each component the
// properties of its SyncVars, collections and section, and the functions that bring what properties
// cannot. Notes in the components where these are.
#include <replayout/behaviours/network_prefab.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include "behaviour_section.h"
#include "prefab_members.h"
#include "sync_section.h"

#include <algorithm>
#include <string>
#include <utility>

namespace replayout {

namespace {

// Names of functions; the name of the component and the collection stands before them. No C++ name
// has a dot.
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

/// What travels by calls goes to all who see the object, or to its owner. An owner decides no
/// section, and nothing that is for it alone.
[[nodiscard]] Status check_settings(const SyncSettings& settings, bool is_section,
                                    const std::string& prefab, const std::string& member) {
    const auto refuse = [&](const char* why) {
        return Error{ErrorCode::Unsupported, "prefab \"" + prefab + "\": " + member + why};
    };
    if (settings.sync_mode == SyncMode::ExcludeOwner) {
        return refuse(" cannot be for all but its owner");
    }
    if (settings.sync_direction != SyncDirection::ClientToServer) {
        return {};
    }
    if (is_section) {
        return refuse(" is the server's to write");
    }
    if (settings.sync_mode == SyncMode::Owner) {
        return refuse(" is for its owner alone, who decides it");
    }
    return {};
}

/// What is left of the largest interval when the sync interval is over; 0: nothing is tolerated, or
/// for ever.
[[nodiscard]] std::uint32_t sent_within_us_of(const SyncSettings& settings,
                                              const Property& variable) noexcept {
    if (settings.sync_interval_max_us == 0 || !may_tolerate(variable)) {
        return 0;
    }
    return static_cast<std::uint32_t>(
        std::max<std::int64_t>(settings.sync_interval_max_us - settings.sync_interval_us, 1));
}

/// Returns which clients are sent a variable, by its settings and those of its component.
[[nodiscard]] Result<LifetimeCondition> condition_of(SyncMode component, SyncMode variable,
                                                     SyncDirection direction) {
    const auto is_said = [&](SyncMode mode) { return component == mode || variable == mode; };
    const bool is_excluded =
        is_said(SyncMode::ExcludeOwner) || direction == SyncDirection::ClientToServer;
    if (is_said(SyncMode::Owner) && is_said(SyncMode::ExcludeOwner)) {
        return Error{ErrorCode::InvalidArgument, "is for its owner, and for all but its owner"};
    }
    if (is_said(SyncMode::Owner)) {
        // What the owner decides and only the owner is sent, nobody is sent.
        return direction == SyncDirection::ClientToServer ? LifetimeCondition::Never
                                                          : LifetimeCondition::OwnerOnly;
    }
    return is_excluded ? LifetimeCondition::SkipOwner : LifetimeCondition::None;
}

}  // namespace

class NetworkPrefab::Description {
  public:
    /// `components` are those of the prefab. `members` takes their paths.
    Description(const NetworkPrefab& prefab, std::vector<Component>& components, Members& members,
                TypeRegistry& registry)
        : prefab_(prefab),
          components_(components),
          members_(members),
          builder_(registry, TypeKind::Class, prefab.name(), prefab.block_size(),
                   prefab.block_alignment()) {}

    /// Call it once. An error names the prefab and the member.
    [[nodiscard]] Result<const Type*> build() {
        for (std::uint32_t i = 0; i < components_.size(); ++i) {
            for (const auto add : {&Description::add_variables, &Description::add_collections,
                                   &Description::add_section, &Description::add_functions,
                                   &Description::add_owner_sections}) {
                if (Status added = (this->*add)(i); !added) {
                    return added.error();
                }
            }
        }
        return builder_.build();
    }

    /// Once built: something is for the owner alone, and is sent by calls.
    [[nodiscard]] bool has_calls_for_owner() const noexcept { return has_calls_for_owner_; }

  private:
    [[nodiscard]] Status add_variables(std::uint32_t component) {
        Component& entry = components_[component];
        for (std::uint32_t index = 0; index < entry.type->sync_vars.size(); ++index) {
            MemberPath& path = members_.add({&prefab_, component, index});
            Result<Property> property = property_of(entry.type->sync_vars[index], path);
            if (!property) {
                return property.error();
            }
            entry.parents.push_back(next_parent(property->array_dim));
            builder_.property(std::move(*property));
        }
        return {};
    }

    [[nodiscard]] Result<Property> property_of(const SyncVarInfo& variable,
                                               MemberPath& path) const {
        const Component& component = components_[path.component];
        Property property = variable.property;
        property.name = member_name(path.component, property.name);
        property.offset += component.offset;
        const Result<LifetimeCondition> condition = condition_of(
            component.settings.sync_mode, variable.sync_mode, component.settings.sync_direction);
        if (!condition) {
            return Error{condition.error().code, "prefab \"" + prefab_.name() + "\": SyncVar \"" +
                                                     property.name + "\" " +
                                                     condition.error().message};
        }
        property.condition = *condition;
        property.sent_within_us = sent_within_us_of(component.settings, property);
        const bool is_owners = component.settings.sync_direction == SyncDirection::ClientToServer;
        if (variable.hook.call != nullptr || is_owners) {
            property.notify.call = Members::tell_received;
            property.notify.context = &path;
            property.notify.when = is_owners || component.settings.hook_style == HookStyle::UNet
                                       ? RepNotify::Always
                                       : RepNotify::OnChanged;
        }
        return property;
    }

    [[nodiscard]] Status add_collections(std::uint32_t component) {
        Component& entry = components_[component];
        const bool is_for_owner = entry.settings.sync_mode == SyncMode::Owner;
        for (std::uint32_t index = 0; index < entry.type->collections.size(); ++index) {
            const SyncCollectionInfo& info = entry.type->collections[index];
            const std::string& name = info.property.name;
            if (Status checked =
                    check_settings(entry.settings, false, prefab_.name(),
                                   "collection \"" + member_name(component, name) + "\"");
                !checked) {
                return checked;
            }
            const MemberPath path{&prefab_, component, index};
            Collection& collection = entry.collections.emplace_back();
            if (is_for_owner) {
                add_function(path, with_suffix(name, items_suffix), flags_of(SyncMode::Owner),
                             info.property.struct_type,
                             Members::receive_at_client<&detail::CollectionEnd::receive_state>);
                has_calls_for_owner_ = true;
            } else {
                Property property = info.property;
                property.name = member_name(component, name);
                property.offset += entry.offset;
                property.notify = {Members::tell_items, &members_.add(path), RepNotify::Always};
                collection.items = next_parent(1);
                builder_.property(std::move(property));
            }
            add_function(path, with_suffix(name, changes_suffix),
                         flags_of(entry.settings.sync_mode), info.changes,
                         Members::receive_at_client<&detail::CollectionEnd::receive_changes>);
            if (entry.settings.sync_direction == SyncDirection::ClientToServer) {
                add_owner_calls(path, info);
            }
        }
        return {};
    }

    void add_owner_calls(const MemberPath& path, const SyncCollectionInfo& info) {
        const std::string& name = info.property.name;
        const FunctionFlags to_owner = FunctionFlags::Client | FunctionFlags::Reliable;
        add_function(path, with_suffix(name, to_server_suffix),
                     FunctionFlags::Server | FunctionFlags::Reliable | FunctionFlags::Update,
                     info.changes, Members::receive_from_owner);
        add_function(path, with_suffix(name, to_owner_suffix), to_owner, info.property.struct_type,
                     Members::receive_at_client<&detail::CollectionEnd::receive_as_owner>);
        add_function(path, with_suffix(name, to_last_owner_suffix), to_owner,
                     info.property.struct_type,
                     Members::receive_at_client<&detail::CollectionEnd::receive_as_last_owner>);
    }

    [[nodiscard]] Status add_section(std::uint32_t component) {
        Component& entry = components_[component];
        if (!entry.type->has_custom_serialization) {
            return {};
        }
        if (Status checked = check_settings(entry.settings, true, prefab_.name(),
                                            "behaviour \"" + entry.type->name + "\"");
            !checked) {
            return checked;
        }
        const MemberPath path{&prefab_, component, 0};
        const TypeRegistry& registry = builder_.registry();
        const Type& call = *registry.find(type_key_of<detail::SectionCall>());
        if (entry.settings.sync_mode == SyncMode::Owner) {
            add_function(path, with_suffix(section_name, items_suffix), flags_of(SyncMode::Owner),
                         &call, Members::receive_section<true>);
            has_calls_for_owner_ = true;
        } else {
            Property property = struct_property(member_name(component, section_name),
                                                *registry.find(type_key_of<detail::SectionState>()),
                                                entry.section.offset);
            property.is_push_based = true;
            property.condition = LifetimeCondition::InitialOnly;
            property.notify = {Members::tell_initial_section, &members_.add(path),
                               RepNotify::Always};
            entry.section.initial = next_parent(1);
            builder_.property(std::move(property));
        }
        add_function(path, with_suffix(section_name, changes_suffix),
                     flags_of(entry.settings.sync_mode), &call, Members::receive_section<false>);
        return {};
    }

    /// The functions that its class has.
    [[nodiscard]] Status add_functions(std::uint32_t component) {
        const std::vector<BehaviourFunction>& functions = components_[component].type->functions;
        for (std::uint32_t index = 0; index < functions.size(); ++index) {
            const Function& function = functions[index].function;
            add_function({&prefab_, component, index}, function.name, function.flags,
                         function.parameters, call_function);
        }
        return {};
    }

    /// The calls that bring SyncVars between an owner and its server.
    [[nodiscard]] Status add_owner_sections(std::uint32_t component) {
        const Component& entry = components_[component];
        if (entry.settings.sync_direction != SyncDirection::ClientToServer) {
            return {};
        }
        const Result<const Type*> section =
            SectionSender::section_type(builder_.registry(), *entry.type);
        if (!section) {
            return section.error();
        }
        const MemberPath path{&prefab_, component, 0};
        add_function(path, SectionSender::to_server,
                     FunctionFlags::Server | FunctionFlags::Reliable | FunctionFlags::Update,
                     *section, Members::take_from_owner);
        add_function(path, SectionSender::to_owner, FunctionFlags::Client | FunctionFlags::Reliable,
                     *section, Members::take_from_server);
        return {};
    }

    void add_function(const MemberPath& path, std::string_view name, FunctionFlags flags,
                      const Type* parameters, decltype(FunctionThunk::call) call) {
        FunctionThunk thunk;
        thunk.call = call;
        thunk.context = &members_.add(path);
        builder_.function(member_name(path.component, name), flags, parameters, thunk);
    }

    /// The index in the layout of the property that is added next, which takes `count`.
    [[nodiscard]] ParentIndex next_parent(std::uint32_t count) noexcept {
        return ParentIndex{
            static_cast<std::uint16_t>(std::exchange(parent_count_, parent_count_ + count))};
    }

    const NetworkPrefab& prefab_;
    std::vector<Component>& components_;
    Members& members_;
    DynamicTypeBuilder builder_;
    std::uint32_t parent_count_ = 0;
    bool has_calls_for_owner_ = false;
};

Status NetworkPrefab::describe(TypeRegistry& registry) {
    Description description(*this, components_, *members_, registry);
    Result<const Type*> type = description.build();
    if (!type) {
        return type.error();
    }
    type_ = *type;
    has_calls_for_owner_ = description.has_calls_for_owner();
    return {};
}

void NetworkPrefab::find_functions() {
    const auto find = [&](std::size_t component, std::string_view name, std::string_view suffix) {
        return layout_->find_function(member_name(component, with_suffix(name, suffix)))
            .value_or(FunctionIndex{});
    };
    for (std::size_t i = 0; i < components_.size(); ++i) {
        Component& entry = components_[i];
        for (const BehaviourFunction& called : entry.type->functions) {
            entry.functions.push_back(find(i, called.function.name, ""));
        }
        for (std::size_t index = 0; index < entry.collections.size(); ++index) {
            const std::string& name = entry.type->collections[index].property.name;
            entry.collections[index].items_function = find(i, name, items_suffix);
            entry.collections[index].changes = find(i, name, changes_suffix);
            entry.collections[index].to_server = find(i, name, to_server_suffix);
            entry.collections[index].to_owner = find(i, name, to_owner_suffix);
            entry.collections[index].to_last_owner = find(i, name, to_last_owner_suffix);
        }
        entry.section.initial_function = find(i, section_name, items_suffix);
        entry.section.changes = find(i, section_name, changes_suffix);
        if (entry.settings.sync_direction == SyncDirection::ClientToServer) {
            entry.sync_to_server = find(i, SectionSender::to_server, "");
            entry.sync_to_owner = find(i, SectionSender::to_owner, "");
        }
    }
}

}  // namespace replayout
