// SPDX-License-Identifier: MIT
//
// The layout engine alone, without connections, sockets or a clock: a type is registered and
// flattened, an object is compared with its shadow, what changed becomes bits, and the bits change
// another object. How they get there is up to you.
#include <replayout/changelist_state.h>
#include <replayout/receive_properties.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>
#include <replayout/send_properties.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory_resource>
#include <vector>

using namespace replayout;

namespace {

struct Hit {
    float damage = 0.0f;
    std::uint8_t bone = 0;
};

struct Pawn {
    std::int32_t health = 100;
    Vector3 position;
    std::vector<Hit> hits;

    void on_rep_health(std::int32_t previous) {
        std::printf("on_rep: health was %d and is %d\n", previous, health);
    }
};

/// Which id belongs to which object. These classes hold no references, so nobody asks.
class NoReferences final : public PackageMap {
  public:
    NetGUID guid_of(ObjectHandle) override { return {}; }
    ObjectHandle object_of(NetGUID) override { return {}; }
};

void print_sent(std::uint32_t handle_count, const BitWriter& writer) {
    std::printf("sent %u handles:", handle_count);
    for (const std::byte byte : writer.bytes()) {
        std::printf(" %02x", std::to_integer<unsigned>(byte));
    }
    std::printf("\n");
}

}  // namespace

int main() {
    MemoryResource* memory = std::pmr::get_default_resource();
    NoReferences ids;
    ReplicationCounters counters;
    SendScratch send_scratch(memory);
    SendContext sending{ids, counters, send_scratch};
    ReceiveScratch receive_scratch(memory);
    ReceiveContext receiving{ids, receive_scratch};
    ReceivingRepState references(memory);
    std::array<std::byte, 1'200> packet{};
    BitWriter writer(packet);
    ChangeMask owed(memory);
    Pawn server_pawn;
    Pawn client_pawn;

    TypeRegistry registry;
    const auto hit = struct_builder<Hit>(registry, "Hit")
                         .property<&Hit::damage>()
                         .property<&Hit::bone>()
                         .build();
    const auto pawn = class_builder<Pawn>(registry, "Pawn")
                          .property<&Pawn::health>()
                          .on_rep<&Pawn::on_rep_health>()
                          .property<&Pawn::position>()
                          .property<&Pawn::hits>()
                          .build();
    if (!hit || !pawn || !registry.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(registry, **pawn);
    if (!layout) {
        return 1;
    }
    std::printf("%s", dump(**layout).c_str());

    ChangelistState state(**layout, memory);  // one for each object
    SendingRepState pair;                     // one for each object and receiver: 12 bytes

    server_pawn.health = 75;
    server_pawn.hits.push_back({25.0f, 3});
    state.update(&server_pawn, ids, counters);     // compare, once for all receivers
    state.collect_owed(OwedVersions(pair), owed);  // what does this one lack?
    if (send_properties(state, OwedVersions(pair), owed, writer, sending) != SendResult::Whole) {
        return 1;
    }
    const SentVersions record = pair.send(state.version());
    print_sent(owed.count(), writer);

    BitReader reader(writer.bytes());
    if (!receive_properties(**layout, reader, &client_pawn, references, receiving)) {
        return 1;
    }
    std::printf("client: health %d, %zu hit\n", client_pawn.health, client_pawn.hits.size());

    // Had the packet been lost, the same properties were owed again, with their values of then.
    pair.lose(record);
    state.collect_owed(OwedVersions(pair), owed);
    std::printf("after a loss: %u handles owed\n", owed.count());
    return 0;
}
