// SPDX-License-Identifier: MIT
//
// Random values of all types travel and come back; whatever else is read, nothing behind the end
// is.
#include <replayout/unet/unet_packet.h>
#include <replayout/unet/unet_section.h>
#include <replayout/unet/unet_woven.h>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include "support/checks/exact_bytes.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/unet_script.h"

namespace replayout::test {

namespace {

/// A behaviour of four classes with a variable of each form.
struct Everything {
    bool is_on = false;
    std::int8_t small = 0;
    std::uint16_t medium = 0;
    std::int32_t number = 0;
    std::int64_t large = 0;
    float real = 0;
    double precise = 0;
    std::string text;
    Vector3 place{};
    Quat turn{};
    Color32 colour{};
    Ray ray{};
    Decimal money{};
    NetworkInstanceId target{};

    friend bool operator==(const Everything&, const Everything&) = default;
};

constexpr std::uint32_t variable_count = 14;
constexpr std::array everything_classes = count_unet_bits<4>({5, 0, 4, 5});

/// Calls `visit` with the variable of that bit.
template <typename Object, typename Visit>
void visit_variable(Object& object, std::uint32_t bit, Visit&& visit) {
    switch (bit) {
        case 0:
            return visit(object.is_on);
        case 1:
            return visit(object.small);
        case 2:
            return visit(object.medium);
        case 3:
            return visit(object.number);
        case 4:
            return visit(object.large);
        case 5:
            return visit(object.real);
        case 6:
            return visit(object.precise);
        case 7:
            return visit(object.text);
        case 8:
            return visit(object.place);
        case 9:
            return visit(object.turn);
        case 10:
            return visit(object.colour);
        case 11:
            return visit(object.ray);
        case 12:
            return visit(object.money);
        case 13:
            return visit(object.target);
        default:
            FAIL("there is no variable " << bit);
    }
}

/// Any bits that are no NaN, so that values compare.
float random_float(SeededRandom& random) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    return value == value ? value : -0.5f;
}

std::string random_text(SeededRandom& random) {
    constexpr std::string_view letters[] = {"a", "Z", "\xC3\xA9", "\xE6\xBC\xA2",
                                            "\xF0\x9F\x98\x80"};
    std::string text;
    for (std::uint32_t i = random.percent(5) ? 5000 : random.below(12); i > 0; --i) {
        text += random.pick(letters);
    }
    return text;
}

template <typename Integer>
Integer random_integer(SeededRandom& random) {
    return static_cast<Integer>(random.bits() >> random.below(64));
}

Everything random_everything(SeededRandom& random) {
    Everything value;
    value.is_on = random.percent(50);
    value.small = random_integer<std::int8_t>(random);
    value.medium = random_integer<std::uint16_t>(random);
    value.number = random_integer<std::int32_t>(random);
    value.large = random_integer<std::int64_t>(random);
    value.real = random_float(random);
    value.precise = static_cast<double>(random_float(random)) * 1.25;
    value.text = random_text(random);
    value.place = {random_float(random), random_float(random), random_float(random)};
    value.turn = {random_float(random), random_float(random), 0, 1};
    value.colour = {random_integer<std::uint8_t>(random), 0, 255, 1};
    value.ray = {value.place, {0, random_float(random), 0}};
    value.money = {random_integer<std::int32_t>(random), 1, 2,
                   static_cast<std::int32_t>(random.below(29)) << 16};
    value.target.value = random_integer<std::uint32_t>(random);
    return value;
}

Bytes write_delta(const Everything& value, std::uint32_t mask, UNetMaskForm form) {
    Bytes memory(32 * 1024);
    NetworkWriter writer(memory);
    const bool has_values =
        write_unet_delta(writer, everything_classes, mask, form, [&](std::uint32_t bit) {
            visit_variable(value, bit,
                           [&](const auto& variable) { write_woven(writer, variable); });
        });
    REQUIRE_FALSE(writer.failed());
    REQUIRE(has_values == ((mask & ((1U << variable_count) - 1)) != 0));
    return to_bytes(writer.bytes());
}

UNetError read_delta(Everything& value, std::span<const std::byte> bytes,
                     UNetStrictness strictness = UNetStrictness::Strict) {
    NetworkReader reader(bytes, strictness);
    const bool is_read = read_unet_delta(reader, everything_classes, [&](std::uint32_t bit) {
        visit_variable(value, bit, [&](auto& variable) { read_woven(reader, variable); });
    });
    REQUIRE(is_read == !reader.failed());
    reader.finish();
    return reader.error();
}

TEST_CASE("UNet random: sections of either form bring every variable of the mask, and no other",
          "[behaviours][unet_random][random]") {
    for (const std::uint64_t seed : seed_range(1, 300)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        const Everything value = random_everything(random);
        const auto mask = static_cast<std::uint32_t>(random.bits() & random.bits());
        for (const UNetMaskForm form : {UNetMaskForm::Seed, UNetMaskForm::Weaver}) {
            const ExactBytes bytes(write_delta(value, mask, form));
            Everything read = random_everything(random);
            Everything expected = read;
            for (std::uint32_t bit = 0; bit < variable_count; ++bit) {
                if (((mask >> bit) & 1) == 0) {
                    continue;
                }
                visit_variable(value, bit, [&](const auto& variable) {
                    visit_variable(expected, bit, [&](auto& target) {
                        if constexpr (std::is_same_v<decltype(target),
                                                     std::remove_cvref_t<decltype(variable)>&>) {
                            target = variable;
                        }
                    });
                });
            }
            REQUIRE(read_delta(read, bytes.span()) == UNetError::None);
            REQUIRE(read == expected);
        }
    }
}

TEST_CASE("UNet random: a section that is cut anywhere is an error",
          "[behaviours][unet_random][random]") {
    for (const std::uint64_t seed : seed_range(1, 40)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        Everything value = random_everything(random);
        value.text.resize(value.text.size() > 100 ? 0 : value.text.size());
        const Bytes bytes =
            write_delta(value, static_cast<std::uint32_t>(random.bits()), UNetMaskForm::Weaver);
        for (std::size_t count = 0; count < bytes.size(); ++count) {
            const ExactBytes cut(std::span<const std::byte>(bytes).first(count));
            Everything read;
            REQUIRE(read_delta(read, cut.span()) == UNetError::EndOfBytes);
        }
    }
}

TEST_CASE(
    "UNet random: bytes that were changed are read or refused, and nothing behind them is read",
    "[behaviours][unet_random][random]") {
    const SeedRange seeds = seed_range(1, 300);
    std::uint64_t refused = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        Bytes bytes = write_delta(random_everything(random),
                                  static_cast<std::uint32_t>(random.bits()), UNetMaskForm::Seed);
        for (std::uint32_t flips = 1 + random.below(4); flips > 0; --flips) {
            flip_bit(bytes, random.below(static_cast<std::uint32_t>(bytes.size() * 8)));
        }
        const ExactBytes exact(bytes);
        Everything read;
        refused += read_delta(read, exact.span()) != UNetError::None ? 1u : 0u;
        // A lenient reader may take them for something else, and stays within them all the same.
        const UNetError error = read_delta(read, exact.span(), UNetStrictness::Lenient);
        REQUIRE(error != UNetError::NonCanonicalPacked);
        REQUIRE(error != UNetError::PackedTooWide);
        REQUIRE(error != UNetError::InvalidBool);
        REQUIRE(error != UNetError::ValueOutOfRange);
    }
    if (seeds.is_default) {
        CHECK(refused > 30);
    }
}

