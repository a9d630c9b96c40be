// SPDX-License-Identifier: MIT
//
// The judges of a simulation, each shown the fault that it is there for.
#include "simulation/judges/call_judge.h"
#include "simulation/judges/value_judge.h"
#include "simulation/simulation.h"
#include "simulation/twin_run.h"
#include "support/checks/catch.h"

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
    Invariant see() {
        judge_.touched(handle_);
        judge_.check(world_);
        return verdict_.finding().invariant;
    }
    [[nodiscard]] ValueJudge& judge() noexcept { return judge_; }
    [[nodiscard]] CraftWorld& world() noexcept { return world_; }
    [[nodiscard]] Invariant invariant() const { return verdict_.finding().invariant; }
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
    CHECK(craft.see() == Invariant::None);
    craft.shown().course = 7;
    craft.shown().crew = {6, 17};
    CHECK(craft.see() == Invariant::None);
}

TEST_CASE("Value judge: a value that never was is found", "[simulation]") {
    JudgedCraft craft;
    craft.shown().course = 8;
    CHECK(craft.see() == Invariant::KnownValues);
    JudgedCraft elements;
    elements.shown().crew = {15};  // it was an element, but not the first
    CHECK(elements.see() == Invariant::KnownValues);
    JudgedCraft unknown;
    unknown.judge().shown(ObjectHandle{999}, 0);
    CHECK(unknown.invariant() == Invariant::KnownValues);
}

TEST_CASE("Value judge: a value that goes back is found", "[simulation]") {
    JudgedCraft craft;
    craft.shown().course = 7;
    CHECK(craft.see() == Invariant::None);
    craft.shown().course = 6;
    CHECK(craft.see() == Invariant::ForwardValues);
}

TEST_CASE("Value judge: an atomic struct in parts is found", "[simulation]") {
    JudgedCraft craft;
    craft.shown().purse = {6, 1, 8, Purse::note_of(8)};
    CHECK(craft.see() == Invariant::WholeAtomics);
}

TEST_CASE("Value judge: a notify twice, of nothing, or none is found", "[simulation]") {
    JudgedCraft good;
    good.shown().course = 5;
    good.judge().notified(good.shown(), course_slot, 0);
    good.shown().course = 7;
    good.judge().notified(good.shown(), course_slot, 5);
    good.judge().check_told(good.world());
    CHECK(good.invariant() == Invariant::None);
    good.judge().notified(good.shown(), course_slot, 5);
    CHECK(good.invariant() == Invariant::Notifies);

    JudgedCraft without_change;
    without_change.judge().notified(without_change.shown(), course_slot, 0);
    CHECK(without_change.invariant() == Invariant::Notifies);

    JudgedCraft wrong_previous;
    wrong_previous.shown().course = 5;
    wrong_previous.judge().notified(wrong_previous.shown(), course_slot, 3);
    CHECK(wrong_previous.invariant() == Invariant::Notifies);

    JudgedCraft none;
    none.shown().course = 5;
    none.judge().check_told(none.world());
    CHECK(none.invariant() == Invariant::Notifies);
}

TEST_CASE("Value judge: who is hidden twice, or notified when hidden, is found", "[simulation]") {
    JudgedCraft craft;
    craft.judge().hidden(craft.handle());
    CHECK(craft.invariant() == Invariant::None);
    craft.judge().hidden(craft.handle());
    CHECK(craft.invariant() == Invariant::PresentCrafts);
    JudgedCraft notified;
    notified.judge().hidden(notified.handle());
    notified.shown().course = 5;
    notified.judge().notified(notified.shown(), course_slot, 0);
    CHECK(notified.invariant() == Invariant::PresentCrafts);
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
    Invariant ran(CraftFunction function, std::uint32_t call) {
        judge.ran(craft, function, call);
        return invariant();
    }
    [[nodiscard]] Invariant invariant() const { return verdict_.finding().invariant; }

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
        CHECK(calls.ran(CraftFunction::Signal, call) == Invariant::None);
    }
    CHECK(calls.ran(CraftFunction::Flash, 7) == Invariant::None);
    CHECK(calls.ran(CraftFunction::Order, 8) == Invariant::None);
    calls.judge.check_all_ran();
    CHECK(calls.invariant() == Invariant::None);
}

