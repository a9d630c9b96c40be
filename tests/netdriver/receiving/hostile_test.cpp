// SPDX-License-Identifier: MIT
//
// Real traffic, damaged. A session is played to one end up to some datagram; that one comes cut,
// flipped, spliced or repeated; then the session goes on. Whatever comes is dropped or ends the
// connection with a counted reason, a block that is refused has changed nothing, and memory stays
// bounded. What our own peer could never send is in hostile_peer_test.cpp.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/hostile/recorded_session.h"

namespace replayout::test {
namespace {

using Side = PlayedEnd::Side;

// The session needs less than a fifth of it.
constexpr std::int64_t memory_bytes_max = 1'000'000;
constexpr std::size_t value_bytes_max = 100'000;

[[nodiscard]] const RecordedEnd& record_of(Side side) {
    return side == Side::Client ? RecordedSession::get().client : RecordedSession::get().server;
}

[[nodiscard]] std::uint64_t closed_count(const NetStats& stats) {
    std::uint64_t count = 0;
    for (const std::uint64_t reason_count : stats.closed) {
        count += reason_count;
    }
    return count;
}

/// What must hold whatever a datagram was.
class Witness {
  public:
    Witness(Side side, PlayedEnd& end)
        : side_(side),
          end_(end),
          was_open_(end.is_open()),
          before_(end.driver().stats()),
          text_before_(side == Side::Server ? end.world_text() : std::string()) {}

    void testify() {
        const NetStats& after = end_.driver().stats();
        const std::uint64_t closed = closed_count(after) - closed_count(before_);
        REQUIRE(closed <= 1);
        if (side_ == Side::Client) {
            REQUIRE((closed == 1) == (was_open_ && !end_.is_open()));
            const bool has_reason = end_.driver().close_reason() != CloseReason::None;
            REQUIRE(has_reason == !end_.is_open());
            REQUIRE(!end_.has_changed_by_refused_block());
            REQUIRE((end_.is_open() || end_.world().object_count() == 0));
        } else {
            REQUIRE(end_.world_text() == text_before_);
        }
        REQUIRE(end_.memory().bytes_in_use_max() < memory_bytes_max);
        REQUIRE(end_.world().value_bytes() < value_bytes_max);
    }

    /// Nothing but a counter of dropped datagrams has moved.
    [[nodiscard]] bool is_dropped() const {
        const NetStats& after = end_.driver().stats();
        return end_.is_open() == was_open_ && after.packets_received == before_.packets_received &&
               after.packets_dropped == before_.packets_dropped + 1;
    }

  private:
    Side side_;
    PlayedEnd& end_;
    bool was_open_;
    NetStats before_;
    std::string text_before_;
};

/// What became of damaged datagrams.
struct Outcomes {
    std::uint32_t dropped = 0;
    std::uint32_t closed = 0;
    std::uint32_t accepted = 0;
};

/// Ends that stand before one datagram of the record. One that has dropped what it was given is as
/// it was, and is given the next.
class AttackedEnd {
  public:
    AttackedEnd(Side side, RecordedDatagram at) : side_(side), datagram_(at) {}
    ~AttackedEnd() { finish(); }
    AttackedEnd(const AttackedEnd&) = delete;
    AttackedEnd& operator=(const AttackedEnd&) = delete;

    void give(std::span<const std::byte> datagram) {
        if (end_ == nullptr) {
            end_ = std::make_unique<PlayedEnd>(side_);
            end_->play_until(datagram_);
        }
        Witness witness(side_, *end_);
        end_->take(datagram);
        witness.testify();
        if (witness.is_dropped()) {
            ++outcomes.dropped;
            return;
        }
        ++(end_->is_open() ? outcomes.accepted : outcomes.closed);
        finish();
    }

    Outcomes outcomes;

