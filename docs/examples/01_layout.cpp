// SPDX-License-Identifier: MIT
//
// The layout engine alone, without connections, sockets or a clock: a type is registered and
// flattened, an object is compared with its shadow, what changed becomes bits, and the bits change
// another object. What travels between the two is up to you.
#include <replayout/changelist_state.h>
#include <replayout/receive_properties.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>
#include <replayout/send_properties.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory_resource>
#include <string>
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
    std::string title = "Recruit";
    std::vector<Hit> hits;

    void on_rep_health(std::int32_t previous) {
        std::printf("on_rep: health was %d and is %d\n", previous, health);
    }
};

/// Which id belongs to which object. This class has no references, so nobody asks.
class NoReferences final : public PackageMap {
  public:
    NetGUID guid_of(ObjectHandle) override { return {}; }
    ObjectHandle object_of(NetGUID) override { return {}; }
};

void print_bits(const BitWriter& writer, std::uint32_t handle_count) {
    std::printf("%u handles, %u bytes:", handle_count,
                static_cast<unsigned>(writer.byte_count()));
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
    std::array<std::byte, 1'200> packet{};
    BitWriter writer(packet);
    ChangeMask owed(memory);

    // Register: once per process, on both ends.
    TypeRegistry registry;
    const auto hit = struct_builder<Hit>(registry, "Hit")
                         .property<&Hit::damage>()
                         .property<&Hit::bone>()
                         .build();
    const auto type = class_builder<Pawn>(registry, "Pawn")
                          .property<&Pawn::health>()
                          .on_rep<&Pawn::on_rep_health>()
                          .property<&Pawn::position>()
                          .property<&Pawn::title>()
                          .property<&Pawn::hits>()
                          .build();
    if (!hit || !type || !registry.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(registry, **type);
    if (!layout) {
        return 1;
    }
    std::printf("%s", dump(**layout).c_str());

    // Compare: once a tick and object, whoever receives it.
    Pawn server_pawn;
    ChangelistState state(**layout, memory);
    server_pawn.health = 75;
    server_pawn.hits.push_back({25.0f, 3});
    state.update(&server_pawn, ids, counters);

    // Send: once per receiver. What is owed follows from sixteen bytes.
    SendingRepState connection;
    const OwedVersions position(connection);
    state.collect_owed(position, owed);
    if (send_properties(state, position, owed, writer, sending) != SendResult::Whole) {
        return 1;
    }
    const SentVersions record = connection.send(state.version());
    print_bits(writer, owed.count());

    // Receive: all of it, or nothing when it is malformed.
    Pawn client_pawn;
    ReceivingRepState references(memory);
    BitReader reader(writer.bytes());
    if (!receive_properties(**layout, reader, &client_pawn, references, receiving)) {
        return 1;
    }
    std::printf("client: health %d, %u hits, the first of %.1f\n", client_pawn.health,
                static_cast<unsigned>(client_pawn.hits.size()), client_pawn.hits[0].damage);

    // Had that packet been lost, the same properties would be owed again, with their values of then.
    connection.lose(record);
    server_pawn.health = 50;
    state.update(&server_pawn, ids, counters);
    state.collect_owed(OwedVersions(connection), owed);
    std::printf("after a loss: %u handles owed\n", owed.count());
    return 0;
}
