// SPDX-License-Identifier: MIT
//
// A server's whole tick where references change: of 1,000 turrets a fifth aims at another one, and
// everybody is told. A reference travels as a network id, which is the same for all. The floor is
// the same class with the number of the target instead.
#include "support/session_measure.h"
#include "support/workloads/changing_classes.h"
#include "support/workloads/rotating_workload.h"

#include <replayout/reflection/type_builder.h>

#include <memory>

namespace replayout::bench {

namespace {

constexpr std::uint32_t connection_count = 64;

/// Never that of the two turns before: a value that comes back is not sent to who still holds it.
/// All are numbers of the same length on the wire: a shared buffer whose values change their size
/// reaches its own only after thousands of ticks.
[[nodiscard]] std::uint32_t target_of(std::uint32_t index, std::uint64_t turn) noexcept {
    return static_cast<std::uint32_t>((index + turn * 101) % (changing_object_count - 200)) + 201;
}

[[nodiscard]] RotatingClass<Turret> aiming_turrets() {
    RotatingClass<Turret> rotating = turrets();
    rotating.change = [](Turret& turret, std::uint32_t index, std::uint64_t turn) {
        turret.target = ObjectHandle{target_of(index, turn)};
    };
    return rotating;
}

struct NumberedTurret {
    std::uint32_t target = 0;
};

[[nodiscard]] RotatingClass<NumberedTurret> numbered_turrets() {
    return {
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            return class_builder<NumberedTurret>(registry, "Turret")
                .property<&NumberedTurret::target>()
                .build();
        },
        .change = [](NumberedTurret& turret, std::uint32_t index,
                     std::uint64_t turn) { turret.target = target_of(index, turn); },
        .object_count = changing_object_count,
        .period_ticks = changing_period_ticks,
    };
}

/// `block_bytes`: what every block must have, which is a mask and a value. A reference that names
/// nobody, or one that a receiver does not know, is a byte.
template <typename Object>
void run_turrets(benchmark::State& state, const RotatingClass<Object>& rotating,
                 std::uint64_t block_bytes) {
    static KeptSessions sessions;
    ServerSession& session = sessions.at(
        {state.range(0)}, {.connections = connection_count, .sharing = sharing_of(state.range(0))},
        [&] { return std::make_unique<RotatingWorkload<Object>>(rotating); });
    const NetStats before = session.stats();
    run_session(state, session);
    const NetStats& after = session.stats();
    if (after.replication.block_bytes_sent - before.replication.block_bytes_sent !=
        block_bytes * (after.records_sent - before.records_sent)) {
        state.SkipWithError("every block must name its target");
    }
}

void BM_TickReferences(benchmark::State& state) {
    run_turrets(state, aiming_turrets(), 1 + 2);  // ids of 128 to 16,383 take two bytes
}

void BM_TickNumbers(benchmark::State& state) {
    run_turrets(state, numbered_turrets(), 1 + 4);
}

void add_axes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("sharing")->Arg(0)->Arg(3)->Apply(clock_by_hand);
}

BENCHMARK(BM_TickReferences)->Apply(add_axes);
BENCHMARK(BM_TickNumbers)->Apply(add_axes);

}  // namespace

}  // namespace replayout::bench
