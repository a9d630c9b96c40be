// SPDX-License-Identifier: MIT
//
// What reading one packet, or one call, may ask for, to the step and to the byte: with a value that
// asks for as much as it says.
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/log_spy.h"
#include "support/hostile/packet_forge.h"
#include "support/types/test_layout.h"
#include "support/worlds/joined_client.h"
#include "support/worlds/typed_world.h"

namespace replayout {
namespace {

struct Purchase {
    std::uint32_t steps = 0;
    std::uint32_t bytes = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        archive.serialize(steps);
        archive.serialize(bytes);
        ok = archive.spend(steps, bytes);
        return true;
    }
    friend bool operator==(const Purchase&, const Purchase&) = default;
};

}  // namespace

template <>
struct StructTraitsOf<Purchase> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace test {
namespace {

/// Of a call, which the label makes as long as it is to be.
struct PurchaseOrder {
    Purchase purchase;  // handle 1
    std::string label;  // 2
};

struct Shop {
    Purchase purchase;  // handle 1
    std::uint32_t order_count = 0;

    void multicast_order(const PurchaseOrder&) { ++order_count; }
};

[[nodiscard]] Result<const Type*> build_shop(TypeRegistry& registry) {
    REQUIRE(struct_builder<Purchase>(registry, "Purchase").build());
    REQUIRE(struct_builder<PurchaseOrder>(registry, "PurchaseOrder")
                .property<&PurchaseOrder::purchase>()
                .property<&PurchaseOrder::label>()
                .build());
    return class_builder<Shop>(registry, "Shop")
        .property<&Shop::purchase>()
        .function<&Shop::multicast_order>(FunctionFlags::Multicast)
        .build();
}

void write_purchase(BitWriter& writer, std::size_t steps, std::size_t bytes) {
    writer.write_bits(steps, 32);
    writer.write_bits(bytes, 32);
}

/// A client that was shown a shop, on channel 1.
class ShopClient {
  public:
    explicit ShopClient(const NetConfig& config = {})
        : layout_(build_shop), client_(world, {&*layout_}, config) {
        deliver({open_bunch(1, NetGUID{1}, 0)});
        REQUIRE(is_joined());
    }

    void deliver(const std::vector<Bunch>& bunches, const Bytes& blocks = {}) {
        client_.deliver(bunches, blocks);
    }
    /// A call of `bytes` bytes whose values ask for so much; the memory is that of both.
    void order(std::size_t bytes, std::size_t steps, std::size_t memory_bytes) {
        BunchHeader header;
        header.channel = ChannelIndex{1};
        header.is_call = true;
        header.is_unreliable = true;
        for (std::size_t length = 0;; ++length) {
            Bytes call = call_of(length, steps - value_count, memory_bytes - length);
            if (call.size() >= bytes) {
                REQUIRE(call.size() == bytes);
                deliver({make_bunch(header, std::move(call))});
                return;
            }
        }
    }
    [[nodiscard]] bool is_joined() const { return client_.is_joined(); }

    SoleWorld<Shop> world;

  private:
    static constexpr std::size_t value_count = 2;  // of a call; a step each

    [[nodiscard]] static Bytes call_of(std::size_t label_bytes, std::size_t steps,
                                       std::size_t memory_bytes) {
        return written([&](BitWriter& writer) {
            writer.write_packed_uint(0);  // the function
            writer.write_bool(true);
            ChangeMask mask;
            mask.reset(2);
            mask.set_range(0, 2);
            write_change_mask(writer, mask, EmptySet::Impossible);
            write_purchase(writer, steps, memory_bytes);
            writer.write_packed_uint(label_bytes);
            for (std::size_t i = 0; i < label_bytes; ++i) {
                writer.write_bits('x', 8);
            }
            writer.finish_byte();
        });
    }

    TestLayout layout_;
    JoinedClient client_;

