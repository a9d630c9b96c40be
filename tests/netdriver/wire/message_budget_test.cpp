// SPDX-License-Identifier: MIT
//
// What keyed arrays in messages and calls cost a client, beside what the packet grants to blocks.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"
#include "support/types/test_layout.h"
#include "support/worlds/joined_client.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

struct Stone {
    std::uint16_t id = 0;
    std::uint8_t weight = 0;
};

/// So many that putting them in order, to look for a key, costs 10,000 steps.
[[nodiscard]] std::vector<Stone> make_stones() {
    std::vector<Stone> stones;
    for (std::uint16_t i = 0; i < 1'818; ++i) {
        stones.push_back({i, 1});
    }
    return stones;
}

/// The parameters of a call.
struct Pile {
    std::array<std::vector<Stone>, 6> stones{make_stones(), make_stones(), make_stones(),
                                             make_stones(), make_stones(), make_stones()};
    std::string label;
};

/// Full from the beginning.
struct Heap {
    std::vector<Stone> stones = make_stones();  // handle 1
    std::vector<Stone> gems = make_stones();    // 2
    std::string label;                          // 3
};

struct Quarry {
    Heap heap;
    std::uint32_t counts = 0;

    void multicast_count(const Pile&) { ++counts; }
};

[[nodiscard]] Result<const Type*> build_quarry(TypeRegistry& registry) {
    REQUIRE(struct_builder<Stone>(registry, "Stone")
                .property<&Stone::id>()
                .property<&Stone::weight>()
                .build());
    REQUIRE(struct_builder<Heap>(registry, "Heap")
                .property<&Heap::stones>()
                .keyed_by<&Stone::id>(ArrayOrder::Free)
                .property<&Heap::gems>()
                .keyed_by<&Stone::id>(ArrayOrder::Free)
                .property<&Heap::label>()
                .build());
    REQUIRE(struct_builder<Pile>(registry, "Pile")
                .property<&Pile::stones>()
                .keyed_by<&Stone::id>(ArrayOrder::Free)
                .property<&Pile::label>()
                .build());
    return class_builder<Quarry>(registry, "Quarry")
        .property<&Quarry::heap>()
        .function<&Quarry::multicast_count>(FunctionFlags::Multicast)
        .build();
}

