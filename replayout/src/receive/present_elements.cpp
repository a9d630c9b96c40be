// SPDX-License-Identifier: MIT
#include "present_elements.h"

#include "keyed_array_finisher.h"
#include "keyed_array_steps.h"

#include <algorithm>
#include <functional>

namespace replayout {

void PresentElements::look_up(const std::byte* array, std::size_t key_count, bool is_full_set) {
    detail::ElementsByKey& elements = context_.parts().elements_by_key;
    array_ = array;
    if (array_ == nullptr) {
        elements.clear();
        return;
    }
    count_ = ops().count(array_);
    // Also in an update that goes on: a sender does not know whether its receiver still has one,
    // so keys of an array that is gone must cost no more than the sender counted.
    is_sorted_ = is_full_set || is_worth_sorting(count_, key_count);
    const std::size_t known_count = context_.is_checking() ? count_known() : 0;
    const std::size_t forgettable_count = is_full_set ? known_count : 0;
    charged_count_ =
        std::min(count_, known_count + archetype_array(context_.layout(), cmd_).count());
    context_.reader().spend_array_steps(1 + (is_sorted_
                                                 ? sort_steps(charged_count_ + forgettable_count)
                                                 : search_steps(charged_count_, key_count)));
    if (is_sorted_) {
        elements.collect(cmd_, array_);
    }
}

std::size_t PresentElements::count_known() const noexcept {
    const KeyedElements* known =
        context_.present_state()->find_keyed_elements(RepHandle{cmd_.relative_handle});
    return known == nullptr ? 0 : known->elements().size();
}

void PresentElements::drop_doubles(std::byte* array) {
    const std::span<const detail::ElementByKey> elements = this->sorted();
    const auto is_double = [](const auto& left, const auto& right) {
        return left.key == right.key;
    };
    if (std::adjacent_find(elements.begin(), elements.end(), is_double) == elements.end()) {
        return;
    }
    if (array == nullptr) {
        context_.parts().elements_by_key.drop_doubles();
        count_ = this->sorted().size();
        return;
    }
    auto& doubles = context_.parts().element_indices;
    doubles.clear();
    for (std::size_t i = 1; i < elements.size(); ++i) {
        if (is_double(elements[i - 1], elements[i])) {
            doubles.push_back(elements[i].index);
            // The one that stays may get another index.
            context_.parts().update.keyed_changes().add(index_, detail::ElementChange::Moved,
                                                        elements[i].key);
        }
    }
    // The last element takes the place of one that goes; from behind, none of those is to go.
    std::sort(doubles.begin(), doubles.end(), std::greater<>());
    for (const std::uint32_t index : doubles) {
        --count_;
        if (index != count_) {
            ops().swap_elements(array, index, count_);
        }
    }
    ops().resize(array, count_);
    context_.parts().elements_by_key.collect(cmd_, array);
}

}  // namespace replayout
