// SPDX-License-Identifier: MIT
//
// Classes that several benchmarks measure, by what a game is made of: a thousand objects, of which
// a fifth changes in each tick.
#pragma once

#include "support/workloads/rotating_class.h"

#include <replayout/fast_array.h>
#include <replayout/reflection/value_ops.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace replayout::bench {

inline constexpr std::uint32_t changing_object_count = 1'000;
inline constexpr std::uint32_t changing_period_ticks = 5;

struct Turret {
    ObjectHandle target;

    friend bool operator==(const Turret&, const Turret&) = default;
};
/// Of which the reference changes.
[[nodiscard]] RotatingClass<Turret> turrets();

struct Sign {
    std::string text;

    friend bool operator==(const Sign&, const Sign&) = default;
};
/// Of texts of so many bytes.
[[nodiscard]] RotatingClass<Sign> signs(std::size_t text_bytes);

struct Stack {
    std::uint32_t kind = 0;
    std::int32_t count = 0;

    friend bool operator==(const Stack&, const Stack&) = default;
};
struct Crate {
    std::vector<Stack> stacks;

    friend bool operator==(const Crate&, const Crate&) = default;
};
/// The struct, for classes that have it.
[[nodiscard]] Status declare_stack(TypeRegistry& registry);
/// One of the 32 stacks gets another count. The array is declared without more, or with a key for
/// its elements.
[[nodiscard]] RotatingClass<Crate> crates();
[[nodiscard]] RotatingClass<Crate> keyed_crates();

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
/// Whose array says itself what changed.
[[nodiscard]] RotatingClass<FastCrate> fast_crates();

}  // namespace replayout::bench
