// SPDX-License-Identifier: MIT
//
// One number for all that happens in a run: every packet, callback and value that is shown, in
// order. The same seed gives the same number with every compiler and at every level of
// optimisation.
#pragma once

#include <replayout/reflection/hash.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout::test {

class TraceDigest {
  public:
    void add(std::uint64_t value) noexcept {
        state_ = (state_ ^ value) * 0x9E37'79B9'7F4A'7C15;
        state_ ^= state_ >> 29;
    }
    void add(std::span<const std::byte> bytes) noexcept { add(hash64(bytes) ^ bytes.size()); }

    [[nodiscard]] std::uint64_t value() const noexcept { return state_; }

  private:
    std::uint64_t state_ = 0x243F'6A88'85A3'08D3;
};

}  // namespace replayout::test
