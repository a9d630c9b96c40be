// SPDX-License-Identifier: MIT
//
// The layout engine under a transport of your own: packets with a number, acknowledgements a tick
// later, every third packet lost. An ObjectReplicator holds what each of two players has and lacks.
#include <replayout/object_replicator.h>
#include <replayout/receive_properties.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <cstdio>
#include <memory_resource>
#include <utility>
#include <vector>

using namespace replayout;

namespace {

struct Pawn {
    std::int32_t health = 100;
    std::vector<std::uint32_t> path;
    void on_rep_health(std::int32_t previous) {
        std::printf("  on_rep: health was %d and is %d\n", previous, health);
    }
};

/// This class holds no references, so nobody asks.
struct NoReferences final : PackageMap {
    NetGUID guid_of(ObjectHandle) override { return {}; }
    ObjectHandle object_of(NetGUID) override { return {}; }
};

/// Both ends of the way to one player.
struct Player {
    const char* name;
    const RepLayout& layout;
    ObjectReplicator replicator;  // the server's end
    Pawn pawn{};                  // the player's, with what reading takes
    ReceiveScratch receive_scratch{std::pmr::get_default_resource()};
    ReceivingRepState references{std::pmr::get_default_resource()};
    std::uint32_t number = 1;                             // of the next packet
    std::vector<std::pair<std::uint32_t, bool>> fates{};  // of packets: lost or not
};

/// The network, and behind it the player. The mark "more parts follow" travels with the block.
void transfer(std::span<const std::byte> block, bool more_parts_follow, PackageMap& ids,
              Player& to) {
    const bool is_lost = to.number % 3 == 0;
    std::printf("  packet %u to %s, %zu bytes%s\n", to.number, to.name, block.size(),
                is_lost ? ", lost" : "");
    to.fates.emplace_back(to.number++, is_lost);
    DecodeBudget budget;  // what a packet may cost
    BitReader reader(block, &budget);
    ReceiveContext receiving{ids, to.receive_scratch};
    receiving.must_fill_reader = true;
    receiving.more_parts_follow = more_parts_follow;
    if (!is_lost && !receive_properties(to.layout, reader, &to.pawn, to.references, receiving)) {
        std::puts("  malformed");  // the end of a real connection
    }
}

/// The server: what became of the packets before, in the order of sending; then what is owed.
void send(SendContext& sending, Player& player) {
    ObjectReplicator& replicator = player.replicator;
    for (const auto& [number, is_lost] : std::exchange(player.fates, {})) {
        is_lost ? replicator.packet_lost(number) : replicator.packet_delivered(number);
    }
    while (replicator.owes_any()) {
        std::byte memory[64];
        BitWriter writer(memory);
        const SentBlock block = replicator.replicate_properties(writer, player.number, sending);
        if (block == SendResult::Whole || block == SendResult::Part) {
            transfer(writer.bytes(), block == SendResult::Part, sending.package_map, player);
        }  // else: nothing to send after all, or a value that no packet holds
    }
}

}  // namespace

int main() {
    MemoryResource* memory = std::pmr::get_default_resource();
    TypeRegistry types;
    const auto type = class_builder<Pawn>(types, "Pawn")
                          .property<&Pawn::health>()
                          .on_rep<&Pawn::on_rep_health>()
                          .property<&Pawn::path>()
                          .build();
    if (!type || !types.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(types, **type);
    if (!layout) {
        return 1;
    }
    NoReferences ids;
    ReplicationCounters counters;
    SendScratch scratch(memory);
    SendContext sending{ids, counters, scratch};
    Pawn pawn;
    ChangelistState state(**layout, memory);
    Player players[] = {{"ann", **layout, ObjectReplicator(state, memory)},
                        {"bob", **layout, ObjectReplicator(state, memory)}};
    for (std::uint32_t tick = 1; tick <= 5; ++tick) {
        std::printf("tick %u\n", tick);
        pawn.health -= tick <= 2 ? 20 : 0;
        pawn.path.resize(tick <= 2 ? tick * 15 : 30, tick);
        state.update(&pawn, ids, counters);  // compare, once for all players
        for (Player& player : players) {
            send(sending, player);
            ReceiveContext receiving{ids, player.receive_scratch};  // should a last part not come
            finish_update(**layout, &player.pawn, player.references, receiving);
        }
    }
    for (const Player& player : players) {
        const auto& [health, path] = player.pawn;
        std::printf("%s: health %d, %zu steps, %s\n", player.name, health, path.size(),
                    health == pawn.health && path == pawn.path ? "equal" : "different");
    }
}
