// SPDX-License-Identifier: MIT
//
// Blocks that a peer damaged, by accident or not: truncated at every bit, flipped at every bit,
// made of noise. No crash and no read past the end; and what is refused has touched nothing.
#include <replayout/receive_properties.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/random_editor.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

/// A client that holds something already, so that there is something to damage.
template <typename T>
class Victim {
  public:
    Victim(const RepLayout& layout, const T& object, const Bytes& block)
        : layout_(layout), object_(object), receiver_(layout) {
        REQUIRE(receiver_.receive(&object_, block));
    }

    /// Whether `bit_count` bits are taken for a block. Checks that a refusal leaves no trace.
    bool receive(std::span<const std::byte> bytes, std::size_t bit_count) {
        // The object's own bytes show every change of a size or an address, the difference all
        // else.
        const T before = object_;
        std::byte image[sizeof(T)];
        std::memcpy(image, static_cast<const void*>(&object_), sizeof(T));
        const std::size_t reference_count = receiver_.state.references().size();
        receiver_.named.clear();
        receiver_.dropped.clear();

        DecodeBudget budget;
        BitReader reader(bytes, 0, bit_count, &budget);
        ReceiveContext context = receiver_.context();
        if (receive_properties(layout_, reader, &object_, receiver_.state, context)) {
            return true;
        }
        REQUIRE(reader.failed());
        REQUIRE(std::memcmp(image, static_cast<const void*>(&object_), sizeof(T)) == 0);
        REQUIRE(find_difference(layout_.type(), &before, &object_).empty());
        REQUIRE(receiver_.state.references().size() == reference_count);
        REQUIRE(receiver_.named.empty());
        REQUIRE(receiver_.dropped.empty());
        return false;
    }

  private:
    const RepLayout& layout_;
    T object_;
    BlockReceiver receiver_;
};

/// Small objects, so that every bit can be tried.
template <typename T>
T make_random(const RepLayout& layout, std::mt19937_64& random, int edits) {
    T object;
    RandomEditor editor(random, 5);
    for (int edit = 0; edit < edits; ++edit) {
        editor.edit(layout.type(), &object);
    }
    return object;
}

template <typename T>
Bytes whole_block(const RepLayout& layout, const T& object) {
    BlockSender sender(layout);
    return sender.update(&object) ? sender.block(since(0)) : Bytes();
}

/// Bytes on the heap of exactly that many, so that a read past the end is found out.
std::unique_ptr<std::byte[]> exact_copy(const Bytes& bytes, std::size_t byte_count) {
    auto copy = std::make_unique<std::byte[]>(byte_count);
    std::copy_n(bytes.begin(), byte_count, copy.get());
    return copy;
}

template <typename T>
void check_truncated(BuildType build, std::uint64_t seed) {
    const TestLayout layout(build);
    std::mt19937_64 random(seed);
    const T held = make_random<T>(*layout, random, 10);
    const T sent = make_random<T>(*layout, random, 20);
    const Bytes block = whole_block(*layout, sent);
    Victim<T> victim(*layout, held, whole_block(*layout, held));
    for (std::size_t bits = 0; bits < block.size() * 8; ++bits) {
        const std::size_t byte_count = (bits + 7) / 8;
        const auto copy = exact_copy(block, byte_count);
        REQUIRE_FALSE(victim.receive({copy.get(), byte_count}, bits));
    }
    CHECK(victim.receive(block, block.size() * 8));
}

template <typename T>
void check_flipped(BuildType build, std::uint64_t seed) {
    const TestLayout layout(build);
    std::mt19937_64 random(seed);
    const T held = make_random<T>(*layout, random, 10);
    const Bytes held_block = whole_block(*layout, held);
    const T sent = make_random<T>(*layout, random, 12);
    Bytes block = whole_block(*layout, sent);
    std::size_t refused_count = 0;
    Victim<T> victim(*layout, held, held_block);
    for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
        flip_bit(block, bit);
        refused_count += victim.receive(block, block.size() * 8) ? 0u : 1u;
        flip_bit(block, bit);
    }
    // A flip can make another valid block; not all of them do.
    CHECK(refused_count > 0);
}

TEST_CASE("Hostile blocks: truncated at any bit they are refused and touch nothing",
          "[replayout][receive_hostile]") {
    for (std::uint64_t seed = run_seed(); seed < run_seed() + 3; ++seed) {
        CAPTURE(seed);
        check_truncated<Soldier>(build_soldier, seed);
        check_truncated<Ledger>(build_ledger, seed);
        check_truncated<Depot>(build_depot, seed);
        check_truncated<Beacon>(build_beacon, seed);
    }
}

TEST_CASE("Hostile blocks: with any bit flipped they are read or refused, and nothing in between",
          "[replayout][receive_hostile]") {
    for (std::uint64_t seed = run_seed(); seed < run_seed() + 3; ++seed) {
        CAPTURE(seed);
        check_flipped<Soldier>(build_soldier, seed);
        check_flipped<Ledger>(build_ledger, seed);
        check_flipped<Depot>(build_depot, seed);
    }
}

TEST_CASE("Hostile blocks: noise is read or refused", "[replayout][receive_hostile]") {
    const TestLayout layout(build_ledger);
    std::mt19937_64 random(run_seed());
    const auto held = make_random<Ledger>(*layout, random, 10);
    Victim<Ledger> victim(*layout, held, whole_block(*layout, held));
    for (int round = 0; round < 5'000; ++round) {
        Bytes noise(1 + random() % 64);
        for (std::byte& byte : noise) {
            // Many zeros: a packed integer ends, a set of handles is dense.
            byte = static_cast<std::byte>(random() & random());
        }
        (void)victim.receive(noise, noise.size() * 8);
    }
}

TEST_CASE("Hostile blocks: a huge count is refused before any memory is taken",
          "[replayout][receive_hostile]") {
    const TestLayout layout(build_ledger);
    for (const std::uint64_t count :
         {std::uint64_t{2'049}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
        Bytes memory(64);
        BitWriter writer(memory);
        ChangeMask handles;
        handles.reset(layout->handle_count());
        handles.set(0);
        write_change_mask(writer, handles, EmptySet::Impossible);
        writer.write_packed_uint(count);
        Ledger client;
        BlockReceiver receiver(*layout);
        CHECK_FALSE(receiver.receive(&client, memory));
        CHECK(client.bytes.empty());
    }
}

TEST_CASE("Hostile blocks: arrays in arrays cannot ask for more than the budget",
          "[replayout][receive_hostile]") {
    const TestLayout layout(build_ledger);
    // 2,048 elements, each an array of 2,048 arrays: forty bytes that would ask for a hundred
    // megabytes.
    Bytes memory(1'200);
    BitWriter writer(memory);
    ChangeMask handles;
    handles.reset(layout->handle_count());
    handles.set(3);
    write_change_mask(writer, handles, EmptySet::Impossible);
    writer.write_packed_uint(2'048);
    writer.write_bool(true);        // runs
    writer.write_exp_golomb(1, 0);  // one, because the set may be empty
    writer.write_exp_golomb(0, 7);  // from the first
    writer.write_exp_golomb(2'047, 0);
    while (writer.bits_left() > 64) {
        writer.write_packed_uint(2'048);
        writer.write_bool(true);
        writer.write_exp_golomb(0, 0);  // no element of it
    }
    Ledger client;
    BlockReceiver receiver(*layout);
    CHECK_FALSE(receiver.receive(&client, memory));
    CHECK(client.cubes.empty());
}

}  // namespace
}  // namespace replayout
