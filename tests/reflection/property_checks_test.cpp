// SPDX-License-Identifier: MIT
//
// What the registry refuses of a property, and what it completes.
#include "reflection/refusal.h"
#include "support/checks/catch.h"

#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/math.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace replayout;

namespace {

/// A class of 64 bytes with one property.
Result<const Type*> add_pawn(TypeRegistry& registry, Property property) {
    return DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 64, 8)
        .property(std::move(property))
        .build();
}

void check_pawn_refused(Property property, ErrorCode code, const std::string& why) {
    TypeRegistry registry;
    const std::string name = property.name;
    check_refused(add_pawn(registry, std::move(property)), code,
                  "type \"Pawn\": property \"" + name + "\": " + why);
}

bool is_taken(Property property) {
    TypeRegistry registry;
    return add_pawn(registry, std::move(property)).has_value();
}

const Type& make_struct(TypeRegistry& registry, const char* name, const TypeOps& ops = {}) {
    const auto type = DynamicTypeBuilder(registry, TypeKind::Struct, name, 8, 4)
                          .property("x", PropertyKind::Float, 0)
                          .property("y", PropertyKind::Float, 4)
                          .ops(ops)
                          .build();
    REQUIRE(type);
    return **type;
}

void ignore_notify(void*, const void*, void*) {}

}  // namespace

TEST_CASE("Property checks: one that lies outside its type is refused",
          "[reflection][property_checks]") {
    check_pawn_refused(plain_property("health", PropertyKind::Int32, 96),
                       ErrorCode::OffsetOutsideType,
                       "lies outside its type (offset 96, 4 bytes, type has 64 bytes)");
    check_pawn_refused(plain_property("health", PropertyKind::Int64, 64),
                       ErrorCode::OffsetOutsideType,
                       "lies outside its type (offset 64, 8 bytes, type has 64 bytes)");
    check_pawn_refused(plain_property("ammo", PropertyKind::Int32, 0, 17),
                       ErrorCode::OffsetOutsideType,
                       "lies outside its type (offset 0, 68 bytes, type has 64 bytes)");
    CHECK(is_taken(plain_property("ammo", PropertyKind::Int32, 0, 16)));
    CHECK(is_taken(plain_property("health", PropertyKind::Int32, 60)));
}

// In 32 bits each of these sums wraps round to a place inside the type.
TEST_CASE("Property checks: no sum of offset, size and dim wraps round",
          "[reflection][property_checks]") {
    check_pawn_refused(plain_property("health", PropertyKind::Int32, 0xFFFF'FFFC),
                       ErrorCode::OffsetOutsideType,
                       "lies outside its type (offset 4294967292, 4 bytes, type has 64 bytes)");
    check_pawn_refused(plain_property("ammo", PropertyKind::Int32, 0, 0x4000'0001),
                       ErrorCode::OffsetOutsideType,
                       "lies outside its type (offset 0, 4294967300 bytes, type has 64 bytes)");
    check_pawn_refused(
        plain_property("ammo", PropertyKind::Quat, 0xFFFF'FFFC, 0xFFFF'FFFF),
        ErrorCode::OffsetOutsideType,
        "lies outside its type (offset 4294967292, 68719476720 bytes, type has 64 bytes)");
}

TEST_CASE("Property checks: a misaligned one is refused", "[reflection][property_checks]") {
    check_pawn_refused(plain_property("health", PropertyKind::Int32, 2),
                       ErrorCode::MisalignedProperty,
                       "is misaligned (offset 2, needs alignment 4)");
    check_pawn_refused(enum_property("team", 2, 1), ErrorCode::MisalignedProperty,
                       "is misaligned (offset 1, needs alignment 2)");
    check_pawn_refused(plain_property("place", PropertyKind::Vector, 6),
                       ErrorCode::MisalignedProperty,
                       "is misaligned (offset 6, needs alignment 4)");
    check_pawn_refused(handle_property("target", 4), ErrorCode::MisalignedProperty,
                       "is misaligned (offset 4, needs alignment 8)");
    TypeRegistry registry;
    const Type& hit = make_struct(registry, "Hit");
    check_refused(add_pawn(registry, struct_property("hit", hit, 2)), ErrorCode::MisalignedProperty,
                  "type \"Pawn\": property \"hit\": is misaligned (offset 2, needs alignment 4)");
    check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "Bytes", 8, 1)
                      .property("health", PropertyKind::Int32, 4)
                      .build(),
                  ErrorCode::MisalignedProperty,
                  "type \"Bytes\": property \"health\": is misaligned (needs alignment 4, type has "
                  "1)");
}