  private:
    // The rest of the record, as if nothing had happened: what was taken must not undo the end
    // later.
    void finish() {
        if (end_ != nullptr) {
            end_->play_rest(datagram_);
            CHECK(end_->gives_back_memory());
            end_.reset();
        }
    }

    Side side_;
    RecordedDatagram datagram_;
    std::unique_ptr<PlayedEnd> end_;
};

/// What a datagram is made of, so that of each kind some are taken.
[[nodiscard]] std::string kind_of(std::span<const std::byte> datagram) {
    const auto packet = parse_packet(datagram);
    REQUIRE(packet);
    std::string kind;
    for (const Bunch& bunch : packet->bunches) {
        const BunchHeader& header = bunch.header;
        kind += header.channel.is_control() ? "control " : "";
        kind += header.is_open ? "open " : "";
        kind += header.is_close ? "close " : "";
        kind += header.is_partial_initial ? "first " : "";
        kind += header.is_partial_final ? "last " : "";
        kind += header.is_partial ? "part " : "";
    }
    // The first byte of a block says whether it carries a length.
    if (!packet->blocks.empty()) {
        kind +=
            (std::to_integer<unsigned>(packet->blocks[0]) & 2) != 0 ? "block with length" : "block";
    }
    return kind;
}

/// The first `count` of each kind.
[[nodiscard]] std::vector<RecordedDatagram> datagrams_by_kind(const RecordedEnd& end, int count) {
    std::map<std::string, int> seen;
    std::vector<RecordedDatagram> datagrams;
    for (const RecordedDatagram at : datagrams_of(end)) {
        if (seen[kind_of(datagram_at(end, at))]++ < count) {
            datagrams.push_back(at);
        }
    }
    return datagrams;
}

constexpr Side both_sides[] = {Side::Client, Side::Server};

[[nodiscard]] const char* name_of(Side side) {
    return side == Side::Client ? "client" : "server";
}

}  // namespace

TEST_CASE("Hostile: the record holds every kind of packet, and plays to its end",
          "[netdriver][hostile]") {
    std::vector<std::string> kinds;
    for (const RecordedDatagram at : datagrams_of(record_of(Side::Client))) {
        kinds.push_back(kind_of(datagram_at(record_of(Side::Client), at)));
    }
    for (const char* const kind :
         {"control", "open", "close", "first part", "last part", "block", "block with length"}) {
        INFO(kind);
        CHECK(std::any_of(kinds.begin(), kinds.end(), [&](const std::string& text) {
            return text.find(kind) != std::string::npos;
        }));
    }
    for (const Side side : both_sides) {
        PlayedEnd end(side);
        end.play_until({0, 0});
        end.play_rest({0, static_cast<std::size_t>(-1)});
        CHECK(!end.is_open());
        CHECK(end.driver().stats().packets_dropped == 0);
        CHECK(end.driver().stats().closed[static_cast<std::size_t>(CloseReason::Requested)] == 1);
        CHECK(end.memory().bytes_in_use_max() < memory_bytes_max / 5);
        CHECK(end.gives_back_memory());
    }
}

TEST_CASE("Hostile: a datagram cut anywhere is dropped or ends the connection",
          "[netdriver][hostile]") {
    for (const Side side : both_sides) {
        for (const RecordedDatagram at : datagrams_of(record_of(side))) {
            INFO(name_of(side) << " tick " << at.tick << " datagram " << at.datagram);
            const std::span<const std::byte> whole = datagram_at(record_of(side), at);
            AttackedEnd stage(side, at);
            for (std::size_t size = 0; size < whole.size(); ++size) {
                INFO("size " << size);
                stage.give(whole.first(size));
            }
            CHECK(stage.outcomes.dropped >= std::min<std::size_t>(whole.size(), 11));
        }
    }
}

TEST_CASE("Hostile: a datagram with a flipped bit is dropped, taken or ends the connection",
          "[netdriver][hostile]") {
    for (const Side side : both_sides) {
        for (const RecordedDatagram at : datagrams_by_kind(record_of(side), 4)) {
            INFO(name_of(side) << " tick " << at.tick << " datagram " << at.datagram);
            const Bytes& whole = datagram_at(record_of(side), at);
            AttackedEnd stage(side, at);
            for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
                INFO("bit " << bit);
                Bytes datagram = whole;
                flip_bit(datagram, bit);
                stage.give(datagram);
            }
            CHECK(stage.outcomes.dropped > 0);
        }
    }
}

