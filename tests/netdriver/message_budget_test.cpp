// SPDX-License-Identifier: MIT
//
// What keyed arrays in messages cost a client, beside what the packet grants to blocks.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "support/catch.h"
#include "support/packet_forge.h"
#include "support/test_layout.h"

namespace replayout::test {
namespace {

struct Stone {
    std::uint16_t id = 0;
    std::uint8_t weight = 0;
};

/// Full from the beginning.
struct Quarry {
    Quarry() {
        for (std::uint16_t i = 0; i < 2'048; ++i) {
            stones.push_back({i, 1});
        }
    }
    std::vector<Stone> stones;
};

[[nodiscard]] Result<const Type*> build_quarry(TypeRegistry& registry) {
    REQUIRE(struct_builder<Stone>(registry, "Stone")
                .property<&Stone::id>()
                .property<&Stone::weight>()
                .build());
    return class_builder<Quarry>(registry, "Quarry")
        .property<&Quarry::stones>()
        .keyed_by<&Stone::id>(ArrayOrder::Free)
        .build();
}

class QuarryWorld final : public NetWorld {
  public:
    void* object_memory(ObjectHandle object) override { return objects_.at(object).get(); }
    ObjectHandle spawn(const SpawnInfo&) override {
        const ObjectHandle object{next_++};
        objects_[object] = std::make_unique<Quarry>();
        return object;
    }
    void despawn(ObjectHandle object) override { objects_.erase(object); }

  private:
    std::map<ObjectHandle, std::unique_ptr<Quarry>> objects_;
    std::uint64_t next_ = 1;
};

/// A client that holds one quarry, on channel 1, and a forger of packets from its server.
class Client {
  public:
    Client()
        : layout_(build_quarry),
          network_(LoopbackSettings{2'048, 1u << 17}, std::pmr::get_default_resource()),
          line_(network_.endpoint(server_peer)),
          driver(NetDriverSettings(), network_.endpoint(PeerId{2}), world_) {
        REQUIRE(driver.add_layout(*layout_));
        REQUIRE(driver.connect(server_peer, now_));
        driver.tick_flush(now_);
        Bytes memory(2'048);
        PeerId peer;
        const std::size_t size = line_.receive(peer, memory);
        const auto hello = parse_packet(std::span(memory).first(size));
        REQUIRE(hello);
        forge_ = PacketForge(hello->header.session);
        forge_.header().ack = 1;
        deliver({control_bunch(1, welcome_bytes())}, {});
        deliver({open_bunch(1, NetGUID{1}, 0)}, {});
        REQUIRE(driver.state() == ConnectionState::Joined);
    }

    /// One packet: so many small messages, and so many blocks behind them.
    void give(std::uint32_t message_count, std::uint32_t block_count) {
        std::vector<Bunch> messages;
        for (std::uint32_t i = 0; i < message_count; ++i) {
            messages.push_back(value_bunch(1, ++sequence_, make_look()));
        }
        Bytes blocks;
        for (std::uint32_t i = 0; i < block_count; ++i) {
            const Bytes block = block_of(1, make_look());
            blocks.insert(blocks.end(), block.begin(), block.end());
        }
        deliver(messages, blocks);
    }
    [[nodiscard]] bool is_joined() const { return driver.state() == ConnectionState::Joined; }

  private:
    static constexpr PeerId server_peer{1};

    /// A full set of a range in which there is nothing, for which all stones are put in order: some
    /// 12,000 steps.
    [[nodiscard]] static Bytes make_look() {
        return make_block(1, {1}, [](BitWriter& writer) {
            writer.write_bool(true);
            writer.write_bool(true);
            writer.write_packed_uint(60'000);
            writer.write_bool(false);
            writer.write_packed_uint(0);
        });
    }
    void deliver(const std::vector<Bunch>& bunches, const Bytes& blocks) {
        line_.send(PeerId{2}, forge_.make(bunches, blocks));
        now_ = now_.plus_milliseconds(1);
        driver.tick_dispatch(now_);
        driver.tick_flush(now_);
        Bytes memory(2'048);
        PeerId peer;
        while (line_.receive(peer, memory) != Transport::nothing_received) {
        }
    }

    TestLayout layout_;
    QuarryWorld world_;
    LoopbackNetwork network_;
    Transport& line_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    PacketForge forge_{0};
    std::uint16_t sequence_ = 1;

  public:
    NetDriver driver;
};

}  // namespace

TEST_CASE("Message budget: what messages cost takes nothing from the blocks of their packet",
          "[netdriver][message_budget]") {
    Client client;
    for (int packet = 0; packet < 3; ++packet) {
        client.give(60, 60);
        CHECK(client.is_joined());
    }
}

TEST_CASE("Hostile: small messages of one packet cost no more together than a packet may",
          "[netdriver][message_budget][hostile]") {
    Client client;
    client.give(110, 0);
    CHECK_FALSE(client.is_joined());
    CHECK(client.driver.close_reason() == CloseReason::MalformedBlock);
}

}  // namespace replayout::test
