// SPDX-License-Identifier: MIT
#include "reflection/refusal.h"
#include "support/checks/catch.h"

#include <replayout/reflection/type_builder.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

using namespace replayout;

namespace {

enum class Team : std::uint16_t { Red, Blue };

struct Hit {
    Vector3 point;
    float damage = 0.0f;

    friend bool operator==(const Hit&, const Hit&) = default;
};

struct FireParameters {
    Vector3 aim;
};

struct ArmedActor {
    virtual ~ArmedActor() = default;

    std::int64_t id = 0;
    ArmedActor* owner = nullptr;
    bool is_hidden = false;
};

/// Not registered: a part of ArmedPawn that the program happens to write as a base.
struct Ammunition {
    std::int32_t rounds = 30;
    std::uint8_t calibre = 9;
};

struct ArmedPawn : ArmedActor, Ammunition {
    void on_rep_health(const std::int32_t& previous) { previous_health = previous; }
    void on_rep_team() noexcept { ++team_calls; }

    std::int32_t health = 100;
    Team team = Team::Red;
    std::string title;
    std::pmr::string motto;
    Name tag;
    ObjectHandle target;
    Vector3 muzzles[2];
    std::array<std::int16_t, 3> scores{};
    Quat turn;
    Hit last_hit;
    std::vector<Hit> hits;
    std::pmr::vector<std::vector<double>> grid;
    double secret_value = 0.0;

    std::int32_t previous_health = 0;
    int team_calls = 0;
    std::string previous_title;
    int muzzle_calls = 0;
};

void on_rep_armed_title(ArmedPawn& pawn, const std::string& previous) {
    pawn.previous_title = previous;
}

void on_rep_muzzle(ArmedPawn& pawn) {
    ++pawn.muzzle_calls;
}

std::uint32_t offset_in(const ArmedPawn& pawn, const void* member) {
    return static_cast<std::uint32_t>(static_cast<const std::byte*>(member) -
                                      reinterpret_cast<const std::byte*>(&pawn));
}

/// Registers all of the above; the answer is ArmedPawn.
const Type& register_pawn(TypeRegistry& registry) {
    REQUIRE(struct_builder<Hit>(registry, "Hit")
                .property<&Hit::point>()
                .property<&Hit::damage>()
                .build());
    REQUIRE(struct_builder<FireParameters>(registry, "FireParameters")
                .property<&FireParameters::aim>()
                .build());
    REQUIRE(class_builder<ArmedActor>(registry, "Actor")
                .property<&ArmedActor::id>()
                .property<&ArmedActor::owner>()
                .property<&ArmedActor::is_hidden>()
                .build());
    const auto pawn =
        class_builder<ArmedPawn>(registry, "Pawn")
            .base<ArmedActor>()
            .property<&ArmedPawn::rounds>()
            .property<&Ammunition::calibre>()
            .property<&ArmedPawn::health>()
            .on_rep<&ArmedPawn::on_rep_health>()
            .property<&ArmedPawn::team>()
            .on_rep<&ArmedPawn::on_rep_team>()
            .property<&ArmedPawn::title>()
            .on_rep<&on_rep_armed_title>()
            .property<&ArmedPawn::motto>()
            .property<&ArmedPawn::tag>()
            .property<&ArmedPawn::target>()
            .property<&ArmedPawn::muzzles>()
            .on_rep<&on_rep_muzzle>()
            .property<&ArmedPawn::scores>()
            .property<&ArmedPawn::turn>()
            .property<&ArmedPawn::last_hit>()
            .property<&ArmedPawn::hits>()
            .property<&ArmedPawn::grid>()
            .property<&ArmedPawn::secret_value>("secret")
            .not_replicated()
            .function<FireParameters>("ServerFire", FunctionFlags::Server | FunctionFlags::Reliable)
            .function("ClientDie", FunctionFlags::Client)
            .build();
    if (!pawn) {
        FAIL(pawn.error().message);
    }
    return **pawn;
}

}  // namespace

