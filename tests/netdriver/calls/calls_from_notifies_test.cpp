// SPDX-License-Identifier: MIT
//
// Calls that a client makes while it is told of what arrived: out of notifies, hooks and callbacks
// of fast arrays.
#include <replayout/fast_array.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

struct Lamp;

/// What a client does where it is told of something.
std::function<void(const Lamp& lamp, const std::string& what)> on_told;

void tell(const Lamp& lamp, const std::string& what) {
    if (on_told) {
        on_told(lamp, what);
    }
}

struct Shelf;
struct Bulb : FastArraySerializerItem {
    std::uint32_t watts = 0;

    void post_replicated_add(Shelf& shelf);
};
struct Shelf : FastArraySerializer<Bulb> {
    const Lamp* lamp = nullptr;

    void post_replicated_receive() { tell(*lamp, "shelf"); }
};
void Bulb::post_replicated_add(Shelf& shelf) {
    tell(*shelf.lamp, "bulb");
}

struct Report {
    std::uint32_t number = 0;
    ObjectHandle lamp;
};

struct Lamp {
    Lamp() { shelf.lamp = this; }
    Lamp(const Lamp&) = delete;
    Lamp& operator=(const Lamp&) = delete;

    std::int32_t level = 0;
    ObjectHandle room;
    std::array<std::string, 4> pages;
    Shelf shelf;
    std::vector<std::uint32_t> reports;
    std::vector<std::uint32_t> notes;

    void pre_net_receive() { tell(*this, "pre"); }
    void post_net_receive() { tell(*this, "post"); }
    void post_rep_notifies() { tell(*this, "last"); }
    void on_rep_level() { tell(*this, "level"); }
    void on_rep_room() { tell(*this, "room"); }

    void server_report(const Report& report) { reports.push_back(report.number); }
    void client_note(const Report& report) { notes.push_back(report.number); }
};

[[nodiscard]] Result<const Type*> build_lamp(TypeRegistry& registry) {
    REQUIRE(struct_builder<Bulb>(registry, "Bulb").property<&Bulb::watts>().build());
    REQUIRE(register_fast_array<Shelf>(registry, "Shelf"));
    REQUIRE(struct_builder<Report>(registry, "Report")
                .property<&Report::number>()
                .property<&Report::lamp>()
                .build());
    return class_builder<Lamp>(registry, "Lamp")
        .property<&Lamp::level>()
        .on_rep<&Lamp::on_rep_level>()
        .property<&Lamp::room>()
        .on_rep<&Lamp::on_rep_room>()
        .property<&Lamp::pages>()
        .property<&Lamp::shelf>()
        .pre_net_receive<&Lamp::pre_net_receive>()
        .post_net_receive<&Lamp::post_net_receive>()
        .post_rep_notifies<&Lamp::post_rep_notifies>()
        .function<&Lamp::server_report>(FunctionFlags::Server | FunctionFlags::Reliable)
        .function<&Lamp::client_note>(FunctionFlags::Client | FunctionFlags::Reliable)
        .build();
}

/// One client that owns a lamp, and reports a number for each thing that it is told of.
class LampGame {
  public:
    explicit LampGame(const ClassGameOptions& options = {}) : game(build_lamp, options) {
        game.join();
        lamp = add();
        REQUIRE(game.settle());
        on_told = [this](const Lamp&, const std::string& what) {
            told.push_back(what);
            const Report report{static_cast<std::uint32_t>(told.size()), handle()};
            CHECK(call("server_report", report) == CallResult::Sent);
        };
    }
    ~LampGame() { on_told = nullptr; }
    LampGame(const LampGame&) = delete;
    LampGame& operator=(const LampGame&) = delete;

    [[nodiscard]] ObjectHandle add() {
        const ObjectHandle object = game.add();
        game.driver().set_owner(game.id_of(object), game.peer_of(0));
        return object;
    }
    [[nodiscard]] ObjectHandle handle() { return game.handle_on(0, lamp); }
    CallResult call(const char* function, const Report& report) {
        return game.client_driver(0).call_function(handle(), function, &report);
    }
    /// The server heard of all that the client was told, once and in order.
    void check_reports() {
        REQUIRE(game.settle());
        const std::vector<std::uint32_t>& reports = game.object(lamp).reports;
        for (int i = 0; i < 500 && reports.size() < told.size(); ++i) {
            game.tick();
        }
        CHECK(reports.size() == told.size());
        for (std::size_t i = 0; i < reports.size(); ++i) {
            CHECK(reports[i] == i + 1);
        }
    }

    ClassGame<Lamp> game;
    ObjectHandle lamp;
    std::vector<std::string> told;
};

