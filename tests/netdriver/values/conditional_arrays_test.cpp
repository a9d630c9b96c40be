// SPDX-License-Identifier: MIT
//
// Arrays that only some are sent, or that are sent only at first.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

using Condition = LifetimeCondition;

struct Card {
    std::uint32_t id = 0;
    std::int32_t value = 0;

    friend bool operator==(const Card&, const Card&) = default;
};

/// Arrays that only the owner sees, or that are sent only at first.
struct Hand {
    std::vector<std::int32_t> notes;
    std::vector<Card> cards;
    std::vector<std::int32_t> dealt;
    std::vector<Card> first_cards;
    std::uint32_t round = 0;
};

[[nodiscard]] Result<const Type*> build_hand(TypeRegistry& registry) {
    REQUIRE(struct_builder<Card>(registry, "Card")
                .property<&Card::id>()
                .property<&Card::value>()
                .build());
    return class_builder<Hand>(registry, "Hand")
        .property<&Hand::notes>()
        .condition(Condition::OwnerOnly)
        .property<&Hand::cards>()
        .keyed_by<&Card::id>(ArrayOrder::Kept)
        .condition(Condition::OwnerOnly)
        .property<&Hand::dealt>()
        .condition(Condition::InitialOnly)
        .property<&Hand::first_cards>()
        .keyed_by<&Card::id>()
        .condition(Condition::InitialOnly)
        .property<&Hand::round>()
        .build();
}

}  // namespace

TEST_CASE("Conditions: who begins to see an array is sent every element of it",
          "[netdriver][conditions]") {
    for (const bool is_sharing : {true, false}) {
        ClassGameOptions options;
        options.sharing = sharing_level(is_sharing);
        ClassGame<Hand> game(build_hand, options);
        const std::size_t client = game.join();
        const ObjectHandle hand = game.add();
        game.object(hand).notes = {1, 2, 3};
        game.object(hand).cards = {{7, 70}, {3, 30}};
        REQUIRE(game.settle());
        CHECK(game.object_on(client, hand).notes.empty());

        game.driver().set_owner(game.id_of(hand), ClassGame<Hand>::peer_of(client));
        REQUIRE(game.settle());
        CHECK(game.object_on(client, hand).notes == game.object(hand).notes);
        CHECK(game.object_on(client, hand).cards == game.object(hand).cards);

        // What went while it was not looking goes there, too.
        game.driver().clear_owner(game.id_of(hand));
        game.object(hand).cards = {{3, 31}, {9, 90}};
        REQUIRE(game.settle());
        game.driver().set_owner(game.id_of(hand), ClassGame<Hand>::peer_of(client));
        REQUIRE(game.settle());
        CHECK(game.object_on(client, hand).cards == game.object(hand).cards);
    }
}

TEST_CASE("Conditions: an array that is sent only at first arrives whole, whatever is lost",
          "[netdriver][conditions]") {
    ClassGame<Hand> game(build_hand);
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    LinkSettings dead;
    dead.loss = 1;
    game.network().set_settings(dead);
    const ObjectHandle hand = game.add();
    game.object(hand).dealt = {1, 2, 3};
    game.object(hand).first_cards = {{7, 70}, {3, 30}};
    for (int round = 0; round < 5; ++round) {
        ++game.object(hand).round;
        game.object(hand).dealt.push_back(round);
        game.object(hand).first_cards[0].value += round;
        game.tick();
    }
    game.network().set_settings(LinkSettings());
    REQUIRE(game.settle());
    // That of the block that arrived; nothing of it is made up.
    const Hand& shown = game.object_on(client, hand);
    CHECK(shown.round == 5);
    CHECK(shown.dealt == game.object(hand).dealt);
    REQUIRE(shown.first_cards.size() == 2);
    CHECK(shown.first_cards[0].value + shown.first_cards[1].value == 100 + 0 + 1 + 2 + 3 + 4);
}

}  // namespace replayout::test
