// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <memory>

namespace replayout {

namespace {

// Elements are shared and const, so each on the way is replaced by a copy.
void quantise_innermost(Property& property, const Quantisation& quantisation) {
    if (is_array(property.kind) && property.element != nullptr) {
        const auto element = std::make_shared<Property>(*property.element);
        quantise_innermost(*element, quantisation);
        property.element = element;
    } else {
        property.quantisation = quantisation;
    }
}

}  // namespace

DynamicTypeBuilder::DynamicTypeBuilder(TypeRegistry& registry, TypeKind kind, std::string_view name,
                                       std::uint32_t size, std::uint32_t alignment)
    : registry_(&registry) {
    description_.kind = kind;
    description_.name = name;
    description_.size = size;
    description_.alignment = alignment;
}

DynamicTypeBuilder& DynamicTypeBuilder::base(const Type& base, std::uint32_t offset) {
    if (description_.base != nullptr) {
        return refuse(misuse("has more than one base"));
    }
    description_.base = &base;
    description_.base_offset = offset;
    return *this;
}

DynamicTypeBuilder& DynamicTypeBuilder::property(std::string_view name, PropertyKind kind,
                                                 std::uint32_t offset, std::uint32_t array_dim) {
    return property(plain_property(name, kind, offset, array_dim));
}

DynamicTypeBuilder& DynamicTypeBuilder::property(Property property) {
    description_.properties.push_back(std::move(property));
    return *this;
}

template <typename Change>
DynamicTypeBuilder& DynamicTypeBuilder::change_last(std::string_view what, const Change& change) {
    if (description_.properties.empty()) {
        return refuse(misuse("has " + std::string(what) + " before its first property"));
    }
    change(description_.properties.back());
    return *this;
}

DynamicTypeBuilder& DynamicTypeBuilder::on_rep(NotifyFunction notify) {
    return change_last("a notify", [&](Property& last) { last.notify = notify; });
}

DynamicTypeBuilder& DynamicTypeBuilder::condition(LifetimeCondition condition) {
    return change_last("a condition", [&](Property& last) { last.condition = condition; });
}

DynamicTypeBuilder& DynamicTypeBuilder::push_based() {
    return change_last("push_based", [](Property& last) { last.is_push_based = true; });
}

DynamicTypeBuilder& DynamicTypeBuilder::sent_within_ms(std::uint32_t milliseconds) {
    return change_last("sent_within_ms", [&](Property& last) {
        if (milliseconds == 0 || milliseconds > sent_within_us_max / 1'000) {
            refuse(misuse("has sent_within_ms that is not between 1 and 3600000"));
        } else {
            last.sent_within_us = milliseconds * 1'000;
        }
    });
}

DynamicTypeBuilder& DynamicTypeBuilder::not_replicated() {
    return change_last("not_replicated", [](Property& last) { last.is_replicated = false; });
}

DynamicTypeBuilder& DynamicTypeBuilder::quantised(const Quantisation& quantisation) {
    return change_last("a quantisation",
                       [&](Property& last) { quantise_innermost(last, quantisation); });
}

DynamicTypeBuilder& DynamicTypeBuilder::keyed_by(std::uint32_t offset, std::uint32_t size,
                                                 ArrayOrder order) {
    return change_last("a key", [&](Property& last) {
        last.array_key.offset = offset;
        last.array_key.size = size;
        last.array_key.order = order;
    });
}

DynamicTypeBuilder& DynamicTypeBuilder::fast_array(const FastArrayOps& fast) {
    return change_last("a fast array", [&](Property& last) { last.array_key.fast = fast; });
}

DynamicTypeBuilder& DynamicTypeBuilder::function(std::string_view name, FunctionFlags flags,
                                                 const Type* parameters, const FunctionThunk& thunk,
                                                 TypeKey key) {
    description_.functions.push_back({std::string(name), flags, parameters, thunk, key});
    return *this;
}

DynamicTypeBuilder& DynamicTypeBuilder::traits(const StructTraits& traits) {
    description_.traits = traits;
    return *this;
}

DynamicTypeBuilder& DynamicTypeBuilder::hooks(const ReceiveHooks& hooks) {
    description_.hooks = hooks;
    return *this;
}

DynamicTypeBuilder& DynamicTypeBuilder::ops(const TypeOps& ops) {
    description_.ops = ops;
    return *this;
}

DynamicTypeBuilder& DynamicTypeBuilder::key(TypeKey key) {
    key_ = key;
    return *this;
}

DynamicTypeBuilder& DynamicTypeBuilder::refuse(Error error) {
    REPLAYOUT_ASSERT(error.code != ErrorCode::Ok);
    if (error_.code == ErrorCode::Ok) {
        error_ = std::move(error);
    }
    return *this;
}

Result<const Type*> DynamicTypeBuilder::build() {
    if (error_.code != ErrorCode::Ok) {
        return error_;
    }
    error_ = misuse("was already given to the registry by this builder");
    return registry_->add(std::move(description_), key_);
}

Error DynamicTypeBuilder::misuse(std::string_view why) const {
    return {ErrorCode::InvalidArgument, "type \"" + description_.name + "\": " + std::string(why)};
}

Property plain_property(std::string_view name, PropertyKind kind, std::uint32_t offset,
                        std::uint32_t array_dim) {
    Property property;
    property.name = name;
    property.kind = kind;
    property.offset = offset;
    property.size = fixed_size_of(kind);
    property.array_dim = array_dim;
    return property;
}

Property enum_property(std::string_view name, std::uint32_t size, std::uint32_t offset,
                       std::uint32_t array_dim) {
    Property property = plain_property(name, PropertyKind::Enum, offset, array_dim);
    property.size = size;
    return property;
}

Property bit_property(std::string_view name, std::uint8_t bit_mask, std::uint32_t offset) {
    Property property = plain_property(name, PropertyKind::BitBool, offset);
    property.bit_mask = bit_mask;
    return property;
}

Property struct_property(std::string_view name, const Type& struct_type, std::uint32_t offset,
                         std::uint32_t array_dim) {
    Property property = plain_property(name, PropertyKind::Struct, offset, array_dim);
    property.size = struct_type.size();
    property.struct_type = &struct_type;
    return property;
}

Property name_property(std::string_view name, NameTable& names, std::uint32_t offset,
                       std::uint32_t array_dim) {
    Property property = plain_property(name, PropertyKind::Name, offset, array_dim);
    property.size = sizeof(Name);
    property.string = names.string_ops();
    property.ops = make_type_ops<Name>();
    return property;
}

Property handle_property(std::string_view name, std::uint32_t offset, std::uint32_t array_dim) {
    Property property = plain_property(name, PropertyKind::ObjectReference, offset, array_dim);
    property.size = sizeof(ObjectHandle);
    property.reference = make_reference_ops<ObjectHandle>();
    property.ops = make_type_ops<ObjectHandle>();
    return property;
}

Property string_property(std::string_view name, const StringOps& string, const TypeOps& ops,
                         std::uint32_t offset, std::uint32_t array_dim) {
    Property property = plain_property(name, PropertyKind::String, offset, array_dim);
    property.size = ops.size;
    property.string = string;
    property.ops = ops;
    return property;
}

Property array_property(std::string_view name, Property element, const ArrayOps& array,
                        const TypeOps& ops, std::uint32_t offset, std::uint32_t array_dim) {
    Property property = plain_property(name, PropertyKind::DynamicArray, offset, array_dim);
    property.size = ops.size;
    property.element = std::make_shared<const Property>(std::move(element));
    property.array = array;
    property.ops = ops;
    return property;
}

Property optional_property(std::string_view name, Property element, const ArrayOps& optional,
                           const TypeOps& ops, std::uint32_t offset, std::uint32_t array_dim) {
    Property property = array_property(name, std::move(element), optional, ops, offset, array_dim);
    property.kind = PropertyKind::Optional;
    return property;
}

}  // namespace replayout
