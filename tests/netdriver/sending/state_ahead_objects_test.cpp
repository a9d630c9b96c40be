// SPDX-License-Identifier: MIT
//
// The state of an object that goes ahead because a call waits for it, and then the call is dropped.
#include <replayout/netdriver/net_driver.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/types/delta_types.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

struct Sign {
    ObjectHandle board;
    std::string text;
};

/// A table with a note on each side.
struct Board {
    Scores scores;
    std::uint32_t round = 0;
    std::array<std::string, 2> notes;

    void multicast_point(const Sign&) {}
};

[[nodiscard]] Result<const Type*> build_board(TypeRegistry& registry) {
    if (const auto sign = struct_builder<Sign>(registry, "Sign")
                              .property<&Sign::board>()
                              .property<&Sign::text>()
                              .build();
        !sign) {
        return sign;
    }
    REQUIRE(struct_builder<Scores>(registry, "Scores").build());
    return class_builder<Board>(registry, "Board")
        .property<&Board::scores>()
        .property<&Board::round>()
        .property<&Board::notes>()
        .function<&Board::multicast_point>(FunctionFlags::Multicast)
        .build();
}

}  // namespace

TEST_CASE("State ahead: goes to the initial batch where the call that began it is dropped",
          "[netdriver][rpc][initial_batch]") {
    constexpr std::size_t note_bytes = 130;  // no packet has room for two
    int batches_after_the_call = 0;
    for (int losses = 0; losses < 7; ++losses) {
        for (int drop_tick = 1; drop_tick < 10; ++drop_tick) {
            INFO("losses " << losses << ", the call is dropped in tick " << drop_tick);
            ClassGameOptions options;
            options.config.packet_bytes_max = 256;
            ClassGame<Board> game(build_board, options);
            const ObjectHandle caller = game.add();
            const ObjectHandle board = game.add();
            game.object(board).notes.fill(std::string(note_bytes, 'n'));
            // The first note arrives. What carries one is lost some times after that.
            int notes_sent = 0;
            game.server_transport().set_script([&](Bytes& datagram) {
                notes_sent += datagram.size() > note_bytes ? 1 : 0;
                return datagram.size() <= note_bytes || notes_sent <= 1 || notes_sent > 1 + losses;
            });
            game.join();
            for (int tick = 0; game.find_on(0, board) == nullptr && tick < 50; ++tick) {
                game.tick();
            }
            const Sign sign{board, std::string(note_bytes, 's')};
            (void)game.driver().call_function(game.id_of(caller), "multicast_point", &sign);
            for (int tick = 1; tick < 100; ++tick) {
                if (tick == drop_tick) {
                    const bool is_over = game.client_driver(0).initial_batch().is_finished;
                    batches_after_the_call += is_over ? 0 : 1;
                    game.remove(caller);
                }
                ++game.object(board).round;
                game.tick();
            }
            CHECK(game.client_driver(0).initial_batch().is_finished);
            CHECK(game.object_on(0, board).notes == game.object(board).notes);
        }
    }
    CHECK(batches_after_the_call > 0);
}

}  // namespace replayout::test
