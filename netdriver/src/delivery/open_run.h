// SPDX-License-Identifier: MIT
//
// Opens that several clients get alike in one flush, in the order in which the first of them got
// them. A connection that sent some of them holds the list until it knows what became of their
// packet. Where their bytes lie, OpenRuns knows as long as the flush goes on.
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/sending_rep_state.h>

#include "object_index.h"
#include "open_bunch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class OpenRun {
  public:
    static constexpr std::uint32_t opens_max = 32;

    struct Open {
        OpenBunch* bunch = nullptr;
        ObjectIndex object_index{};
        /// That of the first block, which goes in the same packet; 0: there is none.
        Version block_version = 0;
    };

    OpenRun() = default;
    ~OpenRun() { clear(); }
    OpenRun(const OpenRun&) = delete;
    OpenRun& operator=(const OpenRun&) = delete;
    OpenRun(OpenRun&&) = delete;
    OpenRun& operator=(OpenRun&&) = delete;

    [[nodiscard]] std::span<const Open> opens() const noexcept {
        return std::span(opens_).first(count_);
    }
    [[nodiscard]] bool is_full() const noexcept { return count_ == opens_max; }
    /// Requires that it is not full. Holds the bunch.
    void add(const Open& open) noexcept {
        REPLAYOUT_ASSERT(!is_full());
        open.bunch->hold();
        opens_[count_++] = open;
    }

    // Both by one thread at a time.

    void hold() noexcept { ++holders_; }
    /// When nobody holds it, it is empty.
    void release() noexcept {
        REPLAYOUT_ASSERT(holders_ > 0);
        if (--holders_ == 0) {
            clear();
        }
    }
    [[nodiscard]] bool is_held() const noexcept { return holders_ > 0; }

  private:
    void clear() noexcept {
        for (const Open& open : opens()) {
            open.bunch->release();
        }
        count_ = 0;
    }

    std::uint32_t holders_ = 0;
    std::uint32_t count_ = 0;
    std::array<Open, opens_max> opens_;
};

/// Some opens of a run that follow each other.
struct OpenRunPart {
    OpenRun* run = nullptr;
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
    std::uint32_t block_count = 0;  ///< how many of them have a first block

    [[nodiscard]] std::span<const OpenRun::Open> opens() const noexcept {
        return run->opens().subspan(begin, count);
    }
};

}  // namespace replayout
