// SPDX-License-Identifier: MIT
//
// Opens, messages and notices that no server of ours sends: each ends the connection with its
// reason, and spawns nothing.
#include <replayout/netdriver/net_driver.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

using WriteRecord = std::function<void(BitWriter&)>;

struct BadOpen {
    const char* name;
    std::uint64_t facts;
    WriteRecord write_record;
};

void write_floats(BitWriter& writer, int count, float value) {
    for (int i = 0; i < count; ++i) {
        writer.write_bits(std::bit_cast<std::uint32_t>(value), 32);
    }
}

void write_name(BitWriter& writer, std::string_view name) {
    writer.write_packed_uint(name.size());
    for (const char character : name) {
        writer.write_bits(static_cast<unsigned char>(character), 8);
    }
}

[[nodiscard]] std::vector<BadOpen> bad_opens() {
    return {
        {"a fact that there is not", 1u << 10, {}},
        {"facts beyond any", ~std::uint64_t{0}, {}},
        {"autonomous and not owned", 2, {}},
        {"a player's and not owned", 4, {}},
        {"archetype 0", 8, [](BitWriter& writer) { writer.write_packed_uint(0); }},
        {"an archetype of more than 32 bits", 8,
         [](BitWriter& writer) { writer.write_packed_uint(std::uint64_t{1} << 32); }},
        {"an outer that is none", 512, [](BitWriter& writer) { writer.write_packed_uint(0); }},
        {"an outer that is cut short", 512, {}},
        {"a name without a character", 16, [](BitWriter& writer) { write_name(writer, ""); }},
        {"a name that is too long", 16,
         [](BitWriter& writer) { write_name(writer, std::string(97, 'a')); }},
        {"a name that is longer than the message", 16,
         [](BitWriter& writer) { writer.write_packed_uint(96); }},
        {"a name that is no UTF-8", 16,
         [](BitWriter& writer) { write_name(writer, "a\xC0\x80z"); }},
        {"a location without a number", 32,
         [](BitWriter& writer) {
             write_floats(writer, 3, std::numeric_limits<float>::quiet_NaN());
         }},
        {"an infinite rotation", 64,
         [](BitWriter& writer) {
             write_floats(writer, 4, std::numeric_limits<float>::infinity());
         }},
        {"half a scale", 128, [](BitWriter& writer) { write_floats(writer, 2, 1); }},
        {"no velocity", 256, {}},
        {"bytes behind it", 0, [](BitWriter& writer) { writer.write_bits(0, 8); }},
    };
}

[[nodiscard]] Bytes role_message(std::uint8_t kind, std::uint64_t bits) {
    return written([&](BitWriter& writer) {
        writer.write_bits(kind, 8);
        writer.write_packed_uint(bits);
    });
}

[[nodiscard]] Bytes destroyed_message(const std::vector<std::string>& names) {
    return written([&](BitWriter& writer) {
        writer.write_bits(7, 8);
        for (const std::string& name : names) {
            writer.write_packed_uint(9);
            write_name(writer, name);
        }
    });
}

}  // namespace

TEST_CASE("Hostile: an open that is not one spawns nothing", "[netdriver][hostile][spawn]") {
    for (const BadOpen& bad : bad_opens()) {
        INFO(bad.name);
        ForgedServer server;
        server.welcome();
        server.deliver_packet(
            {open_bunch(1, NetGUID{1}, TestSchema::pawn_number, bad.facts, bad.write_record)});
        CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
        CHECK(server.world().spawn_count == 0);
    }
}

TEST_CASE("Hostile: an open cut short anywhere is refused", "[netdriver][hostile][spawn]") {
    const Bunch whole =
        open_bunch(1, NetGUID{300}, TestSchema::pawn_number, 0x3FF, [](BitWriter& writer) {
            writer.write_packed_uint(7);
            writer.write_packed_uint(2);
            write_name(writer, "cellar/door");
            write_floats(writer, 3 + 4 + 3 + 3, 1.5f);
        });
    for (std::size_t size = 0; size <= whole.payload.size(); ++size) {
        INFO("bytes " << size);
        ForgedServer server;
        server.welcome();
        const LogSpy log;  // of archetype 7, which is not there
        Bunch cut = make_bunch(whole.header,
                               Bytes(whole.payload.begin(),
                                     whole.payload.begin() + static_cast<std::ptrdiff_t>(size)));
        server.deliver_packet({cut});
        CHECK(server.is_joined() == (size == whole.payload.size()));  // it waits for its outer
        CHECK(server.world().spawn_count == 0);
    }
}

