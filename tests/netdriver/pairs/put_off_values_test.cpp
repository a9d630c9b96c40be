// SPDX-License-Identifier: MIT
//
// A net_serialize that answers false without having asked for an object, or that fails.
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/log_spy.h"
#include "support/worlds/class_game.h"

namespace replayout {
namespace {

/// What all values of one kind answer, and how often they were written.
struct Answers {
    bool is_mapped = true;
    bool is_ok = true;
    std::uint32_t write_count = 0;
};

template <typename Self>
struct Seal {
    std::int32_t number = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        archive.serialize(number);
        if (archive.is_loading()) {
            return true;
        }
        ++answers.write_count;
        ok = answers.is_ok;
        return answers.is_mapped;
    }
    friend bool operator==(const Seal&, const Seal&) = default;
    static inline Answers answers;
};
struct OwnSealTag;
struct SharedSealTag;
using OwnSeal = Seal<OwnSealTag>;
using SharedSeal = Seal<SharedSealTag>;

struct Letter {
    std::int32_t page = 0;
    OwnSeal own;
    SharedSeal shared;
};

}  // namespace

template <>
struct StructTraitsOf<OwnSeal> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
template <>
struct StructTraitsOf<SharedSeal> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

namespace test {
namespace {

[[nodiscard]] Result<const Type*> build_letter(TypeRegistry& registry) {
    REQUIRE(struct_builder<OwnSeal>(registry, "OwnSeal").build());
    REQUIRE(struct_builder<SharedSeal>(registry, "SharedSeal").build());
    return class_builder<Letter>(registry, "Letter")
        .property<&Letter::page>()
        .property<&Letter::own>()
        .property<&Letter::shared>()
        .build();
}

class LetterGame {
  public:
    explicit LetterGame(std::uint32_t client_count, bool is_validating = false)
        : game(build_letter, options_of(is_validating)) {
        OwnSeal::answers = {};
        SharedSeal::answers = {};
        for (std::uint32_t i = 0; i < client_count; ++i) {
            game.join();
        }
        letter = game.add();
        REQUIRE(game.settle());
        OwnSeal::answers = {};
        SharedSeal::answers = {};
    }
    ~LetterGame() {
        OwnSeal::answers = {};
        SharedSeal::answers = {};
    }
    LetterGame(const LetterGame&) = delete;
    LetterGame& operator=(const LetterGame&) = delete;

    [[nodiscard]] static ClassGameOptions options_of(bool is_validating) {
        ClassGameOptions options;
        options.is_validating = is_validating;
        return options;
    }
    void tick(int count) {
        for (int i = 0; i < count; ++i) {
            game.tick();
        }
    }
    [[nodiscard]] Letter& object() { return game.object(letter); }

