// SPDX-License-Identifier: MIT
//
// A server's whole tick where one element of an array changes: of 1,000 crates a fifth has another
// count in one of its 32 stacks, and everybody is told. By what is said of the array: nothing
// (`array` 0), that its elements have keys (1), or that it says itself what changed (2, a fast
// array). The floor is the class whose elements need not be looked for: a crate of one stack (3).
#include "support/rotating_workload.h"
#include "support/session_measure.h"

#include <replayout/fast_array.h>
#include <replayout/reflection/type_builder.h>

#include <memory>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t crate_count = 1'000;
constexpr std::uint32_t stack_count = 32;
constexpr std::uint32_t connection_count = 64;

struct Stack {
    std::uint32_t kind = 0;
    std::int32_t count = 0;

    friend bool operator==(const Stack&, const Stack&) = default;
};

struct Crate {
    std::vector<Stack> stacks;
};

struct FastStack : FastArraySerializerItem {
    std::uint32_t kind = 0;
    std::int32_t count = 0;
};

struct FastStacks : FastArraySerializer<FastStack> {};

struct FastCrate {
    FastStacks stacks;
};

struct SmallCrate {
    Stack stack;
};

[[nodiscard]] Status declare_stack(TypeRegistry& registry) {
    const auto stack = struct_builder<Stack>(registry, "Stack")
                           .property<&Stack::kind>()
                           .property<&Stack::count>()
                           .build();
    return stack ? Status() : Status(stack.error());
}

[[nodiscard]] Result<const Type*> declare_crate(TypeRegistry& registry) {
    if (const Status status = declare_stack(registry); !status) {
        return status.error();
    }
    return class_builder<Crate>(registry, "Crate").property<&Crate::stacks>().build();
}

[[nodiscard]] Result<const Type*> declare_keyed(TypeRegistry& registry) {
    if (const Status status = declare_stack(registry); !status) {
        return status.error();
    }
    return class_builder<Crate>(registry, "Crate")
        .property<&Crate::stacks>()
        .template keyed_by<&Stack::kind>()
        .build();
}

[[nodiscard]] Result<const Type*> declare_small(TypeRegistry& registry) {
    if (const Status status = declare_stack(registry); !status) {
        return status.error();
    }
    return class_builder<SmallCrate>(registry, "Crate").property<&SmallCrate::stack>().build();
}

[[nodiscard]] Result<const Type*> declare_fast(TypeRegistry& registry) {
    const auto stack = struct_builder<FastStack>(registry, "Stack")
                           .property<&FastStack::kind>()
                           .property<&FastStack::count>()
                           .build();
    if (!stack) {
        return stack.error();
    }
    if (const auto stacks = register_fast_array<FastStacks>(registry, "Stacks"); !stacks) {
        return stacks.error();
    }
    return class_builder<FastCrate>(registry, "Crate").property<&FastCrate::stacks>().build();
}

void change_one(Crate& crate, std::uint32_t index, std::uint64_t turn) {
    std::vector<Stack>& stacks = crate.stacks;
    if (stacks.empty()) {
        for (std::uint32_t kind = 1; kind <= stack_count; ++kind) {
            stacks.push_back({kind, 1});
        }
    }
    ++stacks[(index + turn) % stack_count].count;
}

void change_one(SmallCrate& crate, std::uint32_t, std::uint64_t) {
    ++crate.stack.count;
}

void change_one(FastCrate& crate, std::uint32_t index, std::uint64_t turn) {
    FastStacks& stacks = crate.stacks;
    if (stacks.items.empty()) {
        for (std::uint32_t kind = 1; kind <= stack_count; ++kind) {
            FastStack& stack = stacks.items.emplace_back();
            stack.kind = kind;
            stacks.mark_item_dirty(stack);
        }
    }
    FastStack& stack = stacks.items[(index + turn) % stack_count];
    ++stack.count;
    stacks.mark_item_dirty(stack);
}

template <typename AnyCrate>
class CrateWorkload final : public RotatingWorkload<AnyCrate> {
  public:
    explicit CrateWorkload(ClassLayout::Declare declare)
        : RotatingWorkload<AnyCrate>(declare, crate_count, 1) {}

  private:
    void change(AnyCrate& crate, std::uint32_t index, std::uint64_t turn) override {
        change_one(crate, index, turn);
    }
};

[[nodiscard]] std::unique_ptr<Workload> make_workload(std::int64_t array) {
    switch (array) {
        case 0:
            return std::make_unique<CrateWorkload<Crate>>(declare_crate);
        case 1:
            return std::make_unique<CrateWorkload<Crate>>(declare_keyed);
        case 2:
            return std::make_unique<CrateWorkload<FastCrate>>(declare_fast);
        default:
            return std::make_unique<CrateWorkload<SmallCrate>>(declare_small);
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
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace

}  // namespace replayout::bench
