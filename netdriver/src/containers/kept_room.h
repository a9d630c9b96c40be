// SPDX-License-Identifier: MIT
//
// When memory that is kept from tick to tick goes back. Vectors that ticks fill keep their room, so
// that a steady tick takes none. A burst, a thousand clients that join at once, leaves far more
// than is ever needed again. So each vector knows how much of it was needed lately, and once in
// KeptRoom::period flushes its owner makes it give back the rest:
//
//     needed most    1,000 ...... 40 ...... 40 ...... 40
//     room           1,024 ...... 1,024 ... 80 ...... 80         from one trim() to the next
//
// Less than a quarter must have been enough for all of a period, and room for twice as much is
// left: so what goes up and down does not come and go.
#pragma once

#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace replayout {

struct KeptRoom {
    /// Flushes from one trim to the next; at 60 a second a minute.
    static constexpr std::uint64_t period = 4'096;
    /// What is small stays.
    static constexpr std::size_t least_bytes = 1'024;

    [[nodiscard]] static bool is_too_large(std::size_t most_needed, std::size_t room,
                                           std::size_t element_bytes) noexcept {
        return room * element_bytes > least_bytes && most_needed < room / 4;
    }
};

/// A vector that knows how much of its room was needed since the last trim(). All else is that of a
/// Vector; if two of them swap what they hold, each keeps what it knows.
template <typename T>
class KeptVector : public Vector<T> {
  public:
    explicit KeptVector(Allocator<T> allocator) : Vector<T>(allocator) {}

    /// Notes that `count` elements were needed.
    void note(std::size_t count) noexcept { most_ = std::max(most_, count); }
    /// Notes what the vector held.
    void clear() noexcept {
        note(this->size());
        Vector<T>::clear();
    }
    /// Makes and notes at least `count` elements, of a vector that may have more than are used.
    void grow_to(std::size_t count) {
        note(count);
        if (this->size() < count) {
            this->resize(std::max(count, 2 * this->size()));
        }
    }
    /// Once in a period. Requires that the vector is empty, or may be.
    void trim() {
        const std::size_t most = std::exchange(most_, 0);
        if (KeptRoom::is_too_large(most, this->capacity(), sizeof(T))) {
            Vector<T> smaller(this->get_allocator());
            smaller.reserve(2 * most);
            this->swap(smaller);
        }
    }
    /// The same of a vector that holds elements which nobody needs any longer. It does not note
    /// them.
    void drop_and_trim() {
        Vector<T>::clear();
        trim();
    }

  private:
    std::size_t most_ = 0;
};

template <typename... Vectors>
void clear_all(Vectors&... vectors) noexcept {
    (vectors.clear(), ...);
}

template <typename... Vectors>
void trim_all(Vectors&... vectors) {
    (vectors.trim(), ...);
}

}  // namespace replayout
