// SPDX-License-Identifier: MIT
//
// Calls of a client for which one packet has no room are put off, and run later, in order.
#include "call_work.h"

#include <cstdint>

#include "support/checks/catch.h"
#include "worst/hostile/hostile_content.h"
#include "worst/hostile/payload.h"

namespace replayout::worst {
namespace {

constexpr std::uint32_t names_function = 4;
constexpr std::uint32_t sort_function = 5;
/// The parameters are the full set up to some key, of no element: all of the default go.
constexpr Shape none_left{9, 0, 0, 0, 0};

/// A server with one Body, and its client, whose packets the test writes.
class CalledServer {
  public:
    explicit CalledServer(const NetConfig& config = {})
        : end_(server_peer, costs_, no_place, config), line_(end_, client_peer) {
        REQUIRE(Classes::get().add_to(end_.driver()));
        REQUIRE(end_.driver().listen());
        const RepLayout& layout = Classes::get().layout(ClassNumber::Body);
        object_ = end_.world().add(ClassNumber::Body);
        end_.driver().set_owner(end_.driver().add_object(layout, object_), client_peer);
        line_.begin_session(1);
        REQUIRE(line_.add(bench::message_bunch(0, 1, hello_of_classes())));
        line_.send(true);
        for (int i = 0; i < 8; ++i) {
            tick();
        }
        REQUIRE(is_joined());
    }

    void tick(std::uint32_t milliseconds = 20) {
        end_.wait(milliseconds);
        end_.flush();
        line_.hear();
        line_.acknowledge_all();
        line_.send();
    }
    [[nodiscard]] HostileLine& line() noexcept { return line_; }
    [[nodiscard]] MeasuredEnd& end() noexcept { return end_; }
    [[nodiscard]] Body& body() { return *static_cast<Body*>(end_.world().object_memory(object_)); }
    [[nodiscard]] bool is_joined() {
        return end_.driver().connection_state(client_peer) == ConnectionState::Joined;
    }
    /// Calls with so many references each, of which the first is missing.
    void send_behind_gap(std::uint32_t count, std::uint32_t references) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint16_t sequence = line_.next_sequence(1, true, i == 0 ? 1 : 0);
            const Bytes call = bench::call_bunch(
                1, sequence, call_bytes(names_function, {0, references + i, 0, references + i, 1}));
            if (!line_.add(call)) {
                line_.send();
                REQUIRE(line_.add(call));
            }
        }
        line_.send();
    }
    /// One dispatch takes a packet that acknowledges all that came before, with what was added to
    /// the line. Then the server opens `objects` more objects.
    void dispatch_with_acks(std::uint32_t objects) {
        const RepLayout& layout = Classes::get().layout(ClassNumber::Body);
        end_.hold();  // or sending would dispatch
        line_.hear();
        line_.acknowledge_all();
        line_.send();
        end_.wait(20);
        for (std::uint32_t i = 0; i < objects; ++i) {
            (void)end_.driver().add_object(layout, end_.world().add(ClassNumber::Body));
        }
        end_.flush();
    }
    void close_gap(std::uint32_t references) {
        const std::uint16_t sequence = line_.missing_sequence(1, true);
        REQUIRE(line_.add(bench::call_bunch(
            1, sequence, call_bytes(names_function, {0, references, 0, references, 1}))));
        line_.send();
    }

  private:
    Costs costs_;
    MeasuredEnd end_;
    HostileLine line_;
    ObjectHandle object_;
};

}  // namespace

TEST_CASE("Put off calls: what a closed gap lets run takes several dispatches, and runs in order",
          "[netdriver][hostile][put_off_calls]") {
    constexpr std::uint32_t count = 110;
    constexpr std::uint32_t references = 160;
    CalledServer server;
    server.send_behind_gap(count, references);
    REQUIRE(server.body().runs == 0);
    server.close_gap(7);
    const std::uint32_t runs = server.body().runs;
    CHECK(runs > 20);
    CHECK(runs < count);
    int ticks = 0;
    while (server.body().runs < count + 1 && ticks < 20) {
        const std::uint32_t before = server.body().runs;
        server.end().wait(1);
        CHECK(server.body().runs > before);
        ++ticks;
    }
    CHECK(server.body().runs == count + 1);
    CHECK(server.is_joined());
    std::uint32_t digest = 7;
    for (std::uint32_t i = 0; i < count; ++i) {
        digest = digest * 31 + references + i;
    }
    CHECK(server.body().digest == digest);
}

TEST_CASE("Put off calls: a default that is a long keyed array is paid for by each call of it",
          "[netdriver][hostile][put_off_calls]") {
    CalledServer server;
    const Bytes call = bench::call_bunch(1, 0, call_bytes(sort_function, none_left));
    for (int i = 0; i < 60; ++i) {
        REQUIRE(server.line().add(call));
    }
    server.line().send();
    CHECK(server.body().runs == 1);
    for (int i = 0; i < 80; ++i) {
        server.end().wait(1);
    }
    CHECK(server.body().runs == 60);
    CHECK(server.is_joined());
    CHECK(server.end().driver().stats().calls_over_rate == 0);
}

