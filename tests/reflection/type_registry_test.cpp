// SPDX-License-Identifier: MIT
//
// The registry as owner of types, and what it refuses of a type as a whole. What it refuses of a
// property stands in property_checks_test.cpp.
#include "reflection/refusal.h"
#include "support/checks/catch.h"

#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/reflection/type_builder.h>

#include <string>

using namespace replayout;

namespace {

struct Blow {
    float damage = 0.0f;
};

TypeDescription struct_description(std::string name) {
    TypeDescription description;
    description.name = std::move(name);
    description.size = 16;
    description.alignment = 4;
    return description;
}

TypeDescription class_description(std::string name) {
    TypeDescription description = struct_description(std::move(name));
    description.kind = TypeKind::Class;
    return description;
}

bool serialize_nothing(void*, NetArchive&, PackageMap*, bool&) {
    return true;
}

bool serialize_no_delta(void*, NetDeltaInfo&) {
    return true;
}

struct Block {
    float values[4];
    friend bool operator==(const Block&, const Block&) = default;
};

TypeDescription make_net_serializer(std::string name) {
    TypeDescription description = struct_description(std::move(name));
    description.traits.has_net_serializer = true;
    description.traits.net_serialize = serialize_nothing;
    description.ops = make_type_ops<Block>();
    return description;
}

}  // namespace

TEST_CASE("TypeRegistry: keeps types in order and finds them by name and by key",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    const auto first = registry.add(struct_description("First"));
    const auto hit = registry.add(struct_description("Hit"), type_key_of<Blow>());
    REQUIRE(first);
    REQUIRE(hit);
    REQUIRE(registry.types().size() == 2);
    CHECK(registry.types()[0].get() == *first);
    CHECK(registry.types()[1].get() == *hit);
    CHECK(registry.find("First") == *first);
    CHECK(registry.find("Hit") == *hit);
    CHECK(registry.find("hit") == nullptr);
    CHECK(registry.find(type_key_of<Blow>()) == *hit);
    CHECK(registry.find(type_key_of<int>()) == nullptr);
    CHECK(registry.find(TypeKey()) == nullptr);
}

TEST_CASE("TypeRegistry: two live side by side and own only their types",
          "[reflection][type_registry]") {
    TypeRegistry left;
    TypeRegistry right;
    const auto in_left = left.add(struct_description("Hit"), type_key_of<Blow>());
    const auto in_right = right.add(struct_description("Hit"), type_key_of<Blow>());
    REQUIRE(in_left);
    REQUIRE(in_right);
    CHECK(*in_left != *in_right);
    CHECK(left.owns(**in_left));
    CHECK_FALSE(left.owns(**in_right));
    CHECK(right.find(type_key_of<Blow>()) == *in_right);
}

TEST_CASE("TypeRegistry: bounds the names that it holds", "[reflection][type_registry]") {
    TypeRegistry registry(1);
    CHECK(registry.names().intern("one"));
    CHECK_FALSE(registry.names().intern("two"));
    CHECK(std::as_const(registry).names().count() == 1);
}

TEST_CASE("TypeRegistry: once frozen takes no type, and cannot be frozen again",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    REQUIRE(registry.add(struct_description("Hit")));
    CHECK_FALSE(registry.is_frozen());
    CHECK(registry.freeze());
    CHECK(registry.is_frozen());
    check_refused(registry.add(struct_description("Late")), ErrorCode::RegistryFrozen,
                  "type \"Late\": cannot be added, the registry is frozen");
    const Status again = registry.freeze();
    REQUIRE_FALSE(again);
    CHECK(again.error().code == ErrorCode::RegistryFrozen);
    CHECK(again.error().message == "the registry is already frozen");
    CHECK(registry.find("Hit") != nullptr);
}

