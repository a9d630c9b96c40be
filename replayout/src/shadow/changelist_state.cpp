// SPDX-License-Identifier: MIT
#include <replayout/changelist_state.h>

#include <replayout/keyed_array.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/type.h>

#include "change_words.h"
#include "compare_properties.h"
#include "differs_from_shadow.h"
#include "equal_bytes.h"
#include "marked_words.h"
#include "owed_handles.h"
#include "scanned_words.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace replayout {

namespace {

/// Of parameters nothing: whoever calls is told that the call is refused.
void log_over_limit(const RepLayout& layout, const OverLimit& value) {
    if (layout.type().kind() == TypeKind::Struct) {
        return;
    }
    std::string reason = "exceeds its limit or is not UTF-8";
    if (value.reason == OverLimit::Reason::NotUtf8) {
        reason = "is not UTF-8";
    } else if (value.reason == OverLimit::Reason::Size) {
        const bool is_text = value.cmd->type == RepLayoutCmdType::String;
        reason = "has " + std::to_string(value.size) + (is_text ? " bytes" : " elements") +
                 ", and its limit is " + std::to_string(value.size_max) +
                 (is_text ? " (RepLimits::string_bytes_max)" : " (RepLimits::array_count_max)");
    }
    log(LogLevel::Error, "a value of property \"" +
                             layout.parents()[value.cmd->parent_index.value].property->name +
                             "\" of a \"" + std::string(layout.type().name()) + "\" " + reason +
                             ", so what it was stays in force");
}

}  // namespace

ChangelistState::ChangelistState(const RepLayout& layout, MemoryResource* resource)
    : layout_(&layout),
      shadow_(layout, resource),
      is_compared_whole_(!layout.has_push_based()),
      last_changed_(Allocator<Version>(resource)),
      due_(resource),
      previous_(layout, resource),
      history_(layout.handle_count(), resource),
      shared_(layout.handle_count(), resource),
      changed_(resource),
      conditions_(layout, resource) {
    last_changed_.resize(layout.handle_count(), 0);
    changed_.reset(layout.handle_count());
    due_ = layout.polled_parents();
    is_marked_ = layout.has_push_based() || !layout.is_polled();  // else all is looked at anyhow
    mark_all_dirty();
    shadow_.memory().copy(layout.root(), shadow_.buffer(), layout.archetype().buffer());
}

// Most objects did not change since the last tick, so that is found out with as little as possible:
// the bytes, without a context, without the other members. And without a frame, as what follows is
// the last that is done; flattened, as one call in between would need a frame.
[[gnu::noinline, gnu::flatten]] bool ChangelistState::update(const void* object,
                                                             PackageMap& package_map,
                                                             ReplicationCounters& counters) {
    REPLAYOUT_EXPECT(object != nullptr, false,
                     "update: a \"%s\" without memory: give it the object",
                     std::string(layout_->name()).c_str());
    if (is_compared_whole_) {
        ++counters.objects_compared;
        const CompareRun& only = layout_->only_run();
        if (only.size == 0) {
            return update_runs(object, package_map, counters);
        }
        if (!is_short_run(only.size)) {
            return update_long_run(only, object, package_map, counters);
        }
        const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
        return !equal_short_run((buffer + only.object_offset).data(),
                                (shadow_.buffer() + only.shadow_offset).data(), only.size) &&
               update_differing(layout_->runs().data(), 0, object, package_map, counters);
    }
    if (!is_due()) {
        ++counters.objects_skipped;
        return false;
    }
    ++counters.objects_compared;
    return is_only_words_due() ? update_words(object, counters)
                               : update_from(0, object, package_map, counters);
}

// Of most that changes a run of words does, and all of these: in place. Flattened, as each call
// would show.
[[gnu::noinline, gnu::flatten]] bool ChangelistState::update_words(const void* object,
                                                                   ReplicationCounters& counters) {
    const std::uint64_t due = due_.words().front();
    const auto begin = static_cast<std::uint32_t>(std::countr_zero(due));
    const WordRun& words = layout_->word_run(begin);
    const std::uint64_t marked = due >> begin;
    const auto count = static_cast<std::uint32_t>(std::countr_one(marked));
    const bool is_run = (marked & (marked + 1)) == 0 && count <= words.parent_count;
    const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
    if (is_run && detail::are_few_words(count) &&
        previous_.change_few_words(RepHandle{words.handle}, count, words.shadow_offset,
                                   (shadow_.buffer() + words.shadow_offset).data(),
                                   (buffer + words.object_offset).data(), last_changed_.data(),
                                   version_ + 1)) {
        end_word_marks();
        note_words(marked << (words.handle - 1u), count, counters);
        return true;
    }
    return update_word_runs(object, counters);
}

