// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>
#include <replayout/rep_layout.h>
#include <replayout/scan_plan.h>
#include <replayout/shadow_state.h>

#include "differs_from_shadow.h"
#include "equal_bytes.h"
#include "native_value.h"
#include "struct_value.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace replayout {

namespace {

template <typename List, typename Visitor>
void for_each_of(const List& list, Visitor visit) {
    for (const auto& each : list) {
        visit(each);
    }
}
/// Of a few without a loop, which for so few would cost as much again.
template <typename Item, std::size_t Count, typename Visitor>
void for_each_of(const std::array<Item, Count>& list, Visitor visit) {
    [&]<std::size_t... Indices>(std::index_sequence<Indices...>) {
        (visit(list[Indices]), ...);
    }
    (std::make_index_sequence<Count>());
}

template <typename List>
[[nodiscard]] detail::VectorChunk difference_of_chunks(const List& list, const std::byte* object,
                                                       const std::byte* shadow) noexcept {
    detail::VectorChunk difference{};
    for_each_of(list, [&](const auto& at) {
        difference.add(
            detail::VectorChunk::difference(object + at.object_offset, shadow + at.shadow_offset));
    });
    return difference;
}

/// Not zero: some word differs.
template <typename Word, typename List>
[[nodiscard]] std::uint64_t difference_of_words(const List& list, const std::byte* object,
                                                const std::byte* shadow) noexcept {
    std::uint64_t difference = 0;
    for_each_of(list, [&](const auto& at) {
        difference |= std::uint64_t{load_native<Word>(object + at.object_offset)} ^
                      load_native<Word>(shadow + at.shadow_offset);
    });
    return difference;
}

/// The same of `Count` references side by side.
template <std::uint32_t Count>
[[nodiscard]] std::uint64_t difference_of_references(const std::byte* object,
                                                     const std::byte* shadow) noexcept {
    return [&]<std::size_t... Indices>(std::index_sequence<Indices...>) {
        return ((load_native<std::uint64_t>(object + Indices * sizeof(ObjectHandle)) ^
                 load_native<std::uint64_t>(shadow + Indices * sizeof(ShadowReference))) |
                ...);
    }
    (std::make_index_sequence<Count>());
}

[[nodiscard]] std::uint64_t difference_of_references(const std::byte* object,
                                                     const std::byte* shadow,
                                                     std::uint32_t count) noexcept {
    static_assert(sizeof(ObjectHandle) == sizeof(std::uint64_t));
    constexpr std::uint32_t step = 8;  // in a loop, for which one at a time costs as much again
    std::uint64_t difference = 0;
    for (; count >= step; count -= step) {
        difference |= difference_of_references<step>(object, shadow);
        object += step * sizeof(ObjectHandle);
        shadow += step * sizeof(ShadowReference);
    }
    for (; count > 0; --count) {
        difference |= difference_of_references<1>(object, shadow);
        object += sizeof(ObjectHandle);
        shadow += sizeof(ShadowReference);
    }
    return difference;
}

}  // namespace

ScanPlan::ScanPlan(MemoryResource* resource)
    : chunks_(resource),
      words_(resource),
      texts_(resource),
      leaves_(resource),
      longs_(resource),
      reference_runs_(resource),
      bytes_(resource),
      bits_(resource) {}

void ScanPlan::assign(const RepLayout& layout) {
    is_usable_ = true;
    const RepScope& root = layout.root();
    for (const CompareRun& run :
         layout.runs().subspan(root.run_start, root.run_end - root.run_start)) {
        add(run, layout);
    }
    if (longs_.size() > short_longs_.size()) {
        find_reference_runs();
    }
    find_short_form();
    has_small_ = !reference_runs_.empty() ||
                 (!longs_.empty() && short_longs_form_ == ShortLongs::None) ||
                 (!bytes_.empty() && !has_short_bytes_) || !bits_.empty();
    shadow_last_.value = root.shadow_size > 0 ? root.shadow_size - 1 : 0;
    if (object_last_ < object_begin_) {
        object_begin_ = object_last_;  // there is nothing in it
    }
}

