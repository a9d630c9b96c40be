// SPDX-License-Identifier: MIT
//
// The rules of SendingRepState against every order of events of a small world, and the checker
// against rules that are wrong: a checker that accepted those would prove nothing.
//
//     OurRules: SendingRepState and its driver    accepted, there is no fault in any state
//     NaiveLoss, and a mutant of each rule        rejected, with a shortest run to the fault
//
// What is promised of every state that a run can reach (model::Fault):
//
// * Safety. A visible property that differs at the client is owed, or its current change is in a
//   packet in flight that the client will take. And by sending what is owed and delivering all, the
//   client becomes equal.
// * Exactness. While is_exact() holds, the client holds of each visible property the value that the
//   history, kept once for all receivers, has for sent_version. Therefore A -> B -> A may be
//   suppressed for exact pairs, as far as the history reaches, and for no others.
// * Economy. Owed is what changed since the last send, what a packet lost since then was to settle,
//   and what an open, a reopen or a condition made owed on purpose. The exception: where two lost
//   intervals leave a gap between them, the hull owes what lies in the gap. What a packet in flight
//   carries for the first time is never owed because older ones were lost. (Parts of a large object
//   are the exception to that: the hulls of versions and of parts span a box.)
// * Rest. When everything owed was sent and delivered, nothing is owed, owes_any() says so too, and
//   the state is exact.
//
// Searches without a bound hold for runs of any length, see Model::canonicalize(). Larger worlds
// are searched up to a length or walked at random. The slow ones run when asked for: [slow].
#include "support/checks/catch.h"
#include "support/replication/sending_rep_state_explorer.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace replayout::model {
namespace {

using enum Step;

/// The state as it is, and the decisions that its driver takes beside it.
template <std::uint16_t distance_max>
struct RulesWithDistances : BasicSendingRepState<distance_max> {
    using BasicSendingRepState<distance_max>::set_lost;

    /// A promise of the state that the canonical form relies on.
    static constexpr bool sent_version_only_grows = true;

    /// Packets carry the values of the last compare and not what was written to the object since.
    static constexpr bool sends_shadow = true;

    /// An exact pair owes nothing of a property whose value is again what it was at sent_version.
    /// What is older than the history counts as different.
    static bool suppresses(const auto& pair, const PropertyHistory& history) {
        return pair.is_exact() && history.value_at(pair.sent_version) == history.value();
    }

    /// Everything sent so far is lost with an open, and the next one goes out before any update.
    static void on_open_lost(auto& pair) { pair.lose_everything(); }
    static void on_open_acked(auto&) {}
    static constexpr bool opens_first = true;

