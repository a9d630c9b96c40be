// SPDX-License-Identifier: MIT
//
// Values that are left out once, because something of them cannot be written, and go on later.
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

struct Seal {
    std::uint8_t kind = 0;  // 13 cannot be written

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        archive.serialize(kind);
        ok = kind != 13;
        return true;
    }
    friend bool operator==(const Seal&, const Seal&) = default;
};
struct Letter {
    std::uint32_t id = 0;
    std::int32_t pages = 0;
    Seal seal;
    friend bool operator==(const Letter&, const Letter&) = default;
};
/// Right only if all of it is of one year.
struct Almanac {
    std::int32_t year = 0;
    std::string text;
    Seal seal;
    friend bool operator==(const Almanac&, const Almanac&) = default;
};
struct Desk {
    std::int32_t dust = 0;
    std::vector<Letter> row;
    std::vector<Letter> keyed;
    Almanac almanac;
    std::vector<Letter> drawer;
};

}  // namespace
}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Seal> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
    static constexpr bool with_identical_via_equality = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::Almanac> : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test {
namespace {

[[nodiscard]] Result<const Type*> build_desk(TypeRegistry& registry) {
    REQUIRE(struct_builder<Seal>(registry, "Seal").build());
    REQUIRE(struct_builder<Letter>(registry, "Letter")
                .property<&Letter::id>()
                .property<&Letter::pages>()
                .property<&Letter::seal>()
                .build());
    REQUIRE(struct_builder<Almanac>(registry, "Almanac")
                .property<&Almanac::year>()
                .property<&Almanac::text>()
                .property<&Almanac::seal>()
                .build());
    return class_builder<Desk>(registry, "Desk")
        .property<&Desk::dust>()
        .property<&Desk::row>()
        .property<&Desk::keyed>()
        .keyed_by<&Letter::id>(ArrayOrder::Kept)
        .property<&Desk::almanac>()
        .property<&Desk::drawer>()
        .condition(LifetimeCondition::Custom)
        .build();
}

/// One desk, and one client that has it.
struct Office {
    explicit Office(const ClassGameOptions& options = {}) : game(build_desk, options) {
        game.join();
        desk = game.add();
        object().row = {{1, 1, {1}}, {2, 2, {2}}, {3, 3, {3}}};
        object().keyed = object().row;
        object().almanac = {1, "one", {1}};
        object().drawer = object().row;
        REQUIRE(game.settle());
        REQUIRE(remote().row == object().row);
    }
    [[nodiscard]] static ClassGameOptions without_string_limit() {
        ClassGameOptions options;
        options.layout.limits.string_bytes_max = 1u << 20;
        return options;
    }

    Desk& object() { return game.object(desk); }
    Desk& remote() { return game.object_on(0, desk); }

    ClassGame<Desk> game;
    ObjectHandle desk;
};

void edit(std::vector<Letter>& letters, SeededRandom& random, std::uint32_t& last_id) {
    if (letters.size() < 6 && random.percent(40)) {
        letters.insert(letters.begin() + static_cast<std::ptrdiff_t>(random.below(
                                             static_cast<std::uint32_t>(letters.size()) + 1)),
                       {++last_id, 0, {}});
    }
    if (letters.empty()) {
        return;
    }
    const auto count = static_cast<std::uint32_t>(letters.size());
    Letter& letter = letters[random.below(count)];
    if (random.percent(15)) {
        letters.erase(letters.begin() + static_cast<std::ptrdiff_t>(random.below(count)));
        return;
    }
    letter.pages = static_cast<std::int32_t>(random.below(4));
    letter.seal.kind = random.percent(25) ? std::uint8_t{13} : std::uint8_t{1};
}

void mend(std::vector<Letter>& letters) {
    for (Letter& letter : letters) {
        letter.seal.kind = letter.seal.kind == 13 ? std::uint8_t{2} : letter.seal.kind;
    }
}

/// Edits with values that cannot be written, over a network that loses; in the end all is well.
/// Returns how many bytes the server sent.
[[nodiscard]] std::uint64_t play_letters(std::uint64_t seed, bool is_sharing) {
    INFO("seed " << seed << ", sharing " << is_sharing);
    ClassGameOptions options;
    options.seed = seed;
    options.sharing = sharing_level(is_sharing);
    options.link.loss = 0.25;
    options.link.latency_ms = 30;
    options.link.jitter_ms = 30;
    Office office(options);
    office.game.join();
    SeededRandom random(seed);
    std::uint32_t last_id = 10;
    bool is_drawer_open = true;
    for (std::uint32_t tick = 0; tick < 250; ++tick) {
        Desk& desk = office.object();
        if (random.percent(40)) {
            edit(desk.row, random, last_id);
            edit(desk.keyed, random, last_id);
            edit(desk.drawer, random, last_id);
        }
        if (random.percent(40)) {
            const auto year = static_cast<std::int32_t>(2 + random.below(1'000));
            const std::uint8_t kind = random.percent(40) ? 13 : static_cast<std::uint8_t>(year % 7);
            desk.almanac = {year, std::to_string(year), {kind}};
        }
        if (random.percent(8)) {
            is_drawer_open = !is_drawer_open;
            office.game.driver().set_property_active(office.game.id_of(office.desk), "drawer",
                                                     is_drawer_open);
        }
        office.game.tick();
        for (std::size_t client = 0; client < office.game.client_count(); ++client) {
            const Desk* remote = office.game.find_on(client, office.desk);
            if (remote != nullptr && remote->almanac.year != 0) {
                CHECK(remote->almanac.text ==
                      (remote->almanac.year == 1 ? "one" : std::to_string(remote->almanac.year)));
            }
        }
    }
    office.game.driver().set_property_active(office.game.id_of(office.desk), "drawer", true);
    mend(office.object().row);
    mend(office.object().keyed);
    mend(office.object().drawer);
    office.object().almanac.seal.kind = 3;
    office.game.network().set_settings(LinkSettings());
    REQUIRE(office.game.settle());
    for (std::size_t client = 0; client < office.game.client_count(); ++client) {
        const Desk& remote = office.game.object_on(client, office.desk);
        CHECK(remote.row == office.object().row);
        CHECK(remote.keyed == office.object().keyed);
        CHECK(remote.drawer == office.object().drawer);
        CHECK(remote.almanac == office.object().almanac);
    }
    return office.game.driver().stats().bytes_sent;
}

}  // namespace

TEST_CASE("Left out values: what changed in an array meanwhile goes with what is well again",
          "[netdriver]") {
    Office office;
    // In one tick an element changes, another one is added, one is removed, one breaks.
    for (std::vector<Letter>* letters : {&office.object().row, &office.object().keyed}) {
        (*letters)[0].pages = 100;
        (*letters)[1].seal.kind = 13;
        letters->erase(letters->begin() + 2);
        letters->push_back({4, 4, {4}});
        letters->push_back({5, 5, {5}});
    }
    REQUIRE(office.game.settle());
    office.object().row[1].seal.kind = 7;
    office.object().keyed[1].seal.kind = 7;
    REQUIRE(office.game.settle());
    CHECK(office.remote().row == office.object().row);
    CHECK(office.remote().keyed == office.object().keyed);
}

TEST_CASE("Left out values: an atomic group arrives as a whole when it is well again",
          "[netdriver]") {
    Office office;
    office.object().almanac = {2, "two", {13}};
    REQUIRE(office.game.settle());
    CHECK(office.remote().almanac == Almanac{1, "one", {1}});
    SECTION("after the member that failed") {
        office.object().almanac.seal.kind = 2;
        REQUIRE(office.game.settle());
        CHECK(office.remote().almanac == Almanac{2, "two", {2}});
    }
    SECTION("and not before, whatever else changes of it") {
        office.object().almanac.text = "two again";
        REQUIRE(office.game.settle());
        CHECK(office.remote().almanac == Almanac{1, "one", {1}});
        office.object().almanac.seal.kind = 2;
        REQUIRE(office.game.settle());
        CHECK(office.remote().almanac == Almanac{2, "two again", {2}});
    }
}

TEST_CASE("Left out values: an atomic group that was too large arrives as a whole when it is not",
          "[netdriver]") {
    Office office(Office::without_string_limit());
    office.object().almanac = {2, std::string(100'000, 'x'), {2}};
    REQUIRE(office.game.settle());
    CHECK(office.remote().almanac.year == 1);
    office.object().almanac.text = "two";
    REQUIRE(office.game.settle());
    CHECK(office.remote().almanac == office.object().almanac);
}

TEST_CASE("Left out values: are not tried again while nothing of them changes", "[netdriver]") {
    Office office;
    office.object().row[0].pages = 100;
    office.object().row[1].seal.kind = 13;
    REQUIRE(office.game.settle());
    const std::uint64_t failed = office.game.driver().stats().replication.values_failed;
    for (std::int32_t i = 0; i < 20; ++i) {
        office.object().dust = i;
        REQUIRE(office.game.settle());
    }
    CHECK(office.game.driver().stats().replication.values_failed == failed);
    CHECK(office.remote().dust == 19);
    CHECK(office.remote().row[0].pages == 1);
}

TEST_CASE("Left out values: go with their object", "[netdriver]") {
    Office office;
    const ObjectHandle other = office.game.add();
    REQUIRE(office.game.settle());
    const std::size_t before = office.game.driver().memory_report().pair_bytes;
    office.object().row[1].seal.kind = 13;
    REQUIRE(office.game.settle());
    CHECK(office.game.driver().memory_report().pair_bytes > before);
    office.game.remove(office.desk);
    REQUIRE(office.game.settle());
    office.desk = office.game.add();
    office.object().row = {{1, 1, {1}}};
    REQUIRE(office.game.settle());
    CHECK(office.remote().row == office.object().row);
    CHECK(office.game.object_on(0, other).row.empty());
}

TEST_CASE("Left out values: whatever is lost, every client ends with all that is well again",
          "[netdriver]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 5; ++round) {
        const std::uint64_t bytes = play_letters(seed * 100 + round, true);
        CHECK(play_letters(seed * 100 + round, false) == bytes);
    }
}

}  // namespace replayout::test