void ScanPlan::add(const CompareRun& run, const RepLayout& layout) {
    if (run.cmd_start == run.cmd_end) {
        return;  // stands before a group, of which nothing is asked while all is the same
    }
    const RepLayoutCmd& cmd = layout.cmd(run.cmd_start);
    const Offsets at{run.object_offset.value, run.shadow_offset.value};
    const std::uint32_t size = run.size != 0 ? run.size : cmd.element_size;
    object_begin_ = std::min(object_begin_, at.object_offset);
    object_last_ = std::max(object_last_, at.object_offset + size - 1);
    if (run.size != 0) {
        add_bytes(at, run.size);
        find_word_run(run, layout);
    } else if (cmd.type == RepLayoutCmdType::BitBool) {
        bits_.push_back({at, cmd.property->bit_mask});
    } else if (cmd.type == RepLayoutCmdType::String) {
        const StringOps& ops = cmd.property->string;
        texts_.push_back({at, ops.is_std_string ? nullptr : &ops});
    } else if (cmd.type == RepLayoutCmdType::Object && cmd.property->reference.is_plain) {
        static_assert(offsetof(ShadowReference, object) == 0);
        longs_.push_back(at);
    } else {
        const bool can_scan =
            cmd.type != RepLayoutCmdType::KeyedArray && !is_sent_within(layout, cmd);
        is_usable_ = is_usable_ && can_scan;
        leaves_.push_back({&layout, run.cmd_start});
    }
}

void ScanPlan::find_word_run(const CompareRun& run, const RepLayout& layout) {
    const std::uint32_t handle = layout.cmd(run.cmd_start).relative_handle;
    const RepGroup* const group = layout.find_group(layout.root(), RepHandle{handle});
    if (group != nullptr && group->may_exceed_limits) {
        return;  // these words change together with the rest of their group, or not at all
    }
    const std::uint32_t words_end = layout.plain_leaf(layout.root(), RepHandle{handle}).words_end;
    const std::uint32_t run_count = run.cmd_end.value - run.cmd_start.value;
    const std::uint32_t count = std::min(words_end - handle, run_count);
    if (word_run_.count == 0 && count >= 4 && layout.handle_count() <= 64) {
        word_run_ = {run.object_offset, run.shadow_offset, handle, count};
    }
}

void ScanPlan::find_short_form() {
    is_short_ = !chunks_.empty() && chunks_.size() <= short_chunks_.size() &&
                words_.size() <= short_words_.size();
    if (is_short_) {
        short_chunks_.fill(chunks_.back());
        std::copy(chunks_.begin(), chunks_.end(), short_chunks_.begin());
        short_words_.fill(words_.empty() ? chunks_.back() : words_.back());
        std::copy(words_.begin(), words_.end(), short_words_.begin());
    }
    if (!longs_.empty() && longs_.size() <= short_longs_.size()) {
        short_longs_form_ = longs_.size() <= 2 ? ShortLongs::Two : ShortLongs::Six;
        short_longs_.fill(longs_.back());
        std::copy(longs_.begin(), longs_.end(), short_longs_.begin());
    }
    has_short_bytes_ = !bytes_.empty() && bytes_.size() <= short_bytes_.size();
    if (has_short_bytes_) {
        short_bytes_.fill(bytes_.back());
        std::copy(bytes_.begin(), bytes_.end(), short_bytes_.begin());
    }
    const auto step = [](Offsets at) { return at.object_offset - at.shadow_offset; };
    const bool is_one_run =
        is_short_ && std::all_of(chunks_.begin(), chunks_.end(),
                                 [&](Offsets at) { return step(at) == step(chunks_.front()); });
    const bool has_simple_texts =
        texts_.empty() || (texts_.size() == 1 && texts_.front().ops == nullptr);
    is_simple_ = is_one_run && longs_.empty() && reference_runs_.empty() && bytes_.empty() &&
                 bits_.empty() && leaves_.empty() && has_simple_texts;
}

void ScanPlan::find_reference_runs() {
    constexpr std::ptrdiff_t count_min = 4;
    const auto is_next = [](Offsets at, Offsets next) {
        return next.object_offset == at.object_offset + sizeof(ObjectHandle) &&
               next.shadow_offset == at.shadow_offset + sizeof(ShadowReference);
    };
    auto kept_end = longs_.begin();
    for (auto begin = longs_.begin(); begin != longs_.end();) {
        auto end = std::next(begin);
        while (end != longs_.end() && is_next(*std::prev(end), *end)) {
            ++end;
        }
        if (end - begin >= count_min) {
            reference_runs_.push_back({*begin, static_cast<std::uint32_t>(end - begin)});
        } else {
            kept_end = std::copy(begin, end, kept_end);
        }
        begin = end;
    }
    longs_.erase(kept_end, longs_.end());
}

