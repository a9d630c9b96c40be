// SPDX-License-Identifier: MIT
//
// A call sees at least the state of its object that was set before it in the same tick, of whatever
// kind that is, and it may see what was set after it.
#include <replayout/net_archive.h>
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/reflection/reflection.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/checks/wait_bounds.h"
#include "support/types/delta_types.h"
#include "support/types/fast_array_types.h"
#include "support/types/test_layout.h"
#include "support/worlds/class_game.h"
#include "support/worlds/typed_world.h"

namespace replayout {
namespace {

/// One number in four cannot be written.
struct Stamp {
    std::uint32_t number = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        archive.serialize(number);
        ok = archive.is_loading() || number % 4 != 0;
        return true;
    }
    friend bool operator==(const Stamp&, const Stamp&) = default;
};

}  // namespace

template <>
struct StructTraitsOf<Stamp> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

namespace test::calls_and_state_test {
namespace {

struct Entry {
    std::uint32_t id = 0;
    std::uint32_t number = 0;
};

struct Number {
    std::uint32_t number = 0;
};

struct Desk;
std::function<void(const Desk& desk, std::uint32_t number)> on_number;

/// Every property holds the number of the last update.
struct Desk {
    std::uint32_t plain = 0;
    std::vector<std::uint32_t> numbers;
    std::vector<Entry> entries;  // keyed
    Inventory inventory;
    Scores scores;
    Stamp stamp;
    std::array<std::string, 3> texts;  // together more than a packet
    std::string book;                  // more than a packet by itself