TEST_CASE("Hostile: any bytes as an open do no harm", "[netdriver][hostile][spawn]") {
    SeededRandom random(7);
    const LogSpy log;
    int taken_count = 0;
    for (int game = 0; game < 2'000; ++game) {
        ForgedServer server;
        server.welcome();
        Bunch bunch = open_bunch(1, NetGUID{1}, TestSchema::pawn_number);
        const std::uint32_t size = random.below(60);
        Bytes payload(size);
        for (std::byte& byte : payload) {
            byte = static_cast<std::byte>(random.percent(50) ? random.below(8) : random.below(256));
        }
        server.deliver_packet({make_bunch(bunch.header, payload)});
        if (server.is_joined()) {
            ++taken_count;
            CHECK(server.world().object_count() == server.world().spawn_count);
        } else {
            CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
            CHECK(server.world().object_count() == 0);
        }
    }
    CHECK(taken_count > 0);
    CHECK(taken_count < 1'000);
}

TEST_CASE("Hostile: an object that is shown is not shown as another one, too",
          "[netdriver][hostile][spawn]") {
    ForgedServer server;
    server.welcome();
    server.world().found_by_name = server.world().add(TestSchema::get().pawn());
    const ObjectHandle door = server.world().found_by_name;
    const auto open_door = [](std::uint32_t channel) {
        return open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number, 16,
                          [](BitWriter& writer) { write_name(writer, "door"); });
    };
    server.deliver_packet({open_door(1)});
    REQUIRE(server.object_on(1) == door);
    const LogSpy log;
    server.deliver_packet({open_door(2)});
    CHECK(server.is_joined());
    CHECK(server.object_on(2).is_null());
    CHECK(server.driver().guids().find_guid(door) == NetGUID{1});
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages().front().find("shown already for object 2") != std::string::npos);
    const std::uint32_t first = GENERATE(1u, 2u);
    server.deliver_packet({close_bunch(first, 2)});
    server.deliver_packet({close_bunch(3 - first, 2)});
    CHECK(server.is_joined());
    CHECK(server.world().despawn_count == 1);
    CHECK(server.driver().guids().find_guid(door).is_null());
}

TEST_CASE("Hostile: parts of what there is not wait within their limits, and do no harm",
          "[netdriver][hostile][spawn]") {
    const auto open_part = [](std::uint32_t channel, std::uint64_t outer) {
        return open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number, 512,
                          [outer](BitWriter& writer) { writer.write_packed_uint(outer); });
    };
    ForgedServer server;
    server.welcome();
    SECTION("a part of itself") {
        server.deliver_packet({open_part(1, 1)});
        CHECK(server.is_joined());
        CHECK(server.world().spawn_count == 0);
    }
    SECTION("a ring") {
        server.deliver_packet({open_part(1, 2), open_part(2, 3), open_part(3, 1)});
        CHECK(server.is_joined());
        CHECK(server.world().spawn_count == 0);
    }
    SECTION("closed before its outer comes") {
        server.deliver_packet({open_part(2, 1)});
        server.deliver_packet({close_bunch(2, 2)});
        CHECK(server.is_joined());
        server.open(1, TestSchema::pawn_number);
        CHECK(server.world().object_count() == 1);
    }
    SECTION("its outer goes with the packet in which it comes: then it waits on") {
        server.deliver_packet({open_part(2, 1)});
        server.deliver_packet({close_bunch(1, 2)});
        server.deliver_packet({open_bunch(1, NetGUID{1}, TestSchema::pawn_number)});
        CHECK(server.is_joined());
        CHECK(server.world().spawn_count == 1);
        CHECK(server.world().object_count() == 0);
        server.open(1, TestSchema::pawn_number);
        CHECK(server.world().spawn_count == 3);
        CHECK_FALSE(server.object_on(2).is_null());
    }
    SECTION("as many as a connection may have waiting, and one more") {
        const std::uint32_t most = NetConfig().reliable_waiting_max;
        std::uint32_t channel = 2;
        while (server.is_joined() && channel < most + 100) {
            server.deliver_packet({open_part(channel, 1)});
            ++channel;
        }
        CHECK(server.driver().close_reason() == CloseReason::ReliableOverflow);
        CHECK(channel - 2 == most + 1);
        CHECK(server.world().spawn_count == 0);
    }
}

