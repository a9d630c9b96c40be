// SPDX-License-Identifier: MIT
#include "compare_properties.h"

#include <replayout/quantise.h>
#include <replayout/reflection/property.h>

#include "equal_bytes.h"
#include "group_limits.h"
#include "spare_room.h"
#include "struct_value.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace replayout {

namespace {

/// `leaf` is about to be overwritten.
void before_change(const CompareContext& context, const RepLayoutCmd& cmd, ConstShadowBuffer leaf) {
    if (context.previous != nullptr) {
        context.previous->keep(cmd, leaf, context.last_changed[cmd.relative_handle - 1u]);
    }
}

/// The value of a command is left out.
void note_over_limit(CompareContext& context, const OverLimit& value) {
    ++context.over_limit_count;
    context.over_limit = context.over_limit.cmd != nullptr ? context.over_limit : value;
}

[[nodiscard]] bool update_string(CompareContext& context, const RepLayoutCmd& cmd,
                                 ConstObjectBuffer object, ShadowBuffer shadow) {
    const StringOps& ops = cmd.property->string;
    const std::string_view text = ops.view(object.data(), ops.context);
    auto& kept = shadow_value<PmrString>(shadow);
    if (text == kept) {
        return false;
    }
    // Checked here, once for all receivers, because each would refuse the whole block.
    if (!text_can_be_sent(context.layout, text)) {
        const std::size_t size_max = context.layout.limits().string_bytes_max;
        const bool is_long = text.size() > size_max;
        note_over_limit(context,
                        {&cmd, is_long ? OverLimit::Reason::Size : OverLimit::Reason::NotUtf8,
                         text.size(), size_max});
        return false;
    }
    before_change(context, cmd, shadow);
    assign_text(kept, text);
    return true;
}

[[nodiscard]] bool update_object(CompareContext& context, const RepLayoutCmd& cmd,
                                 ConstObjectBuffer object, ShadowBuffer shadow) {
    const ObjectHandle handle = cmd.property->reference.get(object.data());
    auto& kept = shadow_value<ShadowReference>(shadow);
    if (handle == kept.object && (!context.are_handles_new || handle.is_null() ||
                                  context.package_map->is_current(kept.guid, handle))) {
        return false;
    }
    before_change(context, cmd, shadow);
    kept.object = handle;
    kept.guid = context.package_map != nullptr ? context.package_map->guid_of(handle) : NetGUID{};
    return true;
}

/// Values that are identical differ all the same, and that is to be sent now: in a property with
/// sent_within_us when its time is over, and in a call, which has the value that was passed.
[[nodiscard]] bool differs_all_the_same(CompareContext& context, const RepLayoutCmd& cmd,
                                        ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const RepLayout& layout = context.layout;
    const bool is_call = layout.type().kind() == TypeKind::Struct;
    const bool is_later = layout.sent_within_us() != 0 && is_sent_within(layout, cmd);
    if ((!is_call && !is_later) ||
        structs_equal(*cmd.property->struct_type, object.data(), shadow.data())) {
        return false;
    }
    context.has_tolerated = context.has_tolerated || is_later;
    return is_call || context.is_exact;
}

[[nodiscard]] bool update_struct(CompareContext& context, const RepLayoutCmd& cmd,
                                 ConstObjectBuffer object, ShadowBuffer shadow) {
    const Type& type = *cmd.property->struct_type;
    if (structs_identical(type, object.data(), shadow.data()) &&
        !differs_all_the_same(context, cmd, object, shadow)) {
        return false;
    }
    if (!struct_can_be_sent(type, object.data())) {
        note_over_limit(context, {&cmd});
        return false;
    }
    if (has_previous_values(cmd.type)) {
        before_change(context, cmd, shadow);
    }
    copy_struct(type, shadow.data(), object.data());
    return true;
}

[[nodiscard]] bool update_bit(const CompareContext& context, const RepLayoutCmd& cmd,
                              ConstObjectBuffer object, ShadowBuffer shadow) {
    const auto byte = std::to_integer<std::uint8_t>(*object.data());
    const std::byte bit{(byte & cmd.property->bit_mask) != 0 ? std::uint8_t{1} : std::uint8_t{0}};
    if (*shadow.data() == bit) {
        return false;
    }
    before_change(context, cmd, shadow);
    *shadow.data() = bit;
    return true;
}

// By the integers: what stays below the next step is no change.
[[nodiscard]] bool update_quantised(const CompareContext& context, const RepLayoutCmd& cmd,
                                    ConstObjectBuffer object, ShadowBuffer shadow) {
    const std::uint32_t size = quantised_size(cmd.property->quantisation);
    const QuantisedValue value = quantise(*cmd.property, object.data());
    if (value == load_quantised(shadow.data(), size)) {
        return false;
    }
    before_change(context, cmd, shadow);
    store_quantised(value, shadow.data(), size);
    return true;
}

[[nodiscard]] bool update_array(CompareContext& context, CmdIndex index, ConstObjectBuffer object,
                                ShadowBuffer shadow) {
    const RepLayoutCmd& cmd = context.layout.cmd(index);
    const ArrayOps& ops = cmd.property->array;
    const RepScope& element = context.layout.element_scope(index);
    auto& kept = shadow_value<ShadowArray>(shadow);
    const std::size_t count = ops.count(object.data());
    const std::size_t count_max = count_max_of(*cmd.property, context.layout.limits());
    if (count > count_max) {
        note_over_limit(context, {&cmd, OverLimit::Reason::Size, count, count_max});
        return false;
    }
    const auto* elements = static_cast<const std::byte*>(ops.data(object.data()));
    const std::uint32_t known_count = std::min(kept.count, static_cast<std::uint32_t>(count));
    bool is_changed = kept.count != count;
    if (is_changed) {
        context.memory.resize_array(cmd, element, kept, static_cast<std::uint32_t>(count));
        kept.count_version = context.version;
    } else if (count == 0 || (element.is_contiguous && element.shadow_size == cmd.element_size &&
                              equal_bytes(elements, kept.elements, count * cmd.element_size))) {
        return false;
    }
    // What elements were is not kept.
    PreviousValues* const previous = std::exchange(context.previous, nullptr);
    for (std::uint32_t i = 0; i < count; ++i) {
        const ConstObjectBuffer from(elements + std::size_t{i} * cmd.element_size);
        const ShadowBuffer to(kept.elements + std::size_t{i} * element.shadow_size);
        Version* versions = kept.versions + std::size_t{i} * element.handle_count;
        const ElementAge age = i < known_count ? ElementAge::Known : ElementAge::New;
        is_changed = update_element(context, element, from, to, versions, age) || is_changed;
    }
    context.previous = previous;
    return is_changed;
}

[[nodiscard]] bool update_leaf(CompareContext& context, CmdIndex index, ConstObjectBuffer object,
                               ShadowBuffer shadow) {
    const RepLayoutCmd& cmd = context.layout.cmd(index);
    const ConstObjectBuffer from = object + cmd.object_offset;
    const ShadowBuffer to = shadow + cmd.shadow_offset;
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return update_string(context, cmd, from, to);
        case RepLayoutCmdType::Object:
            return update_object(context, cmd, from, to);
        case RepLayoutCmdType::NetSerializeStruct:
        case RepLayoutCmdType::NetDeltaStruct:
            return update_struct(context, cmd, from, to);
        case RepLayoutCmdType::DynamicArray:
            return update_array(context, index, from, to);
        case RepLayoutCmdType::KeyedArray: {
            PreviousValues* const previous = std::exchange(context.previous, nullptr);
            const bool is_changed = update_keyed_array(context, index, from, to);
            context.previous = previous;
            const std::size_t count = cmd.property->array.count(from.data());
            const std::size_t count_max = context.layout.limits().array_count_max;
            if (count > count_max && context.over_limit.cmd == nullptr) {
                context.over_limit = {&cmd, OverLimit::Reason::Size, count, count_max};
            }
            return is_changed;
        }
        case RepLayoutCmdType::BitBool:
            return update_bit(context, cmd, from, to);
        default:
            REPLAYOUT_ASSERT(false);  // plain and quantised leaves lie in runs
            return false;
    }
}

