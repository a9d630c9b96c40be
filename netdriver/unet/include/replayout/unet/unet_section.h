// SPDX-License-Identifier: MIT
//
// The section of a behaviour: what its OnSerialize writes (facts of Unity HLAPI 1.1.1). A behaviour
// is a chain of classes, the base first, and each class has a part of its own. Each owns some bits
// of the behaviour's mask, one a variable, in the order of declaration and counted through the
// chain.
//
//     initial state   the values of each class in order, no mask
//     delta           of each class: a packed mask, then the values of its own bits that are set
//
// A class of which no bit is set writes 0 for a mask (UNetMaskForm::Seed) or the whole mask
// (Weaver), as UNet's generator came to do; a reader takes either, since it looks at the bits of
// the class alone. A class without variables that has UNet's own OnSerialize writes nothing, or the
// mask 0; one that the weaver has been at writes nothing at all, and is left out of the chain.
//
// In UNet a class counted from the variables of its base alone, so that those of a class three
// levels down shared the bits of its grandparent's. Here bits are counted through.
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Variables that a behaviour may have with its bases: the bits of a mask. (The original's weaver
/// refuses the 32nd already.)
inline constexpr std::uint32_t unet_variables_max = 32;

/// The bits of the mask that one class owns.
struct UNetClassBits {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    [[nodiscard]] constexpr std::uint32_t mask() const noexcept {
        return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
    }
    [[nodiscard]] constexpr std::uint32_t end() const noexcept { return first + count; }
    friend constexpr bool operator==(UNetClassBits, UNetClassBits) noexcept = default;
};

/// The bits of each class, given how many variables each declares, the base first. Asserts that
/// there are not too many.
template <std::size_t Count>
[[nodiscard]] constexpr std::array<UNetClassBits, Count> count_unet_bits(
    const std::array<std::uint32_t, Count>& variable_counts) noexcept {
    std::array<UNetClassBits, Count> classes{};
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < Count; ++i) {
        REPLAYOUT_ASSERT(variable_counts[i] <= unet_variables_max - first);
        classes[i] = {first, variable_counts[i]};
        first += variable_counts[i];
    }
    return classes;
}

enum class UNetMaskForm : std::uint8_t {
    Seed,    ///< a class of which no bit is set writes the mask 0
    Weaver,  ///< it writes the whole mask
};

/// Writes the initial state: `write_value(bit)` for every variable. Gives what OnSerialize returns:
/// whether there is one.
template <typename WriteValue>
bool write_unet_initial(std::span<const UNetClassBits> classes, WriteValue&& write_value) {
    bool has_variables = false;
    for (const UNetClassBits& bits : classes) {
        for (std::uint32_t bit = bits.first; bit < bits.end(); ++bit) {
            write_value(bit);
        }
        has_variables = has_variables || bits.count > 0;
    }
    return has_variables;
}

/// Writes what `mask` says has changed: `write_value(bit)` for each such variable. Gives what
/// OnSerialize returns: whether there was one, so that the mask may be cleared. What it wrote
/// stands in any case, and belongs into the packet if that is sent.
template <typename WriteValue>
bool write_unet_delta(NetworkWriter& writer, std::span<const UNetClassBits> classes,
                      std::uint32_t mask, UNetMaskForm form, WriteValue&& write_value) {
    bool has_values = false;
    for (const UNetClassBits& bits : classes) {
        const std::uint32_t own = mask & bits.mask();
        const bool is_quiet_zero = form == UNetMaskForm::Seed || bits.count == 0;
        writer.write_packed_uint32(own == 0 && is_quiet_zero ? 0 : mask);
        for (std::uint32_t bit = bits.first; bit < bits.end(); ++bit) {
            if (((own >> bit) & 1) != 0) {
                write_value(bit);
            }
        }
        has_values = has_values || own != 0;
    }
    return has_values;
}

/// Reads an initial state: `read_value(bit)` for every variable, until the reader fails. False if
/// it has failed.
template <typename ReadValue>
[[nodiscard]] bool read_unet_initial(NetworkReader& reader, std::span<const UNetClassBits> classes,
                                     ReadValue&& read_value) {
    for (const UNetClassBits& bits : classes) {
        for (std::uint32_t bit = bits.first; bit < bits.end() && !reader.failed(); ++bit) {
            read_value(bit);
        }
    }
    return !reader.failed();
}

/// Reads a delta of either form: `read_value(bit)` for each variable that follows, until the reader
/// fails. False if it has failed. Bits that no class owns mean nothing, as in the original, where
/// user code may set them.
template <typename ReadValue>
[[nodiscard]] bool read_unet_delta(NetworkReader& reader, std::span<const UNetClassBits> classes,
                                   ReadValue&& read_value) {
    for (const UNetClassBits& bits : classes) {
        const std::uint32_t own = reader.read_packed_uint32() & bits.mask();
        for (std::uint32_t bit = bits.first; bit < bits.end() && !reader.failed(); ++bit) {
            if (((own >> bit) & 1) != 0) {
                read_value(bit);
            }
        }
    }
    return !reader.failed();
}

}  // namespace replayout