TEST_CASE("TypeRegistry: a refused type leaves no trace", "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription description = struct_description("Hit");
    description.size = 0;
    REQUIRE_FALSE(registry.add(description, type_key_of<Blow>()));
    CHECK(registry.types().empty());
    CHECK(registry.find("Hit") == nullptr);
    CHECK(registry.find(type_key_of<Blow>()) == nullptr);
    CHECK(registry.add(struct_description("Hit"), type_key_of<Blow>()));
}

TEST_CASE("TypeRegistry: refuses an empty and a known name", "[reflection][type_registry]") {
    TypeRegistry registry;
    check_refused(registry.add(struct_description("")), ErrorCode::EmptyName,
                  "type \"\": has an empty name");
    REQUIRE(registry.add(struct_description("Hit")));
    check_refused(registry.add(class_description("Hit")), ErrorCode::DuplicateName,
                  "type \"Hit\": is already registered");
}

TEST_CASE("TypeRegistry: refuses a second type for one C++ type", "[reflection][type_registry]") {
    TypeRegistry registry;
    REQUIRE(registry.add(struct_description("Hit"), type_key_of<Blow>()));
    check_refused(registry.add(struct_description("Strike"), type_key_of<Blow>()),
                  ErrorCode::DuplicateName,
                  "type \"Strike\": its C++ type is already registered as \"Hit\"");
}

TEST_CASE("TypeRegistry: refuses a size or an alignment that no type has",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription description = struct_description("Hit");
    description.size = 0;
    check_refused(registry.add(description), ErrorCode::InvalidSize, "type \"Hit\": has no size");
    description.size = 10;
    check_refused(registry.add(description), ErrorCode::InvalidSize,
                  "type \"Hit\": has a size that is not a multiple of its alignment (10 bytes, "
                  "alignment 4)");
    description.size = 12;
    description.alignment = 0;
    check_refused(registry.add(description), ErrorCode::InvalidAlignment,
                  "type \"Hit\": has an alignment that is not a power of two (0)");
    description.alignment = 6;
    check_refused(registry.add(description), ErrorCode::InvalidAlignment,
                  "type \"Hit\": has an alignment that is not a power of two (6)");
}

TEST_CASE("TypeRegistry: refuses operations made for another size", "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription description = struct_description("Hit");
    description.ops = make_type_ops<double>();
    check_refused(registry.add(description), ErrorCode::InvalidSize,
                  "type \"Hit\": has 16 bytes, but operations for 8 bytes");
}

TEST_CASE("TypeRegistry: refuses a base that does not fit", "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeRegistry other;
    const auto foreign = other.add(struct_description("Foreign"));
    const auto base = registry.add(struct_description("Base"));
    const auto actor = registry.add(class_description("Actor"));
    REQUIRE(foreign);
    REQUIRE(base);
    REQUIRE(actor);

    TypeDescription description = struct_description("Hit");
    description.base = *foreign;
    check_refused(registry.add(description), ErrorCode::BaseMismatch,
                  "type \"Hit\": its base \"Foreign\" is not of this registry");
    description.base = *actor;
    check_refused(registry.add(description), ErrorCode::BaseMismatch,
                  "type \"Hit\": its base \"Actor\" is a class, and it is a struct");
    description.base = *base;
    description.base_offset = 4;
    check_refused(
        registry.add(description), ErrorCode::BaseMismatch,
        "type \"Hit\": its base \"Base\" lies outside it (offset 4, 16 bytes, type has 16 "
        "bytes)");
    description.base_offset = 0xFFFF'FFFC;
    CHECK_FALSE(registry.add(description));
    description.size = 32;
    description.base_offset = 2;
    check_refused(
        registry.add(description), ErrorCode::BaseMismatch,
        "type \"Hit\": its base \"Base\" is misaligned (offset 2, needs alignment 4, type "
        "has 4)");
    description.base_offset = 16;
    CHECK(registry.add(description));

    description = class_description("Pawn");
    description.base = *base;
    check_refused(registry.add(description), ErrorCode::BaseMismatch,
                  "type \"Pawn\": its base \"Base\" is a struct, and it is a class");
}

