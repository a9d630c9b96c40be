// SPDX-License-Identifier: MIT
//
// What changes changes mostly like what changed before it: the same few words side by side, all of
// them, and nothing else, as of everything that moves. So what there is to know of these words, and
// of their class, is found once, and an object takes no more than the words themselves.
#include <replayout/changelist_state.h>

#include "change_words.h"
#include "equal_bytes.h"

#include <algorithm>
#include <bit>

namespace replayout {

/// Four to eight words that change together, in any object of one class.
class ChangelistState::FewWords {
  public:
    /// Of a class with at most 64 handles. `handles`: of these words, side by side.
    void begin(const ChangelistState& state, ObjectOffset object_offset, ShadowOffset shadow_offset,
               std::uint64_t handles) noexcept {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(handles));
        count_ = static_cast<std::uint32_t>(std::bit_width(handles)) - first;
        REPLAYOUT_ASSERT(detail::are_few_words(count_) && handles == detail::low_mask(count_)
                                                                         << first);
        first_ = first;
        handles_ = handles;
        object_offset_ = object_offset;
        shadow_offset_ = shadow_offset;
        const std::size_t value_bytes = state.previous_.value_bytes_;
        starts_before_ = 2 * value_bytes + first * sizeof(Version);
        starts_step_ = state.previous_.handle_count_ * sizeof(Version);
        returned_ = 2 * (value_bytes + starts_step_);
        value_step_ = value_bytes;
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    /// They become what they are in the object. False, and nothing done: some are it already, or
    /// nothing of the object ever changed.
    [[nodiscard]] [[gnu::always_inline]] inline bool change(ChangelistState& state,
                                                            ConstObjectBuffer object) const;

  private:
    std::uint64_t handles_ = 0;
    std::uint32_t first_ = 0;  // handle of the first, less one
    std::uint32_t count_ = 0;
    ObjectOffset object_offset_;
    ShadowOffset shadow_offset_;
    // As PreviousValues lays its memory out, in bytes.
    std::size_t starts_before_ = 0;
    std::size_t starts_step_ = 0;
    std::size_t value_step_ = 0;
    std::size_t returned_ = 0;
};

inline bool ChangelistState::FewWords::change(ChangelistState& state,
                                              ConstObjectBuffer object) const {
    using detail::Words;
    const std::byte* const from = (object + object_offset_).data();
    std::byte* const to = (state.shadow_.buffer() + shadow_offset_).data();
    std::byte* const memory = state.previous_.memory_;
    const std::uint32_t last = count_ - detail::words_at_once;
    const detail::ComparedWords<Words> first_words(from, to, 0);
    const detail::ComparedWords<Words> last_words(from, to, last);
    if (memory == nullptr || detail::bits_of(first_words.same | last_words.same) != 0) {
        return false;
    }
    std::byte* const before = memory + shadow_offset_.value;
    std::byte* const starts = memory + starts_before_;
    const Version version = state.version_ + 1;
    const detail::WordRows rows{from,
                                to,
                                before,
                                before + value_step_,
                                state.last_changed_.data() + first_,
                                reinterpret_cast<Version*>(starts),
                                reinterpret_cast<Version*>(starts + starts_step_),
                                version};
    // All is read before anything is written, so what is in both is written twice as the same.
    const detail::KnownWords<Words> first_known(rows, 0);
    const detail::KnownWords<Words> last_known(rows, last);
    const std::uint64_t first_back = detail::change_all(rows, 0, first_words, first_known);
    const std::uint64_t last_back = detail::change_all(rows, last, last_words, last_known);
    auto& returned = *reinterpret_cast<std::uint64_t*>(memory + returned_);
    returned = (returned & ~handles_) | (first_back | last_back << last) << first_;
    state.version_ = version;
    state.history_.add(version, handles_);
    return true;
}

/// Words of objects that are marked, and nothing else of these.
class ChangelistState::MarkedWords {
  public:
    [[nodiscard]] [[gnu::always_inline]] bool change(ChangelistState& state,
                                                     ConstObjectBuffer object) {
        if (state.layout_ != layout_ || !state.is_marked_ || state.has_switches_ ||
            state.due_.words().front() != due_) {
            if (!find(state)) {
                return false;
            }
        }
        if (!words_.change(state, object)) {
            return false;
        }
        state.is_marked_ = false;
        state.due_.words().front() = 0;  // where all that is due is words, nothing is polled
        return true;
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return words_.count(); }

  private:
    [[gnu::noinline]] bool find(const ChangelistState& state) {
        layout_ = nullptr;
        if (!state.is_only_words_due()) {
            return false;
        }
        const std::uint64_t due = state.due_.words().front();
        const auto begin = static_cast<std::uint32_t>(std::countr_zero(due));
        const WordRow& row = state.layout_->word_row(begin);
        const std::uint64_t marked = due >> begin;
        const auto count = static_cast<std::uint32_t>(std::bit_width(marked));
        if ((marked & (marked + 1)) != 0 || !detail::are_few_words(count) ||
            count > row.parent_count) {
            return false;
        }
        words_.begin(state, row.object_offset, row.shadow_offset, marked << (row.handle - 1u));
        layout_ = state.layout_;
        due_ = due;
        return true;
    }

