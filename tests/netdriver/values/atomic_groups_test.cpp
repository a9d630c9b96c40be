// SPDX-License-Identifier: MIT
//
// Atomic structs over a network that loses: at no moment does a client see a part of a change.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/atomic_types.h"
#include "support/worlds/class_game.h"

namespace replayout::test::atomic_groups_test {
namespace {

void change(Bank& bank, SeededRandom& random, bool has_long_texts) {
    ++bank.day;
    if (random.percent(60)) {
        bank.cash.change(random, has_long_texts);
    }
    for (Balance& vault : bank.vaults) {
        if (random.percent(40)) {
            vault.change(random, has_long_texts);
        }
    }
    if (random.percent(10) && bank.accounts.size() < 5) {
        bank.accounts.emplace_back();
    } else if (random.percent(5) && !bank.accounts.empty()) {
        bank.accounts.pop_back();
    }
    for (Balance& account : bank.accounts) {
        if (random.percent(30)) {
            account.change(random, false);
        }
    }
    bank.loose = static_cast<std::int32_t>(random.below(1000));
}

/// How many of a client's structs do not add up.
[[nodiscard]] std::uint32_t count_torn(const Bank& bank) {
    std::uint32_t count = bank.cash.adds_up() ? 0u : 1u;
    for (const Balance& vault : bank.vaults) {
        count += vault.adds_up() ? 0u : 1u;
    }
    for (const Balance& account : bank.accounts) {
        count += account.adds_up() ? 0u : 1u;
    }
    return count;
}

[[nodiscard]] bool equal(const Balance& left, const Balance& right) {
    return left.sum == right.sum && left.history == right.history && left.text == right.text;
}

struct Outcome {
    std::uint32_t torn = 0;
    std::uint32_t looks = 0;
};

[[nodiscard]] Outcome play(std::uint64_t seed, bool is_sharing, bool has_long_texts,
                           BuildType build) {
    ClassGameOptions options;
    options.seed = seed;
    options.sharing = sharing_level(is_sharing);
    options.link.loss = 0.25;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.1;
    options.link.latency_ms = 70;
    options.link.jitter_ms = 30;
    options.layout.limits.string_bytes_max = 4'096;
    ClassGame<Bank> game(build, options);
    SeededRandom random(seed);
    game.join();
    game.join();
    const ObjectHandle bank = game.add();
    Outcome outcome;
    for (std::uint32_t tick = 0; tick < 400; ++tick) {
        if (random.percent(70)) {
            change(game.object(bank), random, has_long_texts);
        }
        game.tick();
        for (std::size_t client = 0; client < game.client_count(); ++client) {
            if (const Bank* seen = game.find_on(client, bank)) {
                outcome.torn += count_torn(*seen);
                ++outcome.looks;
            }
        }
    }
    game.network().set_settings(LinkSettings());
    REQUIRE(game.settle());
    for (std::size_t client = 0; client < game.client_count(); ++client) {
        const Bank& seen = game.object_on(client, bank);
        CHECK(seen.day == game.object(bank).day);
        CHECK(equal(seen.cash, game.object(bank).cash));
        CHECK(equal(seen.vaults[1], game.object(bank).vaults[1]));
        CHECK(seen.accounts.size() == game.object(bank).accounts.size());
    }
    return outcome;
}

/// The same class, whose structs are not atomic.
[[nodiscard]] Result<const Type*> build_torn_bank(TypeRegistry& registry) {
    REQUIRE(
        DynamicTypeBuilder(registry, TypeKind::Struct, "Balance", sizeof(Balance), alignof(Balance))
            .property("parts", PropertyKind::Int32, offsetof(Balance, parts), 3)
            .property("sum", PropertyKind::Int32, offsetof(Balance, sum))
            .property(array_property<std::vector<std::int32_t>>(
                "history", plain_property("", PropertyKind::Int32), offsetof(Balance, history)))
            .property(string_property<std::string>("text", offsetof(Balance, text)))
            .property("text_size_max", PropertyKind::Int32, offsetof(Balance, text_size_max))
            .ops(make_type_ops<Balance>())
            .key(type_key_of<Balance>())
            .build());
    return class_builder<Bank>(registry, "Bank")
        .property<&Bank::day>()
        .property<&Bank::cash>()
        .property<&Bank::vaults>()
        .property<&Bank::accounts>()
        .property<&Bank::loose>()
        .build();
}

/// Two numbers and their sum.
struct Entry {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    std::uint32_t sum = 0;

