// SPDX-License-Identifier: MIT
//
// Keyed arrays: elements keep their identity, and where asked their order, whatever is inserted,
// removed, moved or lost.
#include <replayout/in_flight_versions.h>
#include <replayout/keyed_array.h>
#include <replayout/materialized_shadow.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test {
namespace {

struct Player {
    std::uint32_t id = 0;
    std::int32_t score = 0;
    std::string name;
    ObjectHandle target;
    std::vector<std::int32_t> marks;

    friend bool operator==(const Player&, const Player&) = default;
};

struct Board {
    std::vector<Player> players;
    std::uint32_t round = 0;
};

template <ArrayOrder Order>
[[nodiscard]] Result<const Type*> build_board(TypeRegistry& registry) {
    REQUIRE(struct_builder<Player>(registry, "Player")
                .property<&Player::id>()
                .property<&Player::score>()
                .property<&Player::name>()
                .property<&Player::target>()
                .property<&Player::marks>()
                .build());
    return class_builder<Board>(registry, "Board")
        .property<&Board::players>()
        .keyed_by<&Player::id>(Order)
        .property<&Board::round>()
        .build();
}

constexpr auto build_ordered_board = build_board<ArrayOrder::Kept>;
constexpr auto build_free_board = build_board<ArrayOrder::Free>;

[[nodiscard]] Player make_player(std::uint32_t id, std::int32_t score = 0) {
    Player player;
    player.id = id;
    player.score = score;
    player.name = "player " + std::to_string(id);
    return player;
}

[[nodiscard]] Board make_board(std::initializer_list<std::uint32_t> ids) {
    Board board;
    for (const std::uint32_t id : ids) {
        board.players.push_back(make_player(id, static_cast<std::int32_t>(id) * 10));
    }
    return board;
}

[[nodiscard]] std::vector<std::uint32_t> ids_of(const Board& board) {
    std::vector<std::uint32_t> ids;
    for (const Player& player : board.players) {
        ids.push_back(player.id);
    }
    return ids;
}

using Ids = std::vector<std::uint32_t>;

/// The same elements; in the same order where that is kept.
[[nodiscard]] bool are_equal(const Board& left, const Board& right, ArrayOrder order) {
    std::vector<Player> ours = left.players;
    std::vector<Player> theirs = right.players;
    if (order == ArrayOrder::Free) {
        const auto by_id = [](const Player& a, const Player& b) { return a.id < b.id; };
        std::sort(ours.begin(), ours.end(), by_id);
        std::sort(theirs.begin(), theirs.end(), by_id);
    }
    return ours == theirs && left.round == right.round;
}

/// A sender and one receiver that gets everything.
struct Line {
    explicit Line(BuildType build) : layout(build), sender(*layout), receiver(*layout) {}

    /// Bytes of the block that brings the receiver up to date.
    std::size_t sync(const Board& board) {
        sender.update(&board);
        const Bytes block = sender.block(exact_at(version));
        version = sender.state.version();
        if (!block.empty()) {
            REQUIRE(receiver.receive(&remote, block));
        }
        return block.size();
    }

    TestLayout layout;
    BlockSender sender;
    BlockReceiver receiver;
    Board remote;
    Version version = 0;
};

}  // namespace

