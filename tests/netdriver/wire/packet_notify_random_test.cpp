// SPDX-License-Identifier: MIT
//
// Two ends on a network that loses, repeats, delays and reorders, against an oracle that knows the
// fate of every packet.
#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/sequence.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "support/checks/catch.h"
#include "support/networks/packet_headers.h"

namespace replayout::test {
namespace {

struct RunSettings {
    std::uint64_t seed = 0;
    std::uint64_t first_sequence_a = 1;
    std::uint64_t first_sequence_b = 1;
    /// Chances in 256.
    unsigned loss_to_b = 0;
    unsigned loss_to_a = 0;
    unsigned duplicate = 0;
    unsigned sends_by_a = 128;  // or else it is b's turn to send
    unsigned probe = 4;         // when data must wait
    /// How many steps a datagram is under way: delay plus 0 to jitter. So jitter reorders.
    std::uint64_t delay_steps = 4;
    std::uint64_t jitter_steps = 0;
};

// One end, and the truth about its packets.
class OracleEnd final : public PacketNotifyHandler {
  public:
    enum class Fate : std::uint8_t { Sent, Processed };

    OracleEnd(std::uint64_t first_sent, std::uint64_t first_received)
        : notify(make_settings(first_sent, first_received)),
          first(first_sent),
          next_event(first_sent) {}

    void packet_delivered(std::uint64_t sequence) override { resolve(sequence, true); }
    void packet_lost(std::uint64_t sequence) override { resolve(sequence, false); }

    Fate& fate(std::uint64_t sequence) { return fates.at(sequence - first); }

    PacketNotify notify;
    std::uint64_t first;
    std::vector<Fate> fates;
    std::multimap<std::uint64_t, HeaderBytes> wire;  // towards this end, by the step of arrival
    std::uint64_t next_event;
    std::uint64_t wrong_order_count = 0;
    std::uint64_t wrong_fate_count = 0;
    std::uint64_t event_count = 0;
    std::uint64_t refused_count = 0;
    std::uint64_t ack_word_count = 0;

  private:
    static PacketNotifySettings make_settings(std::uint64_t first_sent,
                                              std::uint64_t first_received) {
        PacketNotifySettings settings;
        settings.session = notified_session;
        settings.first_sequence_sent = first_sent;
        settings.first_sequence_received = first_received;
        return settings;
    }

    void resolve(std::uint64_t sequence, bool delivered) {
        wrong_order_count += sequence != next_event ? 1U : 0U;
        const Fate expected = delivered ? Fate::Processed : Fate::Sent;
        wrong_fate_count += fate(sequence) != expected ? 1U : 0U;
        event_count += 1;
        next_event = sequence + 1;
    }
};

class OracleRun {
  public:
    explicit OracleRun(const RunSettings& settings)
        : a(settings.first_sequence_a, settings.first_sequence_b),
          b(settings.first_sequence_b, settings.first_sequence_a),
          settings_(settings),
          random_(settings.seed) {}

    void step() {
        now_ += 1;
        deliver(a, b);
        deliver(b, a);
        const bool turn_of_a = roll(settings_.sends_by_a);
        OracleEnd& from = turn_of_a ? a : b;
        const bool probes = from.notify.can_probe() && roll(settings_.probe);
        if (from.notify.can_send() || probes) {
            send(from, turn_of_a ? b : a, turn_of_a ? settings_.loss_to_b : settings_.loss_to_a);
        }
    }

    // The network heals, loses what was under way, and a few exchanges resolve everything.
    void settle() {
        settings_ = {};
        settings_.delay_steps = 0;
        a.wire.clear();
        b.wire.clear();
        for (int count = 0; count < 4; ++count) {
            send(a, b, 0);
            deliver(b, a);
            send(b, a, 0);
            deliver(a, b);
        }
    }

    OracleEnd a;
    OracleEnd b;

  private:
    bool roll(unsigned chances) { return random_() % 256 < chances; }

    void send(OracleEnd& from, OracleEnd& to, unsigned loss) {
        REQUIRE(from.notify.can_probe());
        const PacketHeader header = from.notify.next_header();
        from.notify.commit_send(header);
        from.fates.push_back(OracleEnd::Fate::Sent);
        from.ack_word_count += header.ack_word_count;
        HeaderBytes bytes{};
        write_packet_header(bytes, header);
        if (roll(loss)) {
            return;
        }
        to.wire.emplace(arrival_step(), bytes);
        if (roll(settings_.duplicate)) {
            to.wire.emplace(arrival_step(), bytes);
        }
    }

    std::uint64_t arrival_step() {
        return now_ + settings_.delay_steps + random_() % (settings_.jitter_steps + 1);
    }

