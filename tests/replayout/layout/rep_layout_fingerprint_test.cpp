// SPDX-License-Identifier: MIT
//
// What two ends must agree on and what each may do as it likes. Types are made by the dynamic door,
// so that one thing at a time can differ.
#include <replayout/reflection/dynamic_type_builder.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"

namespace replayout {
namespace {

/// Declares properties of a class of 64 bytes.
using Declare = std::function<void(TypeRegistry& registry, DynamicTypeBuilder& builder)>;

void construct_zeros(void* memory) {
    std::fill_n(static_cast<std::byte*>(memory), 64, std::byte{0});
}

void destroy_nothing(void*) {}

TypeOps class_ops() {
    TypeOps ops;
    ops.construct = construct_zeros;
    ops.destroy = destroy_nothing;
    ops.size = 64;
    ops.alignment = 8;
    return ops;
}

std::unique_ptr<RepLayout> make_layout(TypeRegistry& registry, const Declare& declare,
                                       std::string_view name = "Thing", RepLimits limits = {}) {
    DynamicTypeBuilder builder(registry, TypeKind::Class, name, 64, 8);
    declare(registry, builder);
    builder.ops(class_ops());
    const Result<const Type*> type = builder.build();
    INFO((type ? "" : type.error().message));
    REQUIRE(type);
    REQUIRE(registry.freeze());
    RepLayoutOptions options;
    options.limits = limits;
    auto layout = RepLayout::create(registry, **type, options);
    INFO((layout ? "" : layout.error().message));
    REQUIRE(layout);
    return std::move(*layout);
}

std::string fingerprint_of(const Declare& declare, std::string_view name = "Thing",
                           RepLimits limits = {}) {
    TypeRegistry registry;
    return to_string(make_layout(registry, declare, name, limits)->fingerprint());
}

/// The memory of every struct here.
struct StructValue {
    std::uint32_t numbers[2];

