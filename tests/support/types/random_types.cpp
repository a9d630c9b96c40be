// SPDX-License-Identifier: MIT
#include "support/types/random_types.h"

#include "support/types/collection_types.h"
#include "support/types/net_serializer_structs.h"
#include "support/types/tree_editor.h"
#include "support/types/value_tree.h"

#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/math.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace replayout::test {

namespace {

constexpr PropertyKind plain_kinds[] = {
    PropertyKind::Bool,   PropertyKind::Int8,  PropertyKind::Int16,   PropertyKind::Int32,
    PropertyKind::Int64,  PropertyKind::UInt8, PropertyKind::UInt16,  PropertyKind::UInt32,
    PropertyKind::UInt64, PropertyKind::Float, PropertyKind::Double,  PropertyKind::Enum,
    PropertyKind::Vector, PropertyKind::Quat,  PropertyKind::Rotator, PropertyKind::BitBool,
};

// How often what occurs, out of 100; the rest is plain.
constexpr std::uint32_t string_percent = 9;
constexpr std::uint32_t name_percent = 5;
constexpr std::uint32_t reference_percent = 12;
constexpr std::uint32_t struct_percent = 14;
constexpr std::uint32_t array_percent = 14;

template <typename T>
[[nodiscard]] T value_of(Result<T> result) {
    if (!result) {
        std::fprintf(stderr, "%s\n", result.error().message.c_str());
        std::abort();  // a mistake of this file
    }
    return *std::move(result);
}

[[nodiscard]] std::uint32_t align_up(std::uint32_t offset, std::uint32_t alignment) noexcept {
    return (offset + alignment - 1) / alignment * alignment;
}

[[nodiscard]] std::uint32_t alignment_of(const Property& property) noexcept {
    switch (property.kind) {
        case PropertyKind::Struct:
            return property.struct_type->alignment();
        case PropertyKind::Vector:
        case PropertyKind::Rotator:
        case PropertyKind::Quat:
            return alignof(float);
        case PropertyKind::BitBool:
            return 1;
        default:
            return is_plain(property.kind) ? property.size : property.ops.alignment;
    }
}

/// Bytes are all there is to the value, so a struct of such members needs no operations.
[[nodiscard]] bool is_plain_value(const Property& property) noexcept {
    if (property.kind == PropertyKind::Struct) {
        const Type& type = *property.struct_type;
        const auto members = type.properties();
        return !type.traits().has_net_serializer && !type.traits().has_net_delta_serializer &&
               type.ops().destroy == nullptr &&
               std::all_of(members.begin(), members.end(), is_plain_value);
    }
    return is_plain(property.kind) || property.kind == PropertyKind::BitBool;
}

/// Bits that follow each other share a byte. Where the property goes if it shares that of the one
/// before, or false.
[[nodiscard]] bool share_byte(Property& property, const Property* before) noexcept {
    if (before == nullptr || before->kind != PropertyKind::BitBool ||
        property.kind != PropertyKind::BitBool || before->bit_mask == 0x80) {
        return false;
    }
    property.offset = before->offset;
    property.bit_mask = static_cast<std::uint8_t>(before->bit_mask << 1);
    return true;
}

}  // namespace

RandomTypes::RandomTypes(std::uint64_t seed, const RandomTypesSettings& settings)
    : random_(seed),
      variation_(settings.variation_seed),
      traits_(seed),
      settings_(settings),
      net_serializer_structs_(add_net_serializer_structs(registry_)),
      collections_(add_collections(registry_)),
      net_delta_struct_(add_net_delta_struct(registry_)) {
    for (std::uint32_t i = 0; i < settings_.class_count; ++i) {
        classes_.push_back(add_class());
    }
    if (const Status frozen = registry_.freeze(); !frozen) {
        std::abort();
    }
    for (const Type* type : classes_) {
        add_layout(*type);
    }
}

