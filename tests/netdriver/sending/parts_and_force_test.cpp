// SPDX-License-Identifier: MIT
//
// An object that is larger than a packet goes in parts, and one whose update is forced goes without
// stepping down. Both at once, under a cap.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/class_game.h"

namespace replayout::test::parts_and_force_test {
namespace {

struct Scroll {
    std::array<std::string, 4> lines;
    friend bool operator==(const Scroll&, const Scroll&) = default;
};

[[nodiscard]] Result<const Type*> build_scroll(TypeRegistry& registry) {
    return class_builder<Scroll>(registry, "Scroll").property<&Scroll::lines>().build();
}

}  // namespace

TEST_CASE("Force: an object in parts whose open was lost goes on, however often it is forced",
          "[netdriver][rates]") {
    ClassGameOptions options;
    options.link.latency_ms = 30;
    options.config.bytes_per_second_max = 6'000;
    ClassGame<Scroll> game(build_scroll, options);
    game.join_settled();
    std::uint32_t lost_count = 0;
    game.server_transport().set_script([&](const Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        const bool is_lost = packet && packet->has_open(1) && lost_count < 2;
        lost_count += is_lost ? 1u : 0u;
        return !is_lost;
    });
    const ObjectHandle scroll = game.add();
    game.object(scroll).lines.fill(std::string(800, 's'));
    for (std::uint32_t tick = 0; tick < 300; ++tick) {
        game.driver().rates().force_net_update(game.id_of(scroll));
        game.tick();
    }
    CHECK(lost_count == 2);
    CHECK(game.object_on(0, scroll) == game.object(scroll));
    CHECK(game.settle());
}

}  // namespace replayout::test::parts_and_force_test