TEST_CASE("TypeBuilder: takes names, kinds and sizes from the members",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    const Type& pawn = register_pawn(registry);
    const struct {
        std::string_view name;
        PropertyKind kind;
        std::size_t size;
        std::uint32_t array_dim;
    } expected[] = {
        {"rounds", PropertyKind::Int32, 4, 1},
        {"calibre", PropertyKind::UInt8, 1, 1},
        {"health", PropertyKind::Int32, 4, 1},
        {"team", PropertyKind::Enum, 2, 1},
        {"title", PropertyKind::String, sizeof(std::string), 1},
        {"motto", PropertyKind::String, sizeof(std::pmr::string), 1},
        {"tag", PropertyKind::Name, sizeof(Name), 1},
        {"target", PropertyKind::ObjectReference, sizeof(ObjectHandle), 1},
        {"muzzles", PropertyKind::Vector, sizeof(Vector3), 2},
        {"scores", PropertyKind::Int16, 2, 3},
        {"turn", PropertyKind::Quat, sizeof(Quat), 1},
        {"last_hit", PropertyKind::Struct, sizeof(Hit), 1},
        {"hits", PropertyKind::DynamicArray, sizeof(std::vector<Hit>), 1},
        {"grid", PropertyKind::DynamicArray, sizeof(std::pmr::vector<int>), 1},
        {"secret", PropertyKind::Double, 8, 1},
    };
    REQUIRE(pawn.properties().size() == std::size(expected));
    for (std::size_t index = 0; index < std::size(expected); ++index) {
        const Property& property = pawn.properties()[index];
        CAPTURE(property.name);
        CHECK(property.name == expected[index].name);
        CHECK(property.kind == expected[index].kind);
        CHECK(property.size == expected[index].size);
        CHECK(property.array_dim == expected[index].array_dim);
        CHECK(property.is_replicated == (property.name != "secret"));
    }
    CHECK(pawn.kind() == TypeKind::Class);
    CHECK(pawn.size() == sizeof(ArmedPawn));
    CHECK(pawn.alignment() == alignof(ArmedPawn));
}

TEST_CASE("TypeBuilder: offsets are those of the members, in bases too",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    const Type& type = register_pawn(registry);
    const ArmedPawn pawn;
    CHECK(type.find_property("rounds")->offset == offset_in(pawn, &pawn.rounds));
    CHECK(type.find_property("calibre")->offset == offset_in(pawn, &pawn.calibre));
    CHECK(type.find_property("health")->offset == offset_in(pawn, &pawn.health));
    CHECK(type.find_property("muzzles")->offset == offset_in(pawn, &pawn.muzzles));
    CHECK(type.find_property("scores")->offset == offset_in(pawn, &pawn.scores));
    CHECK(type.find_property("grid")->offset == offset_in(pawn, &pawn.grid));
    CHECK(type.find_property("secret")->offset == offset_in(pawn, &pawn.secret_value));
    // Not in first place, so that offsets without the base's would be seen.
    CHECK(type.find_property("rounds")->offset > 0);
    const ArmedActor& actor = pawn;
    REQUIRE(type.base() == registry.find("Actor"));
    CHECK(type.base_offset() == offset_in(pawn, &actor));
    CHECK(type.find_property("id") == &type.base()->properties()[0]);
    CHECK(type.find_property("id")->offset == offset_in(pawn, &pawn.id));
}

namespace {

struct Second {
    std::int32_t value = 2;
};

struct First {
    std::int64_t value = 1;
};

struct Both : First, Second {
    std::int32_t own = 3;
};

/// `own` lies in the padding at the end of the base, where the compiler lets it.
struct PaddedBase {
    virtual ~PaddedBase() = default;
    std::int64_t wide = 0;
    std::int8_t narrow = 0;
};

struct Padded : PaddedBase {
    std::int8_t own = 0;
};

}  // namespace