std::uint32_t RandomTypes::index_of(const RepLayout& layout) const {
    const auto found = std::find_if(layouts_.begin(), layouts_.end(), [&](const auto& candidate) {
        return candidate.get() == &layout;
    });
    return static_cast<std::uint32_t>(found - layouts_.begin());
}

void RandomTypes::add_layout(const Type& type) {
    // An archetype of its own values: what a fresh object equals is not all zero.
    auto archetype = std::make_unique<RawObject>(type);
    TreeEditLimits limits;
    limits.array_count_max = std::min(4u, settings_.limits.array_count_max);
    limits.property_bytes_max = 256;
    limits.leaves_items_unmarked = false;  // a client would have them for ever
    TreeEditor editor(random_.bits(), limits, [] { return Reference(); });
    if (settings_.has_archetype_values && random_.percent(60)) {
        (void)editor.edit(*archetype, random_.between(1, 8));
    }
    RepLayoutOptions options;
    options.limits = settings_.limits;
    options.archetype = archetype->memory();
    layouts_.push_back(value_of(RepLayout::create(registry_, type, options)));
    archetypes_.push_back(std::move(archetype));
}

std::unique_ptr<RawObject> RandomTypes::make_object(std::uint32_t index) const {
    const RawObject& archetype = *archetypes_.at(index);
    auto object = std::make_unique<RawObject>(archetype.type());
    object->assign(archetype);
    return object;
}

const Type* RandomTypes::pick_type(const std::vector<const Type*>& candidates,
                                   std::uint32_t depth) {
    if (candidates.empty() || !random_.percent(35)) {
        return nullptr;
    }
    const Type* type = random_.pick(candidates);
    return type->nesting_depth() + depth <= settings_.depth_max ? type : nullptr;
}

const Type* RandomTypes::add_class() {
    const Type* base = pick_type(classes_, 0);
    const std::uint32_t count = random_.between(1, settings_.property_count_max);
    std::vector<Property> properties = make_properties(count, 0);
    const std::string name = "Class" + std::to_string(name_count_++);
    for (Property& property : properties) {
        add_notify(property, name);
    }
    if (base == nullptr) {
        const auto place = std::min<std::size_t>(random_.below(count + 1), properties.size());
        properties.insert(properties.begin() + static_cast<std::ptrdiff_t>(place),
                          plain_property(version_name, PropertyKind::UInt32));
    }
    for (Property& property : properties) {
        set_traits(property);
    }
    return add_type(TypeKind::Class, name, base, std::move(properties));
}

void RandomTypes::set_traits(Property& property) {
    using Condition = LifetimeCondition;
    constexpr Condition moving[] = {Condition::InitialOnly, Condition::OwnerOnly,
                                    Condition::SkipOwner, Condition::Custom, Condition::Custom};
    // To these a receiver is what it was at first, but for its being the owner.
    constexpr Condition others[] = {Condition::InitialOrOwner,
                                    Condition::ReplayOrOwner,
                                    Condition::SimulatedOnly,
                                    Condition::AutonomousOnly,
                                    Condition::SimulatedOnlyNoReplay,
                                    Condition::ReplayOnly,
                                    Condition::SimulatedOrPhysics,
                                    Condition::SkipReplay,
                                    Condition::Dynamic,
                                    Condition::Never,
                                    Condition::SimulatedOrPhysicsNoReplay};
    if (!property.is_replicated) {
        return;
    }
    property.is_push_based = traits_.percent(settings_.push_based_percent);
    if (settings_.condition_percent > 0 && traits_.percent(settings_.condition_percent)) {
        property.condition = traits_.percent(65) ? traits_.pick(moving) : traits_.pick(others);
    }
}

