// SPDX-License-Identifier: MIT
//
// All rows of a server that have a place for each object. An object leaves in up to three steps,
// and each row says at which of them it forgets the object:
//
//     torn off            the game keeps the object, clients are sent its last state
//     the game is done    the object was removed; clients may still wait for its calls
//     the slot is free    another object may get it
//
//     rows.add(calendar, ObjectRows::Until::TornOff);
//     ...
//     rows.free_slot(index);    // forgets it in every row
//
// So who owns a row adds it here, and nobody clears rows by hand.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "object_index.h"

namespace replayout {

class ObjectRows {
  public:
    /// The first step at which a row forgets an object. It forgets it at each later step, too.
    enum class Until : std::uint8_t { TornOff, GameIsDone, SlotIsFree };

    /// `row` has `erase(index)` or `forget(index)`, which do nothing if it does not know the
    /// object. It lives as long as the objects.
    template <typename Row>
    void add(Row& row, Until until) noexcept {
        REPLAYOUT_ASSERT(count_ < rows_.size());
        rows_[count_].row = &row;
        rows_[count_].until = until;
        rows_[count_].forget = [](void* entry, ObjectIndex index) {
            forget_in(*static_cast<Row*>(entry), index);
        };
        ++count_;
    }
    /// The same for a row with `grow(count)` that needs a place for each slot there is.
    template <typename Row>
    void add_full(Row& row, Until until) noexcept {
        add(row, until);
        rows_[count_ - 1].grow = [](void* entry, std::uint32_t count) {
            static_cast<Row*>(entry)->grow(count);
        };
    }

    /// There are so many slots now.
    void grow(std::uint32_t slot_count) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (rows_[i].grow != nullptr) {
                rows_[i].grow(rows_[i].row, slot_count);
            }
        }
    }
    void tear_off(ObjectIndex index) { forget(index, Until::TornOff); }
    void end_for_game(ObjectIndex index) { forget(index, Until::GameIsDone); }
    void free_slot(ObjectIndex index) { forget(index, Until::SlotIsFree); }

  private:
    static constexpr std::size_t rows_max = 16;

    struct Entry {
        void* row = nullptr;
        void (*forget)(void* row, ObjectIndex index) = nullptr;
        void (*grow)(void* row, std::uint32_t count) = nullptr;  // null: it grows by itself
        Until until = Until::SlotIsFree;
    };

    template <typename Row>
    static void forget_in(Row& row, ObjectIndex index) {
        if constexpr (requires { row.forget(index); }) {
            row.forget(index);
        } else {
            row.erase(index);
        }
    }
    void forget(ObjectIndex index, Until step) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (rows_[i].until <= step) {
                rows_[i].forget(rows_[i].row, index);
            }
        }
    }

    std::array<Entry, rows_max> rows_;
    std::size_t count_ = 0;
};

}  // namespace replayout
