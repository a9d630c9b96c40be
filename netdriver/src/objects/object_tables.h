// SPDX-License-Identifier: MIT
//
// All tables of a server that have a slot for each object. An object leaves in up to three steps,
// and each table says at which of them it forgets the object:
//
//     torn off            the game keeps the object, clients are sent its last state
//     the game is done    the object was removed; clients may still wait for its calls
//     the slot is free    another object may get it
//
//     tables.add(calendar, ObjectTables::Until::TornOff);
//     ...
//     tables.free_slot(index);    // forgets it in every table
//
// So who owns a table adds it here, and nobody clears tables by hand.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "object_index.h"

namespace replayout {

class ObjectTables {
  public:
    /// The first step at which a table forgets an object. It forgets it at each later step, too.
    enum class Until : std::uint8_t { TornOff, GameIsDone, SlotIsFree };

    /// `table` has `erase(index)` or `forget(index)`, which do nothing if it does not know the
    /// object. It lives as long as the objects.
    template <typename Table>
    void add(Table& table, Until until) noexcept {
        REPLAYOUT_ASSERT(count_ < tables_.size());
        tables_[count_].table = &table;
        tables_[count_].until = until;
        tables_[count_].forget = [](void* entry, ObjectIndex index) {
            forget_in(*static_cast<Table*>(entry), index);
        };
        ++count_;
    }
    /// The same for a table with `grow(count)` that holds a value for each slot there is.
    template <typename Table>
    void add_full(Table& table, Until until) noexcept {
        add(table, until);
        tables_[count_ - 1].grow = [](void* entry, std::uint32_t count) {
            static_cast<Table*>(entry)->grow(count);
        };
    }

    /// There are so many slots now.
    void grow(std::uint32_t slot_count) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (tables_[i].grow != nullptr) {
                tables_[i].grow(tables_[i].table, slot_count);
            }
        }
    }
    void tear_off(ObjectIndex index) { forget(index, Until::TornOff); }
    void end_for_game(ObjectIndex index) { forget(index, Until::GameIsDone); }
    void free_slot(ObjectIndex index) { forget(index, Until::SlotIsFree); }

  private:
    static constexpr std::size_t tables_max = 16;

    struct Entry {
        void* table = nullptr;
        void (*forget)(void* table, ObjectIndex index) = nullptr;
        void (*grow)(void* table, std::uint32_t count) = nullptr;  // null: it grows by itself
        Until until = Until::SlotIsFree;
    };

    template <typename Table>
    static void forget_in(Table& table, ObjectIndex index) {
        if constexpr (requires { table.forget(index); }) {
            table.forget(index);
        } else {
            table.erase(index);
        }
    }
    void forget(ObjectIndex index, Until step) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (tables_[i].until <= step) {
                tables_[i].forget(tables_[i].table, index);
            }
        }
    }

    std::array<Entry, tables_max> tables_;
    std::size_t count_ = 0;
};

}  // namespace replayout