/// Where it is noted which leaves of a scope changed.
class ChangedLeaves {
  public:
    /// Versions by handle, and a set of handles: null where nobody asks.
    ChangedLeaves(Version version, Version* versions, ChangeMask* handles) noexcept
        : version_(version), versions_(versions), handles_(handles) {}

    /// By handle index.
    void add(std::uint32_t begin, std::uint32_t end) noexcept {
        if (versions_ != nullptr) {
            std::fill(versions_ + begin, versions_ + end, version_);
        }
        add_stamped(begin, end);
    }
    /// Leaves whose version is right already.
    void add_stamped(std::uint32_t begin, std::uint32_t end) noexcept {
        is_any_ = true;
        if (handles_ != nullptr) {
            handles_->set_range(begin, end - begin);
        }
    }
    /// Bit i: that at `begin` + i.
    void add_stamped_words(std::uint32_t begin, std::uint64_t leaves) noexcept {
        is_any_ = true;
        if (handles_ != nullptr) {
            handles_->set_bits(begin, leaves);
        }
    }
    [[nodiscard]] bool is_any() const noexcept { return is_any_; }

  private:
    Version version_;
    Version* versions_;
    ChangeMask* handles_;
    bool is_any_ = false;
};

/// Plain leaves that lie in the shadow without a gap, and what they are to become.
struct PlainRun {
    std::uint32_t handle = 0;  ///< of the first
    std::uint32_t handle_end = 0;
    const PlainLeaf* leaves = nullptr;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::uint32_t size = 0;