    /// Which part of the object the lost interval is about, after a further loss ...
    static RepRange lost_range(const RepRange& before, const RepRange& added) {
        return hull(before, added);
    }
    /// ... and after something else made more of it owed: the whole.
    static constexpr bool widens_lost_range = true;
};

struct OurRules : RulesWithDistances<0xFFFF> {};

/// What SendingRepState becomes once an object changed more often than a distance counts: what is
/// lost begins at 0, and ends at sent_version or right before it. With a distance of 1 states that
/// differ in nothing but the numbers of their versions still behave alike, as the search demands.
struct CoarseRules : RulesWithDistances<1> {};
/// On purpose it owes more than was lost.
constexpr FaultMask all_but_wasteful = all_faults & ~only(Fault::Wasteful);

/// Two properties and two packets are enough for every mutant.
template <class Rules>
using SmallModel = Model<Rules, 2, 2>;

const std::vector<Step> channel_steps = {Send, Skip, Deliver, Lose, LoseReceived};
const std::vector<Step> every_step = {
    Send,         SendParts, SendFirstPart,  SendOpenAlone, Skip, Deliver, Lose,
    LoseReceived, Open,      ReopenSameSlot, ReopenNewSlot, Hide, Show};
/// The client has the object.
const std::vector<Step> opened = {Open, Send, Deliver};

/// No rule on trial may be accepted because something it is about never happened.
bool did_all(const Verdict& verdict, const std::vector<Step>& steps) {
    return std::all_of(steps.begin(), steps.end(), [&verdict](Step step) {
        return verdict.step_counts[static_cast<std::size_t>(step)] > 0;
    });
}

void check_accepted(const Verdict& verdict, const std::vector<Step>& steps) {
    INFO(to_string(verdict.fault) << " after " << verdict.length << " steps\n" << verdict.run);
    CHECK(verdict.fault == Fault::None);
    CHECK(did_all(verdict, steps));
}

/// Expects that a shortest run to a fault of this kind has `length` steps.
template <class Rules>
void check_rejected(Fault fault, std::size_t length) {
    const Bounds bounds{.steps = every_step, .length_max = length, .faults = only(fault)};
    const Verdict verdict = explore<SmallModel<Rules>>(bounds);
    INFO(to_string(verdict.fault) << " after " << verdict.length << " steps\n" << verdict.run);
    CHECK(verdict.fault == fault);
    CHECK(verdict.length == length);
}

// Ours.

TEST_CASE(
    "SendingRepState: one property with a condition, two packets in flight, runs of any length",
    "[replayout][sending_rep_state][model]") {
    std::vector<Step> steps = every_step;
    std::erase(steps, SendParts);  // take two properties
    std::erase(steps, SendFirstPart);
    const Verdict verdict = explore<Model<OurRules, 1, 2>>({.steps = steps});
    check_accepted(verdict, steps);
    CHECK(verdict.state_count > 1'500'000);
}

TEST_CASE("SendingRepState: one property, three packets in flight, runs of any length",
          "[replayout][sending_rep_state][model]") {
    const Verdict verdict =
        explore<Model<OurRules, 1, 3>>({.steps = channel_steps, .prologue = opened});
    check_accepted(verdict, channel_steps);
    CHECK(verdict.state_count > 100'000);
}

TEST_CASE("SendingRepState: two properties, sent whole or in parts, all runs of up to 13 steps",
          "[replayout][sending_rep_state][model]") {
    const Verdict verdict = explore<SmallModel<OurRules>>({.steps = every_step, .length_max = 13});
    check_accepted(verdict, every_step);
    CHECK(verdict.state_count > 800'000);
}

TEST_CASE("SendingRepState: two properties on an open channel, all runs of up to 22 steps",
          "[replayout][sending_rep_state][model]") {
    const Verdict verdict = explore<SmallModel<OurRules>>(
        {.steps = channel_steps, .value_count = 2, .length_max = 22, .prologue = opened});
    check_accepted(verdict, channel_steps);
    CHECK(verdict.state_count > 500'000);
}

TEST_CASE("SendingRepState: two properties on an open channel, runs of any length",
          "[.][slow][replayout][sending_rep_state][model]") {
    const Verdict verdict = explore<SmallModel<OurRules>>(
        {.steps = channel_steps, .value_count = 2, .prologue = opened});
    check_accepted(verdict, channel_steps);
}

TEST_CASE(
    "SendingRepState: one property with a condition, three packets in flight, runs of any length",
    "[.][slow][replayout][sending_rep_state][model]") {
    std::vector<Step> steps = channel_steps;
    steps.insert(steps.end(), {Hide, Show});
    const Verdict verdict = explore<Model<OurRules, 1, 3>>({.steps = steps, .prologue = opened});
    check_accepted(verdict, steps);
}

TEST_CASE("SendingRepState: one property, four packets in flight, runs of any length",
          "[.][slow][replayout][sending_rep_state][model]") {
    const Verdict verdict =
        explore<Model<OurRules, 1, 4>>({.steps = channel_steps, .prologue = opened});
    check_accepted(verdict, channel_steps);
}

TEST_CASE("SendingRepState: four properties, eight packets in flight, long walks at random",
          "[replayout][sending_rep_state][model]") {
    const std::uint64_t seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{9}));
    CAPTURE(seed);
    std::vector<Step> steps = every_step;
    steps.insert(steps.end(), {Compare, Compare, Compare, Compare, Compare, Compare, Send, Send,
                               Send, Send, Deliver, Deliver, Deliver, Lose});
    const Verdict verdict =
        walk<Model<OurRules, 4, 8>>({.steps = steps, .length_max = 200'000}, seed);
    check_accepted(verdict, every_step);
}

TEST_CASE("SendingRepState: the model loses nothing by the canonical form of its states",
          "[replayout][sending_rep_state][model]") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        CHECK(canonical_forms_agree<Model<OurRules, 3, 3>>({.steps = every_step, .length_max = 400},
                                                           seed));
    }
}

// Ours, where the distances of the lost interval do not reach.

TEST_CASE("SendingRepState: beyond its distances, one property, runs of any length",
          "[replayout][sending_rep_state][model]") {
    std::vector<Step> steps = every_step;
    std::erase(steps, SendParts);
    std::erase(steps, SendFirstPart);
    const Verdict verdict =
        explore<Model<CoarseRules, 1, 2>>({.steps = steps, .faults = all_but_wasteful});
    check_accepted(verdict, steps);
    CHECK(verdict.state_count > 800'000);
}

TEST_CASE("SendingRepState: beyond its distances, two properties, all runs of up to 12 steps",
          "[replayout][sending_rep_state][model]") {
    const Verdict verdict = explore<SmallModel<CoarseRules>>(
        {.steps = every_step, .length_max = 12, .faults = all_but_wasteful});
    check_accepted(verdict, every_step);
    CHECK(verdict.state_count > 200'000);
}

TEST_CASE("SendingRepState: beyond its distances, long walks at random",
          "[replayout][sending_rep_state][model]") {
    const std::uint64_t seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{4}));
    CAPTURE(seed);
    const Bounds bounds{.steps = every_step, .length_max = 50'000, .faults = all_but_wasteful};
    CHECK(walk<Model<RulesWithDistances<1>, 4, 8>>(bounds, seed).fault == Fault::None);
    CHECK(walk<Model<RulesWithDistances<2>, 4, 8>>(bounds, seed).fault == Fault::None);
    CHECK(walk<Model<RulesWithDistances<5>, 4, 8>>(bounds, seed).fault == Fault::None);
}

/// What lies too far back is forgotten instead of widened.
struct NarrowsLost : OurRules {
    void lose(const SentVersions& record) {
        OurRules::lose(record);
        const Version first = sent_version > 0 ? sent_version - 1 : 0;
        set_lost({std::max(lost().after, first), sent_version});
    }
};

TEST_CASE("SendingRepState: an interval that is narrowed to its distances is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<NarrowsLost>(Fault::Unsafe, 8);
}

/// Its beginning is widened, and its end cut.
struct CutsEnd : OurRules {
    void lose(const SentVersions& record) {
        OurRules::lose(record);
        set_lost({0, std::min<Version>(lost().through, 1)});
    }
};

TEST_CASE("SendingRepState: an interval that ends before what was lost is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<CutsEnd>(Fault::Unsafe, 8);
}

// The naive rule: a loss takes sent_version back to where the lost packet began.

struct NaiveLoss : OurRules {
    static constexpr bool sent_version_only_grows = false;
    void lose(const SentVersions& record) {
        --in_flight;
        sent_version = std::min(sent_version, record.sent.after);
    }
};

struct NaiveLossUnsuppressed : NaiveLoss {
    static bool suppresses(const auto&, const PropertyHistory&) { return false; }
};

/// Without what the naive rule has no answer to anyhow.
const std::vector<Step> plain_steps = {Send, Deliver, Lose};

TEST_CASE("SendingRepState: taking sent_version back on a loss is unsafe with suppression",
          "[replayout][sending_rep_state][model]") {
    const Verdict verdict = explore<SmallModel<NaiveLoss>>(
        {.steps = plain_steps, .prologue = opened, .faults = only(Fault::Unsafe)});
    // An older packet is lost and a newer one delivered. Then nothing is in flight, so the state
    // looks exact at the older version, while the client holds what the newer packet brought.
    WARN("The naive rule with suppression, rejected:\n" << verdict.run);
    CHECK(verdict.fault == Fault::Unsafe);
    CHECK(verdict.length == 10);
}

TEST_CASE("SendingRepState: taking sent_version back on a loss is wasteful without suppression",
          "[replayout][sending_rep_state][model]") {
    Bounds bounds{.steps = plain_steps, .value_count = 2, .length_max = 16, .prologue = opened};
    bounds.faults = only(Fault::Unsafe);
    CHECK(explore<SmallModel<NaiveLossUnsuppressed>>(bounds).fault == Fault::None);

    bounds.faults = only(Fault::Wasteful);
    const Verdict verdict = explore<SmallModel<NaiveLossUnsuppressed>>(bounds);
    WARN("The naive rule without suppression, rejected:\n" << verdict.run);
    CHECK(verdict.fault == Fault::Wasteful);
    CHECK(verdict.length == 7);
}

// Mutants of the state: one rule broken each.

struct ForgetsTakenAlong : OurRules {
    void lose(const SentVersions& record) {
        --in_flight;
        set_lost(hull(lost(), record.sent));
    }
};

TEST_CASE("SendingRepState: a loss that forgets what the packet had taken along is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<ForgetsTakenAlong>(Fault::Unsafe, 8);
}

struct OverwritesLost : OurRules {
    void lose(const SentVersions& record) {
        --in_flight;
        set_lost(hull(record.sent, record.lost));
    }
};

TEST_CASE("SendingRepState: a loss that overwrites the lost interval is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<OverwritesLost>(Fault::Unsafe, 9);
}

struct LosesAllThatWasSent : OurRules {
    void lose(const SentVersions&) {
        --in_flight;
        set_lost({0, sent_version});
    }
};

TEST_CASE("SendingRepState: a loss that owes more than the packet held is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<LosesAllThatWasSent>(Fault::Wasteful, 9);
}

struct LossStaysInFlight : OurRules {
    void lose(const SentVersions& record) {
        ++in_flight;
        OurRules::lose(record);
    }
};

TEST_CASE("SendingRepState: a loss that stays in flight is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<LossStaysInFlight>(Fault::Restless, 5);
}

struct DeliveryClearsLost : OurRules {
    void delivered() {
        --in_flight;
        set_lost({});
    }
};

TEST_CASE("SendingRepState: a delivery that clears the lost interval is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<DeliveryClearsLost>(Fault::Unsafe, 6);
}

struct SendLeavesLost : OurRules {
    SentVersions take_owed(Version version) {
        const VersionInterval before = lost();
        const SentVersions record = OurRules::take_owed(version);
        set_lost(before);
        return record;
    }
    SentVersions send(Version version) {
        send_part();
        return take_owed(version);
    }
};

TEST_CASE("SendingRepState: a send that leaves the lost interval is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<SendLeavesLost>(Fault::Wasteful, 6);
    check_rejected<SendLeavesLost>(Fault::Restless, 5);
}

struct ForgetsUnsentPart : OurRules {
    void return_unsent(const SentVersions&) {}
};

TEST_CASE("SendingRepState: a part that was not sent and not returned is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<ForgetsUnsentPart>(Fault::Unsafe, 5);
}

struct SkipsNothing : OurRules {
    void skip(Version) {}
};

TEST_CASE("SendingRepState: a skip that does nothing is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<SkipsNothing>(Fault::Restless, 4);
}

struct ExactInFlight : OurRules {
    bool is_exact() const { return lost().is_empty(); }
};

TEST_CASE("SendingRepState: exactness in spite of packets in flight is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<ExactInFlight>(Fault::Inexact, 4);
    check_rejected<ExactInFlight>(Fault::Unsafe, 8);
}

struct ReopensAsItWas : OurRules {
    void reopen(Version) {}
};

TEST_CASE("SendingRepState: a reopen that resets nothing is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<ReopensAsItWas>(Fault::Inexact, 6);
    check_rejected<ReopensAsItWas>(Fault::Unsafe, 8);
}

struct ReopensAtZero : OurRules {
    void reopen(Version) {
        sent_version = 0;
        set_lost({});
    }
    void lose(const SentVersions& record) {
        // Older packets sent more than it knows of now.
        --in_flight;
        const VersionInterval all = hull(lost(), hull(record.sent, record.lost));
        const Version through = std::min(all.through, sent_version);
        set_lost({std::min(all.after, through), through});
    }
};

TEST_CASE("SendingRepState: a reopen that looks exact at version 0 is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<ReopensAtZero>(Fault::Inexact, 6);
    check_rejected<ReopensAtZero>(Fault::Unsafe, 8);
}

struct ActivatesNothing : OurRules {
    void activate_condition(Version) {}
};

TEST_CASE("SendingRepState: a condition that turns true and owes nothing is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<ActivatesNothing>(Fault::Unsafe, 6);
}

struct HoldsNothing : OurRules {
    Version held_version() const { return 0; }
};

TEST_CASE("SendingRepState: a condition may always be activated from version 0",
          "[replayout][sending_rep_state][model]") {
    const Verdict verdict =
        explore<SmallModel<HoldsNothing>>({.steps = every_step, .length_max = 11});
    check_accepted(verdict, every_step);
}

struct HoldsWhatIsInFlight : OurRules {
    Version held_version() const { return sent_version; }
};

TEST_CASE("SendingRepState: a condition that trusts in what is in flight is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<HoldsWhatIsInFlight>(Fault::Unsafe, 8);
}

struct LosesNothing : OurRules {
    void lose_everything() {}
};

TEST_CASE("SendingRepState: a lost open that owes nothing is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<LosesNothing>(Fault::Unsafe, 6);
}

// Mutants of the driver.

struct LearnsOfLostOpenLate : OurRules {
    static void on_open_lost(auto&) {}
    static void on_open_acked(auto& pair) { pair.lose_everything(); }
};

TEST_CASE("SendingRepState: learning of a lost open only when the next one is delivered is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<LearnsOfLostOpenLate>(Fault::Inexact, 7);
}

struct UpdatesOvertakeOpen : OurRules {
    static constexpr bool opens_first = false;
};

TEST_CASE("SendingRepState: an update sent ahead of the open is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<UpdatesOvertakeOpen>(Fault::Inexact, 5);
}

struct SuppressesInexact : OurRules {
    static bool suppresses(const auto& pair, const PropertyHistory& history) {
        return history.value_at(pair.sent_version) == history.value();
    }
};

TEST_CASE("SendingRepState: suppression without exactness is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<SuppressesInexact>(Fault::Unsafe, 5);
}

struct SuppressesForgotten : OurRules {
    static bool suppresses(const auto& pair, const PropertyHistory& history) {
        const auto held = history.value_at(pair.sent_version);
        return pair.is_exact() && held.value_or(history.value()) == history.value();
    }
};

TEST_CASE("SendingRepState: suppression beyond what the history keeps is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<SuppressesForgotten>(Fault::Unsafe, 7);
}

struct SendsUncompared : OurRules {
    static constexpr bool sends_shadow = false;
};

TEST_CASE("SendingRepState: sending values that no compare has seen is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<SendsUncompared>(Fault::Unsafe, 4);
}

struct ReplacesLostRange : OurRules {
    static RepRange lost_range(const RepRange&, const RepRange& added) { return added; }
};

TEST_CASE("SendingRepState: a lost part that replaces another lost part is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<ReplacesLostRange>(Fault::Unsafe, 7);
}

struct KeepsLostRange : OurRules {
    static constexpr bool widens_lost_range = false;
};

TEST_CASE("SendingRepState: a lost part that still limits what a lost open owes is found",
          "[replayout][sending_rep_state][model]") {
    check_rejected<KeepsLostRange>(Fault::Unsafe, 6);
}

}  // namespace
}  // namespace replayout::model
