// SPDX-License-Identifier: MIT
//
// Objects with a value that writes itself: a NetSerializer whose bits are shared by all receivers.
// All of them change in every tick.
#pragma once

#include "support/workloads/class_layout.h"
#include "support/workloads/workload.h"

#include <replayout/net_archive.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <vector>

namespace replayout::bench {

/// Where a shot hit, in 18 bytes on the wire.
struct Hit {
    float x = 0, y = 0, z = 0;
    float normal_x = 0, normal_y = 0, normal_z = 1;
    std::uint16_t bone = 0;
    std::uint8_t material = 0;

    [[nodiscard]] bool net_serialize(NetArchive& archive, PackageMap*, bool& ok);
    friend bool operator==(const Hit&, const Hit&) = default;
};

/// Gives it another place and bone than it had.
void change_hit(Hit& hit, std::uint64_t turn);

struct Target {
    Hit hit;
    std::int32_t health = 0;

    friend bool operator==(const Target&, const Target&) = default;
};
[[nodiscard]] Result<const Type*> declare_target(TypeRegistry& registry);

class HitWorkload final : public Workload {
  public:
    static constexpr std::uint32_t count = 200;

    HitWorkload();

    [[nodiscard]] const std::string& error() const noexcept override { return layout_.error(); }
    [[nodiscard]] const RepLayout& layout() const noexcept override { return layout_.layout(); }
    [[nodiscard]] std::uint32_t object_count() const noexcept override { return count; }
    [[nodiscard]] void* object_memory(std::uint32_t object) noexcept override {
        return &targets_[object];
    }
    [[nodiscard]] std::uint32_t ticks_until_warm() const noexcept override;
    Changes advance(std::uint32_t connection_count) override;

  private:
    ClassLayout layout_;
    std::vector<Target> targets_;
    std::uint32_t tick_ = 0;
};

}  // namespace replayout::bench

template <>
struct replayout::StructTraitsOf<replayout::bench::Hit> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};