    [[nodiscard]] const PlainLeaf& leaf(std::uint32_t of) const noexcept {
        return leaves[of - handle];
    }
    [[nodiscard]] std::uint32_t begin_of(std::uint32_t of) const noexcept {
        return leaf(of).shadow_begin.value - leaves->shadow_begin.value;
    }
    [[nodiscard]] std::uint32_t end_of(std::uint32_t of) const noexcept {
        return leaf(of).shadow_end.value - leaves->shadow_begin.value;
    }
};

/// As many leaves of four bytes, from `handle` on, as are looked at together. Returns the handle
/// behind them.
[[nodiscard]] std::uint32_t update_words(const CompareContext& context, const PlainRun& run,
                                         std::uint32_t handle, ChangedLeaves& changed) {
    const std::uint32_t end =
        std::min({std::uint32_t{run.leaf(handle).words_end}, run.handle_end, handle + 64});
    const std::uint32_t offset = run.begin_of(handle);
    const std::uint64_t differing = context.previous->change_words(
        RepHandle{handle}, end - handle, run.leaf(handle).shadow_begin, run.to + offset,
        run.from + offset, context.last_changed, context.version);
    if (differing != 0) {
        changed.add_stamped_words(handle - 1, differing);
    }
    return end;
}

/// Leaves of any size, the first of which differs: those behind it that do change with it. Returns
/// the handle behind them.
[[nodiscard]] std::uint32_t update_run(const CompareContext& context, const PlainRun& run,
                                       std::uint32_t handle, ChangedLeaves& changed) {
    const std::uint32_t begin = run.begin_of(handle);
    std::uint32_t end = handle + 1;
    while (end < run.handle_end) {
        const std::uint32_t offset = run.begin_of(end);
        if (equal_plain_leaves(run.from + offset, run.to + offset, run.leaf(end).size())) {
            break;
        }
        ++end;
    }
    if (context.previous != nullptr) {
        context.previous->change_run(RepHandle{handle}, RepHandle{end}, run.to + begin,
                                     run.from + begin, context.last_changed, context.version);
        changed.add_stamped(handle - 1, end - 1);
    } else {
        std::memcpy(run.to + begin, run.from + begin, run.end_of(end - 1) - begin);
        changed.add(handle - 1, end - 1);
    }
    return end;
}