    void multicast_number(const Number& said) {
        if (on_number) {
            on_number(*this, said.number);
        }
    }
};

[[nodiscard]] std::string text_of(std::uint32_t number, std::size_t bytes) {
    std::string text = std::to_string(number) + ' ';
    text.resize(bytes, 'x');
    return text;
}
[[nodiscard]] std::uint32_t number_of(const std::string& text) {
    return text.empty() ? 0 : static_cast<std::uint32_t>(std::stoul(text));
}

/// `has_deltas`: and properties with deltas of their own, which make a call wait until all of them
/// are there.
template <bool has_deltas>
[[nodiscard]] Result<const Type*> build_desk(TypeRegistry& registry) {
    REQUIRE(struct_builder<Entry>(registry, "Entry")
                .property<&Entry::id>()
                .property<&Entry::number>()
                .build());
    REQUIRE(struct_builder<Number>(registry, "Number").property<&Number::number>().build());
    REQUIRE(struct_builder<Stamp>(registry, "Stamp").build());
    register_inventory(registry);
    auto desk = class_builder<Desk>(registry, "Desk");
    desk.property<&Desk::plain>()
        .property<&Desk::numbers>()
        .property<&Desk::entries>()
        .keyed_by<&Entry::id>()
        .property<&Desk::inventory>()
        .property<&Desk::stamp>()
        .property<&Desk::texts>()
        .property<&Desk::book>();
    if constexpr (has_deltas) {
        REQUIRE(struct_builder<Scores>(registry, "Scores").build());
        desk.property<&Desk::scores>();
    }
    return desk
        .function<&Desk::multicast_number>(FunctionFlags::Multicast | FunctionFlags::Reliable)
        .build();
}

/// What a tick sets.
struct Kinds {
    bool has_large = false;
    bool has_delta = false;
};

void set_numbers(Desk& desk, std::uint32_t number, const Kinds& kinds) {
    desk.plain = number;
    desk.numbers.assign(1 + number % 5, number);
    desk.entries.resize(1 + number % 4);
    for (std::uint32_t i = 0; i < desk.entries.size(); ++i) {
        desk.entries[i] = {i + 1, number};
    }
    if (desk.inventory.items.empty()) {
        (void)desk.inventory.add(1, 0);
    }
    desk.inventory.change(0, static_cast<std::int32_t>(number));
    if (kinds.has_delta) {
        desk.scores.values[1] = static_cast<std::int32_t>(number);
    }
    desk.stamp.number = number;
    if (kinds.has_large) {
        for (std::string& text : desk.texts) {
            text = text_of(number, 700);
        }
        desk.book = text_of(number, 3'000);
    }
}

/// Whether every small property is at least at `number`, and every large one at least at `large`.
[[nodiscard]] bool says_at_least(const Desk& desk, std::uint32_t number, std::uint32_t large,
                                 bool has_delta) {
    bool is_right = desk.plain >= number && !desk.numbers.empty() && !desk.entries.empty() &&
                    !desk.inventory.items.empty();
    for (const std::uint32_t entry : desk.numbers) {
        is_right = is_right && entry >= number;
    }
    for (const Entry& entry : desk.entries) {
        is_right = is_right && entry.number >= number;
    }
    is_right = is_right && desk.inventory.items[0].count >= static_cast<std::int32_t>(number);
    if (has_delta) {
        const auto score = desk.scores.values.find(1);
        is_right = is_right && score != desk.scores.values.end() &&
                   score->second >= static_cast<std::int32_t>(number);
    }
    for (const std::string& text : desk.texts) {
        is_right = is_right && number_of(text) >= large;
    }
    return is_right && number_of(desk.book) >= large;
}

struct DeskPlay {
    std::uint64_t seed = 1;
    bool has_delta = false;
    std::uint32_t cap = 0;
    double loss = 0;
};

void play_desk(const DeskPlay& play) {
    SeededRandom random(play.seed);
    ClassGameOptions options;
    options.seed = play.seed;
    options.layout.limits.string_bytes_max = 4'000;
    options.link.loss = play.loss;
    options.link.reorder = 0.1;
    options.link.reorder_ms = 50;
    options.link.latency_ms = 30;
    ClassGame<Desk> game(play.has_delta ? build_desk<true> : build_desk<false>, options);
    game.join();
    const ObjectHandle desk = game.add();
    REQUIRE(game.settle());
    game.driver().rates().set_bytes_per_second_max(game.peer_of(0), play.cap);

    const LogSpy spy;                        // the stamps that cannot be written
    std::vector<std::uint32_t> large_at{0};  // by number
    std::uint32_t last = 0;
    bool is_right = true;
    on_number = [&](const Desk& callee, std::uint32_t number) {
        if (&callee == &game.object(desk)) {
            return;  // at the server
        }
        is_right = is_right && number == last + 1 &&
                   says_at_least(callee, number, large_at[number], play.has_delta);
        last = number;
    };
    std::uint32_t large = 0;
    std::uint32_t made = 0;
    for (int tick = 0; tick < 200; ++tick) {
        for (std::uint32_t i = random.below(3); i > 0; --i) {
            const bool is_large = random.percent(5);
            large = is_large ? made + 1 : large;
            set_numbers(game.object(desk), made + 1, {is_large, play.has_delta});
            const Number said{made + 1};
            if (game.driver().call_function(game.id_of(desk), "multicast_number", &said) !=
                CallResult::Sent) {
                break;
            }
            ++made;
            large_at.push_back(large);
        }
        game.tick();
    }
    game.network().heal();
    game.driver().rates().set_bytes_per_second_max(game.peer_of(0), 0);
    REQUIRE(game.settle());
    on_number = nullptr;
    CHECK(is_right);
    CHECK(last == made);
    CHECK(made > 50);
}

TEST_CASE("Calls and state: a call sees what was set before it, of whatever kind",
          "[netdriver][rpc][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 2)) {
        for (const bool has_delta : {false, true}) {
            for (const std::uint32_t cap : {0u, 40'000u}) {
                for (const double loss : {0.0, 0.2}) {
                    INFO("REPLAYOUT_SEED=" << seed << ", deltas " << has_delta << ", cap " << cap
                                           << ", loss " << loss);
                    play_desk({seed, has_delta, cap, loss});
                }
            }
        }
    }
}

struct SlowCalls {
    std::uint64_t seed = 1;
    bool has_deltas = false;
    bool has_books = false;
    std::uint32_t bytes_per_second_max = 0;  ///< 0: none
};

/// Returns the bound of docs/limits.md, in flushes that arrive, for a call while `waiting` calls
/// wait, itself included, each with all of a desk.
[[nodiscard]] double longest_wait(const SlowCalls& slow, std::size_t waiting, double lost,
                                  double round_trip) {
    constexpr double other_bytes = 1'000;  // of a desk, beside its texts
    constexpr double flushes_per_second = 50;
    const double desk = other_bytes + (slow.has_books ? 3 * 2'500 + 3'000 : 3 * 700 + 300);
    const double as_large = 1.1 * desk + 200 * 4 + desk;
    const double cap = slow.bytes_per_second_max == 0 ? 1e12 : slow.bytes_per_second_max;
    const WaitBounds bounds = WaitBounds::of_cap(cap, flushes_per_second, 2, 1'200);
    const double arrival = bounds.of_arrival(lost, round_trip);
    const double call = bounds.of_quarter(static_cast<double>(waiting) * desk) + 2 * arrival;
    const double state = bounds.of_shown(desk, 1) + bounds.of_quarter(as_large) + 3 * arrival;
    return call + 2 * arrival + state;
}

/// All of a desk changes in each tick and never fits into a packet, and a call is made now and
/// then. Each must run at the client in time. Returns how many ticks they took on average.
[[nodiscard]] double mean_wait_of_calls(const SlowCalls& slow) {
    constexpr int tick_count = 3'000;
    constexpr int ticks_between_calls = 40;
    ClassGameOptions options;
    options.seed = slow.seed;
    options.layout.limits.string_bytes_max = 4'000;
    options.link.loss = 0.3;
    options.link.latency_ms = 30;
    const double round_trip = 2.0 * options.link.latency_ms / 20 + 2;
    ClassGame<Desk> game(slow.has_deltas ? build_desk<true> : build_desk<false>, options);
    game.join();
    const ObjectHandle desk = game.add();
    REQUIRE(game.settle());
    game.driver().rates().set_bytes_per_second_max(game.peer_of(0), slow.bytes_per_second_max);
    const LogSpy spy;  // the stamps that cannot be written
    std::vector<int> made_at;
    std::vector<double> due_at;
    std::vector<int> waits;
    int tick = 0;
    on_number = [&](const Desk& callee, std::uint32_t call) {
        if (&callee != &game.object(desk)) {
            REQUIRE(call == waits.size());
            CHECK(callee.plain >= static_cast<std::uint32_t>(made_at[call]));
            CHECK(tick <= due_at[call]);
            waits.push_back(tick - made_at[call]);
        }
    };
    const auto has_all_run = [&] { return waits.size() == made_at.size(); };
    for (; tick < tick_count || (!has_all_run() && tick <= due_at.back()); ++tick) {
        Desk& changing = game.object(desk);
        const auto number = static_cast<std::uint32_t>(tick);
        set_numbers(changing, number, {false, slow.has_deltas});
        for (std::string& text : changing.texts) {
            text = text_of(number, slow.has_books ? 2'500 : 700);
        }
        changing.book = text_of(number, slow.has_books ? 3'000 : 300);
        if (tick < tick_count && tick % ticks_between_calls == 0) {
            const Number call{static_cast<std::uint32_t>(made_at.size())};
            made_at.push_back(tick);
            due_at.push_back(tick + longest_wait(slow, made_at.size() - waits.size(),
                                                 options.link.loss, round_trip) /
                                        (1 - options.link.loss));
            REQUIRE(game.driver().call_function(game.id_of(desk), "multicast_number", &call) ==
                    CallResult::Sent);
        }
        game.tick();
    }
    on_number = nullptr;
    CHECK(has_all_run());
    return std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size());
}

TEST_CASE(
    "Calls and state: a call of an object that does not fit into a packet runs soon, though "
    "all of it changes in each tick and much is lost",
    "[netdriver][rpc][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 2)) {
        for (const bool has_deltas : {false, true}) {
            for (const bool has_books : {false, true}) {
                for (const std::uint32_t cap : {0u, 200'000u}) {
                    INFO("REPLAYOUT_SEED=" << seed << ", deltas " << has_deltas << ", books "
                                           << has_books << ", cap " << cap);
                    const double mean = mean_wait_of_calls({seed, has_deltas, has_books, cap});
                    UNSCOPED_INFO("mean " << mean);
                    CHECK(mean <= 130);  // at most 100 in 60 games of each kind
                }
            }
        }
    }
}

struct Unit {
    std::uint32_t number = 0;
    Scores scores;  // of the outer alone

    void multicast_number(const Number&) {}
};

[[nodiscard]] Result<const Type*> build_outer(TypeRegistry& registry) {
    REQUIRE(struct_builder<Scores>(registry, "Scores").build());
    return class_builder<Unit>(registry, "Outer").property<&Unit::scores>().build();
}
[[nodiscard]] Result<const Type*> build_part(TypeRegistry& registry) {
    REQUIRE(struct_builder<Number>(registry, "Number").property<&Number::number>().build());
    return class_builder<Unit>(registry, "Part")
        .property<&Unit::number>()
        .function<&Unit::multicast_number>(FunctionFlags::Multicast | FunctionFlags::Reliable)
        .build();
}

TEST_CASE("Calls and state: a call of a new part leaves the deltas of its outer right",
          "[netdriver][rpc][subobjects]") {
    const TestLayout outer_layout(build_outer);
    const TestLayout part_layout(build_part);
    LoopbackNetwork network({2'048, 1u << 16}, std::pmr::get_default_resource());
    TypedWorld<Unit> server_world;
    TypedWorld<Unit> client_world(1'000);
    NetDriver server({}, network.endpoint(PeerId{1}), server_world);
    NetDriver client({}, network.endpoint(PeerId{2}), client_world);
    NetTime now = NetTime::from_milliseconds(1'000);
    const auto tick = [&] {
        now = now.plus_milliseconds(20);
        for (NetDriver* driver : {&server, &client}) {
            driver->tick_dispatch(now);
            driver->tick_flush(now);
        }
    };
    for (NetDriver* driver : {&server, &client}) {
        REQUIRE(driver->add_layout(*outer_layout));
        REQUIRE(driver->add_layout(*part_layout));
    }
    REQUIRE(server.listen());
    REQUIRE(client.connect(PeerId{1}, now));
    for (int i = 0; i < 10; ++i) {
        tick();
    }
    const ObjectHandle outer = server_world.add();
    const ObjectHandle part = server_world.add();
    const NetObjectId outer_id = server.add_object(*outer_layout, outer);
    const NetObjectId part_id = server.add_subobject(outer_id, *part_layout, part);
    for (int i = 0; i < 10; ++i) {
        server_world.at(outer).scores.values[1] = i;
        server_world.at(part).number = static_cast<std::uint32_t>(i);
        const Number said{7};
        CHECK(server.call_function(part_id, "multicast_number", &said) == CallResult::Sent);
        tick();
    }
    tick();
    REQUIRE(client_world.object_count() == 2);
    CHECK(client_world.objects().begin()->second->scores.values == ScoreMap{{1, 9}});
    CHECK(client.state() == ConnectionState::Joined);
}

}  // namespace
}  // namespace test::calls_and_state_test
}  // namespace replayout
