// SPDX-License-Identifier: MIT
//
// Headers of packets, read and written again; and one end of a connection that sends and is told
// things by the other. Each packet sent has one fate, in order, and it is what the ack words say;
// a header that is refused changes nothing.
//
//     u8 where the sequences begin   steps, each u8 which, and what it takes
#include <replayout/netdriver/packet_notify.h>

#include <array>

#include "fuzz/fuzz_target.h"

namespace replayout::test {
namespace {

constexpr std::uint16_t session = 0x1234;

struct Fate {
    std::uint64_t sequence = 0;
    bool is_delivered = false;
};

class Fates final : public PacketNotifyHandler {
  public:
    void packet_delivered(std::uint64_t sequence) override { told.push_back({sequence, true}); }
    void packet_lost(std::uint64_t sequence) override { told.push_back({sequence, false}); }

    std::vector<Fate> told;
};

void check_round_trip(std::span<const std::byte> bytes) {
    PacketHeader header;
    header.sequence = 77;
    const PacketHeader before = header;
    const std::size_t size = read_packet_header(bytes, header);
    if (size == 0) {
        REQUIRE(header == before);
        return;
    }
    REQUIRE(size <= bytes.size());
    REQUIRE(size == packet_header_bytes(header));
    std::array<std::byte, packet_header_bytes_max> copy{};
    REQUIRE(write_packet_header(copy, header) == size);
    REQUIRE(
        std::equal(copy.begin(), copy.begin() + static_cast<std::ptrdiff_t>(size), bytes.begin()));
}

[[nodiscard]] PacketNotifySettings settings_of(std::uint8_t choice) {
    constexpr std::array<std::uint64_t, 4> firsts{1, 0xFFF0, 0xFFFF'FFF0, 0x8000};
    PacketNotifySettings settings;
    settings.session = session;
    settings.first_sequence_sent = firsts[choice & 3];
    settings.first_sequence_received = firsts[choice >> 2 & 3];
    return settings;
}

class End {
  public:
    explicit End(std::uint8_t choice)
        : notify_(settings_of(choice)), next_fate_(notify_.highest_sent() + 1) {}

    void send(std::uint32_t count) {
        for (; count > 0 && notify_.can_probe(); --count) {
            const PacketHeader header = notify_.next_header();
            REQUIRE(header.ack_word_count >= 1);
            REQUIRE(header.ack_word_count <= ack_words_max);
            const std::uint64_t expected = notify_.highest_sent() + 1;
            REQUIRE(notify_.commit_send(header) == expected);
        }
        REQUIRE(notify_.in_flight_count() <= packets_in_flight_max);
    }

    void receive(const PacketHeader& header) {
        const PacketNotify before = notify_;
        Fates fates;
        const PacketReceipt receipt = notify_.receive(header, fates);
        if (receipt != PacketReceipt::Accepted) {
            REQUIRE(notify_ == before);
            REQUIRE(fates.told.empty());
            return;
        }
        REQUIRE(header.session == session);
        REQUIRE(notify_.highest_received() > before.highest_received());
        REQUIRE(notify_.highest_received() - before.highest_received() <= packets_in_flight_max);
        REQUIRE(fates.told.size() <= packets_in_flight_max);
        REQUIRE(notify_.highest_acked() <= notify_.highest_sent());
        REQUIRE(notify_.highest_sent() == before.highest_sent());
        for (const Fate& fate : fates.told) {
            REQUIRE(fate.sequence == next_fate_);
            REQUIRE(fate.is_delivered == is_acknowledged(header, fate.sequence));
            ++next_fate_;
        }
        REQUIRE(next_fate_ == notify_.highest_acked() + 1);
        REQUIRE((fates.told.empty() ||
                 static_cast<std::uint16_t>(notify_.highest_acked()) == header.ack));
    }

    [[nodiscard]] const PacketNotify& notify() const noexcept { return notify_; }

  private:
    [[nodiscard]] bool is_acknowledged(const PacketHeader& header, std::uint64_t sequence) const {
        if (sequence == notify_.highest_acked()) {
            return true;
        }
        const std::uint64_t bit = notify_.highest_acked() - 1 - sequence;
        REQUIRE(bit < std::uint64_t{32} * header.ack_word_count);
        return (header.ack_words[bit / 32] >> (bit % 32) & 1) != 0;
    }

    PacketNotify notify_;
    std::uint64_t next_fate_;
};

[[nodiscard]] PacketHeader header_of(FuzzInput& input, const PacketNotify& notify) {
    const std::uint8_t form = input.byte();
    PacketHeader header;
    header.session = (form & 0x80) != 0 ? static_cast<std::uint16_t>(session ^ 1) : session;
    header.sequence = static_cast<std::uint16_t>(notify.highest_received() + 1 +
                                                 input.number(2 - (form >> 6 & 1)));
    header.ack =
        static_cast<std::uint16_t>(notify.highest_acked() + input.number(2 - (form >> 5 & 1)));
    header.ack_word_count = static_cast<std::uint8_t>(1 + (form & 7));
    for (std::size_t i = 0; i < header.ack_word_count; ++i) {
        header.ack_words[i] =
            (form & 8) != 0 ? 0xFFFF'FFFFu : static_cast<std::uint32_t>(input.number(4));
    }
    return header;
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    for (const std::uint64_t start : {0u, 1u, 6u, 15u}) {
        FuzzSeed seed;
        seed.number(start, 1);
        for (std::uint64_t round = 0; round < 6; ++round) {
            seed.number(0, 1).number(3 + 40 * round, 1);          // sends
            seed.number(1, 1).number(0x68 | 7, 1);                // all words set
            seed.number(round % 2, 1).number(2 + 30 * round, 1);  // sequence, ack
            seed.number(1, 1).number(0x60, 1).number(0, 1).number(1, 1).number(0b101, 4);
        }
        seeds.push_back(seed.bytes);
    }
    PacketHeader header;
    header.session = session;
    header.sequence = 9;
    header.ack = 4;
    header.ack_word_count = 3;
    header.ack_words = {1, 2, 3};
    std::array<std::byte, packet_header_bytes_max> bytes{};
    const std::size_t size = write_packet_header(bytes, header);
    seeds.push_back(to_bytes(std::span(bytes).first(size)));
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    check_round_trip(std::as_bytes(std::span(data, size)));
    FuzzInput input(data, size);
    End end(input.byte());
    while (!input.is_empty()) {
        if ((input.byte() & 1) == 0) {
            end.send(input.byte());
        } else {
            end.receive(header_of(input, end.notify()));
        }
    }
    return 0;
}