TEST_CASE("Keyed arrays: inserting at the front sends one element", "[replayout][keyed_array]") {
    Line line(build_ordered_board);
    Board board = make_board({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    const std::size_t all = line.sync(board);
    board.players.insert(board.players.begin(), make_player(11, 110));
    const std::size_t one = line.sync(board);
    CHECK(ids_of(line.remote) == Ids{11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(are_equal(line.remote, board, ArrayOrder::Kept));
    CHECK(one * 5 < all);
    CHECK(one < 35);
}

TEST_CASE("Keyed arrays: removing sends keys, moving sends a rank, changing sends a leaf",
          "[replayout][keyed_array]") {
    Line line(build_ordered_board);
    Board board = make_board({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    line.sync(board);
    board.players.erase(board.players.begin() + 2, board.players.begin() + 4);
    CHECK(line.sync(board) <= 6);
    CHECK(ids_of(line.remote) == Ids{1, 2, 5, 6, 7, 8, 9, 10});

    std::rotate(board.players.begin(), board.players.end() - 1, board.players.end());
    CHECK(line.sync(board) <= 9);
    CHECK(ids_of(line.remote) == Ids{10, 1, 2, 5, 6, 7, 8, 9});

    board.players[3].score = 77;
    CHECK(line.sync(board) <= 10);
    CHECK(line.remote.players[3].score == 77);
    CHECK(line.sync(board) == 0);
}

TEST_CASE("Keyed arrays: without order a sorted array sends nothing", "[replayout][keyed_array]") {
    Line line(build_free_board);
    Board board = make_board({5, 3, 9, 1});
    line.sync(board);
    std::sort(board.players.begin(), board.players.end(),
              [](const Player& left, const Player& right) { return left.id < right.id; });
    CHECK(line.sync(board) == 0);
    board.players[0].score = 5;
    CHECK(line.sync(board) > 0);
    CHECK(are_equal(line.remote, board, ArrayOrder::Free));
}

TEST_CASE("Keyed arrays: the archetype's elements have the same order on both ends",
          "[replayout][keyed_array]") {
    const Board archetype = make_board({4, 2, 8});
    RepLayoutOptions options;
    options.archetype = &archetype;
    const TestLayout layout(build_ordered_board, options);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Board remote = archetype;
    Board board = archetype;
    board.players.insert(board.players.begin() + 1, make_player(6));
    sender.update(&board);
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
    CHECK(ids_of(remote) == Ids{4, 6, 2, 8});
}

TEST_CASE("Keyed arrays: two elements of one key are not sent, and counted",
          "[replayout][keyed_array]") {
    Line line(build_ordered_board);
    Board board = make_board({1, 2});
    line.sync(board);
    board.players.push_back(make_player(2));
    CHECK(line.sync(board) == 0);
    CHECK(line.sender.counters.values_over_limit == 1);
    board.players.back().id = 3;
    CHECK(line.sync(board) > 0);
    CHECK(ids_of(line.remote) == Ids{1, 2, 3});
}

TEST_CASE("Keyed arrays: an element that may not have arrived goes out whole",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_free_board);
    BlockSender sender(*layout);
    Board board = make_board({1});
    board.players[0].marks = {4, 5};
    sender.update(&board);  // version 1, lost for all we know
    board.players[0].score = 5;
    sender.update(&board);  // version 2
    BlockReceiver receiver(*layout);
    Board remote;
    OwedVersions position = since(1);
    position.held_version = 0;
    REQUIRE(receiver.receive(&remote, sender.block(position)));
    REQUIRE(remote.players.size() == 1);
    CHECK(remote.players[0] == board.players[0]);
}

TEST_CASE("Keyed arrays: who is owed a deletion that is forgotten is sent the full set",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_ordered_board);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Board board = make_board({1, 2, 3});
    sender.update(&board);
    Board remote;
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
    const Version held = sender.state.version();
    board.players.erase(board.players.begin());
    sender.update(&board);
    for (std::uint32_t i = 0; i < ShadowKeyedArray::deletion_count_max + 10; ++i) {
        board.players.insert(board.players.begin() + 1, make_player(100 + i));
        sender.update(&board);
        board.players.erase(board.players.begin() + 1);
        sender.update(&board);
    }
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(held))));
    CHECK(ids_of(remote) == Ids{2, 3});
    CHECK(are_equal(remote, board, ArrayOrder::Kept));
}

TEST_CASE("Keyed arrays: ranks are given anew where there is no room left",
          "[replayout][keyed_array]") {
    Line line(build_ordered_board);
    Board board = make_board({1, 2});
    line.sync(board);
    for (std::uint32_t i = 0; i < 100; ++i) {
        board.players.insert(board.players.begin() + 1, make_player(10 + i));
        line.sync(board);
        REQUIRE(are_equal(line.remote, board, ArrayOrder::Kept));
    }
}

TEST_CASE("Keyed arrays: references in elements follow them, and are bound where they are",
          "[replayout][keyed_array]") {
    Line line(build_ordered_board);
    Board board = make_board({1, 2, 3});
    const ObjectHandle target{77};
    board.players[2].target = target;
    line.sync(board);
    CHECK(line.remote.players[2].target.is_null());
    std::rotate(board.players.begin(), board.players.end() - 1, board.players.end());
    line.sync(board);
    const NetGUID guid = line.sender.package_map.guid_of(target);
    const ObjectHandle remote_target{7};
    CHECK(line.receiver.rebind(&line.remote, guid, remote_target) == 1);
    REQUIRE(ids_of(line.remote) == Ids{3, 1, 2});
    CHECK(line.remote.players[0].target == remote_target);

    // With the element goes what it named.
    board.players.erase(board.players.begin());
    line.sync(board);
    CHECK(line.receiver.dropped.size() == 1);
    CHECK_FALSE(line.receiver.state.names(guid));
}

TEST_CASE("Keyed arrays: cut into parts they arrive whole", "[replayout][keyed_array]") {
    const TestLayout layout(build_ordered_board);
    BlockSender sender(*layout);
    Board board;
    for (std::uint32_t id = 1; id <= 100; ++id) {
        board.players.push_back(make_player((id * 37) % 101));
    }
    board.round = 3;
    sender.update(&board);
    const auto parts = sender.parts(exact_at(0), 200);
    CHECK(parts.size() > 5);
    BlockReceiver receiver(*layout);
    Board remote;
    for (const SentPart& part : parts) {
        CHECK(part.bytes.size() <= 200);
        REQUIRE(receiver.receive(&remote, part.bytes));
    }
    CHECK(are_equal(remote, board, ArrayOrder::Kept));
}

namespace {

void edit(Board& board, SeededRandom& random, std::uint32_t& next_id) {
    const auto place = [&] {
        return board.players.begin() +
               random.below(static_cast<std::uint32_t>(board.players.size()));
    };
    const bool is_empty = board.players.empty();
    switch (random.below(8)) {
        case 0:
        case 1: {
            const std::uint32_t at =
                random.below(static_cast<std::uint32_t>(board.players.size()) + 1);
            // Sometimes a key comes back that was there before.
            const std::uint32_t id = random.percent(30) ? 1 + random.below(next_id) : next_id++;
            const bool is_there =
                std::any_of(board.players.begin(), board.players.end(),
                            [&](const Player& player) { return player.id == id; });
            if (!is_there && board.players.size() < 40) {
                board.players.insert(board.players.begin() + at, make_player(id));
            }
            return;
        }
        case 2:
            if (!is_empty) {
                board.players.erase(place());
            }
            return;
        case 3:
            if (!is_empty) {
                std::swap(*place(), *place());
            }
            return;
        case 4:
            if (!is_empty && random.percent(20)) {
                std::reverse(board.players.begin(), place());
            }
            return;
        case 5:
            if (!is_empty && random.percent(3)) {
                board.players.clear();
            }
            return;
        case 6:
            if (!is_empty) {
                place()->marks.assign(random.below(4), static_cast<std::int32_t>(random.below(9)));
            }
            return;
        default:
            if (!is_empty) {
                place()->score = static_cast<std::int32_t>(random.below(1000));
                place()->name = std::string(random.below(12), 'n');
            }
            return;
    }
}

/// One receiver that loses blocks, the rules of a pair, and a copy made of what arrived.
struct LossyLine {
    explicit LossyLine(const RepLayout& rep_layout, PackageMap& package_map)
        : receiver(rep_layout), copy(rep_layout, package_map, std::pmr::get_default_resource()) {}

    struct InFlight {
        SentVersions record;
        std::vector<Bytes> blocks;
    };

    SendingRepState pair;
    InFlightVersions versions{std::pmr::get_default_resource()};
    std::vector<InFlight> in_flight;
    BlockReceiver receiver;
    MaterializedShadow copy;
    Board remote;

    void send(BlockSender& sender, std::size_t capacity_bytes) {
        const Version version = sender.state.version();
        if (!pair.owes_any(version)) {
            return;
        }
        OwedVersions position(pair);
        position.held_version = versions.held_version(pair);
        InFlight flight;
        for (const SentPart& part : sender.parts(position, capacity_bytes)) {
            flight.blocks.push_back(part.bytes);
        }
        flight.record = pair.send(version);
        versions.sent(flight.record);
        in_flight.push_back(flight);
    }

    void resolve(bool is_lost) {
        const InFlight flight = in_flight.front();
        in_flight.erase(in_flight.begin());
        versions.resolved();
        if (is_lost) {
            pair.lose(flight.record);
            return;
        }
        pair.delivered();
        for (const Bytes& block : flight.blocks) {
            REQUIRE(receiver.receive(&remote, block));
            REQUIRE(copy.apply(block));
        }
    }
};

void play(std::uint64_t seed, ArrayOrder order) {
    INFO("seed " << seed);
    const TestLayout layout(order == ArrayOrder::Kept ? BuildType(build_ordered_board)
                                                      : BuildType(build_free_board));
    SeededRandom random(seed);
    BlockSender sender(*layout);
    std::vector<std::unique_ptr<LossyLine>> lines;
    for (int i = 0; i < 3; ++i) {
        lines.push_back(std::make_unique<LossyLine>(*layout, sender.package_map));
    }
    Board board;
    std::uint32_t next_id = 1;
    for (std::uint32_t tick = 0; tick < 120; ++tick) {
        const bool is_healed = tick >= 110;
        for (std::uint32_t i = random.below(4); i > 0 && !is_healed; --i) {
            edit(board, random, next_id);
        }
        sender.update(&board);
        for (const auto& line : lines) {
            line->send(sender, random.percent(50) ? 4'000 : 120);
            while (!line->in_flight.empty() && (is_healed || random.percent(40))) {
                line->resolve(!is_healed && random.percent(30));
            }
        }
    }
    for (const auto& line : lines) {
        CHECK(are_equal(line->remote, board, order));
        CHECK(line->copy.equals(sender.state));
    }
}

}  // namespace

TEST_CASE("Keyed arrays: whatever is lost, every receiver ends with the same elements in order",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 40; ++round) {
        play(seed * 1'000 + round, round % 2 == 0 ? ArrayOrder::Kept : ArrayOrder::Free);
    }
}

TEST_CASE("Keyed arrays: a truncated or altered block is refused or read, and nothing in between",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_ordered_board);
    BlockSender sender(*layout);
    Board board = make_board({3, 1, 2});
    sender.update(&board);
    const Bytes first = sender.block(exact_at(0));
    board.players.erase(board.players.begin());
    board.players.push_back(make_player(9));
    sender.update(&board);
    const Bytes second = sender.block(exact_at(1));
    Board before;
    {
        BlockReceiver receiver(*layout);
        REQUIRE(receiver.receive(&before, first));
    }
    for (std::size_t bit = 0; bit < second.size() * 8; ++bit) {
        for (const bool is_truncated : {false, true}) {
            Bytes bytes = second;
            if (is_truncated) {
                bytes.resize(bit / 8);
            } else {
                bytes[bit / 8] ^= std::byte{static_cast<std::uint8_t>(1u << (bit % 8))};
            }
            BlockReceiver receiver(*layout);
            Board remote;
            REQUIRE(receiver.receive(&remote, first));
            if (!receiver.receive(&remote, bytes)) {
                CHECK(remote.players == before.players);
            } else {
                CHECK(remote.players.size() <= layout->limits().array_count_max);
            }
        }
    }
}

TEST_CASE("Keyed arrays: more elements than the limit are refused, however they come together",
          "[replayout][keyed_array]") {
    RepLayoutOptions options;
    options.limits.array_count_max = 4;
    const TestLayout narrow(build_free_board, options);
    options.limits.array_count_max = 8;
    const TestLayout wide(build_free_board, options);
    BlockSender sender(*wide);
    Board board = make_board({1, 2, 3, 4});
    sender.update(&board);
    BlockReceiver receiver(*narrow);
    Board remote;
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
    board.players.push_back(make_player(5));
    sender.update(&board);
    CHECK_FALSE(receiver.receive(&remote, sender.block(exact_at(1))));
    CHECK(remote.players.size() == 4);
    board.players.erase(board.players.begin());
    sender.update(&board);
    CHECK(receiver.receive(&remote, sender.block(exact_at(1))));
    CHECK(are_equal(remote, board, ArrayOrder::Free));
}

TEST_CASE("Keyed arrays: a removal that may not have arrived is named again where an array is full",
          "[replayout][keyed_array]") {
    RepLayoutOptions options;
    options.limits.array_count_max = 3;
    const TestLayout layout(build_free_board, options);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Board board = make_board({1, 2, 3});
    Board remote;
    sender.update(&board);
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
    board.players.erase(board.players.begin());
    sender.update(&board);  // version 2, lost
    board.players.push_back(make_player(4, 40));
    sender.update(&board);
    OwedVersions position = since(2);
    position.held_version = 1;
    REQUIRE(receiver.receive(&remote, sender.block(position)));
    CHECK(ids_of(remote) == Ids{4, 2, 3});

    // Whoever has it for certain is not told again.
    CHECK(sender.block(exact_at(2)).size() < sender.block(position).size());
}

TEST_CASE("Keyed arrays: so is one that is forgotten, with the full set",
          "[replayout][keyed_array]") {
    RepLayoutOptions options;
    options.limits.array_count_max = 3;
    const TestLayout layout(build_free_board, options);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Board board = make_board({1, 2, 3});
    Board remote;
    sender.update(&board);
    REQUIRE(receiver.receive(&remote, sender.block(exact_at(0))));
    for (std::uint32_t id = 4; id < ShadowKeyedArray::deletion_count_max + 10; ++id) {
        board.players.erase(board.players.begin());
        board.players.push_back(make_player(id));
        sender.update(&board);
    }
    OwedVersions position = since(sender.state.version() - 1);
    position.held_version = 1;
    REQUIRE(receiver.receive(&remote, sender.block(position)));
    CHECK(are_equal(remote, board, ArrayOrder::Free));
}

TEST_CASE("Keyed arrays: in parts a full array is never too full, whichever parts are lost",
          "[replayout][keyed_array]") {
    constexpr std::uint32_t limit = 40;
    RepLayoutOptions options;
    options.limits.array_count_max = limit;
    const TestLayout layout(build_ordered_board, options);
    BlockSender sender(*layout);
    Board board;
    for (std::uint32_t id = 0; id < limit; ++id) {
        board.players.push_back(make_player(id));
    }
    sender.update(&board);
    const Bytes first = sender.block(exact_at(0));
    for (std::uint32_t i = 0; i < limit; ++i) {
        board.players[i] = make_player(limit + i);
    }
    sender.update(&board);
    const auto parts = sender.parts(exact_at(1), 200);
    REQUIRE(parts.size() > 3);
    for (std::size_t lost = 0; lost < parts.size(); ++lost) {
        INFO("lost part " << lost);
        BlockReceiver receiver(*layout);
        Board remote;
        REQUIRE(receiver.receive(&remote, first));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i != lost) {
                REQUIRE(receiver.receive(&remote, parts[i].bytes, i + 1 < parts.size()));
            }
        }
        ReceiveContext context = receiver.context();
        finish_update(*layout, &remote, receiver.state, context);
        CHECK(remote.players.size() < limit);
    }
}

TEST_CASE("Keyed arrays: are refused inside of arrays, and where elements are no structs",
          "[replayout][keyed_array]") {
    TypeRegistry registry;
    const auto result =
        DynamicTypeBuilder(registry, TypeKind::Class, "Numbers", sizeof(std::vector<int>), 8)
            .property(array_property<std::vector<std::int32_t>>(
                "numbers", plain_property("", PropertyKind::Int32)))
            .keyed_by(0, 4)
            .build();
    REQUIRE_FALSE(result);
    CHECK(result.error().message ==
          "type \"Numbers\": property \"numbers\": has a key and is no dynamic array of structs");
}

}  // namespace replayout::test
