// SPDX-License-Identifier: MIT
//
// Descriptions of layouts by a peer, and blocks that are read with what came of them. A description
// is refused with one of two errors, or makes a layout of bounded memory, with which a block
// changes all or nothing. With our own description a block is read as without.
//
//     u8 class, and 0x80: one that is not known here   u16 bytes   description   a block
#include <replayout/layout_description.h>
#include <replayout/layout_difference.h>

#include "fuzz/block_victim.h"

namespace replayout::test {
namespace {

/// What the longest takes, and what a leaf, of at least four bytes, grows to.
constexpr std::int64_t memory_bytes_max = 256 * 1'024;
constexpr std::int64_t memory_bytes_per_byte = 1'024;

void check_same_as_without(const RandomTypes& types, FuzzVictim& victim,
                           std::span<const std::byte> block, bool is_taken) {
    FuzzVictim native(types, types.layout(0));
    REQUIRE(native.receive(block, block.size() * 8, false) == is_taken);
    REQUIRE(read_members(native.object()) == read_members(victim.object()));
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    for (std::uint32_t index = 0; index < fuzz_class_count; ++index) {
        const RandomTypes& types = fuzz_types(index, true);
        const auto own = describe_layout(types.layout(0), std::pmr::get_default_resource());
        const std::vector<Bytes> blocks = fuzz_blocks(types, index);
        FuzzSeed seed;
        seed.number(index | (index % 4 == 3 ? 0x80u : 0u), 1).number(own.size(), 2);
        seed.add({own.data(), own.size()});
        if (!blocks.empty()) {
            seed.add(blocks.front());
        }
        seeds.push_back(seed.bytes);
        const auto explanation = explain_layout(types.layout(0), std::pmr::get_default_resource());
        FuzzSeed of_explanation;
        of_explanation.number(index, 1).number(explanation.size(), 2);
        of_explanation.add({explanation.data(), explanation.size()});
        seeds.push_back(of_explanation.bytes);
    }
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout;
    using namespace replayout::test;
    FuzzInput input(data, size);
    const std::uint8_t choice = input.byte();
    const bool is_known = (choice & 0x80) == 0;
    const RandomTypes& types = fuzz_types(choice & 0x7F, true);
    const RepLayout& local = types.layout(0);
    const auto description = input.take(input.number(2));
    const auto block = input.rest();
    (void)described_name(description);
    if (const auto difference = find_layout_difference(local, description)) {
        REQUIRE(to_sentence(*difference).size() < 4'096);
    }
    (void)find_described_difference(local, description);
    CountingResource memory;
    const auto layout =
        RepLayout::create_compatible(types.registry(), is_known ? &local : nullptr, description,
                                     LayoutPolicy::SkipUnknown, &memory);
    REQUIRE(memory.bytes_in_use_max() <=
            memory_bytes_max +
                memory_bytes_per_byte * static_cast<std::int64_t>(description.size()));
    if (!layout) {
        REQUIRE((layout.error().code == ErrorCode::MalformedDescription ||
                 layout.error().code == ErrorCode::IncompatibleLayout));
        return 0;
    }
    REQUIRE((*layout)->is_receive_only());
    if (!is_known) {
        BlockReceiver receiver(**layout);
        DecodeBudget budget;
        BitReader reader(block, &budget);
        ReceiveContext context = receiver.context();
        REQUIRE(skip_properties(**layout, reader, context) != reader.failed());
        return 0;
    }
    FuzzVictim victim(types, **layout);
    const bool is_taken = victim.receive(block, block.size() * 8, false);
    const auto own = describe_layout(local, std::pmr::get_default_resource());
    if (std::equal(own.begin(), own.end(), description.begin(), description.end())) {
        check_same_as_without(types, victim, block, is_taken);
    }
    return 0;
}