TEST_CASE("Property checks: operations that are absent say nothing of alignment",
          "[reflection][property_checks]") {
    TypeOps ops;
    ops.alignment = 0;
    Property property = string_property("title", make_string_ops<std::string>(), ops);
    property.size = 8;
    CHECK(is_taken(property));
    property.ops.size = 8;
    check_pawn_refused(property, ErrorCode::InvalidAlignment,
                       "has an alignment that is not a power of two (0)");
}

TEST_CASE("Property checks: one that overlaps another is refused",
          "[reflection][property_checks]") {
    TypeRegistry registry;
    check_refused(
        DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 64, 8)
            .property("wide", PropertyKind::Int32, 0, 4)
            .property("far", PropertyKind::Int32, 32)
            .property("late", PropertyKind::Int16, 14)
            .build(),
        ErrorCode::OverlappingProperties,
        "type \"Pawn\": property \"late\": overlaps property \"wide\" (offset 14, other at "
        "0 to 16)");
    check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 64, 8)
                      .property("health", PropertyKind::Int32, 8)
                      .property("twin", PropertyKind::Int32, 8)
                      .build(),
                  ErrorCode::OverlappingProperties,
                  "type \"Pawn\": property \"twin\": overlaps property \"health\" (offset 8, other "
                  "at 8 to 12)");
}

TEST_CASE("Property checks: one that overlaps a property of a base is refused",
          "[reflection][property_checks]") {
    TypeRegistry registry;
    const auto thing = DynamicTypeBuilder(registry, TypeKind::Class, "Thing", 8, 4)
                           .property("id", PropertyKind::Int32, 4)
                           .build();
    REQUIRE(thing);
    const auto actor =
        DynamicTypeBuilder(registry, TypeKind::Class, "Actor", 16, 4).base(**thing, 8).build();
    REQUIRE(actor);
    const auto add_pawn_at = [&](std::uint32_t offset) {
        return DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 32, 4)
            .base(**actor, 8)
            .property("pair", PropertyKind::Int32, offset, 2)
            .build();
    };
    check_refused(add_pawn_at(20), ErrorCode::OverlappingProperties,
                  "type \"Pawn\": property \"pair\": overlaps property \"id\" of its base (offset "
                  "20, other at 20 to 24)");
    check_refused(add_pawn_at(16), ErrorCode::OverlappingProperties,
                  "type \"Pawn\": property \"pair\": overlaps property \"id\" of its base (offset "
                  "16, other at 20 to 24)");
    // Between the base's bytes is not yet on its properties: compilers re-use padding.
    CHECK(add_pawn_at(12));
}

TEST_CASE("Property checks: a size that does not fit its kind is refused",
          "[reflection][property_checks]") {
    Property property = plain_property("health", PropertyKind::Int32);
    property.size = 8;
    check_pawn_refused(property, ErrorCode::InvalidSize, "has 8 bytes, but its kind int32 has 4");
    property.size = 0;
    check_pawn_refused(property, ErrorCode::InvalidSize, "has no size");
    check_pawn_refused(enum_property("team", 3), ErrorCode::InvalidSize,
                       "is an enum of 3 bytes; 1, 2, 4 and 8 are possible");
    check_pawn_refused(enum_property("team", 16), ErrorCode::InvalidSize,
                       "is an enum of 16 bytes; 1, 2, 4 and 8 are possible");
    for (const std::uint32_t size : {1u, 2u, 4u, 8u}) {
        CHECK(is_taken(enum_property("team", size)));
    }
    property = string_property<std::string>("title");
    property.ops = make_type_ops<int>();
    check_pawn_refused(
        property, ErrorCode::InvalidSize,
        "has " + std::to_string(sizeof(std::string)) + " bytes, but operations for 4 bytes");
}

TEST_CASE("Property checks: an unknown kind and a dim of 0 are refused",
          "[reflection][property_checks]") {
    Property property = plain_property("health", PropertyKind::Int32);
    property.kind = static_cast<PropertyKind>(200);
    check_pawn_refused(property, ErrorCode::InvalidArgument, "has an unknown kind");
    check_pawn_refused(plain_property("health", PropertyKind::Int32, 0, 0),
                       ErrorCode::InvalidArrayDim, "is a C array of no elements");
}

