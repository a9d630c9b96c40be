// SPDX-License-Identifier: MIT
#include "reflection/refusal.h"
#include "support/checks/catch.h"

#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/math.h>
#include <replayout/reflection/type_builder.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace replayout;

namespace {

enum class Side : std::uint8_t { Red, Blue };

struct Wound {
    Vector3 point;
    std::string cause;
};

struct Parameters {
    float power = 0.0f;
};

struct Actor {
    std::int64_t id = 0;
};

struct Pawn : Actor {
    std::int32_t health = 100;
    Vector3 muzzles[2];
    Quat turn;
    Side team = Side::Red;
    std::string title;
    Name tag;
    ObjectHandle target;
    Wound last_hit;
    std::vector<Wound> hits;
    std::vector<std::vector<std::int16_t>> grid;
    double secret = 0.0;
};

void on_rep_title(Pawn&, const std::string&) {}

constexpr auto call_on_rep_title = detail::call_notify<Pawn, std::string, &on_rep_title>;

void register_typed(TypeRegistry& registry) {
    REQUIRE(struct_builder<Wound>(registry, "Hit")
                .property<&Wound::point>()
                .property<&Wound::cause>()
                .build());
    REQUIRE(
        struct_builder<Parameters>(registry, "Parameters").property<&Parameters::power>().build());
    REQUIRE(class_builder<Actor>(registry, "Actor").property<&Actor::id>().build());
    REQUIRE(class_builder<Pawn>(registry, "Pawn")
                .base<Actor>()
                .property<&Pawn::health>()
                .property<&Pawn::muzzles>()
                .property<&Pawn::turn>()
                .property<&Pawn::team>()
                .property<&Pawn::title>()
                .on_rep<&on_rep_title>()
                .property<&Pawn::tag>()
                .property<&Pawn::target>()
                .property<&Pawn::last_hit>()
                .property<&Pawn::hits>()
                .property<&Pawn::grid>()
                .property<&Pawn::secret>()
                .not_replicated()
                .function<Parameters>("ServerFire", FunctionFlags::Server)
                .build());
}

template <typename T>
DynamicTypeBuilder dynamic_builder(TypeRegistry& registry, TypeKind kind, const char* name) {
    return DynamicTypeBuilder(registry, kind, name, sizeof(T), alignof(T));
}

/// Offset of a member, as an engine with reflection of its own knows it.
template <auto Member, typename T>
std::uint32_t offset_in(const T& object) {
    return static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(&(object.*Member)) -
                                      reinterpret_cast<const std::byte*>(&object));
}

void register_dynamic(TypeRegistry& registry) {
    const Pawn pawn;
    const auto hit = dynamic_builder<Wound>(registry, TypeKind::Struct, "Hit")
                         .property("point", PropertyKind::Vector, 0)
                         .property(string_property<std::string>(
                             "cause", offset_in<&Wound::cause>(pawn.last_hit)))
                         .ops(make_type_ops<Wound>())
                         .build();
    const auto parameters = dynamic_builder<Parameters>(registry, TypeKind::Struct, "Parameters")
                                .property("power", PropertyKind::Float, 0)
                                .ops(make_type_ops<Parameters>())
                                .build();
    const auto actor = dynamic_builder<Actor>(registry, TypeKind::Class, "Actor")
                           .property("id", PropertyKind::Int64, 0)
                           .ops(make_class_ops<Actor>())
                           .build();
    REQUIRE(hit);
    REQUIRE(parameters);
    REQUIRE(actor);
    const Property row =
        array_property<std::vector<std::int16_t>>("", plain_property("", PropertyKind::Int16));
    const auto type =
        dynamic_builder<Pawn>(registry, TypeKind::Class, "Pawn")
            .base(**actor)
            .property("health", PropertyKind::Int32, offset_in<&Pawn::health>(pawn))
            .property("muzzles", PropertyKind::Vector, offset_in<&Pawn::muzzles>(pawn), 2)
            .property("turn", PropertyKind::Quat, offset_in<&Pawn::turn>(pawn))
            .property(enum_property("team", 1, offset_in<&Pawn::team>(pawn)))
            .property(string_property<std::string>("title", offset_in<&Pawn::title>(pawn)))
            .on_rep({call_on_rep_title, nullptr})
            .property(name_property("tag", registry.names(), offset_in<&Pawn::tag>(pawn)))
            .property(handle_property("target", offset_in<&Pawn::target>(pawn)))
            .property(struct_property("last_hit", **hit, offset_in<&Pawn::last_hit>(pawn)))
            .property(array_property<std::vector<Wound>>("hits", struct_property("", **hit),
                                                         offset_in<&Pawn::hits>(pawn)))
            .property(array_property<std::vector<std::vector<std::int16_t>>>(
                "grid", row, offset_in<&Pawn::grid>(pawn)))
            .property("secret", PropertyKind::Double, offset_in<&Pawn::secret>(pawn))
            .not_replicated()
            .function("ServerFire", FunctionFlags::Server, *parameters)
            .ops(make_class_ops<Pawn>())
            .build();
    if (!type) {
        FAIL(type.error().message);
    }
}