TEST_CASE("Hostile: a byte of any value anywhere is dropped, taken or ends the connection",
          "[netdriver][hostile]") {
    constexpr unsigned values[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
    for (const Side side : both_sides) {
        for (const RecordedDatagram at : datagrams_by_kind(record_of(side), 1)) {
            INFO(name_of(side) << " tick " << at.tick << " datagram " << at.datagram);
            const Bytes& whole = datagram_at(record_of(side), at);
            AttackedEnd stage(side, at);
            for (std::size_t offset = 7; offset < whole.size(); ++offset) {
                for (const unsigned value : values) {
                    INFO("byte " << offset << " is " << value);
                    Bytes datagram = whole;
                    datagram[offset] = static_cast<std::byte>(value);
                    stage.give(datagram);
                }
            }
        }
    }
}

TEST_CASE("Hostile: two datagrams spliced are dropped, taken or end the connection",
          "[netdriver][hostile]") {
    SeededRandom random(run_seed());
    for (const Side side : both_sides) {
        const RecordedEnd& record = record_of(side);
        const std::vector<RecordedDatagram> datagrams = datagrams_of(record);
        for (const RecordedDatagram at : datagrams) {
            INFO(name_of(side) << " tick " << at.tick << " datagram " << at.datagram);
            const Bytes& head = datagram_at(record, at);
            AttackedEnd stage(side, at);
            for (int round = 0; round < 60; ++round) {
                INFO("round " << round);
                const Bytes& tail = datagram_at(
                    record, datagrams[random.below(static_cast<std::uint32_t>(datagrams.size()))]);
                const std::size_t cut = random.below(static_cast<std::uint32_t>(head.size() + 1));
                const std::size_t from = random.below(static_cast<std::uint32_t>(tail.size() + 1));
                Bytes datagram(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(cut));
                datagram.insert(datagram.end(), tail.begin() + static_cast<std::ptrdiff_t>(from),
                                tail.end());
                stage.give(datagram);
            }
        }
    }
}

TEST_CASE("Hostile: random bytes, with a right header and without", "[netdriver][hostile]") {
    SeededRandom random(run_seed());
    for (const Side side : both_sides) {
        const RecordedEnd& record = record_of(side);
        for (const RecordedDatagram at : datagrams_by_kind(record, 2)) {
            INFO(name_of(side) << " tick " << at.tick << " datagram " << at.datagram);
            AttackedEnd stage(side, at);
            for (int round = 0; round < 150; ++round) {
                INFO("round " << round);
                PacketHeader header;
                const Bytes& whole = datagram_at(record, at);
                const std::size_t header_bytes = read_packet_header(whole, header);
                const std::size_t kept = round % 3 == 0 ? 0 : header_bytes;
                Bytes datagram(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept));
                for (std::uint32_t i = random.below(300); i > 0; --i) {
                    // Small numbers come further.
                    const std::uint64_t value = random.bits();
                    datagram.push_back(
                        static_cast<std::byte>(random.percent(50) ? value : value % 16));
                }
                stage.give(datagram);
            }
        }
    }
}