TEST_CASE("TypeRegistry: refuses a promise without its function", "[reflection][type_registry]") {
    TypeRegistry registry;
    const struct {
        bool StructTraits::*promise;
        const char* name;
    } rows[] = {{&StructTraits::has_net_serializer, "NetSerializer"},
                {&StructTraits::has_net_delta_serializer, "NetDeltaSerializer"},
                {&StructTraits::has_identical, "Identical"},
                {&StructTraits::has_copy, "Copy"}};
    for (const auto& row : rows) {
        TypeDescription description = struct_description("Hit");
        description.traits.*row.promise = true;
        check_refused(
            registry.add(description), ErrorCode::MissingTraitFunction,
            std::string("type \"Hit\": promises ") + row.name + " and has no such function");
    }
}

TEST_CASE("TypeRegistry: refuses promises that exclude each other, and those of a class",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription flat = struct_description("Hit");
    flat.traits.can_be_sent = [](const void*) { return true; };
    check_refused(registry.add(flat), ErrorCode::ConflictingTraits,
                  "type \"Hit\": says which values can be sent, and is sent by its members");
    TypeDescription description = make_net_serializer("Hit");
    description.traits.has_net_delta_serializer = true;
    description.traits.net_delta_serialize = serialize_no_delta;
    check_refused(registry.add(description), ErrorCode::ConflictingTraits,
                  "type \"Hit\": promises both NetSerializer and NetDeltaSerializer");
    description = make_net_serializer("Pawn");
    description.kind = TypeKind::Class;
    check_refused(registry.add(description), ErrorCode::Unsupported,
                  "type \"Pawn\": promises NetSerializer, which only a struct can");
}

// Unreal's trap: not an error, and the layout builder's to report.
TEST_CASE("TypeRegistry: takes NetSharedSerialization without NetSerializer",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription description = struct_description("Hit");
    description.traits.has_net_shared_serialization = true;
    CHECK(registry.add(description));
}

TEST_CASE("TypeRegistry: refuses a NetSerializer that cannot be copied, destroyed or compared",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription description = make_net_serializer("Hit");
    description.ops.copy_construct = nullptr;
    check_refused(registry.add(description), ErrorCode::MissingOperation,
                  "type \"Hit\": promises NetSerializer and cannot be copy-constructed");
    description = make_net_serializer("Hit");
    description.ops.copy_assign = nullptr;
    check_refused(registry.add(description), ErrorCode::MissingOperation,
                  "type \"Hit\": promises NetSerializer and cannot be copy-assigned");
    description = make_net_serializer("Hit");
    description.ops.destroy = nullptr;
    check_refused(registry.add(description), ErrorCode::MissingOperation,
                  "type \"Hit\": promises NetSerializer and cannot be destroyed");
    description = make_net_serializer("Hit");
    description.ops.equal = nullptr;
    check_refused(registry.add(description), ErrorCode::MissingOperation,
                  "type \"Hit\": promises NetSerializer and cannot be compared (neither Identical "
                  "nor operator==)");
    description.traits.has_identical = true;
    description.traits.identical = [](const void*, const void*) { return true; };
    CHECK(registry.add(description));
    CHECK(registry.add(make_net_serializer("Comparable")));
}

TEST_CASE("TypeRegistry: refuses a NetDeltaSerializer that cannot be compared",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription description = make_net_serializer("Scores");
    description.traits.has_net_serializer = false;
    description.traits.net_serialize = nullptr;
    description.traits.has_net_delta_serializer = true;
    description.traits.net_delta_serialize = serialize_no_delta;
    description.ops.equal = nullptr;
    check_refused(registry.add(description), ErrorCode::MissingOperation,
                  "type \"Scores\": promises NetDeltaSerializer and cannot be compared (neither "
                  "Identical nor operator==)");
}