TEST_CASE("Hostile: with an object all its parts go, however many they are",
          "[netdriver][hostile][spawn]") {
    ForgedServer server;
    server.welcome_with_pawn();
    constexpr std::uint32_t count = 20'000;
    for (std::uint32_t part = 0; part < count; part += 20) {
        std::vector<Bunch> opens;
        for (std::uint32_t i = 0; i < 20; ++i) {
            const std::uint32_t channel = 2 + part + i;
            opens.push_back(open_bunch(channel, NetGUID{channel}, TestSchema::pawn_number, 512,
                                       [](BitWriter& writer) { writer.write_packed_uint(1); }));
        }
        server.deliver_packet(opens);
    }
    REQUIRE(server.world().object_count() == count + 1);
    server.deliver_packet({close_bunch(1, 2)});
    CHECK(server.is_joined());
    CHECK(server.world().object_count() == 0);
    server.deliver_packet({close_bunch(2, 2)});  // the part's own close comes later
    CHECK(server.is_joined());
}

TEST_CASE("Hostile: a message of an object that is not one closes", "[netdriver][hostile][roles]") {
    const Bytes bad =
        GENERATE(Bytes{}, role_message(0, 0), role_message(2, 0), role_message(1, 8),
                 role_message(1, 2), role_message(1, ~std::uint64_t{0}), Bytes{std::byte{1}},
                 Bytes{std::byte{1}, std::byte{0}, std::byte{0}});
    ForgedServer server;
    server.welcome_with_pawn();
    server.deliver_packet({message_bunch(1, 2, bad)});
    CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
}

TEST_CASE("Hostile: a message about no object closes, whatever it says",
          "[netdriver][hostile][roles]") {
    ForgedServer server;
    server.welcome();
    server.deliver_packet({message_bunch(0, 2, destroyed_message({"door"}))});
    CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    CHECK(server.world().destroyed_names.empty());
}

TEST_CASE("Hostile: a role is told of an open object, or one that could not be made",
          "[netdriver][hostile][roles]") {
    ForgedServer server;
    server.welcome();
    SECTION("one that is open") {
        server.open(1, TestSchema::pawn_number);
        server.deliver_packet({message_bunch(1, 2, role_message(1, 7))});
        CHECK(server.driver().role_of(server.object_on(1)) ==
              ObjectRole{NetRole::AutonomousProxy, true, true});
    }
    SECTION("one that was refused") {
        const LogSpy log;
        server.world().refused_layout = &TestSchema::get().pawn();
        server.deliver_packet({open_bunch(1, NetGUID{1}, TestSchema::pawn_number)});
        server.deliver_packet({message_bunch(1, 2, role_message(1, 7))});
        CHECK(server.is_joined());
    }
    SECTION("none") {
        server.deliver_packet({message_bunch(1, 1, role_message(1, 7))});
        CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    }
}

TEST_CASE("Hostile: a notice of the destroyed is all names, or nothing of it is told",
          "[netdriver][hostile][spawn]") {
    ForgedServer server;
    SECTION("before the welcome") {
        server.deliver_packet({control_bunch(1, destroyed_message({"door"}))});
        CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
        CHECK(server.world().destroyed_names.empty());
    }
    SECTION("of names") {
        server.welcome();
        server.deliver_packet({control_bunch(2, destroyed_message({"door", "lamp"}))});
        CHECK(server.is_joined());
        CHECK(server.world().destroyed_names == std::vector<std::string>{"door", "lamp"});
    }
    SECTION("of no names") {
        server.welcome();
        server.deliver_packet({control_bunch(2, destroyed_message({}))});
        CHECK(server.is_joined());
    }
    SECTION("with one that is none behind one that is") {
        server.welcome();
        const std::string bad = GENERATE(std::string(), std::string(97, 'x'), std::string("\xFF"));
        server.deliver_packet({control_bunch(2, destroyed_message({"door", bad}))});
        CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
        CHECK(server.world().destroyed_names.empty());
    }
}

}  // namespace replayout::test