void check_same(const TypeOps& left, const TypeOps& right) {
    CHECK(left.construct == right.construct);
    CHECK(left.copy_construct == right.copy_construct);
    CHECK(left.copy_assign == right.copy_assign);
    CHECK(left.destroy == right.destroy);
    CHECK(left.equal == right.equal);
    CHECK(left.size == right.size);
    CHECK(left.alignment == right.alignment);
    CHECK(left.is_trivial == right.is_trivial);
}

void check_same(const StructTraits& left, const StructTraits& right) {
    CHECK(left.has_net_serializer == right.has_net_serializer);
    CHECK(left.has_net_shared_serialization == right.has_net_shared_serialization);
    CHECK(left.has_net_delta_serializer == right.has_net_delta_serializer);
    CHECK(left.has_identical == right.has_identical);
    CHECK(left.has_copy == right.has_copy);
    CHECK(left.net_serialize == right.net_serialize);
    CHECK(left.net_delta_serialize == right.net_delta_serialize);
    CHECK(left.identical == right.identical);
    CHECK(left.copy == right.copy);
}

std::string name_of(const Type* type) {
    return type != nullptr ? std::string(type->name()) : "none";
}

void check_same(const Property& left, const Property& right) {
    CAPTURE(left.name);
    CHECK(left.name == right.name);
    CHECK(left.kind == right.kind);
    CHECK(left.offset == right.offset);
    CHECK(left.size == right.size);
    CHECK(left.array_dim == right.array_dim);
    CHECK(left.is_replicated == right.is_replicated);
    CHECK(name_of(left.struct_type) == name_of(right.struct_type));
    check_same(left.ops, right.ops);
    CHECK(left.array.count == right.array.count);
    CHECK(left.array.data == right.array.data);
    CHECK(left.array.mutable_data == right.array.mutable_data);
    CHECK(left.array.resize == right.array.resize);
    CHECK(left.string.view == right.string.view);
    CHECK(left.string.assign == right.string.assign);
    // Each registry has a name table of its own, so only whether there is one can be the same.
    CHECK((left.string.context == nullptr) == (right.string.context == nullptr));
    CHECK(left.reference.get == right.reference.get);
    CHECK(left.reference.set == right.reference.set);
    CHECK(left.notify.call == right.notify.call);
    CHECK(left.notify.context == right.notify.context);
    REQUIRE((left.element == nullptr) == (right.element == nullptr));
    if (left.element != nullptr) {
        check_same(*left.element, *right.element);
    }
}

void check_same(const Type& left, const Type& right) {
    CAPTURE(left.name());
    CHECK(left.name() == right.name());
    CHECK(left.kind() == right.kind());
    CHECK(left.size() == right.size());
    CHECK(left.alignment() == right.alignment());
    CHECK(name_of(left.base()) == name_of(right.base()));
    CHECK(left.base_offset() == right.base_offset());
    CHECK(left.nesting_depth() == right.nesting_depth());
    check_same(left.traits(), right.traits());
    check_same(left.ops(), right.ops());
    REQUIRE(left.properties().size() == right.properties().size());
    for (std::size_t index = 0; index < left.properties().size(); ++index) {
        check_same(left.properties()[index], right.properties()[index]);
    }
    REQUIRE(left.functions().size() == right.functions().size());
    for (std::size_t index = 0; index < left.functions().size(); ++index) {
        CHECK(left.functions()[index].name == right.functions()[index].name);
        CHECK(left.functions()[index].flags == right.functions()[index].flags);
        CHECK(name_of(left.functions()[index].parameters) ==
              name_of(right.functions()[index].parameters));
    }
}

}  // namespace

TEST_CASE("DynamicTypeBuilder: gives the same descriptor as the typed door, field by field",
          "[reflection][dynamic_type_builder]") {
    TypeRegistry typed;
    TypeRegistry dynamic;
    register_typed(typed);
    register_dynamic(dynamic);
    REQUIRE(typed.types().size() == dynamic.types().size());
    for (std::size_t index = 0; index < typed.types().size(); ++index) {
        check_same(*typed.types()[index], *dynamic.types()[index]);
    }
}

TEST_CASE("DynamicTypeBuilder: a type without any C++ behind it works on bytes",
          "[reflection][dynamic_type_builder]") {
    TypeRegistry registry;
    const auto script = DynamicTypeBuilder(registry, TypeKind::Class, "Script", 64, 8)
                            .property("health", PropertyKind::Int32, 0)
                            .property("flags", PropertyKind::Bool, 4, 4)
                            .build();
    REQUIRE(script);
    CHECK((*script)->size() == 64);
    CHECK((*script)->properties()[1].array_dim == 4);
    CHECK((*script)->properties()[1].ops.size == 1);
    CHECK(registry.find(TypeKey()) == nullptr);
}