  public:
    NetDriver& driver = client_.driver;
};

[[nodiscard]] Bytes purchase_block(std::size_t steps) {
    return block_of(
        1, make_block(1, {1}, [steps](BitWriter& writer) { write_purchase(writer, steps, 0); }));
}

constexpr std::size_t packet_steps = 1'000'000;

}  // namespace

TEST_CASE("Decode budget: bunches and blocks of a packet have its steps together",
          "[netdriver][decode_budget]") {
    constexpr std::size_t block_steps = 2;  // the block, and its value
    const auto said_before = value_bunch(1, 1, Bytes(1));
    for (const std::size_t bunch_count : {0u, 1u, 300u}) {
        for (const std::size_t excess : {0u, 1u}) {
            INFO(bunch_count << " bunches, " << excess << " too many");
            const std::size_t steps = packet_steps - block_steps - bunch_count + excess;
            ShopClient client;
            client.deliver(std::vector<Bunch>(bunch_count, said_before), purchase_block(steps));
            CHECK(client.is_joined() == (excess == 0));
            CHECK(client.world.object.purchase.steps == (excess == 0 ? steps : 0));
            if (excess != 0) {
                CHECK(client.driver.close_reason() == CloseReason::MalformedBlock);
            }
        }
    }
}

TEST_CASE("Decode budget: a packet whose steps a message took is read no further",
          "[netdriver][decode_budget]") {
    constexpr std::size_t message_bytes = 9;
    constexpr std::size_t earned_steps = 8 * message_bytes;
    const auto said_before = value_bunch(1, 1, Bytes(1));
    const struct {
        std::size_t excess;
        std::size_t bunches_behind;
        CloseReason reason;
        bool is_bought;
    } cases[] = {
        {0, 0, CloseReason::None, true},
        {0, 1, CloseReason::MalformedBunch, true},
        {1, 0, CloseReason::MalformedBlock, false},
    };
    for (const auto& test : cases) {
        INFO(test.excess << " too many, bunches behind it " << test.bunches_behind);
        constexpr std::size_t own_steps = 2;  // of the bunch, and of its value
        const std::size_t steps = packet_steps + earned_steps - own_steps + test.excess;
        const Bytes message =
            make_block(1, {1}, [steps](BitWriter& writer) { write_purchase(writer, steps, 0); });
        REQUIRE(message.size() == message_bytes);
        std::vector<Bunch> bunches(test.bunches_behind, said_before);
        bunches.insert(bunches.begin(), value_bunch(1, 2, message));
        ShopClient client;
        client.deliver(bunches);
        CHECK(client.driver.close_reason() == test.reason);
        CHECK(client.world.object.purchase.steps == (test.is_bought ? steps : 0));
    }
}

TEST_CASE("Decode budget: what a call may not ask for is told in the log, by the value's name",
          "[netdriver][decode_budget][rpc]") {
    const LogSpy log;
    ShopClient client;
    client.order(12, packet_steps, 0);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(contains(LogSpy::messages().front(), "\"Purchase\""));
    CHECK(client.driver.close_reason() == CloseReason::MalformedBunch);
    CHECK(client.driver.stats().values_failed == 1);
    CHECK(client.world.object.order_count == 0);
}

TEST_CASE("Decode budget: a call has 4,096 steps, and eight for each of its bytes",
          "[netdriver][decode_budget][rpc]") {
    for (const std::size_t bytes : {11u, 12u, 1'000u}) {
        for (const std::size_t excess : {0u, 1u}) {
            INFO(bytes << " bytes, " << excess << " too many");
            ShopClient client;
            client.order(bytes, 4'096 + 8 * bytes + excess, 2'000);
            CHECK(client.is_joined() == (excess == 0));
            CHECK(client.world.object.order_count == 1 - excess);
            if (excess != 0) {
                CHECK(client.driver.close_reason() == CloseReason::MalformedBunch);
            }
        }
    }
}

TEST_CASE(
    "Decode budget: a call has 64 KiB of memory, and what its bytes earn, as a packet at most",
    "[netdriver][decode_budget][rpc]") {
    // Each byte earns as much as it would in the largest message, which earns what a packet has.
    const struct {
        std::uint32_t packet_bytes;
        std::uint32_t message_bytes;
        std::size_t call_bytes;
        std::size_t memory_bytes;
    } cases[] = {
        {4 << 20, 64 << 10, 100, (64 << 10) + 100 * 64},
        {4 << 20, 64 << 10, 1'000, (64 << 10) + 1'000 * 64},
        {1 << 20, 1 << 20, 1'000, (64 << 10) + 1'000},
        {100'000, 1 << 20, 1'000, 64 << 10},
        {70'000, 64 << 10, 1'000, (64 << 10) + 1'000},
        {(64 << 10) + 50, 64 << 10, 100, (64 << 10) + 50},
        {2'000, 64 << 10, 100, 2'000},
    };
    for (const auto& test : cases) {
        for (const std::size_t excess : {0u, 1u}) {
            INFO(test.call_bytes << " bytes, where a packet has " << test.packet_bytes << ", "
                                 << excess << " too many");
            NetConfig config;
            config.decode_allocation_bytes_max = test.packet_bytes;
            config.bunch_bytes_max = test.message_bytes;
            ShopClient client(config);
            client.order(test.call_bytes, 100, test.memory_bytes + excess);
            CHECK(client.is_joined() == (excess == 0));
            CHECK(client.world.object.order_count == 1 - excess);
        }
    }
}

}  // namespace test
}  // namespace replayout
