// SPDX-License-Identifier: MIT
//
// Peers that are nearly right, for long: packets of chance within the rules of form. Whatever they
// say, nothing breaks, and memory stays bounded.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

/// Packets that are nearly right: bunches and blocks of a server, mixed and changed by chance.
class ChaosServer {
  public:
    explicit ChaosServer(std::uint64_t seed) : random_(seed) {}

    /// Sends until the client has had enough, or for so many packets.
    void run(ForgedServer& server, int packets_max) {
        sequences_.assign(channel_count, 1);
        for (int i = 0; i < packets_max && server.is_joined(); ++i) {
            std::vector<Bunch> bunches;
            for (std::uint32_t n = random_.below(4); n > 0; --n) {
                const bool is_control = random_.percent(1);
                bunches.push_back(make_bunch_of(is_control ? 0 : random_.between(1, 5)));
            }
            Bytes blocks;
            for (std::uint32_t n = random_.below(4); n > 0; --n) {
                const Bytes block = make_framed_block();
                blocks.insert(blocks.end(), block.begin(), block.end());
            }
            Bytes packet = server.forge().make(bunches, blocks);
            if (random_.percent(2)) {
                flip_bit(packet, random_.below(static_cast<std::uint32_t>(packet.size() * 8)));
            }
            server.deliver(packet);
        }
    }

  private:
    static constexpr std::uint32_t channel_count = 6;

    [[nodiscard]] Bunch make_bunch_of(std::uint32_t channel) {
        std::uint16_t& next = sequences_[channel];
        const auto sequence =
            static_cast<std::uint16_t>(random_.percent(93) ? next++ : next + random_.below(5));
        if (channel == 0) {
            return control_bunch(sequence, Bytes(random_.below(5)));
        }
        if (sequence == 1) {
            const std::uint32_t any = random_.below(9);
            return open_bunch(channel, NetGUID{random_.percent(97) ? channel : any},
                              random_.percent(90) ? TestSchema::pawn_number : any);
        }
        if (random_.percent(30)) {
            next = 1;
            return close_bunch(
                channel, sequence,
                random_.percent(50) ? ChannelCloseReason::Destroyed : ChannelCloseReason::Dormancy);
        }
        return value_bunch(channel, sequence, make_block_bytes());
    }

    [[nodiscard]] Bytes make_framed_block() {
        const std::uint32_t channel = 1 + random_.below(channel_count - 1);
        const Bytes block = make_block_bytes();
        return random_.percent(80) ? block_with_length_of(channel, block, random_.percent(50))
                                   : block_of(channel, block);
    }

    /// Right for a pawn, more often than not.
    [[nodiscard]] Bytes make_block_bytes() {
        switch (random_.below(12)) {
            case 0:
            case 4:
            case 5:
                return pawn_block({health_handle}, [&](BitWriter& writer) {
                    writer.write_bits(random_.bits(), 32);
                });
            case 1:
            case 6:
            case 7:
                return pawn_block({name_handle}, [&](BitWriter& writer) {
                    write_text(writer, std::string(random_.below(30), 'n'));
                });
            case 2:
            case 8:
            case 9:
                return pawn_block({target_handle}, [&](BitWriter& writer) {
                    writer.write_packed_uint(random_.below(8));
                });
            case 3:
            case 10:
                return pawn_block({friends_handle}, [&](BitWriter& writer) {
                    const std::uint32_t count = random_.below(40);
                    writer.write_packed_uint(count);
                    if (count == 0) {
                        return;
                    }
                    ChangeMask changed(std::pmr::get_default_resource());
                    changed.reset(count);
                    for (std::uint32_t i = 0; i < count; ++i) {
                        if (random_.percent(30)) {
                            changed.set(i);
                        }
                    }
                    write_change_mask(writer, changed, EmptySet::Possible);
                    for (std::uint32_t i = changed.count(); i > 0; --i) {
                        writer.write_packed_uint(random_.below(8));
                    }
                });
            default: {
                Bytes block(random_.below(30));
                for (std::byte& byte : block) {
                    byte = static_cast<std::byte>(random_.bits());
                }
                return block;
            }
        }
    }

    SeededRandom random_;
    std::vector<std::uint16_t> sequences_;
};

}  // namespace

TEST_CASE("Hostile: a server that is nearly right for long does no harm", "[netdriver][hostile]") {
    NetConfig config;
    config.channels_max = 6;
    config.bunch_bytes_max = 2'000;
    config.reliable_waiting_max = 50;
    config.reliable_waiting_bytes_max = 4'000;
    config.references_per_object_max = 30;
    std::uint64_t blocks = 0;
    std::uint64_t spawns = 0;
    for (std::uint64_t round = 0; round < 3'000; ++round) {
        INFO("round " << round);
        ForgedServer server(config);
        server.welcome();
        TestWorld& world = server.world();
        // At a despawn nothing refers to the object.
        world.on_despawn = [&](ObjectHandle gone) {
            for (const auto& [handle, object] : world.objects()) {
                if (const Pawn* pawn = std::get_if<Pawn>(object.get()); pawn && handle != gone) {
                    REQUIRE(pawn->target != gone);
                    for (const ObjectHandle friend_handle : pawn->friends) {
                        REQUIRE(friend_handle != gone);
                    }
                }
            }
        };
        ChaosServer(run_seed() * 10'000 + round).run(server, 40);
        REQUIRE((server.is_joined() || world.object_count() == 0));
        REQUIRE(server.memory().bytes_in_use_max() < 100'000);
        blocks += server.driver().stats().blocks_received;
        spawns += world.spawn_count;
    }
    CHECK(blocks > 1'000);
    CHECK(spawns > 1'000);
}

TEST_CASE("Hostile: a client that acknowledges by chance does no harm", "[netdriver][hostile]") {
    for (std::uint64_t round = 0; round < 300; ++round) {
        INFO("round " << round);
        SeededRandom random(run_seed() * 1'000 + round);
        ForgedClient client;
        std::vector<ObjectHandle> pawns;
        std::map<ObjectHandle, NetObjectId> ids;
        const auto add = [&] {
            pawns.push_back(client.world().add(TestSchema::get().pawn()));
            ids[pawns.back()] = client.driver().add_object(TestSchema::get().pawn(), pawns.back());
        };
        add();
        client.join(9);
        std::uint64_t ack = 0;
        for (int i = 0; i < 120 && client.is_joined(); ++i) {
            const std::uint64_t sent = client.driver().stats().packets_sent;
            if (random.percent(60)) {
                ack = std::max(ack, sent - std::min<std::uint64_t>(sent, random.below(10)));
            }
            PacketHeader& header = client.forge().header();
            header.ack = static_cast<std::uint16_t>(ack);
            header.ack_word_count = ack_words_max;
            for (std::uint32_t& word : header.ack_words) {
                word = static_cast<std::uint32_t>(random.bits() | random.bits());
            }
            if (random.percent(10)) {
                add();
            } else if (random.percent(5) && !pawns.empty()) {
                client.driver().remove_object(ids.at(pawns.back()));
                client.world().remove(pawns.back());
                pawns.pop_back();
            }
            for (const ObjectHandle pawn : pawns) {
                client.world().pawn(pawn).health += random.percent(30) ? 1 : 0;
            }
            client.deliver(client.forge().make({}));
        }
        REQUIRE(client.memory().bytes_in_use_max() < 1'000'000);
    }
}

}  // namespace replayout::test
