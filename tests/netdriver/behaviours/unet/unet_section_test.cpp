// SPDX-License-Identifier: MIT
#include <replayout/unet/unet_section.h>

#include <bit>
#include <tuple>
#include <vector>

#include "support/checks/exact_bytes.h"
#include "support/hostile/unet_script.h"

namespace replayout::test {

namespace {

using Classes = std::span<const UNetClassBits>;

struct Section {
    Bytes bytes;
    bool has_values = false;
};

Section write_initial(Classes classes) {
    Bytes memory(256);
    NetworkWriter writer(memory);
    const ScriptData data = example_data();
    const bool has_values =
        write_unet_initial(classes, [&](std::uint32_t bit) { data.write(writer, bit); });
    REQUIRE_FALSE(writer.failed());
    return {to_bytes(writer.bytes()), has_values};
}

Section write_delta(Classes classes, std::uint32_t mask, UNetMaskForm form) {
    Bytes memory(256);
    NetworkWriter writer(memory);
    const ScriptData data = example_data();
    const bool has_values = write_unet_delta(writer, classes, mask, form,
                                             [&](std::uint32_t bit) { data.write(writer, bit); });
    REQUIRE_FALSE(writer.failed());
    return {to_bytes(writer.bytes()), has_values};
}

/// What a script that was {1, 2, "?"} is after the section; the section must be read to its end.
ScriptData read_delta(Classes classes, const Bytes& bytes) {
    const ExactBytes exact(bytes);
    NetworkReader reader(exact.span());
    ScriptData data{1, 2, "?"};
    CHECK(read_unet_delta(reader, classes, [&](std::uint32_t bit) { data.read(reader, bit); }));
    CHECK(reader.bytes_left() == 0);
    return data;
}

ScriptData data_after(std::uint32_t mask) {
    ScriptData data{1, 2, "?"};
    const ScriptData example = example_data();
    data.int1 = (mask & 1) != 0 ? example.int1 : data.int1;
    data.int2 = (mask & 2) != 0 ? example.int2 : data.int2;
    data.text = (mask & 4) != 0 ? example.text : data.text;
    return data;
}

void check_delta(Classes classes, std::uint32_t mask, UNetMaskForm form, std::string_view expected,
                 bool has_values) {
    CAPTURE(mask, expected);
    const Section section = write_delta(classes, mask, form);
    CHECK(to_hex(section.bytes) == to_hex(unet_bytes(expected)));
    CHECK(section.has_values == has_values);
    CHECK(read_delta(classes, section.bytes) == data_after(mask));
}

constexpr UNetMaskForm both_forms[] = {UNetMaskForm::Seed, UNetMaskForm::Weaver};

TEST_CASE("UNet section: the initial state of the script is its values in order, without a mask",
          "[behaviours][unet_section]") {
    const Section section = write_initial(one_class);
    CHECK(to_hex(section.bytes) == to_hex(unet_bytes("42 F9 52 CF S")));
    CHECK(section.bytes.size() == 20);
    CHECK(section.has_values);
    NetworkReader reader(section.bytes);
    ScriptData data;
    CHECK(read_unet_initial(reader, one_class, [&](std::uint32_t bit) { data.read(reader, bit); }));
    CHECK(reader.bytes_left() == 0);
    CHECK(data == example_data());
}

TEST_CASE("UNet section: each mask of the script gives the article's bytes, and they are read back",
          "[behaviours][unet_section]") {
    for (const UNetMaskForm form : both_forms) {
        check_delta(one_class, 0, form, "00", false);
        check_delta(one_class, 1, form, "01 42", true);
        check_delta(one_class, 2, form, "02 F9 52 CF", true);
        check_delta(one_class, 3, form, "03 42 F9 52 CF", true);
        check_delta(one_class, 4, form, "04 S", true);
        check_delta(one_class, 5, form, "05 42 S", true);
        check_delta(one_class, 6, form, "06 F9 52 CF S", true);
        check_delta(one_class, 7, form, "07 42 F9 52 CF S", true);
        check_delta(one_class, 0x81, form, "81 42", true);
    }
}

TEST_CASE("UNet section: a bit that no variable owns sends no value and is no reason to send",
          "[behaviours][unet_section]") {
    check_delta(one_class, 0x80, UNetMaskForm::Seed, "00", false);
    check_delta(one_class, 0x80, UNetMaskForm::Weaver, "80", false);
}

TEST_CASE("UNet section: the base's part comes first, each with a mask of its own",
          "[behaviours][unet_section]") {
    CHECK(to_hex(write_initial(base_and_derived).bytes) == to_hex(unet_bytes("42 F9 52 CF S")));
    check_delta(base_and_derived, 4, UNetMaskForm::Seed, "00 04 S", true);
    check_delta(base_and_derived, 4, UNetMaskForm::Weaver, "04 04 S", true);
    check_delta(base_and_derived, 1, UNetMaskForm::Seed, "01 42 00", true);
    check_delta(base_and_derived, 1, UNetMaskForm::Weaver, "01 42 01", true);
    for (const UNetMaskForm form : both_forms) {
        check_delta(base_and_derived, 5, form, "05 42 05 S", true);
        check_delta(base_and_derived, 0, form, "00 00", false);
    }
}

TEST_CASE("UNet section: a class without variables writes the mask 0, whatever the form",
          "[behaviours][unet_section]") {
    constexpr std::array classes = count_unet_bits<2>({0, 3});
    CHECK(to_hex(write_initial(classes).bytes) == to_hex(unet_bytes("42 F9 52 CF S")));
    for (const UNetMaskForm form : both_forms) {
        check_delta(classes, 1, form, "00 01 42", true);
    }
    constexpr std::array nothing = count_unet_bits<1>({0});
    CHECK_FALSE(write_initial(nothing).has_values);
    CHECK(write_initial(nothing).bytes.empty());
    check_delta(nothing, 0x80, UNetMaskForm::Weaver, "00", false);
}

TEST_CASE("UNet section: bits are counted through four levels, and no two variables share one",
          "[behaviours][unet_section]") {
    constexpr std::array classes = count_unet_bits<4>({2, 1, 1, 3});
    std::uint32_t seen = 0;
    for (const UNetClassBits& bits : classes) {
        CHECK((seen & bits.mask()) == 0);
        CHECK(std::popcount(bits.mask()) == static_cast<int>(bits.count));
        seen |= bits.mask();
    }
    CHECK(seen == 0x7F);
    CHECK(classes[2] == UNetClassBits{3, 1});
}

TEST_CASE("UNet section: 32 variables fit, and each is read at its bit",
          "[behaviours][unet_section]") {
    constexpr std::array classes = count_unet_bits<3>({0, 20, 12});
    CHECK(count_unet_bits<1>({32})[0].mask() == 0xFFFFFFFF);
    for (std::uint32_t variable = 0; variable < 32; ++variable) {
        Bytes memory(32);
        NetworkWriter writer(memory);
        CHECK(write_unet_delta(writer, classes, std::uint32_t{1} << variable, UNetMaskForm::Weaver,
                               [&](std::uint32_t bit) { write_woven(writer, bit); }));
        NetworkReader reader(writer.bytes());
        std::vector<std::uint32_t> read;
        CHECK(read_unet_delta(reader, classes, [&](std::uint32_t bit) {
            read.push_back(bit);
            std::uint32_t value = 99;
            read_woven(reader, value);
            CHECK(value == bit);
        }));
        CHECK(read == std::vector{variable});
        CHECK(reader.bytes_left() == 0);
    }
}

TEST_CASE("UNet section: cut at any byte it is an error, and no value behind the cut is asked for",
          "[behaviours][unet_section]") {
    const Bytes whole = unet_bytes("07 42 F9 52 CF S");
    for (std::size_t count = 0; count < whole.size(); ++count) {
        CAPTURE(count);
        const ExactBytes exact(std::span<const std::byte>(whole).first(count));
        NetworkReader reader(exact.span());
        ScriptData data{1, 2, "?"};
        CHECK_FALSE(
            read_unet_delta(reader, one_class, [&](std::uint32_t bit) { data.read(reader, bit); }));
        CHECK(reader.error() == UNetError::EndOfBytes);
        CHECK(data == data_after(count < 2 ? 0 : count < 5 ? 1 : 3));
    }
    const Bytes initial = unet_bytes("42 F9 52 CF S");
    for (std::size_t count = 0; count < initial.size(); ++count) {
        const ExactBytes exact(std::span<const std::byte>(initial).first(count));
        NetworkReader reader(exact.span());
        ScriptData data;
        CHECK_FALSE(read_unet_initial(reader, one_class,
                                      [&](std::uint32_t bit) { data.read(reader, bit); }));
        CHECK(reader.error() == UNetError::EndOfBytes);
    }
}

}  // namespace
}  // namespace replayout::test
