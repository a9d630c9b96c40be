// SPDX-License-Identifier: MIT
//
// What a receiver lets wait, beside what a sender with the same limits may have on its way.
#include "reliable_receiver.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

class Taker final : public ReliableMessageHandler {
  public:
    CloseReason handle_message(const BunchHeader&, std::span<const std::byte> payload) override {
        ++count;
        bytes += payload.size();
        return CloseReason::None;
    }

    std::uint32_t count = 0;
    std::size_t bytes = 0;
};

[[nodiscard]] BunchHeader header_of(std::uint32_t sequence) {
    BunchHeader header;
    header.channel = ChannelIndex{1};
    header.sequence = static_cast<std::uint16_t>(sequence);
    return header;
}

}  // namespace

TEST_CASE("ReliableReceiver: lets wait as many bunches as a sender has on the way, and no more",
          "[netdriver][reliable_receiver]") {
    for (const std::uint32_t bunches_max : {1u, 100u, 4'095u, 4'096u, 4'097u, 65'536u}) {
        INFO("at most " << bunches_max);
        ReceiveLimits limits;
        limits.bunches_max = bunches_max;
        limits.bytes_max = 1 << 20;
        const ReliableWindow window = reliable_window(limits);
        CHECK(window.bunches == std::min(bunches_max, 4'096u));
        CHECK(window.bytes == limits.bytes_max);
        const NetTime now;
        ReliableAccount account(limits, now);
        ReliableReceiver receiver(account, std::pmr::get_default_resource());
        Taker taker;
        // The first one is missing.
        for (std::uint32_t i = 0; i < window.bunches; ++i) {
            REQUIRE(receiver.receive(header_of(2 + i), {}, taker) == CloseReason::None);
        }
        CHECK(receiver.receive(header_of(2 + static_cast<std::uint32_t>(window.bunches)), {},
                               taker) == CloseReason::ReliableOverflow);
        CHECK(taker.count == 0);
        CHECK(receiver.receive(header_of(1), {}, taker) == CloseReason::None);
        CHECK(taker.count == window.bunches + 1);
        CHECK(account.is_empty());
    }
}

TEST_CASE("ReliableReceiver: of parts one may lack its bytes where a value ends, and nowhere else",
          "[netdriver][reliable_receiver]") {
    using Change = void (*)(BunchHeader&);
    const struct {
        const char* name;
        Change change;  // of the last part; the first is of a value, and has no bytes
        CloseReason reason;
    } cases[] = {
        {"a value", [](BunchHeader&) {}, CloseReason::None},
        {"an open", [](BunchHeader& header) { header.is_open = true; },
         CloseReason::MalformedBunch},
        {"a close", [](BunchHeader& header) { header.is_close = true; },
         CloseReason::MalformedBunch},
        {"a message", [](BunchHeader& header) { header.is_message = true; },
         CloseReason::MalformedBunch},
        {"a call", [](BunchHeader& header) { header.is_call = true; }, CloseReason::MalformedBunch},
        {"control", [](BunchHeader& header) { header.channel = ChannelIndex{0}; },
         CloseReason::MalformedBunch},
    };
    for (const auto& test : cases) {
        for (const std::size_t last_bytes : {0u, 3u}) {
            INFO(test.name << ", at its end " << last_bytes << " bytes");
            ReceiveLimits limits;
            limits.bytes_max = 1'000;
            limits.message_bytes_max = 1'000;
            limits.call_bytes_max = 1'000;
            limits.part_bytes = 10;
            const NetTime now;
            ReliableAccount account(limits, now);
            ReliableReceiver receiver(account, std::pmr::get_default_resource());
            Taker taker;
            BunchHeader first = header_of(1);
            first.is_partial = true;
            first.is_partial_initial = true;
            REQUIRE(receiver.receive(first, {}, taker) == CloseReason::None);
            BunchHeader last = header_of(2);
            last.is_partial = true;
            last.is_partial_final = true;
            test.change(last);
            const std::array<std::byte, 3> bytes{};
            CHECK(receiver.receive(last, std::span(bytes).first(last_bytes), taker) == test.reason);
            CHECK(taker.count == (test.reason == CloseReason::None ? 1 : 0));
            CHECK(taker.bytes == 0);
        }
    }
}

}  // namespace replayout::test