TEST_CASE("Call judge: a craft that goes before its reliable calls ran is found", "[simulation]") {
    JudgedCalls all_ran;
    for (const std::uint32_t call : {2u, 4u, 6u}) {
        all_ran.ran(CraftFunction::Signal, call);
    }
    all_ran.judge.closed(all_ran.craft.handle);
    CHECK(all_ran.invariant() == Invariant::None);

    JudgedCalls one_missing;
    one_missing.ran(CraftFunction::Signal, 2);
    one_missing.ran(CraftFunction::Signal, 4);
    one_missing.judge.closed(one_missing.craft.handle);
    CHECK(one_missing.invariant() == Invariant::CallsBeforeClose);

    JudgedCalls none_ran;
    none_ran.judge.closed(none_ran.craft.handle);
    CHECK(none_ran.invariant() == Invariant::CallsBeforeClose);

    JudgedCalls refused;  // what was not accepted need not run
    for (const std::uint32_t call : {2u, 4u, 6u}) {
        refused.book.take_back(CraftFunction::Signal, number, call);
    }
    refused.judge.closed(refused.craft.handle);
    CHECK(refused.invariant() == Invariant::None);

    JudgedCalls not_relevant;  // nor what was called while the craft was not for this client
    not_relevant.ran(CraftFunction::Signal, 2);
    not_relevant.ran(CraftFunction::Signal, 4);
    not_relevant.book.not_for(PeerId{8}, number, 6);
    not_relevant.book.not_for(address, number, 6);
    not_relevant.judge.closed(not_relevant.craft.handle);
    CHECK(not_relevant.invariant() == Invariant::None);

    JudgedCalls for_others;
    for_others.ran(CraftFunction::Signal, 2);
    for_others.ran(CraftFunction::Signal, 4);
    for_others.book.not_for(PeerId{8}, number, 6);
    for_others.judge.closed(for_others.craft.handle);
    CHECK(for_others.invariant() == Invariant::CallsBeforeClose);

    // Hidden before the last call: that one is for the craft's next life at this client.
    for (const std::uint64_t dropped : {0u, 1u}) {
        JudgedCalls next_life;
        next_life.book.dropped = [dropped] { return dropped; };
        next_life.ran(CraftFunction::Signal, 2);
        next_life.ran(CraftFunction::Signal, 4);
        next_life.ran(CraftFunction::Signal, 6);
        next_life.book.hidden_from(PeerId{8}, number);
        next_life.book.multicast(CraftFunction::Signal, number, 10);
        next_life.book.hidden_from(address, number);
        next_life.ran(CraftFunction::Signal, 10);
        next_life.book.multicast(CraftFunction::Signal, number, 12);
        next_life.judge.closed(next_life.craft.handle);
        CHECK((next_life.invariant() == Invariant::None) == (dropped == 1));
    }
    JudgedCalls before_hide;
    before_hide.book.dropped = [] { return std::uint64_t{9}; };
    before_hide.ran(CraftFunction::Signal, 2);
    before_hide.book.hidden_from(address, number);
    before_hide.judge.closed(before_hide.craft.handle);
    CHECK(before_hide.invariant() == Invariant::CallsBeforeClose);

    for (const bool has_waited : {false, true}) {
        for (const std::uint64_t dropped : {0u, 2u, 3u}) {  // and three are lacking
            JudgedCalls late;
            late.book.close_wait_ticks = has_waited ? 0 : 1;
            late.book.dropped = [dropped] { return dropped; };
            late.book.gone(number);
            late.judge.closed(late.craft.handle);
            CHECK((late.invariant() == Invariant::None) == (has_waited && dropped == 3));
        }
    }
}

TEST_CASE("Call judge: a call may pass a client over while it joins, and at no other time",
          "[simulation]") {
    for (const bool is_joining : {false, true}) {
        for (const bool was_shown_before : {false, true}) {
            INFO("joining " << is_joining << ", shown before " << was_shown_before);
            JudgedCalls calls;
            const ObjectHandle handle{2};
            if (!was_shown_before) {
                calls.book.multicast(CraftFunction::Signal, number, 10);
                calls.book.multicast(CraftFunction::Signal, number, 12);
            }
            calls.judge.shown(handle, number, is_joining);
            if (was_shown_before) {
                calls.book.multicast(CraftFunction::Signal, number, 10);
                calls.book.multicast(CraftFunction::Signal, number, 12);
            }
            calls.craft.handle = handle;
            calls.ran(CraftFunction::Signal, 4);
            calls.ran(CraftFunction::Signal, 12);  // 6 and 10 are missing
            CHECK((calls.invariant() == Invariant::None) == (is_joining && !was_shown_before));
        }
    }
}

