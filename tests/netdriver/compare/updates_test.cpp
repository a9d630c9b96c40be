// SPDX-License-Identifier: MIT
//
// Objects in parts, over a network that loses: when a client runs hooks and notifies.
#include <replayout/netdriver/net_driver.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

constexpr std::size_t page_count = 8;

struct Volume {
    std::array<std::string, page_count> pages;
    ObjectHandle sequel;
    std::uint32_t edition = 0;

    // What it was told.
    std::uint32_t begin_count = 0;
    std::uint32_t end_count = 0;
    std::uint32_t page_notifies = 0;
    std::size_t pages_told = 0;  ///< by all of these, that differed
    std::uint32_t edition_when_told = 0;

    void pre_net_receive() {
        CHECK(begin_count == end_count);
        ++begin_count;
    }
    void post_rep_notifies() {
        ++end_count;
        CHECK(begin_count == end_count);
    }
    void on_rep_pages(const std::array<std::string, page_count>& previous) {
        ++page_notifies;
        for (std::size_t i = 0; i < page_count; ++i) {
            pages_told += pages[i] != previous[i] ? 1u : 0u;
        }
        edition_when_told = edition;
    }
};

[[nodiscard]] Result<const Type*> build_volume(TypeRegistry& registry) {
    return class_builder<Volume>(registry, "Volume")
        .property<&Volume::pages>()
        .on_rep<&Volume::on_rep_pages>()
        .property<&Volume::sequel>()
        .property<&Volume::edition>()
        .pre_net_receive<&Volume::pre_net_receive>()
        .post_rep_notifies<&Volume::post_rep_notifies>()
        .build();
}

void write(Volume& volume, std::size_t page_bytes) {
    for (std::string& page : volume.pages) {
        page.assign(page_bytes, static_cast<char>('a' + volume.edition % 26));
    }
    ++volume.edition;
}

[[nodiscard]] ClassGameOptions large_strings() {
    ClassGameOptions options;
    options.layout.limits.string_bytes_max = 8'192;
    return options;
}

/// Loses what is sent from now on, or nothing.
void set_loss(ClassGame<Volume>& game, const ClassGameOptions& options, double loss) {
    LinkSettings link = options.link;
    link.loss = loss;
    game.network().set_settings(link);
}

}  // namespace

TEST_CASE("NetDriver: of an object in parts notifies run once, when the last part is there",
          "[netdriver][updates]") {
    for (const bool is_open_known : {false, true}) {
        ClassGame<Volume> game(build_volume, large_strings());
        game.join();
        const ObjectHandle volume = game.add();
        if (is_open_known) {
            REQUIRE(game.settle());
        }
        write(game.object(volume), 900);
        REQUIRE(game.settle());
        const Volume& copy = game.object_on(0, volume);
        CHECK(copy.pages == game.object(volume).pages);
        CHECK(copy.begin_count == 1);
        CHECK(copy.end_count == 1);
        CHECK(copy.page_notifies == 1);
        CHECK(copy.pages_told == page_count);
        CHECK(copy.edition_when_told == 1);
    }
}

TEST_CASE("NetDriver: an update whose end is lost ends with whatever comes next",
          "[netdriver][updates]") {
    ClassGameOptions options = large_strings();
    ClassGame<Volume> game(build_volume, options);
    game.join();
    const ObjectHandle volume = game.add();
    REQUIRE(game.settle());
    // The last value is one that no packet holds, so the parts before it end with a promise.
    write(game.object(volume), 900);
    game.object(volume).pages[7].assign(5'000, 'z');
    game.object(volume).edition = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        game.tick();
    }
    const Volume& copy = game.object_on(0, volume);
    CHECK(copy.begin_count == copy.end_count);
    CHECK(copy.pages_told >= page_count - 1);
    REQUIRE(game.settle());
    CHECK(copy.pages_told == page_count);
    CHECK(copy.pages == game.object(volume).pages);
}

TEST_CASE("NetDriver: whichever parts are lost, no notify waits for what does not come",
          "[netdriver][updates]") {
    const std::uint64_t first_seed = run_seed();
    for (std::uint64_t seed = first_seed; seed < first_seed + 20; ++seed) {
        INFO("seed " << seed);
        ClassGameOptions options = large_strings();
        options.seed = seed;
        options.link.loss = 0.25;
        options.link.duplicate = 0.1;
        options.link.reorder = 0.1;
        options.link.latency_ms = 40;
        ClassGame<Volume> game(build_volume, options);
        SeededRandom random(seed);
        game.join();
        std::vector<ObjectHandle> volumes = {game.add(), game.add(), game.add()};
        for (std::uint32_t round = 0; round < 60; ++round) {
            const ObjectHandle volume = volumes[random.below(3)];
            if (random.percent(60)) {
                write(game.object(volume), 200 + random.below(900));
            } else if (random.percent(50)) {
                game.object(volume).pages[random.below(page_count)].assign(3'000, 'l');
            } else if (random.percent(50)) {
                game.object(volume).sequel = volumes[random.below(3)];
            } else {
                ++game.object(volume).edition;
            }
            game.tick();
        }
        REQUIRE(game.settle());
        set_loss(game, options, 0);
        for (std::uint32_t i = 0; i < 100; ++i) {
            game.tick();  // a packet more, so that the last update ends if its end was lost
        }
        for (const ObjectHandle volume : volumes) {
            const Volume& copy = game.object_on(0, volume);
            CHECK(copy.begin_count == copy.end_count);
            CHECK(copy.pages == game.object(volume).pages);
            CHECK(copy.edition == game.object(volume).edition);
        }
    }
}

TEST_CASE("NetDriver: an object that goes in the middle of an update ends it first",
          "[netdriver][updates]") {
    for (std::uint32_t ticks = 1; ticks < 8; ++ticks) {
        INFO("ticks " << ticks);
        ClassGameOptions options = large_strings();
        options.link.loss = 0.3;
        options.link.latency_ms = 30;
        options.seed = ticks;
        ClassGame<Volume> game(build_volume, options);
        game.join();
        const ObjectHandle stays = game.add();
        const ObjectHandle goes = game.add();
        REQUIRE(game.settle());
        game.object(stays).sequel = goes;
        write(game.object(stays), 900);
        write(game.object(goes), 900);
        for (std::uint32_t i = 0; i < ticks; ++i) {
            game.tick();
        }
        game.remove(goes);
        game.object(stays).sequel = ObjectHandle{};
        write(game.object(stays), 800);
        REQUIRE(game.settle());
        CHECK(game.object_on(0, stays).pages == game.object(stays).pages);
    }
}

}  // namespace replayout::test
