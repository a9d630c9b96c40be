// SPDX-License-Identifier: MIT
#include "savings/row_classes.h"

#include <replayout/fast_array.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <string>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t object_count = 1'000;
constexpr std::uint32_t period_ticks = 5;
constexpr std::uint32_t stack_count = 32;

struct Turret {
    ObjectHandle target;

    friend bool operator==(const Turret&, const Turret&) = default;
};

struct Sign {
    std::string text;

    friend bool operator==(const Sign&, const Sign&) = default;
};

struct Stack {
    std::uint32_t kind = 0;
    std::int32_t count = 0;

    friend bool operator==(const Stack&, const Stack&) = default;
};
struct Crate {
    std::vector<Stack> stacks;

    friend bool operator==(const Crate&, const Crate&) = default;
};

struct FastStack : FastArraySerializerItem {
    std::uint32_t kind = 0;
    std::int32_t count = 0;
};
struct FastStacks : FastArraySerializer<FastStack> {};
struct FastCrate {
    FastStacks stacks;

    friend bool operator==(const FastCrate& left, const FastCrate& right) {
        const auto& a = left.stacks.items;
        const auto& b = right.stacks.items;
        bool is_equal = a.size() == b.size();
        for (std::size_t i = 0; is_equal && i < a.size(); ++i) {
            is_equal = a[i].kind == b[i].kind && a[i].count == b[i].count;
        }
        return is_equal;
    }
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

[[nodiscard]] Result<const Type*> declare_keyed_crate(TypeRegistry& registry) {
    if (const Status status = declare_stack(registry); !status) {
        return status.error();
    }
    return class_builder<Crate>(registry, "Crate")
        .property<&Crate::stacks>()
        .keyed_by<&Stack::kind>()
        .build();
}

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

[[nodiscard]] RowClass<Crate> crates(const char* name, ClassLayout::Declare declare) {
    return {
        .name = name,
        .changes = "one of 32 elements of a fifth of 1,000 arrays",
        .declare = declare,
        .change = change_crate,
        .write = [](const Crate& now, const Crate& before,
                    HandWriter& out) { write_stacks(now.stacks, before.stacks, out); },
        .object_count = object_count,
        .period_ticks = period_ticks,
    };
}

}  // namespace

SavingsRow references() {
    return make_row<Turret>({
        .name = "references",
        .changes = "a fifth of 1,000",
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            return class_builder<Turret>(registry, "Turret").property<&Turret::target>().build();
        },
        .change =
            [](Turret& turret, std::uint32_t index, std::uint64_t turn) {
                turret.target = ObjectHandle{(index + turn * 101) % object_count + 1};
            },
        .write = [](const Turret& now, const Turret&,
                    HandWriter& out) { out.number(static_cast<std::uint16_t>(now.target.value)); },
        .object_count = object_count,
        .period_ticks = period_ticks,
    });
}

SavingsRow strings() {
    return make_row<Sign>({
        .name = "strings",
        .changes = "a fifth of 1,000, of 24 bytes",
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            return class_builder<Sign>(registry, "Sign").property<&Sign::text>().build();
        },
        .change =
            [](Sign& sign, std::uint32_t index, std::uint64_t turn) {
                sign.text.resize(24);
                std::uint64_t number = turn * object_count + index + 1;
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
        .object_count = object_count,
        .period_ticks = period_ticks,
    });
}

SavingsRow arrays() {
    return make_row<Crate>(crates("arrays", declare_crate));
}

SavingsRow keyed_arrays() {
    return make_row<Crate>(crates("keyed arrays", declare_keyed_crate));
}

SavingsRow fast_arrays() {
    return make_row<FastCrate>({
        .name = "fast arrays",
        .changes = "one of 32 elements of a fifth of 1,000 arrays",
        .declare = declare_fast_crate,
        .change = change_fast_crate,
        .write = [](const FastCrate& now, const FastCrate& before,
                    HandWriter& out) { write_stacks(now.stacks.items, before.stacks.items, out); },
        .object_count = object_count,
        .period_ticks = period_ticks,
    });
}

}  // namespace replayout::bench
