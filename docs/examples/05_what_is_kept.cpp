// SPDX-License-Identifier: MIT
//
// What the engine keeps of one object, as a person can read it: its values, its history, who asked
// for what, the shared buffer after three receivers were served, and what each property cost.
#include <replayout/dump.h>
#include <replayout/object_replicator.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <cstdio>
#include <memory_resource>
#include <string>
#include <vector>

using namespace replayout;

namespace {

struct Lamp {
    std::int32_t power = 100;
    std::string label;
    std::vector<std::uint16_t> colors;
};

class NoReferences final : public PackageMap {
  public:
    NetGUID guid_of(ObjectHandle) override { return {}; }
    ObjectHandle object_of(NetGUID) override { return {}; }
};

void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
}

/// Nothing is sent here; the packets only have numbers.
[[nodiscard]] bool send(ObjectReplicator& receiver, std::uint64_t packet, SendContext& sending) {
    std::byte memory[64];
    BitWriter writer(memory);
    return receiver.replicate_properties(writer, packet, sending) == SendResult::Whole;
}

}  // namespace

int main() {
    TypeRegistry registry;
    const auto lamp_type = class_builder<Lamp>(registry, "Lamp")
                               .property<&Lamp::power>()
                               .property<&Lamp::label>()
                               .property<&Lamp::colors>()
                               .build();
    if (!lamp_type || !registry.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(registry, **lamp_type);
    if (!layout) {
        return 1;
    }

    NoReferences ids;
    MemoryResource* memory = std::pmr::get_default_resource();
    ReplicationCounters counters;
    TypeCounters lamp_counters(**layout, memory);
    SendScratch scratch(memory);
    SendContext sending{ids, counters, scratch};
    sending.type_counters = &lamp_counters;
    ChangelistState state(**layout, memory);
    ObjectReplicator ann(state, memory);
    ObjectReplicator bob(state, memory);
    ObjectReplicator cid(state, memory);

    Lamp lamp;
    lamp.power = 80;
    lamp.label = "north";
    state.update(&lamp, ids, counters);
    if (!send(ann, 1, sending)) {
        return 1;
    }
    lamp.power = 75;
    lamp.colors = {7, 9};
    state.update(&lamp, ids, counters);
    print(dump(state));
    print(dump(state.history(), **layout));

    // Ann was sent version 1, the others join late: what Bob is sent is copied for Cid.
    for (ObjectReplicator* receiver : {&ann, &bob, &cid}) {
        print(dump(receiver->shadow()));
        if (!send(*receiver, 2, sending)) {
            return 1;
        }
    }
    print(dump_shared(state));
    print(dump(lamp_counters));
    return 0;
}
