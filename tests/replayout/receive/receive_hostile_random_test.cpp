// SPDX-License-Identifier: MIT
//
// Blocks of random classes, keyed and fast arrays and custom deltas among them, that a peer
// damaged: cut at any bit, with bits flipped, spliced out of two blocks, or made of noise. They are
// read or refused; what is refused has touched nothing, and what is read keeps to the limits.
//
// A failure names its seed; see support/checks/run_seed.h for how to run it alone.
#include <replayout/receive_properties.h>

#include <cstdint>
#include <span>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/exact_bytes.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/block_victim.h"
#include "support/replication/block_sender.h"
#include "support/types/random_types.h"
#include "support/types/tree_editor.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t array_count_max = 12;

[[nodiscard]] RandomTypesSettings types_settings() {
    RandomTypesSettings settings;
    settings.class_count = 2;
    settings.property_count_max = 6;
    settings.keyed_percent = 70;
    settings.limits.array_count_max = array_count_max;
    settings.limits.string_bytes_max = 40;
    return settings;
}

/// Blocks of one object as it changes: for a client that has nothing, and from each state to the
/// next.
[[nodiscard]] std::vector<Bytes> make_blocks(const RandomTypes& types, std::uint32_t class_index,
                                             std::uint64_t seed) {
    TreeEditLimits limits;
    limits.array_count_max = array_count_max;
    limits.string_bytes_max = 40;
    limits.property_bytes_max = 600;
    SeededRandom random(seed);
    TreeEditor editor(seed + 1, limits, [&] { return Reference{random.below(5)}; });
    const auto object = types.make_object(class_index);
    BlockSender sender(types.layout(class_index));
    std::vector<Bytes> blocks;
    for (int change = 0; change < 4; ++change) {
        (void)editor.edit(*object, 12);
        const Version version = sender.state.version();
        if (sender.update(object->memory())) {
            OwedVersions position = since(version);
            position.held_version = version;
            blocks.push_back(sender.block(position));
            blocks.push_back(sender.block(since(0)));
        }
    }
    return blocks;
}

struct Damaged {
    Bytes bytes;
    std::size_t bit_count = 0;
};

[[nodiscard]] bool bit_at(const Bytes& bytes, std::size_t bit) {
    return (bytes[bit / 8] >> (bit % 8) & std::byte{1}) != std::byte{0};
}

/// The first bits of one block, then bits of the other.
[[nodiscard]] Damaged splice(const Bytes& left, const Bytes& right, SeededRandom& random) {
    const std::size_t left_bits = random.below(static_cast<std::uint32_t>(left.size() * 8));
    const std::size_t from = random.below(static_cast<std::uint32_t>(right.size() * 8));
    Damaged damaged;
    damaged.bit_count = left_bits + right.size() * 8 - from;
    damaged.bytes.resize((damaged.bit_count + 7) / 8);
    for (std::size_t bit = 0; bit < damaged.bit_count; ++bit) {
        const bool is_set =
            bit < left_bits ? bit_at(left, bit) : bit_at(right, from + bit - left_bits);
        damaged.bytes[bit / 8] |= std::byte{is_set} << (bit % 8);
    }
    return damaged;
}

[[nodiscard]] Damaged damage(const std::vector<Bytes>& blocks, SeededRandom& random) {
    const Bytes& block = random.pick(blocks);
    Damaged damaged{block, block.size() * 8};
    const auto flip = [&] {
        const std::uint32_t bit = random.below(static_cast<std::uint32_t>(damaged.bit_count));
        damaged.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    };
    switch (random.below(8)) {
        case 0:
            damaged.bit_count = random.below(static_cast<std::uint32_t>(block.size() * 8));
            break;
        case 1:
        case 2:
            return splice(block, random.pick(blocks), random);
        case 3:
            for (std::byte& byte : damaged.bytes) {
                byte = static_cast<std::byte>(random.bits() & random.bits());
            }
            break;
        case 4:
            break;  // as it is, in whatever state the victim is by now
        case 5:
            flip();
            flip();
            break;
        default:
            flip();
            break;
    }
    return damaged;
}

struct Outcome {
    std::uint64_t taken = 0;
    std::uint64_t refused = 0;
};

void attack(std::uint64_t seed, Outcome& outcome) {
    const RandomTypes types(seed, types_settings());
    for (std::uint32_t index = 0; index < types.class_count(); ++index) {
        const std::vector<Bytes> blocks = make_blocks(types, index, seed * 3 + index);
        if (blocks.empty()) {
            continue;
        }
        SeededRandom random(seed * 5 + index);
        for (int victims = 0; victims < 4; ++victims) {
            // It holds something already, so that there is something to damage.
            BlockVictim victim(types.make_object(index), types.layout(index), array_count_max);
            for (int round = 0; round < 40; ++round) {
                const Damaged damaged = damage(blocks, random);
                const ExactBytes bytes(std::span(damaged.bytes).first((damaged.bit_count + 7) / 8));
                const bool is_taken =
                    victim.receive(bytes.span(), damaged.bit_count, random.percent(30));
                (is_taken ? outcome.taken : outcome.refused) += 1;
                if (random.percent(15)) {
                    victim.finish();
                }
            }
            victim.finish();
        }
    }
}

}  // namespace

TEST_CASE("Hostile blocks: of keyed arrays and deltas they are read or refused, within limits",
          "[replayout][receive_hostile][random]") {
    constexpr std::uint64_t seed_count = 30;
    const SeedRange seeds = seed_range(run_seed() * 1'000'000, seed_count);
    Outcome outcome;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        attack(seed, outcome);
    }
    if (seeds.is_default) {
        CHECK(outcome.taken > 500);
        CHECK(outcome.refused > 2'000);
    }
}

}  // namespace replayout::test
