// SPDX-License-Identifier: MIT
#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/sequence.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/networks/packet_headers.h"

namespace replayout::test {
namespace {

struct Event {
    std::uint64_t sequence;
    bool delivered;

    friend bool operator==(const Event&, const Event&) noexcept = default;
};

class RecordingHandler final : public PacketNotifyHandler {
  public:
    void packet_delivered(std::uint64_t sequence) override { events.push_back({sequence, true}); }
    void packet_lost(std::uint64_t sequence) override { events.push_back({sequence, false}); }

    std::vector<Event> events;
};

PacketNotifySettings make_settings() {
    PacketNotifySettings settings;
    settings.session = notified_session;
    return settings;
}

PacketHeader send(PacketNotify& notify) {
    const PacketHeader header = notify.next_header();
    notify.commit_send(header);
    return header;
}

// Two ends joined by hand.
struct Pair {
    PacketNotify a{make_settings()};
    PacketNotify b{make_settings()};
    RecordingHandler events_a;
    RecordingHandler events_b;
};

PacketHeader make_header(std::uint8_t ack_word_count) {
    PacketHeader header;
    header.session = 0x1234;
    header.sequence = 0x5678;
    header.ack = 0x9abc;
    header.ack_word_count = ack_word_count;
    for (std::uint32_t index = 0; index < ack_word_count; ++index) {
        header.ack_words[index] = 0x01020304U + index;
    }
    return header;
}

// The header as bytes.

TEST_CASE("PacketHeader: the bytes are as documented", "[netdriver][packet_notify]") {
    PacketHeader header = make_header(2);
    header.ack_requested = true;
    HeaderBytes bytes{};
    REQUIRE(write_packet_header(bytes, header) == 15);
    const std::array<unsigned, 15> expected{0x34, 0x12, 0x78, 0x56, 0xbc, 0x9a, 0x11, 0x04,
                                            0x03, 0x02, 0x01, 0x05, 0x03, 0x02, 0x01};
    for (std::size_t index = 0; index < expected.size(); ++index) {
        CAPTURE(index);
        CHECK(std::to_integer<unsigned>(bytes[index]) == expected[index]);
    }
}

TEST_CASE("PacketHeader: what is written is read, at every word count and flag",
          "[netdriver][packet_notify]") {
    for (std::uint8_t count = 1; count <= ack_words_max; ++count) {
        for (unsigned flags = 0; flags < 4; ++flags) {
            PacketHeader header = make_header(count);
            header.has_bunches = (flags & 1) != 0;
            header.ack_requested = (flags & 2) != 0;
            HeaderBytes bytes{};
            const std::size_t size = write_packet_header(bytes, header);
            REQUIRE(size == packet_header_bytes(header));
            PacketHeader result;
            REQUIRE(read_packet_header(bytes, result) == size);
            REQUIRE(result == header);
        }
    }
}

TEST_CASE("PacketHeader: another sequence may be written into it, and nothing else changes",
          "[netdriver][packet_notify]") {
    PacketHeader header = make_header(3);
    HeaderBytes bytes{};
    const std::size_t size = write_packet_header(bytes, header);
    header.sequence = 0xfedc;
    write_packet_sequence(std::span(bytes).first(size), header.sequence);
    PacketHeader result;
    REQUIRE(read_packet_header(bytes, result) == size);
    CHECK(result == header);
}

TEST_CASE("PacketHeader: a header cut at any byte is refused and changes nothing",
          "[netdriver][packet_notify]") {
    for (std::uint8_t count = 1; count <= ack_words_max; ++count) {
        HeaderBytes bytes{};
        const std::size_t size = write_packet_header(bytes, make_header(count));
        for (std::size_t cut = 0; cut < size; ++cut) {
            // A copy of that size exactly, so that a sanitizer sees a read past it.
            const std::vector<std::byte> part(bytes.data(), bytes.data() + cut);
            PacketHeader result = make_header(3);
            REQUIRE(read_packet_header(part, result) == 0);
            REQUIRE(result == make_header(3));
        }
    }
}

TEST_CASE("PacketHeader: two are the same where all their fields are",
          "[netdriver][packet_notify]") {
    using Change = void (*)(PacketHeader&);
    constexpr Change changes[] = {
        [](PacketHeader& header) { ++header.session; },
        [](PacketHeader& header) { ++header.sequence; },
        [](PacketHeader& header) { ++header.ack; },
        [](PacketHeader& header) { header.has_bunches = true; },
        [](PacketHeader& header) { header.ack_requested = true; },
        [](PacketHeader& header) { ++header.ack_word_count; },
        [](PacketHeader& header) { header.ack_words.front() ^= 1U; },
        [](PacketHeader& header) { header.ack_words.back() ^= 0x8000'0000U; },
    };
    CHECK(make_header(2) == make_header(2));
    for (std::size_t index = 0; index < std::size(changes); ++index) {
        INFO("change " << index);
        PacketHeader changed = make_header(2);
        changes[index](changed);
        CHECK(changed != make_header(2));
    }
}

TEST_CASE("PacketHeader: every flag byte reads as documented or is refused",
          "[netdriver][packet_notify]") {
    for (unsigned flags = 0; flags < 256; ++flags) {
        CAPTURE(flags);
        HeaderBytes bytes{};
        bytes[6] = static_cast<std::byte>(flags);
        PacketHeader result;
        const std::size_t size = read_packet_header(bytes, result);
        if (flags >= 0x20) {
            REQUIRE(size == 0);
            continue;
        }
        REQUIRE(size == 7 + 4 * ((flags & 7) + 1));
        REQUIRE(result.has_bunches == ((flags & 8) != 0));
        REQUIRE(result.ack_requested == ((flags & 16) != 0));
    }
}

// Fates, by hand.

TEST_CASE("PacketNotify: the first packet has sequence 1 and acknowledges 0",
          "[netdriver][packet_notify]") {
    PacketNotify notify(make_settings());
    const PacketHeader header = notify.next_header();
    CHECK(header.session == notified_session);
    CHECK(header.sequence == 1);
    CHECK(header.ack == 0);
    CHECK(header.ack_word_count == 1);
    CHECK(header.ack_words[0] == 0);
    CHECK(notify.highest_received() == 0);
    CHECK(notify.in_flight_count() == 0);
    CHECK(notify.commit_send(header) == 1);
    CHECK(notify.in_flight_count() == 1);
}

TEST_CASE("PacketNotify: a gap is lost, what came is delivered, in order of sending",
          "[netdriver][packet_notify]") {
    Pair pair;
    const PacketHeader first = send(pair.a);
    send(pair.a);
    const PacketHeader third = send(pair.a);
    const PacketHeader fourth = send(pair.a);
    REQUIRE(pair.b.receive(first, pair.events_b) == PacketReceipt::Accepted);
    REQUIRE(pair.b.receive(fourth, pair.events_b) == PacketReceipt::Accepted);
    REQUIRE(pair.b.receive(third, pair.events_b) == PacketReceipt::Stale);
    REQUIRE(pair.b.receive(fourth, pair.events_b) == PacketReceipt::Stale);
    const PacketHeader answer = send(pair.b);
    CHECK(answer.ack == 4);
    CHECK(answer.ack_words[0] == 0b100);
    REQUIRE(pair.a.receive(answer, pair.events_a) == PacketReceipt::Accepted);
    const std::vector<Event> expected{{1, true}, {2, false}, {3, false}, {4, true}};
    CHECK(pair.events_a.events == expected);
    CHECK(pair.events_b.events.empty());
    CHECK(pair.a.in_flight_count() == 0);
}

TEST_CASE("PacketNotify: a header made before packets came in does not count as their ack",
          "[netdriver][packet_notify]") {
    Pair pair;
    const PacketHeader early = pair.b.next_header();
    for (int count = 0; count < 40; ++count) {
        REQUIRE(pair.b.receive(send(pair.a), pair.events_b) == PacketReceipt::Accepted);
    }
    pair.b.commit_send(early);
    REQUIRE(pair.a.receive(early, pair.events_a) == PacketReceipt::Accepted);
    CHECK(pair.events_a.events.empty());
    REQUIRE(pair.b.receive(send(pair.a), pair.events_b) == PacketReceipt::Accepted);
    // b knows that `early` arrived, and that it said nothing: 40 packets still need a bit each.
    const PacketHeader answer = send(pair.b);
    CHECK(answer.ack_word_count == 2);
    REQUIRE(pair.a.receive(answer, pair.events_a) == PacketReceipt::Accepted);
    CHECK(pair.events_a.events.size() == 41);
}

TEST_CASE("PacketNotify: ack words grow with what the peer may not know, and shrink again",
          "[netdriver][packet_notify]") {
    Pair pair;
    // Only a sends, and b's answers are lost: b cannot know that a heard anything.
    for (std::uint32_t count = 1; count <= packets_in_flight_max; ++count) {
        REQUIRE(pair.b.receive(send(pair.a), pair.events_b) == PacketReceipt::Accepted);
        const std::uint32_t words_needed = std::max(1U, (count - 1 + 31) / 32);
        REQUIRE(pair.b.next_header().ack_word_count == words_needed);
    }
    REQUIRE_FALSE(pair.a.can_probe());
    // One answer gets through, b learns of it with the next packet, and one word does again.
    REQUIRE(pair.a.receive(send(pair.b), pair.events_a) == PacketReceipt::Accepted);
    REQUIRE(pair.events_a.events.size() == packets_in_flight_max);
    REQUIRE(pair.b.next_header().ack_word_count == 8);
    REQUIRE(pair.b.receive(send(pair.a), pair.events_b) == PacketReceipt::Accepted);
    CHECK(pair.b.next_header().ack_word_count == 1);
}

TEST_CASE("PacketNotify: two states are the same where they will do the same",
          "[netdriver][packet_notify]") {
    const auto state = [](std::uint64_t first_sent, std::uint64_t first_received) {
        PacketNotifySettings settings = make_settings();
        settings.first_sequence_sent = first_sent;
        settings.first_sequence_received = first_received;
        return PacketNotify(settings);
    };
    const auto received = [](PacketNotify notify, std::uint16_t sequence) {
        PacketHeader header;
        header.session = notified_session;
        header.sequence = sequence;
        RecordingHandler events;
        REQUIRE(notify.receive(header, events) == PacketReceipt::Accepted);
        return notify;
    };
    const auto sent = [](PacketNotify notify) {
        send(notify);
        return notify;
    };
    const PacketNotify fresh(make_settings());
    CHECK(fresh == PacketNotify(make_settings()));
    CHECK(sent(received(fresh, 1)) == sent(received(fresh, 1)));
    PacketNotifySettings of_other_session = make_settings();
    ++of_other_session.session;
    CHECK(fresh != PacketNotify(of_other_session));
    PacketNotifySettings of_other_window = make_settings();
    --of_other_window.window_packets;
    CHECK(fresh != PacketNotify(of_other_window));
    PacketNotifySettings of_other_reserve = make_settings();
    ++of_other_reserve.reserved_packets;
    CHECK(fresh != PacketNotify(of_other_reserve));
    CHECK(fresh != sent(fresh));
    // 1 is in flight here, and was before the first there.
    CHECK(sent(fresh) != state(2, 1));
    CHECK(received(fresh, 1) != received(fresh, 2));
    // 1 was received here, and was before the first there.
    CHECK(received(fresh, 1) != state(1, 2));
    // 1 is missing here, and was before the first there.
    CHECK(received(fresh, 2) != received(state(1, 2), 2));
    CHECK(received(received(fresh, 1), 3) != received(received(fresh, 2), 3));
    // What was sent carried that ack, or did not.
    CHECK(sent(received(fresh, 1)) != received(sent(fresh), 1));
}

TEST_CASE("PacketNotify: a full window stops data, and a probe from the reserve resolves it",
          "[netdriver][packet_notify]") {
    Pair pair;
    std::uint32_t data_count = 0;
    while (pair.a.can_send()) {
        send(pair.a);
        data_count += 1;
    }
    CHECK(data_count == 224);
    while (pair.b.can_send()) {
        send(pair.b);
    }
    // Everything so far is lost, both ways.
    REQUIRE(pair.a.can_probe());
    REQUIRE(pair.b.receive(send(pair.a), pair.events_b) == PacketReceipt::Accepted);
    REQUIRE(pair.a.receive(send(pair.b), pair.events_a) == PacketReceipt::Accepted);
    REQUIRE(pair.events_a.events.size() == 225);
    CHECK(pair.events_a.events[223] == Event{224, false});
    CHECK(pair.events_a.events[224] == Event{225, true});
    REQUIRE(pair.b.receive(send(pair.a), pair.events_b) == PacketReceipt::Accepted);
    CHECK(pair.events_b.events.size() == 225);
    CHECK(pair.a.can_send());
    CHECK(pair.b.can_send());
}

TEST_CASE("PacketNotify: a window of 256 is used to the last packet",
          "[netdriver][packet_notify]") {
    for (const std::uint32_t window : {1U, 2U, 255U, 256U}) {
        CAPTURE(window);
        PacketNotifySettings settings = make_settings();
        settings.window_packets = window;
        settings.reserved_packets = 0;
        PacketNotify a(settings);
        PacketNotify b(settings);
        RecordingHandler events_a;
        RecordingHandler events_b;
        PacketHeader last;
        for (std::uint32_t count = 0; count < window; ++count) {
            REQUIRE(a.can_send());
            last = send(a);
        }
        REQUIRE_FALSE(a.can_send());
        REQUIRE_FALSE(a.can_probe());
        REQUIRE(b.receive(last, events_b) == PacketReceipt::Accepted);
        REQUIRE(a.receive(send(b), events_a) == PacketReceipt::Accepted);
        REQUIRE(events_a.events.size() == window);
        REQUIRE(a.in_flight_count() == 0);
    }
}

// Headers that no peer of ours sends.

// a has 100 packets of its own in flight after 50 resolved, and has processed 40 of the peer's.
struct Scene {
    Scene() {
        for (int count = 0; count < 40; ++count) {
            REQUIRE(pair.b.receive(send(pair.a), pair.events_b) == PacketReceipt::Accepted);
            REQUIRE(pair.a.receive(send(pair.b), pair.events_a) == PacketReceipt::Accepted);
        }
        while (pair.a.highest_sent() < 140) {
            last = send(pair.a);
        }
        REQUIRE(pair.b.receive(last, pair.events_b) == PacketReceipt::Accepted);
        honest = pair.b.next_header();
        pair.events_a.events.clear();
    }

    void refuse(const PacketHeader& header, PacketReceipt reason) {
        const PacketNotify before = pair.a;
        REQUIRE(pair.a.receive(header, pair.events_a) == reason);
        REQUIRE(pair.a == before);
        REQUIRE(pair.events_a.events.empty());
    }

    Pair pair;
    PacketHeader last;
    PacketHeader honest;
};

TEST_CASE("PacketNotify: a header of another session is refused", "[netdriver][packet_notify]") {
    Scene scene;
    for (std::uint32_t session = 0; session < 0x10000; ++session) {
        PacketHeader header = scene.honest;
        header.session = static_cast<std::uint16_t>(session);
        if (header.session != notified_session) {
            scene.refuse(header, PacketReceipt::OtherSession);
        }
    }
    CHECK(scene.pair.a.receive(scene.honest, scene.pair.events_a) == PacketReceipt::Accepted);
}

TEST_CASE("PacketNotify: a sequence out of range is refused, at the bounds exactly",
          "[netdriver][packet_notify]") {
    const Scene scene;
    for (std::uint32_t wire = 0; wire < 0x10000; ++wire) {
        PacketHeader header = scene.honest;
        header.sequence = static_cast<std::uint16_t>(wire);
        PacketNotify notify = scene.pair.a;
        RecordingHandler events;
        const PacketReceipt receipt = notify.receive(header, events);
        const bool is_new = wire > 40 && wire <= 40 + 256;
        const bool is_old = wire <= 40;
        const PacketReceipt expected = is_new   ? PacketReceipt::Accepted
                                       : is_old ? PacketReceipt::Stale
                                                : PacketReceipt::OutOfRange;
        if (receipt != expected || (receipt != PacketReceipt::Accepted && notify != scene.pair.a)) {
            FAIL("wire sequence " << wire);
        }
    }
}

TEST_CASE("PacketNotify: every ack is judged, at the bounds exactly",
          "[netdriver][packet_notify]") {
    const Scene scene;
    for (std::uint32_t wire = 0; wire < 0x10000; ++wire) {
        PacketHeader header = scene.honest;
        header.ack = static_cast<std::uint16_t>(wire);
        header.ack_word_count = 2;
        PacketNotify notify = scene.pair.a;
        RecordingHandler events;
        const PacketReceipt receipt = notify.receive(header, events);
        PacketReceipt expected = PacketReceipt::AckOfUnsentPacket;
        if (wire < 40) {
            expected = PacketReceipt::AckGoesBack;
        } else if (wire <= 40 + 65) {
            expected = PacketReceipt::Accepted;
        } else if (wire <= 140) {
            expected = PacketReceipt::AckTooShort;
        }
        const std::size_t event_count =
            expected == PacketReceipt::Accepted ? std::size_t{wire} - 40 : 0;
        if (receipt != expected || events.events.size() != event_count) {
            FAIL("wire ack " << wire);
        }
        if (receipt != PacketReceipt::Accepted && notify != scene.pair.a) {
            FAIL("changed by a refused ack " << wire);
        }
    }
}

TEST_CASE("PacketNotify: before anything was sent every ack but 0 is refused",
          "[netdriver][packet_notify]") {
    const PacketNotify fresh(make_settings());
    for (std::uint32_t wire = 1; wire < 0x10000; ++wire) {
        PacketHeader header;
        header.session = notified_session;
        header.sequence = 1;
        header.ack = static_cast<std::uint16_t>(wire);
        PacketNotify notify = fresh;
        RecordingHandler events;
        if (notify.receive(header, events) != PacketReceipt::AckOfUnsentPacket || notify != fresh) {
            FAIL("wire ack " << wire);
        }
    }
}

TEST_CASE("PacketNotify: an ack too short to tell every fate is refused",
          "[netdriver][packet_notify]") {
    Scene scene;
    REQUIRE(scene.honest.ack_word_count == 4);
    for (std::uint8_t count = 1; count < 4; ++count) {
        PacketHeader header = scene.honest;
        header.ack_word_count = count;
        scene.refuse(header, PacketReceipt::AckTooShort);
    }
    REQUIRE(scene.pair.a.receive(scene.honest, scene.pair.events_a) == PacketReceipt::Accepted);
    CHECK(scene.pair.events_a.events.size() == 100);
}

TEST_CASE("PacketNotify: random headers never resolve more than is in flight, nor out of order",
          "[netdriver][packet_notify]") {
    constexpr std::uint64_t seed = 0x70616b6e;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Scene scene;
    for (int round = 0; round < 20000; ++round) {
        HeaderBytes bytes{};
        write_packet_header(bytes, scene.honest);
        const std::size_t change_count = random() % 6;
        for (std::size_t change = 0; change < change_count; ++change) {
            bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << (random() % 8));
        }
        PacketHeader header;
        if (read_packet_header(std::span(bytes).first(random() % (bytes.size() + 1)), header) ==
            0) {
            continue;
        }
        PacketNotify notify = scene.pair.a;
        RecordingHandler events;
        const bool accepted = notify.receive(header, events) == PacketReceipt::Accepted;
        std::uint64_t next = scene.pair.a.highest_acked() + 1;
        for (const Event& event : events.events) {
            REQUIRE(event.sequence == next);
            next += 1;
        }
        REQUIRE(notify.highest_acked() + 1 == next);
        REQUIRE(next <= scene.pair.a.highest_sent() + 1);
        REQUIRE((accepted || notify == scene.pair.a));
    }
}

TEST_CASE("PacketNotify: packets are committed in a row, and rows of them are told at once",
          "[netdriver][packet_notify]") {
    class RowHandler final : public PacketNotifyHandler {
      public:
        void packet_delivered(std::uint64_t) override { FAIL("it is told with its row"); }
        void packets_delivered(std::uint64_t first, std::uint64_t last) override {
            rows.push_back({first, last});
        }
        void packet_lost(std::uint64_t sequence) override { lost.push_back(sequence); }

        std::vector<std::pair<std::uint64_t, std::uint64_t>> rows;
        std::vector<std::uint64_t> lost;
    };
    Pair pair;
    PacketHeader header = pair.a.next_header();
    CHECK(pair.a.commit_sends(header, 7) == 1);
    CHECK(pair.a.highest_sent() == 7);
    for (const std::uint16_t sequence : std::array<std::uint16_t, 5>{1, 2, 4, 5, 6}) {
        header.sequence = sequence;
        CHECK(pair.b.receive(header, pair.events_b) == PacketReceipt::Accepted);
    }
    RowHandler handler;
    CHECK(pair.a.receive(send(pair.b), handler) == PacketReceipt::Accepted);
    using Row = std::pair<std::uint64_t, std::uint64_t>;
    CHECK((handler.rows == std::vector<Row>{{1, 2}, {4, 6}}));
    CHECK((handler.lost == std::vector<std::uint64_t>{3}));
    header = pair.a.next_header();
    CHECK(pair.a.commit_sends(header, 100) == 8);
    for (std::uint16_t sequence = 7; sequence <= 107; ++sequence) {
        header.sequence = sequence;
        CHECK(pair.b.receive(header, pair.events_b) == PacketReceipt::Accepted);
    }
    CHECK(pair.a.receive(send(pair.b), handler) == PacketReceipt::Accepted);
    CHECK(handler.rows.back() == Row{7, 107});  // also by several words of acks
    CHECK(handler.lost.size() == 1);
}

}  // namespace
}  // namespace replayout::test