    [[nodiscard]] bool adds_up() const { return left + right == sum; }
};

struct Page {
    std::string text;
    Entry entry;
};

/// Larger than a packet, so that it is sent in parts.
struct Ledger {
    std::array<Page, 12> pages;

    void change(SeededRandom& random) {
        for (Page& page : pages) {
            if (random.percent(60)) {
                page.text.assign(random.between(1, 400), static_cast<char>('a' + random.below(26)));
            }
            if (random.percent(50)) {
                const std::uint32_t amount = random.between(1, 9);
                (random.percent(50) ? page.entry.left : page.entry.right) += amount;
                page.entry.sum += amount;
            }
        }
    }
};

}  // namespace
}  // namespace replayout::test::atomic_groups_test

template <>
struct replayout::StructTraitsOf<replayout::test::atomic_groups_test::Entry>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test::atomic_groups_test {
namespace {

[[nodiscard]] Result<const Type*> build_ledger(TypeRegistry& registry) {
    REQUIRE(struct_builder<Entry>(registry, "Entry")
                .property<&Entry::left>()
                .property<&Entry::right>()
                .property<&Entry::sum>()
                .build());
    REQUIRE(struct_builder<Page>(registry, "Page")
                .property<&Page::text>()
                .property<&Page::entry>()
                .build());
    return class_builder<Ledger>(registry, "Ledger").property<&Ledger::pages>().build();
}

}  // namespace

TEST_CASE("Atomic groups: no client ever sees a part of a change, whatever is lost",
          "[netdriver][atomic]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    for (std::uint64_t round = 0; round < 3; ++round) {
        const Outcome outcome = play(seed + round, round % 2 == 0, false, build_bank);
        CHECK(outcome.looks > 500);
        CHECK(outcome.torn == 0);
    }
}

TEST_CASE("Atomic groups: nor where they need packets of their own, or several",
          "[netdriver][atomic]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    for (std::uint64_t round = 0; round < 3; ++round) {
        const Outcome outcome = play(seed + round, round % 2 == 0, true, build_bank);
        CHECK(outcome.looks > 500);
        CHECK(outcome.torn == 0);
    }
}

TEST_CASE(
    "Atomic groups: nor under a cap, where one flush ends and the next goes on between groups",
    "[netdriver][atomic]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    constexpr std::array<std::uint32_t, 4> caps = {20'000, 60'000, 100'000, 150'000};
    for (std::uint64_t round = 0; round < 8; ++round) {
        INFO("round " << round);
        ClassGameOptions options;
        options.seed = seed + round;
        options.link.loss = round % 2 == 0 ? 0 : 0.1;
        options.link.latency_ms = 30;
        options.config.bytes_per_second_max = caps[round / 2];
        ClassGame<Ledger> game(build_ledger, options);
        SeededRandom random(seed + round);
        game.join();
        const ObjectHandle ledger = game.add();
        std::uint32_t torn = 0;
        std::uint32_t looks = 0;
        for (std::uint32_t tick = 0; tick < 1'000; ++tick) {
            game.object(ledger).change(random);
            game.tick();
            if (const Ledger* seen = game.find_on(0, ledger)) {
                const auto adds_up = [](const Page& page) { return page.entry.adds_up(); };
                torn += std::all_of(seen->pages.begin(), seen->pages.end(), adds_up) ? 0u : 1u;
                ++looks;
            }
        }
        CHECK(looks > 900);
        CHECK(torn == 0);
    }
}

TEST_CASE("Atomic groups: without the trait clients do see parts of changes",
          "[netdriver][atomic]") {
    CHECK(play(1, true, false, build_torn_bank).torn > 0);
}

}  // namespace replayout::test::atomic_groups_test
