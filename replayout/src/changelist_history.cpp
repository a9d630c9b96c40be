// SPDX-License-Identifier: MIT
#include <replayout/changelist_history.h>
#include <replayout/prefetch.h>

#include <algorithm>

namespace replayout {

ChangelistHistory::ChangelistHistory(std::uint32_t handle_count, MemoryResource* resource)
    : versions_(Allocator<Version>(resource)),
      words_(Allocator<std::uint64_t>(resource)),
      word_count_((handle_count + 63) / 64) {}

void ChangelistHistory::add(Version version, const ChangeMask& changed) {
    REPLAYOUT_ASSERT(changed.words().size() == word_count_);
    REPLAYOUT_ASSERT(count_ == 0 || version > version_at(count_ - 1));
    if (count_ == count_max) {
        fold_oldest();
    } else if (count_ == capacity_) {
        grow();
    }
    const std::uint32_t slot = slot_of(count_);
    ++count_;
    versions_[slot] = version;
    std::copy_n(changed.words().data(), word_count_, words_.data() + slot * word_count_);
}

void ChangelistHistory::collect(Version sent_version, VersionInterval lost,
                                ChangeMask& candidates) const noexcept {
    REPLAYOUT_ASSERT(candidates.words().size() == word_count_);
    for (std::uint32_t index = count_; index-- > 0;) {
        const Version version = version_at(index);
        if (version <= sent_version && lost.is_empty()) {
            break;
        }
        // The oldest entry stands for all versions up to its own.
        const bool is_lost =
            index == 0 ? !lost.is_empty() && lost.after < version : lost.contains(version);
        if (version > sent_version || is_lost) {
            const std::uint64_t* words = words_.data() + slot_of(index) * word_count_;
            for (std::uint32_t i = 0; i < word_count_; ++i) {
                candidates.words()[i] |= words[i];
            }
        }
    }
}

void ChangelistHistory::prefetch() const noexcept {
    if (capacity_ > 0) {
        const std::uint32_t slot = slot_of(count_);
        replayout::prefetch(&versions_[slot], 1);
        replayout::prefetch(&words_[slot * word_count_], word_count_ * sizeof(std::uint64_t));
    }
}

void ChangelistHistory::collect_newest(ChangeMask& candidates) const noexcept {
    REPLAYOUT_ASSERT(count_ > 0 && candidates.words().size() == word_count_);
    const std::uint64_t* words = words_.data() + slot_of(count_ - 1) * word_count_;
    for (std::uint32_t i = 0; i < word_count_; ++i) {
        candidates.words()[i] |= words[i];
    }
}

Version ChangelistHistory::version_at(std::uint32_t index) const noexcept {
    REPLAYOUT_ASSERT(index < count_);
    return versions_[slot_of(index)];
}

bool ChangelistHistory::test(std::uint32_t index, RepHandle handle) const noexcept {
    REPLAYOUT_ASSERT(index < count_);
    REPLAYOUT_ASSERT(handle.value >= 1 && (handle.value - 1) / 64 < word_count_);
    const std::uint32_t bit = handle.value - 1;
    return ((words_[slot_of(index) * word_count_ + bit / 64] >> (bit % 64)) & 1) != 0;
}

void ChangelistHistory::grow() {
    REPLAYOUT_ASSERT(start_ == 0);  // it starts to turn only when it is as large as it gets
    capacity_ = capacity_ == 0 ? 4 : std::min(capacity_ * 2, count_max);
    versions_.resize(capacity_);
    words_.resize(std::size_t{capacity_} * word_count_);
}

void ChangelistHistory::fold_oldest() noexcept {
    const std::uint64_t* oldest = words_.data() + slot_of(0) * word_count_;
    std::uint64_t* next = words_.data() + slot_of(1) * word_count_;
    for (std::uint32_t i = 0; i < word_count_; ++i) {
        next[i] |= oldest[i];
    }
    start_ = slot_of(1);
    --count_;
}

}  // namespace replayout