ReceiveHooks RandomTypes::make_hooks(const std::string& type_name) {
    ReceiveHooks hooks;
    using Hook = HookEvent::Hook;
    for (const auto& [hook, member] :
         {std::pair(Hook::PreNetReceive, &ReceiveHooks::pre_net_receive),
          std::pair(Hook::PostNetReceive, &ReceiveHooks::post_net_receive),
          std::pair(Hook::PostRepNotifies, &ReceiveHooks::post_rep_notifies)}) {
        if (traits_.percent(50)) {
            hook_points_.push_back({this, type_name, hook});
            hooks.*member = {call_hook, &hook_points_.back()};
        }
    }
    return hooks;
}

const Type* RandomTypes::add_struct(std::uint32_t depth) {
    const Type* base = pick_type(structs_, depth);
    std::vector<Property> properties = make_properties(random_.between(1, 5), depth);
    const std::string name = "Struct" + std::to_string(name_count_++);
    const Type* type = add_type(TypeKind::Struct, name, base, std::move(properties));
    structs_.push_back(type);
    return type;
}

const Type* RandomTypes::add_keyed_struct(std::uint32_t key_size, bool is_item,
                                          std::uint32_t& key_offset) {
    std::vector<Property> properties = make_properties(random_.between(1, 4), 1);
    const std::string key_name = "key" + std::to_string(name_count_++);
    if (!is_item) {
        Property key = enum_property(key_name, key_size);
        key.is_replicated = random_.percent(80);
        const auto place = random_.below(static_cast<std::uint32_t>(properties.size()) + 1);
        properties.insert(properties.begin() + place, std::move(key));
    }
    const std::string name = "Struct" + std::to_string(name_count_++);
    const Type* type =
        add_type(TypeKind::Struct, name, pick_type(structs_, 1), std::move(properties), is_item);
    key_offset = is_item ? std::uint32_t{offsetof(ItemHeader, replication_id)}
                         : type->find_property(key_name)->offset;
    return type;
}

const Type* RandomTypes::add_struct_of_keyed() {
    std::vector<Property> properties = make_properties(random_.between(1, 3), 1);
    for (std::uint32_t i = random_.between(1, 2); i > 0; --i) {
        Property property = make_keyed_property(false);
        property.name = "p" + std::to_string(name_count_++);
        const auto place = random_.below(static_cast<std::uint32_t>(properties.size()) + 1);
        properties.insert(properties.begin() + place, std::move(property));
    }
    return add_type(TypeKind::Struct, "Struct" + std::to_string(name_count_++), nullptr,
                    std::move(properties));
}

const Type* RandomTypes::add_type(TypeKind kind, const std::string& name, const Type* base,
                                  std::vector<Property> properties, bool is_item) {
    const bool has_header =
        is_item || (kind == TypeKind::Struct &&
                    !(std::all_of(properties.begin(), properties.end(), is_plain_value) &&
                      (base == nullptr || base->ops().destroy == nullptr)));
    std::uint32_t size = has_header ? struct_header_bytes : 0;
    size = is_item ? std::uint32_t{sizeof(ItemHeader)} : size;
    std::uint32_t alignment = has_header ? std::uint32_t{alignof(const Type*)} : 1;
    std::uint32_t base_offset = 0;
    if (base != nullptr) {
        alignment = std::max(alignment, base->alignment());
        // A base need not come first.
        base_offset = align_up(size + (random_.percent(30) ? 8 : 0), base->alignment());
        size = base_offset + base->size();
    }
    const Property* before = nullptr;
    for (Property& property : properties) {
        const bool is_placed = share_byte(property, std::exchange(before, &property));
        if (is_placed) {
            continue;
        }
        property.offset = align_up(size, alignment_of(property));
        size = property.offset + property.size * property.array_dim;
        alignment = std::max(alignment, alignment_of(property));
    }
    size = align_up(size, alignment);
    DynamicTypeBuilder builder(registry_, kind, name, size, alignment);
    if (base != nullptr) {
        builder.base(*base, base_offset);
    }
    if (has_header) {
        builder.ops(is_item ? headed_item_ops(size, alignment)
                            : headed_struct_ops(size, alignment));
    }
    if (kind == TypeKind::Struct) {
        StructTraits traits;
        // What has a delta cannot be, see RepLayout.
        traits.is_atomic =
            random_.percent(25) &&
            std::none_of(properties.begin(), properties.end(), [this](const Property& property) {
                return property.struct_type == net_delta_struct_;
            });
        builder.traits(traits);
    }
    for (Property& property : properties) {
        builder.property(std::move(property));
    }
    if (kind == TypeKind::Class) {
        builder.hooks(make_hooks(name));
    }
    return value_of(builder.build());
}