TEST_CASE("Property checks: an empty or known name is refused", "[reflection][property_checks]") {
    TypeRegistry registry;
    const auto make_builder = [&registry](const char* name) {
        return DynamicTypeBuilder(registry, TypeKind::Class, name, 64, 8);
    };
    check_refused(make_builder("Pawn")
                      .property("health", PropertyKind::Int32, 0)
                      .property("", PropertyKind::Int32, 4)
                      .build(),
                  ErrorCode::EmptyName, "type \"Pawn\": property number 2 has an empty name");
    check_refused(make_builder("Pawn")
                      .property("health", PropertyKind::Int32, 0)
                      .property("health", PropertyKind::Int32, 4)
                      .build(),
                  ErrorCode::DuplicateName,
                  "type \"Pawn\": property \"health\": is already a property of its type");
    const auto actor = make_builder("Actor").property("health", PropertyKind::Int32, 0).build();
    REQUIRE(actor);
    const auto pawn = make_builder("Pawn").base(**actor).build();
    REQUIRE(pawn);
    check_refused(
        make_builder("Hero").base(**pawn).property("health", PropertyKind::Int32, 8).build(),
        ErrorCode::DuplicateName,
        "type \"Hero\": property \"health\": is already a property of its base");
}

TEST_CASE("Property checks: a struct needs a struct type of this registry",
          "[reflection][property_checks]") {
    TypeRegistry registry;
    TypeRegistry other;
    const Type& hit = make_struct(registry, "Hit");
    const Type& foreign = make_struct(other, "Foreign");
    Property property = struct_property("hit", hit);
    CHECK(add_pawn(registry, property));

    check_refused(add_pawn(other, property), ErrorCode::UnknownType,
                  "type \"Pawn\": property \"hit\": its struct type \"Hit\" is not of this "
                  "registry");
    check_pawn_refused(struct_property("hit", foreign), ErrorCode::UnknownType,
                       "its struct type \"Foreign\" is not of this registry");
    property.struct_type = nullptr;
    check_pawn_refused(property, ErrorCode::UnknownType, "has no struct type");

    const auto actor = DynamicTypeBuilder(other, TypeKind::Class, "Actor", 8, 8).build();
    REQUIRE(actor);
    check_refused(add_pawn(other, struct_property("part", **actor)), ErrorCode::InvalidArgument,
                  "type \"Pawn\": property \"part\": its struct type \"Actor\" is a class");
    property = struct_property("hit", foreign);
    property.size = 4;
    check_refused(add_pawn(other, property), ErrorCode::InvalidSize,
                  "type \"Pawn\": property \"hit\": has 4 bytes, but its struct type \"Foreign\" "
                  "has 8");
}

TEST_CASE("Property checks: strings, names and references need their operations",
          "[reflection][property_checks]") {
    Property property = string_property<std::string>("title");
    property.string.assign = nullptr;
    check_pawn_refused(property, ErrorCode::MissingOperation, "has no string operations");
    NameTable names;
    property = name_property("tag", names);
    property.string.view = nullptr;
    check_pawn_refused(property, ErrorCode::MissingOperation, "has no string operations");
    property = handle_property("target");
    property.reference.set = nullptr;
    check_pawn_refused(property, ErrorCode::MissingOperation, "has no reference operations");
}

TEST_CASE("Property checks: an array needs its operations and an element",
          "[reflection][property_checks]") {
    const Property array =
        array_property<std::vector<int>>("ammo", plain_property("", PropertyKind::Int32));
    CHECK(is_taken(array));
    Property property = array;
    property.array.mutable_data = nullptr;
    check_pawn_refused(property, ErrorCode::MissingOperation, "has no array operations");
    property = array;
    property.element = nullptr;
    check_pawn_refused(property, ErrorCode::MissingOperation, "has no element");
}

TEST_CASE("Property checks: an element is checked like a property",
          "[reflection][property_checks]") {
    const auto check_element_refused = [](Property element, ErrorCode code,
                                          const std::string& why) {
        check_pawn_refused(array_property<std::vector<int>>("list", std::move(element)), code,
                           "element: " + why);
    };
    Property element = plain_property("", PropertyKind::Int32);
    element.size = 2;
    check_element_refused(element, ErrorCode::InvalidSize, "has 2 bytes, but its kind int32 has 4");
    check_element_refused(plain_property("", PropertyKind::Int32, 0, 2), ErrorCode::InvalidArrayDim,
                          "is a C array itself");
    check_element_refused(plain_property("", PropertyKind::Int32, 4), ErrorCode::InvalidArgument,
                          "has an offset, a notify, a condition or marks of its own");
    element = plain_property("", PropertyKind::Int32);
    element.notify.call = ignore_notify;
    check_element_refused(element, ErrorCode::InvalidArgument,
                          "has an offset, a notify, a condition or marks of its own");
    element = handle_property("");
    element.reference = {};
    check_element_refused(element, ErrorCode::MissingOperation, "has no reference operations");
    // The innermost too.
    element = plain_property("", PropertyKind::Struct);
    element.size = 8;
    check_element_refused(array_property<std::vector<int>>("", element), ErrorCode::UnknownType,
                          "element: has no struct type");
}

