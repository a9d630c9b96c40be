// SPDX-License-Identifier: MIT
//
// Calls of a server whose parameters take more than one packet may cost: the client puts them off.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/log_spy.h"
#include "support/hostile/packet_forge.h"
#include "support/types/test_layout.h"
#include "support/worlds/joined_client.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

struct Grain {
    std::uint16_t id = 0;
    std::uint8_t weight = 0;
};

/// To begin with it has so many elements that few calls of it fit a packet's work.
struct Sack {
    Sack() {
        constexpr std::uint32_t count = 1'818;
        constexpr std::uint32_t stride = 1'123;  // in no order of their keys
        for (std::uint32_t i = 0; i < count; ++i) {
            grains.push_back({static_cast<std::uint16_t>(i * stride % count), 1});
        }
    }
    std::vector<Grain> grains;
    std::uint32_t number = 0;
};

struct Mill {
    std::uint32_t speed = 0;
    std::vector<std::uint32_t> heard;  // not replicated

    void client_grind(const Sack& sack) { heard.push_back(sack.number); }
};

[[nodiscard]] Result<const Type*> build_mill(TypeRegistry& registry) {
    REQUIRE(struct_builder<Grain>(registry, "Grain")
                .property<&Grain::id>()
                .property<&Grain::weight>()
                .build());
    REQUIRE(struct_builder<Sack>(registry, "Sack")
                .property<&Sack::grains>()
                .keyed_by<&Grain::id>(ArrayOrder::Free)
                .property<&Sack::number>()
                .build());
    return class_builder<Mill>(registry, "Mill")
        .property<&Mill::speed>()
        .function<&Mill::client_grind>(FunctionFlags::Client | FunctionFlags::Reliable)
        .build();
}

class MillWorld final : public SoleWorld<Mill> {
  public:
    bool may_run_call(ObjectHandle, const Function&, bool is_last) override {
        return is_ready || is_last;
    }

    bool is_ready = true;
};

/// The number, and a set of no grain: all of the default go.
[[nodiscard]] Bytes grind(std::uint32_t number) {
    return written([&](BitWriter& writer) {
        writer.write_packed_uint(0);  // the function
        writer.write_bool(true);
        ChangeMask mask;
        mask.reset(2);
        mask.set_range(0, 2);
        write_change_mask(writer, mask, EmptySet::Impossible);
        writer.write_bool(true);  // a full set, of all keys, that does not begin anew
        writer.write_bool(false);
        writer.write_bool(false);
        writer.write_bool(false);
        writer.write_packed_uint(0);
        writer.write_bits(number, 32);
        writer.finish_byte();
    });
}

/// A client that has one mill, on channel 1.
class Miller {
  public:
    explicit Miller(const NetConfig& config = {})
        : layout_(build_mill), client_(world, {&*layout_}, config) {
        client_.deliver({open_bunch(1, NetGUID{1}, 0)});
        REQUIRE(is_joined());
    }

    /// One packet with so many calls, whose numbers go on, and what else there is.
    void give(std::uint32_t call_count, const std::vector<Bunch>& others = {},
              const Bytes& blocks = {}) {
        std::vector<Bunch> bunches;
        for (std::uint32_t i = 0; i < call_count; ++i) {
            BunchHeader header;
            header.channel = ChannelIndex{1};
            header.is_call = true;
            header.sequence = ++sequence_;
            bunches.push_back(make_bunch(header, grind(sequence_)));
        }
        bunches.insert(bunches.end(), others.begin(), others.end());
        client_.deliver(bunches, blocks);
    }
    void tick() { client_.tick(); }
    [[nodiscard]] bool is_joined() const { return client_.is_joined(); }
    [[nodiscard]] const std::vector<std::uint32_t>& heard() const { return world.object.heard; }

    MillWorld world;

  private:
    TestLayout layout_;
    std::uint16_t sequence_ = 0;  // of the last call
    JoinedClient client_;

  public:
    NetDriver& driver = client_.driver;
};

[[nodiscard]] std::vector<std::uint32_t> first_numbers(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1u);
    return numbers;
}

/// Each tick some run, until all did.
void run_all(Miller& miller, std::size_t count) {
    while (miller.heard().size() < count) {
        const std::size_t before = miller.heard().size();
        miller.tick();
        REQUIRE(miller.heard().size() > before);
    }
    CHECK(miller.heard() == first_numbers(count));
}

}  // namespace

TEST_CASE("Put off calls, of a server: a client runs a packet's over several dispatches, in order",
          "[netdriver][rpc][put_off_calls]") {
    Miller miller;
    miller.give(20);
    CHECK_FALSE(miller.heard().empty());
    CHECK(miller.heard().size() < 10);
    // State that comes later is taken at once, and calls that come later wait behind the others.
    miller.give(
        20, {},
        block_of(1, make_block(1, {1}, [](BitWriter& writer) { writer.write_bits(70, 32); })));
    CHECK(miller.world.object.speed == 70);
    CHECK(miller.heard().size() < 20);
    run_all(miller, 40);
    CHECK(miller.is_joined());
    CHECK(miller.driver.stats().calls_dropped == 0);
}

TEST_CASE("Put off calls, of a server: those that its close finds are dropped, counted and logged",
          "[netdriver][rpc][put_off_calls]") {
    const LogSpy log(LogLevel::Warning);
    Miller miller;
    miller.give(20);
    const std::size_t before = miller.heard().size();
    miller.give(0, {close_bunch(1, 2, ChannelCloseReason::Destroyed)});
    const std::size_t ran = miller.heard().size();
    CHECK(ran > before);  // as far as one more packet's work goes
    CHECK(ran < 20);
    CHECK(miller.heard() == first_numbers(ran));
    CHECK(miller.world.is_gone);
    CHECK(miller.is_joined());
    CHECK(miller.driver.stats().calls_dropped == 20 - ran);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(contains(LogSpy::messages().front(), std::to_string(20 - ran) + " calls of object 1"));
    CHECK(contains(LogSpy::messages().front(), "\"Mill\""));
    for (int i = 0; i < 5; ++i) {
        miller.tick();
    }
    CHECK(miller.heard().size() == ran);
}

TEST_CASE("Put off calls, of a server: those that were kept run over several dispatches, too",
          "[netdriver][rpc][put_off_calls]") {
    Miller miller;
    miller.world.is_ready = false;
    miller.give(20);
    CHECK(miller.heard().empty());
    miller.world.is_ready = true;
    miller.driver.run_kept_calls();
    CHECK_FALSE(miller.heard().empty());
    CHECK(miller.heard().size() < 10);
    // What comes meanwhile comes after them.
    miller.give(1);
    CHECK(miller.heard().size() < 20);
    run_all(miller, 21);
}

TEST_CASE("Put off calls, of a server: while many wait packets are lost, and nobody is closed",
          "[netdriver][rpc][put_off_calls]") {
    NetConfig config;
    config.reliable_waiting_bytes_max = 128 * 1'024;
    Miller miller(config);
    std::uint32_t packets = 0;
    while (miller.driver.stats().packets_over_rate == 0) {
        miller.give(100);
        REQUIRE(++packets < 20);
    }
    const std::uint32_t arrived = (packets - 1) * 100;
    run_all(miller, arrived);
    CHECK(miller.is_joined());
    CHECK(miller.driver.stats().packets_over_rate == 1);
    CHECK(miller.driver.stats().packets_dropped == 1);
}

}  // namespace replayout::test