[[gnu::noinline]] bool ChangelistState::update_word_runs(const void* object,
                                                         ReplicationCounters& counters) {
    const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
    std::uint64_t changed = 0;
    for (std::uint64_t left = due_.words().front(); left != 0;) {
        const auto begin = static_cast<std::uint32_t>(std::countr_zero(left));
        const WordRun& words = layout_->word_run(begin);
        const auto marked = static_cast<std::uint32_t>(std::countr_one(left >> begin));
        const std::uint32_t count = std::min(marked, std::uint32_t{words.parent_count});
        changed |= previous_.change_words(RepHandle{words.handle}, count, words.shadow_offset,
                                          (shadow_.buffer() + words.shadow_offset).data(),
                                          (buffer + words.object_offset).data(),
                                          last_changed_.data(), version_ + 1)
                   << (words.handle - 1u);
        left &= ~(detail::low_mask(count) << begin);
    }
    end_word_marks();
    if (changed == 0) {
        return false;
    }
    note_words(changed, static_cast<std::uint32_t>(std::popcount(changed)), counters);
    return true;
}

inline void ChangelistState::end_word_marks() noexcept {
    is_marked_ = false;
    due_.words().front() = 0;  // where all that is due is words, nothing is polled
}

inline void ChangelistState::note_words(std::uint64_t changed, std::uint32_t count,
                                        ReplicationCounters& counters) {
    ++version_;
    history_.add(version_, changed);
    ++counters.objects_changed;
    counters.properties_changed += count;
}

// Apart, as are those below: to keep what outlives the call of memcmp costs as much as a short
// comparison.
[[gnu::noinline]] bool ChangelistState::update_long_run(const CompareRun& run, const void* object,
                                                        PackageMap& package_map,
                                                        ReplicationCounters& counters) {
    const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
    return std::memcmp((buffer + run.object_offset).data(),
                       (shadow_.buffer() + run.shadow_offset).data(), run.size) != 0 &&
           update_differing(layout_->runs().data(), 0, object, package_map, counters);
}

[[gnu::noinline, gnu::flatten]] bool ChangelistState::update_runs(const void* object,
                                                                  PackageMap& package_map,
                                                                  ReplicationCounters& counters) {
    if (has_unasked_references(package_map.binding_count())) {
        return update_from(0, object, package_map, counters);
    }
    const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
    const CompareRun* const run = find_differing(layout_->runs().data(), buffer);
    return run != runs_end() && update_differing(run, 0, object, package_map, counters);
}

// Mostly that is a few words of one run, and nothing else: then it takes no look at the runs.
[[gnu::flatten]] bool ChangelistState::update_changed(const void* object, PackageMap& package_map,
                                                      ReplicationCounters& counters) {
    const ScanPlan* const plan = scanned().plan;
    if (plan == nullptr || plan->word_run().count == 0 || is_marked_ ||
        has_unasked_references(package_map.binding_count())) {
        return update(object, package_map, counters);
    }
    ++counters.objects_compared;
    const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
    const std::uint64_t changed = update_run(plan->word_run(), buffer);
    if (changed != 0 && plan->is_same(object, shadow_.buffer())) {
        note_words(changed, static_cast<std::uint32_t>(std::popcount(changed)), counters);
        return true;
    }
    const CompareRun* const run = find_differing(layout_->runs().data(), buffer);
    if (run != runs_end()) {
        return update_differing(run, changed, object, package_map, counters);
    }
    if (changed != 0) {
        note_words(changed, static_cast<std::uint32_t>(std::popcount(changed)), counters);
    }
    return changed != 0;
}