TEST_CASE("Property checks: an element that is not plain bytes needs operations",
          "[reflection][property_checks]") {
    Property element = string_property<std::string>("");
    CHECK(is_taken(array_property<std::vector<std::string>>("list", element)));
    element.ops = {};
    check_pawn_refused(array_property<std::vector<std::string>>("list", element),
                       ErrorCode::MissingOperation,
                       "element: cannot be copy-constructed and destroyed");

    TypeRegistry registry;
    const auto titled = DynamicTypeBuilder(registry, TypeKind::Struct, "Titled",
                                           sizeof(std::string), alignof(std::string))
                            .property(string_property<std::string>("title"))
                            .build();
    REQUIRE(titled);
    check_refused(
        add_pawn(registry, array_property<std::vector<int>>("list", struct_property("", **titled))),
        ErrorCode::MissingOperation,
        "type \"Pawn\": property \"list\": element: cannot be copy-constructed and destroyed");
    // A struct of plain members needs none: what the engine touches of it are bytes.
    const Type& hit = make_struct(registry, "Hit");
    CHECK(add_pawn(registry, array_property<std::vector<int>>("list", struct_property("", hit))));
}

TEST_CASE("Property checks: a notify needs a previous value that can be kept",
          "[reflection][property_checks]") {
    Property property = string_property<std::string>("title");
    property.notify.call = ignore_notify;
    CHECK(is_taken(property));
    property.ops.copy_construct = nullptr;
    check_pawn_refused(
        property, ErrorCode::MissingOperation,
        "has a notify, and its previous value cannot be copy-constructed and destroyed");
    property = plain_property("health", PropertyKind::Int32);
    property.notify.call = ignore_notify;
    CHECK(is_taken(property));
}

TEST_CASE("Property checks: only a property of a class has a condition, and none has NetGroup",
          "[reflection][property_checks]") {
    TypeRegistry registry;
    const auto hit = DynamicTypeBuilder(registry, TypeKind::Struct, "Hit", 4, 4)
                         .property("damage", PropertyKind::Int32, 0)
                         .condition(LifetimeCondition::OwnerOnly)
                         .build();
    REQUIRE_FALSE(hit);
    CHECK(hit.error().code == ErrorCode::InvalidArgument);
    CHECK(hit.error().message ==
          "type \"Hit\": property \"damage\": is a member of a struct and has a condition "
          "(OwnerOnly); only a property of a class can have one");
    Property grouped = plain_property("health", PropertyKind::Int32);
    grouped.condition = LifetimeCondition::NetGroup;
    check_pawn_refused(grouped, ErrorCode::InvalidArgument,
                       "has the condition NetGroup, which no property can have");
    const auto early = DynamicTypeBuilder(registry, TypeKind::Class, "Early", 4, 4)
                           .condition(LifetimeCondition::Never)
                           .build();
    CHECK_FALSE(early);
}

TEST_CASE("Property checks: only a property of a class is push based",
          "[reflection][property_checks]") {
    TypeRegistry registry;
    const auto hit = DynamicTypeBuilder(registry, TypeKind::Struct, "Hit", 4, 4)
                         .property("damage", PropertyKind::Int32, 0)
                         .push_based()
                         .build();
    REQUIRE_FALSE(hit);
    CHECK(hit.error().code == ErrorCode::InvalidArgument);
    CHECK(hit.error().message ==
          "type \"Hit\": property \"damage\": is a push based member of a struct");
    const auto early =
        DynamicTypeBuilder(registry, TypeKind::Class, "Early", 4, 4).push_based().build();
    REQUIRE_FALSE(early);
    CHECK(early.error().message == "type \"Early\": has push_based before its first property");
    Property element = plain_property("", PropertyKind::Int32);
    element.is_push_based = true;
    check_pawn_refused(array_property<std::vector<std::int32_t>>("scores", element),
                       ErrorCode::InvalidArgument,
                       "element: has an offset, a notify, a condition or marks of its own");
}

