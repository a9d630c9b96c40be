// SPDX-License-Identifier: MIT
//
// Objects that changed are laid down behind the compare of all of them, when each is far away
// again. So what an object leads to is asked for some objects ahead, across the words of the row:
//
//     changed      3 4 5 9 | 64 70 71 ...
//                  ^     ^       ^
//             laid down  near    far        its values; where it is, and its state
#pragma once

#include <replayout/send_properties.h>

#include "bit_row.h"
#include "lane_range.h"
#include "object_store.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

class BlocksAhead {
  public:
    /// Of the objects in these words of `changed`, in their order.
    BlocksAhead(const ObjectStore& objects, const BitRow& changed, LaneRange words) noexcept
        : objects_(&objects), far_(changed, words), near_(changed, words) {
        for (std::uint32_t i = 0; i < far_steps; ++i) {
            step_far();
        }
        for (std::uint32_t i = 0; i < near_steps; ++i) {
            step_near(PlainBlock());
        }
    }

    /// The next one is laid down, in a block like `block`, as far as is known.
    [[gnu::always_inline]] void step(const PlainBlock& block) noexcept {
        step_far();
        step_near(block);
    }

  private:
    // By measuring: far enough for the memory to be there.
    static constexpr std::uint32_t far_steps = 6;
    static constexpr std::uint32_t near_steps = 3;

    class Walk {
      public:
        Walk(const BitRow& row, LaneRange words) noexcept
            : row_(&row), word_(words.begin), end_(words.end) {
            if (word_ < end_) {
                left_ = row_->word(word_);
                find_next();
            }
        }

        /// False: there are no more.
        [[nodiscard]] bool has_next() const noexcept { return left_ != 0; }
        [[gnu::always_inline]] ObjectIndex next() noexcept {
            const ObjectIndex index = BitRow::lowest_of(word_, left_);
            left_ &= left_ - 1;
            if (left_ == 0) {
                find_next();
            }
            return index;
        }

      private:
        void find_next() noexcept {
            while (left_ == 0 && ++word_ < end_) {
                left_ = row_->word(word_);
            }
        }

        const BitRow* row_;
        std::size_t word_;
        std::size_t end_;
        std::uint64_t left_ = 0;
    };

    [[gnu::always_inline]] void step_far() noexcept {
        if (far_.has_next()) {
            if (const ServerObject* info = objects_->at(far_.next())) {
                info->prefetch_newest();
            }
        }
    }
    [[gnu::always_inline]] void step_near(const PlainBlock& block) noexcept {
        if (near_.has_next()) {
            const ServerObject* info = objects_->at(near_.next());
            if (info != nullptr && block.value_count() > 0) {
                block.prefetch(info->changelist_state().shadow());
            }
        }
    }

    const ObjectStore* objects_;
    Walk far_;
    Walk near_;
};

}  // namespace replayout