void update_plain_run(const CompareContext& context, const PlainRun& run, ChangedLeaves& changed) {
    std::uint32_t handle = run.handle;
    std::size_t offset = 0;
    while (true) {
        // What is of one size is found at once; what may be long, and equal, is passed over.
        if (context.previous == nullptr || run.leaf(handle).words_end == handle) {
            offset = next_difference(run.from, run.to, offset, run.size);
            if (offset == run.size) {
                return;
            }
            while (run.end_of(handle) <= offset) {
                ++handle;
            }
        }
        const bool are_words = context.previous != nullptr && run.leaf(handle).words_end > handle;
        handle = are_words ? update_words(context, run, handle, changed)
                           : update_run(context, run, handle, changed);
        if (handle == run.handle_end) {
            return;
        }
        offset = run.begin_of(handle);
    }
}

/// Leaves of a run lie one after another, in memory as in the list of commands.
void update_run(const CompareContext& context, const RepScope& scope, const CompareRun& run,
                ConstObjectBuffer object, ShadowBuffer shadow, ChangedLeaves& changed) {
    const std::byte* from = (object + run.object_offset).data();
    std::byte* to = (shadow + run.shadow_offset).data();
    const std::uint32_t handle = context.layout.cmd(run.cmd_start).relative_handle;
    const std::uint32_t handle_end = handle + (run.cmd_end.value - run.cmd_start.value);
    const PlainLeaf* const leaves = &context.layout.plain_leaf(scope, RepHandle{handle});
    if (leaves->run_end >= handle_end) {
        update_plain_run(context, {handle, handle_end, leaves, from, to, run.size}, changed);
        return;
    }
    std::size_t offset = next_difference(from, to, 0, run.size);
    for (CmdIndex index = run.cmd_start; offset < run.size; ++index.value) {
        const RepLayoutCmd& cmd = context.layout.cmd(index);
        // By the offset in the object: where the shadow has the bytes of a quantised leaf, only the
        // run knows.
        const std::size_t begin = cmd.object_offset.value - run.object_offset.value;
        const std::size_t end = begin + cmd.element_size;
        if (end <= offset) {
            continue;
        }
        const ShadowBuffer shadow_leaf = shadow + cmd.shadow_offset;
        bool is_changed = true;
        if (cmd.type == RepLayoutCmdType::Quantised) {
            is_changed = update_quantised(context, cmd, object + cmd.object_offset, shadow_leaf);
        } else {
            before_change(context, cmd, shadow_leaf);
        }
        std::memcpy(to + begin, from + begin, cmd.element_size);
        if (is_changed) {
            changed.add(cmd.relative_handle - 1u, cmd.relative_handle);
        }
        offset = next_difference(from, to, end, run.size);
    }
}

/// Whether the group can be taken as the object holds it.
[[nodiscard]] bool can_take_group(CompareContext& context, const RepScope& scope,
                                  const RepGroup& group, ConstObjectBuffer object,
                                  ShadowBuffer shadow) {
    if (!is_within_limits(context.layout, scope, group, object, shadow)) {
        return false;
    }
    for (std::uint32_t handle = group.handle_begin; handle < group.handle_end; ++handle) {
        const CmdIndex index = context.layout.cmd_of(scope, RepHandle{handle});
        const RepLayoutCmd& cmd = context.layout.cmd(index);
        if (cmd.type == RepLayoutCmdType::KeyedArray &&
            !has_unique_keys(context, index, object + cmd.object_offset,
                             shadow + cmd.shadow_offset)) {
            return false;
        }
    }
    return true;
}

