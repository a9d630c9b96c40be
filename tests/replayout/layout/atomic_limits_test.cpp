// SPDX-License-Identifier: MIT
//
// Atomic groups of which a value cannot be sent: while it cannot, all of the group stays as it was.
#include <replayout/collection.h>
#include <replayout/send_properties.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test::atomic_limits_test {
namespace {

using Feasts = std::set<std::uint32_t>;
struct Note {
    std::uint32_t id = 0;
    std::string text;
    friend bool operator==(const Note&, const Note&) = default;
};
/// Right only if all of it is of one year. `before` and `after` lie beside bytes of others.
struct Almanac {
    std::int32_t before = 0;
    std::string text;
    std::vector<std::int32_t> days;
    std::vector<std::string> names;
    Feasts feasts;
    std::int32_t after = 0;
    friend bool operator==(const Almanac&, const Almanac&) = default;
};
/// Likewise.
struct Binder {
    std::int32_t year = 0;
    std::vector<Note> notes;
    friend bool operator==(const Binder&, const Binder&) = default;
};
struct Arms {
    std::array<std::uint32_t, 5> fields{};
    std::string motto;
    friend bool operator==(const Arms&, const Arms&) = default;
};
struct Crest {
    Arms arms;
    std::uint32_t rank = 0;
};
struct AlmanacShelf {
    std::int32_t left = 0;
    Almanac almanac;
    std::int32_t right = 0;
    std::vector<Almanac> row;
    Binder binder;
};

}  // namespace
}  // namespace replayout::test::atomic_limits_test

template <>
struct replayout::StructTraitsOf<replayout::test::atomic_limits_test::Almanac>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::atomic_limits_test::Arms>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::atomic_limits_test::Binder>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test::atomic_limits_test {
namespace {

template <bool IsPushed>
[[nodiscard]] Result<const Type*> build_almanac_shelf(TypeRegistry& registry) {
    (void)register_collection<Feasts, 4>(registry);
    REQUIRE(struct_builder<Note>(registry, "Note")
                .property<&Note::id>()
                .property<&Note::text>()
                .build());
    REQUIRE(struct_builder<Almanac>(registry, "Almanac")
                .property<&Almanac::before>()
                .property<&Almanac::text>()
                .property<&Almanac::days>()
                .property<&Almanac::names>()
                .property<&Almanac::feasts>()
                .property<&Almanac::after>()
                .build());
    REQUIRE(struct_builder<Binder>(registry, "Binder")
                .property<&Binder::year>()
                .property<&Binder::notes>()
                .keyed_by<&Note::id>(ArrayOrder::Kept)
                .build());
    auto builder = class_builder<AlmanacShelf>(registry, "Shelf");
    builder.property<&AlmanacShelf::left>();
    auto property = builder.property<&AlmanacShelf::almanac>();
    if (IsPushed) {
        property.push_based();
    }
    return builder.property<&AlmanacShelf::right>()
        .property<&AlmanacShelf::row>()
        .property<&AlmanacShelf::binder>()
        .build();
}

[[nodiscard]] Result<const Type*> build_crest(TypeRegistry& registry) {
    REQUIRE(struct_builder<Arms>(registry, "Arms")
                .property<&Arms::fields>()
                .property<&Arms::motto>()
                .build());
    return class_builder<Crest>(registry, "Crest")
        .property<&Crest::arms>()
        .property<&Crest::rank>()
        .build();
}

[[nodiscard]] RepLayoutOptions small_limits() {
    RepLayoutOptions options;
    options.limits.string_bytes_max = 8;
    options.limits.array_count_max = 4;
    return options;
}

[[nodiscard]] Almanac almanac_of(std::int32_t year) {
    Almanac almanac;
    almanac.before = year;
    almanac.text = std::to_string(year);
    almanac.days = {year};
    almanac.names = {"name", almanac.text};
    almanac.feasts = {static_cast<std::uint32_t>(year)};
    almanac.after = year;
    return almanac;
}

using Break = void (*)(Almanac&);
constexpr Break breaks[] = {
    [](Almanac& almanac) { almanac.text = "too long a text"; },
    [](Almanac& almanac) { almanac.text = "\xFF"; },
    [](Almanac& almanac) { almanac.days.resize(5); },
    [](Almanac& almanac) { almanac.names.back() = "too long a text"; },
    [](Almanac& almanac) { almanac.names.resize(5); },
    [](Almanac& almanac) {
        for (std::uint32_t feast = 0; feast < 5; ++feast) {
            almanac.feasts.insert(feast);
        }
    },
};

struct Game {
    explicit Game(BuildType build = build_almanac_shelf<false>)
        : layout(build, small_limits()), sender(*layout), receiver(*layout) {}

    /// What the object is goes to the receiver.
    void send() {
        (void)sender.update(&server);
        const Bytes block = sender.block(since(sent_version));
        sent_version = sender.state.version();
        REQUIRE((block.empty() || receiver.receive(&client, block)));
    }