std::vector<Property> RandomTypes::make_properties(std::uint32_t count, std::uint32_t depth) {
    std::vector<Property> properties;
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool is_keyed =
            depth == 0 && settings_.keyed_percent > 0 && random_.percent(settings_.keyed_percent);
        Property property = is_keyed ? make_keyed_property(true) : make_property(depth);
        property.name = "p" + std::to_string(name_count_++);
        property.array_dim = random_.percent(depth == 0 ? 12 : 5) ? random_.between(2, 4) : 1;
        property.array_dim = property.kind == PropertyKind::BitBool ? 1 : property.array_dim;
        property.is_replicated = i == 0 || !random_.percent(6);
        properties.push_back(std::move(property));
    }
    if (settings_.variation_seed != 0) {
        vary(properties);
    }
    return properties;
}

void RandomTypes::vary(std::vector<Property>& properties) {
    for (std::size_t i = 0; i < properties.size(); ++i) {
        switch (variation_.below(14)) {
            case 0:
                if (properties.size() > 1) {
                    properties.erase(properties.begin() + static_cast<std::ptrdiff_t>(i--));
                }
                break;
            case 1:
                properties[i].name += "_renamed";
                break;
            case 2: {
                Property retyped = plain_property(properties[i].name, variation_.percent(50)
                                                                          ? PropertyKind::UInt16
                                                                          : PropertyKind::Double);
                properties[i] = std::move(retyped);
                break;
            }
            case 3:
                properties[i].quantisation = Quantisation();
                break;
            case 4:
                properties[i].array_dim += properties[i].array_dim > 1 ? 1u : 0u;
                break;
            case 5:
            case 6:
                std::swap(properties[i],
                          properties[variation_.below(static_cast<std::uint32_t>(i) + 1)]);
                break;
            default:
                break;
        }
    }
}

Property RandomTypes::make_property(std::uint32_t depth) {
    std::uint32_t draw = random_.below(100);
    const auto is_drawn = [&draw](std::uint32_t percent) {
        const bool is_it = draw < percent;
        draw -= is_it ? 0 : percent;
        return is_it;
    };
    if (is_drawn(string_percent)) {
        return string_property<std::string>("");
    }
    if (is_drawn(name_percent)) {
        return name_property("", registry_.names());
    }
    if (is_drawn(reference_percent)) {
        return handle_property("");
    }
    if (is_drawn(struct_percent)) {
        return make_struct_property(depth);
    }
    if (is_drawn(array_percent) && depth < settings_.depth_max) {
        return make_array_property(depth);
    }
    return make_plain_property();
}

Property RandomTypes::make_plain_property() {
    const PropertyKind kind = random_.pick(plain_kinds);
    constexpr std::uint32_t enum_sizes[] = {1, 2, 4, 8};
    Property property = kind == PropertyKind::Enum ? enum_property("", random_.pick(enum_sizes))
                                                   : plain_property("", kind);
    property.bit_mask = kind == PropertyKind::BitBool ? 1 : 0;
    if (random_.percent(40)) {
        property.quantisation = make_quantisation(property);
    }
    return property;
}