TEST_CASE("TypeRegistry: a copy that is promised stands in for a missing assignment",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription description = make_net_serializer("Hit");
    description.ops.copy_assign = nullptr;
    description.traits.has_copy = true;
    description.traits.copy = [](void*, const void*) {};
    const auto hit = registry.add(description);
    REQUIRE(hit);
    CHECK((*hit)->ops().copy_assign == description.traits.copy);
}

TEST_CASE("TypeRegistry: refuses a function without a name, or with a known one",
          "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeDescription description = class_description("Actor");
    description.functions = {{"", FunctionFlags::Server, nullptr}};
    check_refused(registry.add(description), ErrorCode::EmptyName,
                  "type \"Actor\": function number 1 has an empty name");
    description.functions = {{"Fire", FunctionFlags::Server, nullptr},
                             {"Fire", FunctionFlags::Client, nullptr}};
    check_refused(registry.add(description), ErrorCode::DuplicateName,
                  "type \"Actor\": function \"Fire\": is already a function of its type");
    description.functions.pop_back();
    const auto actor = registry.add(description);
    REQUIRE(actor);
    description = class_description("Pawn");
    description.base = *actor;
    description.functions = {{"Fire", FunctionFlags::Server, nullptr}};
    check_refused(registry.add(description), ErrorCode::DuplicateName,
                  "type \"Pawn\": function \"Fire\": is already a function of its base");
}

TEST_CASE(
    "TypeRegistry: refuses a function with two directions, a reliable one without, or foreign "
    "parameters",
    "[reflection][type_registry]") {
    TypeRegistry registry;
    TypeRegistry other;
    const auto foreign = other.add(struct_description("Foreign"));
    const auto actor = registry.add(class_description("Actor"));
    const auto parameters = registry.add(struct_description("FireParameters"));
    REQUIRE(foreign);
    REQUIRE(actor);
    REQUIRE(parameters);
    TypeDescription description = class_description("Pawn");
    description.functions = {{"Fire", FunctionFlags::Server | FunctionFlags::Client, nullptr}};
    check_refused(registry.add(description), ErrorCode::InvalidArgument,
                  "type \"Pawn\": function \"Fire\": is more than one of Server, Client, "
                  "Multicast and Remote");
    description.functions = {{"Fire", FunctionFlags::Reliable, nullptr}};
    check_refused(registry.add(description), ErrorCode::InvalidArgument,
                  "type \"Pawn\": function \"Fire\": is Reliable and none of Server, Client, "
                  "Multicast and Remote, so nobody calls it");
    FunctionThunk thunk;
    thunk.call = [](void*, const void*, void*) {};
    description.functions = {
        {"Fire", FunctionFlags::Server | FunctionFlags::WithValidation, nullptr, thunk}};
    check_refused(registry.add(description), ErrorCode::InvalidArgument,
                  "type \"Pawn\": function \"Fire\": promises WithValidation and has no validate");
    thunk.validate = [](void*, const void*, void*) { return true; };
    description.functions = {{"Fire", FunctionFlags::Server, nullptr, thunk}};
    check_refused(registry.add(description), ErrorCode::InvalidArgument,
                  "type \"Pawn\": function \"Fire\": has a validate and does not promise "
                  "WithValidation");
    description.functions = {{"Fire", FunctionFlags::Server, *foreign}};
    check_refused(registry.add(description), ErrorCode::UnknownType,
                  "type \"Pawn\": function \"Fire\": its parameters \"Foreign\" are not of this "
                  "registry");
    description.functions = {{"Fire", FunctionFlags::Server, *actor}};
    check_refused(registry.add(description), ErrorCode::InvalidArgument,
                  "type \"Pawn\": function \"Fire\": its parameters \"Actor\" are a class");
    description.functions = {{"Fire", FunctionFlags::Server, *parameters}};
    CHECK(registry.add(description));
}
