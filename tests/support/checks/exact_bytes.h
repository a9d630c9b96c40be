// SPDX-License-Identifier: MIT
//
// Bytes with nothing behind them, so that the address sanitizer finds a read past their end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

namespace replayout {

/// A copy on the heap without a byte to spare.
class ExactBytes {
  public:
    explicit ExactBytes(std::span<const std::byte> bytes)
        : memory_(std::make_unique<std::byte[]>(bytes.size())), size_(bytes.size()) {
        std::copy(bytes.begin(), bytes.end(), memory_.get());
    }
    [[nodiscard]] std::span<const std::byte> span() const noexcept {
        return {memory_.get(), size_};
    }

  private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t size_;
};

}  // namespace replayout