void ScanPlan::add_bytes(Offsets begin, std::uint32_t size) {
    const auto add_all = [&](std::pmr::vector<Offsets>& list, std::uint32_t step) {
        for (std::uint32_t offset = 0; offset < size; offset += step) {
            const std::uint32_t at = std::min(offset, size - step);  // the last over those before
            list.push_back({begin.object_offset + at, begin.shadow_offset + at});
        }
    };
    if (size >= chunk_bytes) {
        add_all(chunks_, chunk_bytes);
    } else if (size >= sizeof(std::uint64_t)) {
        add_all(longs_, sizeof(std::uint64_t));
    } else if (size >= sizeof(std::uint32_t)) {
        add_all(words_, sizeof(std::uint32_t));
    } else {
        add_all(bytes_, 1);
    }
}

inline bool ScanPlan::is_same_text(const Text& text, const std::byte* object,
                                   ConstShadowBuffer shadow) const noexcept {
    const std::byte* const value = object + text.at.object_offset;
    const std::string_view now =
        text.ops == nullptr
            ? std::string_view(*std::launder(reinterpret_cast<const std::string*>(value)))
            : text.ops->view(value, text.ops->context);
    const auto& kept = shadow_value<PmrString>(shadow + ShadowOffset{text.at.shadow_offset});
    if (now.size() != kept.size()) {
        return false;
    }
    const auto* const left = reinterpret_cast<const std::byte*>(now.data());
    const auto* const right = reinterpret_cast<const std::byte*>(kept.data());
    // Mostly a name, for which to call somebody takes longer than to compare it.
    return now.size() - 8 <= 8 ? detail::equal_ends<std::uint64_t>(left, right, now.size())
                               : equal_bytes(left, right, now.size());
}

std::uint64_t ScanPlan::difference_of_small(const std::byte* object,
                                            const std::byte* shadow) const noexcept {
    std::uint64_t difference = difference_of_words<std::uint64_t>(longs_, object, shadow) |
                               difference_of_words<std::uint8_t>(bytes_, object, shadow);
    for (const ReferenceRun& words : reference_runs_) {
        difference |= difference_of_references(object + words.begin.object_offset,
                                               shadow + words.begin.shadow_offset, words.count);
    }
    for (const Bit& bit : bits_) {
        const auto byte = std::to_integer<std::uint8_t>(object[bit.at.object_offset]);
        const std::uint64_t value = (byte & bit.mask) != 0 ? 1 : 0;
        difference |= value ^ std::to_integer<std::uint8_t>(shadow[bit.at.shadow_offset]);
    }
    return difference;
}

bool ScanPlan::are_same_leaves(const std::byte* object, ConstShadowBuffer shadow) const {
    return std::all_of(leaves_.begin(), leaves_.end(), [&](const Leaf& leaf) {
        return is_same_leaf(*leaf.layout, leaf.cmd, ConstObjectBuffer(object), shadow);
    });
}

// All of the plain bytes before it is asked whether any differs: mostly none does, and each
// question costs more than a comparison.
inline ScanPlan::Found ScanPlan::find(const std::byte* object,
                                      ConstShadowBuffer shadow) const noexcept {
    const std::byte* const kept = shadow.data();
    const detail::VectorChunk chunk_difference =
        is_short_ ? difference_of_chunks(short_chunks_, object, kept)
                  : difference_of_chunks(chunks_, object, kept);
    std::uint64_t difference = is_short_
                                   ? difference_of_words<std::uint32_t>(short_words_, object, kept)
                                   : difference_of_words<std::uint32_t>(words_, object, kept);
    if (short_longs_form_ == ShortLongs::Two) {
        difference |= difference_of_words<std::uint64_t>(
            std::array{short_longs_[0], short_longs_[1]}, object, kept);
    } else if (short_longs_form_ == ShortLongs::Six) {
        difference |= difference_of_words<std::uint64_t>(short_longs_, object, kept);
    }
    if (has_short_bytes_) {
        difference |= difference_of_words<std::uint8_t>(short_bytes_, object, kept);
    }
    if (has_small_) {
        difference |= difference_of_small(object, kept);
    }
    if (difference != 0) {
        return Found::Other;
    }
    for (const Text& text : texts_) {
        if (!is_same_text(text, object, shadow)) {
            return Found::Other;
        }
    }
    if (!leaves_.empty() && !are_same_leaves(object, shadow)) {
        return Found::Other;
    }
    return chunk_difference.is_zero() ? Found::Same : Found::LongRuns;
}

