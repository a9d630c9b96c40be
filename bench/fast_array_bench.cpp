// SPDX-License-Identifier: MIT
//
// A server's whole tick where one element of an array changes: of 1,000 crates a fifth has another
// count in one of its 32 stacks, and everybody is told. By what is said of the array: nothing
// (`array` 0), that its elements have keys (1), or that it says itself what changed (2, a fast
// array). The floor is the class whose elements need not be looked for: a crate of one stack (3).
#include "support/session_measure.h"
#include "support/workloads/changing_classes.h"
#include "support/workloads/rotating_workload.h"

#include <replayout/reflection/type_builder.h>

#include <memory>

namespace replayout::bench {

namespace {

constexpr std::uint32_t connection_count = 64;

struct SmallCrate {
    Stack stack;
};

[[nodiscard]] RotatingClass<SmallCrate> small_crates() {
    return {
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            if (const Status status = declare_stack(registry); !status) {
                return status.error();
            }
            return class_builder<SmallCrate>(registry, "Crate")
                .property<&SmallCrate::stack>()
                .build();
        },
        .change = [](SmallCrate& crate, std::uint32_t, std::uint64_t) { ++crate.stack.count; },
        .object_count = changing_object_count,
        .period_ticks = changing_period_ticks,
    };
}

[[nodiscard]] std::unique_ptr<Workload> make_workload(std::int64_t array) {
    switch (array) {
        case 0:
            return std::make_unique<RotatingWorkload<Crate>>(crates());
        case 1:
            return std::make_unique<RotatingWorkload<Crate>>(keyed_crates());
        case 2:
            return std::make_unique<RotatingWorkload<FastCrate>>(fast_crates());
        default:
            return std::make_unique<RotatingWorkload<SmallCrate>>(small_crates());
    }
}

void BM_TickArrays(benchmark::State& state) {
    static KeptSessions sessions;
    run_session(
        state, sessions.at({state.range(0), state.range(1)},
                           {.connections = connection_count, .sharing = sharing_of(state.range(1))},
                           [&state] { return make_workload(state.range(0)); }));
}

BENCHMARK(BM_TickArrays)
    ->ArgNames({"array", "sharing"})
    ->ArgsProduct({{0, 1, 2, 3}, {0, 3}})
    ->Apply(clock_by_hand);

}  // namespace

}  // namespace replayout::bench