TEST_CASE("UNet random: payloads of noise are read or refused, and nothing behind them is read",
          "[behaviours][unet_random][random]") {
    for (const std::uint64_t seed : seed_range(1, 2000)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        Bytes noise(random.below(80));
        for (std::byte& byte : noise) {
            byte = static_cast<std::byte>(random.percent(50) ? random.below(8) : random.bits());
        }
        const ExactBytes exact(noise);
        const auto check = [&](auto message) {
            for (const UNetStrictness strictness :
                 {UNetStrictness::Strict, UNetStrictness::Lenient}) {
                NetworkReader reader(exact.span(), strictness);
                const bool is_read = read_payload(reader, message);
                REQUIRE(is_read == !reader.failed());
                if (reader.failed() || strictness == UNetStrictness::Lenient) {
                    continue;
                }
                // What a strict reader takes is what a writer writes.
                Bytes memory(noise.size());
                NetworkWriter writer(memory);
                write_payload(writer, message);
                REQUIRE(to_hex(writer.bytes()) == to_hex(noise));
            }
        };
        check(UNetUpdateVars{});
        check(UNetObjectSpawn{});
        check(UNetObjectSpawnScene{});
        check(UNetObjectDestroy{});
        check(UNetObjectHide{});
        check(UNetOwner{});
        check(UNetSpawnFinished{});
        check(UNetSyncList{});
    }
}

}  // namespace
}  // namespace replayout::test