inline std::uint64_t ChangelistState::update_run(const ScanPlan::WordRun& words,
                                                 ConstObjectBuffer object) {
    const std::byte* const from = (object + words.object_offset).data();
    std::byte* const to = (shadow_.buffer() + words.shadow_offset).data();
    const std::uint64_t differing = detail::differing_words(from, to, words.count);
    if (differing == 0) {
        return 0;
    }
    const auto first = static_cast<std::uint32_t>(std::countr_zero(differing));
    const std::uint64_t among = differing >> first;
    const auto count = static_cast<std::uint32_t>(std::bit_width(among));
    const std::uint32_t bytes = first * static_cast<std::uint32_t>(sizeof(std::uint32_t));
    const bool is_whole = (among & (among + 1)) == 0 && detail::are_few_words(count);
    if (!is_whole ||
        !previous_.change_few_words(RepHandle{words.handle + first}, count,
                                    ShadowOffset{words.shadow_offset.value + bytes}, to + bytes,
                                    from + bytes, last_changed_.data(), version_ + 1)) {
        (void)previous_.change_differing_words(RepHandle{words.handle}, words.count,
                                               words.shadow_offset, to, from, last_changed_.data(),
                                               version_ + 1);
    }
    return differing << (words.handle - 1);
}

inline const CompareRun* ChangelistState::find_differing(const CompareRun* run,
                                                         ConstObjectBuffer object) const {
    while (run != runs_end() && is_equal_run(*run, object)) {
        ++run;
    }
    return run;
}

inline bool ChangelistState::is_equal_run(const CompareRun& run, ConstObjectBuffer object) const {
    return run.size != 0 ? equal_bytes((object + run.object_offset).data(),
                                       (shadow_.buffer() + run.shadow_offset).data(), run.size)
                         : is_equal_leaf(run, object);
}

// A run without a size stands before a group, or is one leaf that is not plain bytes.
inline bool ChangelistState::is_equal_leaf(const CompareRun& run, ConstObjectBuffer object) const {
    if (run.cmd_start == run.cmd_end) {
        return false;  // only a compare asks whether all of the group can be sent
    }
    const RepLayoutCmd& cmd = layout_->cmd(run.cmd_start);
    const std::byte* const value = (object + run.object_offset).data();
    const ConstShadowBuffer shadow = shadow_.buffer() + run.shadow_offset;
    if (cmd.type == RepLayoutCmdType::Object) {
        return cmd.property->reference.get(value) == shadow_value<ShadowReference>(shadow).object;
    }
    if (cmd.type != RepLayoutCmdType::String) {
        return false;  // the compare that follows looks at it, so it is not looked at twice
    }
    const StringOps& ops = cmd.property->string;
    const std::string_view text = ops.view(value, ops.context);
    const auto& kept = shadow_value<PmrString>(shadow);
    // Mostly a name, for which to call somebody takes longer than to compare it.
    return text.size() == kept.size() &&
           equal_bytes(reinterpret_cast<const std::byte*>(text.data()),
                       reinterpret_cast<const std::byte*>(kept.data()), text.size());
}

// Mostly it is words that differ, which need no context; what is behind the first other thing is
// for those who look at everything.
[[gnu::noinline]] bool ChangelistState::update_differing(const CompareRun* run,
                                                         std::uint64_t changed, const void* object,
                                                         PackageMap& package_map,
                                                         ReplicationCounters& counters) {
    const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
    const CompareRun* const runs = layout_->runs().data();
    const CompareRun* const end = runs_end();
    const bool is_small = layout_->handle_count() <= 64 && !is_marked_;
    while (is_small && update_words_of(*run, buffer, changed)) {
        run = find_differing(run + 1, buffer);
        if (run == end && changed == 0) {
            return false;
        }
        if (run == end) {
            note_words(changed, static_cast<std::uint32_t>(std::popcount(changed)), counters);
            return true;
        }
    }
    if (changed != 0) {
        changed_.words().front() = changed;
    }
    return update_from(static_cast<std::uint32_t>(run - runs), object, package_map, counters);
}

