// SPDX-License-Identifier: MIT
//
// The bytes of UNet: a script with three SyncVars as OnSerialize writes it, first whole, then for
// each mask of what changed.
#include <replayout/unet/unet_section.h>
#include <replayout/unet/unet_woven.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

using namespace replayout;

namespace {

struct Data {
    std::int32_t int1 = 66;
    std::int32_t int2 = 23487;
    std::string my_string = "Example string";

    /// The variable of that bit.
    void write(NetworkWriter& writer, std::uint32_t bit) const {
        switch (bit) {
            case 0:
                return write_woven(writer, int1);
            case 1:
                return write_woven(writer, int2);
            default:
                return write_woven(writer, my_string);
        }
    }
};

/// One class with three variables, on bits 0 to 2.
constexpr std::array classes = count_unet_bits<1>({3});

void print(const NetworkWriter& writer) {
    for (const std::byte byte : writer.bytes()) {
        std::printf(" %02X", std::to_integer<unsigned>(byte));
    }
    std::puts("");
}

}  // namespace

int main() {
    const Data data;
    std::array<std::byte, 64> memory{};

    NetworkWriter initial(memory);
    write_unet_initial(classes, [&](std::uint32_t bit) { data.write(initial, bit); });
    std::printf("forceAll:");
    print(initial);

    for (std::uint32_t mask = 0; mask < 8; ++mask) {
        NetworkWriter delta(memory);
        write_unet_delta(delta, classes, mask, UNetMaskForm::Seed,
                         [&](std::uint32_t bit) { data.write(delta, bit); });
        std::printf("mask %u:", mask);
        print(delta);
    }
    return 0;
}