/// A full set of a range in which there is nothing, for which all stones are put in order.
void write_look(BitWriter& writer) {
    writer.write_bool(true);
    writer.write_bool(false);
    writer.write_bool(true);
    writer.write_packed_uint(60'000);
    writer.write_bool(false);
    writer.write_packed_uint(0);
}

void write_label(BitWriter& writer, std::size_t length) {
    writer.write_packed_uint(length);
    for (std::size_t i = 0; i < length; ++i) {
        writer.write_bits('x', 8);
    }
}

/// 10,000 steps.
[[nodiscard]] Bytes make_look() {
    return make_block(3, {1}, write_look);
}
/// What `make` makes with a label of the length that makes it so many bytes.
[[nodiscard]] Bytes make_padded(std::size_t bytes, const std::function<Bytes(std::size_t)>& make) {
    for (std::size_t length = 0;; ++length) {
        Bytes made = make(length);
        if (made.size() >= bytes) {
            REQUIRE(made.size() == bytes);
            return made;
        }
    }
}
[[nodiscard]] Bytes make_long_look(std::size_t bytes) {
    return make_padded(bytes, [](std::size_t length) {
        return make_block(3, {1, 3}, [&](BitWriter& writer) {
            write_look(writer);
            write_label(writer, length);
        });
    });
}
/// Two units, of 10,000 steps each.
[[nodiscard]] Bytes make_two_looks(std::size_t bytes) {
    return make_padded(bytes, [](std::size_t length) {
        return make_block(3, {1, 2, 3}, [&](BitWriter& writer) {
            write_look(writer);
            write_look(writer);
            write_label(writer, length);
        });
    });
}
/// The payload of a call whose parameters are so many arrays, and the label.
[[nodiscard]] Bytes make_call(std::uint32_t look_count, std::size_t length) {
    Bytes memory(2'048);
    BitWriter writer(memory);
    writer.write_packed_uint(0);  // the function
    writer.write_bool(true);
    ChangeMask mask;
    mask.reset(7);
    mask.set_range(0, look_count);
    mask.set(6);
    write_change_mask(writer, mask, EmptySet::Impossible);
    for (std::uint32_t i = 0; i < look_count; ++i) {
        write_look(writer);
    }
    write_label(writer, length);
    writer.finish_byte();
    return to_bytes(writer.bytes());
}

/// A client that holds quarries, from channel 1 on.
class Client {
  public:
    explicit Client(std::uint32_t quarry_count = 1)
        : layout_(build_quarry), client_(world, {&*layout_}) {
        for (std::uint32_t channel = 1; channel <= quarry_count; ++channel) {
            client_.deliver({open_bunch(channel, NetGUID{channel}, 0)});
        }
        sequences_.assign(quarry_count, 1);
        REQUIRE(is_joined());
    }

    /// One packet: so many small messages, perhaps another one, and so many blocks behind them.
    void give(std::uint32_t message_count, const std::optional<Bytes>& last,
              std::uint32_t block_count) {
        std::vector<Bunch> messages;
        for (std::uint32_t i = 0; i < message_count; ++i) {
            messages.push_back(value(i, make_look()));
        }
        if (last) {
            messages.push_back(value(0, *last));
        }
        Bytes blocks;
        for (std::uint32_t i = 0; i < block_count; ++i) {
            const Bytes block = block_of(channel_of(i), make_look());
            blocks.insert(blocks.end(), block.begin(), block.end());
        }
        client_.deliver(messages, blocks);
    }
    void call(Bytes payload) {
        BunchHeader header;
        header.channel = ChannelIndex{1};
        header.is_call = true;
        header.is_unreliable = true;
        client_.deliver({make_bunch(header, std::move(payload))});
    }
    [[nodiscard]] bool is_joined() const { return client_.is_joined(); }

    TypedWorld<Quarry> world;

  private:
    /// Quarries in turn.
    [[nodiscard]] std::uint32_t channel_of(std::uint32_t i) const {
        return i % static_cast<std::uint32_t>(sequences_.size()) + 1;
    }
    [[nodiscard]] Bunch value(std::uint32_t i, Bytes block) {
        const std::uint32_t channel = channel_of(i);
        return value_bunch(channel, ++sequences_[channel - 1], std::move(block));
    }

    TestLayout layout_;
    std::vector<std::uint16_t> sequences_;  // of the last bunch, by quarry
    JoinedClient client_;

  public:
    NetDriver& driver = client_.driver;
};

constexpr std::size_t half_a_packet = 600;
/// At 16 steps a byte: what the first of two units costs, so that nothing is left for the second.
constexpr std::size_t bytes_of_a_look = 625;

}  // namespace

TEST_CASE("Message budget: what messages cost takes nothing from the blocks of their packet",
          "[netdriver][message_budget]") {
    Client client(60);  // a packet has no more than two blocks of one
    for (int packet = 0; packet < 3; ++packet) {
        client.give(4, std::nullopt, 4);
        CHECK(client.is_joined());
    }
}

TEST_CASE("Message budget: a message of half a packet has a budget of its own, a smaller one not",
          "[netdriver][message_budget]") {
    // The small ones before it have spent all of theirs.
    for (const std::size_t bytes : {half_a_packet - 1, half_a_packet, half_a_packet + 1}) {
        INFO(bytes << " bytes");
        Client client;
        client.give(4, make_long_look(bytes), 0);
        CHECK(client.is_joined() == (bytes >= half_a_packet));
    }
}

TEST_CASE("Message budget: beyond 16 steps a byte a second unit of a message is refused",
          "[netdriver][message_budget]") {
    for (const std::size_t bytes : {bytes_of_a_look - 1, bytes_of_a_look, bytes_of_a_look + 1}) {
        INFO(bytes << " bytes");
        Client client;
        client.give(0, make_two_looks(bytes), 0);
        CHECK(client.is_joined() == (bytes > bytes_of_a_look));
        if (!client.is_joined()) {
            CHECK(client.driver.close_reason() == CloseReason::MalformedBlock);
        }
    }
}

TEST_CASE("Message budget: beyond 40,000 steps and 32 a byte a further unit of a call is refused",
          "[netdriver][message_budget][rpc]") {
    // What five units cost; of a byte more something is left for the sixth.
    constexpr std::size_t bytes_of_five = (5 * 10'000 - 40'000) / 32;
    for (const std::size_t bytes : {bytes_of_five - 1, bytes_of_five, bytes_of_five + 1}) {
        INFO(bytes << " bytes");
        Client client;
        client.call(make_padded(bytes, [](std::size_t length) { return make_call(6, length); }));
        CHECK(client.is_joined() == (bytes > bytes_of_five));
        if (client.is_joined()) {
            CHECK(client.world.first().counts == 1);
        } else {
            CHECK(client.driver.close_reason() == CloseReason::MalformedBunch);
        }
    }
    Client client;
    client.call(make_call(1, 1));  // the first one is taken whatever it costs
    CHECK(client.world.first().counts == 1);
}

TEST_CASE("Hostile: small messages of one packet cost no more together than a packet may",
          "[netdriver][message_budget][hostile]") {
    // 4 of them cost all of 40,000 steps.
    for (const std::uint32_t count : {3u, 4u, 5u}) {
        INFO(count << " messages");
        Client client;
        client.give(count, std::nullopt, 0);
        CHECK(client.is_joined() == (count <= 4));
        if (!client.is_joined()) {
            CHECK(client.driver.close_reason() == CloseReason::MalformedBlock);
        }
    }
}

}  // namespace replayout::test
