// SPDX-License-Identifier: MIT
//
// The judges of a simulation, each shown the fault that it is there for.
#include "simulation/call_judge.h"
#include "simulation/simulation.h"
#include "simulation/twin_run.h"
#include "simulation/value_judge.h"
#include "support/catch.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t number = 4;

/// A client that shows one craft, of which the server once wrote three courses.
class JudgedCraft {
  public:
    JudgedCraft() : judge_(histories_, verdict_, digest_), world_(100) {
        Craft craft;
        craft.number = number;
        for (const std::uint32_t course : {5u, 6u, 7u}) {
            craft.course = course;
            craft.purse = {course, 1, course + 1, Purse::note_of(course + 1)};
            craft.crew = {course, course + 10};
            histories_[number].note(craft, 0);
        }
        handle_ = world_.add();
        judge_.shown(handle_, number);
        shown().number = number;
        see();
    }

    [[nodiscard]] Craft& shown() { return world_.at(handle_); }
    /// 0: all is good.
    std::uint32_t see() {
        judge_.touched(handle_);
        judge_.check(world_);
        return verdict_.finding().invariant;
    }
    [[nodiscard]] ValueJudge& judge() noexcept { return judge_; }
    [[nodiscard]] CraftWorld& world() noexcept { return world_; }
    [[nodiscard]] std::uint32_t invariant() const { return verdict_.finding().invariant; }
    [[nodiscard]] ObjectHandle handle() const noexcept { return handle_; }

  private:
    Histories histories_;
    Verdict verdict_;
    TraceDigest digest_;
    ValueJudge judge_;
    CraftWorld world_;
    ObjectHandle handle_;
};

}  // namespace

TEST_CASE("Value judge: what the server wrote is good, and some of it may be missed",
          "[simulation]") {
    JudgedCraft craft;
    craft.shown().course = 5;
    craft.shown().crew = {5, 0};  // the second element was lost
    CHECK(craft.see() == 0);
    craft.shown().course = 7;
    craft.shown().crew = {6, 17};
    CHECK(craft.see() == 0);
}

TEST_CASE("Value judge: a value that never was is found", "[simulation]") {
    JudgedCraft craft;
    craft.shown().course = 8;
    CHECK(craft.see() == 2);
    JudgedCraft elements;
    elements.shown().crew = {15};  // it was an element, but not the first
    CHECK(elements.see() == 2);
    JudgedCraft unknown;
    unknown.judge().shown(ObjectHandle{999}, 0);
    CHECK(unknown.invariant() == 2);
}

TEST_CASE("Value judge: a value that goes back is found", "[simulation]") {
    JudgedCraft craft;
    craft.shown().course = 7;
    CHECK(craft.see() == 0);
    craft.shown().course = 6;
    CHECK(craft.see() == 3);
}

TEST_CASE("Value judge: an atomic struct in parts is found", "[simulation]") {
    JudgedCraft craft;
    craft.shown().purse = {6, 1, 8, Purse::note_of(8)};
    CHECK(craft.see() == 4);
}

TEST_CASE("Value judge: a notify twice, of nothing, or none is found", "[simulation]") {
    JudgedCraft good;
    good.shown().course = 5;
    good.judge().notified(good.shown(), course_slot, 0);
    good.shown().course = 7;
    good.judge().notified(good.shown(), course_slot, 5);
    good.judge().check_told(good.world());
    CHECK(good.invariant() == 0);
    good.judge().notified(good.shown(), course_slot, 5);
    CHECK(good.invariant() == 5);

    JudgedCraft without_change;
    without_change.judge().notified(without_change.shown(), course_slot, 0);
    CHECK(without_change.invariant() == 5);

    JudgedCraft wrong_previous;
    wrong_previous.shown().course = 5;
    wrong_previous.judge().notified(wrong_previous.shown(), course_slot, 3);
    CHECK(wrong_previous.invariant() == 5);

    JudgedCraft none;
    none.shown().course = 5;
    none.judge().check_told(none.world());
    CHECK(none.invariant() == 5);
}