inline bool ChangelistState::update_words_of(const CompareRun& run, ConstObjectBuffer object,
                                             std::uint64_t& changed) {
    if (run.size == 0) {
        return false;
    }
    const RepHandle handle{layout_->cmd(run.cmd_start).relative_handle};
    const PlainLeaf& leaf = layout_->plain_leaf(layout_->root(), handle);
    const std::uint32_t run_count = run.cmd_end.value - run.cmd_start.value;
    const std::uint32_t count = std::min(leaf.words_end - handle.value, run_count);
    const std::byte* const from = (object + run.object_offset).data();
    std::byte* const to = (shadow_.buffer() + run.shadow_offset).data();
    const std::size_t size = count * sizeof(std::uint32_t);
    if (count == 0 || count > 64 || !equal_bytes(from + size, to + size, run.size - size)) {
        return false;
    }
    changed |= previous_.change_differing_words(handle, count, run.shadow_offset, to, from,
                                                last_changed_.data(), version_ + 1)
               << (handle.value - 1);
    return true;
}

[[gnu::noinline]] bool ChangelistState::update_from(std::uint32_t run_start, const void* object,
                                                    PackageMap& package_map,
                                                    ReplicationCounters& counters) {
    CompareContext context{*layout_, shadow_.memory(), &package_map, version_ + 1};
    context.due = is_compared_whole_ ? nullptr : &due_;
    context.inactive = conditions_.inactive();
    context.previous = &previous_;
    context.last_changed = last_changed_.data();
    context.run_start = run_start;
    const std::uint64_t binding_count = package_map.binding_count();
    context.are_handles_new = binding_count != binding_count_;
    context.is_exact = is_exact_;
    is_exact_ = false;
    const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
    const bool is_changed =
        compare_properties(context, buffer, shadow_.buffer(), changed_) || changed_.any();
    has_tolerated_ = context.has_tolerated && !context.is_exact;
    counters.values_over_limit += context.over_limit_count;
    if (is_compared_whole_ && context.over_limit.cmd == nullptr) {
        binding_count_ = binding_count;  // references that were left out are still to be asked
    }
    if (context.over_limit.cmd != nullptr && !is_over_limit_) {
        is_over_limit_ = true;
        log_over_limit(*layout_, context.over_limit);
    }
    if (is_marked_) {
        is_marked_ = false;
        due_.assign(layout_->polled_parents());
        conditions_.finish_compare();
        is_compared_whole_ = !layout_->has_push_based() && conditions_.inactive() == nullptr;
    }
    if (is_changed) {
        note_changes(counters);
    }
    return is_changed;
}

void ChangelistState::note_changes(ReplicationCounters& counters) {
    ++version_;
    counters.properties_changed += changed_.count();
    if (previous_.is_unfinished()) {
        finish_changes();
    }
    ++counters.objects_changed;
    history_.add(version_, changed_);
    changed_.reset(layout_->handle_count());
}

void ChangelistState::finish_changes() {
    for (std::uint32_t bit = changed_.next(0); bit < changed_.bit_count();
         bit = changed_.next(bit + 1)) {
        const RepLayoutCmd& cmd =
            layout_->cmd(layout_->cmd_of(layout_->root(), RepHandle{bit + 1}));
        if (has_previous_values(cmd.type)) {
            previous_.finish_change(cmd, shadow() + cmd.shadow_offset);
        }
    }
    previous_.finished();
}

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

void ChangelistState::name_references(NetGUID placeholder, PackageMap& package_map) {
    shadow_.memory().name_references(layout_->root(), shadow_.buffer(), placeholder, package_map);
}

void ChangelistState::refuse_mark(ParentIndex parent) const noexcept {
    REPLAYOUT_EXPECT(parent.value < layout_->parents().size(), void(),
                     "mark_property_dirty: property %u of a \"%s\", which has %zu: use "
                     "RepLayout::find_parent() of this class",
                     unsigned{parent.value}, std::string(layout_->name()).c_str(),
                     layout_->parents().size());
}

void ChangelistState::mark_all_dirty() noexcept {
    if (layout_->has_push_based()) {
        due_.set_range(0, due_.bit_count());  // of parents that are polled this changes nothing
        is_marked_ = true;
    }
}

void ChangelistState::mark_exact() noexcept {
    if (layout_->sent_within_us() == 0) {
        return;
    }
    is_exact_ = true;
    for (std::uint32_t i = 0; i < due_.bit_count(); ++i) {
        const RepParentCmd& parent = layout_->parents()[i];
        if (parent.is_push_based && parent.property->sent_within_us != 0) {
            due_.set(i);
            is_marked_ = true;
        }
    }
}