/// Updates the shadow where leaves of these runs differ.
void update_differing(CompareContext& context, const RepScope& scope, std::uint32_t run_start,
                      std::uint32_t run_end, ConstObjectBuffer object, ShadowBuffer shadow,
                      ChangedLeaves& changed) {
    CmdIndex kept_end{0};  // of a group that stays as it was
    for (const CompareRun& run : context.layout.runs().subspan(run_start, run_end - run_start)) {
        if (run.cmd_start < kept_end) {
            continue;
        }
        if (run.size != 0) {
            // Most runs of an object that changed are what they were.
            if (!equal_bytes((object + run.object_offset).data(),
                             (shadow + run.shadow_offset).data(), run.size)) {
                update_run(context, scope, run, object, shadow, changed);
            }
            continue;
        }
        const RepGroup* group = guarded_group(context.layout, scope, run);
        if (group != nullptr && !can_take_group(context, scope, *group, object, shadow)) {
            note_over_limit(context, {&context.layout.cmd(run.cmd_start)});
            kept_end = group_cmd_end(context.layout, scope, *group);
        }
        CmdIndex index = run.cmd_start;
        while (index < run.cmd_end) {
            if (update_leaf(context, index, object, shadow)) {
                const std::uint32_t handle = context.layout.cmd(index).relative_handle;
                changed.add(handle - 1, handle);
            }
            index = context.layout.cmd(index).end_cmd;
        }
    }
}

}  // namespace

bool update_element(CompareContext& context, const RepScope& element, ConstObjectBuffer object,
                    ShadowBuffer shadow, Version* leaf_versions, ElementAge age) {
    ChangedLeaves changed(context.version, leaf_versions, nullptr);
    update_differing(context, element, element.run_start, element.run_end, object, shadow, changed);
    if (age == ElementAge::New) {
        std::fill_n(leaf_versions, element.handle_count, context.version);
        return true;
    }
    return changed.is_any();
}

namespace {

/// Parents `begin` to `end` - 1, which are one run.
[[nodiscard]] CompareRun run_of(const RepLayout& layout, std::uint32_t begin,
                                std::uint32_t end) noexcept {
    const CompareRun& first = layout.runs()[layout.parents()[begin].run_start];
    const CompareRun& last = layout.runs()[layout.parents()[end - 1].run_start];
    return {first.object_offset, first.shadow_offset,
            last.object_offset.value + last.size - first.object_offset.value, first.cmd_start,
            last.cmd_end};
}

[[nodiscard]] bool is_inactive(const CompareContext& context, const RepParentCmd& parent) noexcept {
    return context.inactive != nullptr && parent.handle_count > 0 &&
           context.inactive->test(parent.first_handle - 1);
}

}  // namespace

// Whatever is left out, the rest is compared in the order of the commands: references are given
// their ids on the way, so the order must not depend on who marks what.
bool compare_properties(CompareContext& context, ConstObjectBuffer object, ShadowBuffer shadow,
                        ChangeMask& changed) {
    ChangedLeaves leaves(context.version, context.last_changed, &changed);
    const RepLayout& layout = context.layout;
    if (context.due == nullptr) {
        update_differing(context, layout.root(), context.run_start, layout.root().run_end, object,
                         shadow, leaves);
        return leaves.is_any();
    }
    const ChangeMask& due = *context.due;
    for (std::size_t word = 0; word < due.words().size(); ++word) {
        std::uint64_t left = due.words()[word];
        while (left != 0) {
            const auto shift = static_cast<std::uint32_t>(std::countr_zero(left));
            const std::uint32_t i = static_cast<std::uint32_t>(word << 6) + shift;
            const RepParentCmd& parent = layout.parents()[i];
            std::uint32_t end = i + 1;
            if (parent.joined_end > end && context.inactive == nullptr) {
                const auto marked = static_cast<std::uint32_t>(std::countr_one(left >> shift));
                end = std::min(i + marked, parent.joined_end);
                update_run(context, layout.root(), run_of(layout, i, end), object, shadow, leaves);
            } else if (!is_inactive(context, parent)) {
                update_differing(context, layout.root(), parent.run_start, parent.run_end, object,
                                 shadow, leaves);
            }
            left &= ~(detail::low_mask(end - i) << shift);
        }
    }
    return leaves.is_any();
}

}  // namespace replayout