TEST_CASE("TypeBuilder: a base that does not lie first has its offset",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    REQUIRE(struct_builder<Second>(registry, "Second").property<&Second::value>().build());
    const auto both = struct_builder<Both>(registry, "Both")
                          .base<Second>()
                          .property<&First::value>("first")
                          .property<&Both::own>()
                          .build();
    REQUIRE(both);
    CHECK((*both)->base_offset() == sizeof(First));
    CHECK((*both)->find_property("first")->offset == 0);
    CHECK((*both)->find_property("value")->offset == 0);
    CHECK((*both)->find_property("own")->offset == sizeof(First) + sizeof(Second));
}

TEST_CASE("TypeBuilder: a member in the padding of its base is no overlap",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    REQUIRE(class_builder<PaddedBase>(registry, "PaddedBase")
                .property<&PaddedBase::wide>()
                .property<&PaddedBase::narrow>()
                .build());
    CHECK(class_builder<Padded>(registry, "Padded")
              .base<PaddedBase>()
              .property<&Padded::own>()
              .build());
}

TEST_CASE("TypeBuilder: values are reached through the operations it gives",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    const Type& type = register_pawn(registry);
    ArmedPawn pawn;
    const Property& motto = *type.find_property("motto");
    CHECK(motto.string.assign(&pawn.motto, "onward", motto.string.context));
    CHECK(pawn.motto == "onward");
    const Property& tag = *type.find_property("tag");
    CHECK(tag.string.assign(&pawn.tag, "red", tag.string.context));
    CHECK(registry.names().text(pawn.tag) == "red");
    const Property& owner = *type.find_property("owner");
    owner.reference.set(&pawn.owner, ObjectHandle{reinterpret_cast<std::uintptr_t>(&pawn)});
    CHECK(pawn.owner == &pawn);

    const Property& hits = *type.find_property("hits");
    hits.array.resize(&pawn.hits, 2);
    CHECK(pawn.hits.size() == 2);
    REQUIRE(hits.element != nullptr);
    CHECK(hits.element->struct_type == registry.find("Hit"));
    CHECK(hits.element->size == sizeof(Hit));
    CHECK(hits.element->ops.equal(&pawn.hits[0], &pawn.hits[1]));
    const Property& grid = *type.find_property("grid");
    REQUIRE(grid.element->kind == PropertyKind::DynamicArray);
    CHECK(grid.element->element->kind == PropertyKind::Double);
    CHECK(type.nesting_depth() == 2);
}

TEST_CASE("TypeBuilder: the life of a class is its making and its end, of a struct all",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    const Type& pawn = register_pawn(registry);
    alignas(ArmedPawn) std::byte memory[sizeof(ArmedPawn)];
    pawn.ops().construct(memory);
    CHECK(std::launder(reinterpret_cast<ArmedPawn*>(memory))->health == 100);
    pawn.ops().destroy(memory);
    CHECK(pawn.ops().copy_construct == nullptr);

    const Type& hit = *registry.find("Hit");
    CHECK(hit.kind() == TypeKind::Struct);
    CHECK(hit.ops().copy_construct != nullptr);
    CHECK(hit.ops().equal != nullptr);
    CHECK(hit.ops().is_trivial);
}

TEST_CASE(
    "TypeBuilder: notifies reach members and free functions, with or without the value before",
    "[reflection][type_builder]") {
    TypeRegistry registry;
    const Type& type = register_pawn(registry);
    ArmedPawn pawn;
    const auto notify = [&](std::string_view name, const void* previous) {
        const NotifyFunction& function = type.find_property(name)->notify;
        REQUIRE(function);
        function.call(&pawn, previous, function.context);
    };
    const std::int32_t health = 77;
    notify("health", &health);
    CHECK(pawn.previous_health == 77);
    notify("team", nullptr);
    CHECK(pawn.team_calls == 1);
    const std::string title = "before";
    notify("title", &title);
    CHECK(pawn.previous_title == "before");
    notify("muzzles", &pawn.muzzles[1]);
    CHECK(pawn.muzzle_calls == 1);
    CHECK_FALSE(type.find_property("turn")->notify);
}