bool ScanPlan::is_same(const void* object, ConstShadowBuffer shadow) const noexcept {
    REPLAYOUT_ASSERT(is_usable_);
    return find(static_cast<const std::byte*>(object), shadow) == Found::Same;
}

// Flattened, as the next one: a call for each object would cost a quarter of all.
[[gnu::noinline, gnu::flatten]] std::uint64_t ScanPlan::find_any(
    const ScannedObject* scanned, const void* const* objects, std::uint64_t bits,
    Findings& findings) const noexcept {
    std::uint64_t left = bits;
    for (; left != 0; left &= left - 1) {
        const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
        const ScannedObject& one = scanned[i];
        if (one.plan != this) {
            break;
        }
        const Found found = find(static_cast<const std::byte*>(objects[i]), one.shadow);
        const std::uint64_t bit = left & (~left + 1);
        findings.changed |= found != Found::Same ? bit : 0;
        findings.long_runs |= found == Found::LongRuns ? bit : 0;
    }
    return left;
}

// What is to be known of the plan is read once: what is read of objects might be anything, as far
// as the compiler knows.
[[gnu::noinline, gnu::flatten]] std::uint64_t ScanPlan::find_simple(
    const ScannedObject* scanned, const void* const* objects, std::uint64_t bits,
    Findings& findings) const noexcept {
    const std::array<Offsets, 4> chunks = short_chunks_;
    const std::array<Offsets, 2> words = short_words_;
    const std::size_t second = chunks[1].object_offset - chunks[0].object_offset;
    const std::size_t third = chunks[2].object_offset - chunks[0].object_offset;
    const std::size_t fourth = chunks[3].object_offset - chunks[0].object_offset;
    const bool has_text = !texts_.empty();
    const Text text = has_text ? texts_.front() : Text{};
    Findings found = findings;
    std::uint64_t left = bits;
    for (; left != 0; left &= left - 1) {
        const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
        const ScannedObject& one = scanned[i];
        if (one.plan != this) {
            break;
        }
        const auto* const object = static_cast<const std::byte*>(objects[i]);
        const std::byte* const kept = one.shadow.data();
        const std::byte* const run = object + chunks[0].object_offset;
        const std::byte* const kept_run = kept + chunks[0].shadow_offset;
        detail::VectorChunk difference = detail::VectorChunk::difference(run, kept_run);
        difference.add(detail::VectorChunk::difference(run + second, kept_run + second));
        difference.add(detail::VectorChunk::difference(run + third, kept_run + third));
        difference.add(detail::VectorChunk::difference(run + fourth, kept_run + fourth));
        const bool is_rest_same = difference_of_words<std::uint32_t>(words, object, kept) == 0 &&
                                  (!has_text || is_same_text(text, object, one.shadow));
        if (is_rest_same && difference.is_zero()) [[likely]] {
            continue;
        }
        const std::uint64_t bit = left & (~left + 1);
        found.changed |= bit;
        found.long_runs |= is_rest_same ? bit : 0;
    }
    findings = found;
    return left;
}

ScanPlan::Findings find_changed(const ScannedObject* scanned, const void* const* objects,
                                std::uint64_t bits) noexcept {
    ScanPlan::Findings findings;
    std::uint64_t left = bits;
    while (left != 0) {
        const ScanPlan& plan = *scanned[std::countr_zero(left)].plan;
        REPLAYOUT_ASSERT(plan.is_usable());
        left = plan.is_simple_ ? plan.find_simple(scanned, objects, left, findings)
                               : plan.find_any(scanned, objects, left, findings);
    }
    return findings;
}

}  // namespace replayout