    TestLayout layout;
    BlockSender sender;
    BlockReceiver receiver;
    AlmanacShelf server;
    AlmanacShelf client;
    Version sent_version = 0;
};

}  // namespace

TEST_CASE("Atomic groups: while a value of one cannot be sent, all of it stays as it was",
          "[replayout][atomic]") {
    for (const Break damage : breaks) {
        INFO("damage " << (&damage - breaks));
        Game game;
        game.server.almanac = almanac_of(1);
        game.send();
        CHECK(game.client.almanac == almanac_of(1));
        game.server.almanac = almanac_of(2);
        damage(game.server.almanac);
        game.server.left = 2;
        game.server.right = 2;
        const std::uint64_t count = game.sender.counters.values_over_limit;
        game.send();
        CHECK(game.client.almanac == almanac_of(1));
        CHECK(game.client.left == 2);
        CHECK(game.client.right == 2);
        CHECK(game.sender.counters.values_over_limit == count + 1);
        game.server.almanac = almanac_of(2);
        game.send();
        CHECK(game.client.almanac == almanac_of(2));
    }
}

TEST_CASE("Atomic groups: while a value of one cannot be sent, a scan sends no words of it either",
          "[replayout][atomic][scan_plan]") {
    for (const std::uint32_t words : {1u, 2u, 5u}) {
        CAPTURE(words);
        const TestLayout layout(build_crest, small_limits());
        BlockSender sender(*layout);
        Crest crest;
        (void)sender.update(&crest);
        const auto update_scanned = [&] {
            const ScannedObject scanned = sender.state.scanned();
            const void* const memory = &crest;
            REQUIRE(scanned.plan != nullptr);
            REQUIRE(find_changed(&scanned, &memory, 1).changed == 1);
            using Known = ChangelistState::Known;
            const ChangelistState::ToUpdate one{&sender.state, memory, Known::Differs};
            return ChangelistState::update_few_words({&one, 1}, sender.counters) != 0 ||
                   sender.state.update_changed(memory, sender.package_map, sender.counters);
        };
        const Version version = sender.state.version();
        for (std::uint32_t i = 0; i < words; ++i) {
            ++crest.arms.fields[i];
        }
        crest.arms.motto = "too long a text";
        CHECK_FALSE(update_scanned());
        CHECK(sender.state.version() == version);
        crest.rank = 1;
        CHECK(update_scanned());
        CHECK(sender.state.last_changed(RepHandle{1}) <= version);
        crest.arms.motto = "short";
        CHECK(update_scanned());
        CHECK(sender.state.last_changed(RepHandle{1}) == sender.state.version());
    }
}

TEST_CASE("Atomic groups: one in an element stays as it was, and its neighbours do not",
          "[replayout][atomic]") {
    for (const Break damage : breaks) {
        INFO("damage " << (&damage - breaks));
        Game game;
        game.server.row = {almanac_of(1), almanac_of(2)};
        game.send();
        game.server.row = {almanac_of(3), almanac_of(4), almanac_of(5)};
        damage(game.server.row[0]);
        damage(game.server.row[2]);
        game.send();
        CHECK(game.client.row == std::vector<Almanac>{almanac_of(1), almanac_of(4), Almanac()});
        game.server.row = {almanac_of(3), almanac_of(4), almanac_of(5)};
        game.send();
        CHECK(game.client.row == game.server.row);
    }
}

TEST_CASE("Atomic groups: what stays as it was is no forgotten mark", "[replayout][atomic]") {
    Game game(build_almanac_shelf<true>);
    game.server.almanac = almanac_of(1);
    game.send();
    CHECK(game.client.almanac == almanac_of(1));
    game.server.almanac.after = 2;
    ChangeMask missed;
    game.sender.state.find_missed_marks(&game.server, missed);
    CHECK(missed.test(1));
    game.server.almanac.text = "too long a text";
    game.sender.state.find_missed_marks(&game.server, missed);
    CHECK_FALSE(missed.test(1));
    game.sender.state.mark_all_dirty();
    game.send();
    CHECK(game.client.almanac == almanac_of(1));
}

TEST_CASE("Atomic groups: one with a keyed array stays as it was while a key comes twice",
          "[replayout][atomic]") {
    Game game;
    game.server.binder = {1, {{1, "one"}, {2, "two"}}};
    game.send();
    CHECK(game.client.binder == game.server.binder);
    const Binder before = game.client.binder;
    SECTION("two elements have the same") {
        game.server.binder = {2, {{1, "one"}, {3, "two"}, {3, "three"}}};
    }
    SECTION("a text is too long") {
        game.server.binder = {2, {{2, "two"}, {1, "too long a text"}}};
    }
    SECTION("there are too many") {
        game.server.binder = {2, {{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}, {5, "e"}}};
    }
    game.send();
    CHECK(game.client.binder == before);
    game.server.binder = {3, {{3, "three"}, {1, "one"}}};
    game.send();
    CHECK(game.client.binder == game.server.binder);
}

}  // namespace replayout::test::atomic_limits_test
