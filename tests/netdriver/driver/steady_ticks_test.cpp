// SPDX-License-Identifier: MIT
//
// Once warm, ticks take no memory: not from the drivers' resource, not from the global heap.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/heap_count.h"
#include "support/types/mixed_types.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

/// Some bazaars, of which each client owns one, over a network that loses.
class Town {
  public:
    static constexpr std::size_t client_count = 3;

    explicit Town(bool is_sharing, MemoryResource& resource)
        : game_(build_bazaar, options(is_sharing, resource)) {
        for (std::size_t i = 0; i < client_count; ++i) {
            game_.join();
        }
        for (std::size_t i = 0; i < 3; ++i) {
            bazaars_.push_back(game_.add());
            const NetObjectId id = game_.id_of(bazaars_.back());
            game_.driver().set_owner(id, ClassGame<Bazaar>::peer_of(i % client_count));
            game_.driver().set_dynamic_condition(id, "hint", LifetimeCondition::SkipOwner);
        }
        REQUIRE(game_.settle());
    }

    void set_loss(double loss) {
        LinkSettings link;
        link.loss = loss;
        link.latency_ms = 40;
        game_.network().set_settings(link);
    }

    void tick(std::uint32_t count) {
        for (; count > 0; --count) {
            ++tick_;
            for (std::size_t i = 0; i < bazaars_.size(); ++i) {
                // In turns, so that what packets carry is of many sizes.
                if ((tick_ + i) % (i + 1) == 0) {
                    game_.object(bazaars_[i]).change();
                }
                game_.driver().set_property_active(game_.id_of(bazaars_[i]), "rumour",
                                                   tick_ % 64 < 32);
            }
            game_.tick();
        }
    }

    void check() {
        game_.network().heal();
        REQUIRE(game_.settle());
        for (const ObjectHandle bazaar : bazaars_) {
            for (std::size_t client = 0; client < client_count; ++client) {
                CHECK(shows_the_same(game_.object_on(client, bazaar), game_.object(bazaar)));
                CHECK(game_.object_on(client, bazaar).call_count > 100);
            }
        }
    }

  private:
    [[nodiscard]] static ClassGameOptions options(bool is_sharing, MemoryResource& resource) {
        ClassGameOptions result;
        result.sharing = sharing_level(is_sharing);
        result.is_validating = false;
        result.resource = &resource;
        return result;
    }

    ClassGame<Bazaar> game_;
    std::vector<ObjectHandle> bazaars_;
    std::uint32_t tick_ = 0;
};

}  // namespace

TEST_CASE("Steady ticks: a warm game of every kind of property takes no memory, whatever is lost",
          "[netdriver][steady_ticks]") {
    for (const bool is_sharing : {true, false}) {
        INFO("sharing " << is_sharing);
        CountingResource resource;
        Town town(is_sharing, resource);
        // Warm: of every array as many elements were removed as are remembered, and more had to
        // wait than will from now on.
        town.set_loss(0.3);
        town.tick(5'000);
        town.set_loss(0.1);
        town.tick(500);
        const DefaultResourceScope scope(resource);
        const std::uint64_t taken = resource.allocation_count();
        const std::uint64_t heap = heap_allocation_count();
        town.tick(1'000);
        const std::uint64_t heap_taken = heap_allocation_count() - heap;  // a CHECK takes some
        CHECK(resource.allocation_count() == taken);
        CHECK(heap_taken == 0);
        town.check();
    }
}

}  // namespace replayout::test
