// SPDX-License-Identifier: MIT
#include "savings/spawn_game.h"

#include "instructions/counted_tick.h"

#include <replayout/reflection/type_builder.h>

namespace replayout::bench {

namespace {

[[nodiscard]] Result<const Type*> declare_spark(TypeRegistry& registry) {
    return class_builder<Spark>(registry, "Spark")
        .property<&Spark::place>()
        .quantised(Quantisation::tenth())
        .property<&Spark::kind>()
        .build();
}

}  // namespace

SpawnGame::SpawnGame(std::uint32_t count, std::uint32_t spawns_per_tick)
    : layout_(declare_spark), count_(count), spawns_per_tick_(spawns_per_tick) {
    if (layout_.error().empty()) {
        layouts_[0] = &layout_.layout();
    }
}

void SpawnGame::begin(NetDriver& server, std::span<const PeerId>) {
    for (std::uint32_t i = 0; i < count_; ++i) {
        add(server);
    }
}

void SpawnGame::add(NetDriver& server) {
    const ObjectHandle handle{next_handle_++};
    Spark& spark = sparks_[handle.value];
    spark.place = {static_cast<float>(handle.value % 977), static_cast<float>(handle.value % 53),
                   0};
    spark.kind = static_cast<std::uint16_t>(handle.value % 12 + 1);
    NetObjectId id;
    count_call([&] { id = server.add_object(layout_.layout(), handle); });
    added_.push_back({handle, id});
}

void SpawnGame::play(NetDriver& server) {
    for (std::uint32_t i = 0; i < spawns_per_tick_; ++i) {
        const Added oldest = added_.front();
        added_.pop_front();
        count_call([&] { server.remove_object(oldest.id); });
        sparks_.erase(oldest.handle.value);
        add(server);
    }
}

}  // namespace replayout::bench