TEST_CASE("Hostile: datagrams that were taken before are dropped", "[netdriver][hostile]") {
    for (const Side side : both_sides) {
        const RecordedEnd& record = record_of(side);
        std::vector<RecordedDatagram> datagrams = datagrams_of(record);
        const auto is_late = [](RecordedDatagram at) { return at.tick >= 30; };
        datagrams.erase(std::find_if(datagrams.begin(), datagrams.end(), is_late), datagrams.end());
        PlayedEnd end(side);
        end.play_until(datagrams.back());
        REQUIRE(end.is_open());
        const NetStats before = end.driver().stats();
        const std::string text = end.world_text();
        for (std::size_t i = 0; i + 1 < datagrams.size(); ++i) {
            INFO(name_of(side) << " datagram " << i);
            end.take(datagram_at(record, datagrams[i]));
        }
        CHECK(end.driver().stats().packets_dropped ==
              before.packets_dropped + datagrams.size() - 1);
        CHECK(end.driver().stats().packets_received == before.packets_received);
        CHECK(end.world_text() == text);
        CHECK(end.is_open());
    }
}

TEST_CASE("Hostile: datagrams in another order do no harm", "[netdriver][hostile]") {
    SeededRandom random(run_seed());
    for (const Side side : both_sides) {
        const RecordedEnd& record = record_of(side);
        const std::vector<RecordedDatagram> datagrams = datagrams_of(record);
        for (int round = 0; round < 40; ++round) {
            INFO(name_of(side) << " round " << round);
            const RecordedDatagram start = datagrams[datagrams.size() / 3];
            PlayedEnd end(side);
            end.play_until(start);
            for (int i = 0; i < 60; ++i) {
                const RecordedDatagram at =
                    datagrams[random.below(static_cast<std::uint32_t>(datagrams.size()))];
                Witness witness(side, end);
                end.take(datagram_at(record, at));
                witness.testify();
            }
            end.play_rest(start);
            CHECK(end.gives_back_memory());
        }
    }
}

TEST_CASE("Hostile: datagrams of another session are dropped", "[netdriver][hostile]") {
    for (const Side side : both_sides) {
        const RecordedEnd& record = record_of(side);
        for (const RecordedDatagram at : datagrams_of(record)) {
            INFO(name_of(side) << " tick " << at.tick << " datagram " << at.datagram);
            // A hello with another session is a restart of the client, not a stray packet.
            if (kind_of(datagram_at(record, at)).find("control") != std::string::npos) {
                continue;
            }
            AttackedEnd stage(side, at);
            for (std::size_t bit = 0; bit < 16; ++bit) {
                Bytes datagram = datagram_at(record, at);
                flip_bit(datagram, bit);
                stage.give(datagram);
            }
            CHECK(stage.outcomes.dropped == 16);
        }
    }
}

TEST_CASE("Hostile: an ack of a packet that was never sent ends the connection",
          "[netdriver][hostile]") {
    for (const Side side : both_sides) {
        const RecordedEnd& record = record_of(side);
        for (const RecordedDatagram at : datagrams_of(record)) {
            INFO(name_of(side) << " tick " << at.tick << " datagram " << at.datagram);
            PacketHeader header;
            const Bytes& whole = datagram_at(record, at);
            const std::size_t header_bytes = read_packet_header(whole, header);
            PlayedEnd model(side);
            model.play_until(at);
            if (!model.is_open() || model.driver().stats().packets_sent == 0) {
                continue;
            }
            const auto sent = static_cast<std::uint16_t>(model.driver().stats().packets_sent);
            // To a client that has heard nothing yet it says that the session is another's.
            const bool is_first =
                side == Side::Client && model.driver().stats().packets_received == 0;
            AttackedEnd stage(side, at);
            for (const unsigned ahead : {1u, 2u, 255u, 30'000u}) {
                header.ack = static_cast<std::uint16_t>(sent + ahead);
                std::array<std::byte, packet_header_bytes_max> bytes;
                REQUIRE(write_packet_header(bytes, header) == header_bytes);
                Bytes datagram = whole;
                std::copy_n(bytes.begin(), header_bytes, datagram.begin());
                stage.give(datagram);
            }
            CHECK((is_first ? stage.outcomes.dropped : stage.outcomes.closed) == 4);
        }
    }
}

}  // namespace replayout::test