TEST_CASE("TypeBuilder: functions carry flags and parameters", "[reflection][type_builder]") {
    TypeRegistry registry;
    const Type& pawn = register_pawn(registry);
    const Function* fire = pawn.find_function("ServerFire");
    REQUIRE(fire != nullptr);
    CHECK(fire->flags == (FunctionFlags::Server | FunctionFlags::Reliable));
    CHECK(fire->parameters == registry.find("FireParameters"));
    CHECK(pawn.find_function("ClientDie")->parameters == nullptr);
}

TEST_CASE("TypeBuilder: a struct that is not registered is named with its member",
          "[reflection][type_builder]") {
    struct Owner {
        Hit hit;
        std::vector<std::vector<Hit>> list;
    };
    TypeRegistry registry;
    const auto refused = [](const Result<const Type*>& result, std::string_view begin,
                            std::string_view type) {
        REQUIRE_FALSE(result);
        CHECK(result.error().code == ErrorCode::UnknownType);
        CAPTURE(result.error().message);
        CHECK(result.error().message.starts_with(begin));
        CHECK(result.error().message.find(type) != std::string::npos);
        CHECK(result.error().message.ends_with(" must be registered before"));
    };
    refused(class_builder<Owner>(registry, "Owner").property<&Owner::hit>().build(),
            "type \"Owner\": property \"hit\": C++ type ", "Hit");
    refused(class_builder<Owner>(registry, "Owner").property<&Owner::list>("all").build(),
            "type \"Owner\": property \"all\": C++ type ", "Hit");
    refused(class_builder<ArmedPawn>(registry, "Pawn").base<ArmedActor>().build(),
            "type \"Pawn\": base: C++ type ", "Actor");
    refused(class_builder<ArmedPawn>(registry, "Pawn")
                .function<FireParameters>("Fire", FunctionFlags::Server)
                .build(),
            "type \"Pawn\": function \"Fire\": C++ type ", "FireParameters");
    CHECK(registry.types().empty());
}

TEST_CASE("TypeBuilder: the first error is the one that build tells",
          "[reflection][type_builder]") {
    struct Owner {
        Hit first;
        Hit second;
    };
    TypeRegistry registry;
    const auto owner = class_builder<Owner>(registry, "")
                           .property<&Owner::first>()
                           .property<&Owner::second>()
                           .build();
    REQUIRE_FALSE(owner);
    CHECK(owner.error().message.starts_with("type \"\": property \"first\": "));
}

TEST_CASE("TypeBuilder: a registry's own refusals come through build",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    check_refused(
        struct_builder<Hit>(registry, "Hit")
            .property<&Hit::damage>()
            .property<&Hit::damage>("again")
            .build(),
        ErrorCode::OverlappingProperties,
        "type \"Hit\": property \"again\": overlaps property \"damage\" (offset 12, other "
        "at 12 to 16)");
    REQUIRE(registry.freeze());
    check_refused(struct_builder<Hit>(registry, "Hit").build(), ErrorCode::RegistryFrozen,
                  "type \"Hit\": cannot be added, the registry is frozen");
}

TEST_CASE("TypeBuilder: a builder kept in a variable takes properties one by one",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    auto builder = struct_builder<Hit>(registry, "Hit");
    builder.property<&Hit::point>();
    builder.property<&Hit::damage>().not_replicated();
    const auto hit = builder.build();
    REQUIRE(hit);
    CHECK((*hit)->properties().size() == 2);
    check_refused(builder.build(), ErrorCode::InvalidArgument,
                  "type \"Hit\": was already given to the registry by this builder");
}

namespace {

template <typename T>
struct Box {
    T value{};
    int unusual_name_9 = 0;
};

class Sealed {
  public:
    static Result<const Type*> describe(TypeRegistry& registry) {
        return class_builder<Sealed>(registry, "Sealed").property<&Sealed::inner_>().build();
    }

  private:
    std::int32_t inner_ = 0;
};

/// Held by pointer and never copied; the class builder must not ask for its copy.
struct Owning {
    std::vector<std::unique_ptr<int>> parts;
    std::int32_t count = 0;
};

}  // namespace

