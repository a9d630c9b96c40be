// SPDX-License-Identifier: MIT
//
// A server's whole tick where what is sent depends on who it is sent to: of ten values of a soldier
// that change, seven are for everybody, two for the owner, one for all but the owner. Beside it
// stands a yardstick, no floor: the same class without conditions, which sends more.
#include "support/session_measure.h"
#include "support/workloads/rotating_workload.h"

#include <replayout/reflection/type_builder.h>

#include <memory>

namespace replayout::bench {

namespace {

constexpr std::uint32_t soldier_count = 1'000;
constexpr std::uint32_t values_for_all = 7;
constexpr std::uint32_t values_for_owner = 2;
constexpr std::uint32_t values_for_others = 1;

struct Soldier {
    float px = 0;
    float py = 0;
    float pz = 0;
    float qx = 0;
    float qy = 0;
    float qz = 0;
    float qw = 0;
    std::uint16_t ammo = 0;
    float cooldown = 0;
    float aim = 0;
};

[[nodiscard]] Result<const Type*> declare_soldier(TypeRegistry& registry, bool has_conditions) {
    const auto condition = [has_conditions](LifetimeCondition wanted) {
        return has_conditions ? wanted : LifetimeCondition::None;
    };
    return class_builder<Soldier>(registry, "Soldier")
        .property<&Soldier::px>()
        .property<&Soldier::py>()
        .property<&Soldier::pz>()
        .property<&Soldier::qx>()
        .property<&Soldier::qy>()
        .property<&Soldier::qz>()
        .property<&Soldier::qw>()
        .property<&Soldier::ammo>()
        .condition(condition(LifetimeCondition::OwnerOnly))
        .property<&Soldier::cooldown>()
        .condition(condition(LifetimeCondition::OwnerOnly))
        .property<&Soldier::aim>()
        .condition(condition(LifetimeCondition::SkipOwner))
        .build();
}

[[nodiscard]] RotatingClass<Soldier> soldiers(bool has_conditions) {
    return {
        .declare =
            [has_conditions](TypeRegistry& registry) {
                return declare_soldier(registry, has_conditions);
            },
        .change =
            [](Soldier& soldier, std::uint32_t index, std::uint64_t turn) {
                const auto value = static_cast<float>(turn * soldier_count + index);
                for (float* member :
                     {&soldier.px, &soldier.py, &soldier.pz, &soldier.qx, &soldier.qy, &soldier.qz,
                      &soldier.qw, &soldier.cooldown, &soldier.aim}) {
                    *member = value + 1;
                }
                soldier.ammo = static_cast<std::uint16_t>(turn + 1);
            },
        .object_count = soldier_count,
        .period_ticks = 5,
        .values = values_for_all + values_for_owner + values_for_others,
    };
}

/// Each client owns as many soldiers as the next, or one more.
class SoldierWorkload final : public RotatingWorkload<Soldier> {
  public:
    explicit SoldierWorkload(bool has_conditions)
        : RotatingWorkload(soldiers(has_conditions)), has_conditions_(has_conditions) {}

    void introduce(NetDriver& driver, std::span<const NetObjectId> ids,
                   std::span<const PeerId> peers) override {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            driver.set_owner(ids[i], peers[i % peers.size()]);
        }
    }
    Changes advance(std::uint32_t connection_count) override {
        Changes changes = RotatingWorkload::advance(connection_count);
        if (has_conditions_) {
            const std::uint64_t by_others = values_for_all + values_for_others;
            changes.values_owed = changes.objects * (by_others * (connection_count - 1) +
                                                     values_for_all + values_for_owner);
        }
        return changes;
    }

  private:
    bool has_conditions_;
};

void BM_TickConditions(benchmark::State& state) {
    static KeptSessions sessions;
    run_session(
        state,
        sessions.at({state.range(0), state.range(1), state.range(2)},
                    {.connections = static_cast<std::uint32_t>(state.range(1)),
                     .sharing = sharing_of(state.range(2))},
                    [&state] { return std::make_unique<SoldierWorkload>(state.range(0) != 0); }));
}

BENCHMARK(BM_TickConditions)
    ->ArgNames({"conditions", "connections", "sharing"})
    ->ArgsProduct({{0, 1}, {16, 64}, {0, 3}})
    ->Apply(clock_by_hand);

}  // namespace

}  // namespace replayout::bench