using Told = std::vector<std::string>;

}  // namespace

TEST_CASE("Remote functions: a client calls out of notifies, hooks and callbacks of fast arrays",
          "[netdriver][rpc]") {
    LampGame lamps;
    Lamp& lamp = lamps.game.object(lamps.lamp);
    lamp.level = 1;
    lamp.shelf.items.emplace_back().watts = 40;
    lamp.shelf.mark_item_dirty(lamp.shelf.items.back());
    lamps.check_reports();
    CHECK(lamps.told == Told{"pre", "bulb", "shelf", "post", "level", "last"});
}

TEST_CASE("Remote functions: a client calls while an update in parts is under way",
          "[netdriver][rpc]") {
    LampGame lamps;
    std::size_t missing_count = 0;
    const auto report = on_told;
    on_told = [&](const Lamp& lamp, const std::string& what) {
        missing_count += what == "pre" && lamp.pages[3].empty() ? 1u : 0u;
        report(lamp, what);
    };
    for (std::string& page : lamps.game.object(lamps.lamp).pages) {
        page.assign(900, 'p');
    }
    lamps.game.object(lamps.lamp).level = 2;
    lamps.check_reports();
    CHECK(missing_count == 1);
    CHECK(lamps.told == Told{"pre", "post", "level", "last"});
    CHECK(lamps.game.object_on(0, lamps.lamp).pages == lamps.game.object(lamps.lamp).pages);
}

TEST_CASE("Remote functions: a client calls out of a notify of a reference that is bound later",
          "[netdriver][rpc]") {
    LampGame lamps;
    const ObjectHandle room = lamps.game.add();
    const NetObjectId id = lamps.game.id_of(room);
    lamps.game.driver().interest().set_relevant_for(lamps.game.peer_of(0), id, false);
    lamps.game.object(lamps.lamp).room = room;
    REQUIRE(lamps.game.settle());
    const std::size_t count = lamps.told.size();

    lamps.game.driver().interest().set_relevant_for(lamps.game.peer_of(0), id, true);
    REQUIRE(lamps.game.settle());
    CHECK(lamps.told.size() > count);
    CHECK(std::count(lamps.told.begin(), lamps.told.end(), "room") == 1);
    lamps.game.driver().interest().set_relevant_for(lamps.game.peer_of(0), id, false);
    lamps.check_reports();
    CHECK(std::count(lamps.told.begin(), lamps.told.end(), "room") == 2);
    CHECK(lamps.game.object_on(0, lamps.lamp).room.is_null());
}

TEST_CASE("Remote functions: what runs at the client alone runs within the notify that calls it",
          "[netdriver][rpc]") {
    LampGame lamps;
    std::vector<std::uint32_t> notes;
    on_told = [&](const Lamp& lamp, const std::string& what) {
        if (what == "level") {
            CHECK(lamps.call("client_note", {7, {}}) == CallResult::Ran);
            notes = lamp.notes;
        }
    };
    lamps.game.object(lamps.lamp).level = 3;
    REQUIRE(lamps.game.settle());
    CHECK(notes == std::vector<std::uint32_t>{7});
}

TEST_CASE("Remote functions: over a network that loses, calls out of notifies arrive in order",
          "[netdriver][rpc][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 20)) {
        INFO("REPLAYOUT_SEED=" << seed);
        ClassGameOptions options;
        options.seed = seed;
        options.link.loss = 0.2;
        options.link.latency_ms = 30;
        LampGame lamps(options);
        SeededRandom random(seed);
        std::vector<ObjectHandle> rooms;
        for (std::uint32_t tick = 0; tick < 300; ++tick) {
            Lamp& lamp = lamps.game.object(lamps.lamp);
            switch (random.below(30)) {
                case 0:
                    lamp.level = static_cast<std::int32_t>(tick);
                    break;
                case 1:
                    for (std::string& page : lamp.pages) {
                        page.assign(random.percent(50) ? 900 : 3,
                                    static_cast<char>('a' + tick % 26));
                    }
                    break;
                case 2:
                    lamp.shelf.items.emplace_back().watts = tick;
                    lamp.shelf.mark_item_dirty(lamp.shelf.items.back());
                    break;
                case 3:
                    rooms.push_back(lamps.add());
                    lamp.room = rooms.back();
                    break;
                case 4:
                    if (!rooms.empty()) {
                        lamp.room = {};
                        lamps.game.remove(rooms.back());
                        rooms.pop_back();
                    }
                    break;
                default:
                    break;
            }
            lamps.game.tick();
        }
        lamps.game.network().set_settings(LinkSettings());
        lamps.check_reports();
        CHECK(lamps.told.size() > 40);
    }
}

}  // namespace replayout::test