TEST_CASE("Call judge: a call may pass over a client that joins before it is shown the craft",
          "[simulation]") {
    for (const bool was_before : {false, true}) {
        INFO("made before it joined " << was_before);
        JudgedCalls calls;
        const ObjectHandle handle{2};
        calls.book.multicast(CraftFunction::Signal, number, 10);
        if (was_before) {
            calls.book.multicast(CraftFunction::Signal, number, 12);
        }
        calls.judge.joined();
        if (!was_before) {
            calls.book.multicast(CraftFunction::Signal, number, 12);
        }
        calls.book.multicast(CraftFunction::Signal, number, 14);
        calls.judge.shown(handle, number);
        calls.craft.handle = handle;
        calls.ran(CraftFunction::Signal, 4);
        calls.ran(CraftFunction::Signal, 6);
        calls.ran(CraftFunction::Signal, 10);
        calls.ran(CraftFunction::Signal, 14);  // 12 is missing
        CHECK((calls.invariant() == Invariant::None) == was_before);
    }
}

TEST_CASE("Staleness judge: a client that is sent less than its cap while crafts change is found",
          "[simulation]") {
    SwarmConfig config = SwarmConfig::draw_busy(1, 0);
    config.features = {};
    config.features.add(Feature::Churn);
    config = config.redrawn();
    config.cap_bytes_per_second = 1'000'000;
    config.has_priorities = false;
    config.client_count = 1;
    config.object_max = 100;
    config.tick_us = 6'944;
    config.tick_count = 1'000;
    config.to_client.latency_ms = 10;
    config.to_server.latency_ms = 10;
    CHECK(Simulation(config).run().is_good());
    Simulation simulation(config);
    simulation.planted = PlantedFault::Slow;
    const RunResult result = simulation.run();
    CHECK(result.finding.invariant == Invariant::Staleness);
    CHECK(result.finding.tick > 60);
}

TEST_CASE("Wait bounds: they grow with more to send, less room, more beside it and more loss",
          "[simulation]") {
    const WaitBounds bounds = WaitBounds::of_cap(8'000, 30, 1, 1'200);
    for (const WaitBounds& slower :
         {WaitBounds::of_cap(4'000, 30, 1, 1'200), WaitBounds::of_cap(8'000, 60, 1, 1'200)}) {
        CHECK(slower.of_new(10'000) > bounds.of_new(10'000));
        CHECK(slower.of_shown(10'000, 1) > bounds.of_shown(10'000, 1));
        CHECK(slower.of_quarter(10'000) > bounds.of_quarter(10'000));
    }
    const WaitBounds beside = WaitBounds::of_cap(8'000, 30, 3, 1'200);
    CHECK(beside.of_new(10'000) > bounds.of_new(10'000));
    CHECK(beside.of_quarter(10'000) == bounds.of_quarter(10'000));
    CHECK(bounds.of_new(20'000) > bounds.of_new(10'000));
    CHECK(bounds.of_shown(10'000, 8) == bounds.of_shown(10'000, 1) + 7);
    CHECK(bounds.of_arrival(0.3, 5) > bounds.of_arrival(0.1, 5));
    CHECK(bounds.of_arrival(0.1, 9) > bounds.of_arrival(0.1, 5));
}

TEST_CASE("Call judge: a reliable call twice, left out, made up or missing is found",
          "[simulation]") {
    JudgedCalls twice;
    twice.ran(CraftFunction::Signal, 2);
    CHECK(twice.ran(CraftFunction::Signal, 2) == Invariant::ReliableCalls);
    JudgedCalls left_out;
    left_out.ran(CraftFunction::Signal, 2);
    CHECK(left_out.ran(CraftFunction::Signal, 6) == Invariant::ReliableCalls);
    JudgedCalls first_left_out;
    CHECK(first_left_out.ran(CraftFunction::Signal, 4) == Invariant::ReliableCalls);
    JudgedCalls made_up;
    CHECK(made_up.ran(CraftFunction::Signal, 3) == Invariant::ReliableCalls);
    JudgedCalls missing;
    missing.ran(CraftFunction::Signal, 2);
    missing.judge.check_all_ran();
    CHECK(missing.invariant() == Invariant::ReliableCalls);
}