TEST_CASE("Value judge: who is hidden twice, or notified when hidden, is found", "[simulation]") {
    JudgedCraft craft;
    craft.judge().hidden(craft.handle());
    CHECK(craft.invariant() == 0);
    craft.judge().hidden(craft.handle());
    CHECK(craft.invariant() == 8);
    JudgedCraft notified;
    notified.judge().hidden(notified.handle());
    notified.shown().course = 5;
    notified.judge().notified(notified.shown(), course_slot, 0);
    CHECK(notified.invariant() == 8);
}

namespace {

constexpr PeerId address{9};

class JudgedCalls {
  public:
    JudgedCalls() : book(verdict_), judge(book, verdict_, address) {
        craft.handle = ObjectHandle{1};
        book.multicast(CraftFunction::Signal, number, 1);
        judge.shown(craft.handle, number);
        for (const std::uint32_t call : {2u, 4u, 6u}) {
            book.multicast(CraftFunction::Signal, number, call);
        }
        book.multicast(CraftFunction::Flash, number, 7);
        book.told_owner(address, number, 8);
    }
    std::uint32_t ran(CraftFunction function, std::uint32_t call) {
        judge.ran(craft, function, call);
        return invariant();
    }
    [[nodiscard]] std::uint32_t invariant() const { return verdict_.finding().invariant; }

  private:
    Verdict verdict_;

  public:
    CallBook book;
    CallJudge judge;
    Craft craft;
};

}  // namespace

TEST_CASE("Call judge: reliable calls in order, from the first that a client may have, are good",
          "[simulation]") {
    JudgedCalls calls;
    for (const std::uint32_t call : {2u, 4u, 6u}) {
        CHECK(calls.ran(CraftFunction::Signal, call) == 0);
    }
    CHECK(calls.ran(CraftFunction::Flash, 7) == 0);
    CHECK(calls.ran(CraftFunction::Order, 8) == 0);
    calls.judge.check_all_ran();
    CHECK(calls.invariant() == 0);
}

TEST_CASE("Call judge: a reliable call twice, left out, made up or missing is found",
          "[simulation]") {
    JudgedCalls twice;
    twice.ran(CraftFunction::Signal, 2);
    CHECK(twice.ran(CraftFunction::Signal, 2) == 6);
    JudgedCalls left_out;
    left_out.ran(CraftFunction::Signal, 2);
    CHECK(left_out.ran(CraftFunction::Signal, 6) == 6);
    JudgedCalls first_left_out;
    CHECK(first_left_out.ran(CraftFunction::Signal, 4) == 6);
    JudgedCalls made_up;
    CHECK(made_up.ran(CraftFunction::Signal, 3) == 6);
    JudgedCalls missing;
    missing.ran(CraftFunction::Signal, 2);
    missing.judge.check_all_ran();
    CHECK(missing.invariant() == 6);
}

TEST_CASE("Call judge: an unreliable call twice or made up, and an order of another, are found",
          "[simulation]") {
    JudgedCalls twice;
    twice.ran(CraftFunction::Flash, 7);
    CHECK(twice.ran(CraftFunction::Flash, 7) == 7);
    JudgedCalls made_up;
    CHECK(made_up.ran(CraftFunction::Flash, 8) == 7);
    JudgedCalls other;
    CHECK(other.ran(CraftFunction::Order, 7) == 6);
    JudgedCalls order_twice;
    order_twice.ran(CraftFunction::Order, 8);
    CHECK(order_twice.ran(CraftFunction::Order, 8) == 6);
    JudgedCalls of_server;
    CHECK(of_server.ran(CraftFunction::Steer, 8) == 6);
}

TEST_CASE("Call judge: a call of a craft that is not shown is found", "[simulation]") {
    JudgedCalls calls;
    calls.judge.hidden(calls.craft.handle);
    CHECK(calls.ran(CraftFunction::Signal, 2) == 8);
}

