// SPDX-License-Identifier: MIT
//
// Structs that are only right as a whole: what they hold must always add up. Each change touches
// some of the members, so that a receiver who misses one of two changes sees a sum that is wrong.
#pragma once

#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/seeded_random.h"

namespace replayout::test {

/// Three parts and their sum; and a text whose length is the first part, modulo its greatest.
struct Balance {
    std::int32_t parts[3] = {0, 0, 0};
    std::int32_t sum = 0;
    std::vector<std::int32_t> history;  ///< adds up to parts[0]
    std::string text;

    static constexpr std::size_t text_bytes_max = 2'500;

    /// Moves something between two of the parts, or into one; sometimes writes a long text.
    void change(SeededRandom& random, bool has_long_texts) {
        const std::int32_t amount = static_cast<std::int32_t>(random.between(1, 1000));
        const std::uint32_t part = random.below(3);
        parts[part] += amount;
        sum += amount;
        if (part == 0) {
            grow_history(random, amount);
        }
        const std::size_t size = has_long_texts ? text_bytes_max : 20;
        text.assign(static_cast<std::size_t>(parts[0]) % size, 'x');
        text_size_max = static_cast<std::int32_t>(size);
    }

    [[nodiscard]] bool adds_up() const {
        std::int32_t past = 0;
        for (const std::int32_t entry : history) {
            past += entry;
        }
        return parts[0] + parts[1] + parts[2] == sum && past == parts[0] &&
               static_cast<std::int32_t>(text.size()) == parts[0] % text_size_max;
    }

    std::int32_t text_size_max = 20;

  private:
    void grow_history(SeededRandom& random, std::int32_t amount) {
        if (history.size() > 6) {
            const std::int32_t dropped = history.back();
            history.pop_back();
            history.back() += dropped;
        }
        if (history.empty() || random.percent(40)) {
            history.push_back(amount);
        } else {
            history[random.below(static_cast<std::uint32_t>(history.size()))] += amount;
        }
    }
};

/// Atomic structs, alone, in a C array and in a dynamic array, beside members that are not.
struct Bank {
    std::uint32_t day = 0;
    Balance cash;
    Balance vaults[2];
    std::vector<Balance> accounts;
    std::int32_t loose = 0;
};

[[nodiscard]] Result<const Type*> build_bank(TypeRegistry& registry);

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Balance> : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test {

inline Result<const Type*> build_bank(TypeRegistry& registry) {
    const Result<const Type*> balance = struct_builder<Balance>(registry, "Balance")
                                            .property<&Balance::parts>()
                                            .property<&Balance::sum>()
                                            .property<&Balance::history>()
                                            .property<&Balance::text>()
                                            .property<&Balance::text_size_max>()
                                            .build();
    if (!balance) {
        return balance;
    }
    return class_builder<Bank>(registry, "Bank")
        .property<&Bank::day>()
        .property<&Bank::cash>()
        .property<&Bank::vaults>()
        .property<&Bank::accounts>()
        .property<&Bank::loose>()
        .build();
}

}  // namespace replayout::test
