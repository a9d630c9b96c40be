// SPDX-License-Identifier: MIT
#include <replayout/changelist_history.h>

#include <algorithm>

namespace replayout {

static_assert(sizeof(Version) == sizeof(std::uint32_t), "entries hold it beside their handles");

ChangelistHistory::ChangelistHistory(std::uint32_t handle_count, MemoryResource* resource)
    : entries_(Allocator<std::uint32_t>(resource)),
      entry_words_(1 + (handle_count + word_bits - 1) / word_bits) {}

void ChangelistHistory::add(Version version, const ChangeMask& changed) {
    REPLAYOUT_ASSERT((changed.bit_count() + word_bits - 1) / word_bits + 1 == entry_words_);
    newest_ = changed.bit_count() == 0 ? 0 : changed.words().front();
    std::uint32_t* const added = add_entry(version);
    for (std::uint32_t i = 1; i < entry_words_; ++i) {
        const std::uint64_t word = changed.words()[(i - 1) / 2];
        added[i] = static_cast<std::uint32_t>(i % 2 == 1 ? word : word >> word_bits);
    }
}

void ChangelistHistory::add_handles(const std::uint32_t* entry,
                                    ChangeMask& candidates) const noexcept {
    for (std::uint32_t i = 1; i < entry_words_; ++i) {
        const std::uint32_t shift = i % 2 == 1 ? 0 : word_bits;
        candidates.words()[(i - 1) / 2] |= std::uint64_t{entry[i]} << shift;
    }
}

std::uint32_t ChangelistHistory::collect(Version sent_version, VersionInterval lost,
                                         ChangeMask& candidates) const noexcept {
    REPLAYOUT_ASSERT((candidates.bit_count() + word_bits - 1) / word_bits + 1 == entry_words_);
    std::uint32_t visited = 0;
    for (std::uint32_t index = count_; index-- > 0;) {
        ++visited;
        const Version version = version_at(index);
        if (version <= sent_version && (lost.is_empty() || version <= lost.after)) {
            break;  // and so are all that are older
        }
        // The oldest entry stands for all versions up to its own.
        const bool is_lost =
            index == 0 ? !lost.is_empty() && lost.after < version : lost.contains(version);
        if (version > sent_version || is_lost) {
            add_handles(entry(index), candidates);
        }
    }
    return visited;
}

void ChangelistHistory::collect_newest(ChangeMask& candidates) const noexcept {
    REPLAYOUT_ASSERT(count_ > 0);
    REPLAYOUT_ASSERT((candidates.bit_count() + word_bits - 1) / word_bits + 1 == entry_words_);
    add_handles(entry(count_ - 1), candidates);
}

bool ChangelistHistory::is_any_last_changed_at(Version version,
                                               std::uint64_t whole) const noexcept {
    REPLAYOUT_ASSERT(entry_words_ <= 1 + 64 / word_bits);
    // More versions than a receiver is sent in a usual round trip. A peer decides of how many
    // objects this is asked at once.
    constexpr std::uint32_t few = 8;
    const std::uint32_t since = count_ < 2 ? few : *entry(count_ - 1) - version;
    if (since >= few) {
        return true;
    }
    const auto handles_at = [this](const std::uint32_t* at) {
        return at[1] | (entry_words_ == 3 ? std::uint64_t{at[2]} << word_bits : 0);
    };
    // No two entries are of one version. The oldest may stand for several.
    std::uint32_t index = std::max<std::uint32_t>(count_ - 1, since + 1) - since;
    while (*entry(index) < version) {
        ++index;
    }
    if (*entry(index) != version) {
        return index == 1;
    }
    // Most often the next change is one of the same handles.
    std::uint64_t left = handles_at(entry(index));
    while ((left & whole) != 0 && ++index < count_) {
        left &= ~(handles_at(entry(index)) & whole);
    }
    return left != 0;
}

Version ChangelistHistory::version_at(std::uint32_t index) const noexcept {
    REPLAYOUT_ASSERT(index < count_);
    return *entry(index);
}

bool ChangelistHistory::test(std::uint32_t index, RepHandle handle) const noexcept {
    REPLAYOUT_ASSERT(index < count_);
    REPLAYOUT_ASSERT(handle.value >= 1 && (handle.value - 1) / word_bits + 1 < entry_words_);
    const std::uint32_t bit = handle.value - 1;
    return (entry(index)[1 + bit / word_bits] >> (bit % word_bits) & 1) != 0;
}

void ChangelistHistory::grow() {
    REPLAYOUT_ASSERT(start_ == 0);  // it starts to turn only when it is as large as it gets
    capacity_ = static_cast<std::uint8_t>(capacity_ == 0 ? 4 : std::min(capacity_ * 2u, count_max));
    entries_.resize(std::size_t{capacity_} * entry_words_);
}

}  // namespace replayout
