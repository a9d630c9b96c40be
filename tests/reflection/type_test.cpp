// SPDX-License-Identifier: MIT
#include "support/checks/catch.h"

#include <replayout/reflection/dynamic_type_builder.h>

#include <vector>

using namespace replayout;

namespace {

const Type& built(Result<const Type*> type) {
    REQUIRE(type);
    return **type;
}

}  // namespace

TEST_CASE("Type: finds its own properties and functions, and those of its bases",
          "[reflection][type]") {
    TypeRegistry registry;
    const Type& actor = built(DynamicTypeBuilder(registry, TypeKind::Class, "Actor", 8, 4)
                                  .property("team", PropertyKind::Int32, 0)
                                  .function("Die", FunctionFlags::Multicast)
                                  .build());
    const Type& pawn = built(DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 16, 4)
                                 .base(actor)
                                 .property("health", PropertyKind::Int32, 8)
                                 .function("Fire", FunctionFlags::Server)
                                 .build());
    REQUIRE(pawn.properties().size() == 1);
    CHECK(pawn.find_property("health") == &pawn.properties()[0]);
    CHECK(pawn.find_property("team") == &actor.properties()[0]);
    CHECK(pawn.find_property("ammo") == nullptr);
    CHECK(actor.find_property("health") == nullptr);
    CHECK(pawn.find_function("Fire") == &pawn.functions()[0]);
    CHECK(pawn.find_function("Die") == &actor.functions()[0]);
    CHECK(pawn.find_function("Jump") == nullptr);
}

TEST_CASE("Type: is a child of itself and of all its bases", "[reflection][type]") {
    TypeRegistry registry;
    const Type& actor = built(DynamicTypeBuilder(registry, TypeKind::Class, "Actor", 4, 4).build());
    const Type& pawn =
        built(DynamicTypeBuilder(registry, TypeKind::Class, "Pawn", 4, 4).base(actor).build());
    const Type& hero =
        built(DynamicTypeBuilder(registry, TypeKind::Class, "Hero", 4, 4).base(pawn).build());
    CHECK(hero.is_child_of(hero));
    CHECK(hero.is_child_of(pawn));
    CHECK(hero.is_child_of(actor));
    CHECK_FALSE(actor.is_child_of(hero));
    CHECK_FALSE(actor.is_child_of(pawn));
}

TEST_CASE("Type: nesting depth counts structs and arrays, and stops at a NetSerializer",
          "[reflection][type]") {
    TypeRegistry registry;
    const Type& flat = built(DynamicTypeBuilder(registry, TypeKind::Struct, "Flat", 4, 4)
                                 .property("x", PropertyKind::Float, 0)
                                 .build());
    CHECK(flat.nesting_depth() == 0);
    const Type& nested = built(DynamicTypeBuilder(registry, TypeKind::Struct, "Nested", 4, 4)
                                   .property(struct_property("flat", flat))
                                   .build());
    CHECK(nested.nesting_depth() == 1);

    const Type& listed =
        built(DynamicTypeBuilder(registry, TypeKind::Struct, "Listed", sizeof(std::vector<float>),
                                 alignof(std::vector<float>))
                  .property(array_property<std::vector<float>>("all", struct_property("", nested)))
                  .build());
    CHECK(listed.nesting_depth() == 3);

    StructTraits traits;
    traits.has_net_serializer = true;
    traits.net_serialize = [](void*, NetArchive&, PackageMap*, bool&) { return true; };
    const Type& opaque = built(DynamicTypeBuilder(registry, TypeKind::Struct, "Opaque", 4, 4)
                                   .property(struct_property("flat", flat))
                                   .traits(traits)
                                   .ops(make_type_ops<float>())
                                   .build());
    CHECK(opaque.nesting_depth() == 1);
    const Type& holder = built(DynamicTypeBuilder(registry, TypeKind::Struct, "Holder", 4, 4)
                                   .property(struct_property("opaque", opaque))
                                   .build());
    CHECK(holder.nesting_depth() == 1);
    const Type& child =
        built(DynamicTypeBuilder(registry, TypeKind::Struct, "Child", 8, 4).base(holder).build());
    CHECK(child.nesting_depth() == 1);
}

TEST_CASE("FunctionFlags: combine and are found again", "[reflection][type]") {
    const FunctionFlags flags = FunctionFlags::Server | FunctionFlags::Reliable;
    CHECK(has_flag(flags, FunctionFlags::Server));
    CHECK(has_flag(flags, FunctionFlags::Reliable));
    CHECK_FALSE(has_flag(flags, FunctionFlags::Client));
    CHECK_FALSE(has_flag(FunctionFlags::None, FunctionFlags::Server));
}