    const RepLayout* layout_ = nullptr;
    std::uint64_t due_ = 0;
    FewWords words_;
};

/// Words of objects of which a scan found that all else but some of the longer stretches of bytes
/// is what it was: where these are one, of which the words are the begin.
class ChangelistState::ScannedWords {
  public:
    [[nodiscard]] [[gnu::always_inline]] bool change(ChangelistState& state,
                                                     ConstObjectBuffer object) {
        if (state.layout_ != layout_) {
            find_row(*state.layout_);
        }
        if (row_.count == 0 || !state.is_compared_whole_ || state.is_marked_) {
            return false;
        }
        const std::byte* const from = (object + row_.object_offset).data();
        const std::byte* const to = (state.shadow_.buffer() + row_.shadow_offset).data();
        const std::uint64_t differing = detail::differing_words(from, to, row_.count);
        if (differing != differing_ && !find_words(state, differing)) {
            return false;
        }
        const std::size_t size = row_.count * detail::word_bytes;
        return equal_bytes(from + size, to + size, rest_bytes_) && words_.change(state, object);
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return words_.count(); }

  private:
    [[gnu::noinline]] void find_row(const RepLayout& layout) {
        layout_ = &layout;
        row_ = {};
        differing_ = 0;
        const ScanPlan* const plan = layout.scan_plan();
        if (plan == nullptr || plan->word_row().count == 0) {
            return;
        }
        const RepScope& root = layout.root();
        const auto runs = layout.runs().subspan(root.run_start, root.run_end - root.run_start);
        const auto is_long = [](const CompareRun& run) {
            return run.size >= ScanPlan::chunk_bytes;
        };
        const auto run = std::find_if(runs.begin(), runs.end(), is_long);
        if (run != runs.end() && std::find_if(run + 1, runs.end(), is_long) == runs.end() &&
            run->object_offset.value == plan->word_row().object_offset.value) {
            row_ = plan->word_row();
            rest_bytes_ = run->size - row_.count * static_cast<std::uint32_t>(detail::word_bytes);
        }
    }
    /// False: none, or not a few side by side.
    [[gnu::noinline]] bool find_words(const ChangelistState& state, std::uint64_t differing) {
        differing_ = 0;
        if (differing == 0) {
            return false;
        }
        const auto first = static_cast<std::uint32_t>(std::countr_zero(differing));
        const std::uint64_t among = differing >> first;
        const auto offset = static_cast<std::uint32_t>(first * detail::word_bytes);
        if ((among & (among + 1)) != 0 ||
            !detail::are_few_words(static_cast<std::uint32_t>(std::bit_width(among)))) {
            return false;
        }
        words_.begin(state, ObjectOffset{row_.object_offset.value + offset},
                     ShadowOffset{row_.shadow_offset.value + offset},
                     differing << (row_.handle - 1));
        differing_ = differing;
        return true;
    }

    const RepLayout* layout_ = nullptr;
    ScanPlan::WordRow row_;         // of count 0: there is none
    std::uint32_t rest_bytes_ = 0;  // behind it in its run
    std::uint64_t differing_ = 0;
    FewWords words_;
};

[[gnu::flatten]] std::uint64_t ChangelistState::update_few_words(std::span<const ToUpdate> objects,
                                                                 ReplicationCounters& counters) {
    REPLAYOUT_ASSERT(objects.size() <= 64);
    // By measuring: far enough for the memory to be there.
    constexpr std::size_t steps_ahead = 4;
    MarkedWords marked;
    ScannedWords scanned;
    std::uint64_t done = 0;
    std::uint64_t done_count = 0;
    std::uint64_t value_count = 0;
    for (std::size_t i = 0; i < objects.size() + steps_ahead; ++i) {
        if (i < objects.size()) {
            objects[i].state->prefetch_values();
        }
        const std::size_t now = i - steps_ahead;  // in the first steps it wraps to more than any
        if (now >= objects.size()) {
            continue;
        }
        const ToUpdate& one = objects[now];
        const ConstObjectBuffer object(static_cast<const std::byte*>(one.object));
        std::uint32_t count = 0;
        if (one.known == Known::Nothing) {
            count = marked.change(*one.state, object) ? marked.count() : 0;
        } else if (one.known == Known::LongRunsDiffer) {
            count = scanned.change(*one.state, object) ? scanned.count() : 0;
        }
        if (count != 0) {
            done |= std::uint64_t{1} << now;
            ++done_count;
            value_count += count;
        }
    }
    counters.objects_compared += done_count;
    counters.objects_changed += done_count;
    counters.properties_changed += value_count;
    return done;
}

}  // namespace replayout