TEST_CASE("TypeBuilder: names of members of templates and of private members are found",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    const auto box = struct_builder<Box<std::array<int, 3>>>(registry, "Box")
                         .property<&Box<std::array<int, 3>>::value>()
                         .property<&Box<std::array<int, 3>>::unusual_name_9>()
                         .build();
    REQUIRE(box);
    CHECK((*box)->properties()[0].name == "value");
    CHECK((*box)->properties()[1].name == "unusual_name_9");
    const auto sealed = Sealed::describe(registry);
    REQUIRE(sealed);
    CHECK((*sealed)->properties()[0].name == "inner_");
}

TEST_CASE("TypeBuilder: a class that cannot be copied is described all the same",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    CHECK(class_builder<Owning>(registry, "Owning").property<&Owning::count>().build());
}

namespace {

struct Serialized {
    bool net_serialize(NetArchive&, PackageMap*, bool&) { return true; }
    friend bool operator==(const Serialized&, const Serialized&) = default;

    std::string text;
};

}  // namespace

template <>
struct replayout::StructTraitsOf<Serialized> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

TEST_CASE("TypeBuilder: traits come from StructTraitsOf", "[reflection][type_builder]") {
    TypeRegistry registry;
    const auto serialized = struct_builder<Serialized>(registry, "Serialized").build();
    REQUIRE(serialized);
    CHECK((*serialized)->traits().has_net_serializer);
    CHECK((*serialized)->traits().net_serialize != nullptr);
    CHECK_FALSE((*serialized)->ops().is_trivial);
}

namespace {

struct Flagged {
    std::string text;
    std::uint32_t before : 3;
    std::uint32_t is_open : 1;
    std::uint32_t is_locked : 1;
    std::vector<std::vector<Vector3>> routes;

    Flagged() : before(5), is_open(1), is_locked(0) {}
    void on_rep_locked(const bool&) {}
};

}  // namespace

TEST_CASE("TypeBuilder: the place of a bit is found by setting it", "[reflection][type_builder]") {
    TypeRegistry registry;
    const auto flagged =
        class_builder<Flagged>(registry, "Flagged")
            .bit<[](Flagged& value, bool is_set) { value.is_open = is_set; }>("is_open")
            .bit<[](Flagged& value, bool is_set) { value.is_locked = is_set; }>("is_locked")
            .on_rep<&Flagged::on_rep_locked>()
            .build();
    REQUIRE(flagged);
    const Property& open = (*flagged)->properties()[0];
    const Property& locked = (*flagged)->properties()[1];
    CHECK(open.kind == PropertyKind::BitBool);
    CHECK(open.offset == locked.offset);
    CHECK(open.bit_mask != locked.bit_mask);
    CHECK(locked.notify);
    Flagged value;
    auto* byte = reinterpret_cast<unsigned char*>(&value) + locked.offset;
    *byte = static_cast<unsigned char>(*byte | locked.bit_mask);
    CHECK(value.is_locked == 1);
    CHECK(value.before == 5);
    TypeRegistry other_registry;
    check_refused(class_builder<Flagged>(other_registry, "Other")
                      .bit<[](Flagged& other, bool is_set) { other.before = is_set ? 7 : 0; }>("no")
                      .build(),
                  ErrorCode::InvalidArgument,
                  "type \"Other\": property \"no\": is not one bit of its byte (mask 0)");
}

TEST_CASE("TypeBuilder: a quantisation goes to the innermost element",
          "[reflection][type_builder]") {
    TypeRegistry registry;
    const auto flagged = class_builder<Flagged>(registry, "Flagged")
                             .property<&Flagged::routes>()
                             .quantised(Quantisation::hundredth())
                             .build();
    REQUIRE(flagged);
    const Property& routes = (*flagged)->properties()[0];
    CHECK_FALSE(routes.quantisation);
    CHECK_FALSE(routes.element->quantisation);
    CHECK(routes.element->element->quantisation.steps_per_unit == 100);
}