    friend bool operator==(const StructValue&, const StructValue&) = default;
};

const Type& make_struct(TypeRegistry& registry, std::string_view name,
                        const std::vector<std::string>& members, PropertyKind kind,
                        const StructTraits& traits = {}) {
    DynamicTypeBuilder builder(registry, TypeKind::Struct, name, 8, 4);
    std::uint32_t offset = 0;
    for (const std::string& member : members) {
        builder.property(member, kind, offset);
        offset += 4;
    }
    builder.traits(traits).ops(make_type_ops<StructValue>());
    const Result<const Type*> type = builder.build();
    INFO((type ? "" : type.error().message));
    REQUIRE(type);
    return **type;
}

void two_ints(TypeRegistry&, DynamicTypeBuilder& builder) {
    builder.property("a", PropertyKind::Int32, 0).property("b", PropertyKind::Int32, 4);
}

/// Adds a member "part" that is a struct of two floats "x" and "y".
Declare struct_of(std::string name, std::vector<std::string> members = {"x", "y"},
                  StructTraits traits = {}) {
    return [=](TypeRegistry& registry, DynamicTypeBuilder& builder) {
        const Type& type = make_struct(registry, name, members, PropertyKind::Float, traits);
        builder.property(struct_property("part", type, 8));
    };
}

StructTraits net_serializer(bool is_shared) {
    StructTraits traits;
    traits.has_net_serializer = true;
    traits.has_net_shared_serialization = is_shared;
    traits.net_serialize = [](void*, NetArchive&, PackageMap*, bool&) { return true; };
    return traits;
}

TEST_CASE("Fingerprint: is the same each time, and 128 bits long",
          "[replayout][rep_layout_fingerprint]") {
    CHECK(fingerprint_of(two_ints) == fingerprint_of(two_ints));
    CHECK(fingerprint_of(two_ints).size() == 32);
}

TEST_CASE("Fingerprint: where a member lies in memory does not count",
          "[replayout][rep_layout_fingerprint]") {
    CHECK(fingerprint_of(two_ints) ==
          fingerprint_of([](TypeRegistry&, DynamicTypeBuilder& builder) {
              builder.property("a", PropertyKind::Int32, 24).property("b", PropertyKind::Int32, 0);
          }));
}

TEST_CASE("Fingerprint: members that are not replicated and notifies do not count",
          "[replayout][rep_layout_fingerprint]") {
    CHECK(fingerprint_of(two_ints) ==
          fingerprint_of([](TypeRegistry&, DynamicTypeBuilder& builder) {
              builder.property("a", PropertyKind::Int32, 0)
                  .on_rep({[](void*, const void*, void*) {}, nullptr})
                  .property("secret", PropertyKind::Double, 8)
                  .not_replicated()
                  .property("b", PropertyKind::Int32, 4);
          }));
}

TEST_CASE("Fingerprint: functions that are called remotely count: names, kinds, parameters",
          "[replayout][rep_layout_fingerprint]") {
    const auto with_function = [](std::string_view name, FunctionFlags flags,
                                  bool has_parameters = false) {
        return fingerprint_of([=](TypeRegistry& registry, DynamicTypeBuilder& builder) {
            two_ints(registry, builder);
            const Type* parameters = nullptr;
            if (has_parameters) {
                DynamicTypeBuilder made(registry, TypeKind::Struct, "Parameters", 64, 8);
                made.property("amount", PropertyKind::Int32, 0).ops(class_ops());
                const Result<const Type*> type = made.build();
                REQUIRE(type);
                parameters = *type;
            }
            builder.function(name, flags, parameters);
        });
    };
    const std::string fire = with_function("Fire", FunctionFlags::Server);
    CHECK(fire != fingerprint_of(two_ints));
    CHECK(fire == with_function("Fire", FunctionFlags::Server));
    CHECK(fire != with_function("Fired", FunctionFlags::Server));
    CHECK(fire != with_function("Fire", FunctionFlags::Client));
    CHECK(fire != with_function("Fire", FunctionFlags::Server | FunctionFlags::Reliable));
    CHECK(fire != with_function("Fire", FunctionFlags::Server, true));
    // Who checks, and what is never called remotely, is nobody else's business.
    CHECK(fire == with_function("Fire", FunctionFlags::Server | FunctionFlags::WithValidation));
    CHECK(with_function("Fire", FunctionFlags::None) == fingerprint_of(two_ints));
}

TEST_CASE("RepLayout: functions have indices, those of the base first",
          "[replayout][rep_layout_fingerprint]") {
    TypeRegistry registry;
    DynamicTypeBuilder base(registry, TypeKind::Class, "Base", 64, 8);
    base.property("a", PropertyKind::Int32, 0)
        .function("Shake", FunctionFlags::Multicast)
        .function("Local", FunctionFlags::None)
        .ops(class_ops());
    const Result<const Type*> base_type = base.build();
    REQUIRE(base_type);
    DynamicTypeBuilder derived(registry, TypeKind::Class, "Derived", 128, 8);
    TypeOps ops = class_ops();
    ops.size = 128;
    ops.construct = [](void* memory) {
        std::fill_n(static_cast<std::byte*>(memory), 128, std::byte{0});
    };
    derived.base(**base_type, 64).function("Fire", FunctionFlags::Remote).ops(ops);
    const Result<const Type*> type = derived.build();
    REQUIRE(type);
    REQUIRE(registry.freeze());
    const auto layout = RepLayout::create(registry, **type);
    REQUIRE(layout);
    REQUIRE((*layout)->functions().size() == 2);
    CHECK((*layout)->functions()[0].function->name == "Shake");
    CHECK((*layout)->functions()[0].object_offset == 64);
    CHECK((*layout)->functions()[0].runs_on_clients());
    CHECK_FALSE((*layout)->functions()[0].runs_on_server());
    CHECK((*layout)->functions()[1].object_offset == 0);
    CHECK((*layout)->functions()[1].runs_on_clients());
    CHECK((*layout)->functions()[1].runs_on_server());
    CHECK((*layout)->find_function("Fire") == FunctionIndex{1});
    CHECK_FALSE((*layout)->find_function("Local").has_value());
}

TEST_CASE("Fingerprint: the name of a struct that is flattened does not count, its members' do",
          "[replayout][rep_layout_fingerprint]") {
    CHECK(fingerprint_of(struct_of("Point")) == fingerprint_of(struct_of("Vec2")));
    CHECK(fingerprint_of(struct_of("Point")) != fingerprint_of(struct_of("Point", {"x", "z"})));
    CHECK(fingerprint_of(struct_of("Point")) != fingerprint_of(struct_of("Point", {"x"})));
}

TEST_CASE("Fingerprint: who serializes for whom does not count, what is serialized does",
          "[replayout][rep_layout_fingerprint]") {
    const std::string shared = fingerprint_of(struct_of("Point", {"x", "y"}, net_serializer(true)));
    CHECK(shared == fingerprint_of(struct_of("Point", {"x", "y"}, net_serializer(false))));
    CHECK(shared != fingerprint_of(struct_of("Point")));
    // One value, whose form only its name stands for.
    CHECK(shared != fingerprint_of(struct_of("Vec2", {"x", "y"}, net_serializer(true))));
    CHECK(shared == fingerprint_of(struct_of("Point", {"x"}, net_serializer(true))));

    StructTraits shared_only;
    shared_only.has_net_shared_serialization = true;
    CHECK(fingerprint_of(struct_of("Point")) ==
          fingerprint_of(struct_of("Point", {"x", "y"}, shared_only)));
}

TEST_CASE("Fingerprint: names, kinds, order and count of members count",
          "[replayout][rep_layout_fingerprint]") {
    const std::string reference = fingerprint_of(two_ints);
    const auto other = [&reference](const Declare& declare) {
        return fingerprint_of(declare) != reference;
    };
    CHECK(other([](TypeRegistry&, DynamicTypeBuilder& builder) {
        builder.property("a", PropertyKind::Int32, 0).property("c", PropertyKind::Int32, 4);
    }));
    CHECK(other([](TypeRegistry&, DynamicTypeBuilder& builder) {
        builder.property("b", PropertyKind::Int32, 0).property("a", PropertyKind::Int32, 4);
    }));
    CHECK(other([](TypeRegistry&, DynamicTypeBuilder& builder) {
        builder.property("a", PropertyKind::Int32, 0).property("b", PropertyKind::UInt32, 4);
    }));
    CHECK(other([](TypeRegistry&, DynamicTypeBuilder& builder) {
        builder.property("a", PropertyKind::Int32, 0);
    }));
    CHECK(other([](TypeRegistry& registry, DynamicTypeBuilder& builder) {
        two_ints(registry, builder);
        builder.property("c", PropertyKind::Bool, 8);
    }));
    CHECK(other([](TypeRegistry&, DynamicTypeBuilder& builder) {
        builder.property("a", PropertyKind::Int32, 0, 2).property("b", PropertyKind::Int32, 8);
    }));
}

TEST_CASE("Fingerprint: the name of the type and the limits of values count",
          "[replayout][rep_layout_fingerprint]") {
    const std::string reference = fingerprint_of(two_ints);
    CHECK(fingerprint_of(two_ints, "Other") != reference);
    RepLimits strings;
    strings.string_bytes_max += 1;
    CHECK(fingerprint_of(two_ints, "Thing", strings) != reference);
    RepLimits arrays;
    arrays.array_count_max += 1;
    CHECK(fingerprint_of(two_ints, "Thing", arrays) != reference);
}

TEST_CASE("Fingerprint: the width of an enum counts", "[replayout][rep_layout_fingerprint]") {
    const auto with_enum = [](std::uint32_t size) {
        return fingerprint_of([size](TypeRegistry&, DynamicTypeBuilder& builder) {
            builder.property(enum_property("mode", size, 0));
        });
    };
    CHECK(with_enum(1) == with_enum(1));
    CHECK(with_enum(1) != with_enum(2));
    CHECK(with_enum(4) != with_enum(8));
}

TEST_CASE("Fingerprint: the size of a container does not count, the kind of its elements does",
          "[replayout][rep_layout_fingerprint]") {
    const std::string standard = fingerprint_of([](TypeRegistry&, DynamicTypeBuilder& builder) {
        builder.property(array_property<std::vector<std::uint16_t>>(
            "list", plain_property("", PropertyKind::UInt16), 0));
    });
    CHECK(standard == fingerprint_of([](TypeRegistry&, DynamicTypeBuilder& builder) {
              builder.property(array_property<std::pmr::vector<std::uint16_t>>(
                  "list", plain_property("", PropertyKind::UInt16), 0));
          }));
    CHECK(standard != fingerprint_of([](TypeRegistry&, DynamicTypeBuilder& builder) {
              builder.property(array_property<std::vector<std::int16_t>>(
                  "list", plain_property("", PropertyKind::Int16), 0));
          }));
    CHECK(standard != fingerprint_of([](TypeRegistry&, DynamicTypeBuilder& builder) {
              builder.property("list", PropertyKind::UInt16, 0);
          }));
}

TEST_CASE("Fingerprint: a member of a struct is not a member beside it",
          "[replayout][rep_layout_fingerprint]") {
    const auto inside = [](TypeRegistry& registry, DynamicTypeBuilder& builder) {
        const Type& type = make_struct(registry, "Part", {"x", "y"}, PropertyKind::Float);
        builder.property(struct_property("part", type, 0));
    };
    const auto beside = [](TypeRegistry& registry, DynamicTypeBuilder& builder) {
        const Type& type = make_struct(registry, "Part", {"x"}, PropertyKind::Float);
        builder.property(struct_property("part", type, 0)).property("y", PropertyKind::Float, 8);
    };
    CHECK(fingerprint_of(inside) != fingerprint_of(beside));
}

TEST_CASE("Checksum of a command: stands for the names and kinds on the way to it",
          "[replayout][rep_layout_fingerprint]") {
    const auto checksums = [](const Declare& declare) {
        TypeRegistry registry;
        const std::unique_ptr<RepLayout> layout = make_layout(registry, declare);
        std::vector<std::uint32_t> result;
        for (std::uint32_t handle = 1; handle <= layout->handle_count(); ++handle) {
            result.push_back(
                layout->cmd(layout->cmd_of(layout->root(), RepHandle{handle})).checksum);
        }
        return result;
    };
    const std::vector<std::uint32_t> reference = checksums(two_ints);
    CHECK(reference[0] != reference[1]);
    // The same property keeps its checksum, wherever it stands.
    const std::vector<std::uint32_t> moved =
        checksums([](TypeRegistry&, DynamicTypeBuilder& builder) {
            builder.property("new", PropertyKind::Bool, 8)
                .property("b", PropertyKind::Int32, 4)
                .property("a", PropertyKind::Int64, 16);
        });
    CHECK(moved[1] == reference[1]);
    CHECK(moved[2] != reference[0]);
    // Elements of a C array differ, and so do equal members of different structs.
    const std::vector<std::uint32_t> parts =
        checksums([](TypeRegistry& registry, DynamicTypeBuilder& builder) {
            const Type& type = make_struct(registry, "Part", {"x"}, PropertyKind::Float);
            builder.property(struct_property("left", type, 0))
                .property(struct_property("right", type, 8))
                .property("numbers", PropertyKind::Int32, 16, 2);
        });
    CHECK(parts[0] != parts[1]);
    CHECK(parts[2] != parts[3]);
}

}  // namespace
}  // namespace replayout