    ClassGame<Letter> game;
    ObjectHandle letter;
};

}  // namespace

TEST_CASE("Put off values: are owed again until net_serialize answers true, and logged once",
          "[netdriver][net_serialize]") {
    LetterGame letters(2);
    const LogSpy spy;
    OwnSeal::answers.is_mapped = false;
    letters.object().own.number = 1;
    letters.tick(1);
    CHECK(OwnSeal::answers.write_count == 2);  // by connection
    letters.tick(1);
    CHECK(OwnSeal::answers.write_count == 4);  // in the next update
    letters.tick(50);
    CHECK_FALSE(letters.game.driver().is_settled());
    CHECK(letters.game.object_on(0, letters.letter).own.number == 1);  // what it wrote came
    // After 1, 2, 4, 8, 16 ticks, and so on.
    CHECK(OwnSeal::answers.write_count <= 2 * 8);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(contains(LogSpy::messages().front(), "\"OwnSeal\" in property \"own\" of \"Letter\""));
    CHECK(contains(LogSpy::messages().front(), "receiver_has()"));

    OwnSeal::answers.is_mapped = true;
    REQUIRE(letters.game.settle());
    const std::uint32_t count = OwnSeal::answers.write_count;
    letters.tick(200);
    CHECK(OwnSeal::answers.write_count == count);
    CHECK(letters.game.driver().is_settled());
}

TEST_CASE(
    "Put off values: a lost one is sent again, and one that goes with its object is forgotten",
    "[netdriver][net_serialize]") {
    LetterGame letters(1);
    const LogSpy spy;
    OwnSeal::answers.is_mapped = false;
    bool is_dropping = true;
    letters.game.server_transport().set_script([&](Bytes&) { return !is_dropping; });
    letters.object().own.number = 2;
    letters.tick(20);
    is_dropping = false;
    letters.tick(60);
    CHECK(letters.game.object_on(0, letters.letter).own.number == 2);
    letters.object().page = 4;
    letters.tick(20);
    CHECK(letters.game.object_on(0, letters.letter).page == 4);
    letters.game.remove(letters.letter);
    REQUIRE(letters.game.settle());
    CHECK(letters.game.object_count_on(0) == 0);
}

TEST_CASE("Put off values: validation changes neither value nor log",
          "[netdriver][net_serialize]") {
    LetterGame letters(1, true);
    const LogSpy spy;
    OwnSeal::answers.is_mapped = false;
    for (std::int32_t i = 1; i <= 40; ++i) {
        letters.object().own.number = i / 4;
        letters.object().page = i;
        letters.tick(1);
    }
    OwnSeal::answers.is_mapped = true;
    REQUIRE(letters.game.settle());
    CHECK(letters.game.object_on(0, letters.letter).own.number == 10);
    CHECK(LogSpy::messages().size() == 1);
}

TEST_CASE("Put off values: a shared serializer's false answer is refused, and logged once",
          "[netdriver][net_serialize]") {
    LetterGame letters(8);
    const LogSpy spy;
    SharedSeal::answers.is_mapped = false;
    letters.object().shared.number = 1;
    REQUIRE(letters.game.settle());
    CHECK(SharedSeal::answers.write_count == 1);
    for (std::size_t client = 0; client < 8; ++client) {
        CHECK(letters.game.object_on(client, letters.letter).shared.number == 1);
    }
    letters.object().shared.number = 2;
    REQUIRE(letters.game.settle());
    CHECK(SharedSeal::answers.write_count == 2);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(contains(LogSpy::messages().front(), "with_net_shared_serialization"));
}

TEST_CASE("Put off values: a failure of a shared serializer is one call and one line for all",
          "[netdriver][net_serialize]") {
    LetterGame letters(8);
    const LogSpy spy;
    SharedSeal::answers.is_ok = false;
    letters.object().shared.number = 1;
    letters.object().page = 1;
    REQUIRE(letters.game.settle());
    CHECK(SharedSeal::answers.write_count == 1);
    CHECK(LogSpy::messages().size() == 1);
    CHECK(letters.game.driver().stats().replication.values_failed == 1);
    for (std::size_t client = 0; client < 8; ++client) {
        CHECK(letters.game.object_on(client, letters.letter).page == 1);
        CHECK(letters.game.object_on(client, letters.letter).shared.number == 0);
    }
    SharedSeal::answers.is_ok = true;
    letters.object().shared.number = 2;
    REQUIRE(letters.game.settle());
    for (std::size_t client = 0; client < 8; ++client) {
        CHECK(letters.game.object_on(client, letters.letter).shared.number == 2);
    }
}

TEST_CASE("Put off values: a failure is one line for all where each receiver has a call of its own",
          "[netdriver][net_serialize]") {
    LetterGame letters(8);
    const LogSpy spy;
    OwnSeal::answers.is_ok = false;
    letters.object().own.number = 1;
    REQUIRE(letters.game.settle());
    CHECK(OwnSeal::answers.write_count == 8);
    CHECK(LogSpy::messages().size() == 1);
}

}  // namespace test
}  // namespace replayout
