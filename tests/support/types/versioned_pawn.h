// SPDX-License-Identifier: MIT
//
// One class in two versions, and what both of them have.
#pragma once

#include <replayout/reflection/type_builder.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/types/test_types.h"

namespace replayout {

/// The class as it was.
namespace older {

struct Hit {
    float damage = 0.0f;
    std::uint8_t bone = 0;
    bool is_old = false;
};

struct Pawn {
    std::int32_t health = 100;
    std::string title;
    ObjectHandle target;
    Hit last_hit;
    std::vector<Hit> hits;
    std::optional<std::uint32_t> code;
    Vector3 place;
    std::uint16_t retyped = 5;
    std::uint8_t removed = 6;
    std::vector<std::int32_t> numbers;
    std::array<std::int16_t, 3> scores{};
    Aim aim;
    bool is_armed = false;

    std::vector<std::string> calls;

    void on_rep_health() { calls.push_back("health"); }
    void on_rep_title() { calls.push_back("title"); }
    void on_rep_hits() { calls.push_back("hits"); }
    void on_rep_removed() { calls.push_back("removed"); }
};

inline Result<const Type*> build(TypeRegistry& registry) {
    register_parts(registry);
    (void)struct_builder<Hit>(registry, "Hit")
        .property<&Hit::damage>()
        .property<&Hit::bone>()
        .property<&Hit::is_old>()
        .build();
    return class_builder<Pawn>(registry, "Pawn")
        .property<&Pawn::health>()
        .on_rep<&Pawn::on_rep_health>()
        .property<&Pawn::title>()
        .on_rep<&Pawn::on_rep_title>()
        .property<&Pawn::target>()
        .property<&Pawn::last_hit>()
        .property<&Pawn::hits>()
        .on_rep<&Pawn::on_rep_hits>()
        .property<&Pawn::code>()
        .property<&Pawn::place>()
        .quantised(Quantisation::tenth())
        .property<&Pawn::retyped>()
        .property<&Pawn::removed>()
        .on_rep<&Pawn::on_rep_removed>()
        .property<&Pawn::numbers>()
        .property<&Pawn::scores>()
        .property<&Pawn::aim>()
        .property<&Pawn::is_armed>()
        .build();
}

}  // namespace older

/// The class as it is: in another order, with members added, removed, retyped and renamed, a
/// bitfield instead of a bool, and another quantisation.
namespace newer {

struct Hit {
    std::uint8_t bone = 0;
    std::string cause;
    float damage = 0.0f;
    std::vector<ObjectHandle> witnesses;
};

struct Pawn {
    std::vector<Hit> hits;
    Quat added;
    std::string title;
    std::int32_t health = 100;
    std::uint32_t retyped = 7;
    Hit last_hit;
    std::vector<Wound> added_wounds;
    std::optional<std::uint32_t> code;
    Vector3 place;
    ObjectHandle target;
    std::vector<std::int64_t> numbers;
    std::array<std::int16_t, 4> scores{};
    Aim aim;
    Secret added_secret;
    std::optional<Wound> added_wound;
    bool is_armed : 1 = false;

    std::vector<std::string> calls;

    void on_rep_health() { calls.push_back("health"); }
    void on_rep_title() { calls.push_back("title"); }
    void on_rep_hits() { calls.push_back("hits"); }
    void on_rep_added() { calls.push_back("added"); }
};

inline Result<const Type*> build(TypeRegistry& registry) {
    register_parts(registry);
    (void)struct_builder<Hit>(registry, "Hit")
        .property<&Hit::bone>()
        .property<&Hit::cause>()
        .property<&Hit::damage>()
        .property<&Hit::witnesses>()
        .build();
    return class_builder<Pawn>(registry, "Pawn")
        .property<&Pawn::hits>()
        .on_rep<&Pawn::on_rep_hits>()
        .property<&Pawn::added>()
        .on_rep<&Pawn::on_rep_added>()
        .property<&Pawn::title>()
        .on_rep<&Pawn::on_rep_title>()
        .property<&Pawn::health>()
        .on_rep<&Pawn::on_rep_health>()
        .property<&Pawn::retyped>()
        .property<&Pawn::last_hit>()
        .property<&Pawn::added_wounds>()
        .property<&Pawn::code>()
        .property<&Pawn::place>()
        .quantised(Quantisation::hundredth())
        .property<&Pawn::target>()
        .property<&Pawn::numbers>()
        .property<&Pawn::scores>()
        .property<&Pawn::aim>()
        .property<&Pawn::added_secret>()
        .property<&Pawn::added_wound>()
        .bit<[](Pawn& pawn, bool is_set) { pawn.is_armed = is_set; }>("is_armed")
        .build();
}

}  // namespace newer

/// A value in everything that both versions have.
template <typename Pawn>
void fill(Pawn& pawn) {
    pawn.health = 60;
    pawn.title = "captain";
    pawn.target = ObjectHandle{3};
    pawn.last_hit.damage = 2.5f;
    pawn.last_hit.bone = 4;
    pawn.hits.resize(2);
    pawn.hits[0].damage = 1.0f;
    pawn.hits[1].bone = 9;
    pawn.code = 77;
    pawn.place = {1.0f, 2.0f, 3.0f};
    pawn.retyped = 55;
    pawn.numbers = {1, 2, 3};
    pawn.scores[0] = 10;
    pawn.scores[2] = 30;
    pawn.aim = {-4, 900};
    pawn.is_armed = true;
}

/// The client shows what both have, and has defaults where they differ.
template <typename Server, typename Client>
void check_common(const Server& server, const Client& client) {
    CHECK(client.health == server.health);
    CHECK(client.title == server.title);
    CHECK(client.target == server.target);
    CHECK(client.last_hit.damage == server.last_hit.damage);
    CHECK(client.last_hit.bone == server.last_hit.bone);
    REQUIRE(client.hits.size() == server.hits.size());
    for (std::size_t i = 0; i < server.hits.size(); ++i) {
        CHECK(client.hits[i].damage == server.hits[i].damage);
        CHECK(client.hits[i].bone == server.hits[i].bone);
    }
    CHECK(client.code == server.code);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(client.scores[i] == server.scores[i]);
    }
    CHECK(client.aim == server.aim);
    CHECK(client.is_armed == server.is_armed);
    const Client fresh;
    CHECK(client.place == fresh.place);
    CHECK(client.retyped == fresh.retyped);
    CHECK(client.numbers.empty());
}

}  // namespace replayout
