// SPDX-License-Identifier: MIT
#include <replayout/reflection/member_property.h>
#include <replayout/reflection/type_builder.h>

#include <cstdint>
#include <string>

#include "support/checks/catch.h"

using namespace replayout;

namespace {

/// A wrapper around a value, as an engine has them.
template <typename T>
class Watched {
  public:
    T value{};
    std::uint32_t assignments = 0;
};

struct Shot {
    float angle = 0.0f;
    friend bool operator==(const Shot&, const Shot&) = default;
};

struct Turret {
    Watched<std::int32_t> rounds;
    Watched<std::string> name;
    Shot last_shot;
    void fire(const Shot&) {}
};

struct Fortress : Turret {
    std::int32_t previous_rounds = 0;
    void on_rep_rounds(const std::int32_t& previous) { previous_rounds = previous; }
};

}  // namespace

template <typename T>
struct replayout::ReplicatedValue<Watched<T>> {
    using type = T;
};

TEST_CASE("Member properties: of a wrapper its value is replicated, and notified") {
    TypeRegistry registry;
    const auto type = class_builder<Fortress>(registry, "Fortress")
                          .property<&Fortress::rounds>()
                          .on_rep<&Fortress::on_rep_rounds>()
                          .property<&Fortress::name>()
                          .build();
    REQUIRE(type.has_value());
    const Property* rounds = (*type)->find_property("rounds");
    REQUIRE(rounds != nullptr);
    CHECK(rounds->kind == PropertyKind::Int32);
    CHECK(rounds->size == sizeof(std::int32_t));
    CHECK((*type)->find_property("name")->kind == PropertyKind::String);
    Fortress fortress;
    const std::int32_t previous = 7;
    rounds->notify.call(&fortress, &previous, rounds->notify.context);
    CHECK(fortress.previous_rounds == 7);
}

TEST_CASE("Member properties: are what the typed door makes of them") {
    TypeRegistry registry;
    const auto rounds = member_property<Fortress, &Turret::rounds>(registry);
    REQUIRE(rounds.has_value());
    CHECK(rounds->name == "rounds");
    CHECK(rounds->offset == member_offset<Fortress, &Turret::rounds>());
    CHECK(base_offset<Fortress, Turret>() == 0);

    const auto unknown = member_property<Turret, &Turret::last_shot>(registry);
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().code == ErrorCode::UnknownType);
    const auto function = member_function<Turret, &Turret::fire>(registry, FunctionFlags::Server);
    REQUIRE_FALSE(function.has_value());
    CHECK(function.error().code == ErrorCode::UnknownType);

    const auto shot = struct_builder<Shot>(registry, "Shot").property<&Shot::angle>().build();
    REQUIRE(shot.has_value());
    CHECK(member_property<Turret, &Turret::last_shot>(registry)->struct_type == *shot);
    const auto known = member_function<Turret, &Turret::fire>(registry, FunctionFlags::Server);
    REQUIRE(known.has_value());
    CHECK(known->name == "fire");
    CHECK(known->parameters == *shot);
}
