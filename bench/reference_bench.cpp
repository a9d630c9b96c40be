// SPDX-License-Identifier: MIT
//
// A server's whole tick where references change: of 1,000 turrets a fifth aims at another one, and
// everybody is told. A reference travels as a network id, which is the same for all. The floor is
// the same class with the number of the target instead.
#include "support/rotating_workload.h"
#include "support/session_measure.h"

#include <replayout/reflection/type_builder.h>

#include <memory>

namespace replayout::bench {

namespace {

constexpr std::uint32_t turret_count = 1'000;
constexpr std::uint32_t connection_count = 64;

struct Turret {
    ObjectHandle target;
};

struct NumberedTurret {
    std::uint32_t target = 0;
};

[[nodiscard]] Result<const Type*> declare_turret(TypeRegistry& registry) {
    return class_builder<Turret>(registry, "Turret").property<&Turret::target>().build();
}

[[nodiscard]] Result<const Type*> declare_numbered(TypeRegistry& registry) {
    return class_builder<NumberedTurret>(registry, "Turret")
        .property<&NumberedTurret::target>()
        .build();
}

/// Never that of the two turns before: a value that comes back is not sent to who still holds it.
/// All are numbers of the same length on the wire: a shared buffer whose values change their size
/// reaches its own only after thousands of ticks.
[[nodiscard]] std::uint32_t target_of(std::uint32_t index, std::uint64_t turn) noexcept {
    return static_cast<std::uint32_t>((index + turn * 101) % (turret_count - 200)) + 201;
}

class TurretWorkload final : public RotatingWorkload<Turret> {
  public:
    TurretWorkload() : RotatingWorkload(declare_turret, turret_count, 1) {}

  private:
    void change(Turret& turret, std::uint32_t index, std::uint64_t turn) override {
        turret.target = ObjectHandle{target_of(index, turn)};
    }
};

class NumberedWorkload final : public RotatingWorkload<NumberedTurret> {
  public:
    NumberedWorkload() : RotatingWorkload(declare_numbered, turret_count, 1) {}

  private:
    void change(NumberedTurret& turret, std::uint32_t index, std::uint64_t turn) override {
        turret.target = target_of(index, turn);
    }
};

/// `block_bytes`: what every block must have, which is a mask and a value. A reference that names
/// nobody, or one that a receiver does not know, is a byte.
template <typename TurretsWorkload>
void run_turrets(benchmark::State& state, std::uint64_t block_bytes) {
    static KeptSessions sessions;
    ServerSession& session = sessions.at(
        {state.range(0)}, {.connections = connection_count, .sharing = sharing_of(state.range(0))},
        [] { return std::make_unique<TurretsWorkload>(); });
    const NetStats before = session.stats();
    run_session(state, session);
    const NetStats& after = session.stats();
    if (after.replication.block_bytes_sent - before.replication.block_bytes_sent !=
        block_bytes * (after.records_sent - before.records_sent)) {
        state.SkipWithError("every block must name its target");
    }
}

void BM_TickReferences(benchmark::State& state) {
    run_turrets<TurretWorkload>(state, 1 + 2);  // ids of 128 to 16,383 take two bytes
}

void BM_TickNumbers(benchmark::State& state) {
    run_turrets<NumberedWorkload>(state, 1 + 4);
}

void add_axes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("sharing")->Arg(0)->Arg(3)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK(BM_TickReferences)->Apply(add_axes);
BENCHMARK(BM_TickNumbers)->Apply(add_axes);

}  // namespace

}  // namespace replayout::bench
