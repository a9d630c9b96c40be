// SPDX-License-Identifier: MIT
//
// A game of one class with a property of every condition, played by a server and clients over a
// simulated network.
//
//     SentryGame game;
//     const std::size_t owner = game.join();
//     const ObjectHandle sentry = game.add();
//     game.driver().set_owner(game.id_of(sentry), game.peer_of(owner));
//     game.value(sentry, LifetimeCondition::OwnerOnly) = 7;
//     REQUIRE(game.settle());
//     CHECK(game.value_on(owner, sentry, LifetimeCondition::OwnerOnly) == 7);
#pragma once

#include <replayout/reflection/reflection.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "support/worlds/class_game.h"

namespace replayout::test {

/// The value of the property with condition i is values[i]; NetGroup is of no property.
struct Sentry {
    std::array<std::int32_t, lifetime_condition_count - 1> values{};
    /// Of condition OwnerOnly too, and larger than a packet when it is long.
    std::string secret;
    /// For everybody; long ones make it an object in parts.
    std::string log;
    std::string report;
};

[[nodiscard]] Result<const Type*> build_sentry(TypeRegistry& registry);

struct SentryGameOptions {
    LinkSettings link;
    std::uint64_t seed = 1;
    bool is_sharing = true;
};

class SentryGame : public ClassGame<Sentry> {
  public:
    explicit SentryGame(const SentryGameOptions& options = {});

    [[nodiscard]] Sentry& sentry(ObjectHandle sentry) { return object(sentry); }
    [[nodiscard]] std::int32_t& value(ObjectHandle sentry, LifetimeCondition condition) {
        return object(sentry).values[static_cast<std::size_t>(condition)];
    }
    /// What a client has; it must have the object.
    [[nodiscard]] const Sentry& sentry_on(std::size_t client, ObjectHandle sentry) {
        return object_on(client, sentry);
    }
    [[nodiscard]] std::int32_t value_on(std::size_t client, ObjectHandle sentry,
                                        LifetimeCondition condition) {
        return sentry_on(client, sentry).values[static_cast<std::size_t>(condition)];
    }
};

}  // namespace replayout::test