TEST_CASE("DynamicTypeBuilder: a type with a key is found by the typed door",
          "[reflection][dynamic_type_builder]") {
    TypeRegistry registry;
    REQUIRE(DynamicTypeBuilder(registry, TypeKind::Class, "Actor", sizeof(Actor), alignof(Actor))
                .property("id", PropertyKind::Int64, 0)
                .key(type_key_of<Actor>())
                .build());
    const auto pawn =
        class_builder<Pawn>(registry, "Pawn").base<Actor>().property<&Pawn::health>().build();
    REQUIRE(pawn);
    CHECK((*pawn)->base() == registry.find("Actor"));
}

TEST_CASE("DynamicTypeBuilder: calls in the wrong place are told by build",
          "[reflection][dynamic_type_builder]") {
    TypeRegistry registry;
    const auto actor = DynamicTypeBuilder(registry, TypeKind::Class, "Actor", 8, 8).build();
    REQUIRE(actor);
    check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 16, 8)
                      .base(**actor)
                      .base(**actor, 8)
                      .build(),
                  ErrorCode::InvalidArgument, "type \"Pawn\": has more than one base");
    check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 16, 8)
                      .on_rep({call_on_rep_title, nullptr})
                      .build(),
                  ErrorCode::InvalidArgument,
                  "type \"Pawn\": has a notify before its first property");
    check_refused(
        DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 16, 8).not_replicated().build(),
        ErrorCode::InvalidArgument, "type \"Pawn\": has not_replicated before its first property");
    check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 16, 8)
                      .quantised(Quantisation::whole())
                      .build(),
                  ErrorCode::InvalidArgument,
                  "type \"Pawn\": has a quantisation before its first property");
    DynamicTypeBuilder twice(registry, TypeKind::Class, "Twice", 8, 8);
    REQUIRE(twice.build());
    check_refused(twice.build(), ErrorCode::InvalidArgument,
                  "type \"Twice\": was already given to the registry by this builder");
}

TEST_CASE("DynamicTypeBuilder: an error of a door built on it comes first",
          "[reflection][dynamic_type_builder]") {
    TypeRegistry registry;
    check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "", 0, 0)
                      .refuse({ErrorCode::Unsupported, "no such member"})
                      .refuse({ErrorCode::Unsupported, "another"})
                      .build(),
                  ErrorCode::Unsupported, "no such member");
}

TEST_CASE("DynamicTypeBuilder: bits may share a byte, one bit cannot be two properties",
          "[reflection][dynamic_type_builder]") {
    TypeRegistry registry;
    const auto flags = DynamicTypeBuilder(registry, TypeKind::Class, "Flags", 4, 4)
                           .property(bit_property("first", 0x80))
                           .property(bit_property("second", 0x01))
                           .property(bit_property("third", 0x80, 1))
                           .build();
    REQUIRE(flags);
    CHECK((*flags)->properties()[0].bit_mask == 0x80);
    check_refused(
        DynamicTypeBuilder(registry, TypeKind::Class, "Twice", 4, 4)
            .property(bit_property("first", 2))
            .property(bit_property("second", 1))
            .property(bit_property("third", 2))
            .build(),
        ErrorCode::OverlappingProperties,
        "type \"Twice\": property \"third\": overlaps property \"first\" (offset 0, other "
        "at 0 to 1)");
    check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "Inside", 4, 4)
                      .property(bit_property("bit", 2, 1))
                      .property("whole", PropertyKind::Int32, 0)
                      .build(),
                  ErrorCode::OverlappingProperties,
                  "type \"Inside\": property \"bit\": overlaps property \"whole\" (offset 1, other "
                  "at 0 to 4)");
    for (const std::uint8_t mask : {std::uint8_t{0}, std::uint8_t{3}}) {
        check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "None", 4, 4)
                          .property(bit_property("bit", mask))
                          .build(),
                      ErrorCode::InvalidArgument,
                      "type \"None\": property \"bit\": is not one bit of its byte (mask " +
                          std::to_string(mask) + ")");
    }
    Property row = bit_property("bits", 1);
    row.array_dim = 2;
    check_refused(
        DynamicTypeBuilder(registry, TypeKind::Class, "Row", 4, 4).property(std::move(row)).build(),
        ErrorCode::InvalidArrayDim, "type \"Row\": property \"bits\": is a C array of bits");
    check_refused(
        DynamicTypeBuilder(registry, TypeKind::Class, "List", 24, 8)
            .property(array_property<std::vector<std::uint8_t>>("bits", bit_property("", 1)))
            .build(),
        ErrorCode::InvalidArgument,
        "type \"List\": property \"bits\": element: is a bit of a byte");
}

TEST_CASE("DynamicTypeBuilder: a quantisation that does not fit is told",
          "[reflection][dynamic_type_builder]") {
    TypeRegistry registry;
    check_refused(DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 16, 8)
                      .property("turn", PropertyKind::Quat, 0)
                      .quantised(Quantisation::tenth())
                      .build(),
                  ErrorCode::InvalidArgument,
                  "type \"Pawn\": property \"turn\": is a quat, which cannot be quantised as "
                  "steps of a vector");
}