TEST_CASE("Call judge: a client's call that runs twice at the server is found", "[simulation]") {
    Verdict steered;
    CallBook book(steered);
    book.ran(1, CraftFunction::Steer, number, 5);
    book.ran(2, CraftFunction::Steer, number, 5);  // of another connection
    CHECK(steered.is_good());
    book.ran(1, CraftFunction::Steer, number, 5);
    CHECK(steered.finding().invariant == 6);
    Verdict pinged;
    CallBook pings(pinged);
    pings.ran(1, CraftFunction::Ping, number, 5);
    pings.ran(1, CraftFunction::Ping, number, 4);
    CHECK(pinged.is_good());
    pings.ran(1, CraftFunction::Ping, number, 5);
    CHECK(pinged.finding().invariant == 7);
}

namespace {

/// What a run with this fault of the harness is found to be.
[[nodiscard]] std::uint32_t found_with(PlantedFault planted) {
    FeatureSet features;
    REQUIRE(
        FeatureSet::read("churn,texts,arrays,secrets,owners,hostile_peer,push_model", features));
    if (planted == PlantedFault::Recording) {
        features.add(Feature::Recording);
    }
    SwarmConfig config = SwarmConfig::draw(5, 60, features);
    config.client_count = 3;
    config.object_max = 6;
    Simulation simulation(config);
    simulation.planted = planted;
    const RunResult result = simulation.run();
    INFO(result.finding.text);
    CHECK(result.is_good() == (planted == PlantedFault::None));
    return result.finding.invariant;
}

}  // namespace

TEST_CASE("Simulation: a fault that is planted into a run is found", "[simulation]") {
    CHECK(found_with(PlantedFault::None) == 0);
    CHECK(found_with(PlantedFault::WrongValue) == 1);
    CHECK(found_with(PlantedFault::KeptMemory) == 9);
    CHECK(found_with(PlantedFault::ManyDatagrams) == 10);
    CHECK(found_with(PlantedFault::Noise) == 11);
    CHECK(found_with(PlantedFault::Secret) == 13);
    CHECK(found_with(PlantedFault::Rejected) == 15);
    CHECK(found_with(PlantedFault::Unreachable) == 16);
    CHECK(found_with(PlantedFault::Recording) == 17);
    CHECK(found_with(PlantedFault::Counter) == 19);
}

TEST_CASE("Twin run: one tick that differs is found, and a run that is longer", "[simulation]") {
    RunResult run;
    run.tick_digests = {1, 2, 3};
    RunResult twin = run;
    CHECK(compare_runs(run, twin).invariant == 0);
    twin.tick_digests[1] = 7;
    CHECK(compare_runs(run, twin).invariant == 12);
    CHECK(compare_runs(run, twin).tick == 1);
    twin.tick_digests = {1, 2, 3, 4};
    CHECK(compare_runs(run, twin).invariant == 12);
}

TEST_CASE("Packet judge: packets with more fates than packets, and miscounted ones, are found",
          "[simulation]") {
    const auto found = [](const auto& change) {
        const SwarmConfig config = SwarmConfig::draw(1, 1);
        FaultyNetwork network({}, {}, SimServer::peer);
        Verdict verdict;
        TraceDigest digest;
        HistoryTrace trace;
        SimServer server(config, {}, network.endpoint(SimServer::peer), verdict, digest, trace);
        PacketJudge judge(server, verdict);
        NetStats stats;
        change(stats);
        judge.check_counters(stats, 5, false);
        return verdict.finding().invariant;
    };
    CHECK(found([](NetStats& stats) { stats.packets_received = 5; }) == 0);
    CHECK(found([](NetStats& stats) { stats.packets_received = 6; }) == 19);
    CHECK(found([](NetStats& stats) { stats.bytes_sent = 1; }) == 19);
    CHECK(found([](NetStats& stats) { stats.packets_lost = 1; }) == 18);
    CHECK(found([](NetStats& stats) { stats.records_lost = 1; }) == 18);
}

}  // namespace replayout::test