TEST_CASE("Property checks: only a property of a class has a notify",
          "[reflection][property_checks]") {
    TypeRegistry registry;
    const auto hit = DynamicTypeBuilder(registry, TypeKind::Struct, "Hit", 4, 4)
                         .property("damage", PropertyKind::Int32, 0)
                         .on_rep({ignore_notify, nullptr, RepNotify::OnChanged})
                         .build();
    REQUIRE_FALSE(hit);
    CHECK(hit.error().code == ErrorCode::InvalidArgument);
    CHECK(hit.error().message ==
          "type \"Hit\": property \"damage\": is a member of a struct and has a notify; only a "
          "property of a class is told of");
}

TEST_CASE("Property checks: nesting ends at the limit", "[reflection][property_checks]") {
    TypeRegistry registry;
    const Type* deepest = &make_struct(registry, "Level 0");
    for (std::uint32_t level = 1; level <= nesting_depth_max; ++level) {
        const auto next =
            DynamicTypeBuilder(registry, TypeKind::Struct, "Level " + std::to_string(level), 8, 4)
                .property(struct_property("inner", *deepest))
                .build();
        REQUIRE(next);
        deepest = *next;
    }
    CHECK(deepest->nesting_depth() == nesting_depth_max);
    check_refused(add_pawn(registry, struct_property("all", *deepest)), ErrorCode::NestingTooDeep,
                  "type \"Pawn\": property \"all\": nests 9 structs and arrays; at most 8 are "
                  "possible");
    check_refused(
        add_pawn(registry, array_property<std::vector<int>>("all", struct_property("", *deepest))),
        ErrorCode::NestingTooDeep,
        "type \"Pawn\": property \"all\": nests 10 structs and arrays; at most 8 are possible");
}

TEST_CASE("Property checks: arrays in arrays end at the same limit",
          "[reflection][property_checks]") {
    Property property = plain_property("", PropertyKind::Int32);
    for (std::uint32_t level = 0; level < nesting_depth_max; ++level) {
        property = array_property<std::vector<int>>("deep", property);
    }
    CHECK(is_taken(property));
    check_pawn_refused(array_property<std::vector<int>>("deep", property),
                       ErrorCode::NestingTooDeep,
                       "nests 9 structs and arrays; at most 8 are possible");
}

TEST_CASE("Property checks: plain values are completed with operations on their bytes",
          "[reflection][property_checks]") {
    TypeRegistry registry;
    const auto pawn = DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 64, 8)
                          .property("speed", PropertyKind::Float, 0)
                          .property("turn", PropertyKind::Quat, 4)
                          .property("place", PropertyKind::Vector, 20)
                          .property(enum_property("team", 2, 32))
                          .build();
    REQUIRE(pawn);
    const TypeOps& speed = (*pawn)->find_property("speed")->ops;
    CHECK(speed.size == 4);
    CHECK(speed.alignment == 4);
    CHECK(speed.is_trivial);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    float copy = 1.0f;
    CHECK_FALSE(speed.equal(&nan, &copy));
    speed.copy_assign(&copy, &nan);
    CHECK(std::isnan(copy));
    CHECK(speed.equal(&nan, &copy));
    speed.construct(&copy);
    CHECK(copy == 0.0f);
    speed.copy_construct(&copy, &nan);
    CHECK(speed.equal(&nan, &copy));
    speed.destroy(&copy);

    Quat turn{1.0f, 2.0f, 3.0f, 4.0f};
    (*pawn)->find_property("turn")->ops.construct(&turn);
    CHECK(turn == Quat{});
    CHECK((*pawn)->find_property("place")->ops.size == sizeof(Vector3));
    CHECK((*pawn)->find_property("team")->ops.alignment == 2);
}

TEST_CASE("Property checks: a struct property is completed from its struct, elements too",
          "[reflection][property_checks]") {
    struct Hit {
        float x = 0.0f;
        float y = 0.0f;
    };
    TypeRegistry registry;
    const Type& hit = make_struct(registry, "Hit", make_type_ops<Hit>());
    const auto element = std::make_shared<const Property>(struct_property("", hit));
    Property list = array_property<std::vector<Hit>>("list", *element, 8);
    list.element = element;
    const auto pawn = DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 64, 8)
                          .property(struct_property("hit", hit))
                          .property(list)
                          .build();
    REQUIRE(pawn);
    CHECK((*pawn)->find_property("hit")->ops.copy_construct == hit.ops().copy_construct);
    CHECK((*pawn)->find_property("list")->element->ops.destroy == hit.ops().destroy);
    // The element that was handed over is shared with the caller and stays as it was.
    CHECK(element->ops.destroy == nullptr);
}