TEST_CASE("Call judge: an unreliable call twice or made up, and an order of another, are found",
          "[simulation]") {
    JudgedCalls twice;
    twice.ran(CraftFunction::Flash, 7);
    CHECK(twice.ran(CraftFunction::Flash, 7) == Invariant::UnreliableCalls);
    JudgedCalls made_up;
    CHECK(made_up.ran(CraftFunction::Flash, 8) == Invariant::UnreliableCalls);
    JudgedCalls other;
    CHECK(other.ran(CraftFunction::Order, 7) == Invariant::ReliableCalls);
    JudgedCalls order_twice;
    order_twice.ran(CraftFunction::Order, 8);
    CHECK(order_twice.ran(CraftFunction::Order, 8) == Invariant::ReliableCalls);
    JudgedCalls of_server;
    CHECK(of_server.ran(CraftFunction::Steer, 8) == Invariant::ReliableCalls);
}

TEST_CASE("Call judge: a call of a craft that is not shown is found", "[simulation]") {
    JudgedCalls calls;
    calls.judge.hidden(calls.craft.handle);
    CHECK(calls.ran(CraftFunction::Signal, 2) == Invariant::PresentCrafts);
}

TEST_CASE("Call judge: a client's call that runs twice at the server is found", "[simulation]") {
    Verdict steered;
    CallBook book(steered);
    book.ran(1, CraftFunction::Steer, number, 5);
    book.ran(2, CraftFunction::Steer, number, 5);  // of another connection
    CHECK(steered.is_good());
    book.ran(1, CraftFunction::Steer, number, 5);
    CHECK(steered.finding().invariant == Invariant::ReliableCalls);
    Verdict pinged;
    CallBook pings(pinged);
    pings.ran(1, CraftFunction::Ping, number, 5);
    pings.ran(1, CraftFunction::Ping, number, 4);
    CHECK(pinged.is_good());
    pings.ran(1, CraftFunction::Ping, number, 5);
    CHECK(pinged.finding().invariant == Invariant::UnreliableCalls);
}

namespace {

/// What a run with this fault of the harness is found to be.
[[nodiscard]] Invariant found_with(PlantedFault planted) {
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
    CHECK(found_with(PlantedFault::None) == Invariant::None);
    CHECK(found_with(PlantedFault::WrongValue) == Invariant::Converged);
    CHECK(found_with(PlantedFault::KeptMemory) == Invariant::Memory);
    CHECK(found_with(PlantedFault::ManyDatagrams) == Invariant::DatagramsOfTick);
    CHECK(found_with(PlantedFault::Noise) == Invariant::Silence);
    CHECK(found_with(PlantedFault::Secret) == Invariant::Secrecy);
    CHECK(found_with(PlantedFault::Rejected) == Invariant::RejectedInput);
    CHECK(found_with(PlantedFault::Unreachable) == Invariant::Healing);
    CHECK(found_with(PlantedFault::Recording) == Invariant::Recording);
    CHECK(found_with(PlantedFault::Counter) == Invariant::Counters);
}

TEST_CASE("Twin run: one tick that differs is found, and a run that is longer", "[simulation]") {
    RunResult run;
    run.tick_digests = {1, 2, 3};
    RunResult twin = run;
    CHECK(compare_runs(run, twin).invariant == Invariant::None);
    twin.tick_digests[1] = 7;
    CHECK(compare_runs(run, twin).invariant == Invariant::EqualTwin);
    CHECK(compare_runs(run, twin).tick == 1);
    twin.tick_digests = {1, 2, 3, 4};
    CHECK(compare_runs(run, twin).invariant == Invariant::EqualTwin);
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
    CHECK(found([](NetStats& stats) { stats.packets_received = 5; }) == Invariant::None);
    CHECK(found([](NetStats& stats) { stats.packets_received = 6; }) == Invariant::Counters);
    CHECK(found([](NetStats& stats) { stats.bytes_sent = 1; }) == Invariant::Counters);
    CHECK(found([](NetStats& stats) { stats.packets_lost = 1; }) == Invariant::Fates);
    CHECK(found([](NetStats& stats) { stats.records_lost = 1; }) == Invariant::Fates);
}

}  // namespace replayout::test
