// SPDX-License-Identifier: MIT
#include "support/random_types.h"

#include "support/net_serializer_structs.h"
#include "support/tree_editor.h"
#include "support/value_tree.h"

#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/math.h>

#include <algorithm>
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
constexpr std::uint32_t struct_percent = 12;
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
        return !type.traits().has_net_serializer && type.ops().destroy == nullptr &&
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
      push_(seed),
      settings_(settings),
      net_serializer_structs_(add_net_serializer_structs(registry_)) {
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
    for_each_slot(archetype.type(), 0, [&](const Property& property, std::uint32_t offset) {
        write_value(property, object->memory() + offset,
                    read_value(property, archetype.memory() + offset));
    });
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
        property.is_push_based =
            property.is_replicated && push_.percent(settings_.push_based_percent);
    }
    return add_type(TypeKind::Class, name, base, std::move(properties));
}

const Type* RandomTypes::add_struct(std::uint32_t depth) {
    const Type* base = pick_type(structs_, depth);
    std::vector<Property> properties = make_properties(random_.between(1, 5), depth);
    const std::string name = "Struct" + std::to_string(name_count_++);
    const Type* type = add_type(TypeKind::Struct, name, base, std::move(properties));
    structs_.push_back(type);
    return type;
}

const Type* RandomTypes::add_type(TypeKind kind, const std::string& name, const Type* base,
                                  std::vector<Property> properties) {
    const bool has_header = kind == TypeKind::Struct &&
                            !(std::all_of(properties.begin(), properties.end(), is_plain_value) &&
                              (base == nullptr || base->ops().destroy == nullptr));
    std::uint32_t size = has_header ? struct_header_bytes : 0;
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
        builder.ops(headed_struct_ops(size, alignment));
    }
    if (kind == TypeKind::Struct) {
        StructTraits traits;
        traits.is_atomic = random_.percent(25);
        builder.traits(traits);
    }
    for (Property& property : properties) {
        builder.property(std::move(property));
    }
    return value_of(builder.build());
}

std::vector<Property> RandomTypes::make_properties(std::uint32_t count, std::uint32_t depth) {
    std::vector<Property> properties;
    for (std::uint32_t i = 0; i < count; ++i) {
        Property property = make_property(depth);
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
        return struct_property("", *random_.pick(net_serializer_structs_));
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

void RandomTypes::call_notify(void* object, const void* previous, void* context) {
    const auto& point = *static_cast<const NotifyPoint*>(context);
    if (point.types->notify_handler_) {
        const Type& type = *point.types->registry_.find(point.type_name);
        point.types->notify_handler_(
            {type, *type.find_property(point.property_name), object, previous});
    }
}

}  // namespace replayout::test
