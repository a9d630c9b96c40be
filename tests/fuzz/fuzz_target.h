// SPDX-License-Identifier: MIT
//
// What a fuzz target is made of. Each is a file of this folder that has
//
//     LLVMFuzzerTestOneInput()   what is done with one input, and what must hold whatever it is
//     fuzz_seeds()               inputs that our own writers made, to begin with
//
// and is linked twice: with libFuzzer (clang; ./run fuzz), and with replay_main.cpp, which any
// compiler takes and which ./run test runs. docs/fuzzing.md has the list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace replayout::test {

/// Inputs that the target takes well, each of another kind. The same in every run.
[[nodiscard]] std::vector<Bytes> fuzz_seeds();

/// Takes choices from the front of an input. Behind its end all is 0.
class FuzzInput {
  public:
    FuzzInput(const std::uint8_t* data, std::size_t size)
        : bytes_(std::as_bytes(std::span(data, size))) {}

    [[nodiscard]] bool is_empty() const noexcept { return bytes_.empty(); }
    [[nodiscard]] std::uint8_t byte() noexcept { return static_cast<std::uint8_t>(number(1)); }
    /// Of so many bytes, at most 8, the lowest first.
    [[nodiscard]] std::uint64_t number(std::size_t byte_count) noexcept {
        std::uint64_t value = 0;
        std::size_t shift = 0;
        for (const std::byte byte : take(byte_count)) {
            value |= std::to_integer<std::uint64_t>(byte) << shift;
            shift += 8;
        }
        return value;
    }
    /// So many, or what there is.
    [[nodiscard]] std::span<const std::byte> take(std::size_t byte_count) noexcept {
        const auto taken = bytes_.first(std::min(byte_count, bytes_.size()));
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }
    [[nodiscard]] std::span<const std::byte> rest() noexcept { return take(bytes_.size()); }

  private:
    std::span<const std::byte> bytes_;
};

/// Writes what FuzzInput takes.
class FuzzSeed {
  public:
    FuzzSeed& number(std::uint64_t value, std::size_t byte_count) {
        for (std::size_t i = 0; i < byte_count; ++i) {
            bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
        }
        return *this;
    }
    FuzzSeed& add(std::span<const std::byte> more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return *this;
    }

    Bytes bytes;
};

}  // namespace replayout::test
