// SPDX-License-Identifier: MIT
//
// Blocks of an object of one of sixteen classes. One that is refused has changed nothing, one that
// is taken keeps to the limits; and what the object then holds is sent on, and arrives as it is.
//
//     u8 class   then of each block: u8 what else, u16 bytes, u8 bits fewer, the bytes
#include "fuzz/block_victim.h"

namespace replayout::test {
namespace {

enum Step : std::uint8_t { more_parts_follow = 1, finishes = 2, rebinds = 4 };
constexpr std::uint32_t blocks_max = 16;

/// Sent to somebody who has nothing, the object is there what it is here.
void check_sent_on(const RandomTypes& types, const FuzzVictim& victim) {
    const RepLayout& layout = types.layout(0);
    BlockSender sender(layout);
    if (!sender.update(victim.object().memory())) {
        return;
    }
    const Bytes block = sender.block(since(0));
    const auto copy = types.make_object(0);
    BlockReceiver receiver(layout);
    for (std::uint64_t guid = 1; guid <= 64; ++guid) {
        receiver.package_map.bind(NetGUID{guid}, sender.package_map.object_of(NetGUID{guid}));
    }
    if (block.empty()) {
        return;
    }
    REQUIRE(receiver.receive(copy->memory(), block));
    const bool is_all_sent = sender.counters.values_over_limit == 0 && receiver.values_failed == 0;
    REQUIRE((!is_all_sent || state_of(*copy) == state_of(victim.object())));
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    for (std::uint32_t index = 0; index < fuzz_class_count; ++index) {
        FuzzSeed seed;
        seed.number(index, 1);
        for (const Bytes& block : fuzz_blocks(fuzz_types(index, true), index)) {
            seed.number(index % 3 == 0 ? more_parts_follow : finishes, 1);
            seed.number(block.size(), 2).number(0, 1).add(block);
        }
        seeds.push_back(seed.bytes);
    }
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    FuzzInput input(data, size);
    const RandomTypes& types = fuzz_types(input.byte(), true);
    FuzzVictim victim(types, types.layout(0));
    for (std::uint32_t i = 0; i < blocks_max && !input.is_empty(); ++i) {
        const std::uint8_t step = input.byte();
        const std::size_t byte_count = input.number(2);
        const std::size_t bits_fewer = input.byte() % 8;
        const auto bytes = input.take(byte_count);
        const std::size_t bit_count = bytes.size() * 8;
        (void)victim.receive(bytes, bit_count - std::min(bits_fewer, bit_count),
                             (step & more_parts_follow) != 0);
        if ((step & finishes) != 0) {
            victim.finish();
        }
        if ((step & rebinds) != 0) {
            victim.rebind(1 + step % fuzz_guid_max);
        }
    }
    victim.finish();
    if (!victim.has_refused()) {
        check_sent_on(types, victim);
    }
    return 0;
}
