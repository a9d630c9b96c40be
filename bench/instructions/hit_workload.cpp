// SPDX-License-Identifier: MIT
#include "instructions/hit_workload.h"

#include <replayout/changelist_history.h>
#include <replayout/reflection/type_builder.h>

namespace replayout::bench {

namespace {

/// Writes or reads hundredths in 24 bits.
void serialize_place(NetArchive& archive, float& place) {
    auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(place * 100)) & 0xFFFFFF;
    archive.serialize_bits(bits, 24);
    if (archive.is_loading()) {
        place = static_cast<float>(static_cast<std::int64_t>(bits << 40) >> 40) / 100;
    }
}

/// Writes or reads a part of a unit vector in 16 bits.
void serialize_part(NetArchive& archive, float& part) {
    auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(part * 32'767)) & 0xFFFF;
    archive.serialize_bits(bits, 16);
    if (archive.is_loading()) {
        part = static_cast<float>(static_cast<std::int16_t>(bits)) / 32'767;
    }
}

}  // namespace

bool Hit::net_serialize(NetArchive& archive, PackageMap*, bool&) {
    serialize_place(archive, x);
    serialize_place(archive, y);
    serialize_place(archive, z);
    serialize_part(archive, normal_x);
    serialize_part(archive, normal_y);
    serialize_part(archive, normal_z);
    archive.serialize(bone);
    archive.serialize(material);
    return true;
}

void change_hit(Hit& hit, std::uint64_t turn) {
    hit.x = static_cast<float>(turn % 50'000);
    hit.bone = static_cast<std::uint16_t>(turn);
}

Result<const Type*> declare_target(TypeRegistry& registry) {
    const Result<const Type*> hit = struct_builder<Hit>(registry, "Hit").build();
    if (!hit) {
        return hit;
    }
    return class_builder<Target>(registry, "Target")
        .property<&Target::hit>()
        .property<&Target::health>()
        .build();
}

HitWorkload::HitWorkload() : layout_(declare_target), targets_(count) {}

std::uint32_t HitWorkload::ticks_until_warm() const noexcept {
    return ChangelistHistory::count_max + 2;
}

Changes HitWorkload::advance(std::uint32_t connection_count) {
    ++tick_;
    for (Target& target : targets_) {
        change_hit(target.hit, tick_);
    }
    return owed_to_all(count, count, connection_count);
}

}  // namespace replayout::bench
