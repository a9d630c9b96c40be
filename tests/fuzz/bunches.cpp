// SPDX-License-Identifier: MIT
//
// Bunches one behind the other, as they stand in packets, on three queues of one connection. What
// is handed on is what a slow model hands on, in order and once; what waits stays within the
// account; a header that is read is written as it was; and nothing is left when it ends.
#include <replayout/netdriver/bunch.h>

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "fuzz/fuzz_target.h"
#include "reliable_receiver.h"
#include "support/checks/counting_resource.h"

namespace replayout::test {
namespace {

[[nodiscard]] NetConfig small_config() {
    NetConfig config;
    config.packet_bytes_max = 256;
    config.bunch_bytes_max = 1'000;
    config.call_bytes_max = 600;
    config.reliable_waiting_max = 8;
    config.reliable_waiting_bytes_max = 2'000;
    return config;
}

/// What waits, its payloads twice while they are put together, and what a map and vectors take
/// beside it.
constexpr std::int64_t memory_bytes_max = 16 * 1'024;

struct Message {
    bool is_close = false;
    Bytes bytes;

    friend bool operator==(const Message&, const Message&) = default;
};

class Hearer final : public ReliableMessageHandler {
  public:
    CloseReason handle_message(const BunchHeader& header,
                               std::span<const std::byte> payload) override {
        heard.push_back({header.is_close, to_bytes(payload)});
        return CloseReason::None;
    }
    std::vector<Message> heard;
};

/// The same with a map of all that ever came. It knows no limits.
class SlowQueue {
  public:
    void receive(const BunchHeader& header, std::span<const std::byte> payload) {
        const std::uint16_t sequence = header.is_open ? std::uint16_t{1} : header.sequence;
        const auto ahead = static_cast<std::int16_t>(
            static_cast<std::uint16_t>(sequence - static_cast<std::uint16_t>(next_)));
        if (ahead >= 0) {
            came_.try_emplace(next_ + ahead, header, to_bytes(payload));
        }
        for (auto next = came_.find(next_); next != came_.end(); next = came_.find(++next_)) {
            take(next->second.first, next->second.second);
        }
    }
    std::vector<Message> heard;

  private:
    void take(const BunchHeader& header, const Bytes& payload) {
        if (!header.is_partial) {
            whole_.reset();
            heard.push_back({header.is_close, payload});
            return;
        }
        if (header.is_partial_initial) {
            whole_.emplace();
            is_taken_back_ = false;
        }
        REQUIRE(whole_.has_value());
        whole_->insert(whole_->end(), payload.begin(), payload.end());
        is_taken_back_ = is_taken_back_ || payload.empty();
        if (header.is_partial_final) {
            heard.push_back({header.is_close, is_taken_back_ ? Bytes() : *whole_});
            whole_.reset();
        }
    }

    std::int64_t next_ = 1;
    std::map<std::int64_t, std::pair<BunchHeader, Bytes>> came_;
    std::optional<Bytes> whole_;
    bool is_taken_back_ = false;
};

void check_round_trip(const BunchHeader& header, std::span<const std::byte> bytes) {
    std::array<std::byte, bunch_header_bytes_max> copy{};
    BitWriter writer(copy);
    write_bunch_header(writer, header);
    REQUIRE(writer.byte_count() == bunch_header_bytes(header));
    REQUIRE(std::equal(bytes.begin(), bytes.end(), copy.begin()));
    REQUIRE(bytes.size() == writer.byte_count());
}

void run(std::span<const std::byte> bytes) {
    const NetConfig config = small_config();
    CountingResource memory;
    {
        const NetTime now;
        ReliableAccount account(ReceiveLimits::of_server(config), now);
        ReliableReceiver control(account, &memory);
        ReliableReceiver object(account, &memory);
        ReliableReceiver calls(account, &memory);
        const std::array<ReliableReceiver*, 3> queues{&control, &object, &calls};
        std::array<Hearer, 3> hearers;
        std::array<SlowQueue, 3> models;
        BitReader reader(bytes);
        while (reader.bits_left() > 0) {
            const std::size_t start = reader.position_bits() / 8;
            const BunchHeader header = read_bunch_header(reader);
            const std::size_t end = reader.position_bits() / 8;
            const auto payload = reader.take_bytes(reader.failed() ? 0 : header.payload_bytes);
            if (reader.failed()) {
                break;
            }
            check_round_trip(header, bytes.subspan(start, end - start));
            if (!header.has_sequence()) {
                continue;
            }
            const std::size_t queue = header.is_call ? 2 : header.channel.is_control() ? 0 : 1;
            const CloseReason reason = queues[queue]->receive(header, payload, hearers[queue]);
            REQUIRE(account.bunches() <= config.reliable_waiting_max);
            REQUIRE(account.bytes() <= config.reliable_waiting_bytes_max);
            REQUIRE(memory.bytes_in_use_max() <= memory_bytes_max);
            if (reason != CloseReason::None) {
                break;  // the connection ends
            }
            models[queue].receive(header, payload);
            REQUIRE(models[queue].heard == hearers[queue].heard);
        }
        for (ReliableReceiver* queue : queues) {
            queue->reset();
        }
        REQUIRE(account.bunches() == 0);
        REQUIRE(account.bytes() == 0);
    }
    REQUIRE(memory.blocks_in_use() == 0);
}

void add_bunch(Bytes& bytes, BunchHeader header, std::size_t payload_bytes) {
    header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    std::array<std::byte, bunch_header_bytes_max> memory{};
    BitWriter writer(memory);
    write_bunch_header(writer, header);
    bytes.insert(bytes.end(), writer.bytes().begin(), writer.bytes().end());
    bytes.insert(bytes.end(), payload_bytes, static_cast<std::byte>(header.sequence));
}

[[nodiscard]] BunchHeader header_of(std::uint32_t channel, std::uint32_t sequence) {
    BunchHeader header;
    header.channel = {channel};
    header.sequence = static_cast<std::uint16_t>(sequence);
    return header;
}

/// Three parts, in the order given.
[[nodiscard]] Bytes parts(std::uint32_t channel, bool is_call,
                          std::initializer_list<std::uint32_t> order, std::size_t full) {
    Bytes bytes;
    for (const std::uint32_t sequence : order) {
        BunchHeader header = header_of(channel, sequence);
        header.is_call = is_call;
        header.is_partial = true;
        header.is_partial_initial = sequence == 1;
        header.is_partial_final = sequence == 3;
        add_bunch(bytes, header, sequence == 3 ? full / 2 : full);
    }
    return bytes;
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    const std::size_t full = fragment_bytes(small_config().packet_bytes_max);
    std::vector<Bytes> seeds{parts(0, false, {1, 2, 3}, full), parts(3, false, {3, 1, 2}, full),
                             parts(3, true, {2, 3, 2, 1}, full), parts(3, false, {1, 2, 3}, 0)};
    Bytes mixed;
    for (const std::uint32_t sequence : {2u, 1u, 4u, 3u, 3u}) {
        BunchHeader header = header_of(7, sequence);
        header.is_open = sequence == 1;
        header.is_message = sequence == 2;
        header.is_close = sequence == 4;
        add_bunch(mixed, header, 5 + sequence);
    }
    BunchHeader once = header_of(7, 0);
    once.is_call = true;
    once.is_unreliable = true;
    add_bunch(mixed, once, 3);
    seeds.push_back(mixed);
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    replayout::test::run(std::as_bytes(std::span(data, size)));
    return 0;
}
