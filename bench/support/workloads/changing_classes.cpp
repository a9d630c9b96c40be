// SPDX-License-Identifier: MIT
#include "support/workloads/changing_classes.h"

#include <replayout/reflection/reflection.h>

#include <span>

namespace replayout::bench {

namespace {

constexpr std::uint32_t stack_count = 32;

[[nodiscard]] Result<const Type*> declare_fast_crate(TypeRegistry& registry) {
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

void change_crate(Crate& crate, std::uint32_t index, std::uint64_t turn) {
    if (crate.stacks.empty()) {
        for (std::uint32_t kind = 1; kind <= stack_count; ++kind) {
            crate.stacks.push_back({kind, 1});
        }
    }
    ++crate.stacks[(index + turn) % stack_count].count;
}

void change_fast_crate(FastCrate& crate, std::uint32_t index, std::uint64_t turn) {
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

/// The number of each stack that has another count, and the count.
template <typename Stacks>
void write_stacks(const Stacks& now, const Stacks& before, HandWriter& out) {
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (i >= before.size() || now[i].count != before[i].count) {
            out.number(static_cast<std::uint8_t>(i));
            out.number(now[i].count);
        }
    }
}

[[nodiscard]] RotatingClass<Crate> crates_of(bool has_keys) {
    return {
        .declare = [has_keys](TypeRegistry& registry) -> Result<const Type*> {
            if (const Status status = declare_stack(registry); !status) {
                return status.error();
            }
            TypeBuilder<Crate> crate = class_builder<Crate>(registry, "Crate");
            auto stacks = crate.property<&Crate::stacks>();
            if (has_keys) {
                stacks.keyed_by<&Stack::kind>();
            }
            return crate.build();
        },
        .change = change_crate,
        .write = [](const Crate& now, const Crate& before,
                    HandWriter& out) { write_stacks(now.stacks, before.stacks, out); },
        .object_count = changing_object_count,
        .period_ticks = changing_period_ticks,
    };
}

}  // namespace

Status declare_stack(TypeRegistry& registry) {
    const auto stack = struct_builder<Stack>(registry, "Stack")
                           .property<&Stack::kind>()
                           .property<&Stack::count>()
                           .build();
    return stack ? Status() : Status(stack.error());
}

RotatingClass<Turret> turrets() {
    return {
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            return class_builder<Turret>(registry, "Turret").property<&Turret::target>().build();
        },
        .change =
            [](Turret& turret, std::uint32_t index, std::uint64_t turn) {
                turret.target = ObjectHandle{(index + turn * 101) % changing_object_count + 1};
            },
        .write = [](const Turret& now, const Turret&,
                    HandWriter& out) { out.number(static_cast<std::uint16_t>(now.target.value)); },
        .object_count = changing_object_count,
        .period_ticks = changing_period_ticks,
    };
}

RotatingClass<Sign> signs(std::size_t text_bytes) {
    return {
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            return class_builder<Sign>(registry, "Sign").property<&Sign::text>().build();
        },
        .change =
            [text_bytes](Sign& sign, std::uint32_t index, std::uint64_t turn) {
                sign.text.resize(text_bytes);
                std::uint64_t number = turn * changing_object_count + index + 1;
                for (char& letter : sign.text) {
                    letter = static_cast<char>('a' + number % 26);
                    number = number / 26 + number * 3;
                }
            },
        .write =
            [](const Sign& now, const Sign&, HandWriter& out) {
                out.number(static_cast<std::uint16_t>(now.text.size()));
                out.append(std::as_bytes(std::span(now.text.data(), now.text.size())));
            },
        .object_count = changing_object_count,
        .period_ticks = changing_period_ticks,
    };
}

RotatingClass<Crate> crates() {
    return crates_of(false);
}

RotatingClass<Crate> keyed_crates() {
    return crates_of(true);
}

RotatingClass<FastCrate> fast_crates() {
    return {
        .declare = declare_fast_crate,
        .change = change_fast_crate,
        .write = [](const FastCrate& now, const FastCrate& before,
                    HandWriter& out) { write_stacks(now.stacks.items, before.stacks.items, out); },
        .object_count = changing_object_count,
        .period_ticks = changing_period_ticks,
    };
}

}  // namespace replayout::bench
