// SPDX-License-Identifier: MIT
//
// What the engine keeps of one object, as a person can read it: its values, its history, the shared
// buffer after two connections were served, and what each property cost.
#include <replayout/dump.h>
#include <replayout/reflection/reflection.h>
#include <replayout/send_properties.h>

#include <array>
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

    Lamp lamp;
    lamp.power = 80;
    lamp.label = "north";
    state.update(&lamp, ids, counters);
    lamp.power = 75;
    lamp.colors = {7, 9};
    state.update(&lamp, ids, counters);
    print(dump(state));
    print(dump(state.history(), **layout));

    OwedVersions late;     // was sent nothing so far
    OwedVersions regular;  // was sent version 1
    regular.sent_version = 1;
    std::array<std::byte, 64> packet{};
    for (const OwedVersions& position : {regular, late}) {
        BitWriter writer(packet);
        state.collect_owed(position, scratch.owed);
        print("owed since version " + std::to_string(position.sent_version) + ": " +
              dump(scratch.owed, **layout) + "\n");
        if (send_properties(state, position, scratch.owed, writer, sending) != SendResult::Whole) {
            return 1;
        }
    }
    print(dump(state.shared(), **layout));
    print(dump(lamp_counters));
    return 0;
}
