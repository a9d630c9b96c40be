// SPDX-License-Identifier: MIT
//
// Ascending keys on the wire: the first as it is, each other as the gap after the one before.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include <cstdint>

namespace replayout {

class KeyWriter {
  public:
    explicit KeyWriter(BitWriter& writer) noexcept : writer_(writer) {}

    void write(std::uint64_t key) noexcept {
        REPLAYOUT_ASSERT(is_first_ || key > last_);
        writer_.write_packed_uint(is_first_ ? key : key - last_ - 1);
        last_ = key;
        is_first_ = false;
    }

  private:
    BitWriter& writer_;
    std::uint64_t last_ = 0;
    bool is_first_ = true;
};

/// The keys that a keyed array names as removed.
inline void write_deletions(const Vector<std::uint64_t>& keys, BitWriter& writer) {
    writer.write_packed_uint(keys.size());
    KeyWriter key_writer(writer);
    for (const std::uint64_t key : keys) {
        key_writer.write(key);
    }
}

}  // namespace replayout