void ChangelistState::find_missed_marks(const void* object, ChangeMask& missed) const {
    REPLAYOUT_EXPECT(object != nullptr, void(),
                     "find_missed_marks: a \"%s\" without memory: give it the object",
                     std::string(layout_->name()).c_str());
    const ConstObjectBuffer buffer(static_cast<const std::byte*>(object));
    missed.reset(static_cast<std::uint32_t>(layout_->parents().size()));
    const ChangeMask* const inactive = conditions_.inactive();
    for (std::uint32_t i = 0; i < missed.bit_count(); ++i) {
        const RepParentCmd& parent = layout_->parents()[i];
        // What is being switched off is compared once more, so it is not among these yet.
        if (parent.handle_count == 0 ||
            (inactive != nullptr && inactive->test(parent.first_handle - 1))) {
            continue;
        }
        const bool is_compared = !parent.is_push_based || due_.test(i);
        if ((!is_compared && differs_from_shadow(*layout_, parent, buffer, shadow())) ||
            misses_item_marks(*layout_, parent, buffer, shadow())) {
            missed.set(i);
        }
    }
}

void ChangelistState::set_active(ParentIndex parent, bool is_active) {
    conditions_.set_active(parent, is_active);
    has_switches_ = true;
    is_compared_whole_ = false;
    is_marked_ = true;
    if (is_active) {
        mark_dirty(parent);
    }
}

void ChangelistState::set_dynamic_condition(ParentIndex parent, LifetimeCondition condition) {
    conditions_.set_dynamic(parent, condition);
    shared_.drop_payloads();  // they were cut to what the condition was
}

void ChangelistState::collect_owed(const OwedVersions& position, ChangeMask& owed) const {
    OwedHandles(*this, position).collect(owed);
}

void ChangelistState::collect_owed(const OwedVersions& position, LifetimeConditionSet passing,
                                   ChangeMask& owed) const {
    collect_owed(position, owed);
    conditions_.filter(passing, owed);
}

void ChangelistState::collect_newest(ChangeMask& owed) const {
    owed.reset(layout_->handle_count());
    history_.collect_newest(owed);
}

bool ChangelistState::owes(const OwedVersions& position, RepHandle handle) const noexcept {
    return OwedHandles(*this, position).contains(handle);
}

VersionInterval ChangelistState::versions_to_repeat(RepHandle handle,
                                                    Version sent_version) const noexcept {
    const Version last_changed = this->last_changed(handle);
    if (is_array(layout_->cmd(layout_->cmd_of(layout_->root(), handle)).type)) {
        return {0, sent_version};
    }
    if (last_changed > sent_version) {
        // It may be back at what was sent, and is to go all the same: with a loss no pair is exact.
        return sent_version == 0 ? VersionInterval()
                                 : VersionInterval{sent_version - 1, sent_version};
    }
    return {last_changed - 1, last_changed};
}

ChangelistState::Pivots ChangelistState::pivots() const noexcept {
    Pivots pivots;
    const auto add = [&pivots](Version version) {
        if (version > pivots.newest) {
            pivots.before = std::exchange(pivots.newest, version);
        } else if (version < pivots.newest) {
            pivots.before = std::max(pivots.before, version);
        }
    };
    for (const RepHandle handle : layout_->keyed_handles()) {
        const RepLayoutCmd& cmd = layout_->cmd(layout_->cmd_of(layout_->root(), handle));
        const auto& array = shadow_value<ShadowKeyedArray>(shadow() + cmd.shadow_offset);
        add(array.membership_version_before);
        add(array.membership_version);
    }
    for (const RepGroup& group : layout_->groups(layout_->root())) {
        std::for_each(last_changed_.begin() + (group.handle_begin - 1),
                      last_changed_.begin() + (group.handle_end - 1), add);
    }
    return pivots;
}

bool ChangelistState::must_restart_arrays(const OwedVersions& position,
                                          const ChangeMask& handles) const noexcept {
    if (!layout_->has_keyed_arrays()) {
        return false;
    }
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        const RepHandle handle{bit + 1};
        if (!is_keyed(handle)) {
            continue;
        }
        const RepLayoutCmd& cmd = layout_->cmd(layout_->cmd_of(layout_->root(), handle));
        if (must_restart(shadow_value<ShadowKeyedArray>(shadow() + cmd.shadow_offset), position,
                         layout_->limits().array_count_max)) {
            return true;
        }
    }
    return false;
}

}  // namespace replayout
