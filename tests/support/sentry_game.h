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

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/reflection.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace replayout::test {

/// The value of the property with condition i is values[i]; NetGroup is of no property.
struct Sentry {
    std::array<std::int32_t, lifetime_condition_count - 1> values{};
    /// Of condition OwnerOnly too, and larger than a packet when it is long.
    std::string secret;
};

struct SentryGameOptions {
    LinkSettings link;
    std::uint64_t seed = 1;
    bool is_sharing = true;
};

class SentryGame {
  public:
    explicit SentryGame(const SentryGameOptions& options = {});
    ~SentryGame();

    [[nodiscard]] NetDriver& driver();
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }

    std::size_t join();
    [[nodiscard]] static constexpr PeerId peer_of(std::size_t client) noexcept {
        return {client + 2};
    }

    ObjectHandle add();
    [[nodiscard]] NetObjectId id_of(ObjectHandle sentry) const { return ids_.at(sentry); }
    [[nodiscard]] Sentry& sentry(ObjectHandle sentry);
    [[nodiscard]] std::int32_t& value(ObjectHandle sentry, LifetimeCondition condition);
    /// What a client has; it must have the object.
    [[nodiscard]] const Sentry& sentry_on(std::size_t client, ObjectHandle sentry);
    [[nodiscard]] std::int32_t value_on(std::size_t client, ObjectHandle sentry,
                                        LifetimeCondition condition);

    void tick();
    /// Ticks until nothing is owed or under way. False: it does not come to that.
    [[nodiscard]] bool settle();

  private:
    class World;
    struct Host;

    SentryGameOptions options_;
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
    SimulatedNetwork network_;
    NetTime now_;
    std::unique_ptr<Host> server_;
    std::vector<std::unique_ptr<Host>> clients_;
    std::map<ObjectHandle, NetObjectId> ids_;
};

}  // namespace replayout::test