TEST_CASE("Put off calls: the most expensive one runs soon, whatever each packet acknowledges",
          "[netdriver][hostile][put_off_calls]") {
    const std::uint32_t objects = GENERATE(0u, 1u, 300u, 1'000u, 1'500u);
    CAPTURE(objects);
    CalledServer server;
    for (int i = 0; i < 6; ++i) {
        server.dispatch_with_acks(objects);
    }
    const std::uint64_t opened = server.end().driver().stats().bunches_sent;
    // An element takes up at least a byte, so a full packet may hold a thousand.
    const Bytes call = call_bytes(sort_function, {32, 495, 0, 1, 1});
    REQUIRE(call.size() > 1'100);
    REQUIRE(server.line().add(bench::call_bunch(1, 0, call)));
    // Beside few acks it runs at once. If they cost too much in every dispatch, it waits for 16,
    // and runs in place of what the next one brings.
    const int expected = objects < 500 ? 1 : 17;
    const auto dispatches_until_ran = [&](std::uint32_t runs) {
        int dispatches = 0;
        while (server.body().runs < runs && dispatches < 2 * expected) {
            server.dispatch_with_acks(objects);
            ++dispatches;
        }
        return dispatches;
    };
    CHECK(dispatches_until_ran(1) == expected);
    // The next one waits anew. What the last dispatch of each wait brought was lost.
    REQUIRE(server.line().add(bench::call_bunch(1, 0, call)));
    CHECK(dispatches_until_ran(2) == expected);
    CHECK(server.end().driver().stats().packets_over_rate == (expected == 1 ? 0u : 2u));
    // A dispatch that brings nothing has room for it.
    REQUIRE(server.line().add(bench::call_bunch(1, 0, call)));
    server.dispatch_with_acks(objects);
    server.end().wait(20);
    CHECK(server.body().runs == 3);
    CHECK(server.is_joined());
    CHECK(server.end().driver().stats().bunches_sent >= opened + objects);
}

TEST_CASE("Put off calls: while many wait packets are lost, memory is bounded and nobody is closed",
          "[netdriver][hostile][put_off_calls]") {
    NetConfig config;
    config.client_waiting_bytes_max = 16 * 1'024;
    CalledServer server(config);
    // The room that one call takes while it is read stays for the next one.
    REQUIRE(server.line().add(bench::call_bunch(1, 0, call_bytes(sort_function, none_left))));
    server.line().send();
    REQUIRE(server.body().runs == 1);
    const std::int64_t before = server.end().bytes_in_use();
    for (int packet = 0; packet < 40; ++packet) {
        for (int i = 0; i < 6; ++i) {
            REQUIRE(
                server.line().add(bench::call_bunch(1, 0, call_bytes(sort_function, none_left))));
        }
        server.line().send();
        CHECK(server.end().bytes_in_use() < before + 3 * 16 * 1'024);
    }
    CHECK(server.end().driver().stats().packets_over_rate > 0);
    for (int i = 0; i < 300; ++i) {
        server.tick();
    }
    CHECK(server.is_joined());
    CHECK(server.body().runs > 60);
    const std::uint64_t lost = server.end().driver().stats().packets_over_rate;
    server.tick();
    CHECK(server.end().driver().stats().packets_over_rate == lost);
}

TEST_CASE("Put off calls: of a client that left, or whose object went, none runs",
          "[netdriver][hostile][put_off_calls]") {
    CalledServer server;
    server.send_behind_gap(100, 160);
    server.close_gap(7);
    const std::uint32_t runs = server.body().runs;
    REQUIRE(runs < 100);
    REQUIRE(server.line().add(bench::message_bunch(
        0, 2,
        {std::byte{3}, std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}})));
    server.line().send();
    const std::uint32_t runs_then = server.body().runs;
    for (int i = 0; i < 5; ++i) {
        server.tick();
    }
    CHECK(server.body().runs == runs_then);
    CHECK(server.end().driver().connection_count() == 0);
}

TEST_CASE("CallWork: the first call runs unless acks were expensive, and what calls cost adds up",
          "[netdriver][put_off_calls]") {
    const auto functions = Classes::get().layout(ClassNumber::Body).functions();
    const RepFunction& names = functions[names_function];
    const RepFunction& sort = functions[sort_function];
    const DecodeBudget granted;
    CallWork work;
    CHECK(work.has_room_for(names, 1'200));
    CHECK(work.has_room_for(sort, 1'200));
    // Steps that were spent count.
    DecodeBudget left = granted;
    left.steps -= 4'000;
    std::uint32_t count = 0;
    while (work.has_room_for(names, 100)) {
        work.spend(names, 100, granted, left);
        ++count;
        REQUIRE(count < 10'000);
    }
    CHECK(count > 1);
    CHECK(count < 5);
    CHECK_FALSE(work.has_room_for(sort, 1));
    // So does what the packet acknowledged.
    CallWork acknowledged;
    acknowledged.spend_fates(8'000);
    CHECK(acknowledged.has_room_for(sort, 64 * 1'024));
    acknowledged.spend_fates(400);
    CHECK_FALSE(acknowledged.has_room_for(sort, 64 * 1'024));
    acknowledged.spend_fates(26'600);
    CHECK(acknowledged.has_room_for(names, 5));
    CHECK_FALSE(acknowledged.has_room_for(sort, 5));
    acknowledged.spend_fates(10'000);
    CHECK_FALSE(acknowledged.has_room_for(names, 5));
    // So does the default of a parameter, before it was read.
    CallWork sorted;
    sorted.spend(sort, 5, granted, granted);
    CHECK_FALSE(sorted.has_room_for(sort, 5));
    CHECK(sorted.has_room_for(names, 5));
}

}  // namespace replayout::worst
