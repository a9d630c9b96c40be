// SPDX-License-Identifier: MIT
//
// For fuzz targets of whole ends: a recorded session is played to one of them up to some datagram,
// then it comes to what the input says, and then the session goes on.
//
//     u16 which datagram   then of each: u8 how, u16 bytes, the bytes
//
// How: bit 0, behind a header that fits (else the bytes are all of the datagram); bit 1, the header
// says that there are bunches; bit 2, it acknowledges one packet less.
#pragma once

#include <replayout/netdriver/packet_notify.h>

#include <array>
#include <memory>

#include "fuzz/fuzz_target.h"
#include "support/hostile/recorded_session.h"

namespace replayout::test {

inline constexpr std::size_t hostile_datagrams_max = 8;

class HostileEnd {
  public:
    HostileEnd(PlayedEnd::Side side, FuzzInput& input)
        : side_(side), record_(record_of(side)), end_(side) {
        const std::vector<RecordedDatagram> datagrams = datagrams_of(record_);
        datagram_ = datagrams[input.number(2) % datagrams.size()];
        end_.play_until(datagram_);
        REQUIRE(read_packet_header(datagram_at(record_, datagram_), header_) > 0);
    }

    void run(FuzzInput& input) {
        for (std::size_t i = 0; i < hostile_datagrams_max && !input.is_empty(); ++i) {
            const std::uint8_t how = input.byte();
            const auto bytes = input.take(input.number(2));
            give((how & 1) != 0 ? behind_header(how, bytes) : to_bytes(bytes));
        }
        end_.play_rest(datagram_);
        REQUIRE(end_.gives_back_memory());
    }

    /// Where a seed begins: the datagrams of the record, each as it came and behind a header.
    [[nodiscard]] static std::vector<Bytes> seeds(PlayedEnd::Side side) {
        const RecordedEnd& record = record_of(side);
        const std::vector<RecordedDatagram> datagrams = datagrams_of(record);
        std::vector<Bytes> seeds;
        for (std::size_t i = 0; i < datagrams.size(); i += 2) {
            const Bytes& datagram = datagram_at(record, datagrams[i]);
            PacketHeader header;
            const std::size_t size = read_packet_header(datagram, header);
            const auto payload = std::span(datagram).subspan(size);
            FuzzSeed seed;
            seed.number(i, 2);
            if (i % 4 == 0) {
                seed.number(0, 1).number(datagram.size(), 2).add(datagram);
            }
            seed.number(header.has_bunches ? 3 : 1, 1).number(payload.size(), 2).add(payload);
            seeds.push_back(seed.bytes);
        }
        return seeds;
    }

  private:
    [[nodiscard]] static const RecordedEnd& record_of(PlayedEnd::Side side) {
        return side == PlayedEnd::Side::Client ? RecordedSession::get().client
                                               : RecordedSession::get().server;
    }

    [[nodiscard]] Bytes behind_header(std::uint8_t how, std::span<const std::byte> payload) {
        PacketHeader header = header_;
        ++header_.sequence;
        header.has_bunches = (how & 2) != 0;
        header.ack = static_cast<std::uint16_t>(header.ack - ((how & 4) != 0 ? 1 : 0));
        std::array<std::byte, packet_header_bytes_max> memory{};
        const std::size_t size = write_packet_header(memory, header);
        Bytes datagram = to_bytes(std::span(memory).first(size));
        datagram.insert(datagram.end(), payload.begin(), payload.end());
        return datagram;
    }

    void give(const Bytes& datagram) {
        const bool was_open = end_.is_open();
        const std::uint64_t closed_before = closed_count();
        const std::uint64_t replaced_before = replaced_count();
        const std::string text = side_ == PlayedEnd::Side::Server ? end_.world_text() : "";
        end_.take(datagram);
        ++given_;
        const std::uint64_t closed = closed_count() - closed_before;
        // Who begins anew closes what he had, and may be refused.
        const std::uint64_t replaced = replaced_count() - replaced_before;
        REQUIRE(replaced <= (side_ == PlayedEnd::Side::Server ? 1u : 0u));
        REQUIRE(closed <= 1 + replaced);
        if (side_ == PlayedEnd::Side::Client) {
            REQUIRE((closed == 1) == (was_open && !end_.is_open()));
            REQUIRE((end_.driver().close_reason() != CloseReason::None) == !end_.is_open());
            REQUIRE_FALSE(end_.has_changed_by_refused_block());
            REQUIRE((end_.is_open() || end_.world().object_count() == 0));
        } else {
            REQUIRE(end_.world_text() == text);  // a client has no say in it
        }
        // What the settings of the session let a packet allocate, each time.
        const std::size_t allocated_max = 100'000 + given_ * 2 * 256 * 1'024;
        REQUIRE(end_.world().value_bytes() < allocated_max);
        REQUIRE(end_.memory().bytes_in_use_max() <
                static_cast<std::int64_t>(1'000'000 + allocated_max));
    }

    [[nodiscard]] std::uint64_t closed_count() {
        std::uint64_t count = 0;
        for (const std::uint64_t reason_count : end_.driver().stats().closed) {
            count += reason_count;
        }
        return count;
    }

    [[nodiscard]] std::uint64_t replaced_count() {
        return end_.driver().stats().closed[static_cast<std::size_t>(CloseReason::Replaced)];
    }

    PlayedEnd::Side side_;
    const RecordedEnd& record_;
    PlayedEnd end_;
    RecordedDatagram datagram_;
    PacketHeader header_;
    std::size_t given_ = 0;
};

}  // namespace replayout::test