Quantisation RandomTypes::make_quantisation(const Property& property) {
    constexpr double steps[] = {0.001, 0.03, 0.5};
    switch (property.kind) {
        case PropertyKind::Vector: {
            const Quantisation forms[] = {Quantisation::whole(), Quantisation::tenth(),
                                          Quantisation::hundredth(), Quantisation::normal()};
            return random_.pick(forms);
        }
        case PropertyKind::Rotator:
            return Quantisation::angles(random_.percent(50) ? 8 : 16);
        case PropertyKind::Quat:
            return Quantisation::smallest_three(static_cast<std::uint8_t>(random_.between(6, 20)));
        case PropertyKind::Float:
        case PropertyKind::Double:
            return Quantisation::steps(-1.0, random_.percent(50) ? 1.0 : 250.0,
                                       random_.pick(steps));
        case PropertyKind::Bool:
        case PropertyKind::BitBool:
            return {};
        default: {
            const bool is_signed = property.kind <= PropertyKind::Int64;
            const std::int64_t min = is_signed && random_.percent(50) ? -100 : 0;
            return Quantisation::range(min, random_.between(1, 120));
        }
    }
}

Property RandomTypes::make_struct_property(std::uint32_t depth) {
    if (depth >= settings_.depth_max || random_.percent(40)) {
        return struct_property("", random_.percent(50) ? *random_.pick(collections_)
                                                       : *random_.pick(net_serializer_structs_));
    }
    const Type* known = pick_type(structs_, depth + 1);
    return struct_property("", known != nullptr ? *known : *add_struct(depth + 1));
}

Property RandomTypes::make_array_property(std::uint32_t depth) {
    Property element = make_property(depth + 1);
    while (element.kind == PropertyKind::BitBool) {
        element = make_plain_property();
    }
    if (random_.percent(30)) {
        return optional_property("", std::move(element), RawArray::array_ops(),
                                 RawArray::type_ops());
    }
    return array_property("", std::move(element), RawArray::array_ops(), RawArray::type_ops());
}

Property RandomTypes::make_keyed_property(bool may_be_struct) {
    const std::uint32_t draw = random_.below(may_be_struct ? 10 : 8);
    if (draw < 4) {
        return make_keyed_array(false);
    }
    if (draw < 7) {
        return make_keyed_array(true);
    }
    return struct_property("", draw == 7 ? *net_delta_struct_ : *add_struct_of_keyed());
}

Property RandomTypes::make_keyed_array(bool is_fast) {
    constexpr std::uint32_t sizes[] = {1, 2, 4, 8};
    ArrayKey key;
    key.size = is_fast ? 4 : random_.pick(sizes);
    key.order = random_.percent(is_fast ? 30 : 60) ? ArrayOrder::Kept : ArrayOrder::Free;
    if (is_fast) {
        key.fast = RawArray::fast_array_ops();
    }
    const Type* element = add_keyed_struct(key.size, is_fast, key.offset);
    Property property = array_property("", struct_property("", *element), RawArray::array_ops(),
                                       RawArray::type_ops());
    property.array_key = key;
    return property;
}

void RandomTypes::add_notify(Property& property, const std::string& type_name) {
    // A previous value is kept through the property's own operations, so there must be some.
    const bool can_be_kept = is_plain(property.kind) || property.kind == PropertyKind::BitBool ||
                             property.ops.copy_construct != nullptr ||
                             (property.kind == PropertyKind::Struct &&
                              property.struct_type->ops().copy_construct != nullptr);
    if (can_be_kept && random_.percent(30)) {
        notify_points_.push_back({this, type_name, property.name});
        property.notify = {call_notify, &notify_points_.back()};
    }
}

void RandomTypes::call_hook(void*, void* context) {
    const auto& point = *static_cast<const HookPoint*>(context);
    if (point.types->hook_handler_) {
        point.types->hook_handler_({*point.types->registry_.find(point.type_name), point.hook});
    }
}

void RandomTypes::call_notify(void* object, const void* previous, void* context) {
    const auto& point = *static_cast<const NotifyPoint*>(context);
    if (point.types->notify_handler_) {
        const Type& type = *point.types->registry_.find(point.type_name);
        point.types->notify_handler_(
            {type, *type.find_property(point.property_name), object, previous});
    }
}

}  // namespace replayout::test