    void deliver(OracleEnd& to, OracleEnd& from) {
        while (!to.wire.empty() && to.wire.begin()->first <= now_) {
            PacketHeader header;
            REQUIRE(read_packet_header(to.wire.begin()->second, header) != 0);
            to.wire.erase(to.wire.begin());
            const std::uint64_t newest = to.notify.highest_received();
            const std::uint64_t sequence = expand_sequence(newest, header.sequence);
            const bool is_newest = sequence > newest;
            if (is_newest) {
                from.fate(sequence) = OracleEnd::Fate::Processed;
            }
            const PacketReceipt expected =
                is_newest ? PacketReceipt::Accepted : PacketReceipt::Stale;
            to.refused_count += to.notify.receive(header, to) != expected ? 1U : 0U;
        }
    }

    RunSettings settings_;
    std::mt19937_64 random_;
    std::uint64_t now_ = 0;
};

void check_end(const OracleEnd& end) {
    CHECK(end.refused_count == 0);
    CHECK(end.wrong_order_count == 0);
    CHECK(end.wrong_fate_count == 0);
    CHECK(end.notify.in_flight_count() <= 1);
    const auto resolved_end = end.fates.end() - end.notify.in_flight_count();
    const auto resolved_count = resolved_end - end.fates.begin();
    CHECK(end.event_count == static_cast<std::uint64_t>(resolved_count));
}

// Returns how many packets a sent.
std::size_t run_against_oracle(const RunSettings& settings, int step_count) {
    INFO("seed " << settings.seed << ", loss " << settings.loss_to_b << "/" << settings.loss_to_a
                 << ", delay " << settings.delay_steps << " + " << settings.jitter_steps
                 << ", first " << settings.first_sequence_a << "/" << settings.first_sequence_b);
    OracleRun run(settings);
    for (int step = 0; step < step_count; ++step) {
        run.step();
    }
    run.settle();
    check_end(run.a);
    check_end(run.b);
    return run.a.fates.size();
}

TEST_CASE("PacketNotify: over 100000 packets on a bad network every fate is the truth",
          "[netdriver][packet_notify]") {
    RunSettings settings;
    settings.seed = 0x6f7261636c65;
    settings.loss_to_b = 40;
    settings.loss_to_a = 70;
    settings.duplicate = 30;
    settings.delay_steps = 10;
    settings.jitter_steps = 6;
    CHECK(run_against_oracle(settings, 210000) > 100000);
}

TEST_CASE("PacketNotify: any mixture of loss, delay, order and start keeps every fate true",
          "[netdriver][packet_notify]") {
    constexpr std::uint64_t seed = 0x6d6978;
    constexpr std::uint64_t starts[] = {1, 0x8000 - 512, 0x10000 - 512, 0x100000000 - 512};
    std::mt19937_64 random(seed);
    for (std::uint64_t round = 0; round < 150; ++round) {
        RunSettings settings;
        settings.seed = seed + round;
        settings.loss_to_b = static_cast<unsigned>(random() % 4 * 50);
        settings.loss_to_a = static_cast<unsigned>(random() % 4 * 50);
        settings.duplicate = static_cast<unsigned>(random() % 128);
        settings.sends_by_a = static_cast<unsigned>(20 + random() % 216);
        settings.delay_steps = random() % 3 * 100;
        settings.jitter_steps = random() % 3 * 20;
        settings.first_sequence_a = starts[random() % 4];
        settings.first_sequence_b = starts[random() % 4];
        run_against_oracle(settings, 2000);
    }
}

TEST_CASE("PacketNotify: windows that fill up with lost packets empty again",
          "[netdriver][packet_notify]") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        RunSettings settings;
        settings.seed = seed;
        settings.loss_to_a = seed % 2 == 0 ? 256 : 0;
        settings.loss_to_b = 256;
        settings.probe = 0;
        OracleRun run(settings);
        for (int step = 0; step < 2000; ++step) {
            run.step();
        }
        REQUIRE_FALSE(run.a.notify.can_send());
        run.settle();
        check_end(run.a);
        check_end(run.b);
    }
}

TEST_CASE("PacketNotify: a steady exchange needs one ack word", "[netdriver][packet_notify]") {
    RunSettings settings;
    settings.seed = 7;
    OracleRun run(settings);
    for (int step = 0; step < 20000; ++step) {
        run.step();
    }
    CHECK(run.a.fates.size() > 5000);
    CHECK(run.a.ack_word_count == run.a.fates.size());
    CHECK(run.b.ack_word_count == run.b.fates.size());
}

}  // namespace
}  // namespace replayout::test
