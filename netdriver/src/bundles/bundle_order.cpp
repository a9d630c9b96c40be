// SPDX-License-Identifier: MIT
#include "bundle_order.h"

#include <array>
#include <utility>

namespace replayout {

namespace {

constexpr int digit_bits = 8;
constexpr std::size_t digit_count = std::size_t{1} << digit_bits;

[[nodiscard]] std::size_t digit_of(std::uint64_t cell, int shift) noexcept {
    return static_cast<std::size_t>(cell >> shift) & (digit_count - 1);
}

}  // namespace

BundleOrder::BundleOrder(const ObjectStore& objects, const InterestManager& interest,
                         MemoryResource* resource)
    : objects_(objects),
      interest_(interest),
      in_cells_(resource),
      sorted_(resource),
      indices_(resource) {}

std::span<const ObjectIndex> BundleOrder::find(const FlushChanges& changes) {
    clear_all(in_cells_, sorted_, indices_);
    if (!interest_.grid().has_objects()) {
        return {};
    }
    std::uint64_t differing = 0;
    bool is_sorted = true;
    for (const std::uint32_t word : changes.words) {
        BitRow::for_each_in_word(word, changes.objects.word(word), [&](ObjectIndex index) {
            // Parts go with the whole. What is gone by now is laid down nowhere.
            const std::uint64_t cell =
                objects_.at(index) == nullptr
                    ? 0
                    : interest_.grid().cell_number_of(objects_.root_of(index));
            if (!in_cells_.empty()) {
                differing |= cell ^ in_cells_.front().cell;
                is_sorted = is_sorted && in_cells_.back().cell <= cell;
            }
            in_cells_.push_back({cell, index});
        });
    }
    if (is_sorted) {
        return {};
    }
    sort_by_cell(differing);
    indices_.reserve(in_cells_.size());
    for (const ObjectInCell& object : in_cells_) {
        indices_.push_back(object.index);
    }
    return {indices_.data(), indices_.size()};
}

// By one digit after the other, the last one first; most are the same for all.
void BundleOrder::sort_by_cell(std::uint64_t differing) {
    sorted_.resize(in_cells_.size());
    for (int shift = 0; shift < 64; shift += digit_bits) {
        if (digit_of(differing, shift) == 0) {
            continue;
        }
        std::array<std::uint32_t, digit_count> ends{};
        for (const ObjectInCell& object : in_cells_) {
            ++ends[digit_of(object.cell, shift)];
        }
        std::uint32_t before = 0;
        for (std::uint32_t& end : ends) {
            before += std::exchange(end, before);
        }
        for (const ObjectInCell& object : in_cells_) {
            sorted_[ends[digit_of(object.cell, shift)]++] = object;
        }
        in_cells_.swap(sorted_);
    }
}

void BundleOrder::trim() {
    in_cells_.drop_and_trim();
    sorted_.drop_and_trim();
    indices_.drop_and_trim();
}

}  // namespace replayout
