// SPDX-License-Identifier: MIT
//
// When memory that is kept from tick to tick goes back. Rows that ticks fill keep their room, so
// that a steady tick takes none. A burst, a thousand clients that join at once, leaves far more
// than is ever needed again. So each row knows how much of it was needed lately, and once in
// KeptRoom::period flushes whoever has it gives back what was not:
//
//     needed most    1,000 ...... 40 ...... 40 ...... 40
//     room           1,024 ...... 1,024 ... 80 ...... 80         from one trim() to the next
//
// Less than a quarter must have been enough for all of a period, and room for twice as much is
// left: so what goes up and down does not come and go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace replayout {

class KeptRoom {
  public:
    /// Flushes from one trim to the next; at 60 a second a minute.
    static constexpr std::uint64_t period = 4'096;
    /// What is small stays.
    static constexpr std::size_t least_bytes = 1'024;

    /// Before a row is cleared: it held so many.
    void note(std::size_t count) noexcept { most_ = std::max(most_, count); }

    /// Once in a period, of a row that is empty.
    template <typename Row>
    void trim(Row& row) {
        const std::size_t most = std::exchange(most_, 0);
        if (is_too_large(most, row.capacity(), sizeof(typename Row::value_type))) {
            Row smaller(row.get_allocator());
            smaller.reserve(2 * most);
            row.swap(smaller);
        }
    }

    [[nodiscard]] static bool is_too_large(std::size_t most_needed, std::size_t room,
                                           std::size_t element_bytes) noexcept {
        return room * element_bytes > least_bytes && most_needed < room / 4;
    }

  private:
    std::size_t most_ = 0;
};

}  // namespace replayout
